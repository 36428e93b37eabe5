"""Which of two captions is the better one: PASCAL-50S and FOIL."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from sightline.errors import UsageError
from sightline.io.foil import Foil as FoilReader
from sightline.io.foil import is_foil, is_valse
from sightline.io.pascal50s import CRITERION
from sightline.io.pascal50s import Pascal50s as PascalReader
from sightline.io.source import Source
from sightline.items import Item
from sightline.meta.correlation import ACCURACY
from sightline.meta.protocols.base import COCO, Protocol, find, grouped, maybe, pictures_of, protocol
from sightline.meta.protocols.coco import TREE

PASCAL = ("pascal_50s.json", "pascal50s.json", "PASCAL-50S.json")
FOIL = ("foil-it.json", "foil.json", "foilv1.0_test_2017.json")


@dataclass(frozen=True)
class Pairs(Protocol):
    """Base: two items a pair, the better one rated 1 and the other 0."""

    observations = "each"
    headline: ClassVar[str] = ACCURACY
    low = 0
    high = 1
    overall = False


@protocol("pascal-50s")
@dataclass(frozen=True)
class Pascal(Pairs):
    """Pairs of captions of PASCAL's photos, and which one people prefer (CIDEr's benchmark)."""

    source = "Vedantam et al. 2015; pairs and labels as FLEUR (Lee et al. 2024) and EXPERT hold them"
    keeps = (
        "every pair of the file, 1,000 of each kind: HC (two right ones by people), HI (a wrong one by people), HM (a "
        "person and a machine), MM (two machines); accuracy in pairs, a metric's ties count half; criteria: "
        "preference (all kinds, which is the mean of the four where each has as many) and each kind; the bootstrap "
        "resamples photos"
    )
    tree = """pascal_50s.json                        a JSON object of HC, HI, HM, MM
VOC2012/JPEGImages/ or images/ …       the photos, also right here: 2008_000008.jpg …"""

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        reader = PascalReader(
            _album(data, "VOC2012/JPEGImages", "VOCdevkit/VOC2012/JPEGImages", "JPEGImages")
        )
        found = self.read(reader, find(data, *PASCAL))
        return [
            grouped(
                replace(item, ratings={CRITERION: value, item.id.partition("/")[0]: value}),
                item.images[0].name,
            )
            for item in found
            for value in (item.ratings[CRITERION],)
        ]


@protocol("foil")
@dataclass(frozen=True)
class Foiled(Pairs):
    """Captions of COCO beside the same with one word exchanged for a wrong one."""

    keep: Literal["agreed", "all"] = "agreed"
    """Of VALSE, the pairs where two of three people chose the caption, or all."""

    source = "Shekhar et al. 2017; VALSE (Parcalabescu et al. 2022)"
    keeps = (
        "of VALSE's 1,000 pairs the 943 where at least two of three people chose the caption (keep=all: all); of "
        "foilv1.0_test_2017.json every foil beside the caption it was made of; accuracy of the caption above the foil, "
        "a metric's ties count half; the bootstrap resamples photos"
    )
    tree = f"""foil-it.json                           VALSE's JSON (any name), or foilv1.0_test_2017.json
{TREE}"""

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        album = pictures_of(data, COCO) if pictures else data
        reader = FoilReader(album, self.keep)
        return [
            grouped(item, item.images[0].name)
            for item in self.read(reader, maybe(data, *FOIL) or _foil_in(data))
        ]


def _foil_in(data: Path) -> Path:
    """The file of the folder that holds FOIL, whatever it is called."""

    def fitting() -> Iterator[Path]:
        for path in sorted(data.glob("*.json")):
            document = Source(path).document
            if is_valse(document) or is_foil(document):
                yield path

    found = list(fitting())
    if len(found) > 1:
        raise UsageError(
            f"{data}: {', '.join(path.name for path in found)} could each be FOIL; leave one there"
        )
    return found[0] if found else find(data, *FOIL)


def _album(data: Path, *inner: str) -> Path:
    """The first of these folders that is there, else the folder itself."""
    return next((data / name for name in inner if (data / name).is_dir()), data)
