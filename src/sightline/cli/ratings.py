"""`sightline ratings`: people's judgements to and from files, and to and from other annotation tools."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import app, console
from sightline.errors import UsageError, extra
from sightline.io import read_items
from sightline.io.json_csv import json_text
from sightline.io.rating_columns import mapped_ratings, ratings_file
from sightline.io.results import told, whole
from sightline.items import Item

ratings = typer.Typer(help="People's judgements to and from files.", no_args_is_help=True)
app.add_typer(ratings, name="ratings")

DbOption = Annotated[str, typer.Option("--db", help="A file for SQLite, or postgresql://user@host/name.")]


class Tool(StrEnum):
    label_studio = "label-studio"
    potato = "potato"


class Source(StrEnum):
    table = "table"
    label_studio = "label-studio"
    potato = "potato"


class What(StrEnum):
    items = "items"
    ratings = "ratings"
    vicr = "vicr"
    hl = "hl"
    wording = "wording"


@ratings.command("export", epilog="Example: sightline ratings export my-study -o ratings.jsonl")
def export_ratings(
    study: Annotated[str, typer.Argument(help="The study's short name, as in its address.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A .jsonl, .csv or .parquet file.")],
    what: Annotated[
        What,
        typer.Option(
            help="Single ratings, as psych reads them; items with their ratings, VICR's CSV, HL's form, or "
            "the wording that raters see."
        ),
    ] = What.ratings,
    names: Annotated[bool, typer.Option("--names", help="Also the names people chose.")] = False,
    croissant: Annotated[
        bool, typer.Option("--croissant", help="Also Croissant metadata, in a .croissant.json beside it.")
    ] = False,
    licence: Annotated[str, typer.Option("--license", help="The data's licence, for the metadata.")] = "",
    db: DbOption = "sightline.db",
) -> None:
    """Write a study's ratings or items; people leave as codes."""
    extra("sqlalchemy", "server")
    from sightline.server import exchange
    from sightline.server.start import existing_study

    form = out.suffix.removeprefix(".")
    if what is What.wording:
        if form not in ("json", "jsonl"):
            raise UsageError(f"{out}: the wording is JSON; name it .json")
        form = "jsonl"
    if form not in ("jsonl", "csv", "parquet"):
        raise UsageError(f"{out}: name it .jsonl, .csv or .parquet")
    if (what, form) in {(What.vicr, "jsonl"), (What.vicr, "parquet"), (What.hl, "csv"), (What.hl, "parquet")}:
        raise UsageError(f"{out}: the VICR form is .csv, the HL form is .jsonl")
    if croissant and what not in (What.ratings, What.items):
        raise UsageError("--croissant goes with --what ratings or --what items")
    database, stored = existing_study(db, study)
    with database.read() as connection:
        content = exchange.export(connection, stored, what.value, form, names=names)  # type: ignore[arg-type]
        rows = exchange.export(connection, stored, what.value, "jsonl", names=names) if croissant else b""
    with whole(out) as target:
        target.write(content)
    console.print(f"{what.value} of '{stored.study.title}': {out}")
    if croissant:
        from sightline.integrations.croissant import croissant as metadata

        title = stored.study.title
        about = f"{what.value.capitalize()} of the study '{title}', by people who are known by codes."
        found = metadata(out, [json.loads(row) for row in rows.splitlines()], title, about, licence=licence)
        beside = out.with_suffix(".croissant.json")
        with whole(beside) as target:
            target.write(json_text(found).encode())
        console.print(f"Metadata: {beside}")


@ratings.command("import", epilog="Example: sightline ratings import ratings.jsonl --study my-study")
def import_ratings(
    file: Annotated[Path, typer.Argument(help="Single ratings, VICR's CSV or HL's JSON Lines.")],
    study: Annotated[
        str, typer.Option(help="The study they belong to; for VICR and HL, a new one's short name.")
    ],
    form: Annotated[str, typer.Option("--format", help="ratings, vicr or hl.")] = "ratings",
    images: Annotated[Path | None, typer.Option(help="Folder of the pictures, for VICR and HL.")] = None,
    db: DbOption = "sightline.db",
) -> None:
    """Read ratings into a study; those that are there already are left alone."""
    extra("sqlalchemy", "server")
    from sightline.server import exchange
    from sightline.server.exchange.published import import_published
    from sightline.server.start import existing_study
    from sightline.server.storage.database import Database

    if form not in ("ratings", "vicr", "hl"):
        raise UsageError(f"--format {form} is not one of ratings, vicr, hl")
    if not file.is_file():
        raise UsageError(f"{file}: no such file")
    if form == "ratings":
        database, stored = existing_study(db, study)
        with database.write() as connection:
            count = exchange.import_ratings(connection, stored, file)
    else:
        database = Database(db)
        database.migrate()
        with database.write() as connection:
            stored, count = import_published(connection, form, file, study, images)
    console.print(f"{count} answers into '{stored.study.title}'")


@ratings.command(
    "convert", epilog="Example: sightline ratings convert export.json --from label-studio -o ratings.csv"
)
def convert(
    source: Annotated[
        Path, typer.Argument(help="A table, an export of Label Studio, or the folder of a Potato project.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="A .jsonl or .csv file.")],
    tool: Annotated[Source, typer.Option("--from", help="Where the ratings come from.")] = Source.table,
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="Of a table: ROLE=COLUMN, once for each. Long: item, rater, rating, criterion. Wide: item and rater "
            "with criteria, item with raters, rater with items, where * stands for parts of names. Any: system.",
        ),
    ] = None,
    level: Annotated[
        list[str] | None, typer.Option(help="What an answer in words counts: 'Strongly agree=5'.")
    ] = None,
) -> None:
    """Bring ratings from elsewhere into the form that `psych`, `meta` and `ratings import` read."""
    form = out.suffix.removeprefix(".")
    if form not in ("jsonl", "csv"):
        raise UsageError(f"{out}: name it .jsonl or .csv")
    if (mapping or level) and tool is not Source.table:
        raise UsageError(f"--map and --level are for tables; what {tool.value} writes is known")
    if tool is Source.table:
        found = list(mapped_ratings(source, mapping or [], _levels(level or [])))
    elif tool is Source.label_studio:
        from sightline.integrations import label_studio

        found = label_studio.ratings(source)
    else:
        from sightline.integrations import potato

        found = potato.ratings(source)
    if not found:
        raise UsageError(f"{source}: there is no rating in it")
    with whole(out) as target:
        target.write(ratings_file(found, form))
    people, items = len({one.rater for one in found}), len({one.key for one in found})
    console.print(f"{len(found):,} ratings of {items:,} items by {people:,} raters: {out}")


def _levels(given: list[str]) -> dict[str, float]:
    found = {}
    for one in given:
        words, equals, level = one.rpartition("=")
        try:
            found[words] = float(level) if equals else float("nan")
        except ValueError:
            equals = ""
        if not equals or not words:
            raise UsageError(f"--level {one}: write WORDS=NUMBER")
    return found


@ratings.command(
    "tasks",
    epilog="Example: sightline ratings tasks stories.jsonl --for label-studio --criterion grounding -o project",
)
def write_tasks(
    file: Annotated[Path, typer.Argument(help="Stories or captions.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    tool: Annotated[Tool, typer.Option("--for", help="The annotation tool.")],
    criterion: Annotated[list[str] | None, typer.Option(help="What is rated; may be repeated.")] = None,
    scale: Annotated[str, typer.Option(help="The lowest and the highest level.")] = "1-5",
    pictures: Annotated[
        str, typer.Option(help="What stands before pictures' names there: an address, /data/local-files/?d=")
    ] = "",
    format: Annotated[str | None, typer.Option(help="The format of the file.")] = None,
) -> None:
    """Make tasks of items for another annotation tool; `convert` brings the answers back."""
    low, dash, high = scale.partition("-")
    if not dash or not low.isdigit() or not high.isdigit() or int(low) >= int(high):
        raise UsageError(f"--scale {scale}: write LOWEST-HIGHEST, as 1-5")
    items = [item for item in read_items(file, format=format) if isinstance(item, Item)]
    names = criterion or ["overall"]
    if tool is Tool.label_studio:
        from sightline.integrations import label_studio

        made = {
            "tasks.json": json_text(label_studio.tasks(items, pictures)),
            "interface.xml": label_studio.interface(
                names, int(low), int(high), shows=any(item.images for item in items)
            ),
        }
    else:
        from sightline.integrations import potato

        if low != "1":
            raise UsageError(f"--scale {scale}: scales of Potato begin with 1")
        made = potato.project(items, names, int(high), pictures)
    with told(out):
        out.mkdir(parents=True, exist_ok=True)
    for name in made:
        if (out / name).exists():
            raise UsageError(f"{out / name} is there already; name another folder, or delete it")
    for name, content in made.items():
        with whole(out / name) as target:
            target.write(content.encode())
    console.print(f"{len(items):,} items for {tool.value}: {', '.join(str(out / name) for name in made)}")
