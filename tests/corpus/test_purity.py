"""Purity scorers: the embedded ones tell likeness, BLEURT loads as a user would load it."""

from pathlib import Path

import numpy as np
import pytest

from sightline.corpus.purity import load_scorer
from sightline.errors import UsageError

ALIKE = ["they are playing tennis", "he is playing tennis", "playing a tennis match"]
APART = ["they are playing tennis", "on a snowy mountain", "to feed the cat"]


@pytest.mark.parametrize("name", ["embedded", "pocket", "sentence"])
def test_embedded_scorers_tell_alike_from_apart(name: str) -> None:
    scorer = load_scorer(name)
    alike, apart, twins = scorer.score([ALIKE, APART, ["a dog", "a dog"]])
    assert alike.shape == (3,) and alike.mean() > apart.mean() + 0.2
    assert twins == pytest.approx([1, 1], abs=1e-3)
    odd = scorer.score([["", "狗"], ["x" * 100_000, "x"]])
    assert all(np.isfinite(scores).all() for scores in odd)
    assert scorer.score([]) == []


def test_scores_do_not_depend_on_what_stands_beside() -> None:
    scorer = load_scorer("embedded")
    alone = scorer.score([ALIKE])[0]
    assert scorer.score([APART, ALIKE, APART])[1].tolist() == alone.tolist()


@pytest.fixture(scope="module")
def tiny_bleurt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bleurt(tmp_path_factory.mktemp("models") / "tiny-bleurt", outputs=1)


def save_bleurt(folder: Path, outputs: int) -> Path:
    """A BERT regressor of random weights, in the layout in which BLEURT is published for transformers."""
    import torch
    import transformers

    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    words += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, num_labels=outputs,
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def test_bleurt_is_the_models_regression_on_reference_and_candidate(tiny_bleurt: Path) -> None:
    import torch
    import transformers

    scorer = load_scorer(f"bleurt:{tiny_bleurt}")
    groups = [["a cat", "two dogs run", "a cat"], ["one", "long " * 60]]
    found = scorer.score(groups)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_bleurt)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tiny_bleurt).eval()

    def alone(reference: str, candidate: str) -> float:
        fed = tokenizer(reference, candidate, return_tensors="pt", truncation=True, max_length=64)
        with torch.inference_mode():
            return float(model(**fed).logits[0, 0])

    for group, scores in zip(groups, found, strict=True):
        for n, own in enumerate(group):
            others = [text for k, text in enumerate(group) if k != n]
            assert scores[n] == pytest.approx(np.mean([alone(other, own) for other in others]), abs=1e-5)
    assert scorer.signature.startswith("bleurt|bert@")


def test_wrong_models(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one output is needed, this has 3"):
        load_scorer(f"bleurt:{save_bleurt(tmp_path / 'three', outputs=3)}")
    with pytest.raises(UsageError, match="no such folder"):
        load_scorer("bleurt:/nowhere/at/all")
    with pytest.raises(UsageError, match="bleurt:NAME-or-PATH"):
        load_scorer("bleurt")
    with pytest.raises(UsageError, match="takes no argument"):
        load_scorer("pocket:x")
    with pytest.raises(UsageError, match="unknown purity scorer 'embeded'"):
        load_scorer("embeded")
