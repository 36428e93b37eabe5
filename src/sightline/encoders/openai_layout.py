"""CLIP checkpoints in OpenAI's layout, as PAC-S's fine-tuned weights and many of OpenCLIP's are published."""

from pathlib import Path
from typing import Any, Final

from sightline.errors import UsageError, extra

SIDES: Final = (("visual.", "vision_model."), ("", "text_model."))
BLOCK: Final = {
    "ln_1": "layer_norm1", "ln_2": "layer_norm2", "mlp.c_fc": "mlp.fc1", "mlp.c_proj": "mlp.fc2",
    "attn.out_proj": "self_attn.out_proj",
}  # fmt: skip
ENDS: Final = {
    "visual.class_embedding": "vision_model.embeddings.class_embedding",
    "visual.positional_embedding": "vision_model.embeddings.position_embedding.weight",
    "visual.conv1.weight": "vision_model.embeddings.patch_embedding.weight",
    "visual.ln_pre.weight": "vision_model.pre_layrnorm.weight",
    "visual.ln_pre.bias": "vision_model.pre_layrnorm.bias",
    "visual.ln_post.weight": "vision_model.post_layernorm.weight",
    "visual.ln_post.bias": "vision_model.post_layernorm.bias",
    "token_embedding.weight": "text_model.embeddings.token_embedding.weight",
    "positional_embedding": "text_model.embeddings.position_embedding.weight",
    "ln_final.weight": "text_model.final_layer_norm.weight",
    "ln_final.bias": "text_model.final_layer_norm.bias",
    "logit_scale": "logit_scale",
}
TURNED: Final = {"visual.proj": "visual_projection.weight", "text_projection": "text_projection.weight"}
"""Projections that OpenAI multiplies from the other side."""
LEFT: Final = ("input_resolution", "context_length", "vocab_size", "attn_mask")
"""What some checkpoints hold besides weights."""


def load_openai_layout(model: Any, path: Path) -> None:
    """Put the weights of a checkpoint into a CLIP of transformers; raises UsageError where they do not fit."""
    torch = extra("torch", "torch")
    if model.config.model_type != "clip":
        raise UsageError(f"{path}: weights in OpenAI's layout are CLIP's, not {model.config.model_type}'s")
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        state = found.get("state_dict", found)
        wanted = translated({name.removeprefix("module."): value for name, value in state.items()})
        model.load_state_dict(wanted)
    except Exception as fault:  # torch's readers and its check of shapes each raise their own
        reason = " ".join(str(fault).split())[:160]
        raise UsageError(f"{path}: not weights of this CLIP in OpenAI's layout ({reason})") from None


def translated(state: dict[str, Any]) -> dict[str, Any]:
    """OpenAI's names of weights as transformers': the three parts of attention are one there."""
    found: dict[str, Any] = {}
    for name, value in state.items():
        if name in LEFT:
            continue
        if name in TURNED:
            found[TURNED[name]] = value.float().T.contiguous()
        elif name in ENDS:
            found[ENDS[name]] = value.float()
        else:
            found.update(_of_block(name, value.float()))
    return found


def _of_block(name: str, value: Any) -> dict[str, Any]:
    """One weight of a transformer's block: `visual.transformer.resblocks.3.attn.in_proj_weight`."""
    mine, theirs = next(side for side in SIDES if name.startswith(f"{side[0]}transformer.resblocks."))
    number, _, rest = name.removeprefix(f"{mine}transformer.resblocks.").partition(".")
    place = f"{theirs}encoder.layers.{number}."
    if rest.startswith("attn.in_proj_"):
        kind = rest.removeprefix("attn.in_proj_")
        parts = zip("qkv", value.chunk(3), strict=True)
        return {f"{place}self_attn.{part}_proj.{kind}": own.contiguous() for part, own in parts}
    part, _, kind = rest.rpartition(".")
    return {f"{place}{BLOCK[part]}.{kind}": value}
