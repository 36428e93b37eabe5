"""Rated pairs of a picture and a caption, encoded once: what a rater learns from."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.encoders import Embedder
from sightline.encoders.pair_vectors import PairVectors
from sightline.encoders.rater import fingerprint, same_picture
from sightline.encoders.together import Together
from sightline.errors import Unscorable, UsageError
from sightline.items import Failure, Item
from sightline.train.rater.sources import METRIC
from sightline.vision import Picture, Pictures

Ints = NDArray[np.int64]
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
    prints: NDArray[np.uint8]
    """Of each picture: its fingerprint, by which copies are known whatever the encoder."""
    failures: tuple[Failure, ...] = ()
    """What was left out, with the reason: a line that is no item, a picture that is missing, a story."""
    copies: int = 0
    read: NDArray[np.float32] | None = None
    """[pair, number]: what the reading network made of each, where it is asked."""

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

    def seen_as(self, vectors: PairVectors) -> "RatedSet":
        """The same pairs with other vectors, of each pair as a whole; groups and fingerprints stay the pictures'."""
        missing = [id for id in self.ids if id not in vectors]
        if missing:
            raise UsageError(
                f"{vectors.resource.given}: no vector for '{missing[0]}' of {self.name}"
                + (f" and {len(missing) - 1} others" if len(missing) > 1 else "")
            )
        image, text = vectors.of(list(self.ids))
        rows = np.arange(len(self))
        groups = tuple(self.group[n] for n in self.picture)
        return replace(
            self,
            image=image,
            text=text,
            picture=rows,
            caption=rows,
            group=groups,
            prints=self.prints[self.picture],
        )

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
            self.prints,
            read=None if self.read is None else self.read[rows],
        )

    def told(self) -> dict[str, Any]:
        """What a model's file says about the data it learned from."""
        return {
            "name": self.name,
            "pairs": len(self),
            "ratings": sum(map(len, self.ratings)),
            "pictures": len(set(self.groups.tolist())),
        }


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Names as they are; where one recurs, `a.jsonl (2)`."""
    found: dict[str, None] = {}
    times: Counter[str] = Counter()
    for name in names:
        own = name
        while own in found:
            times[name] += 1
            own = f"{name} ({times[name] + 1})"
        found[own] = None
    return tuple(found)


def encode(
    name: str,
    items: Iterable[Item],
    embedder: Embedder,
    pictures: Pictures,
    progress: Callable[[str, int], None] = lambda stage, done: None,
    failures: Sequence[Failure] = (),
    reader: Together | None = None,
) -> RatedSet:
    """Encode each picture and each caption once. What cannot be read is left out and told. With a reading network,
    each pair is read together too."""
    rows: dict[Path, int] = {}
    bad: dict[Path, str] = {}
    vectors: list[NDArray[np.float32]] = []
    digests: list[str] = []
    prints: list[NDArray[np.uint8]] = []
    waiting: list[Picture] = []
    kept: list[Item] = []
    left_out = list(failures)
    prompt = embedder.calibration.prompt

    def flush() -> None:
        if waiting:
            vectors.append(embedder.regions([(picture, None) for picture in waiting]))
            waiting.clear()

    for item in items:
        if not item.is_caption:
            reason = f"{len(item.images)} pictures: a rater learns from captions of one"
            left_out.append(Failure(item.id, METRIC, reason, item.source))
            continue
        path = item.images[0]
        if path not in rows and path not in bad:
            try:
                picture = pictures.load(path)
            except Unscorable as fault:
                bad[path] = str(fault)
            else:
                rows[path] = len(digests)
                digests.append(picture.digest)
                prints.append(fingerprint(picture.crop()))
                waiting.append(picture)
                if len(waiting) >= AT_ONCE:
                    flush()
                    progress(f"pictures of {name}", len(digests))
        if path in bad:
            left_out.append(Failure(item.id, METRIC, bad[path], item.source))
        else:
            kept.append(item)
    flush()
    if not kept:
        first = f"; the first: {left_out[0].reason}" if left_out else ""
        raise UsageError(f"{name}: no rated caption has a picture that can be read{first}")
    image = np.concatenate(vectors)
    texts = {text: row for row, text in enumerate(dict.fromkeys(item.whole_text for item in kept))}
    group = _groups(digests, np.stack(prints))
    return RatedSet(
        name,
        image,
        embedder.texts([prompt + text for text in texts]),
        np.array([rows[item.images[0]] for item in kept], np.int64),
        np.array([texts[item.whole_text] for item in kept], np.int64),
        tuple(tuple(item.ratings["rating"]) for item in kept),
        group,
        unique(item.id for item in kept),
        np.stack(prints),
        tuple(left_out),
        len(group) - len(set(group)),
        None if reader is None else _read(kept, embedder, pictures, reader),
    )


def _read(
    items: Sequence[Item], embedder: Embedder, pictures: Pictures, reader: Together
) -> NDArray[np.float32]:
    """What the network makes of each pair."""
    rows = []
    for start in range(0, len(items), AT_ONCE):
        part = items[start : start + AT_ONCE]
        maps = reader.maps([pictures.load(item.images[0]) for item in part], embedder.store)
        rows += [
            reader.read(seen, item.whole_text, words=False).numbers
            for seen, item in zip(maps, part, strict=True)
        ]
    return np.stack(rows)


def _groups(digests: Sequence[str], prints: NDArray[np.uint8]) -> tuple[str, ...]:
    """Equal files are one group, and so are pictures whose fingerprints all but coincide: a resized copy."""
    parent = list(range(len(digests)))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    first: dict[str, int] = {}
    for n, digest in enumerate(digests):
        parent[root(n)] = root(first.setdefault(digest, n))
    for start in range(0, len(prints), AT_ONCE):
        near = np.argwhere(same_picture(prints[start : start + AT_ONCE], prints))
        for one, other in near[near[:, 0] + start < near[:, 1]]:
            parent[root(int(other))] = root(int(one) + start)
    return tuple(digests[root(n)] for n in range(len(digests)))


def combined(sets: Sequence[RatedSet]) -> RatedSet:
    """Several data sets as one, levels as they are. A picture in two of them, by whatever name, is one group."""
    if len(sets) == 1:
        return sets[0]
    prints = np.concatenate([one.prints for one in sets])
    pictures = np.cumsum([0, *(len(one.image) for one in sets)])
    captions = np.cumsum([0, *(len(one.text) for one in sets)])
    group = _groups([name for one in sets for name in one.group], prints)
    return RatedSet(
        " + ".join(one.name for one in sets),
        np.concatenate([one.image for one in sets]),
        np.concatenate([one.text for one in sets]),
        np.concatenate([one.picture + start for one, start in zip(sets, pictures, strict=False)]),
        np.concatenate([one.caption + start for one, start in zip(sets, captions, strict=False)]),
        tuple(values for one in sets for values in one.ratings),
        group,
        unique(f"{one.name}:{id}" for one in sets for id in one.ids),
        prints,
        tuple(failure for one in sets for failure in one.failures),
        len(group) - len(set(group)),
        None if sets[0].read is None else np.concatenate([one.read for one in sets if one.read is not None]),
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
