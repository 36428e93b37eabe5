"""Rated pairs of a picture and a caption, encoded once: what a rater learns from."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.encoders import Embedder
from sightline.errors import Unscorable, UsageError
from sightline.io import read_items
from sightline.items import Item
from sightline.meta.protocols import make_protocol
from sightline.registry import parse_spec
from sightline.vision import Pictures

Ints = NDArray[np.int64]
PREFERRED = ("overall", "quality", "match", "expert", "all", "yes", "correctness")
"""Criteria that a data set may call what a caption rater predicts, where it has several."""
COPY = 0.98
"""Pictures whose vectors have a larger cosine are taken for copies of one another."""
AT_ONCE = 64


@dataclass(frozen=True)
class RatedSet:
    """One data set of rated pairs. Rows of `image` and `text` are shared by many pairs."""

    name: str
    image: NDArray[np.float32]
    text: NDArray[np.float32]
    picture: Ints
    """Of each pair: its row in `image`."""
    caption: Ints
    ratings: tuple[tuple[float, ...], ...]
    group: tuple[str, ...]
    """Of each picture: copies of one picture share their group, whatever the files are called."""
    ids: tuple[str, ...]
    failures: tuple[tuple[str, str], ...] = ()
    """Items left out, with the reason: a picture that is missing, a story."""
    copies: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def mean(self) -> NDArray[np.float64]:
        return np.array([np.mean(values) for values in self.ratings], np.float64)

    @property
    def groups(self) -> NDArray[np.str_]:
        """Of each pair: the group of its picture."""
        return np.array(self.group)[self.picture]

    @property
    def vectors(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Of each pair: its picture's and its caption's vector."""
        return self.image[self.picture], self.text[self.caption]

    @property
    def cosine(self) -> NDArray[np.float64]:
        return np.einsum("nd,nd->n", *self.vectors).astype(np.float64)

    def of(self, rows: Ints) -> "RatedSet":
        """Some of the pairs."""
        return RatedSet(
            self.name,
            self.image,
            self.text,
            self.picture[rows],
            self.caption[rows],
            tuple(self.ratings[n] for n in rows),
            self.group,
            tuple(self.ids[n] for n in rows),
        )

    def told(self) -> dict[str, Any]:
        """What a model's file says about the data it learned from."""
        return {
            "name": self.name,
            "pairs": len(self),
            "ratings": sum(map(len, self.ratings)),
            "pictures": len(set(self.groups.tolist())),
        }


def rated_items(
    source: str, data: Path | None, criterion: str | None, format: str | None = None
) -> tuple[str, list[Item]]:
    """Items of a file (any format with ratings) or of a published protocol (`flickr8k-expert`, with --data)."""
    if Path(source).is_file():
        name, items = Path(source).name, list(read_items(Path(source), format=format))
    elif data is None:
        raise UsageError(f"'{source}' is no file; to read it as a published protocol, give --data DIR too")
    else:
        name, items = parse_spec(source)[0], make_protocol(source).items(data)
    rated = [item for item in items if any(item.ratings.values())]
    if not rated:
        raise UsageError(f"{source}: no item has ratings, so there is nothing to learn from")
    named = criterion or _criterion(source, rated)
    kept = [item for item in rated if item.ratings.get(named)]
    if not kept:
        known = ", ".join(sorted({each for item in rated for each in item.ratings}))
        raise UsageError(f"{source}: no item is rated on '{named}'; there is {known}")
    return name, [_only(item, named) for item in kept]


def _criterion(source: str, items: Sequence[Item]) -> str:
    names = list(dict.fromkeys(name for item in items for name, values in item.ratings.items() if values))
    if len(names) == 1:
        return names[0]
    found = next((name for name in PREFERRED if name in names), None)
    if found is None:
        raise UsageError(f"{source}: rated on {', '.join(names)}; say which with --criterion")
    return found


def _only(item: Item, criterion: str) -> Item:
    return replace(item, ratings={"rating": item.ratings[criterion]})


def encode(
    name: str,
    items: Iterable[Item],
    embedder: Embedder,
    pictures: Pictures,
    progress: Callable[[str, int], None] = lambda stage, done: None,
) -> RatedSet:
    """Encode each picture and each caption once. What cannot be read is left out and told."""
    rows: dict[Path, int] = {}
    bad: dict[Path, str] = {}
    vectors: list[NDArray[np.float32]] = []
    digests: list[str] = []
    waiting: list[Any] = []
    kept: list[Item] = []
    failures: list[tuple[str, str]] = []
    prompt = embedder.encoder.prompt

    def flush() -> None:
        if waiting:
            vectors.append(embedder.regions([(picture, None) for picture in waiting]))
            waiting.clear()

    for item in items:
        if not item.is_caption:
            failures.append((item.id, f"{len(item.images)} pictures: a rater learns from captions of one"))
            continue
        path = item.images[0]
        if path not in rows and path not in bad:
            try:
                picture = pictures.load(path)
            except Unscorable as reason:
                bad[path] = str(reason)
            else:
                rows[path] = len(digests)
                digests.append(picture.digest)
                waiting.append(picture)
                if len(waiting) >= AT_ONCE:
                    flush()
                    progress(f"pictures of {name}", len(digests))
        if path in bad:
            failures.append((item.id, bad[path]))
        else:
            kept.append(item)
    flush()
    if not kept:
        first = f"; the first: {failures[0][1]}" if failures else ""
        raise UsageError(f"{name}: no rated caption has a picture that can be read{first}")
    image = np.concatenate(vectors)
    texts = {text: row for row, text in enumerate(dict.fromkeys(item.whole_text for item in kept))}
    group = _groups(digests, image)
    return RatedSet(
        name,
        image,
        embedder.texts([prompt + text for text in texts]),
        np.array([rows[item.images[0]] for item in kept], np.int64),
        np.array([texts[item.whole_text] for item in kept], np.int64),
        tuple(tuple(item.ratings["rating"]) for item in kept),
        group,
        tuple(item.id for item in kept),
        tuple(failures),
        len(group) - len(set(group)),
    )


def _groups(digests: Sequence[str], image: NDArray[np.float32]) -> tuple[str, ...]:
    """Equal files are one group, and so are pictures whose vectors all but coincide: a resized or renamed copy."""
    parent = list(range(len(digests)))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    first: dict[str, int] = {}
    for n, digest in enumerate(digests):
        parent[root(n)] = root(first.setdefault(digest, n))
    for start in range(0, len(image), 512):
        near = np.argwhere(image[start : start + 512] @ image.T > COPY)
        for one, other in near[near[:, 0] + start < near[:, 1]]:
            parent[root(int(other))] = root(int(one) + start)
    return tuple(digests[root(n)] for n in range(len(digests)))


def combined(sets: Sequence[RatedSet]) -> RatedSet:
    """Several data sets as one, levels as they are. A picture in two of them, by whatever name, is one group."""
    if len(sets) == 1:
        return sets[0]
    image = np.concatenate([one.image for one in sets])
    pictures = np.cumsum([0, *(len(one.image) for one in sets)])
    captions = np.cumsum([0, *(len(one.text) for one in sets)])
    group = _groups([name for one in sets for name in one.group], image)
    return RatedSet(
        " + ".join(one.name for one in sets),
        image,
        np.concatenate([one.text for one in sets]),
        np.concatenate([one.picture + start for one, start in zip(sets, pictures, strict=False)]),
        np.concatenate([one.caption + start for one, start in zip(sets, captions, strict=False)]),
        tuple(values for one in sets for values in one.ratings),
        group,
        tuple(f"{one.name}:{id}" for one in sets for id in one.ids),
        tuple(failure for one in sets for failure in one.failures),
        len(group) - len(set(group)),
    )


def check_scale(sets: Sequence[RatedSet], scale: tuple[float, float] | None) -> tuple[float, float]:
    """The scale: as given, and then no rating may lie outside; else from the lowest to the highest rating."""
    values = np.concatenate([np.array(values, float) for one in sets for values in one.ratings])
    if scale is None:
        low, high = float(values.min()), float(values.max())
        if low == high:
            raise UsageError(f"every rating is {low:g}: constant ratings cannot be learned from")
        return low, high
    for one in sets:
        for id, given in zip(one.ids, one.ratings, strict=True):
            if any(not scale[0] <= value <= scale[1] for value in given):
                shown = ", ".join(f"{value:g}" for value in given)
                raise UsageError(
                    f"{one.name}: item '{id}' is rated {shown}, outside the scale from {scale[0]:g} to {scale[1]:g}"
                )
    if (values == values[0]).all():
        raise UsageError(f"every rating is {values[0]:g}: constant ratings cannot be learned from")
    return scale


def parse_scale(text: str) -> tuple[float, float]:
    """`1-5`."""
    found = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*-\s*(-?\d+(?:\.\d+)?)\s*", text)
    if not found or float(found[1]) >= float(found[2]):
        raise UsageError(f"--scale {text}: write it as 1-5, the lowest level first")
    return float(found[1]), float(found[2])


def distribution(pairs: RatedSet) -> dict[int, int]:
    """Pairs by their rounded mean rating (half up), as in the paper's Figure 5."""
    levels, counts = np.unique(np.floor(pairs.mean + 0.5), return_counts=True)
    return {int(level): int(count) for level, count in zip(levels, counts, strict=True)}
