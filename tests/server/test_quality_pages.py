"""Gold items, agreement, review of answers and live estimates of raters, in every kind of study."""

import json
import random
import re

import numpy as np
import pytest
from server_studies import answer_of, make_study, set_up
from sqlalchemy import select, update
from test_rater_life import fields, guest, send
from test_web import FREE, browser, csrf, join, login, server  # noqa: F401

from sightline.people.assignment import draw
from sightline.people.forms import Given
from sightline.people.known import check_known, score
from sightline.people.study import parse_study
from sightline.psychometrics.model.facets import fit_facets
from sightline.server import trust
from sightline.server.storage import raters, watch
from sightline.server.storage import schema as t

GOLD = {
    "description": {"id": "k", "images": ["0.png"], "expert": {"scene": ["ski", "snow"]}},
    "confidence": {
        "id": "k",
        "images": ["0.png"],
        "answers": {"scene": "x", "action": "y"},
        "expert": {"scene": 5},
    },
    "story survey": {"id": "k", "images": ["1.png"], "text": "One.", "expert": {"coherence": 2}},
    "grounding survey": {"id": "k", "images": ["0.png"], "text": "One.", "expert": 1},
    "error marking": {"id": "k", "images": ["0.png"], "text": "One two three.", "expert": [1, 2]},
    "rating game": {"id": "k", "images": ["0.png"], "text": "One.", "expert": 2},
}


@pytest.mark.parametrize("kind", GOLD)
def test_gold_items_tell_who_is_careful_in_every_kind(server, tmp_path, kind):  # noqa: F811
    quiet = 'consent = ""\ntraining = {tutorial = 0, probation = 0}\n'
    gold = [{**GOLD[kind], "id": f"k{n}", "role": "gold"} for n in range(2)]
    if kind == "story survey":
        gold[1]["images"] = ["2.png"]
    checks = "checks = {gold = 0.5, attention = 0.0}\n"
    stored = set_up(server.database, tmp_path, kind, quiet + checks, more=gold)
    for person in range(2):
        visitor = guest(server)
        page = join(visitor, "kind", f"P{person}")
        for _ in range(9):
            if "All done" in page.text:
                break
            page = send(server, visitor, page, kind, person)
    with server.database.read() as connection:
        rows = watch.rater_table(connection, stored)
        phases = connection.execute(select(t.Answer.phase)).scalars().all()
    assert "gold" in phases
    known = {row["name"]: row["quality"].exact_gold for row in rows if row["quality"].exact_gold is not None}
    assert known
    for name, share in known.items():
        assert share == (
            1.0 if name == "P0" or kind == "story survey" else 0.0
        )  # there both give coherence 2


def test_a_gold_pair_knows_the_truer_text(server, tmp_path):  # noqa: F811
    pair = [
        {"id": "k", "images": ["0.png"], "text": f"{n}.", "system": f"s{n}", "role": "gold", "expert": n}
        for n in range(2)
    ]
    stored = set_up(server.database, tmp_path, "pairwise preference", more=pair)
    with server.database.read() as connection:
        row = connection.execute(select(t.Item).where(t.Item.role == "gold")).one()
    assert row.origin["known"] == 1
    scores = [score(stored.study, row.content, 1, Given(answers={"better": said})) for said in (1, "tie", 0)]
    assert scores == [2, 1, 0]


@pytest.mark.parametrize(
    ("kind", "content", "known", "why"),
    [
        ("grounding survey", {}, 9, "scale 1-4"),
        ("confidence", {"answers": {"scene": "x"}}, 4, "each question"),
        ("confidence", {"answers": {"scene": "x"}}, {"scene": 7}, "scale 1-5"),
        ("error marking", {"text": "a b"}, [2], "0 to 1"),
        ("pairwise preference", {}, 2, "0, 1 or"),
    ],
)
def test_a_wrong_known_answer_is_told(kind, content, known, why):
    study = parse_study(f'kind = "{kind}"\ntitle = "x"', "toml")
    with pytest.raises(Exception, match=why):
        check_known(study, content, known)


def test_excluded_answers_leave_tally_and_export_and_stay_on_record(server, browser):  # noqa: F811
    make_study(server.database, FREE + "ratings_per_item = 2\n", main=1)
    for n, level in enumerate("25"):
        visitor = guest(server)
        page = join(visitor, name=f"P{n}")
        visitor.post("/studies/captions/answers", data={"csrf": csrf(page), **fields(page), "value": level})
    page = login(browser)
    with server.database.read() as connection:
        number = connection.execute(select(t.Answer.id).where(t.Answer.value == 5)).scalar_one()

    def tally():
        with server.database.read() as connection:
            return tuple(
                connection.execute(select(t.Item.counts, t.Item.people, t.Item.wanted, t.Item.free)).one()
            )

    def verdict(what, remark):
        return browser.post(
            f"/staff/studies/captions/answers/{number}",
            data={"csrf": csrf(page), "verdict": what, "remark": remark},
        )

    def exported():
        lines = browser.get("/staff/studies/captions/export?what=ratings&form=jsonl").text.splitlines()
        return sorted(json.loads(line)["value"] for line in lines)

    assert tally() == ("0,1,0,0,1", 2, 2, 0)
    assert verdict("excluded", "").status_code == 400  # a reason is asked for
    shown = verdict("excluded", "clicked blindly")
    assert "clicked blindly" in shown.text
    assert tally() == ("0,1,0,0,0", 1, 2, 1)
    assert exported() == [2]
    assert "clicked blindly" in browser.get("/staff/audit").text
    verdict("accepted", "looked again")
    assert tally() == ("0,1,0,0,1", 2, 2, 0)
    assert exported() == [2, 5]
    verdict("flagged", "odd")
    assert tally() == ("0,1,0,0,1", 2, 2, 0)
    assert 'class="chip verdict-flagged"' in browser.get("/staff/studies/captions/answers?state=flagged").text
    verdict("excluded", "no")
    other = guest(server)  # the place goes to somebody else; put back, the item has one more
    page = join(other, name="P2")
    other.post("/studies/captions/answers", data={"csrf": csrf(page), **fields(page), "value": "3"})
    page = browser.get("/staff/studies/captions")
    verdict("kept", "")
    assert tally() == ("0,1,1,0,1", 3, 3, 0)


def test_raters_are_placed_as_the_facets_model_places_them(server):  # noqa: F811
    stored = make_study(server.database, FREE + "ratings_per_item = 99\n", main=40)
    lots = random.Random(1)
    with server.database.write() as connection:
        items = connection.execute(select(t.Item.id).order_by(t.Item.id)).scalars().all()
        for n in range(6):
            rater = raters.join(connection, stored, f"P{n}", None)
            for item in items:
                careful = min(max(1 + item % 5 - (n == 4) + lots.choice((0, 0, 0, 1)), 1), 5)
                level = lots.randint(1, 5) if n == 5 else careful
                row = {
                    "study_id": stored.id,
                    "item_id": item,
                    "rater_id": rater,
                    "round": 0,
                    "phase": "play",
                }
                row |= {"value": level, "seconds": 1.0, "before": "", "at": 0.0, "token": f"{n}-{item}"}
                connection.execute(t.Answer.__table__.insert().values(row))
        (found,) = trust.trust(connection, stored)
        order = select(t.Answer.value).order_by(t.Answer.rater_id, t.Answer.item_id)
        values = np.array(connection.execute(order).scalars().all(), float).reshape(6, 40)
    assert found.fits[0].name == "P5"  # the guesser is the least reliable
    assert max(found.fits, key=lambda one: one.severity).name == "P4"
    oracle = fit_facets(values, [f"P{n}" for n in range(6)], errors=True)
    by_name = {one.name: one for one in found.fits}
    for n in range(6):
        assert by_name[f"P{n}"].severity == pytest.approx(oracle.severity[n], abs=1e-6)
        assert by_name[f"P{n}"].severity_low < oracle.severity[n] < by_name[f"P{n}"].severity_high
    assert found.alpha.low < found.alpha.value < found.alpha.high
    with server.database.write() as connection:
        connection.execute(update(t.Answer).where(t.Answer.rater_id == 6).values(state="excluded"))
        (after,) = trust.trust(connection, stored)
    assert after.alpha.value > found.alpha.value
    assert len(after.fits) == 5


def test_straight_lining_is_seen_where_the_order_is_by_lot(server, tmp_path):  # noqa: F811
    """One who always takes the upper text of a pair takes now this one, now that."""
    more = [
        {"id": f"q{n}", "images": ["0.png"], "text": f"{n} {system}", "system": system}
        for n in range(12)
        for system in ("one", "two")
    ]
    stored = set_up(server.database, tmp_path, "pairwise preference", more=more)
    visitor = guest(server)
    page = join(visitor, "kind")
    while "All done" not in page.text:
        upper = re.search(r'name="better" value="([01])"', page.text)[1]
        page = visitor.post(
            "/studies/kind/answers", data={"csrf": csrf(page), **fields(page), "better": upper}
        )
    with server.database.read() as connection:
        (row,) = watch.rater_table(connection, stored)
        given = connection.execute(select(t.Answer.item_id, t.Answer.answers)).all()
    assert len({answers["better"] for _, answers in given}) == 2
    assert all(
        min((0, 1), key=lambda place: draw("story", row["code"], item, place)) == answers["better"]
        for item, answers in given
    )
    assert row["quality"].straight_lining


def test_the_server_measures_the_time(server, tmp_path):  # noqa: F811
    set_up(server.database, tmp_path, "grounding survey")
    now = [1000.0]
    server.clock = lambda: now[0]
    visitor = guest(server)
    page = join(visitor, "kind")
    now[0] += 42
    visitor.post(
        "/studies/kind/answers",
        data={"csrf": csrf(page), **fields(page), **answer_of("grounding survey", 0, {}), "seconds": "900"},
    )
    with server.database.read() as connection:
        waited = connection.execute(select(t.Answer.waited)).scalar_one()
    assert waited == pytest.approx(42)
