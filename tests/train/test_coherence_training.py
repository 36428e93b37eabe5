"""Sentence order: both recipes learn it from tiny stories, and what they save scores the same as what they
trained.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.text.coherence import OnnxCoherence, load_coherence
from sightline.text.coherence_torch import TorchCoherence, split_state
from sightline.train.coherence.light import States
from sightline.train.coherence.network import from_onnx
from sightline.train.coherence.stories import group_keys, hundredth, read_stories, split_stories

NAMES = ("anna", "ben", "carl", "dora", "emma", "fred")
PLACES = ("park", "beach", "zoo", "fair", "lake", "farm")
VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *NAMES, *PLACES, "first", "then", "last", "went", "to", "the", "played", "slept", "at", ".",
    *"abcdefghijklmnopqrstuvwxyz", *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """So small a network is slower on several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("encoder")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", "utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stories") / "stories.jsonl"
    rows = [
        {
            "story_id": f"{name}-{place}",
            "sentences": [
                f"first {name} went to the {place} .",
                f"then {name} played .",
                f"last {name} slept .",
            ],
            "rovist_c": 0.9,
        }
        for name in NAMES
        for place in PLACES
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def light(encoder: Path, stories: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("light") / "model"
    options = ["--alone", "1", "--epochs", "12", "--rate", "0.004", "--batch", "4", "-o", str(out)]
    done = CliRunner().invoke(
        load_commands(), ["train", "coherence", str(stories), "--encoder", str(encoder), *options]
    )
    assert done.exit_code == 0, done.output
    return out


def test_the_light_recipe_learns_order(light: Path) -> None:
    model = load_coherence(str(light))
    assert isinstance(model, OnnxCoherence)
    a, b, c = "first anna went to the zoo .", "then anna played .", "last anna slept ."
    p = model.probabilities([(a, b), (b, c), (b, a), (c, b)])
    assert p[:2].min() > 0.6
    np.testing.assert_allclose(p[:2] + p[2:], 1, atol=1e-6)
    history = json.loads((light / "training.json").read_text())["history"]
    assert history[-1]["accuracy"] > 0.9
    assert history[-1]["loss"] < history[0]["loss"]


def test_the_onnx_files_say_what_the_network_says(light: Path) -> None:
    network, vocabulary, settings = from_onnx(light)
    model = OnnxCoherence(light)
    sentences = ["first anna went to the zoo .", "then ben played at the lake .", "emma slept"]
    states = States(network, model.words, sentences, settings["longest"])
    a, b = np.array([0, 1, 2, 0]), np.array([1, 2, 0, 2])
    with torch.inference_mode():
        z = (network(*states.pair(a, b)) - network(*states.pair(b, a))) / 2
    p = model.probabilities([(sentences[i], sentences[j]) for i, j in zip(a, b, strict=True)])
    assert len(vocabulary) <= len(VOCABULARY)
    np.testing.assert_allclose(p, torch.sigmoid(z).numpy(), atol=0.03)  # states are rounded to eight bits


def test_a_pair_does_not_depend_on_its_company(light: Path) -> None:
    model = OnnxCoherence(light)
    rng = np.random.default_rng(0)
    sentences = [" ".join(rng.choice(VOCABULARY[5:27], n)) for n in rng.integers(1, 30, 60)]
    pairs = [(sentences[i], sentences[j]) for i, j in rng.integers(0, 60, (80, 2))]
    together = model.probabilities(pairs)
    np.testing.assert_allclose(
        together, np.concatenate([model.probabilities([pair]) for pair in pairs]), atol=1e-6
    )
    np.testing.assert_allclose(together, OnnxCoherence(light, threads=1).probabilities(pairs), atol=1e-6)


def test_long_sentences_are_cut_and_said_so(light: Path) -> None:
    model = OnnxCoherence(light)
    long = "anna played . " * 100
    assert model.cut(long) and not model.cut("anna played .")
    assert 0 < model.probabilities([(long, "then anna slept .")])[0] < 1
    assert model.probabilities([]).shape == (0,)


def test_the_paper_recipe_and_the_published_layout(encoder: Path, stories: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    done = CliRunner().invoke(
        load_commands(),
        [
            "train",
            "coherence",
            str(stories),
            "--encoder",
            str(encoder),
            "--epochs",
            "10",
            "--rate",
            "0.003",
            "-o",
            str(out),
        ],
    )
    assert done.exit_code == 0, done.output
    model = load_coherence(str(out))
    assert isinstance(model, TorchCoherence)
    a, b = "first anna went to the zoo .", "then anna played ."
    forward, backward = model.probabilities([(a, b), (b, a)])
    assert forward > 0.8 > 0.2 > backward
    # The published checkpoint is a plain state dictionary with other names.
    from safetensors.torch import load_file

    state = load_file(out / "model.safetensors")
    renamed = {
        k.replace("encoder.", "bert_layer.", 1).replace("head.", "cls_layer."): v for k, v in state.items()
    }
    published = tmp_path / "published"
    published.mkdir()
    for file in out.iterdir():
        if file.suffix == ".json":
            (published / file.name).write_bytes(file.read_bytes())
    torch.save(renamed, published / "best.pt")
    np.testing.assert_allclose(
        TorchCoherence(str(published / "best.pt")).probabilities([(a, b)]), [forward], atol=1e-6
    )
    np.testing.assert_allclose(TorchCoherence(str(published)).probabilities([(a, b)]), [forward], atol=1e-6)


def test_any_sequence_classifier(encoder: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    config = BertConfig.from_pretrained(encoder, num_labels=2, id2label={0: "in_order", 1: "swapped"})
    network = BertForSequenceClassification(config).eval()
    network.save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    tokenizer.save_pretrained(tmp_path)
    a, b = "anna went to the zoo .", "anna slept ."
    with torch.inference_mode():
        want = torch.softmax(network(**tokenizer(a, b, return_tensors="pt")).logits, 1)[0, 0]
    model = TorchCoherence(str(tmp_path))
    np.testing.assert_allclose(model.probabilities([(a, b), ("ben " * 50, b)])[0], want, atol=1e-5)
    assert model.cut("ben " * 50)


def test_what_cannot_be_loaded_is_said_in_a_line(tmp_path: Path, light: Path) -> None:
    with pytest.raises(UsageError, match="--coherence"):
        TorchCoherence(str(tmp_path))
    (tmp_path / "weights.pt").write_bytes(b"")
    with pytest.raises(UsageError, match=r"config\.json"):
        TorchCoherence(str(tmp_path / "weights.pt"))
    with pytest.raises(UsageError, match="no encoder"):
        split_state({"x.weight": torch.zeros(1, 3)}, "here")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sentence.onnx").write_bytes(b"nothing")
    (broken / "order.onnx").write_bytes(b"nothing")
    with pytest.raises(UsageError, match=r"sentence.onnx: not a model"):
        OnnxCoherence(broken)
    with pytest.raises(UsageError, match="no such coherence model"):
        OnnxCoherence(tmp_path / "nowhere")


def test_stories_of_the_same_pictures_or_text_stay_together(tmp_path: Path) -> None:
    rows = [
        {"story_id": "1", "photo_ids": ["p", "q"], "sentences": ["a .", "b ."]},
        {"story_id": "2", "photo_ids": ["q", "r"], "sentences": ["c .", "d ."]},
        {"story_id": "3", "text": "c . d ."},
        {"story_id": "4", "text": "Something else . Altogether ."},
        {"story_id": "1", "text": "E . F .", "rovist_c": None, "system": "llava"},
        {"story_id": "5", "sentences": ["alone ."]},
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    stories = read_stories([path])
    assert group_keys(stories) == ["1", "1", "1", "4", "1", "5"]
    parts = split_stories(stories, 0.3, 0.3)
    assert sum(map(len, parts)) == 5  # one sentence teaches no order
    assert hundredth("45530") == hundredth("45530") and 0 <= hundredth("x") < 100


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"sentences": [1]}', "needs 'sentences'"),
        ("{}", "needs 'sentences'"),
    ],
)
def test_bad_lines_name_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f'{{"text": "A. B."}}\n{line}\n', "utf-8")
    with pytest.raises(UsageError, match=rf"s\.jsonl:2: .*{message}"):
        read_stories([path])


def test_stories_as_vist_and_rocstories_publish_them(tmp_path: Path) -> None:
    """VIST's SIS JSON, sentences of a story anywhere in the file, and the ROCStories' CSV with its quoted commas."""

    def told(story: str, order: int, text: str) -> list[dict[str, object]]:
        return [
            {
                "original_text": text.title(), "album_id": "7215", "photo_flickr_id": f"{story}{order}",
                "setting": "first-2-pick-and-tell", "worker_id": "W", "story_id": story, "tier": "story-in-sequence",
                "worker_arranged_photo_order": order, "text": text, "storylet_id": f"{story}-{order}",
            }
        ]  # fmt: skip

    sis = tmp_path / "train.story-in-sequence.json"
    annotations = [
        told("1", 1, "then b ."),
        told("2", 0, "c ."),
        told("1", 0, "first a ."),
        told("2", 1, "d ."),
    ]
    sis.write_text(json.dumps({"images": [], "albums": [], "annotations": annotations}))
    roc = tmp_path / "ROCStories_winter2017.csv"
    roc.write_text(
        "storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5\n"
        '8bbe,David,"David, thin, ran.",He fell.,He rose.,He ran on.,He won.\n'
    )
    one, two, three = read_stories([sis, roc])
    assert one.sentences == ("first a .", "then b .") and {"photo:10", "photo:11", "album_id:7215"} <= set(
        one.marks
    )
    assert two.sentences == ("c .", "d .") and group_keys([one, two, three])[:2] == ["1", "1"]  # one album
    assert three.sentences == ("David, thin, ran.", "He fell.", "He rose.", "He ran on.", "He won.")
    roc.write_text(roc.read_text().replace("He rose.", " "))
    with pytest.raises(UsageError, match=r"winter2017\.csv:2: a sentence is empty"):
        read_stories([roc])
    sis.write_text(json.dumps({"annotations": [[{"story_id": "1", "text": "a"}]]}))
    with pytest.raises(UsageError, match=r"annotations\[0\]: needs 'worker_arranged_photo_order'"):
        read_stories([sis])
