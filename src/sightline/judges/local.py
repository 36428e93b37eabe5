"""A judge that runs here: an image-text-to-text model of transformers. `local:NAME-or-PATH`"""

import threading
from dataclasses import replace
from typing import Any

from sightline.chat import Token
from sightline.errors import Unscorable, UsageError, extra
from sightline.hub import device, load_pretrained
from sightline.judges.base import Access, Decoding, Question, Reply, judges
from sightline.judges.showing import shown_as


@judges.add("local")
def local(argument: str, access: Access) -> "Local":
    """An image-text-to-text model of transformers: `local:NAME-or-PATH`."""
    if not argument:
        raise UsageError("judge:model=local: names no model; write local:NAME-or-PATH")
    return Local(argument)


class Local:
    """One question at a time, so that an answer does not depend on the questions beside it."""

    alternatives = (20,)
    at_once = 1

    def __init__(self, name: str) -> None:
        self._torch = extra("torch", "torch")
        transformers = extra("transformers", "torch")
        self._device = device()
        precision = "bf16" if self._device.startswith("cuda") else "fp32"
        dtype = self._torch.bfloat16 if precision == "bf16" else self._torch.float32
        resource, (model, processor) = load_pretrained(
            "judge",
            name,
            lambda name: transformers.AutoModelForImageTextToText.from_pretrained(name, dtype=dtype),
            transformers.AutoProcessor.from_pretrained,
        )
        if not getattr(processor, "chat_template", None):
            raise UsageError(f"{name}: the model has no chat template, so that it cannot be asked")
        self._model: Any = model.eval().to(self._device)
        self._processor: Any = processor
        self.resource = replace(resource, device=self._device, precision=precision)
        self._name = str(model.config.model_type)
        self._lock = threading.Lock()

    @property
    def signature(self) -> str:
        beside = "" if self.resource.precision == "fp32" else f"/{self.resource.precision}"
        return f"{self._name}@{self.resource.digest}{beside}"

    def ask(self, question: Question, decoding: Decoding) -> Reply:
        with self._lock:
            given = self._prepared(question)
            start = given["input_ids"].shape[1]
            if decoding.temperature:
                self._torch.manual_seed(decoding.seed)
            with self._torch.inference_mode():
                made = self._model.generate(
                    **given,
                    max_new_tokens=decoding.length,
                    do_sample=bool(decoding.temperature),
                    **({"temperature": decoding.temperature} if decoding.temperature else {}),
                    output_logits=bool(decoding.alternatives),
                    return_dict_in_generate=True,
                )
            ids = made.sequences[0, start:].tolist()
            tokens = self._tokens(ids, made.logits, decoding.alternatives) if decoding.alternatives else ()
            text = "".join(token.text for token in tokens) if tokens else self._decoded(ids)
            return Reply(text, tokens, "", start, len(ids))

    def _prepared(self, question: Question) -> Any:
        """The question through the model's own chat template; a template without a system's part gets it before the
        words."""
        images = [shown_as(picture) for picture in question.pictures]
        pictures: list[dict[str, Any]] = [{"type": "image", "image": image} for image in images]

        def content(words: str) -> list[dict[str, Any]]:
            return [*pictures, {"type": "text", "text": words}]

        alone = [{"role": "user", "content": content(f"{question.system}\n\n{question.words}")}]
        apart = [
            {"role": "system", "content": [{"type": "text", "text": question.system}]},
            {"role": "user", "content": content(question.words)},
        ]
        fault: Exception | None = None
        for messages in (apart, alone):
            try:
                found = self._processor.apply_chat_template(
                    messages, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
                )
                return found.to(self._device, self._model.dtype)
            except Exception as other:  # templates and processors each raise their own
                fault = other
        raise Unscorable(
            f"the judge's model does not take this question ({' '.join(str(fault).split())[:120]})"
        )

    def _tokens(self, ids: list[int], logits: Any, count: int) -> tuple[Token, ...]:
        """The answer's tokens without its end, each with the likeliest in its place."""
        found, skipped = [], set(self._processor.tokenizer.all_special_ids)
        for number, (own, row) in enumerate(zip(ids, logits, strict=True)):
            if own in skipped:
                continue
            logs = self._torch.log_softmax(row[0].float(), dim=-1)
            top = self._torch.topk(logs, min(count, len(logs)))
            before = ids[:number]
            text = self._piece(before, own)
            near = {
                self._piece(before, int(one)): float(p)
                for one, p in zip(reversed(top.indices.tolist()), reversed(top.values.tolist()), strict=True)
            }
            found.append(Token(text, float(logs[own]), near))
        return tuple(found)

    def _piece(self, before: list[int], one: int) -> str:
        """What a token adds to the text before it."""
        known = self._decoded(before)
        return self._decoded([*before, one])[len(known) :]

    def _decoded(self, ids: list[int]) -> str:
        text: str = self._processor.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text
