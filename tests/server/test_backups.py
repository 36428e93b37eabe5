"""Backups: all that was acknowledged, from either database into either, and nobody who was removed."""

import json
import re
import threading
import uuid

import pytest
from fastapi.testclient import TestClient
from server_studies import make_study
from sqlalchemy import select, text
from test_storage import column, join, rate, turn
from test_web import FREE, browser, csrf, login, server  # noqa: F401
from test_web import join as join_in_browser
from test_web import rate as rate_in_browser
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.server.app import create_app
from sightline.server.context import Server
from sightline.server.private import KEY, Private
from sightline.server.storage import answers, assignment, moderation, raters
from sightline.server.storage import schema as t
from sightline.server.storage.answers import Submission
from sightline.server.storage.backup import TABLES, backup, restore
from sightline.server.storage.database import Database
from sightline.server.storage.writer import Writer

ROUNDS = 20


def everything(database):
    """All rows of all tables."""
    with database.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in TABLES
        }


def opened(path):
    found = Database(str(path))
    found.migrate()
    return found


def played(database, people=3, **more):
    stored = make_study(database, FREE + "ratings_per_item = 5\n", main=4, **more)
    numbers = [join(database, stored, f"P{n}") for n in range(people)]
    for number in numbers:
        while task := turn(database, stored, number):
            rate(database, stored, number, task.item, 4)
    return stored, numbers


def code_of(database, number):
    with database.read() as connection:
        return connection.execute(select(t.Rater.code).where(t.Rater.id == number)).scalar_one()


def test_a_backup_of_either_database_fills_either(database, memory, cluster):
    stored, _ = played(database)
    before = everything(database)
    file = memory / "kept.db"
    kept = backup(database, file)
    assert str(kept) == "1 study, 3 raters, 12 answers"
    assert [path.name for path in memory.glob("*kept*")] == ["kept.db"]
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="is there already"):
        backup(database, file)
    backup(database, file, overwrite=True)
    for other in (opened(memory / "new.db"), opened(cluster.fresh())):
        again, removed = restore(file, other, ())
        after = everything(other)
        assert (again, removed) == (kept, 0)
        assert {name: rows for name, rows in after.items() if name != "counter"} == {
            name: rows for name, rows in before.items() if name != "counter"
        }
        with other.write() as connection:  # it goes on: numbers are not given twice, nor those given since
            newcomer = raters.join(connection, stored, "New", None)
        assert newcomer > 100_000
        task = turn(other, stored, newcomer)
        rate(other, stored, newcomer, task.item, 3)
        other.close()


def test_what_is_there_is_replaced_when_asked_and_whole_or_not_at_all(sqlite, memory):
    played(sqlite)
    file = memory / "kept.db"
    backup(sqlite, file)
    other = opened(memory / "other.db")
    make_study(other, slug="older", main=1)
    before = everything(other)
    with pytest.raises(UsageError, match="--replace"):
        restore(file, other, ())
    damaged = memory / "damaged.db"
    content = bytearray(file.read_bytes())
    content[5000:9000] = bytes(4000)
    damaged.write_bytes(content)
    (memory / "notes.txt").write_text("no database")
    for wrong in (damaged, memory / "notes.txt", memory / "missing.db"):
        with pytest.raises(UsageError, match=wrong.name):
            restore(wrong, other, (), replace=True)
        assert everything(other) == before
    with pytest.raises(UsageError, match="the database itself"):
        backup(sqlite, sqlite.file, overwrite=True)
    restore(file, other, (), replace=True)
    assert column(other, t.Study.slug) == ["captions"]
    other.close()


def test_a_removed_person_does_not_come_back(server, browser, memory):  # noqa: F811
    """Removed in the browser; whatever became of the database, and from a backup of before."""
    stored, numbers = played(server.database)
    code = code_of(server.database, numbers[1])
    file = memory / "before.db"
    backup(server.database, file)
    login(browser)
    page = browser.get("/staff/studies/captions/raters")
    sent = {"csrf": csrf(page), "sure": "yes"}
    assert browser.post(f"/staff/studies/captions/raters/{code}/remove", data=sent).status_code == 200
    assert server.private.removed() == {code}
    assert b"P1" not in server.database.file.read_bytes()
    empty = opened(memory / "new.db")
    for target, known in ((server.database, set()), (empty, server.private.removed())):
        kept, again = restore(file, target, known, replace=True)
        assert (kept.people, kept.answers, again) == (2, 8, 1)
        assert sorted(column(target, t.Rater.name)) == ["P0", "P2", "removed"]
        assert set(column(target, t.Answer.rater_id)) == {numbers[0], numbers[2]}
        assert set(column(target, t.Item.people)) == {2}
    empty.close()
    kept, again = restore(file, opened(memory / "forgetful.db"), ())
    assert (kept.people, again) == (3, 0)  # it is the list that makes the difference
    assert stored.slug == "captions"


def test_a_backup_under_load_has_every_acknowledged_answer_and_nobody_removed(database, memory, cluster):
    """Again and again while people rate and one after the other is removed; each is restored and looked at."""
    stored = make_study(database, FREE + "ratings_per_item = 400\n", main=40)
    writer, stop = Writer(database), threading.Event()
    acknowledged, gone, strange = [], [], []

    def play(number):
        def wait_for(job):
            return writer.submit(job).result(60)

        def one(connection):
            row = answers.rater_row(connection, rater, stored.id)
            item = assignment.current(connection, stored, row, 0.0).item
            answers.submit(connection, stored, rater, Submission(item, token, {"value": 3}, 2.0), 0.0)

        try:
            rater = wait_for(lambda c: raters.join(c, stored, f"Player {number}", None))
            code = code_of(database, rater)
            for _ in range(12):
                token = uuid.uuid4().hex
                wait_for(one)
                acknowledged.append((rater, token))
            if number % 3 == 0:
                wait_for(lambda c: moderation.remove_rater(c, stored, code))
                gone.append((rater, code))
        except Exception as fault:
            strange.append(fault)

    def crowd(first):
        number = first
        while not stop.is_set():
            play(number)
            number += 2

    threads = [threading.Thread(target=crowd, args=(first,)) for first in (0, 1)]
    for thread in threads:
        thread.start()
    targets = [opened(memory / "again.db"), opened(cluster.fresh())]
    try:
        for turn_number in range(ROUNDS):
            file = memory / f"{turn_number}.db"
            told = list(acknowledged)
            backup(database, file)
            later = list(gone)  # removed while it was taken, or after
            target = targets[turn_number % 2]
            restore(file, target, [code for _, code in later], replace=True)
            file.unlink()
            out = {rater for rater, _ in later}
            tokens = set(column(target, t.Answer.token))
            assert {token for rater, token in told if rater not in out} <= tokens
            assert set(column(target, t.Rater.name, t.Rater.id.in_(out))) <= {"removed"}
            assert not set(column(target, t.Answer.rater_id)) & out
            assert sum(column(target, t.Item.people)) == len(tokens)  # tallies and answers are of one moment
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
        writer.close()
    assert strange == []
    assert len(acknowledged) > ROUNDS
    assert gone
    for target in targets:
        target.close()


def test_the_key_lies_apart_from_the_database_and_nobody_else_reads_either(sqlite, memory):
    sqlite.file.chmod(0o644)
    server = Server(sqlite)  # noqa: F811
    secret = (server.private.folder / KEY).read_text().strip()
    visitor = TestClient(create_app(server))
    make_study(sqlite, FREE)
    page = join_in_browser(visitor)
    task = visitor.get("/api/studies/captions/turn").json()["next"]
    assert rate_in_browser(visitor, csrf(page), task["item"], 4, "a" * 32).status_code == 200
    sqlite.migrate()
    for path in (*memory.glob("ratings.db*"), server.private.folder / KEY):
        expected = 0o700 if path.is_dir() else 0o600
        assert path.stat().st_mode & 0o777 == expected, path
        assert path.is_dir() or path.name == KEY or secret.encode() not in path.read_bytes()
    backup(sqlite, memory / "kept.db")
    assert secret.encode() not in (memory / "kept.db").read_bytes()
    server.close()


def test_a_server_with_another_key_is_told_and_an_older_ones_key_moves_out(sqlite, memory):
    with sqlite.write() as connection:
        connection.execute(t.Secret.__table__.insert().values(name="cookies", value="an old key"))
    private = Private(memory / "apart")
    assert private.signing_key(sqlite) == "an old key"  # cookies and codes go on
    assert "an old key" not in column(sqlite, t.Secret.value)
    assert private.signing_key(sqlite) == "an old key"
    with pytest.raises(UsageError, match=r"cookies\.key: .* is not there; .*--private.*--new-key"):
        Private(memory / "elsewhere").signing_key(sqlite)
    (memory / "apart" / KEY).write_text("typed by hand\n")
    with pytest.raises(UsageError, match="is another one"):
        private.signing_key(sqlite)
    (memory / "file").write_text("")
    (memory / "odd" / KEY).mkdir(parents=True)
    for folder in (memory / "file", memory / "odd"):
        with pytest.raises(UsageError, match=rf"{folder.name}.*(cannot be read|cannot write)"):
            Private(folder).signing_key(sqlite)
    new = private.signing_key(sqlite, new=True)
    assert new not in ("an old key", "typed by hand")
    assert private.signing_key(sqlite) == new


def test_the_commands(memory, monkeypatch):
    """As typed: a backup of what `serve` would serve, and back; wrong use is one clear line."""
    monkeypatch.chdir(memory)
    database = opened("sightline.db")
    _, numbers = played(database)
    code = code_of(database, numbers[0])
    database.close()
    run, app = CliRunner(), load_commands()
    assert "1 study, 3 raters, 12 answers" in run.invoke(app, ["serve", "backup", "kept.db"]).output
    Private(memory / "apart").note_removed(code)
    given = ["serve", "--db", "new.db", "restore", "kept.db", "--private", "apart"]
    told = run.invoke(app, given).output
    assert "1 study, 2 raters, 8 answers" in told
    assert "removed again: 1" in told
    (memory / "sightline.toml").write_text('[serve]\ndb = "new.db"\n[serve.backup]\noverwrite = true\n')
    assert "2 raters, 8 answers" in run.invoke(app, ["serve", "backup", "kept.db"]).output
    for wrong, why in (
        (["serve", "backup", "x.db", "--db", "none.db"], "no such database"),
        (["serve", "restore", "none.db"], "no such file"),
        (["serve", "--public-url", "lab.example.org"], "give an address"),
    ):
        fault = run.invoke(app, wrong).exception
        assert isinstance(fault, UsageError)
        assert re.search(why, str(fault))


def test_tables_are_made_whole_or_not_at_all(memory, monkeypatch):
    """Killed while it sets up or brings the tables up to date, a server begins again where it was."""
    database = Database(str(memory / "half.db"))
    with database.engine.connect() as connection:
        database.begin(connection)
        connection.execute(text("CREATE TABLE audit (id INTEGER)"))
        connection.rollback()
    from alembic import op

    made = op.create_table
    monkeypatch.setattr(
        op, "create_table", lambda name, *rest: 1 / 0 if name == "item" else made(name, *rest)
    )
    with pytest.raises(ZeroDivisionError):
        database.migrate()
    monkeypatch.undo()
    database.migrate()
    make_study(database, FREE, main=1)
    assert json.dumps(column(database, t.Study.slug)) == '["captions"]'
    database.close()
