"""Training of the network that reads pictures and words together: exchanges, grades, a tiny run, parity with ONNX."""

from pathlib import Path

import numpy as np
import pytest
import torch

import sightline
from sightline.encoders.pocket import Pocket
from sightline.encoders.together import FILES, MAPS, Maps, Together
from sightline.errors import UsageError
from sightline.items import Item
from sightline.text.spacy_language import load_language
from sightline.train.pocket_captioner.network import DecoderConfig
from sightline.train.pocket_captioner.texts import Vocabulary
from sightline.train.together import run
from sightline.train.together.blend import logistic
from sightline.train.together.examples import (
    FALSE,
    FOREIGN,
    OWN,
    Corpus,
    Falsified,
    Shares,
    drawn,
    nearest,
    step,
)
from sightline.train.together.exchange import Exchanged, Exchanger
from sightline.train.together.export import export
from sightline.train.together.network import TogetherNetwork
from sightline.train.together.trigrams import Trigrams, runs

CAPTIONS = [
    ["A black dog chases a young boy on the grass .", "The dog runs after a boy ."],
    ["Two men in red shirts sit behind a table .", "Two men eat at a table ."],
    ["A girl in a blue dress rides a horse .", "An old woman rides a white horse ."],
    ["A man throws a ball to a small dog .", "A man in a green hat plays with a big dog ."],
    ["Three women walk up a snowy hill .", "An orange cat sleeps under a wooden bench ."],
]


@pytest.fixture(scope="module")
def exchanger() -> Exchanger:
    texts = sorted({text for said in CAPTIONS for text in said})
    trees = dict(zip(texts, load_language("embedded").trees(texts), strict=True))
    pocket = Pocket()
    return Exchanger(trees, CAPTIONS, lambda words: pocket.encode_texts(list(words)), seed=3)


def every(exchanger: Exchanger, rounds: int = 12) -> list[tuple[str, Exchanged]]:
    """Exchanges are drawn: of many draws none may be wrong."""
    return [
        (text, one)
        for _ in range(rounds)
        for said in CAPTIONS
        for text in said
        for one in exchanger.falsified(text, said)
    ]


def test_one_thing_is_exchanged_and_the_wording_stays_right(exchanger: Exchanger) -> None:
    found = every(exchanger)
    assert {one.kind for _, one in found} >= {"adjective", "number", "relation", "roles"}
    for text, one in found:
        assert one.text != text
        assert [len(one.text.split()) - len(text.split())] <= [3]
        put_in = [one.text[start:end] for start, end in one.places]
        assert all(put_in)
        before = set(text.lower().split())
        if one.kind in ("adjective", "number", "noun", "verb"):
            assert set(one.text.lower().split()) - before <= {*(w.lower() for w in put_in), "a", "an"}
        if one.kind == "roles":
            assert sorted(w for w in one.text.lower().split() if w not in ("a", "an")) == sorted(
                w for w in text.lower().split() if w not in ("a", "an")
            )
        for article, word in zip(one.text.lower().split(), one.text.lower().split()[1:], strict=False):
            if article in ("a", "an"):
                assert article == ("an" if word[0] in "aeiou" else "a"), one.text
        assert one.text[0].isupper() == text[0].isupper()


def test_what_is_said_of_the_picture_is_not_put_in(exchanger: Exchanger) -> None:
    said = ["A black dog chases a young boy on the grass .", "The dog runs after a boy ."]
    own = {word.lower() for text in said for word in text.split()}
    for _ in range(30):
        for one in exchanger.falsified(said[0], said, ("noun", "verb", "adjective", "number")):
            assert not {one.text[start:end].lower() for start, end in one.places} & own


def test_a_wording_that_was_counted_is_left_out_of_its_own_count() -> None:
    sentences = [["a", "dog", "runs"], ["a", "dog", "runs"], ["a", "cat", "sleeps"]]
    usual, own = Trigrams(sentences), dict.fromkeys(runs(sentences[2]), 1)
    assert usual.log_probability(sentences[0], {}) > usual.log_probability(sentences[2], {})
    assert usual.log_probability(sentences[2], own) < usual.log_probability(sentences[2], {}) - 3


def a_corpus() -> Corpus:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(6, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    exchanged: list[list[Falsified]] = [[] for _ in range(6)]
    exchanged[0] = [Falsified("no", "noun", [9, 9])]
    near = nearest(vectors[::2], vectors[1::2])
    return Corpus(
        [(0, 1), (2, 3), (4, 5)], list("abcdef"), np.array([0, 2, 4, 6]), vectors,
        [[n + 1, 7] for n in range(6)], near, exchanged,
    )  # fmt: skip


def test_texts_are_graded_by_what_others_say_of_the_picture() -> None:
    corpus = a_corpus()
    near = corpus.closeness([0, 1, 4], 0)
    assert near[0] == near[1] == pytest.approx(float(corpus.vectors[0] @ corpus.vectors[1]), abs=1e-6)
    assert near[2] == pytest.approx(float((corpus.vectors[4] @ corpus.vectors[:2].T).mean()), abs=1e-6)
    assert not (corpus.near == np.arange(3)[:, None]).any()
    found = drawn(corpus, 0, Shares(own=2, exchanged=1, near=2, far=0), np.random.default_rng(1))
    kinds = [one.kind for one in found]
    assert kinds.count(OWN) == 2
    assert kinds.count(FOREIGN) == 2
    false = found[-1]
    assert (false.kind, found[false.of].text) == (FALSE, "a")
    made = step([found], 0.0, np.random.default_rng(0))
    assert made.member.sum() == sum(len(one.ids) + 1 for one in found)
    seen = torch.isfinite(made.mask[0, 0].masked_fill(made.mask[0, 0] == 0, 1.0))
    assert seen[0, :3].all()
    assert not seen[0, 3:].any(), "a text sees no other"


def test_weights_that_must_not_fall_do_not() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = (x[:, 0] - x[:, 1] > 0).astype(float)
    free, _ = logistic(x, y, np.ones(400))
    rising, _ = logistic(x, y, np.ones(400), rising=True)
    assert free[1] < -0.5
    assert rising[0] > 0.5
    assert 0 <= rising[1] < 0.1


def test_the_exported_network_says_what_the_trained_one_says(tmp_path: Path) -> None:
    torch.manual_seed(0)
    vocabulary = Vocabulary(("[END]", "a", "dog", "runs", "cat"), (1, 1, 1, 1, 1))
    network = TogetherNetwork(DecoderConfig(5, width=64, layers=2, longest=12)).eval()
    settings = {
        "weights": {"near": 0.4, "match": 0.3, "exact": 0.2, "cosine": 1.0},
        "shift": -0.5,
        "masking": [-0.1, 0.02],
    }
    export(network, vocabulary, settings, tmp_path)
    reader = Together(tmp_path)
    rng = np.random.default_rng(0)
    maps = Maps(*(rng.normal(size=(1, *shape)).astype(np.float32) for shape in MAPS.values()))
    read = reader.read(maps, "a dog runs")
    ids = torch.tensor([[0, 1, 2, 3], [0, 1, -1, 3], [0, 1, 2, -1]])
    shown = [torch.from_numpy(part) for part in (maps.map16, maps.map32, maps.vector)]
    with torch.no_grad():
        memory = [(k.expand(3, -1, -1), v.expand(3, -1, -1)) for k, v in network.memory(*shown)]
        mask, member = torch.zeros(3, 1, 4, 4), torch.ones(3, 1, 4)
        judged, pooled, _ = network(memory, ids, torch.arange(4).expand(3, 4), mask, member)
    assert read.judged == pytest.approx(judged[0, 0].tolist(), abs=0.03)
    assert read.pooled == pytest.approx(pooled[0, 0].numpy(), abs=0.05)
    assert [(word.start, word.end) for word in read.words] == [(2, 5), (6, 10)]
    cosine = float(reader.pocket.in_space(maps.vector)[0] @ reader.pocket.encode_texts(["a dog runs"])[0])
    weights = np.array([0.4, 0.3, 0.2])
    odds = judged[:, 0].double().numpy() @ weights + cosine - 0.5
    raw = odds[0] - odds[1:]
    beyond = np.where(raw < -0.1, raw + 0.1, np.where(raw > 0.02, raw - 0.02, 0))
    chance = 1 / (1 + np.exp(-np.concatenate([odds[:1], odds[0] - beyond])))
    assert read.probability == pytest.approx(chance[0], abs=0.01)
    assert [word.change for word in read.words] == pytest.approx((chance[0] - chance[1:]).tolist(), abs=0.01)


def test_a_tiny_run_leaves_a_network_that_scores(data: Path, tmp_path: Path) -> None:
    said: list[str] = []
    found = run.train(data, tmp_path / "out", None, run.TINY, said.append)
    assert {"dev near rank", "fresh match own"} <= set(found)
    assert {*FILES, "training.json"} <= {path.name for path in (tmp_path / "out").iterdir()}
    picture = sorted((Path(sightline.__file__).parent / "demo" / "pictures").glob("*.jpg"))[0]
    items = [Item("a", (picture,), "a man in a suit")]
    scored = sightline.score(items, ["match"], together=str(tmp_path / "out"), cache=False)
    assert 0 < scored.scores[0].score < 1
    assert scored.scores[0].evidence.words


def test_what_is_no_network_is_told_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        Together(tmp_path)
    for name in FILES:
        (tmp_path / name).write_text("{}")
    with pytest.raises(UsageError, match=r"not a network of `sightline train together`"):
        Together(tmp_path)
