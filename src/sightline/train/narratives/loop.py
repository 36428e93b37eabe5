"""The loop: some pictures' narratives by hand, a paraphraser learns from them and drafts the next, people correct.

Every round is a folder. `corrections.csv` is for people; `round.json` is written last, so a round that was cut off is
done again from its corrections. It ends where another round no longer lowers the loss on the held-out pictures.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from sightline.charts import counted
from sightline.errors import UsageError
from sightline.generate.compose import Composer
from sightline.generate.kept import Sources
from sightline.generate.narratives import Narrative, Triple, told
from sightline.generate.paraphrasing import ParaphraseTeller
from sightline.io import read_rows
from sightline.io.results import ResultFolder
from sightline.text.spacy_language import load_language
from sightline.train.narratives.paraphraser import Pair, Paraphraser

CSV: Final = "corrections.csv"
DONE: Final = "round.json"
COLUMNS: Final = ("id", "image", "scene", "action", "rationale", "draft", "narrative")
ACCEPTED: Final = "ok"
"""In place of a narrative: the draft is right as it is."""
EPOCHS: Final = 2
Say = Callable[[str], None]


@dataclass(frozen=True)
class LoopSettings:
    model: str
    """The paraphraser to begin with."""
    pictures: int = 50
    """Of a round."""
    held_out: float = 0.1
    seed: int = 0
    finish: bool = False
    """End with the corrections there are."""


@dataclass(frozen=True)
class Waiting:
    """People's turn: rows of a file that have no narrative yet."""

    path: Path
    rows: int
    missing: int


def run_loop(
    out: ResultFolder, triples: Sequence[Triple], settings: LoopSettings, say: Say
) -> Waiting | ParaphraseTeller:
    """As far as it goes without people: to the corrections that wait for them, or to the paraphraser that is done."""
    batches = rounds(triples, settings)
    _same_run(out, triples, settings)
    number = 0
    while True:
        folder = out.path / f"round-{number}"
        if not (folder / CSV).is_file():
            drafts = _drafts(batches[number], out.path, number)
            _ask(folder, batches[number], drafts)
            say(f"round {number}: {counted(len(batches[number]), 'row')} to correct in {folder / CSV}")
        pairs, missing = corrected(folder / CSV)
        if missing and not settings.finish:
            return Waiting(folder / CSV, len(pairs) + missing, missing)
        if not (folder / DONE).is_file():
            _learn(out, number, settings, say)
        done = json.loads((folder / DONE).read_text())
        last = number + 1 == len(batches)
        if done["gained"] and not last and not missing:
            number += 1
            continue
        return _final(out, number, settings, say)


def rounds(triples: Sequence[Triple], settings: LoopSettings) -> list[list[Triple]]:
    """The threes of each round, so many pictures at a time, in an order by lot."""
    by_picture: dict[tuple[Path, ...], list[Triple]] = {}
    for triple in triples:
        by_picture.setdefault(triple.images, []).append(triple)
    groups = list(by_picture.values())
    order = np.random.default_rng(settings.seed).permutation(len(groups))
    shuffled = [groups[place] for place in order]
    size = settings.pictures
    return [
        [triple for group in shuffled[start : start + size] for triple in group]
        for start in range(0, len(shuffled), size)
    ]


def corrected(path: Path) -> tuple[list[Pair], int]:
    """The rows that have a narrative, and how many have none."""
    pairs, missing = [], 0
    for where, cells in read_rows(path, need=("id", "scene", "action", "rationale")):
        text = str(cells.get("narrative") or "").strip()
        draft = str(cells.get("draft") or "").strip()
        if text.lower() == ACCEPTED:
            if not draft:
                raise UsageError(f"{where}: there is no draft to accept; write the narrative")
            text = draft
        if not text:
            missing += 1
            continue
        sources = Sources(*(str(cells[axis]) for axis in ("scene", "action", "rationale")))
        pairs.append(Pair(str(cells.get("image") or cells["id"]), sources, text))
    return pairs, missing


def _ask(folder: Path, batch: Sequence[Triple], drafts: Sequence[str]) -> None:
    """The file that people fill in; what people have written already stands there."""
    with ResultFolder(folder) as out:
        out.csv(
            CSV,
            COLUMNS,
            (
                (
                    triple.id, str(triple.images[0]) if triple.images else "", *triple.sources.told().values(), draft,
                    _gold(triple),
                )
                for triple, draft in zip(batch, drafts, strict=True)
            ),
        )  # fmt: skip


def _gold(triple: Triple) -> str:
    number = int(triple.id.rpartition("-")[2])
    return triple.gold[number] if number < len(triple.gold) else ""


def _drafts(batch: Sequence[Triple], folder: Path, number: int) -> list[str]:
    """By the round before; in the first by grammar, which is only a help."""
    if number == 0:
        return [one.text for one in Composer().compose([triple.sources for triple in batch])]
    found = told(
        batch, ParaphraseTeller(str(folder / f"round-{number - 1}" / "model")), load_language("embedded")
    )
    return [one.text if isinstance(one, Narrative) else "" for one in found]


def _gathered(folder: Path, number: int) -> Iterator[Pair]:
    for one in range(number + 1):
        yield from corrected(folder / f"round-{one}" / CSV)[0]


def _is_held_out(picture: str, settings: LoopSettings) -> bool:
    """The same in every round: by the picture's name."""
    found = hashlib.blake2b(
        Path(picture).name.encode(), key=str(settings.seed).encode(), digest_size=4
    ).digest()
    return int.from_bytes(found) / (1 << 32) < settings.held_out


def _split(pairs: Sequence[Pair], settings: LoopSettings) -> tuple[list[Pair], list[Pair]]:
    held_out = [pair for pair in pairs if _is_held_out(pair.picture, settings)]
    learned = [pair for pair in pairs if not _is_held_out(pair.picture, settings)]
    if not held_out and learned:  # few pictures: one of them, always the same
        first = min(pair.picture for pair in learned)
        held_out = [pair for pair in learned if pair.picture == first]
        learned = [pair for pair in learned if pair.picture != first]
    if not learned:
        raise UsageError("one picture with a narrative is not enough to learn from and to hold one out")
    return learned, held_out


def _learn(out: ResultFolder, number: int, settings: LoopSettings, say: Say) -> None:
    """Two more epochs on all that is corrected; whether the held-out pictures gained from it."""
    folder = out.path / f"round-{number}"
    base = settings.model if number == 0 else str(out.path / f"round-{number - 1}" / "model")
    learned, held_out = _split(list(_gathered(out.path, number)), settings)
    model = Paraphraser(base, settings.seed + number)
    before = model.loss(held_out)
    model.learn(learned, EPOCHS)
    after = model.loss(held_out)
    part = folder / "model.part"
    shutil.rmtree(part, ignore_errors=True)
    model.save(part)
    shutil.rmtree(folder / "model", ignore_errors=True)
    part.rename(folder / "model")
    gained = after < before
    told: dict[str, Any] = {
        "learned": len(learned), "held_out": len(held_out), "before": before, "after": after, "gained": gained,
    }  # fmt: skip
    with ResultFolder(folder) as inner:
        inner.json(DONE, told)
    say(
        f"round {number}: learned from {len(learned)} narratives; held out {before:.4f} before, {after:.4f} after"
        + ("" if gained else ": no further gain")
    )


def _final(out: ResultFolder, number: int, settings: LoopSettings, say: Say) -> ParaphraseTeller:
    """All corrections, the held-out ones too, in one last fine-tuning of what was best."""
    folder = out.path / "model"
    if not folder.is_dir():
        gained = json.loads((out.path / f"round-{number}" / DONE).read_text())["gained"]
        best = number if gained else number - 1
        base = settings.model if best < 0 else str(out.path / f"round-{best}" / "model")
        pairs = list(_gathered(out.path, number))
        model = Paraphraser(base, settings.seed)
        model.learn(pairs, EPOCHS)
        part = out.path / "model.part"
        shutil.rmtree(part, ignore_errors=True)
        model.save(part)
        part.rename(folder)
        say(f"learned from all {len(pairs)} narratives: {folder}")
    return ParaphraseTeller(str(folder))


def _same_run(out: ResultFolder, triples: Sequence[Triple], settings: LoopSettings) -> None:
    """A folder belongs to one input and one way to draw from it."""
    content = json.dumps([[one.id, list(one.sources.told().values())] for one in triples])
    about = {
        "input": hashlib.blake2b(content.encode(), digest_size=8).hexdigest(),
        "model": settings.model, "pictures": settings.pictures, "seed": settings.seed, "held_out": settings.held_out,
    }  # fmt: skip
    if out.holds("loop.json"):
        was = json.loads((out.path / "loop.json").read_text())
        other = [name for name, value in about.items() if was.get(name) != value]
        if other:
            raise UsageError(
                f"{out.path} holds a loop with other {', '.join(other)}; repeat that one, or give another folder"
            )
    else:
        ParaphraseTeller(settings.model)  # what is wrong with it is told before people begin to write
        out.json("loop.json", about)
