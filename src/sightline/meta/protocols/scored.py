"""Captions with a score: THumB, Nebula, Polaris and Crisscrossed Captions."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from sightline.errors import UsageError
from sightline.io.base import Reader
from sightline.io.cxc import Cxc
from sightline.io.nebula import Nebula
from sightline.io.table import TableFile
from sightline.io.thumb import Thumb
from sightline.items import Item
from sightline.meta.protocols.base import COCO, Protocol, find, grouped, maybe, pictures_of, protocol
from sightline.meta.protocols.coco import TREE

THUMB = ("mscoco_THumB-1.0.jsonl", "thumb.jsonl", "THumB.jsonl")
THUMB_REFERENCES = ("mscoco_references.json", "mscoco_references.jsonl", "thumb_references.jsonl")
SITS = ("sits_test.csv", "sits_val.csv")


@protocol("thumb")
@dataclass(frozen=True)
class ThumbProtocol(Protocol):
    """Captions of 500 COCO photos by four systems and by people, rated for precision and recall."""

    people: Literal["keep", "drop"] = "keep"
    """Whether captions by people are kept: the paper gives both."""

    source = "THumB 1.0 (Kasai et al. 2022), Table 3"
    keeps = (
        "every caption, 2,500 of 500 photos, five systems of which one is people (people=drop: without them); "
        "criteria: total (human_score), precision (P) and recall (R); one observation a caption; Pearson"
    )
    observations = "mean"
    headline: ClassVar[str] = "pearson"
    overall = False
    tree = f"""mscoco_THumB-1.0.jsonl                 JSON Lines with SYS, seg_id, hyp, image, P, R, human_score
mscoco_references.json                 JSON Lines with seg_id, refs; for metrics with references
{TREE}"""

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        album = pictures_of(data, COCO) if pictures else data
        references = maybe(data, *THUMB_REFERENCES) or _fitting(data, "*.jsonl", {"seg_id", "refs"})
        reader = Thumb(album, references, self.people)
        path = maybe(data, *THUMB) or _one(data, "*.jsonl", reader, THUMB)
        return _whole(reader, path)


@dataclass(frozen=True)
class _ZeroToOne(Protocol):
    """What Nebula and Polaris share."""

    observations = "mean"
    low = 0
    high = 1
    files: ClassVar[tuple[str, ...]]

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        reader = Nebula(pictures_of(data, COCO) if pictures else data)
        found = self.read(reader, maybe(data, *self.files) or _one(data, "*.[jc]s*", reader, self.files))
        return [grouped(item, item.images[0].name) for item in found]


@protocol("nebula")
@dataclass(frozen=True)
class NebulaProtocol(_ZeroToOne):
    """Captions of many systems with people's score from 0 to 1 (DENEB's benchmark)."""

    source = "Nebula (Matsuda et al. 2024)"
    keeps = "every caption of the file (test: 3,298); one observation a caption, its score"
    files = ("nebula_test.json", "nebula.json", "test.json")
    tree = """nebula_test.json                       a JSON list with imgid, mt, refs, score
images/ …                              the pictures by imgid, also right here"""


@protocol("polaris")
@dataclass(frozen=True)
class PolarisProtocol(_ZeroToOne):
    """Captions of ten systems with people's score from 0 to 1 (Polos's benchmark)."""

    source = "Polaris (Wada et al. 2024)"
    keeps = "every caption of the file (val: 4,237); one observation a caption, its score"
    files = ("polaris_test.json", "polaris_val.json", "polaris_test.csv", "polaris_val.csv", "polaris.json")
    tree = """polaris_val.json                       a JSON list (or CSV) with imgid, mt, refs, score
images/ …                              the pictures by imgid, also right here"""


@protocol("cxc")
@dataclass(frozen=True)
class CxcProtocol(Protocol):
    """How similar captions and photos of COCO are, own and foreign ones, 0 to 5."""

    source = "Crisscrossed Captions (Parekh et al. 2021), SITS"
    keeps = (
        "every pair of sits_test.csv (or sits_val.csv) whose caption COCO's annotations have; one observation a pair; "
        "references: the photo's captions without the candidate"
    )
    observations = "mean"
    headline: ClassVar[str] = "spearman"
    low = 0
    high = 5
    tree = f"""sits_test.csv                          caption, image, agg_score, sampling_method
{TREE}"""

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        album = pictures_of(data, COCO) if pictures else data
        reader = Cxc(album, find(data, "captions_val2014.json"))
        return [grouped(item, item.images[0].name) for item in self.read(reader, find(data, *SITS))]


def _whole(reader: Reader, path: Path) -> list[Item]:
    """A reader's items, where all must be good; ratings on no one scale."""
    found = []
    for item in reader.read(TableFile(path)):
        if not isinstance(item, Item):
            raise item
        found.append(grouped(item, item.images[0].name))
    return found


def _one(data: Path, pattern: str, reader: Reader, names: tuple[str, ...]) -> Path:
    """The file of the folder that the reader knows, whatever it is called."""
    found = [
        path
        for path in sorted(data.glob(pattern))
        if path.stat().st_size and reader.recognises(TableFile(path))
    ]
    if len(found) > 1:
        raise UsageError(
            f"{data}: {', '.join(path.name for path in found)} could each be it; call one {names[0]}"
        )
    return found[0] if found else find(data, *names)


def _fitting(data: Path, pattern: str, columns: set[str]) -> Path | None:
    """The file of the folder that has exactly these columns."""
    found = (path for path in sorted(data.glob(pattern)) if path.stat().st_size)
    return next((path for path in found if TableFile(path).columns == columns), None)
