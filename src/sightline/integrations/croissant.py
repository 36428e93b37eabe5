"""Croissant (MLCommons): what is in an exported file, so that data-set search and `mlcroissant` can read it."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sightline import UsageError

FORMATS = {".csv": "text/csv", ".jsonl": "application/jsonlines", ".parquet": "application/x-parquet"}
KINDS = {bool: "sc:Boolean", int: "sc:Integer", float: "sc:Float", str: "sc:Text"}
CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/", "extract": "cr:extract",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "field": "cr:field", "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5",
    "parentField": "cr:parentField", "path": "cr:path", "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source",
    "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
"""As the specification of Croissant 1.0 gives it."""


def croissant(
    file: Path,
    rows: Sequence[Mapping[str, Any]],
    name: str,
    description: str,
    *,
    licence: str = "",
    published: str = "",
    version: str = "1.0.0",
) -> dict[str, Any]:
    """The metadata of one exported file with these rows; columns that hold objects are left out."""
    if file.suffix not in FORMATS:
        raise UsageError(f"{file}: Croissant metadata are made of .csv, .jsonl and .parquet")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    about = {"license": licence, "datePublished": published}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": re.sub(r"[^\w-]+", "-", name).strip("-") or "ratings",
        "description": description,
        "version": version,
        **{key: value for key, value in about.items() if value},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.name,
                "name": file.name,
                "contentUrl": file.name,
                "contentSize": f"{file.stat().st_size} B",
                "encodingFormat": FORMATS[file.suffix],
                "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": file.stem,
                "name": file.stem,
                "field": [
                    field
                    for column in columns
                    if (field := _field(column, [row.get(column) for row in rows], file)) is not None
                ],
            }
        ],
    }


def _field(column: str, values: Sequence[Any], file: Path) -> dict[str, Any] | None:
    """A column; None for objects. A list is text in CSV, and elsewhere a field that is repeated."""
    there = [value for value in values if value is not None]
    text = file.suffix == ".csv"
    if not text and any(isinstance(value, dict) for value in there):
        return None
    repeated = not text and any(isinstance(value, list) for value in there)
    single = [one for value in there for one in (value if isinstance(value, list) else [value])]
    return {
        "@type": "cr:Field",
        "@id": f"{file.stem}/{column}",
        "name": column,
        "dataType": _kind(single if repeated else there),
        **({"repeated": True} if repeated else {}),
        "source": {"fileObject": {"@id": file.name}, "extract": {"column": column}},
    }


def _kind(values: Sequence[Any]) -> str:
    """The kind of a column's cells, text where they differ; numbers with points and without are numbers with points."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return KINDS[float]
    return KINDS.get(kinds.pop(), KINDS[str]) if len(kinds) == 1 else KINDS[str]
