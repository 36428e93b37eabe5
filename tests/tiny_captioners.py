"""Tiny random-weight captioners and paraphrasers, saved in the real formats."""

from pathlib import Path
from typing import Any

from tiny_models import SIDE, WORDS, save_clip

PIECES = (*dict.fromkeys(f"{WORDS} in at to they he she is are playing having fun picture".split()), ".", ",")
SHAPE: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}


def bert_tokenizer(folder: Path) -> Any:
    from transformers import BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *PIECES]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
    return BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64)


def save_git(folder: Path, seed: int = 0) -> Path:
    """A GIT as microsoft/git-base is saved."""
    import torch
    import transformers

    torch.manual_seed(seed)
    tokenizer = bert_tokenizer(folder)
    config = transformers.GitConfig(
        vision_config={**SHAPE, "image_size": SIDE, "patch_size": 16},
        vocab_size=len(tokenizer),
        max_position_embeddings=64,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **SHAPE,
    )
    transformers.GitForCausalLM(config).save_pretrained(folder)
    _processor(transformers.GitProcessor, _clip_pictures(), tokenizer).save_pretrained(folder)
    return folder


def save_blip(folder: Path, seed: int = 0) -> Path:
    """A BLIP as Salesforce/blip-image-captioning-base is saved."""
    import torch
    import transformers

    torch.manual_seed(seed)
    tokenizer = bert_tokenizer(folder)
    text = {
        **SHAPE,
        "vocab_size": len(tokenizer),
        "encoder_hidden_size": 32,
        "max_position_embeddings": 64,
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "sep_token_id": tokenizer.sep_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "is_decoder": True,
    }
    config = transformers.BlipConfig(
        text_config=text, vision_config={**SHAPE, "image_size": SIDE, "patch_size": 16}, projection_dim=16
    )
    transformers.BlipForConditionalGeneration(config).save_pretrained(folder)
    pictures = transformers.BlipImageProcessorPil(size={"height": SIDE, "width": SIDE})
    _processor(transformers.BlipProcessor, pictures, tokenizer).save_pretrained(folder)
    return folder


def save_vit_gpt2(folder: Path, seed: int = 0) -> Path:
    """An encoder with a decoder, as nlpconnect/vit-gpt2-image-captioning is saved."""
    import torch
    import transformers

    torch.manual_seed(seed)
    tokenizer = bert_tokenizer(folder)
    encoder = transformers.ViTConfig(image_size=SIDE, patch_size=16, **SHAPE)
    decoder = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=4, n_positions=64,
        add_cross_attention=True, is_decoder=True, bos_token_id=2, eos_token_id=3,
    )  # fmt: skip
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = 2, 0, 3
    model = transformers.VisionEncoderDecoderModel(config)
    model.generation_config.decoder_start_token_id = 2
    model.generation_config.pad_token_id, model.generation_config.eos_token_id = 0, 3
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    transformers.ViTImageProcessorPil(size={"height": SIDE, "width": SIDE}).save_pretrained(folder)
    return folder


def save_gpt2(folder: Path, seed: int = 0) -> Path:
    import torch
    import transformers

    torch.manual_seed(seed)
    tokenizer = gpt2_tokenizer()
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=4, n_positions=64,
        bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def gpt2_tokenizer() -> Any:
    """GPT-2's byte-level tokeniser, with merges for a few words only."""
    import transformers
    from tokenizers.pre_tokenizers import ByteLevel

    vocab = sorted(ByteLevel.alphabet())
    merges: list[tuple[str, str]] = []
    for word in PIECES:
        for letters in (list(word), ["Ġ", *word]):
            while len(letters) > 1:
                pair = (letters[0], letters[1])
                if pair not in merges:
                    merges.append(pair)
                    vocab.append("".join(pair))
                letters[:2] = ["".join(pair)]
    vocab.append("<|endoftext|>")
    known = {token: number for number, token in enumerate(dict.fromkeys(vocab))}
    return transformers.GPT2Tokenizer(vocab=known, merges=merges)


def save_t5(folder: Path, seed: int = 0) -> Path:
    """A T5 as google-t5/t5-small is saved, with a sentencepiece vocabulary of a few words."""
    import sentencepiece
    import torch
    import transformers

    torch.manual_seed(seed)
    folder.mkdir(parents=True)
    corpus = folder.parent / "corpus.txt"
    words = " ".join(PIECES)
    corpus.write_text("\n".join(f"paraphrase {words} {word}." for word in PIECES * 20))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(folder / "spiece"), vocab_size=150, hard_vocab_limit=False,
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1, minloglevel=2,
    )  # fmt: skip
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
    vocabulary = [(pieces.id_to_piece(n), pieces.get_score(n)) for n in range(len(pieces))]
    tokenizer = transformers.T5Tokenizer(vocab=vocabulary, extra_ids=0)
    config = transformers.T5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, dropout_rate=0.0,
    )  # fmt: skip
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_clipcap(folder: Path, kind: str = "mlp", seed: int = 0) -> Path:
    """A ClipCap as `sightline train captioner` leaves it: weights, clip/ and gpt2/."""
    import torch
    import transformers
    from safetensors.torch import save_file

    from sightline.generate.clipcap_network import begun

    save_clip(folder / "clip", seed)
    gpt = transformers.GPT2LMHeadModel.from_pretrained(save_gpt2(folder / "gpt2", seed))
    torch.manual_seed(seed)
    save_file(begun(gpt, 16, kind, prefix=4, unfolded=3, layers=2).state(), folder / "model.safetensors")
    return folder


def _clip_pictures() -> Any:
    import transformers

    square = {"height": SIDE, "width": SIDE}
    return transformers.CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size=square)


def _processor(kind: Any, pictures: Any, tokenizer: Any) -> Any:
    return kind(pictures, tokenizer)


__all__ = ["save_blip", "save_clip", "save_clipcap", "save_gpt2", "save_t5", "save_git", "save_vit_gpt2"]
