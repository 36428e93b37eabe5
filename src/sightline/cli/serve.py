"""`sightline serve`: the web application in which people judge."""

import socket
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import app, console
from sightline.errors import UsageError, extra

DbOption = Annotated[str, typer.Option("--db", help="A file for SQLite, or postgresql://user@host/name.")]


@app.command()
def serve(
    db: DbOption = "sightline.db",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    study: Annotated[
        list[Path] | None, typer.Option(help="Set up a study from this TOML or YAML file first.")
    ] = None,
    public: Annotated[bool, typer.Option(help="Let anyone join the studies of --study.")] = False,
    staff: Annotated[
        str | None, typer.Option(help="Give this staff member a new password and print it.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(help="Address or network of a proxy in front; 127.0.0.1 unless given. May be repeated."),
    ] = None,
    sample: Annotated[bool, typer.Option(help="Begin an empty database with sample studies.")] = True,
) -> None:
    """Let people play the rating game and take part in studies, in the browser."""
    extra("uvicorn", "server")
    extra("fastapi", "server")
    extra("sqlalchemy", "server")
    from sightline.server.start import open_database, run, set_up_studies
    from sightline.server.storage.qualification import outlook

    _check_port(host, port)
    database, password = open_database(db, sample=sample, staff=staff)
    for stored, link in set_up_studies(database, study or [], public):
        console.print(f"{stored.study.title}: http://{host}:{port}{link}")
        with database.read() as connection:
            if told := outlook(connection, stored):
                console.print(told, highlight=False)
    console.print(
        f"Open http://{host}:{port} to play, http://{host}:{port}/staff to run studies. Ctrl-C ends."
    )
    if password:
        console.print(f"Staff login: {password[0]} with password {password[1]} (shown once)", highlight=False)
    run(database, host, port, trusted_proxy or ["127.0.0.1"])


def _check_port(host: str, port: int) -> None:
    try:
        with socket.create_server((host, port), reuse_port=False):
            pass
    except OSError as fault:
        raise UsageError(
            f"cannot listen on {host}:{port} ({fault.strerror}); choose another --port"
        ) from None
