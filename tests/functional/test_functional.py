"""Each formula on plain values: its example runs, programs of others agree, wrong use is one line."""

import doctest
import inspect
import math

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from scipy import stats

import sightline
from sightline import functional
from sightline.errors import Unscorable, UsageError
from sightline.metrics import metrics

JUDGED = {"judge", "judge_pair", "vqascore"}
"""What a model says of a text, read out by `sightline.judges.readout`."""
NAMES = [name for name in functional.__all__ if inspect.isfunction(getattr(functional, name))]


@pytest.mark.parametrize("name", NAMES)
def test_every_function_has_an_example_that_is_true(name: str) -> None:
    function = getattr(functional, name)
    (found,) = doctest.DocTestFinder(recurse=False).find(function, name, globs=dict(vars(functional)))
    assert found.examples, f"{name} has no example"
    told: list[str] = []
    doctest.DocTestRunner().run(found, out=told.append)
    assert not told, "".join(told)


def test_the_example_of_the_package_is_true() -> None:
    assert doctest.testmod(functional).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_every_function_says_arguments_and_errors(name: str) -> None:
    doc = inspect.getdoc(getattr(functional, name)) or ""
    assert "Arguments: " in doc and "Raises " in doc
    for argument in inspect.signature(getattr(functional, name)).parameters:
        assert f"`{argument}`" in doc, f"{name} does not say what {argument} is"


def test_every_metric_s_formula_is_there() -> None:
    """But those that only run through another program, or that a model alone decides."""
    own = {name for name in metrics if metrics.get(name).__module__.startswith("sightline.")}
    named = {name.partition(":")[0].replace("-", "_") for name in own} - {"match", "spice", "vicr", *JUDGED}
    named = {"bleu" if name.startswith("bleu_") else name for name in named}
    assert named <= set(NAMES)


def test_it_is_reached_from_the_package() -> None:
    assert sightline.functional.bleu is functional.bleu


words = st.sampled_from(["a", "the", "dog", "cat", "runs", "sits", "on", "mat"])
text = st.lists(words, min_size=1, max_size=10).map(" ".join)
captions = st.lists(
    st.tuples(st.one_of(text, st.just("")), st.lists(text, min_size=1, max_size=4)), min_size=2, max_size=6
)


@settings(max_examples=50, deadline=None)
@given(captions)
def test_captions_equal_pycocoevalcap_empty_ones_too(corpus: list[tuple[str, list[str]]]) -> None:
    texts, references = [one for one, _ in corpus], [those for _, those in corpus]
    gts, res = dict(enumerate(references)), {n: [one] for n, one in enumerate(texts)}
    totals, each = Bleu(4).compute_score(gts, res, verbose=0)
    for order in (1, 4):
        found = functional.bleu(texts, references, order, tokens="space")
        assert found.corpus == pytest.approx(totals[order - 1], abs=1e-9)
        np.testing.assert_allclose(found.each, each[order - 1], rtol=0, atol=1e-9)
    for function, theirs in ((functional.rouge_l, Rouge()), (functional.cider, Cider())):
        found = function(texts, references, tokens="space")
        total, own = theirs.compute_score(gts, res)
        assert found.corpus == pytest.approx(total, abs=1e-9)
        np.testing.assert_allclose(found.each, own, rtol=0, atol=1e-9)


@given(st.lists(st.tuples(text, text), min_size=1, max_size=4))
def test_sacrebleu_is_the_library_s(pairs: list[tuple[str, str]]) -> None:
    texts, references = [one for one, _ in pairs], [other for _, other in pairs]
    found = functional.sacrebleu(texts, [[one] for one in references])
    assert found.corpus == pytest.approx(sacrebleu.corpus_bleu(texts, [references]).score, abs=1e-9)
    assert found.each[0] == pytest.approx(sacrebleu.sentence_bleu(texts[0], references[:1]).score, abs=1e-9)


levels = st.lists(st.tuples(st.floats(-9, 9), st.integers(1, 4)), min_size=3, max_size=30)


@given(levels)
def test_correlations_are_scipy_s(pairs: list[tuple[float, int]]) -> None:
    scores, ratings = ([pair[side] for pair in pairs] for side in (0, 1))
    if len(set(scores)) == 1 or len(set(ratings)) == 1:
        assert all(math.isnan(f(scores, ratings)) for f in (functional.kendall_b, functional.pearson))
        return
    for variant in "bc":
        theirs = stats.kendalltau(scores, ratings, variant=variant).statistic
        assert getattr(functional, f"kendall_{variant}")(scores, ratings) == pytest.approx(theirs, abs=1e-9)
    assert functional.spearman(scores, ratings) == pytest.approx(
        stats.spearmanr(scores, ratings).statistic, abs=1e-9
    )


@given(st.lists(st.tuples(*[st.sampled_from("123")] * 3), min_size=2, max_size=12))
def test_alpha_and_kappa_are_nltk_s(items: list[tuple[str, ...]]) -> None:
    table = [[int(row[rater]) for row in items] for rater in range(3)]
    if len({value for row in items for value in row}) == 1:
        assert math.isnan(functional.krippendorff_alpha(table, "nominal"))
        return
    task = AnnotationTask([(str(r), str(i), v) for i, row in enumerate(items) for r, v in enumerate(row)])
    assert functional.krippendorff_alpha(table, "nominal") == pytest.approx(task.alpha(), abs=1e-9)


def test_missing_ratings_are_none_or_nan() -> None:
    some, same = [[1, None, 3], [1, 2, 3]], [[1, math.nan, 3], [1, 2, 3]]
    assert functional.krippendorff_alpha(some) == functional.krippendorff_alpha(same) == 1


def test_groovist_of_the_paper_s_figure() -> None:
    """Figure 4 of Surikuchi et al. 2023, story 50392: its rounded inputs, with the theta of VIST."""
    similarity = [0.676, 0.675, 0.626, 0.583, 0.572, 0.674, 0.650, 0.595, 0.533, 0.670]
    concreteness = [2.675, 3.165, 2.920, 2.175, 2.943, 4.540, 3.030, 2.630, 2.370, 3.085]
    found = functional.groovist(similarity, concreteness, theta=0.6159241924121119)
    assert found == pytest.approx(1.24123, abs=1e-3)


def test_non_redundancy_of_the_metric_is_the_formula() -> None:
    sentences = ["The dog ran to the dog and the dog.", "The dog ran again."]
    result = sightline.score([{"id": "a", "images": [], "sentences": sentences}], ["rovist-nr"], cache=None)
    assert result.scores[0].score == functional.rovist_nr(sentences)
    with pytest.raises(Unscorable):
        functional.rovist_nr(["One sentence."], "published")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda f: f.bleu(["a"], [["a"]], order=5), "order=5"),
        (lambda f: f.bleu("a dog", [["a"]]), "texts is a list"),
        (lambda f: f.bleu(["a dog"], ["a dog"]), "references of text 1"),
        (lambda f: f.rouge_l(["a", "b"], [["a"]]), "2 texts but references for 1"),
        (lambda f: f.rouge_l([], []), "no texts"),
        (lambda f: f.meteor(["a"], [["..."]], wordnet="none"), "references of text 1 have no words"),
        (lambda f: f.sacrebleu(["a"], [[" "]]), "text 1 has no references"),
        (lambda f: f.cider(["a"], [["a"]]), "at least two"),
        (lambda f: f.refclipscore(0.2, []), "no references"),
        (lambda f: f.tiger([0.5], [[0.5]]), "at least two"),
        (lambda f: f.tiger([0.5, 0.4], [[0.5, 0.4, 0.3]]), "2 regions"),
        (lambda f: f.tiger([0.5, 0.4], []), "row per reference"),
        (lambda f: f.bertscore([]), "table"),
        (lambda f: f.bertscore([[0.5]], [1.0, 2.0]), "weights for 2 x 1"),
        (lambda f: f.wmd(["a"], ["b"], {}), "vector"),
        (lambda f: f.scenegraph(set(), {("dog",)}), "no facts"),
        (lambda f: f.groovist([], [], 0.5), "similarity"),
        (lambda f: f.groovist([0.5], [1, 2], 0.5), "1 similarities but 2 weights"),
        (lambda f: f.temporal_misalignment([[0.5]], [0, 1], 0.5), "table"),
        (lambda f: f.rovist_vg([0.1], [1, 2]), "idf"),
        (lambda f: f.rovist_c([]), "neighbouring"),
        (lambda f: f.rovist_c([0.5], ["One."]), "1 sentences"),
        (lambda f: f.rovist_nr("One. Two."), "list of sentences"),
        (lambda f: f.d_hm({"groovist": {"a": 1}}, {"groovist": {"a": 1}}), "rovist-c, rovist-nr"),
        (lambda f: f.krippendorff_alpha([1, 2]), "table"),
        (lambda f: f.krippendorff_alpha([["x"]]), "table"),
        (lambda f: f.krippendorff_alpha([[1, 2]], "ordnal"), "did you mean 'ordinal'"),
        (lambda f: f.kendall_b([1, 2], [1]), "equal length"),
        (lambda f: f.self_bleu(["one"]), "at least two"),
        (lambda f: f.pmi(5, 4, 9, 10), "no PMI"),
        (lambda f: f.consensus([]), "no ratings"),
        (lambda f: f.consensus([6]), "not on the scale 1-5"),
        (lambda f: f.points(3, [1], levels=1), "2 to 9 levels"),
    ],
)
def test_wrong_use_is_told_in_one_line(call: object, says: str) -> None:
    with pytest.raises(UsageError, match=says) as told:
        call(functional)  # type: ignore[operator]
    assert "\n" not in str(told.value)
