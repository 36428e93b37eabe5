"""Texts out of a model of transformers: beams or draws by its `generate`, each with its log-probability.

A model's arithmetic differs in the last bits with the shape of its input, and beams can part ways on a last bit. So
pictures go through a model in groups of one size, the last one filled up, and draws are made picture by picture.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from PIL import Image

from sightline.errors import UsageError, extra
from sightline.generate.base import Axis, Candidate, Decoding, Described
from sightline.generate.drawing import picture_seed

AT_ONCE: Final = {"cpu": 8, "cuda": 64}
"""Pictures that go through a model together, where there is memory for them."""

T = TypeVar("T")


@dataclass(frozen=True)
class Reading:
    """One text as a model gave it."""

    tokens: tuple[int, ...]
    """Without the end."""
    log_probability: float
    """Its end included."""


def settings(decoding: Decoding, ends: Sequence[int], pad: int) -> dict[str, Any]:
    """What `generate` is told. A text that reaches its greatest length is ended there."""
    chosen: dict[str, Any] = (
        {
            "do_sample": True,
            "num_beams": 1,
            "num_return_sequences": decoding.samples,
            "temperature": decoding.temperature,
            "top_k": decoding.top_k,
            "top_p": decoding.top_p,
        }
        if decoding.samples
        else {"do_sample": False, "num_beams": decoding.beams, "num_return_sequences": decoding.beams}
    )
    return {
        **chosen,
        "max_new_tokens": decoding.length + 1,
        "eos_token_id": list(ends),
        "forced_eos_token_id": ends[0],
        "pad_token_id": pad,
        "return_dict_in_generate": True,
        "output_logits": True,
    }


def readings(found: Any, ends: Sequence[int]) -> list[Reading]:
    """What `generate` gave, with the log-probability of each text under the model itself, at temperature 1."""
    torch = extra("torch", "torch")
    steps = len(found.logits)
    tokens = found.sequences[:, -steps:]
    beams = getattr(found, "beam_indices", None)
    rows = torch.arange(len(tokens), device=tokens.device)
    total = torch.zeros(len(tokens), device=tokens.device)
    going = torch.ones(len(tokens), dtype=torch.bool, device=tokens.device)
    stops = torch.tensor(list(ends), device=tokens.device)
    lengths = torch.zeros(len(tokens), dtype=torch.long, device=tokens.device)
    for step in range(steps):
        row = rows if beams is None else beams[:, step].clamp(min=0).long()
        chances = found.logits[step].float()[row].log_softmax(-1)
        total += torch.where(going, chances.gather(1, tokens[:, step : step + 1])[:, 0], 0)
        going &= ~torch.isin(tokens[:, step], stops)
        lengths += going
    return [
        Reading(tuple(row[:length]), value)
        for row, length, value in zip(tokens.tolist(), lengths.tolist(), total.tolist(), strict=True)
    ]


def candidates(found: Sequence[Reading], text: Callable[[Sequence[int]], str]) -> list[Candidate]:
    """The readings of one picture as texts, each text once, in their order."""
    by_text: dict[str, Candidate] = {}
    for one in found:
        said = " ".join(text(one.tokens).split())
        by_text.setdefault(said, Candidate(said, one.log_probability))
    return list(by_text.values())


def likeliest_first(found: Sequence[Candidate]) -> list[Candidate]:
    """Draws have no order of their own."""
    return sorted(found, key=lambda one: -(one.log_probability or 0.0))


def in_groups(things: Sequence[T], size: int) -> Iterator[tuple[list[T], int]]:
    """So many at a time, the last group filled up with its last; and how many of each are meant."""
    for start in range(0, len(things), size):
        group = list(things[start : start + size])
        yield [*group, *[group[-1]] * (size - len(group))], len(group)


def with_room(kind: str, size: int, work: Callable[[int], T]) -> T:
    """What the work gives, done in smaller groups where memory does not hold so large ones."""
    while True:
        try:
            return work(size)
        except (MemoryError, RuntimeError) as fault:
            if not is_out_of_memory(fault):
                raise
            if size == 1:
                raise UsageError(
                    f"{kind}: there is not enough memory for one picture at a time; use a smaller model or fewer "
                    "beams, or run it on the CPU with SIGHTLINE_DEVICE=cpu"
                ) from None
            torch = extra("torch", "torch")
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            size //= 2


def is_out_of_memory(fault: Exception) -> bool:
    """Whether memory ran out: PyTorch tells it of the CPU as a plain RuntimeError."""
    if isinstance(fault, MemoryError) or type(fault).__name__ == "OutOfMemoryError":
        return True
    return "not enough memory" in str(fault) or "out of memory" in str(fault)


class Generating:
    """A captioner on a model of transformers. Says how pictures are described; what a model is, its kinds say."""

    device: str
    signature: str

    def generate(self, pictures: Sequence[Image.Image], decoding: Decoding) -> list[Reading]:
        """The readings of all pictures, one picture after the other."""
        raise TypeError(f"{type(self).__name__} does not say how it generates")

    def text(self, tokens: Sequence[int]) -> str:
        raise TypeError(f"{type(self).__name__} does not say how it writes")

    def describe(
        self, pictures: Sequence[Image.Image], axis: Axis, decoding: Decoding
    ) -> Sequence[Described]:
        if decoding.samples:
            drawn = [self._drawn(picture, decoding) for picture in pictures]
            return [likeliest_first(candidates(rows, self.text)) for rows in drawn]
        size = AT_ONCE.get(self.device.split(":")[0], 8)
        found = with_room(self.signature, size, lambda size: self._searched(pictures, decoding, size))
        return [candidates(rows, self.text) for rows in found]

    def _searched(
        self, pictures: Sequence[Image.Image], decoding: Decoding, size: int
    ) -> list[list[Reading]]:
        found: list[list[Reading]] = []
        for group, meant in in_groups(pictures, size):
            rows = self.generate(group, decoding)
            by_picture = [rows[n : n + decoding.beams] for n in range(0, len(rows), decoding.beams)]
            found += by_picture[:meant]
        return found

    def _drawn(self, picture: Image.Image, decoding: Decoding) -> list[Reading]:
        torch = extra("torch", "torch")
        with torch.random.fork_rng(devices=[self.device] if self.device.startswith("cuda") else []):
            torch.manual_seed(picture_seed(picture, decoding))
            return with_room(self.signature, 1, lambda _: self.generate([picture], decoding))
