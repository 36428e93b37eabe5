"""The tokeniser against Stanford's, as pycocoevalcap drives it."""

import csv
import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.text import ptb
from skipping import skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A man's dog can't swim.", "a man 's dog ca n't swim"),
        ("Don't! They're gonna leave", "do n't they 're gon na leave"),
        ("I cannot see it...", "i can not see it"),
        ("close-up of a T-shirt, 3D", "close-up of a t-shirt 3d"),
        ("the 1950s, 4x4 and 7th", "the 1950s 4x4 and 7th"),
        ("5 o'clock at 10:30 p.m.", "5 o'clock at 10:30 p.m."),
        ("a sign (blue) [male]", "a sign -lrb- blue -rrb- -lsb- male -rsb-"),
        ("his/her $4 & #25", "his/her $ 4 & # 25"),
        ("someone’s “hand” – up", "someone 's hand up"),
        ("scene.The man", "scene.the man"),
        ("1 1/2 dogs", "1\u00a01/2 dogs"),
        ("at&t but AT&T", "at & t but at&t"),
        ("Mr. Smith, St. Louis vs. us", "mr. smith st. louis vs. us"),
        ("slip 'n' slide", "slip 'n' slide"),
        ("U. Miami, plan B. The end", "u. miami plan b the end"),
        ("", ""),
        (" \t\n", ""),
        ("wait...!?", "wait !?"),
        ("... - ;", ""),
    ],
)
def test_known_tokens(text: str, expected: str) -> None:
    assert ptb.tokens(text) == (expected.split(" ") if expected else [])


def test_odd_strings_are_read_as_the_java_tokeniser_reads_them() -> None:
    """2,000 captions and tweets made of odd pieces, with what Stanford's PTBTokenizer 3.4.1 makes of each alone."""
    with gzip.open(Path(__file__).with_name("ptb_odd.tsv.gz"), "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    different = [
        text for text, java in rows if ptb.tokens(text) != [word for word in java.split(" ") if word]
    ]
    assert len(rows) == 2000
    assert len(different) <= 1, different


@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    found = ptb.tokens(text)
    assert found == ptb.tokens(text)
    assert all(token and token not in ptb.PUNCTUATION and " " not in token for token in found)


def captions(data: Path) -> Iterator[str]:
    """Every caption and story sentence of the shared data."""

    def rows(name: str) -> Iterator[dict]:  # type: ignore[type-arg]
        with gzip.open(data / name, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)

    with gzip.open(data / "flickr8k_captions.tsv.gz", "rt", encoding="utf-8") as lines:
        yield from (line.rstrip("\n").split("\t")[1] for line in lines)
    for row in rows("coco_captions.jsonl.gz"):
        yield from row["captions"]
    for name in ("coco_eval_references.jsonl.gz", "vist_test_references.jsonl.gz"):
        for row in rows(name):
            yield from row["references"]
    yield from (row["caption"] for row in rows("composite.jsonl.gz"))
    for row in rows("hl_test.jsonl.gz"):
        for texts in row["captions"].values():
            yield from texts
    for name in ("vist_val_stories.jsonl.gz", "vist_test_stories.jsonl.gz"):
        for row in rows(name):
            yield from row["sentences"]
    yield from (row["story"] for row in rows("vist_arel_stories.jsonl.gz"))
    with (data / "vicr_sample.csv").open(encoding="utf-8-sig") as lines:
        yield from (row["caption"] for row in csv.DictReader(lines))


@pytest.mark.java
@pytest.mark.data
def test_equals_the_java_tokeniser(data: Path) -> None:
    if shutil.which("java") is None:
        skip("there is no Java to compare with")
    tokenizer = pytest.importorskip("pycocoevalcap.tokenizer.ptbtokenizer")
    texts = list(captions(data))
    java = tokenizer.PTBTokenizer().tokenize({n: [{"caption": text}] for n, text in enumerate(texts)})
    different = [text for n, text in enumerate(texts) if java[n][0] != " ".join(ptb.tokens(text))]
    assert len(texts) > 200_000
    assert len(different) / len(texts) <= 0.001, different[:10]
