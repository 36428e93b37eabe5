"""The published region files: CSV with image_id and bbox, one region a row (GROOViST and RoViST use them)."""

from collections.abc import Iterator
from pathlib import Path

from sightline.errors import BadLine, UsageError
from sightline.io.items import parse_box, parse_text
from sightline.io.source import naming, parse_json
from sightline.io.table import TableFile
from sightline.items import Box

COLUMNS = frozenset({"image_id", "bbox"})


def read_regions(path: Path) -> Iterator[tuple[str, Box]]:
    """Image id and region of every row, best first as published; raises BadLine at the first bad one.

    `bbox` is `[x0, y0, x1, y1]`. Where there is a column image_name, its last two parts are an id too, since
    ids of panels (0946_0) are not the names of their files (0946/panel_0.jpg).
    """
    source = TableFile(path)
    if not source.columns >= COLUMNS:
        raise UsageError(f"{path}: not a region file; its first line must name the columns image_id and bbox")
    for where, row in source.records():
        if isinstance(row, BadLine):
            raise row
        try:
            with naming("field 'image_id'"):
                ids = [parse_text(row.get("image_id") or "").strip()]
            with naming("field 'bbox'"):
                box = parse_box(parse_json(row.get("bbox") or ""))
            with naming("field 'image_name'"):
                name = parse_text(row.get("image_name") or "").strip()
        except ValueError as fault:
            raise BadLine(where, str(fault)) from None
        if not ids[0]:
            raise BadLine(where, "field 'image_id': is empty")
        if name:
            ids.append("/".join(Path(name).parts[-2:]))
        for id in dict.fromkeys(ids):
            yield id, box
