"""The same storage tests on SQLite and on PostgreSQL."""

import random
import re
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from fastapi.testclient import TestClient
from server_studies import GAME, make_study
from sqlalchemy import func, select, text, update

from sightline.errors import UsageError
from sightline.people.consensus import Tally
from sightline.people.study import parse_study
from sightline.server.app import create_app
from sightline.server.context import Server
from sightline.server.private import Private
from sightline.server.storage import answers, assignment, disputes, items, raters, studies
from sightline.server.storage import schema as t
from sightline.server.storage.answers import NotYours, Submission
from sightline.server.storage.database import Database
from sightline.server.storage.writer import Writer

HANG_UP = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE pid <> pg_backend_pid() AND datname IS NOT NULL"
)
NO_CHECKS = "checks = {gold = 0.0, attention = 0.0}\n"
FREE = NO_CHECKS + "training = {tutorial = 0, probation = 0}\n"


def join(database, stored, name="Ada"):
    with database.write() as connection:
        return raters.join(connection, stored, name, None)


def turn(database, stored, rater, now=0.0):
    with database.write() as connection:
        row = answers.rater_row(connection, rater, stored.id)
        return assignment.current(connection, stored, row, now)


def rate(database, stored, rater, item, value, now=0.0, token=None):
    with database.write() as connection:
        sent = Submission(item, token or uuid.uuid4().hex, {"value": value}, 2.0)
        return answers.submit(connection, stored, rater, sent, now)


def column(database, what, *where):
    with database.read() as connection:
        return list(connection.execute(select(what).where(*where)).scalars())


def expert_levels(database):
    with database.read() as connection:
        return dict(connection.execute(select(t.Item.id, t.Item.expert)).all())


def test_migrations_and_models_agree(database):
    with database.read() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), t.Base.metadata)
    assert differences == []
    database.migrate()  # a second start changes nothing


def test_a_commit_means_it(database):
    with database.read() as connection:
        if database.is_sqlite:
            assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
        else:
            assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"


def test_each_item_gets_k_ratings_from_different_people(database):
    stored = make_study(database, FREE + "ratings_per_item = 3\n", main=4)
    people = [join(database, stored, f"P{n}") for n in range(5)]
    working = True
    while working:
        working = False
        for rater in people:
            if task := turn(database, stored, rater):
                rate(database, stored, rater, task.item, 3)
                working = True
    given = column(database, t.Answer.item_id)
    assert set(Counter(given).values()) == {3}
    with database.read() as connection:
        pairs = connection.execute(select(t.Answer.item_id, t.Answer.rater_id)).all()
    assert len(pairs) == len(set(pairs)) == 12
    assert column(database, t.Item.free) == [0, 0, 0, 0]


def test_a_lease_keeps_the_last_place_until_it_expires(database):
    stored = make_study(database, FREE + "ratings_per_item = 1\nlease_minutes = 1\n", main=1)
    ada, ben = join(database, stored, "Ada"), join(database, stored, "Ben")
    task = turn(database, stored, ada, now=0)
    assert turn(database, stored, ada, now=5) == task  # a reload shows the same item
    assert turn(database, stored, ben, now=10) is None
    again = turn(database, stored, ben, now=70)
    assert again.item == task.item
    rate(database, stored, ben, task.item, 4)
    assert column(database, t.Item.free) == [0]


def test_a_late_answer_is_taken_once_beside_the_one_in_its_place(database):
    stored = make_study(database, FREE + "ratings_per_item = 1\nlease_minutes = 1\n", main=2)
    ada, ben = join(database, stored, "Ada"), join(database, stored, "Ben")
    first = turn(database, stored, ada, now=0).item
    second = turn(database, stored, ben, now=0).item
    rate(database, stored, ben, second, 2, now=100)  # late, but nobody took it
    assert turn(database, stored, ben, now=110).item == first
    late = rate(database, stored, ada, first, 4, now=120)
    assert late.next is None
    assert (late.standing.rated, column(database, t.Answer.extra)) == (1, [False, True])
    rate(database, stored, ben, first, 5, now=130)
    with pytest.raises(NotYours):
        rate(database, stored, ada, first, 1, now=140)
    with pytest.raises(NotYours):  # never before this rater
        rate(database, stored, ada, second, 1, now=140)
    with database.read() as connection:
        rows = connection.execute(select(t.Item.people, t.Item.wanted, t.Item.free, t.Item.counts)).all()
    assert sorted(rows) == [(1, 1, 0, "0,1,0,0,0"), (2, 2, 0, "0,0,0,1,1")]


def test_what_others_hold_is_told_apart_from_done(database):
    stored = make_study(database, FREE + "ratings_per_item = 1\nlease_minutes = 1\n", main=1)
    ada, ben = join(database, stored, "Ada"), join(database, stored, "Ben")
    task = turn(database, stored, ada, now=0)
    assert turn(database, stored, ben, now=5) is None

    def more(rater):
        with database.read() as connection:
            return assignment.more_at(connection, stored, answers.rater_row(connection, rater, stored.id))

    assert more(ben) == 60
    rate(database, stored, ada, task.item, 3, now=10)
    assert more(ben) is more(ada) is None


def test_a_late_answer_counts_while_nobody_took_the_place(database):
    stored = make_study(database, FREE + "lease_minutes = 1\n", main=1)
    ada = join(database, stored)
    task = turn(database, stored, ada, now=0)
    assert rate(database, stored, ada, task.item, 4, now=1000).feedback.points == 1


def test_the_same_submission_twice_counts_once_and_tells_the_same(database):
    stored = make_study(database, FREE, main=3)
    first = join(database, stored, "First")
    seen = {}
    while task := turn(database, stored, first):
        seen[task.item] = rate(database, stored, first, task.item, 2)
    ada = join(database, stored)
    task = turn(database, stored, ada)
    once = rate(database, stored, ada, task.item, 5, token="tok")
    twice = rate(database, stored, ada, task.item, 5, token="tok")
    changed = rate(database, stored, ada, task.item, 1, token="tok")
    assert (once.replayed, twice.replayed, changed.replayed) == (False, True, True)
    assert once.feedback == twice.feedback == changed.feedback
    assert once.next == twice.next
    assert column(database, func.count(t.Answer.id), t.Answer.rater_id == ada) == [1]
    assert column(database, t.Rater.points, t.Rater.id == ada) == [once.feedback.points]
    with pytest.raises(NotYours):
        rate(database, stored, ada, task.item, 5, token="another")
    with pytest.raises(NotYours):  # another's token tells nothing
        rate(database, stored, first, task.item, 5, token="tok")


def test_feedback_follows_the_rules_and_the_tally_is_kept(database):
    stored = make_study(database, FREE + "ratings_per_item = 9\n", main=1)
    with database.write() as connection:
        connection.execute(update(t.Item).values(seed=5))
    so_far = []
    for n, value in enumerate([1, 2, 2, 5, 3]):
        rater = join(database, stored, f"P{n}")
        outcome = rate(database, stored, rater, turn(database, stored, rater).item, value)
        tally = Tally.of(stored.study.levels, so_far, seed=5)
        assert (outcome.feedback.consensus, outcome.feedback.points) == (tally.consensus, tally.points(value))
        assert outcome.feedback.counts == tally.standing
        so_far.append(value)
    assert column(database, t.Item.counts) == ["1,2,1,0,1"]


def test_seeds_can_be_given_anew_until_somebody_has_rated(database):
    stored = make_study(database, FREE + "ratings_per_item = 9\n", main=2, gold=1)
    with database.write() as connection:
        assert items.reseed(connection, stored, {"main-0": 5, "main-1": 2}) == 2
        assert items.reseed(connection, stored, {"main-0": 4}) == 1
    for wrong, why in (
        ({"main-0": 6}, "not on the scale"),
        ({"gold-0": 3}, "no item"),
        ({"x": 3}, "no item"),
    ):
        with pytest.raises(UsageError, match=why), database.write() as connection:
            items.reseed(connection, stored, wrong)
    heard = {}
    for n in range(3):  # the first two people replace one seed each
        rater = join(database, stored, f"P{n}")
        while task := turn(database, stored, rater):
            outcome = rate(database, stored, rater, task.item, 1)
            heard.setdefault(task.item, []).append(outcome.feedback.counts)
    first = column(database, t.Item.id, t.Item.key == "main-0")[0]
    assert heard[first] == [(0, 0, 0, 2, 0), (1, 0, 0, 1, 0), (2, 0, 0, 0, 0)]
    with pytest.raises(UsageError, match="has ratings already"), database.write() as connection:
        items.reseed(connection, stored, {"main-0": 3})
    assert sorted(column(database, t.Item.seed, t.Item.role == "main")) == [2, 4]


def test_hard_items_get_more_ratings(database):
    stored = make_study(database, FREE + "ratings_per_item = 2\nhard = {more = 2, above = 1.4}\n", main=1)
    for n, value in enumerate([1, 5, 1, 5, 3]):
        rater = join(database, stored, f"P{n}")
        if task := turn(database, stored, rater):
            rate(database, stored, rater, task.item, value)
    assert column(database, t.Item.people) == [4]


def test_training_fails_repeats_and_opens_the_game(database):
    settings = NO_CHECKS + "training = {tutorial = 2, probation = 4, accuracy = 0.5, points = 9}\n"
    stored = make_study(database, settings, training=12)
    ada = join(database, stored)
    expert = expert_levels(database)
    events = []
    for good in (False, True):
        for _ in range(6):
            task = turn(database, stored, ada)
            level = expert[task.item]
            outcome = rate(database, stored, ada, task.item, level if good else (5 if level < 4 else 1))
            events.append(outcome.event)
    assert events[1::2] == ["tutorial over", None, "failed", "tutorial over", None, "passed"]
    assert outcome.standing.phase == "play"
    assert outcome.standing.points == 0  # training earns nothing
    with database.read() as connection:
        rounds = Counter(tuple(row) for row in connection.execute(select(t.Answer.round, t.Answer.phase)))
    assert rounds == {(1, "tutorial"): 2, (1, "probation"): 4, (2, "tutorial"): 2, (2, "probation"): 4}
    assert len(set(column(database, t.Answer.item_id))) == 12  # the second time with pairs not seen before


def test_failing_checks_sends_a_rater_back_to_training(database):
    checks = "checks = {gold = 0.5, attention = 0.0, window = 4, minimum = 2}\n"
    settings = checks + "training = {tutorial = 0, probation = 2}\n"
    stored = make_study(database, settings, main=60, training=4, gold=30)
    expert = expert_levels(database)
    ada = join(database, stored)
    events = []
    for _ in range(40):
        task = turn(database, stored, ada)
        level = expert[task.item]
        right = task.role == "training"
        outcome = rate(database, stored, ada, task.item, level if right else 1 if (level or 1) > 3 else 5)
        events.append(outcome.event)
        if outcome.event == "retrain":
            break
    assert events[1] == "passed"
    assert events[-1] == "retrain"
    assert outcome.standing.phase == "probation"
    assert outcome.standing.round == 2


def test_skipping_and_reporting(database):
    stored = make_study(database, FREE + "ratings_per_item = 1\n", main=2)
    ada, ben = join(database, stored, "Ada"), join(database, stored, "Ben")
    first = turn(database, stored, ada)
    with database.write() as connection:
        answers.skip(connection, stored, ada, first.item, 0.0, "the picture is black")
        answers.skip(connection, stored, ada, first.item, 0.0, None)  # a second click does nothing
    second = turn(database, stored, ada)
    assert second.item != first.item
    rate(database, stored, ada, second.item, 3)
    assert turn(database, stored, ada) is None  # a skipped item does not come again
    assert turn(database, stored, ben).item == first.item
    assert column(database, t.Skip.reason) == ["the picture is black"]


def test_disputes_return_points_once(database):
    stored = make_study(database, FREE + "ratings_per_item = 9\n", main=1)
    for n in range(4):
        other = join(database, stored, f"P{n}")
        rate(database, stored, other, turn(database, stored, other).item, 5)
    ada = join(database, stored)
    lost = rate(database, stored, ada, turn(database, stored, ada).item, 1)
    assert lost.feedback.points == -1
    with database.write() as connection, pytest.raises(UsageError, match="no such rating"):
        disputes.open_dispute(connection, other, lost.answer, "it is a different dog", 1.0)
    with database.write() as connection:
        number = disputes.open_dispute(connection, ada, lost.answer, "it is a different dog", 1.0)
    with database.write() as connection, pytest.raises(UsageError, match="already"):
        disputes.open_dispute(connection, ada, lost.answer, "it is a different dog", 1.0)
    with database.write() as connection, pytest.raises(UsageError, match="no such dispute"):
        disputes.decide(connection, stored.id + 1, number, "accepted", "", 2.0)
    with database.write() as connection:
        disputes.decide(connection, stored.id, number, "accepted", "indeed", 2.0)
    with database.write() as connection, pytest.raises(UsageError, match="accepted already"):
        disputes.decide(connection, stored.id, number, "accepted", "indeed", 2.0)
    assert column(database, t.Rater.points, t.Rater.id == ada) == [0]


def test_invitations(database):
    with database.write() as connection:
        stored = studies.add(connection, "closed", parse_study(GAME, "toml"))
        single, wide = raters.invite(connection, stored.id, 1), raters.invite(connection, stored.id, None)
        assert raters.invited_study(connection, single) == "closed"
        raters.join(connection, stored, "Ada", single)
        raters.join(connection, stored, "Ben", wide)
        raters.join(connection, stored, "Cy", wide)
        assert raters.invited_study(connection, single) is None
        assert raters.invited_study(connection, wide) == "closed"
        for token in (single, None, "made-up"):
            with pytest.raises(UsageError):
                raters.join(connection, stored, "Dee", token)
        with pytest.raises(UsageError, match="name"):
            raters.join(connection, stored, " \u202e\n ", wide)


def test_many_at_once_never_exceed_k_and_lose_nothing(database):
    """Threads through two writers, as two servers would, with so few items that they fight for them."""
    stored = make_study(database, FREE + "ratings_per_item = 2\n", main=12)
    people = [join(database, stored, f"P{n}") for n in range(8)]
    writers = [Writer(database), Writer(database)]
    acknowledged, lock, lots = [], threading.Lock(), random.Random(1)

    def play(number):
        rater, writer = people[number], writers[number % 2]
        row = lambda c: assignment.current(c, stored, answers.rater_row(c, rater, stored.id), 0.0)  # noqa: E731
        task = writer.submit(row).result()
        while task is not None:
            token = uuid.uuid4().hex
            sent = Submission(task.item, token, {"value": lots.randint(1, 5)}, 1.0)
            outcome = writer.submit(lambda c, s=sent: answers.submit(c, stored, rater, s, 0.0)).result()
            with lock:
                acknowledged.append(token)
            task = outcome.next

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(play, range(8)))
    for writer in writers:
        writer.close()
    assert sorted(column(database, t.Answer.token)) == sorted(acknowledged)
    assert column(database, t.Item.people) == [2] * 12
    assert sum(map(int, ",".join(column(database, t.Item.counts)).split(","))) == 24


def test_a_failing_job_leaves_no_trace_and_harms_no_other(database):
    stored = make_study(database, FREE, main=2)
    writer = Writer(database)

    def bad(connection):
        connection.execute(update(t.Item).values(people=77))
        raise UsageError("no")

    started = threading.Event()
    held = writer.submit(lambda c: started.wait(5))
    futures = [writer.submit(job) for job in (bad, lambda c: raters.join(c, stored, "Ada", None), bad)]
    started.set()
    held.result()
    assert futures[1].result() > 0
    for future in (futures[0], futures[2]):
        with pytest.raises(UsageError):
            future.result()
    writer.close()
    assert set(column(database, t.Item.people)) == {0}
    assert column(database, t.Rater.name) == ["Ada"]


def test_a_running_server_survives_its_database_hanging_up(cluster, memory):
    """Every connection is cut again and again between a rater's requests: none of them fails."""
    database = Database(cluster.fresh())
    database.migrate()
    make_study(database, FREE, main=9)
    server = Server(database, private=Private(memory))
    browser = TestClient(create_app(server))
    page = browser.get("/studies/captions/join")
    token = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)[1]
    browser.post("/studies/captions/join", data={"csrf": token, "name": "Ada"})
    task = browser.get("/api/studies/captions/turn").json()["next"]
    for place in range(5):
        cluster.run(HANG_UP)
        body = {"item": task["item"], "token": f"{place:032d}", "answers": {"value": 3}, "seconds": 1}
        told = browser.post("/api/studies/captions/answers", json=body, headers={"x-csrf-token": token})
        assert told.status_code == 200
        task = told.json()["next"]
        cluster.run(HANG_UP)
        assert browser.get("/studies/captions/me").status_code == 200
    server.close()
    again = Database(database.url)
    assert sorted(column(again, t.Answer.token)) == [f"{place:032d}" for place in range(5)]
    again.close()


def test_a_dropped_connection_is_survived(cluster):
    database = Database(cluster.fresh())
    database.migrate()
    stored = make_study(database, FREE, main=5)
    writer = Writer(database)
    assert writer.submit(lambda c: raters.join(c, stored, "Ada", None)).result() > 0
    cluster.run(HANG_UP)
    assert writer.submit(lambda c: raters.join(c, stored, "Ben", None)).result() > 0
    writer.close()
    assert column(database, t.Rater.name) == ["Ada", "Ben"]
    database.close()
