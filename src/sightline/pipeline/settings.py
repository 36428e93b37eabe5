"""What a user chooses for a run, and the tools made from those choices."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sightline.encoders import Embedder, load_encoder
from sightline.errors import BadLine, UsageError
from sightline.features.base import Fit, Statistic
from sightline.features.options import options
from sightline.io.pictures import default_cache as default_cache
from sightline.io.source import parse_json
from sightline.io.table import Cells, TableFile
from sightline.items import Box
from sightline.pipeline.cache import Cache
from sightline.pipeline.statistics import stored
from sightline.text.concreteness import Concreteness
from sightline.text.language import Language
from sightline.vision import Picture, Pictures, RegionSource, load_regions

V = TypeVar("V")


@dataclass(frozen=True)
class Settings:
    """The choices of a run. Everything here that changes a score is named in the score's signature."""

    encoder: str = "pocket"
    nlp: str = "embedded"
    regions: str = "proposer"
    region_count: int = 10
    concreteness: Path | None = None
    cache: Path | None = field(default_factory=default_cache)
    """None keeps vectors in memory for the run only."""
    options: tuple[tuple[str, str], ...] = ()
    """Named choices that single features ask for, of those in `sightline.features.options`."""

    @property
    def fingerprint(self) -> tuple[str, ...]:
        """What the features of an item depend on: each choice, with the state of the file or folder it names."""
        chosen = (
            self.encoder,
            self.nlp,
            self.regions,
            str(self.region_count),
            f"concreteness:{self.concreteness or 'embedded'}",
            *(f"{name}:{value}" for name, value in self.options if not options.get(name).late),
        )
        return tuple(f"{choice}@{_state(choice)}" for choice in chosen)

    @property
    def told(self) -> dict[str, Any]:
        """The choices as a summary tells them."""
        return {
            "encoder": self.encoder,
            "nlp": self.nlp,
            "regions": self.regions,
            "region_count": self.region_count,
            "concreteness": str(self.concreteness or "embedded"),
            **dict(self.options),
        }

    def with_options(self, **given: str | None) -> "Settings":
        for name in given:
            options.get(name)  # refuses a name that nothing reads
        kept = {name: value for name, value in given.items() if value is not None}
        return replace(self, options=tuple(sorted({**dict(self.options), **kept}.items())))

    def with_assignments(self, given: Sequence[str]) -> "Settings":
        """The same from the text of `--option NAME=VALUE`."""
        parts = [text.partition("=") for text in given]
        for text, (name, _, value) in zip(given, parts, strict=True):
            if not name.strip() or not value.strip():
                raise UsageError(f"--option {text}: write it as NAME=VALUE")
        return self.with_options(**{name.strip(): value.strip() for name, _, value in parts})

    def with_cache(self, cache: Path | None) -> "Settings":
        return replace(self, cache=cache)


def _state(choice: str) -> str:
    """Sizes and times of the files behind `PATH` or `name:PATH`; nothing where no path is named."""
    place = Path(choice.partition(":")[2] or choice)
    files = sorted(place.rglob("*")) if place.is_dir() else [place] if place.is_file() else []
    states = [(file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.is_file()]
    return hashlib.blake2b(repr(states).encode(), digest_size=8).hexdigest() if states else ""


class LocalTools:
    """The tools of this process. Each is loaded when first asked for."""

    def __init__(self, settings: Settings) -> None:
        if settings.region_count < 1:
            raise UsageError("at least one region per picture is needed")
        self.settings = settings

    @cached_property
    def cache(self) -> Cache:
        return Cache(self.settings.cache)

    @cached_property
    def language(self) -> Language:
        from sightline.text.spacy_language import load_language  # spaCy takes seconds to import

        return load_language(self.settings.nlp)

    @cached_property
    def concreteness(self) -> Concreteness:
        given = self.settings.concreteness
        return Concreteness.from_file(given) if given else Concreteness.embedded()

    @cached_property
    def pictures(self) -> Pictures:
        return Pictures()

    @cached_property
    def regions(self) -> RegionSource:
        source = load_regions(self.settings.regions, self.settings.region_count)
        return source if getattr(source, "by_name", False) else RememberedRegions(source, self.cache)

    @cached_property
    def embedder(self) -> Embedder:
        return Embedder(load_encoder(self.settings.encoder), self.cache)

    def references(self, file: str) -> Iterator[Sequence[str]]:
        """The references in a file of items or of references, row by row."""
        table = TableFile(Path(file))  # a file that cannot be read is told at once
        return (_references(row, where) for where, row in table.records())

    def stored(self, place: str, statistic: Statistic[V]) -> Fit[V] | None:
        return stored(Path(place), statistic)

    def option(self, name: str) -> str | None:
        return dict(self.settings.options).get(name)


def _references(row: Cells | BadLine, where: str) -> Sequence[str]:
    if isinstance(row, BadLine):
        raise row
    found = row.get("references")
    if isinstance(found, str) and found.lstrip().startswith("["):
        with suppress(ValueError):
            found = parse_json(found)
    if (
        isinstance(found, str)
        or not isinstance(found, Sequence)
        or not all(isinstance(r, str) for r in found)
    ):
        raise BadLine(where, "field 'references': is missing, or not a list of texts")
    return found


class RememberedRegions:
    """A region source that proposes for each picture once, ever."""

    def __init__(self, source: RegionSource, cache: Cache) -> None:
        self._source = source
        self._cache = cache

    @property
    def signature(self) -> str:
        return self._source.signature

    def propose(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        keys = [f"regions\x1f{self.signature}\x1f{picture.digest}" for picture in pictures]
        known = self._cache.get_many(keys)
        missing = [number for number, key in enumerate(keys) if key not in known]
        if missing:
            proposed = self._source.propose([pictures[number] for number in missing])
            fresh = [
                (keys[n], msgspec.json.encode(boxes)) for n, boxes in zip(missing, proposed, strict=True)
            ]
            self._cache.put_many(fresh)
            known.update(fresh)
        return [msgspec.json.decode(known[key], type=list[Box]) for key in keys]
