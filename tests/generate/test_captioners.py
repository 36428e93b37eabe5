"""Tiny captioners in the real formats: what they say of a picture is the same whatever stands beside it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from chat_server import Reply, chat_server, refused, said
from sightline.errors import Unscorable, UsageError
from sightline.generate import decoding
from sightline.generate.base import Candidate, Decoding, load_captioner
from tiny_captioners import save_clipcap

pytest.importorskip("torch")
KINDS = ("git", "blip", "encoder-decoder", "clipcap-mlp", "clipcap-transformer")
SHORT = Decoding(length=6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "decoding", [SHORT, Decoding(beams=1, length=6), Decoding(samples=3, seed=4, length=6)]
)
def test_a_picture_is_described_alike_alone_and_among_others(
    tiny: dict[str, str], noise: list[Image.Image], kind: str, decoding: Decoding
) -> None:
    captioner = load_captioner(tiny[kind])
    together = captioner.describe(noise, "object", decoding)
    assert len(together) == 5
    assert [captioner.describe([one], "object", decoding)[0] for one in noise[2:4]] == list(together[2:4])
    for found in together:
        assert not isinstance(found, Unscorable)
        texts = [one.text for one in found]
        assert len(set(texts)) == len(texts) <= (decoding.samples or decoding.beams)
        assert all(one.log_probability is not None and one.log_probability < 0 for one in found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_probability_is_that_of_the_text_given_the_picture(
    tiny: dict[str, str], noise: list[Image.Image], kind: str
) -> None:
    """By one forward pass over the whole text, its end included."""
    import torch

    captioner: Any = load_captioner(tiny[kind])
    (reading, *_) = captioner.generate(noise[:1], Decoding(beams=2, length=4))
    end = captioner.ends[0]
    with torch.inference_mode():
        if kind.startswith("clipcap"):
            ids = torch.tensor([[*reading.tokens, end]])
            logits = captioner.network(captioner.vectors(noise[:1]), ids, torch.ones_like(ids))[0]
        else:
            pixels = captioner.pictures(images=noise[:1], return_tensors="pt")["pixel_values"]
            start = captioner.tokenizer.cls_token_id
            ids = torch.tensor([[start, *reading.tokens]])
            name = "decoder_input_ids" if kind == "encoder-decoder" else "input_ids"
            logits = captioner.model(pixel_values=pixels, **{name: ids}).logits[0, -ids.shape[1] :]
    wanted = [*reading.tokens, end]
    total = logits.log_softmax(-1)[range(len(wanted)), wanted].sum()
    assert reading.log_probability == pytest.approx(float(total), abs=1e-3)


def test_signatures_know_the_content(tiny: dict[str, str], tmp_path: Path) -> None:
    kind, _, path = tiny["git"].partition(":")
    same = shutil.copytree(path, tmp_path / "same")
    other = shutil.copytree(path, tmp_path / "other")
    (other / "generation_config.json").write_text('{"no_repeat_ngram_size": 2}')
    one = load_captioner(tiny["git"]).signature
    assert one.startswith("git@")
    assert load_captioner(f"{kind}:{same}").signature == one
    assert load_captioner(f"{kind}:{other}").signature != one


@pytest.mark.parametrize("kind", ["mlp", "transformer"])
def test_a_published_clipcap_loads(tmp_path: Path, kind: str) -> None:
    """Its authors' layout: all weights in one .pt, with the buffers that GPT-2 had then, and no file that says more."""
    import torch
    from safetensors.torch import load_file

    folder = save_clipcap(tmp_path / "made", kind)
    weights = load_file(folder / "model.safetensors")
    for layer in range(2):
        weights[f"gpt.transformer.h.{layer}.attn.bias"] = torch.ones(1, 1, 64, 64).tril().to(torch.uint8)
        weights[f"gpt.transformer.h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    mapping = {name.removeprefix("clip_project.") for name in weights if name.startswith("clip_project.")}
    assert mapping == (
        {f"model.{part}.{name}" for part in (0, 2) for name in ("weight", "bias")}
        if kind == "mlp"
        else {
            "prefix_const", "linear.weight", "linear.bias",
            *(f"transformer.layers.{layer}.{name}" for layer in range(2) for name in (
                "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias", "attn.to_queries.weight",
                "attn.to_keys_values.weight", "attn.project.weight", "attn.project.bias", "mlp.fc1.weight",
                "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias",
            )),
        }
    )  # fmt: skip
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "conceptual_weights.pt")
    found = load_captioner(f"clipcap:{folder / 'conceptual_weights.pt'}")
    picture = Image.new("RGB", (40, 30), "red")
    assert (
        found.describe([picture], "object", SHORT)[0]
        == load_captioner(f"clipcap:{save_clipcap(tmp_path / 'again', kind)}").describe(
            [picture], "object", SHORT
        )[0]
    )


def test_models_that_are_none_are_one_clear_line(tiny: dict[str, str], tmp_path: Path) -> None:
    import torch

    git = Path(tiny["git"].partition(":")[2])
    bare = shutil.copytree(git, tmp_path / "bare")
    (bare / "processor_config.json").unlink()
    damaged = tmp_path / "damaged.pt"
    damaged.write_bytes(b"x" * 100)
    other = save_clipcap(tmp_path / "other")
    (other / "model.safetensors").unlink()
    torch.save({"gpt.transformer.wte.weight": torch.zeros(2, 2)}, other / "model.pt")
    for spec, message in {
        "git": "--captioner git needs a model",
        f"blip:{git}": "is a git, not a blip",
        f"git:{bare}": "has no processor .* save the base model's beside it",
        f"git:{tmp_path / 'nowhere'}": "there is no such folder",
        "clipcap": "--captioner clipcap needs a model",
        f"clipcap:{git.parent}": "there is no model.safetensors in",
        f"clipcap:{damaged}": "cannot be read",
        f"clipcap:{other / 'model.pt'}": "is no ClipCap: it has no mapping network",
        "chat": "needs the name of a model on the server",
    }.items():
        with pytest.raises(UsageError, match=message):
            load_captioner(spec)


def test_too_little_memory_means_smaller_groups_then_a_clear_line(
    tiny: dict[str, str], noise: list[Image.Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    captioner: Any = load_captioner(tiny["git"])
    wanted = captioner.describe(noise, "object", SHORT)
    sizes: list[int] = []
    generate, room = captioner.generate, 2

    def short_of_memory(pictures: list[Image.Image], how: Decoding) -> Any:
        sizes.append(len(pictures))
        if len(pictures) > room:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate")
        return generate(pictures, how)

    monkeypatch.setattr(captioner, "generate", short_of_memory)
    found = captioner.describe(noise, "object", SHORT)
    assert [[one.text for one in texts] for texts in found] == [
        [one.text for one in texts] for texts in wanted
    ]
    assert sizes == [8, 4, 2, 2, 2]
    room = 0
    with pytest.raises(UsageError, match="not enough memory for one picture at a time; use a smaller model"):
        captioner.describe(noise, "object", SHORT)
    assert not decoding.is_out_of_memory(RuntimeError("shapes do not match"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """A chat server that keeps what it was asked, and refuses what is blue."""
    bodies: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Reply:
        bodies.append(body)
        if body.get("n", 1) > 1:
            return said(*["\u201cA park.\u201d", "A garden.", "A park."][: body["n"]])
        return refused(400, "no") if body["max_tokens"] == 2 else said('"They play in  a park."')

    with chat_server(answer) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        yield bodies


def test_a_chat_model_is_asked_as_hl_asked_people(asked: list[dict[str, Any]]) -> None:
    picture = Image.new("RGB", (8, 8), "red")
    captioner = load_captioner("chat:a-model")
    assert captioner.signature == "chat@a-model"
    assert (
        captioner.describe([picture] * 2, "rationale", Decoding())
        == [[Candidate("They play in a park.", None)]] * 2
    )
    assert asked[0]["messages"][1]["content"][0]["text"].startswith("Why is the subject doing it?")
    assert (asked[0]["temperature"], "seed" in asked[0]) == (0, False)
    (found,) = captioner.describe([picture], "scene", Decoding(samples=3, seed=7, temperature=0.5))
    assert not isinstance(found, Unscorable) and [one.text for one in found] == ["A park.", "A garden."]
    assert (asked[-1]["n"], asked[-1]["temperature"], asked[-1]["seed"]) == (3, 0.5, 7)
    (refusal,) = captioner.describe([picture], "scene", Decoding(length=1))
    assert isinstance(refusal, Unscorable) and "the server refuses it" in str(refusal)
    with pytest.raises(UsageError, match="leave --top-k out"):
        captioner.describe([picture], "scene", Decoding(samples=1, top_k=5))
