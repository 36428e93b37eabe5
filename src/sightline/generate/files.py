"""What `sightline caption` leaves: captions.jsonl in the contract's item form, failures.jsonl, a contact sheet."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from sightline.charts import counted
from sightline.errors import BadLine, UsageError
from sightline.generate.base import Candidate
from sightline.generate.journal import FILE, Journal, key_of
from sightline.generate.run import WHAT, Captioning, Described, Describing, told_of
from sightline.generate.sheet import Line, Shot, failed, sheet
from sightline.generate.subjects import Subject
from sightline.io.results import ResultFolder, failure_row
from sightline.items import Failure, Item
from sightline.version import package_version

CAPTIONS: Final = "captions.jsonl"
FILES: Final = (CAPTIONS, "failures.jsonl", "report.html")
REFERENCES: Final = 5
"""People's captions that the sheet shows of a picture."""

Progress = Callable[[int], None]


def item_row(item: Item, folder: Path) -> dict[str, Any]:
    """An item as a line of a file in this folder; its pictures relative to it."""
    return {
        "id": item.id,
        "images": [picture_from(path, folder) for path in item.images],
        **({"sentences": list(item.sentences)} if item.sentences else {"text": item.text}),
        **({"references": list(item.references)} if item.references else {}),
        "system": item.system,
        **item.extra,
    }


def picture_from(path: Path, folder: Path) -> str:
    """A picture's place as a file in this folder names it."""
    try:
        return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
    except ValueError:  # on another drive
        return str(path.absolute())


def caption_into(
    out: ResultFolder,
    subjects: Iterable[Subject | BadLine],
    captioning: Captioning,
    title: str,
    progress: Progress,
) -> list[Described]:
    """Describe everything into a folder, and return what was described. A run that is killed can go on."""
    out.expect(*FILES)
    if out.holds(CAPTIONS) and not out.overwrite and not (out.path / FILE).exists():
        raise UsageError(f"{out.path} holds captions already; give another folder, or --overwrite them")
    describing = Describing(captioning)
    fingerprint = {
        "captions": describing.signatures,
        "system": captioning.system,
        "version": package_version(),
    }
    everything: list[Described] = []
    bad: list[Failure] = []
    with Journal(out, fingerprint) as journal:
        for one in known_or_described(describing, subjects, journal, progress):
            if isinstance(one, Failure):
                bad.append(one)
            else:
                everything.append(one)
        items = [one.item for one in everything if one.item]
        failures = [*bad, *(one.failure for one in everything if one.failure)]
        out.jsonl(CAPTIONS, (item_row(item, out.path) for item in items))
        out.failures(failures)
        out.text("report.html", report(title, everything, failures))
        journal.delete()
    return everything


def unjoined(everything: Sequence[Described]) -> list[str]:
    """What to know of references: axes that were told, and of which the file has no caption though it has others."""
    subjects = {one.subject.id: one.subject for one in everything}.values()
    has = Counter(caption.axis or "no axis" for subject in subjects for caption in subject.captions)
    told_axes = dict.fromkeys(one.axis for one in everything)
    there = ", ".join(f"{count:,} of {axis}" for axis, count in has.most_common())
    return [
        f"No caption of the axis '{axis}' is in the file (it has {there}): nothing stands as references."
        for axis in told_axes
        if has and not any(subject.told(axis) for subject in subjects)
    ]


def known_or_described(
    describing: Describing,
    subjects: Iterable[Subject | BadLine],
    journal: Journal,
    progress: Progress,
    run: str = "",
) -> Iterator[Described | Failure]:
    """In the order of the input: what the journal knows, and what is described now, put into it batch by batch.

    One journal may hold several runs over the same subjects, each by its name.
    """
    axes = describing.captioning.axes
    waiting: list[Subject | BadLine] = []

    def described() -> Iterator[Described | Failure]:
        for batch in told_of(describing, waiting):
            made = [one for one in batch if isinstance(one, Described)]
            by_subject = [made[n : n + len(axes)] for n in range(0, len(made), len(axes))]
            journal.add((run + key_of(own[0].subject), [_kept(one) for one in own]) for own in by_subject)
            yield from batch
        waiting.clear()

    for count, subject in enumerate(subjects, 1):
        known = None if isinstance(subject, BadLine) else journal.known.get(run + key_of(subject))
        if known is None:
            waiting.append(subject)
        if len(waiting) >= 32 or (known is not None and waiting):
            yield from described()
        if known is not None and isinstance(subject, Subject):
            yield from (_remembered(subject, row) for row in known)
        progress(count)
    yield from described()


def _kept(one: Described) -> dict[str, Any]:
    """A description as the journal keeps it; what its subject says is read from the input again."""
    kept: dict[str, Any] = {"axis": one.axis}
    if one.failure is not None:
        return {**kept, "failure": failure_row(one.failure)}
    assert one.item is not None
    item = one.item
    return {
        **kept,
        "item": {"id": item.id, "text": item.text, "sentences": item.sentences, "system": item.system},
        "extra": dict(item.extra),
        "candidates": [[candidate.text, candidate.log_probability] for candidate in one.candidates],
    }


def _remembered(subject: Subject, row: dict[str, Any]) -> Described:
    axis = row["axis"]
    if "failure" in row:
        return Described(subject, axis, None, msgspec.convert(row["failure"], Failure))
    known = row["item"]
    item = Item(
        known["id"],
        subject.images,
        known["text"],
        tuple(known["sentences"]) if known["sentences"] else None,
        () if known["sentences"] else tuple(one.text for one in subject.told(axis)),
        known["system"],
        extra=row["extra"],
        source=subject.source,
    )
    return Described(subject, axis, item, None, tuple(Candidate(*one) for one in row["candidates"]))


def report(title: str, everything: Sequence[Described], failures: Sequence[Failure]) -> Iterator[str]:
    """The contact sheet: each picture with its caption on every axis, and people's beneath."""
    by_subject: dict[str, list[Described]] = {}
    for one in everything:
        by_subject.setdefault(one.subject.id, []).append(one)
    shots = [_shot(own) for own in by_subject.values()]
    items = [one.item for one in everything if one.item]
    words = [len(item.whole_text.split()) for item in items]
    facts = [counted(len(items), WHAT)]
    if items:
        facts += [
            f"{sum(words) / len(words):.1f} words on average",
            f"{len({item.whole_text for item in items}):,} different",
            *sorted({str(item.extra.get("captioner", "")) for item in items}),
        ]
    if failures:
        facts.append(f"{len(failures):,} failed")
    return sheet(
        title,
        shots,
        facts=facts,
        after=[failed((one.id or one.source.rpartition("/")[2], one.reason) for one in failures)],
    )


def _shot(own: Sequence[Described]) -> Shot:
    subject, lines = own[0].subject, []
    several = len(own) > 1
    for one in own:
        axis = one.axis if several else ""
        if one.item is None:
            reason = one.failure.reason if one.failure else ""
            lines.append(Line("no caption", reason, axis, kind="bad"))
            continue
        chance = one.item.extra.get("log_probability")
        note = "" if chance is None else f"log p {chance:.1f}"
        lines.append(Line(one.item.system or "", one.item.whole_text, axis, note))
        lines += [Line("also", other.text, axis) for other in one.candidates[1:3]]
        people = subject.told(one.axis)[:REFERENCES]
        lines += [Line("people", text, axis, kind="people") for text in dict.fromkeys(p.text for p in people)]
    return Shot(subject.id, subject.images, tuple(lines))
