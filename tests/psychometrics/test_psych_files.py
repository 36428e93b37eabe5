"""Rating files of every kind, what is wrong with bad ones, and the command from end to end."""

import csv
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.psychometrics.agreement.competency import known_answers
from sightline.psychometrics.model.simulate import simulate
from sightline.psychometrics.reading import read_expert, read_ratings

LONG = "rater,item,rating\nann,x,1\nann,y,3\nbob,x,2\nbob,y,2\n"
WIDE = "person,x,y\nann,1,3\nbob,2,2\n"


def write(folder, text, name="ratings.csv"):
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(load_commands(), ["psych", *map(str, arguments)])


@pytest.fixture
def responses(tmp_path):
    """120 people, six items with three levels, a covariate."""
    rng = np.random.default_rng(0)
    z = rng.integers(0, 5, 120)
    taus = [d + np.array([-0.6, 0.6]) for d in np.linspace(-1, 1, 6)]
    values = simulate(0.4 * z - 0.8 + rng.normal(size=120), taus, rng).astype(int)
    rows = "\n".join(f"p{n},{z[n]}," + ",".join(map(str, row)) for n, row in enumerate(values))
    return write(tmp_path, "person,z," + ",".join(f"q{i}" for i in range(6)) + "\n" + rows + "\n")


def same(ratings):
    assert (ratings.persons, ratings.items) == (["ann", "bob"], ["x", "y"])
    assert ratings.values.tolist() == [[1, 3], [2, 2]]


def test_every_kind_of_file_says_the_same(tmp_path):
    same(read_ratings(write(tmp_path, LONG)))
    same(read_ratings(write(tmp_path, WIDE)))
    same(read_ratings(write(tmp_path, "\ufeff" + LONG.replace(",", ";") + "\n\n")))
    same(
        read_ratings(
            write(tmp_path, LONG.replace("rater", "Worker").replace("rating", "value").replace(",", "\t"))
        )
    )
    rows = list(csv.DictReader(LONG.splitlines()))
    lines = [
        json.dumps(
            {"item": r["item"], "rater": r["rater"], "value": float(r["rating"]), "criterion": "overall"}
        )
        for r in rows
    ]
    exported = read_ratings(write(tmp_path, "\n".join(lines), "ratings.jsonl"))
    same(exported)
    assert exported.criterion == "overall"
    table = pa.table(
        {"rater": ["ann", "ann", "bob", "bob"], "item": list("xyxy"), "value": [1.0, 3.0, 2.0, 2.0]}
    )
    pq.write_table(table, tmp_path / "ratings.parquet")
    same(read_ratings(tmp_path / "ratings.parquet"))


def test_wide_without_ids_counts_people(tmp_path):
    found = read_ratings(write(tmp_path, "I1,I2\n1.0,0.0\n,2\nNA,1\n"))
    assert found.persons == ["1", "2", "3"]
    assert np.isnan(found.values[1:, 0]).all() and found.values[1, 1] == 2


def test_ids_keep_their_zeros(tmp_path):
    assert read_ratings(write(tmp_path, "rater,item,rating\n007,01,1\n008,01,2\n")).persons == ["007", "008"]


def test_criteria_are_chosen(tmp_path):
    path = write(tmp_path, "rater,item,rating,criterion\na,x,1,truth\na,x,4,style\nb,x,2,truth\n")
    with pytest.raises(UsageError, match="criteria 'truth', 'style'; choose one with --criterion"):
        read_ratings(path)
    assert read_ratings(path, criterion="truth").values.ravel().tolist() == [1, 2]
    with pytest.raises(UsageError, match="no rating is for 'wit'"):
        read_ratings(path, criterion="wit")


def test_covariates_from_columns_words_and_tables(tmp_path):
    path = write(tmp_path, "rater,item,rating,age,team\na,x,1,20,red\na,y,1,20,red\nb,x,2,31,blue\n")
    found = read_ratings(path, covariates=["age", "team"])
    assert found.covariate_names == ("age", "team=red")
    assert found.covariates.tolist() == [[20, 1], [31, 0]]
    people = write(tmp_path, "person,score\nb,7\na,5\nc,1\n", "people.csv")
    joined = read_ratings(path, covariates=["age", "score"], persons_file=people)
    assert joined.covariates.tolist() == [[20, 5], [31, 7]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rater,item,rating\na,x,1\nb,x,two\n", r":3: column 'rating': 'two' is not a number"),
        ("person,x,y\na,1,2\n\nb,oops,2\n", r":4: column 'x': 'oops' is not a number"),
        ("person,x,y\na,1,2\na,1,2\n", r":2 and .*:3: 'a' is twice in column 'person'"),
        ("rater,item,rating\na,x\n", r":2: 2 cells where the first line has 3"),
        ("rater,item,rating\n,x,1\n", r":2: column 'rater' is empty"),
        ("x,x\n1,2\n", r"two columns have the same name, 'x'"),
        ("1,2\n1,2\n", r"the first line must name the columns"),
        ("", r"the file is empty"),
        ("rater,item,rating\n", r"holds no ratings"),
        ("x,y\n1,inf\n2,1\n", r":2: column 'y': 'inf' is not a number"),
    ],
)
def test_bad_files_are_told_in_one_line(tmp_path, text, told):
    path = write(tmp_path, text)
    with pytest.raises(UsageError, match=told) as fault:
        read_ratings(path)
    assert "\n" not in str(fault.value) and str(path) in str(fault.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("person,q\na,1\nb,2\n", "there is no column 'z'"),
        ("person,z,q\na,1,1\nb,,2\n", "covariate 'z' is missing for 'b'"),
    ],
)
def test_bad_covariates(tmp_path, text, told):
    with pytest.raises(UsageError, match=told):
        read_ratings(write(tmp_path, text), covariates=["z"])


def test_covariate_that_differs_within_a_person(tmp_path):
    path = write(tmp_path, "rater,item,rating,z\na,x,1,1\na,y,1,2\n")
    with pytest.raises(UsageError, match="'z' is not the same in all rows of 'a'"):
        read_ratings(path, covariates=["z"])


STUDY = """item,rater,criterion,value,phase,expert
t1,ann,overall,5,tutorial,1
p1,ann,overall,4,probation,4
p1,ann,overall,3,probation,4
g1,ann,overall,2,gold,2
x,ann,overall,1,play,
x,ann,overall,3,play,
y,ann,overall,2,play,
a1,bob,overall,1,attention,5
g1,bob,overall,2,gold,2
x,bob,overall,2,playing,
y,bob,overall,1,,
"""


def test_only_play_counts_and_the_last_of_repeated_answers(tmp_path):
    found = read_ratings(write(tmp_path, STUDY))
    assert (found.persons, found.items) == (["ann", "bob"], ["x", "y"])
    assert found.values.tolist() == [[3, 2], [2, 1]]
    assert found.left_out == {"tutorial": 1, "probation": 2, "gold": 2, "repeated": 1, "attention": 1}
    known = [(one.rater, one.item, one.value, one.expert) for one in found.known]
    assert known == [
        ("ann", "p1", 3, 4), ("ann", "g1", 2, 2), ("bob", "a1", 1, 5), ("bob", "g1", 2, 2)
    ]  # fmt: skip


def test_known_answers_say_how_far_raters_can_be_trusted(tmp_path):
    found = known_answers(read_ratings(write(tmp_path, STUDY)).known)
    ann, bob = found.raters
    assert (ann.answers, ann.exact, ann.adjacent, ann.score) == (2, 0.5, 1, 1.5)
    assert (bob.answers, bob.exact, bob.adjacent, bob.score) == (2, 0.5, 0.5, 1)
    assert found.mean("score") == 1.25 and found.items == 3
    assert found.competency is None and found.why


def test_phases_of_another_meaning_are_told_and_count(tmp_path):
    path = write(tmp_path, "rater,item,rating,phase\na,x,1,autumn\nb,x,2,spring\n")
    found = read_ratings(path)
    assert found.values.ravel().tolist() == [1, 2]
    assert "'autumn', 'spring'" in found.notes[0]


def test_ratings_that_were_all_given_in_training_are_told(tmp_path):
    path = write(tmp_path, "rater,item,rating,phase\na,x,1,tutorial\nb,x,2,gold\n")
    with pytest.raises(UsageError, match=r"no rating was given in ordinary play \(1 tutorial, 1 gold\)"):
        read_ratings(path)


def test_one_id_of_several_systems_is_several_items(tmp_path):
    path = write(tmp_path, "rater,item,rating,system\na,x,1,one\na,x,2,two\nb,y,3,one\n")
    assert read_ratings(path).items == ["x (one)", "x (two)", "y"]


def test_items_with_ratings_are_no_single_ratings(tmp_path):
    path = write(tmp_path, '{"id": "a", "text": "t", "ratings": {"overall": [1, 2]}}\n', "items.jsonl")
    with pytest.raises(UsageError, match="do not say who rated"):
        read_ratings(path)


def test_the_command_tells_what_it_left_out(tmp_path, responses):
    rows = list(csv.DictReader(responses.open()))
    lines = ["item,rater,value,phase,expert"]
    for n, row in enumerate(rows):
        lines += [f"q{i},{row['person']},{row[f'q{i}']},play," for i in range(6)]
        lines += [f"g{i},{row['person']},{1 + (n + i) % 3},gold,{1 + i % 3}" for i in range(5)]
    path = write(tmp_path, "\n".join([*lines, f"q0,p0,{rows[0]['q0']},play,"]), "export.csv")
    done = run(path, "-o", tmp_path / "a", "--samples", "20")
    assert done.exit_code == 0, done.output
    assert run(responses, "-o", tmp_path / "b", "--covariate", "z", "--samples", "20").exit_code == 0
    assert "600 left out: given on items whose answer is known" in " ".join(done.output.split())
    assert "1 left out: repeated: of several answers of one person" in " ".join(done.output.split())
    fit, plain = (json.loads((tmp_path / name / "fit.json").read_text()) for name in "ab")
    assert fit["answers"] == plain["answers"] == 720, "the fit is over what was played"
    assert [row["n"] for row in fit["ratings_left_out"]] == [600, 1]
    assert fit["known_answers"]["answers"] == 600 and fit["known_answers"]["competency"]["people"] == 120
    person = next(csv.DictReader((tmp_path / "a" / "persons.csv").open()))
    assert person["known_answers"] == "5" and 0 <= float(person["known_score"]) <= 2


@settings(max_examples=80, deadline=None)
@given(
    st.text(alphabet=st.sampled_from('a1,;\n"\t 2.xé-{}:'), max_size=60),
    st.sampled_from(["csv", "jsonl", "parquet"]),
)
def test_any_text_is_read_or_told(tmp_path_factory, text, kind):
    path = write(tmp_path_factory.mktemp("fuzz"), text, f"ratings.{kind}")
    try:
        found = read_ratings(path)
    except UsageError as fault:
        assert "\n" not in str(fault)
    else:
        assert found.values.shape == (len(found.persons), len(found.items))


def test_binary_files_are_told(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"rater,item,rating\n\xff\xfe,x,1\n")
    with pytest.raises(UsageError, match=r"ratings\.csv"):
        read_ratings(path)


def test_expert_file(tmp_path):
    path = write(tmp_path, "item,rating,image\nx,1,one\ny,5,one\n")
    assert read_expert(path) == ({"x": 1.0, "y": 5.0}, {"x": "one", "y": "one"})


def test_command_leaves_the_contracts_files(tmp_path, responses):
    out = tmp_path / "out"
    done = run(responses, "-o", out, "--covariate", "z", "--estimator", "cml", "--samples", "50")
    assert done.exit_code == 0, done.output
    items = list(csv.DictReader((out / "items.csv").open()))
    assert list(items[0])[:6] == [
        "item",
        "location",
        "threshold_1",
        "threshold_2",
        "thurstone_1",
        "thurstone_2",
    ]
    assert [row["item"] for row in items] == [f"q{i}" for i in range(6)]
    people = list(csv.DictReader((out / "persons.csv").open()))
    assert list(people[0])[:3] == ["person", "ability", "se"] and len(people) == 120
    summary = json.loads((out / "fit.json").read_text())
    assert summary["regression"]["coefficients"][1]["name"] == "z"
    assert summary["regression"]["coefficients"][1]["estimate"] > 0
    assert (out / "wright.svg").read_text().startswith("<?xml") and (out / "wright.png").stat().st_size > 5000
    page = (out / "report.html").read_text()
    assert "Wright map" in page and "://" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", page)


def test_command_on_the_example_equals_erm(tmp_path, data):
    done = run(data / "pcm_example.csv", "-o", tmp_path, "--estimator", "cml")
    assert done.exit_code == 0
    first = next(csv.DictReader((tmp_path / "items.csv").open()))
    assert float(first["threshold_1"]) == pytest.approx(-0.10429, abs=1e-4)
    assert json.loads((tmp_path / "fit.json").read_text())["log_likelihood"] == pytest.approx(
        -485.0172, abs=1e-4
    )


def test_constant_items_are_named_and_the_rest_is_done(tmp_path, responses):
    lines = responses.read_text().splitlines()
    path = write(tmp_path, "\n".join([lines[0] + ",same"] + [line + ",1" for line in lines[1:]]), "more.csv")
    done = run(path, "-o", tmp_path / "out", "--covariate", "z")
    assert done.exit_code == 3 and "item 'same' cannot be placed: everybody gave it 1" in done.output
    last = list(csv.DictReader((tmp_path / "out" / "items.csv").open()))[-1]
    assert (last["item"], last["location"], last["note"]) == ("same", "", "everybody gave it 1")


def test_competency_and_workers_from_the_command(tmp_path):
    rng = np.random.default_rng(1)
    truth = [1 + n % 5 for n in range(15)]
    lines = ["rater,item,rating,training"]
    for j in range(40):
        skill = rng.uniform(0.4, 0.95)
        for i, k in enumerate(truth):
            level = k if rng.random() < skill else int(np.clip(k + rng.choice([-2, -1, 1, 2]), 1, 5))
            lines.append(f"w{j},i{i},{level},{round(10 * skill)}")
    path = write(tmp_path, "\n".join(lines))
    expert = write(
        tmp_path, "item,rating\n" + "\n".join(f"i{i},{k}" for i, k in enumerate(truth)), "expert.csv"
    )
    out = tmp_path / "out"
    options = ["--covariate", "training", "--gold", "w0", "--gold", "w1", "--gate", "consensus", "--facets"]
    options += ["--samples", "50"]
    done = run(path, "-o", out, "--expert", expert, *options)
    assert done.exit_code == 0, done.output
    summary = json.loads((out / "fit.json").read_text())
    assert summary["regression"]["coefficients"][1]["estimate"] > 0.1
    exact = [point["exact"] for point in summary["competency"]["at"]]
    assert exact == sorted(exact)
    workers = list(csv.DictReader((out / "workers.csv").open()))
    assert len(workers) == 38
    assert summary["workers"]["gate"] == "consensus" and summary["workers"]["passing"]["random"] < 0.3
    assert "of simulated workers who answer at random would pass" in " ".join(done.output.split())
    assert set(summary["workers"]["kept"]) <= {worker["name"] for worker in workers}
    raters = list(csv.DictReader((out / "raters.csv").open()))
    assert {"severity", "consistency", "alpha_without"} <= raters[0].keys()
    assert "teachable" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--estimator", "guess"], "unknown estimator 'guess'"),
        (["--model", "gpcm"], "unknown model 'gpcm'"),
        (["--gate", "garden"], "--gate is one of pooled, consensus"),
        (["--unused", "maybe"], "--unused is error or collapse"),
        (["--expert", "nobody"], "neither a file nor a rater"),
        (["--covariate", "nothing"], "there is no column 'nothing'"),
    ],
)
def test_wrong_use_is_told(tmp_path, responses, arguments, told):
    done = run(responses, "-o", tmp_path / "out", *arguments)
    assert isinstance(done.exception, UsageError) and told in str(done.exception)


def test_hostile_names_stay_text(tmp_path):
    rng = np.random.default_rng(2)
    values = simulate(rng.normal(size=60), [np.zeros(1)] * 3, rng).astype(int)
    names = ["<script>alert(1)</script>", "$x^{", "=1+1"]
    rows = "\n".join(",".join(map(str, row)) for row in values)
    path = write(tmp_path, ",".join(f'"{name}"' for name in names) + "\n" + rows)
    done = run(path, "-o", tmp_path / "out", "--samples", "20")
    assert done.exit_code == 0, done.output
    assert "<script>" not in (tmp_path / "out" / "report.html").read_text()
