"""BLEU, ROUGE-L and CIDEr against pycocoevalcap and the published numbers of one VIST system."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from sightline.errors import Unscorable, UsageError
from sightline.features import Features, Fitted
from sightline.features.base import WORDLESS, Fit
from sightline.features.reference import DocumentFrequency, NgramMatches, Tokens
from sightline.functional import coco_scores
from sightline.items import Item
from sightline.metrics import Metric
from sightline.metrics.bleu import Bleu1, Bleu2, Bleu3, Bleu4
from sightline.metrics.cider import Cider as OurCider
from sightline.metrics.rouge import BETA, RougeL, rouge_l

# One published system on the VIST test albums, whitespace tokens: its authors' numbers.
AREL = {
    "bleu-1": 0.6381759914147579,
    "bleu-2": 0.38857339155358817,
    "bleu-3": 0.22948088446870943,
    "bleu-4": 0.13811595855259248,
    "cider": 0.09541749824670757,
    "rouge-l": 0.299488582345787,
}


def rows(path: Path) -> list[dict]:  # type: ignore[type-arg]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.data
def test_published_vist_scores(data: Path) -> None:
    references = {row["album_id"]: row["references"] for row in rows(data / "vist_test_references.jsonl.gz")}
    stories = rows(data / "vist_arel_stories.jsonl.gz")
    found = coco_scores(
        [row["story"] for row in stories], [references[row["album_id"]] for row in stories], tokens="space"
    )
    for name, value in AREL.items():
        assert found.corpus[name] == pytest.approx(value, abs=1e-9), name


words = st.sampled_from(["a", "the", "dog", "cat", "runs", "sits", "on", "in", "mat", "park", "red"])
text = st.lists(words, min_size=1, max_size=14).map(" ".join)
said = st.one_of(text, st.just(""))
"""What a captioner says: some say nothing."""
corpora = st.lists(st.tuples(said, st.lists(text, min_size=1, max_size=5)), min_size=2, max_size=8)


@settings(max_examples=60, deadline=None)
@given(corpora)
def test_equals_pycocoevalcap(corpus: list[tuple[str, list[str]]]) -> None:
    gts = {n: references for n, (_, references) in enumerate(corpus)}
    res = {n: [candidate] for n, (candidate, _) in enumerate(corpus)}
    ours = coco_scores(
        [candidate for candidate, _ in corpus], [references for _, references in corpus], "space"
    )
    totals, bleus = Bleu(4).compute_score(gts, res, verbose=0)
    np.testing.assert_allclose(ours.bleu, np.array(bleus).T, rtol=0, atol=1e-9)
    np.testing.assert_allclose([ours.corpus[f"bleu-{n}"] for n in range(1, 5)], totals, rtol=0, atol=1e-9)
    total, rouges = Rouge().compute_score(gts, res)
    np.testing.assert_allclose(ours.rouge_l, rouges, rtol=0, atol=1e-9)
    assert ours.corpus["rouge-l"] == pytest.approx(total, abs=1e-9)
    total, ciders = Cider().compute_score(gts, res)
    np.testing.assert_allclose(ours.cider, ciders, rtol=0, atol=1e-9)
    assert ours.corpus["cider"] == pytest.approx(total, abs=1e-9)


@given(st.lists(words, min_size=1, max_size=90), st.lists(words, min_size=1, max_size=90))
def test_longest_common_subsequence(one: list[str], other: list[str]) -> None:
    row = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for place, against in enumerate(other, 1):
            before, row[place] = (
                row[place],
                before + 1 if word == against else max(row[place], row[place - 1]),
            )
    precision, recall = row[-1] / len(one), row[-1] / len(other)
    f = (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision) if row[-1] else 0.0
    assert rouge_l(one, [other]) == f


ITEMS = [
    Item(
        "1",
        text="A dog's running on the grass.",
        references=("A dog runs on grass.", "The dog is on the grass!"),
    ),
    Item("2", text="Two cats", references=("Two cats sit.",)),
    Item("3", text="...", references=("Two cats sit.",)),
    Item("4", text="Two cats"),
    Item("5", text="Two cats", references=("...",)),
]


METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (Bleu1(), Bleu2(), Bleu3(), Bleu4(), RougeL(), OurCider())
}


def scored(name: str, items: list[Item]) -> tuple[list[object], float | None]:
    """Item by item as the pipeline does it, and the corpus value."""
    metric = METRICS[name]
    batch = [Features(item) for item in items]
    for got in batch:
        (value,) = Tokens("ptb").compute([got], None)  # type: ignore[arg-type]
        got.put(Tokens("ptb"), value)
        got.put(
            NgramMatches("ptb"),
            value if isinstance(value, Unscorable) else NgramMatches("ptb").compute([got], None)[0],  # type: ignore[arg-type]
        )
    fitted = Fitted({DocumentFrequency("ptb"): DocumentFrequency("ptb").fit(batch, None)})  # type: ignore[arg-type]
    found = metric.score_batch(batch, fitted)
    return list(found), metric.corpus([each[1] for each in found if not isinstance(each, Unscorable)])


@pytest.mark.parametrize("name", METRICS)
def test_metrics_equal_the_kernels_and_name_what_they_cannot_score(name: str) -> None:
    found, corpus = scored(name, ITEMS)
    some = coco_scores([item.text for item in ITEMS[:3]], [item.references for item in ITEMS[:3]])
    by_item = {"rouge-l": some.rouge_l, "cider": some.cider}
    expected = by_item[name] if name in by_item else some.bleu[:, int(name[-1]) - 1]
    assert [one[0] for one in found[:3]] == pytest.approx(list(expected), abs=1e-12)  # type: ignore[index]
    assert found[2][0] < 1e-9, "COCO's guards leave a trace"  # type: ignore[index]
    assert WORDLESS in found[2][1].notes and not found[0][1].notes  # type: ignore[index]
    assert corpus == pytest.approx(some.corpus[name], abs=1e-12)
    assert [str(reason) for reason in found[3:]] == [
        "there are no references",
        "the references have no words",
    ]


def test_cider_of_one_item_is_no_number() -> None:
    (only,), corpus = scored("cider", ITEMS[:1])
    assert isinstance(only, Unscorable) and "at least two items" in str(only) and corpus is None
    with pytest.raises(UsageError, match="at least two"):
        coco_scores(["a"], [["a"]])


@pytest.mark.parametrize(
    ("captions", "references"), [(["a", "b"], [["a"], [" "]]), (["a", "b"], [["a"], []]), (["a"], [])]
)
def test_bad_input_is_named(captions: list[str], references: list[list[str]]) -> None:
    with pytest.raises(UsageError):
        coco_scores(captions, references)


def test_fit_is_named() -> None:
    assert isinstance(DocumentFrequency("ptb").fit([], None), Fit)  # type: ignore[arg-type]
