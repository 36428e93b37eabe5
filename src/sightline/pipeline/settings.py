"""What a user chooses for a run, and the tools made from those choices."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import msgspec

from sightline.encoders import Embedder, load_encoder
from sightline.errors import BadLine, UsageError
from sightline.features.base import Fit, Statistic
from sightline.features.options import options
from sightline.io.pictures import default_cache as default_cache
from sightline.io.source import parse_json
from sightline.io.table import Cells, TableFile
from sightline.items import Box
from sightline.judges.asking import Asker
from sightline.judges.base import Access, load_judge
from sightline.judges.budget import Budget
from sightline.pipeline.cache import Cache
from sightline.pipeline.statistics import stored
from sightline.resources import Holder
from sightline.text.concreteness import Concreteness, load_concreteness
from sightline.text.language import Language
from sightline.vision import Picture, Pictures, RegionSource, load_regions

P = ParamSpec("P")
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
    def told(self) -> dict[str, Any]:
        """The choices as a summary tells them."""
        return {
            "encoder": self.encoder,
            "nlp": self.nlp,
            "regions": self.regions,
            "region_count": self.region_count,
            "concreteness": str(self.concreteness or "embedded"),
            **{name: value for name, value in self.options if not options.get(name).how},
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


class LocalTools:
    """The tools of this process. Each is loaded when first asked for, and held until the run ends."""

    def __init__(self, settings: Settings, holder: Holder | None = None) -> None:
        """With a holder of the caller's own, what is loaded stays loaded for the next run."""
        if settings.region_count < 1:
            raise UsageError("at least one region per picture is needed")
        self.settings = settings
        self.holder = holder or Holder()
        self.holder.refresh()
        self._for_the_run = Holder()
        self._own = holder is None
        self._askers: list[Asker] = []

    @property
    def cache(self) -> Cache:
        return self._for_the_run.get(Cache, self.settings.cache)

    @property
    def pictures(self) -> Pictures:
        return self._for_the_run.get(Pictures)

    @property
    def language(self) -> Language:
        from sightline.text.spacy_language import load_language  # spaCy takes seconds to import

        return self.held(load_language, self.settings.nlp)

    @property
    def concreteness(self) -> Concreteness:
        return self.held(load_concreteness, self.settings.concreteness)

    @property
    def regions(self) -> RegionSource:
        source = self.held(load_regions, self.settings.regions, self.settings.region_count)
        by_name = getattr(source, "by_name", False)
        return source if by_name else self._for_the_run.get(self._remembered)

    @property
    def embedder(self) -> Embedder:
        return self._for_the_run.get(self._embedder)

    def judge(self, model: str) -> Asker:
        return self._for_the_run.get(self._asker, model)

    @property
    def spent(self) -> dict[str, int]:
        """What the judges of the run cost, where any was asked."""
        return vars(self.budget.spent) if any(vars(self.budget.spent).values()) else {}

    @property
    def budget(self) -> Budget:
        """What all judges of the run cost together, and may cost."""
        return self._for_the_run.get(Budget.of, self.option("judge_budget"))

    def _asker(self, model: str) -> Asker:
        timeout = self._number("judge_timeout", 120.0)
        judge = self.held(load_judge, model, Access(self.option("judge_url"), timeout))
        asker = Asker(judge, self.cache, self.budget, int(self._number("judge_at_once", 8)))
        self._askers.append(asker)
        return asker

    def _number(self, option: str, default: float) -> float:
        """An option that is a number above 0."""
        given = self.option(option)
        try:
            number = default if given is None else float(given)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            raise UsageError(f"{option}={given} is not a number above 0")
        return number

    def _remembered(self) -> RegionSource:
        source = self.held(load_regions, self.settings.regions, self.settings.region_count)
        return RememberedRegions(source, self.cache)

    def _embedder(self) -> Embedder:
        return Embedder(self.held(load_encoder, self.settings.encoder), self.cache)

    def held(self, load: Callable[P, V], *args: P.args, **kwargs: P.kwargs) -> V:
        """What a loader makes of its arguments: loaded once, and kept until the run ends."""
        return self.holder.get(load, *args, **kwargs)

    def references(self, file: str) -> Iterator[Sequence[str]]:
        """The references in a file of items or of references, row by row."""
        table = TableFile(Path(file))  # a file that cannot be read is told at once
        return (_references(row, where) for where, row in table.records())

    def stored(self, place: str, statistic: Statistic[V]) -> Fit[V] | None:
        return stored(Path(place), statistic)

    def option(self, name: str) -> str | None:
        return dict(self.settings.options).get(name)

    def close(self) -> None:
        """The run is done: what it loaded goes, but for what the caller's holder keeps."""
        for asker in self._askers:
            asker.close()
        self._for_the_run.close()
        if self._own:
            self.holder.close()


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
