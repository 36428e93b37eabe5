"""`sightline serve`: the web application in which people judge; its backups."""

import socket
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from sightline.cli.app import app, console
from sightline.errors import UsageError, extra

serve = typer.Typer(help="Let people play the rating game and take part in studies, in the browser.")
app.add_typer(serve, name="serve")

DB_HELP = "A file for SQLite, or postgresql://user@host/name."
PRIVATE_HELP = (
    "Folder of the key that signs cookies and of the list of removed raters, apart from the database; beside a SQLite "
    "file, or ./sightline.private, unless given."
)
FileArgument = Annotated[Path, typer.Argument(help="The backup: one file, readable by nobody else.")]
DbOption = Annotated[str | None, typer.Option("--db", help=f"{DB_HELP} [default: sightline.db]")]
PrivateOption = Annotated[Path | None, typer.Option(help=PRIVATE_HELP)]


@serve.callback(
    invoke_without_command=True, epilog="Example: sightline serve --study my-study.toml --db lab.db"
)
def run(
    ctx: typer.Context,
    db: Annotated[str, typer.Option("--db", help=DB_HELP)] = "sightline.db",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    study: Annotated[
        list[Path] | None, typer.Option(help="Set up a study from this TOML or YAML file first.")
    ] = None,
    public: Annotated[bool, typer.Option(help="Let anyone join the studies of --study.")] = False,
    staff: Annotated[
        str | None, typer.Option(help="Give this staff member a new password and print it.")
    ] = None,
    public_url: Annotated[
        str,
        typer.Option(
            help="Address under which people reach the server, as https://lab.example.org/ratings: links name it, "
            "pages lie below its path, and with https browsers are told to use nothing else."
        ),
    ] = "",
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(help="Address or network of a proxy in front; 127.0.0.1 unless given. May be repeated."),
    ] = None,
    private: PrivateOption = None,
    new_key: Annotated[
        bool, typer.Option("--new-key", help="Sign cookies with a new key: everybody logs in again.")
    ] = False,
    sample: Annotated[bool, typer.Option(help="Begin an empty database with sample studies.")] = True,
) -> None:
    """Let people play the rating game and take part in studies, in the browser."""
    if ctx.invoked_subcommand:
        return
    _extras()
    from sightline.server.private import Private
    from sightline.server.start import open_database, run, set_up_studies
    from sightline.server.storage.qualification import outlook

    _check_address(public_url)
    _check_port(host, port)
    database, password = open_database(db, sample=sample, staff=staff)
    kept = Private(private) if private else Private.beside(database)
    kept.signing_key(database, new=new_key)
    here = public_url.rstrip("/") or f"http://{host}:{port}"
    for stored, link in set_up_studies(database, study or [], public):
        console.print(f"{stored.study.title}: {here}{link}")
        with database.read() as connection:
            if told := outlook(connection, stored):
                console.print(told, highlight=False)
    console.print(f"Open {here} to play, {here}/staff to run studies. Ctrl-C ends.")
    if password:
        console.print(f"Staff login: {password[0]} with password {password[1]} (shown once)", highlight=False)
    run(database, host, port, trusted_proxy or ["127.0.0.1"], public_url, kept)


@serve.command(epilog="Example: sightline serve backup monday.backup")
def backup(
    ctx: typer.Context,
    file: FileArgument,
    db: DbOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older backup.")] = False,
) -> None:
    """Write all there is at this moment into one file, while the server goes on."""
    _extras()
    from sightline.server.start import existing
    from sightline.server.storage.backup import backup as write

    database = existing(_database(ctx, db))
    console.print(f"{file}: {write(database, file, overwrite=overwrite)}", highlight=False)


@serve.command(epilog="Example: sightline serve restore monday.backup --db new.db")
def restore(
    ctx: typer.Context,
    file: FileArgument,
    db: DbOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of studies that are there.")
    ] = False,
    private: PrivateOption = None,
) -> None:
    """Fill a database from a backup, of either kind; raters who were removed since stay removed."""
    _extras()
    from sightline.server.private import Private
    from sightline.server.storage.backup import restore as read
    from sightline.server.storage.database import Database

    database = Database(_database(ctx, db))
    folder = private or (ctx.parent.params["private"] if ctx.parent else None)
    kept = Private(folder) if folder else Private.beside(database)
    held, removed = read(file, database, kept.removed(), replace=replace)
    console.print(f"{database.engine.url!r} holds {held}", highlight=False)
    if removed:
        console.print(f"removed since the backup, and removed again: {removed}", highlight=False)


def _extras() -> None:
    for package in ("uvicorn", "fastapi", "sqlalchemy"):
        extra(package, "server")


def _database(ctx: typer.Context, given: str | None) -> str:
    """`--db` behind the command, or before it."""
    return given or str(ctx.parent.params["db"] if ctx.parent else "sightline.db")


def _check_address(url: str) -> None:
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment):
        raise UsageError(
            f"--public-url {url}: give an address as https://lab.example.org or https://lab.example.org/ratings"
        )


def _check_port(host: str, port: int) -> None:
    try:
        with socket.create_server((host, port), reuse_port=False):
            pass
    except OSError as fault:
        raise UsageError(
            f"cannot listen on {host}:{port} ({fault.strerror}); choose another --port"
        ) from None
