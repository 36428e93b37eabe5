"""Exports: items with their ratings, single ratings, VICR's CSV, HL's JSON Lines."""

import io
import json
from collections import defaultdict
from typing import Any, Literal

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection, RowMapping

from sightline.errors import UsageError
from sightline.io.json_csv import csv_lines, json_line
from sightline.io.ratings import EXCLUDED, VOTES
from sightline.people.consensus import Tally
from sightline.people.likely_levels import likely_levels
from sightline.people.quality import quality_consensus, weights
from sightline.people.wording import wording
from sightline.server.exchange import rows as r
from sightline.server.storage.studies import StoredStudy

What = Literal["items", "ratings", "vicr", "hl", "wording"]
Form = Literal["jsonl", "csv", "parquet"]
VICR_COLUMNS = 7
CHECKED = ("probation", "gold", "attention")
"""Where the known answer is not told beforehand, so that it tells how good a rater is."""


def export(connection: Connection, stored: StoredStudy, what: What, form: Form, names: bool = False) -> bytes:
    """A study's data as the bytes of a file."""
    if what == "vicr":
        return _vicr(connection, stored)
    if what == "hl":
        return _jsonl(_hl(connection, stored))
    if what == "wording":
        return json_line(wording(stored.study)).encode()
    if what == "ratings":
        found = [msgspec.to_builtins(row) for row in r.rating_rows(connection, stored, names)]
        parameters = stored.study.platform.names if stored.study.platform else ()
        for row in found:
            participant = row.pop("participant") or {}
            if names:
                row |= {parameter: participant.get(parameter) for parameter in parameters}
            else:
                del row["name"]
    else:
        found = item_dicts(connection, stored)
    if form == "jsonl":
        return _jsonl(found)
    return _csv(found) if form == "csv" else _parquet(found)


def item_dicts(connection: Connection, stored: StoredStudy) -> list[dict[str, Any]]:
    """Items in the contract's form, ratings by criterion, with the consensus beside them."""
    rows = r.rating_rows(connection, stored)
    ratings = r.by_item(rows)
    items = r.item_rows(connection, stored.id)
    agreed = _agreed(stored, rows, {item["key"]: item["expert"] for item in items})
    found = []
    for item in items:
        for given in _contract(stored, item):
            values = ratings.get((given["id"], given.get("system")), {})
            if stored.study.kind == "description":
                given["captions"] = {axis: list(texts) for axis, texts in values.items()}
            elif values:
                for name in (*VOTES, "errors"):  # choices and marked words are no ratings
                    if name in values:
                        said = values.pop(name)
                        given |= {"errors": said} if name == "errors" else {"votes": sum(said)}
                given["ratings"] = {name: list(levels) for name, levels in values.items()}
            if item["people"] and any(map(int, item["counts"].split(","))):
                tally = Tally(stored.study.levels, tuple(map(int, item["counts"].split(","))))
                given |= {"consensus": tally.consensus, "confidence_c": tally.confidence}
                given |= agreed.get(given["id"], {})
            found.append(given)
    return found


def _contract(stored: StoredStudy, item: RowMapping) -> list[dict[str, Any]]:
    content, origin = item["content"], item["origin"]
    base: dict[str, Any] = {"images": origin.get("images", [])}
    known = {"role": item["role"], "expert": item["expert"], "seed": item["seed"], "why": content.get("why")}
    tail = {key: value for key, value in known.items() if value is not None and value != "main"}
    tail |= origin.get("extra", {})
    if origin.get("gold"):
        tail["gold"] = origin["gold"]
    if origin.get("references"):
        tail["references"] = origin["references"]
    if captions := origin.get("captions"):
        return [
            {"id": id, **base, "text": content["answers"][axis], "axis": axis, **tail}
            for axis, id in captions.items()
        ]
    if texts := r.texts_of(origin):
        pairs = zip(content.get("stories") or content["pair"], texts, strict=True)
        return [
            {"id": known["id"], **base, **text, "system": known["system"], **tail} for text, known in pairs
        ]
    text = {key: content[key] for key in ("text", "sentences", "answers") if key in content}
    if "text" not in text and "sentences" not in text:
        text["text"] = ""
    system = {"system": origin["system"]} if origin.get("system") else {}
    return [{"id": item["key"], **base, **text, **system, **tail}]


def _agreed(
    stored: StoredStudy, rows: list[r.RatingRow], experts: dict[str, int | None]
) -> dict[str, dict[str, Any]]:
    """What raters agree on when the better ones count more; for studies with one level per item."""
    if stored.study.kind not in r.CRITERION:
        return {}
    single = [
        (row.item, row.rater, row.value) for row in rows if row.phase == "play" and row.state != EXCLUDED
    ]
    gold: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        level = experts.get(row.item)
        if row.phase in CHECKED and level is not None:
            gold[row.rater].append((row.value, level))
    scale = stored.study.levels
    weighted = quality_consensus(scale, single, weights(single, gold))
    return {
        item: {
            "weighted_consensus": weighted.get(item),
            "likely_level": likely.level,
            "likely_share": round(likely.share, 4),
        }
        for item, likely in likely_levels(scale, single, gold).items()
    }


def _vicr(connection: Connection, stored: StoredStudy) -> bytes:
    """One line per pair with its single ratings, as the VICR data set was published."""
    if stored.study.kind != "rating game":
        raise UsageError("the VICR form is for rating games")
    ratings = r.by_item(r.rating_rows(connection, stored))
    lines = []
    for item in r.item_rows(connection, stored.id):
        values = ratings.get((item["key"], item["origin"].get("system")), {}).get("overall", [])
        if item["role"] == "main" and values:
            image = item["origin"].get("extra", {}).get("url") or next(
                iter(item["origin"].get("images", [])), ""
            )
            subset = item["origin"].get("extra", {}).get("subset", "")
            text = item["content"].get("text") or " ".join(item["content"].get("sentences", ()))
            lines.append(([image, text, subset, len(values)], values))
    most = max([VICR_COLUMNS, *(len(values) for _, values in lines)])
    names = [
        "image",
        "caption",
        "subset",
        "num_ratings",
        "ratings",
        *(f"rating_{n}" for n in range(2, most + 1)),
    ]
    padded = ([*start, *values, *[None] * (most - len(values))] for start, values in lines)
    return b"\xef\xbb\xbf" + "".join(csv_lines(names, padded)).encode()


def _hl(connection: Connection, stored: StoredStudy) -> list[dict[str, Any]]:
    """One object per picture: captions on each axis, and how likely people found them."""
    if stored.study.kind not in ("description", "confidence"):
        raise UsageError("the HL form is for description and confidence studies")
    ratings = r.by_item(r.rating_rows(connection, stored))
    pictures: dict[str, dict[str, Any]] = {}
    for item in sorted(r.item_rows(connection, stored.id), key=lambda row: row["key"]):
        name = next(iter(item["origin"].get("images", [])), item["key"])
        row = pictures.setdefault(name, {"file_name": name, "captions": {}, "confidence": {}})
        system = item["origin"].get("system")
        ids = item["origin"].get("captions", {})
        values = ratings.get((item["key"], system), {})
        if stored.study.kind == "description":
            for axis, texts in values.items():
                row["captions"].setdefault(axis, []).extend(texts)
            continue
        for axis, text in item["content"]["answers"].items():
            row["captions"].setdefault(axis, []).append(text)
            of_caption = ratings.get((ids.get(axis, ""), system), {})
            levels = of_caption.get(r.CONFIDENCE, []) or values.get(axis, [])
            row["confidence"].setdefault(axis, []).append(sum(levels) / len(levels) if levels else None)
    return [{key: value for key, value in row.items() if value} for row in pictures.values()]


def _jsonl(found: list[dict[str, Any]]) -> bytes:
    return "".join(map(json_line, found)).encode()


def _columns(found: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in found for key in row))


def _csv(found: list[dict[str, Any]]) -> bytes:
    columns = _columns(found)
    return "".join(csv_lines(columns, ([row.get(name) for name in columns] for row in found))).encode()


def _parquet(found: list[dict[str, Any]]) -> bytes:
    """Lists and objects stay what they are; a column of mixed kinds becomes JSON text."""
    out = io.BytesIO()
    columns = {name: _column([row.get(name) for row in found]) for name in _columns(found)}
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def _column(values: list[Any]) -> Any:
    try:
        made = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        made = None
    if made is None or (pa.types.is_struct(made.type) and made.type.num_fields == 0):
        made = pa.array(
            [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
        )
    return made
