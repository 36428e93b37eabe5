"""VICR: captions rated 1-5 by trained players of a rating game (Validated Image Caption Rating)."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from sightline.errors import UsageError
from sightline.items import Item
from sightline.meta.protocols.base import (
    Protocol,
    extract_pictures,
    find,
    lines,
    picture_folder,
    protocol,
    rating,
    text_field,
)
from sightline.meta.protocols.composite import read_coco_references, same_words


@protocol("vicr")
@dataclass(frozen=True)
class Vicr(Protocol):
    """Single ratings 1-5 of captions of COCO photos, four to seven each."""

    source = "Validated Image Caption Rating (VICR) Scale, Dataset, and Model, Section 4"
    keeps = (
        "every pair of the file (249 in the public sample); each single rating is one observation: 1,118; "
        "references are the photo's COCO captions where known, without the candidate"
    )
    observations = "each"
    high = 5

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        path = find(data, "vicr_sample.csv", "vicr.csv")
        references = read_coco_references(data)
        parquet = data / "coco_eval.parquet"
        folder = picture_folder(parquet) if parquet.is_file() else data
        items: list[Item] = []
        rows = csv.DictReader(line.lstrip("\ufeff") for _, line in lines(path))
        for number, row in enumerate(rows, 2):
            where = f"{path}, line {number}"
            found = re.search(r"(\d+)\.jpg$", row.get("image") or "")
            if found is None:
                raise UsageError(f"{where}: no COCO picture in '{row.get('image')}'")
            photo = str(int(found.group(1)))
            values = [row.get("ratings"), *(row.get(f"rating_{k}") for k in range(2, 8))]
            given = tuple(rating(value, self.low, self.high, where) for value in values if value)
            text = text_field(row, "caption", where)
            mine = same_words(text)
            items.append(
                Item(
                    id=f"{photo}|{number}",
                    images=(folder / f"{photo}.webp",),
                    text=text,
                    references=tuple(r for r in references.get(photo, ()) if same_words(r) != mine),
                    ratings={"quality": given},
                    extra={"group": photo, "subset": row.get("subset", "")},
                    source=where,
                )
            )
        if pictures and parquet.is_file():
            extract_pictures(parquet, "id", [item.images[0].stem for item in items])
        return items
