"""What is loaded is known by its content: wherever it lies, whatever it runs on, and however it is changed."""

import gc
import gzip
import json
import os
import shutil
import sqlite3
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from PIL import Image
from typer.testing import CliRunner

import sightline
from sightline.cli.app import load_commands
from sightline.encoders import Embedder, load_encoder
from sightline.encoders.clip import Clip
from sightline.encoders.rater import load_rater
from sightline.hub import transformers_files
from sightline.items import Item
from sightline.resources import MODELS, Holder, Resource, shared
from sightline.text.vectors import WordVectors
from sightline.vision.regions import load_regions
from tiny_models import WORDS, save_bert

PHRASES = ("groovist", "groovist:weights=idf")
PICTURES = ("groovist", "groovist:weights=idf", "rovist-vg")
ENCODED = (*PICTURES, "clipscore", "refclipscore", "vicr")
EVERY = (*ENCODED, "rovist-c", "rovist-nr", "bleu-1", "meteor", "scenegraph", "wmd")


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    folder = tmp_path_factory.mktemp("pictures")
    for name, colour in (("one.png", "green"), ("two.png", "blue")):
        Image.new("RGB", (60, 40), colour).save(folder / name)
    text = "The dog runs near the river. A woman sits on the boat."
    return [Item("s", (folder / "one.png", folder / "two.png"), text, references=("A dog and a woman.",))]


@pytest.fixture(scope="module")
def models() -> "Any":
    """What is embedded stays loaded for the tests of this file."""
    with Holder() as holder:
        yield holder


def signatures(
    items: list[Item], metrics: Sequence[str], holder: Holder | None = None, **options: Any
) -> dict[str, str]:
    found = sightline.score(items, metrics, cache=None, holder=holder, **options)
    return {name: row["signature"] for name, row in found.summary["metrics"].items()}


def nudge_arrays(path: Path) -> None:
    with np.load(path, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = next(name for name in arrays if arrays[name].dtype == np.float16)
    arrays[name] = arrays[name] * np.float16(1.01)
    np.savez(path, **arrays)


def nudge_version(path: Path) -> None:
    with np.load(path, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    np.savez(path, **{**arrays, "version": np.array("retrained")})


def nudge_network(path: Path) -> None:
    model = onnx.load(str(path))
    tensor = max(model.graph.initializer, key=lambda one: one.data_type == onnx.TensorProto.FLOAT)
    values = onnx.numpy_helper.to_array(tensor) * np.float32(1.01)
    tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
    onnx.save(model, str(path))


def nudge_last_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(bytes(content))


def copied(model: str, name: str = "") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        source = MODELS / model / name
        if source.is_dir():
            return Path(shutil.copytree(source, folder / model))
        return Path(shutil.copy(source, folder / name))

    return make


def written(name: str, text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        content = text.encode()
        path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
        return path

    return make


def wordnet(folder: Path) -> Path:
    place = folder / "wordnet"
    place.mkdir()
    for part in ("noun", "verb", "adj", "adv"):
        (place / f"{part}.exc").write_text("")
        (place / f"index.{part}").write_text("dog n 1 0 1 0 02084071\n" if part == "noun" else "")
    return place


def rewrite(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path = path / name if path.is_dir() else path
        packed = path.suffix == ".gz"
        text = (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()).decode()
        assert old in text
        content = text.replace(old, new).encode()
        path.write_bytes(gzip.compress(content, mtime=0) if packed else content)

    return change


KINDS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], None], str, str, tuple[str, ...]]] = {
    "language": (
        copied("english"), lambda path: nudge_last_byte(path / "vocab" / "vectors"), "nlp", "{}",
        (*PICTURES, "scenegraph"),
    ),
    "lexicon": (
        copied("concreteness", "lexicon.npz"), nudge_version, "concreteness", "{}", ("groovist",),
    ),
    "ratings": (written("r.csv", "dog;4.9\n"), rewrite("", "4.9", "4.8"), "concreteness", "{}", ("groovist",)),
    "regions": (
        written("r.csv", 'image_id,bbox\none,"[0, 0, 30, 30]"\ntwo,"[0, 0, 30, 30]"\n'),
        rewrite("", "[0, 0, 30, 30]", "[0, 0, 30, 31]"), "regions", "boxes:{}", PICTURES,
    ),
    "proposer": (
        copied("pocket"), lambda path: nudge_network(path / "proposer.onnx"), "regions", "proposer:{}", PICTURES,
    ),
    "idf": (
        copied("idf", "idf.json"), rewrite("", '"stories": ', '"stories": 1'), "idf", "{}",
        ("groovist:weights=idf", "rovist-vg"),
    ),
    "grounding": (copied("vg", "vg.npz"), nudge_arrays, "vg", "{}", ("rovist-vg",)),
    "rater": (copied("rater", "rater.npz"), nudge_arrays, "rater", "{}", ("vicr",)),
    "coherence": (
        copied("coherence"), lambda path: nudge_network(path / "order.onnx"), "coherence", "{}", ("rovist-c",),
    ),
    "wordnet": (
        wordnet, rewrite("index.noun", "02084071", "02084072"), "wordnet", "{}", ("meteor", "scenegraph"),
    ),
    "paraphrases": (
        written("table.gz", "0.1\na dog\na hound\n"), rewrite("", "hound", "puppy"), "paraphrases", "{}", ("meteor",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_one_content_has_one_signature_and_another_content_another(
    kind: str, items: list[Item], models: Holder, tmp_path: Path
) -> None:
    """Given by two paths, then changed in place: every signature that depends on it changes, and only these."""
    make, change, option, form, dependent = KINDS[kind]
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
    here, elsewhere = make(tmp_path / "here"), make(tmp_path / "elsewhere")
    metrics = [metric for metric in EVERY if metric != "wmd"]
    before = signatures(items, metrics, models, **{option: form.format(here)})
    assert signatures(items, metrics, models, **{option: form.format(elsewhere)}) == before
    if kind not in ("ratings", "regions", "wordnet", "paraphrases"):
        shipped = signatures(items, metrics, models, **({"idf": "shipped"} if kind == "idf" else {}))
        assert shipped == before, "what is embedded, given by path"
    change(here)
    after = signatures(items, metrics, models, **{option: form.format(here)})
    assert {metric for metric in metrics if after[metric] != before[metric]} == set(dependent)
    change(elsewhere)
    assert signatures(items, metrics, models, **{option: form.format(elsewhere)}) == after


def test_an_encoder_in_place_of_another(items: list[Item], models: Holder, tmp_path: Path) -> None:
    """All that encodes has a new signature; heads trained on the old encoder's vectors are refused."""
    folder = Path(shutil.copytree(MODELS / "pocket", tmp_path / "mine"))
    encoded = ["groovist", "clipscore", "refclipscore"]
    shipped = signatures(items, [*ENCODED], models)
    assert signatures(items, [*ENCODED], models, encoder=f"pocket:{folder}") == shipped
    nudge_network(folder / "text.onnx")
    changed = signatures(items, [*encoded, "bleu-1"], models, encoder=f"pocket:{folder}")
    assert all(changed[metric] != shipped[metric] for metric in encoded)
    for metric, told in (("vicr", "this caption rater was trained for"), ("rovist-vg", "was trained on")):
        with pytest.raises(sightline.UsageError, match=told) as refused:
            signatures(items, [metric], models, encoder=f"pocket:{folder}")
        assert "\n" not in str(refused.value)


def test_transformers_models(
    items: list[Item],
    tmp_path: Path,
    tiny_clip: Path,
    tiny_detector: Path,
    make_tiny_clip: Callable[[Path, int], Path],
) -> None:
    """Weights, shape and tokeniser are its content; its folder's name and what else lies there are not."""
    copy = Path(shutil.copytree(tiny_clip, tmp_path / "under another name"))
    (copy / "README.md").write_text("A card.")
    one, two = (load_encoder(f"clip:{folder}").signature for folder in (tiny_clip, copy))
    assert one == two
    (copy / "merges.txt").write_text("#version: 0.2\n")
    assert Clip(str(copy)).resource.digest != one.partition("@")[2]
    assert load_encoder(f"clip:{make_tiny_clip(tmp_path / 'other', 7)}").signature != one
    detector = Path(shutil.copytree(tiny_detector, tmp_path / "detector"))
    chosen = {"encoder": f"clip:{tiny_clip}", "region_count": 2, "theta": 0.6}
    before = signatures(items, ["groovist"], regions=f"detector:{tiny_detector}", **chosen)
    assert signatures(items, ["groovist"], regions=f"detector:{detector}", **chosen) == before
    nudge_last_byte(detector / "model.safetensors")
    assert signatures(items, ["groovist"], regions=f"detector:{detector}", **chosen) != before


def test_a_bertscore_model(items: list[Item], tmp_path: Path) -> None:
    one = save_bert(tmp_path / "one", WORDS.split())
    two = Path(shutil.copytree(one, tmp_path / "two"))
    found = [signatures(items, [f"bertscore:model={folder}"]) for folder in (one, two)]
    assert list(found[0].values()) == list(found[1].values())
    nudge_last_byte(two / "model.safetensors")
    assert list(signatures(items, [f"bertscore:model={two}"]).values()) != list(found[0].values())


def test_word_vectors(items: list[Item], tmp_path: Path) -> None:
    pytest.importorskip("ot")
    (tmp_path / "there").mkdir()
    one, two = tmp_path / "glove.txt", tmp_path / "there" / "glove.txt"
    text = "dog 0.1 0.2\nwoman 0.3 0.1\n"
    one.write_text(text)
    two.write_text(text)
    metrics = ["wmd", "bleu-1"]
    before = signatures(items, metrics, vectors=str(one))
    assert signatures(items, metrics, vectors=str(two)) == before
    two.write_text(text.replace("0.3", "0.4"))
    after = signatures(items, metrics, vectors=str(two))
    assert after["wmd"] != before["wmd"], "a file of the same name and size is not the same vectors"
    assert after["bleu-1"] == before["bleu-1"]


def test_device_and_precision_stand_beside_the_identity(tiny_clip: Path) -> None:
    """What was trained on a GPU runs on a CPU; its scores still say in what precision they were made."""
    here, there = Clip(str(tiny_clip)), Clip(str(tiny_clip))
    there.resource = replace(there.resource, device="cuda:1", precision="bf16")
    assert here.signature == there.signature
    rater = load_rater(None)
    rater.encoder = there.signature
    rater.fits(here.signature)
    assert Embedder(here).parts == {"encoder": here.signature}
    assert Embedder(there).parts == {"encoder": here.signature, "precision": "bf16"}
    assert Embedder(here)._key("text", "a dog") != Embedder(there)._key("text", "a dog"), "other bits"


def test_the_summary_tells_what_stands_behind_a_digest(items: list[Item], tiny_clip: Path) -> None:
    found = sightline.score(items, ["clipscore"], encoder=f"clip:{tiny_clip}", cache=None)
    (digest,) = found.summary["resources"]
    assert f"clip@{digest}" in found.scores[0].signature
    told = found.summary["resources"][digest]
    assert told == {"given": str(tiny_clip), "place": str(tiny_clip), "device": "cpu", "precision": "fp32"}


def test_digests_are_read_once_and_notice_every_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.bin"
    path.write_bytes(b"1" * 100)
    first = Resource.file(path).digest
    path.write_bytes(b"2" * 100)
    assert Resource.file(path).digest != first, "within a tick of the clock, of the same size"
    os.utime(path, (1, 1))
    again = Resource.file(path).digest
    monkeypatch.setattr("hashlib.file_digest", lambda *given: pytest.fail("the file was read again"))
    assert Resource.file(path).digest == again


def test_what_changes_while_it_is_used_is_told(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("dog 0.1 0.2\n")
    resource = Resource.file(path)
    path.write_text("dog 0.1 0.2 0.3\n")
    with pytest.raises(sightline.UsageError, match="changed while it was being used"):
        resource.digest  # noqa: B018 - asked for is read


def test_a_small_file_is_known_as_it_was_read_whatever_comes_later(tmp_path: Path) -> None:
    path = tmp_path / "regions.csv"
    path.write_text('image_id,bbox\np1,"[2, 3, 44, 55]"\n')
    source = load_regions(f"boxes:{path}", 2)
    path.write_text('image_id,bbox\np1,"[2, 3, 44, 66]"\n')
    assert source.signature != load_regions(f"boxes:{path}", 2).signature


def test_what_changes_while_it_is_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("dog 0.1\n")

    def load(given: Path) -> SimpleNamespace:
        resource = Resource.file(given).ahead()
        given.write_text("dog 0.1\ncat 0.2\n")
        return SimpleNamespace(resource=resource)

    with (
        Holder() as holder,
        pytest.raises(sightline.UsageError, match=r"words.txt changed while it was being read"),
    ):
        holder.get(load, path)
    with pytest.raises(sightline.UsageError, match=r"words.txt changed while it was being read"):
        shared(load)(path)


def test_only_weights_that_are_read_matter(tmp_path: Path) -> None:
    for name in (
        "model.safetensors",
        "pytorch_model.bin",
        "training_args.bin",
        "config.json",
        "vocab.txt",
        "a.md",
    ):
        (tmp_path / name).write_text(name)
    assert [one.name for one in transformers_files(tmp_path)] == [
        "config.json",
        "model.safetensors",
        "vocab.txt",
    ]
    (tmp_path / "model.safetensors").unlink()
    assert [one.name for one in transformers_files(tmp_path)][1] == "pytorch_model.bin"


def test_models_go_when_a_run_ends(
    items: list[Item], models: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.close()  # what somebody holds is shared, and stays
    alive: list[weakref.ref[Any]] = []
    kinds: set[type] = set()
    get = Holder.get

    def watched(self: Holder, load: Any, *args: Any, **kwargs: Any) -> Any:
        found = get(self, load, *args, **kwargs)
        if hasattr(found, "resource"):
            alive.append(weakref.ref(found))
            kinds.add(type(found))
        return found

    monkeypatch.setattr(Holder, "get", watched)
    metrics = ["groovist", "rovist-vg", "vicr", "rovist-c"]
    sightline.score(items, metrics, cache=None)
    assert len(kinds) >= 7
    gc.collect()
    assert not [one() for one in alive if one() is not None]


def test_a_holder_keeps_models_and_loads_anew_what_changed(items: list[Item], tmp_path: Path) -> None:
    vectors = tmp_path / "glove.txt"
    vectors.write_text("dog 0.1 0.2\n")
    with Holder() as mine:
        sightline.score(items, ["clipscore"], cache=None, holder=mine)
        first = mine.get(load_encoder, "pocket")
        kept = mine.get(WordVectors.from_file, vectors)
        vectors.write_text("dog 0.1 0.3\n")
        sightline.score(items, ["clipscore"], cache=None, holder=mine)
        assert mine.get(load_encoder, "pocket") is first
        assert mine.get(WordVectors.from_file, vectors) is not kept
        there = weakref.ref(first)
        del first, kept
    assert there() is None


def command(*words: object) -> tuple[int, str]:
    found = CliRunner().invoke(load_commands(), [str(word) for word in words])
    if isinstance(found.exception, sightline.UsageError):
        return 2, str(found.exception)
    return found.exit_code, found.output


@pytest.fixture
def story(items: list[Item], tmp_path: Path) -> Path:
    path = tmp_path / "stories.jsonl"
    first = items[0]
    path.write_text(json.dumps({"id": "s", "images": list(map(str, first.images)), "text": first.text}))
    return path


def test_resume_over_something_retrained_is_refused(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(Exception):  # noqa: N818
        """The run is killed."""

    def crash(*given: Any, **more: Any) -> None:
        raise Crash

    model = Path(shutil.copytree(MODELS / "coherence", tmp_path / "mine"))
    words = ["score", story, "-m", "rovist-c", "--coherence", model, "-o", tmp_path / "out", "--no-cache"]
    monkeypatch.setattr("sightline.api.write_report", crash)
    assert isinstance(CliRunner().invoke(load_commands(), list(map(str, words))).exception, Crash)
    monkeypatch.undo()
    nudge_network(model / "order.onnx")
    code, told = command(*words, "--resume")
    assert code == 2
    assert "belongs to another run: coherence was minilm-vist" in told and "--overwrite" in told
    assert "\n" not in told
    assert command(*words, "--overwrite")[0] == 0


@pytest.mark.parametrize("what", ["journal", "cache"])
def test_journals_and_caches_of_an_earlier_version_are_refused(
    what: str, story: Path, tmp_path: Path
) -> None:
    """As version 0.1 left them before content had digests."""
    out, cache = tmp_path / "out", tmp_path / "cache"
    out.mkdir()
    cache.mkdir()
    old = out / "unfinished.sqlite" if what == "journal" else cache / "cache.sqlite"
    with sqlite3.connect(old) as db:
        if what == "journal":
            db.execute("CREATE TABLE about (fingerprint TEXT)")
            db.execute("INSERT INTO about VALUES ('x')")
        else:
            db.execute("CREATE TABLE entry (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
    db.close()
    code, told = command("score", story, "-m", "clipscore", "-o", out, "--cache", cache, "--resume")
    assert code == 2
    assert "another version of Sightline" in told and "\n" not in told
