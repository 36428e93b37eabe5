"""sacreBLEU, Word Mover's Distance, scene graphs, BERTScore and SPICE on small inputs."""

from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from sightline import score
from sightline.errors import UsageError
from sightline.features.matched_pieces import Matched
from sightline.features.scenegraph import facts, matched
from sightline.features.word_distance import movers_distance
from sightline.items import Item
from sightline.metrics.bertscore import PUBLISHED_LAYERS, BertScore, bertscore
from sightline.text.language import Parsed, Phrase, Word
from sightline.text.wordnet import WordNet
from tiny_models import save_bert

ITEMS = [
    Item(
        "1",
        text="A brown dog runs on the grass.",
        references=("A dog is running on grass.", "The dog plays."),
    ),
    Item("2", text="Two cats sleep.", references=("A man rides a red bike.",)),
    Item("3", text="Two cats sleep."),
]


def test_sacrebleu_equals_the_library() -> None:
    found = score(ITEMS, ["sacrebleu"], cache=None)
    texts, references = ITEMS[0].text, list(ITEMS[0].references)
    assert found.scores[0].score == pytest.approx(sacrebleu.sentence_bleu(texts, references).score)
    streams = [[ITEMS[0].references[0], ITEMS[1].references[0]], [ITEMS[0].references[1], ""]]
    corpus = sacrebleu.corpus_bleu([ITEMS[0].text, ITEMS[1].text], [streams[0], [streams[1][0], None]])  # type: ignore[list-item]
    assert found.summary["metrics"]["sacrebleu"]["corpus"] == pytest.approx(corpus.score)
    assert [(f.id, f.reason) for f in found.failures] == [("3", "there are no references")]


def test_movers_distance_by_hand() -> None:
    vectors = {"a": np.array([0.0, 0.0]), "b": np.array([3.0, 4.0]), "c": np.array([0.0, 1.0])}
    assert movers_distance(["a", "a"], ["b"], vectors) == pytest.approx(5)
    assert movers_distance(["a", "b"], ["b", "a"], vectors) == pytest.approx(0)
    assert movers_distance(["a", "b"], ["c", "b"], vectors) == pytest.approx(0.5)
    assert movers_distance(["?"], ["a"], vectors) is None


def test_wmd_prefers_the_nearer_text() -> None:
    found = score(ITEMS[:2], ["wmd"], cache=None)
    assert 0 < found.scores[1].score < found.scores[0].score <= 1


def word(text: str, tag: str, start: int) -> Word:
    return Word(text, text, tag, start, start + len(text))


def test_facts_of_a_parsed_sentence() -> None:
    dog = (word("a", "DET", 0), word("brown", "ADJ", 2), word("dog", "NOUN", 8))
    on = word("on", "ADP", 12)
    grass = (word("grass", "NOUN", 15),)
    parsed = Parsed((*dog, on, *grass), (Phrase("a brown dog", 0, 11, dog), Phrase("grass", 15, 20, grass)))
    assert facts(parsed) == {("dog",), ("dog", "brown"), ("grass",), ("dog", "on", "grass")}
    wordnet = WordNet({"dog": frozenset("1"), "hound": frozenset("1")}, {}, "tiny")
    assert matched({("hound",), ("cat",)}, {("dog",)}, wordnet) == 1
    assert matched({("hound",)}, {("dog",)}, None) == 0


def test_scenegraph_prefers_the_nearer_text() -> None:
    found = score(ITEMS, ["scenegraph"], cache=None)
    assert found.scores[1].score < found.scores[0].score <= 1
    assert [f.id for f in found.failures] == ["3"]


def test_bertscore_formula() -> None:
    found = Matched((1, 2), (1.0, 0.5), (1, 3, 4), (1.0, 0.6, 0.2))
    assert bertscore(found) == pytest.approx((0.75, 0.6, 2 * 0.75 * 0.6 / 1.35))
    weighted = bertscore(found, {1: 3.0, 2: 1.0, -1: 0.0})
    assert weighted[:2] == pytest.approx(((3 + 0.5) / 4, 1.0))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer BERT with a few words, untrained."""
    texts = [ITEMS[0].text, *ITEMS[0].references, ITEMS[1].text, *ITEMS[1].references]
    pieces = sorted({word.strip(".").lower() for text in texts for word in text.split()})
    return save_bert(tmp_path_factory.mktemp("bert"), [".", *pieces], layers=2)


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("idf", ["off", "on"])
def test_bertscore_equals_the_authors_package(bert: Path, layer: int, idf: str) -> None:
    """One item at a time: in a batch the package takes the zeros of its padding for words."""
    package = pytest.importorskip("bert_score")
    items = ITEMS[:2]
    flat = [reference for item in items for reference in item.references]
    scorer = package.BERTScorer(str(bert), num_layers=layer, idf=idf == "on", idf_sents=flat, nthreads=1)
    spec = f"bertscore:model={bert},layer={layer},idf={idf}"
    found = score(items, [spec], cache=None).scores
    for item, row in zip(items, found, strict=True):
        every = np.array(
            [[float(part[0]) for part in scorer.score([item.text], [r])] for r in item.references]
        )
        precision, recall, f1 = every[every[:, 2].argmax()]
        assert row.score == pytest.approx(f1, abs=1e-5)
        assert row.evidence.parts == pytest.approx({"precision": precision, "recall": recall}, abs=1e-5)


def test_bertscore_does_not_depend_on_neighbours(bert: Path) -> None:
    spec = f"bertscore:model={bert},layer=1"
    together = score(ITEMS, [spec], cache=None).scores[1].score
    assert score(ITEMS[1:2], [spec], cache=None).scores[0].score == pytest.approx(together, abs=1e-6)
    same = Item("same", text=ITEMS[0].text, references=(ITEMS[0].text,))
    assert score([same], [spec], cache=None).scores[0].score == pytest.approx(1, abs=1e-6)


def test_bertscores_layers_are_the_authors() -> None:
    utils = pytest.importorskip("bert_score.utils")
    published = {Path(name).name: layer for name, layer in utils.model2layers.items()}
    assert {name: published.get(name) for name in PUBLISHED_LAYERS} == PUBLISHED_LAYERS
    assert BertScore().needs()[0].layer == 17
    assert BertScore("somewhere/roberta-base").needs()[0].layer == 10
    assert BertScore("mine").needs()[0].layer == -1
    assert BertScore(layer=3).needs()[0].layer == 3


@pytest.mark.parametrize(
    ("spec", "message"), [("spice", "spice_jar"), ("bertscore:model=no/such-folder", "neither a folder")]
)
def test_what_is_missing_is_named(spec: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UsageError, match=message):
        score(ITEMS[:1], [spec], cache=None)
