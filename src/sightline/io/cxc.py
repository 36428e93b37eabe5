"""Crisscrossed Captions: how similar captions and pictures of COCO are, 0 to 5 (Parekh et al., EACL 2021)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.published import Published, as_number, built, coco_names, last_parts
from sightline.io.references import References, picture_key
from sightline.io.table import TableFile

COLUMNS = frozenset({"caption", "image", "agg_score", "sampling_method"})
CRITERION = "similarity"


@readers.add("cxc")
@dataclass(frozen=True)
class Cxc(Published):
    """CxC's SITS: sits_val.csv or sits_test.csv with ids of captions and pictures; captions_val2014.json beside it."""

    coco: Path | None = None
    """COCO's annotations with the captions; beside the file where none is given."""

    def recognises(self, source: TableFile) -> bool:
        return source.kind == "csv" and source.columns >= COLUMNS

    def read(self, source: TableFile) -> Iterator[Found]:
        if not source.columns >= COLUMNS:
            raise UsageError(f"{source.path}: not CxC's SITS; it needs {', '.join(sorted(COLUMNS))}")
        place = self.coco or source.folder / "captions_val2014.json"
        if not place.is_file():
            raise UsageError(
                f"{source.path}: it names captions by their ids; give COCO's captions_val2014.json"
            )
        known = References.of_coco(TableFile(place))
        words = {id: text for texts in known.captions.values() for id, text in texts.items()}
        album = self.album(source)
        for where, row in source.records():
            if isinstance(row, BadLine):
                yield row
                continue
            caption, image = str(row.get("caption")), last_parts(str(row.get("image")))
            id = caption.rpartition(":")[2]
            try:
                path = album.find("column 'image'", *coco_names(image))
                rating = as_number(str(row.get("agg_score")))
                if id not in words:
                    raise ValueError(f"caption {id[:40]} is not in {place.name}")
            except ValueError as fault:
                yield BadLine(where, str(fault))
                continue
            references = list(known.of(image, without=words[id])) or None
            yield built(
                source, where, f"{picture_key(image)}#{id}", [path], text=words[id], references=references,
                ratings={CRITERION: rating}, method=row.get("sampling_method"),
            )  # fmt: skip
