"""Tiny random-weight models, saved in the real format, for tests that load models as a user does."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

SIDE = 32
WORDS = (
    "a the dog cat man woman boat river tree house red blue small runs sits near and on of photo depicts two"
)


@pytest.fixture(scope="session")
def make_tiny_clip() -> Callable[[Path, int], Path]:
    return save_clip


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLIP of 32-pixel pictures and 40 tokens."""
    return save_clip(tmp_path_factory.mktemp("models") / "tiny-clip", 0)


@pytest.fixture(scope="session")
def tiny_siglip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SigLIP of 32-pixel pictures and 24 tokens, with a sentencepiece tokeniser."""
    return save_siglip(tmp_path_factory.mktemp("models") / "tiny-siglip")


@pytest.fixture(scope="session")
def tiny_detector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A YOLOS of 40 queries."""
    return save_yolos(tmp_path_factory.mktemp("models") / "tiny-yolos")


@pytest.fixture(scope="session")
def tiny_judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LLaVA of 32-pixel pictures that speaks bytes, and answers with one digit from 1 to 5."""
    return save_llava(tmp_path_factory.mktemp("models") / "tiny-llava")


def save_bert(folder: Path, pieces: Sequence[str], layers: int = 1) -> Path:
    """A BERT of random weights that knows these word pieces."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def save_clip(folder: Path, seed: int) -> Path:
    import torch
    import transformers

    torch.manual_seed(seed)
    shape: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    tokenizer = clip_tokenizer()
    text = {
        **shape,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 40,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    config = transformers.CLIPConfig(
        text_config=text, vision_config={**shape, "image_size": SIDE, "patch_size": 8}, projection_dim=16
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    size = {"shortest_edge": SIDE}
    transformers.CLIPImageProcessorPil(size=size, crop_size={"height": SIDE, "width": SIDE}).save_pretrained(
        folder
    )
    return folder


def clip_tokenizer() -> Any:
    """CLIP's byte-level tokeniser, with merges for a few words only."""
    import transformers
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    vocab = [*letters, *(f"{letter}</w>" for letter in letters)]
    merges: list[tuple[str, str]] = []
    for word in WORDS.split():
        pieces = [*word[:-1], f"{word[-1]}</w>"]
        while len(pieces) > 1:
            pair = (pieces[0], pieces[1])
            if pair not in merges:
                merges.append(pair)
                vocab.append("".join(pair))
            pieces[:2] = ["".join(pair)]
    vocab += ["<|startoftext|>", "<|endoftext|>"]
    known = {token: number for number, token in enumerate(dict.fromkeys(vocab))}
    return transformers.CLIPTokenizer(vocab=known, merges=merges)


def save_siglip(folder: Path) -> Path:
    import sentencepiece
    import torch
    import transformers

    torch.manual_seed(0)
    folder.mkdir(parents=True)
    corpus = folder.parent / "corpus.txt"
    corpus.write_text("\n".join(f"{WORDS} {word} {word}s" for word in WORDS.split() * 20))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(folder / "spiece"), vocab_size=80, hard_vocab_limit=False,
        pad_id=-1, bos_id=-1, eos_id=1, unk_id=0, minloglevel=2,
    )  # fmt: skip
    tokenizer = transformers.SiglipTokenizer(vocab_file=str(folder / "spiece.model"), model_max_length=24)
    shape: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    config = transformers.SiglipConfig(
        text_config={
            **shape,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 24,
            "projection_size": 32,
            "bos_token_id": 1,
            "eos_token_id": 1,
            "pad_token_id": 1,
        },
        vision_config={**shape, "image_size": SIDE, "patch_size": 8},
    )
    transformers.SiglipModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    transformers.SiglipImageProcessorPil(size={"height": SIDE, "width": SIDE}).save_pretrained(folder)
    return folder


def save_yolos(folder: Path) -> Path:
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.YolosConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=[64, 64],
        patch_size=16, num_detection_tokens=40, num_labels=5,
    )  # fmt: skip
    transformers.YolosForObjectDetection(config).save_pretrained(folder)
    transformers.YolosImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 128}).save_pretrained(
        folder
    )
    return folder


CHAT = (
    "{% for message in messages %}{{ message['role'] }}: "
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}\n{% endfor %}assistant: "
)


def save_llava(folder: Path) -> Path:
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from tokenizers.pre_tokenizers import ByteLevel

    torch.manual_seed(0)
    vocab = {letter: number for number, letter in enumerate(sorted(ByteLevel.alphabet()))}
    found = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=found,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        additional_special_tokens=["<image>"],
    )
    shape: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**shape, image_size=SIDE, patch_size=8),
        text_config=transformers.LlamaConfig(
            **shape,
            num_key_value_heads=4,
            vocab_size=len(tokenizer),
            max_position_embeddings=4096,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=16,
    )
    model = transformers.LlavaForConditionalGeneration(config)
    answer_with_a_rating(model, tokenizer)
    model.save_pretrained(folder)
    transformers.LlavaProcessor(
        image_processor=transformers.CLIPImageProcessorPil(
            size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
        ),
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT,
    ).save_pretrained(folder)
    return folder


def answer_with_a_rating(model: Any, tokenizer: Any) -> None:
    """After the blank that ends a question comes a digit, after a digit the end; which digit, the rest decides."""
    import torch

    def number(token: str) -> int:
        found: int = tokenizer.convert_tokens_to_ids(token)
        return found

    digits = [number(digit) for digit in "12345"]
    said, told = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    with torch.no_grad():
        said[[number("Ġ"), *digits], :] = 0
        said[number("Ġ"), 0] = said[digits, 1] = 0.2
        told[digits, 0] = told[number("</s>"), 1] = 3
        told[digits, 2:] *= 20
