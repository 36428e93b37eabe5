"""Narratives: a picture's scene, action and rationale in one sentence (HL Narratives), each with its three sources."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from sightline.charts import counted
from sightline.errors import BadLine, Unscorable, UsageError
from sightline.generate.files import item_row
from sightline.generate.kept import Parsing, Sources, lost
from sightline.generate.sheet import Line, Shot, failed, sheet
from sightline.generate.trouble import trouble
from sightline.io import read_items
from sightline.io.results import ResultFolder
from sightline.items import Failure, Item

AXES: Final = ("scene", "action", "rationale")
FILES: Final = ("narratives.jsonl", "failures.jsonl", "report.html")
WHAT: Final = "narrative"


@dataclass(frozen=True)
class Triple:
    """What one person (or one captioner) said of a picture on the three axes."""

    id: str
    images: tuple[Path, ...]
    sources: Sources
    gold: tuple[str, ...] = ()
    """Narratives that people wrote of the picture."""
    source: str = ""


@dataclass(frozen=True)
class Narrative:
    triple: Triple
    text: str
    lost: tuple[str, ...] = ()
    """Axes of which too little is left in the text."""


class Teller(Protocol):
    """Makes one sentence of three."""

    @property
    def signature(self) -> str: ...

    def tell(self, triples: Sequence[Triple]) -> list[str | Unscorable]: ...


@dataclass
class _Told:
    """All that a file has on one picture by one system."""

    id: str
    images: tuple[Path, ...]
    source: str
    texts: dict[str, list[str]] = field(default_factory=dict)


def triples_at(path: Path | str, format: str | None = None) -> Iterator[Triple | Failure]:
    """The threes of a file: HL's lines, or items that name their axis, as `sightline caption` leaves for several axes.

    The first scene goes with the first action and the first rationale, as one person gave them, and so on.
    """
    found: dict[Any, _Told] = {}
    for item in read_items(path, format=format, on_error="collect"):
        if isinstance(item, BadLine):
            yield Failure(item.id, WHAT, item.reason, item.where)
            continue
        axis = item.extra.get("axis")
        if axis in (*AXES, WHAT) and item.whole_text.strip():
            known = found.setdefault((item.images, item.system), _told(item))
            known.texts.setdefault(str(axis), []).append(item.whole_text)
    if not found:
        raise UsageError(
            f"{path}: no caption names its axis (scene, action, rationale), so none can be joined"
        )
    for told in found.values():
        missing = [axis for axis in AXES if axis not in told.texts]
        if missing:
            reason = f"there is no caption of {' and '.join(missing)}"
            yield Failure(told.id, WHAT, reason, told.source)
            continue
        gold = tuple(told.texts.get(WHAT, ()))
        threes = zip(*(told.texts[axis] for axis in AXES), strict=False)
        for number, three in enumerate(threes):
            yield Triple(f"{told.id}#{WHAT}-{number}", told.images, Sources(*three), gold, told.source)


def _told(item: Item) -> _Told:
    return _Told(item.id.rpartition("#")[0] or item.id, item.images, item.source)


def told(triples: Sequence[Triple], teller: Teller, language: Parsing) -> list[Narrative | Failure]:
    """A narrative of each three, marked where it lost one; what is no text is a failure."""
    said: list[str | Unscorable] = []
    for text in teller.tell(triples):
        wrong = trouble(text) if isinstance(text, str) else None
        said.append(Unscorable(wrong) if wrong else text)
    good = [(triple, text) for triple, text in zip(triples, said, strict=True) if isinstance(text, str)]
    gone = iter(list(lost([triple.sources for triple, _ in good], [text for _, text in good], language)))
    return [
        Narrative(triple, text, next(gone))
        if isinstance(text, str)
        else Failure(triple.id, WHAT, str(text), triple.source)
        for triple, text in zip(triples, said, strict=True)
    ]


def row(one: Narrative, folder: Path, system: str, signature: str) -> dict[str, Any]:
    """An item: the narrative with its sources, and the axes that it lost."""
    extra = {"axis": WHAT, "sources": one.triple.sources.told(), "captioner": signature}
    if one.lost:
        extra["lost"] = list(one.lost)
    item = Item(
        one.triple.id, one.triple.images, one.text, references=one.triple.gold, system=system, extra=extra
    )
    return item_row(item, folder)


def write(
    out: ResultFolder, found: Iterable[Narrative | Failure], system: str, signature: str, title: str
) -> list[Narrative]:
    """narratives.jsonl, failures.jsonl and a contact sheet with the three sources beneath each narrative."""
    out.expect(*FILES)
    everything = list(found)
    narratives = [one for one in everything if isinstance(one, Narrative)]
    failures = [one for one in everything if isinstance(one, Failure)]
    out.jsonl(FILES[0], (row(one, out.path, system, signature) for one in narratives))
    out.failures(failures)
    marked = [one for one in narratives if one.lost]
    by_picture: dict[tuple[Path, ...], list[Narrative]] = {}
    for one in narratives:
        by_picture.setdefault(one.triple.images, []).append(one)
    facts = [counted(len(narratives), WHAT), f"{len(marked):,} lost a source", signature]
    out.text(
        FILES[2],
        sheet(
            title, [_shot(own, system) for own in by_picture.values()], facts=facts,
            after=[failed((one.id or one.source, one.reason) for one in failures)],
        ),
    )  # fmt: skip
    return narratives


def _shot(own: Sequence[Narrative], system: str) -> Shot:
    lines = []
    for one in own:
        note = f"lost: {', '.join(one.lost)}" if one.lost else ""
        lines.append(Line(system, one.text, note=note, kind="bad" if one.lost else ""))
        lines += [Line(axis, text, kind="people") for axis, text in one.triple.sources.told().items()]
    gold = dict.fromkeys(text for one in own for text in one.triple.gold)
    lines += [Line("people's narrative", text, kind="people") for text in gold]
    return Shot(own[0].triple.id.rpartition("#")[0], own[0].triple.images, tuple(lines))


class ComposeTeller:
    """By grammar."""

    def __init__(self) -> None:
        from sightline.generate.compose import Composer

        self._composer = Composer()
        self.signature = self._composer.signature

    def tell(self, triples: Sequence[Triple]) -> list[str | Unscorable]:
        return [one.text for one in self._composer.compose([triple.sources for triple in triples])]
