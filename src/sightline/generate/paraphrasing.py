"""Narratives by a paraphraser: T5, or any model of transformers that makes text of text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from sightline.errors import Unscorable, extra
from sightline.generate.base import Decoding
from sightline.generate.decoding import in_groups, readings, settings, with_room
from sightline.generate.kept import Sources
from sightline.generate.narratives import Triple
from sightline.hub import device, load_pretrained

PUBLISHED: Final = "Vamsi/T5_Paraphrase_Paws"
"""The paraphraser that HL's authors began with."""
AT_ONCE: Final = 8
DECODING: Final = Decoding(beams=3, length=60)


def asked(sources: Sources) -> str:
    """What the paraphraser reads: the three as sentences."""
    parts = (" ".join(text.split()).rstrip(" .") for text in sources.told().values())
    return f"paraphrase: {'. '.join(parts)}."


class ParaphraseTeller:
    """A paraphraser: fp32 on the CPU, bf16 on a GPU."""

    def __init__(self, name: str) -> None:
        transformers = extra("transformers", "torch")
        self._torch = extra("torch", "torch")
        resource, (model, self.tokenizer) = load_pretrained(
            "paraphraser", name,
            transformers.AutoModelForSeq2SeqLM.from_pretrained, transformers.AutoTokenizer.from_pretrained,
        )  # fmt: skip
        self.device = device()
        gpu = self.device.startswith("cuda")
        self.model: Any = model.eval().to(
            self.device, self._torch.bfloat16 if gpu else self._torch.float32
        )  # T5 overflows in fp16
        self.resource = replace(resource, device=self.device, precision="bf16" if gpu else "fp32")
        self.end = int(self.tokenizer.eos_token_id)

    @property
    def signature(self) -> str:
        return f"{self.model.config.model_type}@{self.resource.digest}|{DECODING.signature}"

    def tell(self, triples: Sequence[Triple]) -> list[str | Unscorable]:
        return with_room(self.signature, AT_ONCE, lambda size: self._told(triples, size))

    def _told(self, triples: Sequence[Triple], size: int) -> list[str | Unscorable]:
        found: list[str | Unscorable] = []
        pad = self.tokenizer.pad_token_id
        config = settings(DECODING, (self.end,), self.end if pad is None else pad)
        for group, meant in in_groups(triples, size):
            given = self.tokenizer([asked(one.sources) for one in group], padding=True, return_tensors="pt")
            with self._torch.inference_mode():
                made = self.model.generate(**{name: given[name].to(self.device) for name in
                    ("input_ids", "attention_mask")}, **config)  # fmt: skip
            best = readings(made, (self.end,))[:: DECODING.beams][:meant]
            found += [
                " ".join(self.tokenizer.decode(list(one.tokens), skip_special_tokens=True).split())
                for one in best
            ]
        return found
