"""sacreBLEU, Word Mover's Distance, scene graphs, BERTScore and SPICE on small inputs."""

from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from sightline import score
from sightline.errors import UsageError
from sightline.features.contextual import Matched
from sightline.features.transport import movers_distance
from sightline.items import Item
from sightline.metrics.bertscore import bertscore
from sightline.metrics.scenegraph import facts, matched
from sightline.text.language import Parsed, Phrase, Word
from sightline.text.wordnet import WordNet

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
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bert")
    texts = [ITEMS[0].text, *ITEMS[0].references, ITEMS[1].text, *ITEMS[1].references]
    pieces = sorted({word.strip(".").lower() for text in texts for word in text.split()})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *pieces]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    size = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(vocabulary), **size)
    transformers.BertModel(config).eval().save_pretrained(folder)
    return folder


def test_bertscore_of_a_real_encoder(bert: Path) -> None:
    """Against the published program's steps, text by text: marks may be matched, but are not counted."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    model = transformers.AutoModel.from_pretrained(bert).eval()

    def rows(text: str) -> np.ndarray:  # type: ignore[type-arg]
        with torch.no_grad():
            made = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        states = made.hidden_states[1][0].numpy()
        return np.asarray(states / np.linalg.norm(states, axis=1, keepdims=True))

    def f1(text: str, reference: str) -> float:
        cosine = rows(text) @ rows(reference).T
        precision, recall = cosine.max(axis=1)[1:-1].mean(), cosine.max(axis=0)[1:-1].mean()
        return float(2 * precision * recall / (precision + recall))

    spec = f"bertscore:model={bert},layer=1"
    found = {row.id: row.score for row in score(ITEMS, [spec], cache=None).scores}
    for item in ITEMS[:2]:
        best = max(f1(item.text, reference) for reference in item.references)
        assert found[item.id] == pytest.approx(best, abs=1e-5)
    alone = score(ITEMS[1:2], [spec], cache=None).scores[0].score
    assert alone == pytest.approx(found["2"], abs=1e-6)
    same = Item("same", text=ITEMS[0].text, references=(ITEMS[0].text,))
    assert score([same], [spec], cache=None).scores[0].score == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("spec", "message"), [("spice", "spice_jar"), ("bertscore:model=no/such-folder", "cannot be loaded")]
)
def test_what_is_missing_is_named(spec: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UsageError, match=message):
        score(ITEMS[:1], [spec], cache=None)
