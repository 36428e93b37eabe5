"""Why a system is worse, in sentences: on scores whose causes are known."""

import numpy as np
import pytest

from sightline.items import Evidence, Failure, Item, PhraseEvidence, Score
from sightline.meta.comparison.board import Board
from sightline.meta.comparison.files import latex
from sightline.meta.comparison.makings import Making, makings, noted, wordings
from sightline.meta.comparison.reasons import Reason, _half, reasons
from sightline.meta.comparison.verdict import Comparison, compared
from sightline.meta.comparison.words import verdicts

N = 40


def phrase(text: str, contribution: float) -> PhraseEvidence:
    return PhraseEvidence(
        text=text, sentence=0, start=0, end=len(text), similarity=0.5, penalized=0.5, weight=1.0,
        contribution=contribution,
    )  # fmt: skip


def score(
    n: int, system: str, value: float, *phrases: PhraseEvidence, metric: str = "groovist", **parts: float
) -> Score:
    return Score(str(n), metric, value, "s", Evidence(phrases=phrases, parts=parts), system)


def told(scores: list[Score], items: list[Item] = [], against: str | None = None) -> list[Reason]:  # noqa: B006
    board = Board.of(scores)
    found: Comparison = compared(board, against=against, noun="caption")
    shared = {spec: {score.id for score in scores} for spec in board.metrics}
    return reasons(found, board, makings(scores, shared), wordings(items))


def test_phrases_that_are_not_seen_are_the_cause_and_are_named() -> None:
    scores = []
    for n in range(N):
        scores.append(score(n, "good", 1.0 + 0.01 * n, phrase("a dog", 1.0), phrase("a tree", 1.0)))
        wrong = phrase("a \U0001f409 dragon" if n % 2 else "a spoon", -0.5 if n % 2 else -0.1)
        scores.append(score(n, "bad", 0.5 + 0.01 * n, phrase("a dog", 1.0), wrong))
    (one,) = told(scores)
    assert (one.loser, one.winner, one.lost, one.won, one.tied) == ("bad", "good", N, 0, 0)
    assert one.because == [
        "more of its phrases are not seen in the pictures (50\u00a0% against 0\u00a0%), most of all"
        " \u201ca \U0001f409 dragon\u201d, \u201ca spoon\u201d"
    ]
    assert one.row["lower"] == "bad" and one.sentence.startswith("groovist: bad is lower than good.")
    assert (
        f"Lower in {N} of {N} captions" in one.sentence and "half of what it loses lies in 20" in one.sentence
    )


def test_words_and_length_are_causes_where_references_are_held_against() -> None:
    scores, items = [], []
    for n in range(N):
        for system, value, text in (
            ("good", 0.9, "A brown dog runs over green grass."), ("bad", 0.2, "A cat."),
        ):  # fmt: skip
            scores.append(score(n, system, value + 0.001 * n, metric="cider"))
            items.append(
                Item(str(n), text=text, references=("A brown dog runs.", "The brown dog."), system=system)
            )
    (one,) = told(scores, items)
    assert one.because[0].startswith(
        "it leaves out more telling words that most references have (2.00 a caption"
    )
    assert "\u201cbrown\u201d, \u201cdog\u201d" in one.because[0]
    assert "its captions are shorter (2.0 words against 7.0)" in one.because
    assert not any("no reference has" in cause for cause in one.because), "good says more of those"
    other = [Score(s.id, "clipscore", s.score, "s", Evidence(), s.system) for s in scores]
    (alone,) = told(other, items)
    assert alone.because == ["its captions are shorter (2.0 words against 7.0)"]


def test_what_scores_are_made_of_is_the_same_noted_on_the_way_or_read_again() -> None:
    scores = [score(n, name, 1.0, phrase("a dog", 1.0), P=0.1 * n) for n in range(4) for name in "ab"]
    found: dict[str, dict[str, Making]] = {}
    assert list(noted(scores, found)) == scores
    assert found == makings(scores, {"groovist": {str(n) for n in range(4)}})
    fewer = makings(scores, {"groovist": {"1", "2"}})
    assert fewer["groovist"]["a"].parts["phrases"].n == 2 and found["groovist"]["a"].parts["phrases"].n == 4


def test_what_cannot_be_told_is_said_so() -> None:
    scores = [
        score(n, name, v + 0.01 * n, metric="clipscore")
        for n in range(N)
        for name, v in (("a", 1.0), ("b", 0.5))
    ]
    (one,) = told(scores)
    assert one.because == [] and "does not tell why" in one.sentence


def test_only_what_is_lower_beyond_chance_and_beside_the_best() -> None:
    chance = np.random.default_rng(3)
    levels = {"best": 3.0, "same": 3.0, "middle": 2.0, "worst": 1.0}
    scores = [
        score(n, name, level + float(chance.normal()), metric="clipscore")
        for n in range(N)
        for name, level in levels.items()
    ]
    pairs = {(one.loser, one.winner) for one in told(scores)}
    assert pairs and {loser for loser, _ in pairs} <= {"middle", "worst"}
    assert {winner for _, winner in pairs} <= {"best", "same"}
    against = {(one.loser, one.winner) for one in told(scores, against="middle")}
    assert against == {("middle", "best"), ("middle", "same"), ("worst", "middle")}


@pytest.mark.parametrize(
    ("gaps", "half"), [([], 0), ([1.0], 1), ([1, 1, 1, 1], 2), ([10, 1, 1, 1], 1), ([3, 2, 2, 1], 2)]
)
def test_in_how_few_items_half_of_the_loss_lies(gaps: list[float], half: int) -> None:
    assert _half(np.array(gaps, np.float64)) == half


def test_a_failure_is_no_reason() -> None:
    board = Board.of(
        [score(n, name, 1.0, metric="cider") for n in range(3) for name in "ab"], [Failure("9", "cider", "x")]
    )
    assert reasons(compared(board), board, {}, {}) == []


def test_of_a_metric_that_counts_faults_the_lower_system_is_the_better_one() -> None:
    scores = []
    for n in range(N):
        scores.append(score(n, "good", 0.01 * n, phrase("a dog", 1.0), metric="unsupported"))
        wrong = phrase("a dragon", -0.5)
        scores.append(score(n, "bad", 0.4 + 0.01 * n, phrase("a dog", 1.0), wrong, metric="unsupported"))
    (one,) = told(scores)
    assert (one.loser, one.winner, one.lost, one.won) == ("bad", "good", N, 0)
    assert (one.row["lower"], one.row["higher"]) == ("good", "bad")
    assert one.sentence.startswith(
        "unsupported (lower is better): bad is higher than good. More of its phrases"
    )
    assert f"Higher in {N} of {N} captions, lower in 0" in one.sentence

    found = compared(Board.of(scores), noun="caption")
    (pair,) = found.pairs
    assert (pair.winner, pair.contest.wins, pair.contest.losses) == ("good", N, 0)
    assert pair.contest.difference == pytest.approx(-0.4), "a minus b, whichever way the metric is read"
    systems = {name: {"unsupported": {"mean": mean}} for name, mean in (("good", 0.195), ("bad", 0.595))}
    (said,) = verdicts(found, systems)
    assert said.startswith("unsupported (lower is better): good is lower than bad, 0.1950 against 0.5950")
    assert f"good scores lower in {N} captions, bad in 0" in said
    assert r"good & \textbf{0.1950}" in latex(found, systems)

    third = [score(n, "worst", 0.9 + 0.01 * n, metric="unsupported") for n in range(N)]
    for against, end in (
        (None, "good is lower than bad and worst beyond chance."),
        ("bad", "good is lower than bad; worst is higher than bad."),
    ):
        found = compared(Board.of([*scores, *third]), against=against, noun="caption")
        systems["worst"] = {"unsupported": {"mean": 1.095}}
        (said,) = verdicts(found, systems)
        assert said == f"unsupported (lower is better): good 0.1950, bad 0.5950, worst 1.0950. {end}"
