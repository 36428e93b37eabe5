"""Composite: captions of three datasets rated 1-5 for correctness (Aditya et al. 2018)."""

import re
from dataclasses import dataclass
from pathlib import Path

from sightline.items import Item
from sightline.meta.protocols.base import (
    Protocol,
    extract_pictures,
    field,
    find,
    objects,
    picture_folder,
    protocol,
    rating,
    text_field,
    texts_field,
)
from sightline.meta.protocols.flickr8k import read_captions


def read_coco_references(data: Path) -> dict[str, tuple[str, ...]]:
    """References of COCO photos, by id."""
    path = find(data, "coco_eval_references.jsonl.gz", "coco_eval_references.jsonl")
    found: dict[str, tuple[str, ...]] = {}
    for number, row in objects(path):
        where = f"{path}, line {number}"
        found[str(field(row, "id", where))] = texts_field(row, "references", where)
    return found


def same_words(text: str) -> str:
    """A caption without the differences that make two copies of it look unlike."""
    return " ".join(re.findall(r"\w+", text.lower()))


@protocol("composite")
@dataclass(frozen=True)
class Composite(Protocol):
    """Captions by people and by two systems, rated 1-5, with the photos of COCO and Flickr8k."""

    source = "Aditya et al. 2018; as in CLIPScore (Hessel et al. 2021), Appendix A"
    keeps = (
        "captions whose photo has references here: parts coco (5,280, with coco_eval_references) and flickr8k "
        "(2,991), 8,271 in all; "
        "a candidate that is among its photo's references is left out of them; one observation a caption. "
        "Criteria: all, coco, flickr8k"
    )
    observations = "each"
    high = 5
    overall = False  # `all` is that already

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        path = find(data, "composite.jsonl.gz", "composite.jsonl")
        references = {"coco": read_coco_references(data), "flickr8k": _flickr8k_references(data)}
        folders = {"coco": data / "coco_eval.parquet", "flickr8k": data / "flickr8k_eval.parquet"}
        items: list[Item] = []
        for number, row in objects(path):
            where = f"{path}, line {number}"
            part, photo = text_field(row, "dataset", where), str(field(row, "image", where))
            known = references.get(part, {}).get(photo)
            if known is None:
                continue
            score = rating(field(row, "rating", where), self.low, self.high, where)
            text, index = text_field(row, "caption", where), field(row, "index", where)
            mine = same_words(text)
            name = photo if part == "coco" else f"{photo}.jpg"
            folder = picture_folder(folders[part]) if folders[part].is_file() else data
            items.append(
                Item(
                    id=f"{part}|{photo}|{index}",
                    images=(folder / f"{name}.webp",),
                    text=text,
                    references=tuple(other for other in known if same_words(other) != mine),
                    ratings={"all": (score,), part: (score,)},
                    extra={"group": f"{part}|{photo}"},
                    source=where,
                )
            )
        if pictures:
            for part, key in (("coco", "id"), ("flickr8k", "file")):
                wanted = {item.images[0].stem for item in items if part in item.ratings}
                if folders[part].is_file():
                    extract_pictures(folders[part], key, list(wanted))
        return items


def _flickr8k_references(data: Path) -> dict[str, tuple[str, ...]]:
    return {photo.removesuffix(".jpg"): texts for photo, texts in read_captions(data).of.items()}
