"""`sightline ratings export` and `import`: people's judgements to and from files."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import app, console
from sightline.errors import UsageError, extra
from sightline.io.results import whole

ratings = typer.Typer(help="People's judgements to and from files.", no_args_is_help=True)
app.add_typer(ratings, name="ratings")

DbOption = Annotated[str, typer.Option("--db", help="A file for SQLite, or postgresql://user@host/name.")]


class What(StrEnum):
    items = "items"
    ratings = "ratings"
    vicr = "vicr"
    hl = "hl"
    wording = "wording"


@ratings.command("export")
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
    database, stored = existing_study(db, study)
    with database.read() as connection:
        content = exchange.export(connection, stored, what.value, form, names=names)  # type: ignore[arg-type]
    with whole(out) as target:
        target.write(content)
    console.print(f"{what.value} of '{stored.study.title}': {out}")


@ratings.command("import")
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
