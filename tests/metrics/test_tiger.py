"""TIGEr: its formulas against its authors' program, and the metric on pictures."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

import sightline
from sightline.items import Item
from sightline.meta.protocols.base import make_protocol
from sightline.meta.scoring import score_items
from sightline.metrics.tiger import region_rank_similarity, tiger, weight_distribution_similarity
from sightline.pipeline.settings import Settings

# text, mean of the references, and what the authors' program (github.com/SeleenaJM/CapEval, tiger.py) gives for them
PUBLISHED = [
    ([0.731, 0.545], [0.123, 0.251], 0.6309297535714574, 0.7417611420472362),
    ([0.457, 0.186], [0.13, 0.418], 0.6309297535714574, 0.5806124363230541),
    ([0.416, 0.549, 0.677, 0.863], [0.674, 0.147, 0.383, 0.489], 0.8339734382096401, 0.7214437994632452),
    ([0.051, 0.877, 0.304, 0.317], [0.292, 0.601, 0.642, 0.299], 0.8905278747289136, 0.6908787214428648),
    (
        [0.651, 0.368, 0.127, 0.611, 0.842],
        [0.808, 0.547, 0.451, 0.707, 0.076],
        0.7368502530191593,
        0.6062901009027253,
    ),
    (
        [0.236, 0.755, 0.609, 0.63, 0.747],
        [0.226, 0.586, 0.303, 0.68, 0.664],
        0.950185972037339,
        0.7553954249251975,
    ),
]


@pytest.mark.parametrize(("text", "reference", "rank", "score"), PUBLISHED)
def test_as_the_authors_program(text, reference, rank, score) -> None:
    assert region_rank_similarity(np.array(text), np.array(reference)) == pytest.approx(rank, abs=1e-9)
    assert tiger(np.array(text), np.array([reference])) == pytest.approx(score, abs=1e-9)


def test_by_hand() -> None:
    # gains 1, 0.5, 0 of the references; the text puts the regions in the order 2, 1, 3
    text, references = (
        np.array([0.2, 0.4, 0.1]),
        np.array([[0.5, 0.3, 0.1], [0.3, 0.3, 0.1], [0.4, 0.15, 0.1]]),
    )
    mean = references.mean(axis=0)
    gain = (mean - 0.1) / 0.3
    assert gain == pytest.approx([1, 0.5, 0])
    expected = (0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3))
    assert region_rank_similarity(text, mean) == pytest.approx(expected)


vectors = st.lists(st.floats(0.01, 1), min_size=2, max_size=12)


@given(st.data(), vectors)
def test_bounds_and_equality(data, reference) -> None:
    text = data.draw(st.lists(st.floats(0.01, 1), min_size=len(reference), max_size=len(reference)))
    rows = np.array([reference])
    assert 0 <= tiger(np.array(text), rows) <= 1
    assert tiger(np.array(reference), rows) == pytest.approx(
        0.75
    )  # same order, and a distance of 0 is a half
    stronger = np.array(reference) * 1.1
    assert weight_distribution_similarity(stronger, rows[0]) >= 0.5 - 0.02


def test_what_cannot_be_scored_says_why() -> None:
    cat = Path(sightline.__file__).parent / "demo" / "pictures" / "cat.jpg"
    references = ("a cat lies on the floor", "close view of a cat's face")
    rows = [
        Item("own", images=(cat,), text="a cat lies on the floor", references=references),
        Item("none", images=(cat,), text="a cat"),
        Item("mute", images=(cat,), text="...", references=references),
        Item("one", images=(cat,), text="a cat", references=references, regions=(((0, 0, 50, 50),),)),
    ]
    result = sightline.score(rows, metrics=["tiger", "tiger:words=attended"])
    assert {score.metric for score in result.scores} == {"tiger", "tiger:words=attended"}
    assert all(0.6 < score.score < 1 for score in result.scores)
    assert all(
        "encoder:pocket" in score.signature and "regions:" in score.signature for score in result.scores
    )
    reasons = {failure.id: failure.reason for failure in result.failures if failure.metric == "tiger"}
    assert reasons == {
        "none": "there are no references",
        "mute": "the text has no words",
        "one": "1 region: nothing can be ranked",
    }


@pytest.mark.data
def test_people_agree(data) -> None:
    """With 1,200 captions of Flickr8k-Expert tau_c is 39.7 (benchmarks/measure_tiger.py); here a sample."""
    items = make_protocol("flickr8k-expert").items(data)[::60]
    scored = score_items(items, ["tiger"], Settings())
    rating = {item.key: float(np.mean(next(iter(item.ratings.values())))) for item in items}
    scores = scored.scores["tiger"]
    assert len(scores) == len(items) > 90
    assert spearmanr([scores[key] for key in rating], list(rating.values())).statistic > 0.2
