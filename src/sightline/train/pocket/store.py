"""Everything training reads, on the device: decoded pictures, texts with their teacher vectors, boxes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sightline.train.pocket.pack import decode_square, read_pack
from sightline.train.pocket.phrases import COCO_CLASSES, content_words, phrases_of
from sightline.train.pocket.teacher import Teacher

SMALLEST_REGION = 0.12
"""Boxes with a shorter side than this share of the picture are too blurred to learn from."""


@dataclass
class TaughtTexts:
    """Texts as teacher vectors and word pieces."""

    vectors: Any
    pieces: Any


@dataclass
class Store:
    """The training set. Captioned pictures first in `photos`: Flickr8k, then COCO; uncaptioned COCO after them."""

    flickr: Any
    coco: Any
    tiny: Any
    flickr_captions: Any
    """[picture, 5] rows of `captions`."""
    coco_captions: Any
    captions: TaughtTexts
    coco_captioned: Any
    coco_uncaptioned: Any
    words: Any
    """[captioned picture, word] share of its captions that say the word; Flickr8k's rows, then captioned COCO's."""
    present: Any
    """[COCO picture, class] which classes it shows."""
    region_image: Any
    region_box: Any
    region_class: Any
    region_text: Any
    """Row of `labels`: the phrase a caption uses for the region, or its class."""
    labels: TaughtTexts
    class_text: Any
    """[80] rows of `labels` for the class names."""
    tiny_class: Any
    tiny_text: Any
    loose: TaughtTexts
    """Single words and made-up phrases, so that the text network follows its teacher beyond captions."""
    dev_images: Any
    dev_captions: TaughtTexts
    table: Any
    pieces: list[str]


def load_store(
    folder: Path, teacher: Teacher, device: str, workers: int = 16, seed: int = 0, made: int = 60_000
) -> Store:
    rng = np.random.default_rng(seed)
    flickr_bytes, flickr = read_pack(folder, "flickr")
    coco_bytes, coco = read_pack(folder, "coco_train")
    tiny_bytes, tiny = read_pack(folder, "tiny")
    dev = [n for n, row in enumerate(flickr) if row["dev"]]
    train = [n for n, row in enumerate(flickr) if not row["dev"] and row["captions"]]
    captioned = [n for n, row in enumerate(coco) if row["captions"]]
    groups = [flickr[n]["captions"] for n in train] + [coco[n]["captions"] for n in captioned]
    texts = [caption for group in groups for caption in group]
    starts = np.cumsum([0, *map(len, groups)])
    five = np.stack(
        [start + np.resize(np.arange(len(group)), 5) for start, group in zip(starts, groups, strict=False)]
    )

    kept, pieces = teacher.kept_pieces()
    compact = torch.ones(len(teacher.tokenizer), dtype=torch.long, device=device)
    compact[torch.as_tensor(kept, device=device)] = torch.arange(len(kept), device=device)
    compact[0] = 0

    def embed(some: list[str]) -> TaughtTexts:
        vectors, ids = teacher.embed(some)
        first, last = teacher.tokenizer.cls_token_id, teacher.tokenizer.sep_token_id
        ids = torch.where((ids == first) | (ids == last), 0, ids)[:, 1:]
        return TaughtTexts(vectors, compact[ids])

    regions = _regions(coco, rng)
    labels: dict[str, int] = {}
    for name in COCO_CLASSES:
        labels.setdefault(f"a {name}", len(labels))
    tiny_names = sorted({row["name"] for row in tiny})
    for text in [*(f"a {name}" for name in tiny_names), *regions["text"]]:
        labels.setdefault(text, len(labels))

    def on(array: Any, kind: Any = torch.long) -> Any:
        return torch.as_tensor(np.asarray(array), dtype=kind, device=device)

    return Store(
        flickr=on(decode_square([flickr_bytes[n] for n in train], 128, workers), torch.uint8),
        coco=on(decode_square(coco_bytes, 112, workers), torch.uint8),
        tiny=on(decode_square(tiny_bytes, 64, workers), torch.uint8),
        flickr_captions=on(five[: len(train)]),
        coco_captions=on(five[len(train) :]),
        captions=embed(texts),
        coco_captioned=on(captioned),
        coco_uncaptioned=on([n for n, row in enumerate(coco) if not row["captions"]] or captioned),
        words=on(_word_shares(groups), torch.float16),
        present=on(_present(coco), torch.float16),
        region_image=on(regions["image"]),
        region_box=on(regions["box"], torch.float32),
        region_class=on(regions["class"]),
        region_text=on([labels[text] for text in regions["text"]]),
        labels=embed(list(labels)),
        class_text=on([labels[f"a {name}"] for name in COCO_CLASSES]),
        tiny_class=on([tiny_names.index(row["name"]) for row in tiny]),
        tiny_text=on([labels[f"a {name}"] for name in tiny_names]),
        loose=embed(_loose_texts(pieces, rng, made)),
        dev_images=on(decode_square([flickr_bytes[n] for n in dev], 128, workers), torch.uint8),
        dev_captions=embed([caption for n in dev for caption in flickr[n]["captions"][:5]]),
        table=torch.as_tensor(teacher.piece_vectors(kept), device=device),
        pieces=pieces,
    )


def _regions(coco: list[dict[str, Any]], rng: np.random.Generator) -> dict[str, list[Any]]:
    """Boxes large enough to learn from, each with a phrase for its class from the captions where there is one."""
    found: dict[str, list[Any]] = {"image": [], "box": [], "class": [], "text": []}
    for number, row in enumerate(coco):
        said: dict[int, list[str]] = {}
        for caption in row["captions"]:
            for phrase, category in phrases_of(caption):
                said.setdefault(category, []).append(phrase)
        for category, (cx, cy, w, h) in zip(row["category"], np.reshape(row["box"], (-1, 4)), strict=True):
            if min(w, h) < SMALLEST_REGION:
                continue
            phrases = said.get(category)
            found["image"].append(number)
            found["box"].append((cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2))
            found["class"].append(category)
            found["text"].append(str(rng.choice(phrases)) if phrases else f"a {COCO_CLASSES[category]}")
    return found


def _word_shares(groups: list[list[str]], most: int = 2000) -> Any:
    place = {word: n for n, word in enumerate(content_words(groups, most))}
    shares = np.zeros((len(groups), len(place)), np.float16)
    for row, group in zip(shares, groups, strict=True):
        for caption in group:
            for word in set(caption.lower().replace(".", " ").replace(",", " ").split()):
                if word in place:
                    row[place[word]] += 1 / len(group)
    return shares


def _present(coco: list[dict[str, Any]]) -> Any:
    shown = np.zeros((len(coco), len(COCO_CLASSES)), np.float16)
    for row, about in zip(shown, coco, strict=True):
        row[about["category"]] = 1
    return shown


def _loose_texts(pieces: list[str], rng: np.random.Generator, made: int) -> list[str]:
    """Whole words the teacher knows, alone, with an article, and in `made` made-up phrases."""
    words = [piece for piece in pieces[2:] if piece.isalpha() and len(piece) > 2][:made]
    openers = ("the a an two my our his her their some many this ").split()
    qualities = (
        "big small old young red blue green white black brown yellow wooden happy little "
        "long beautiful new dark bright large tall wet dirty colorful empty full "
    ).split()
    joins = ("in on with near of at behind by ").split()
    texts = words + [f"the {word}" for word in words]

    def draw(some: list[str]) -> list[str]:
        return [some[n] for n in rng.integers(len(some), size=made)]

    parts = zip(
        draw(openers),
        draw(qualities),
        draw(joins),
        draw(words),
        draw(words),
        rng.integers(4, size=made),
        strict=True,
    )
    for opener, quality, join, a, b, form in parts:
        forms = (f"{opener} {quality} {a}", f"{opener} {a}", f"{opener} {a} {join} the {b}", f"{a} {b}")
        texts.append(forms[form])
    return texts
