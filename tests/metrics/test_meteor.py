"""METEOR against its own jar and the published number of a VIST system."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline import score
from sightline.errors import UsageError
from sightline.features.meteor import count_matches, from_java
from sightline.items import Item
from sightline.jars import ask_meteor, installed_meteor
from sightline.meta.protocols import make_protocol
from sightline.metrics.meteor import meteor
from sightline.resources import Resource
from sightline.text import ptb
from sightline.text.alignment import align
from sightline.text.meteor_words import normal
from sightline.text.paraphrases import load_paraphrases
from sightline.text.wordnet import WordNet, load_wordnet
from skipping import skip

# What METEOR 1.5's jar gives for "a dog runs in the park" against "the dog is running in a green park".
JAR = "6.0 8.0 3.0 4.0 2.0 2.0 3.0 3.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1.0 0.0 0.0 1.0 5.0 6.0 6.0"
JAR_SCORE = 0.2662007353253202


def test_the_formula_on_the_jars_own_statistics() -> None:
    assert meteor(from_java(JAR)) == pytest.approx(JAR_SCORE, abs=1e-12)


def test_identical_texts_score_one() -> None:
    words = ["a", "dog", "runs", "in", "the", "park"]
    assert meteor(count_matches(words, words, None)) == pytest.approx(1.0)
    assert meteor(count_matches(words, ["nothing", "else"], None)) == 0.0


def test_stages() -> None:
    wordnet = WordNet({"dog": frozenset("1"), "hound": frozenset("1")}, {}, "tiny")
    matches, chunks = align(["the", "hounds", "ran", "running"], ["the", "dog", "runs"], wordnet)
    assert [(m.stage, m.start, m.text_start) for m in matches] == [(0, 0, 0), (2, 1, 1), (1, 2, 3)]
    assert chunks == 2


words = st.lists(
    st.sampled_from(["a", "dog", "dogs", "runs", "running", "the", "park"]), min_size=1, max_size=9
)


@settings(deadline=None)
@given(words, words)
def test_alignments_use_every_word_once_and_scores_stay_in_range(
    text: list[str], reference: list[str]
) -> None:
    matches, chunks = align(text, reference)
    assert len({m.start for m in matches}) == len({m.text_start for m in matches}) == len(matches)
    assert (chunks == 0) == (not matches) and chunks <= len(matches)
    assert 0 <= meteor(count_matches(text, reference, None)) <= 1


def test_a_wordnet_folder(tmp_path: Path) -> None:
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"index.{part}").write_text("  1 licence\n")
        (tmp_path / f"{part}.exc").write_text("")
    (tmp_path / "index.noun").write_text("child n 1 0 1 1 100\nkid n 2 0 2 1 100 200\n")
    (tmp_path / "noun.exc").write_text("children child\n")
    wordnet = load_wordnet(str(tmp_path))
    assert wordnet is not None and wordnet.of("children") & wordnet.of("kids") == {"n100"}
    with pytest.raises(UsageError, match="cannot be read"):
        load_wordnet(str(tmp_path / "nowhere"))
    assert load_wordnet("none") is None


def stories(data: Path) -> list[tuple[list[str], list[list[str]]]]:
    with gzip.open(data / "vist_test_references.jsonl.gz", "rt", encoding="utf-8") as lines:
        known = {row["album_id"]: row["references"] for row in map(json.loads, lines)}
    with gzip.open(data / "vist_arel_stories.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = list(map(json.loads, lines))
    return [(row["story"].split(), [text.split() for text in known[row["album_id"]]]) for row in rows]


def jar_with_java() -> Path | None:
    jar = installed_meteor()
    if jar is None or shutil.which("java") is None:
        skip("METEOR's jar needs Java and pycocoevalcap")
        return None
    return jar


def captions(data: Path) -> list[tuple[list[str], list[list[str]]]]:
    items = make_protocol("flickr8k-expert").items(data, pictures=False)
    return [(ptb.tokens(item.text), [ptb.tokens(text) for text in item.references]) for item in items]


@pytest.mark.java
@pytest.mark.data
def test_counts_equal_the_jars(data: Path) -> None:
    """Every statistic of METEOR 1.5, its paraphrases included, on captions and stories."""
    if (jar := jar_with_java()) is None:
        return
    rows = [*captions(data)[::40], *stories(data)[:30]]
    pairs = [(normal(text), normal(reference)) for text, references in rows for reference in references]
    lines = ask_meteor(jar, [f"SCORE ||| {' '.join(b)} ||| {' '.join(a)}" for a, b in pairs], norm=False)
    wordnet = load_wordnet(str(jar))
    table = load_paraphrases(str(jar.parent / "data" / "paraphrase-en.gz"))
    ours = [count_matches(a, b, wordnet, table) for a, b in pairs]
    np.testing.assert_array_equal(ours, [from_java(line) for line in lines])


@pytest.mark.data
def test_published_score_of_vist_stories(data: Path) -> None:
    """On a tenth of the stories, the jar gives 0.35005525420818373 (on all, the published 0.34881328040125786)."""
    if (jar := installed_meteor()) is None:
        skip("METEOR's synonyms and paraphrases come with pycocoevalcap")
        return
    table = str(jar.parent / "data" / "paraphrase-en.gz")
    pictures = (Path("1.jpg"), Path("2.jpg"))  # more than one: a story
    items = [
        Item(str(n), images=pictures, text=" ".join(text), references=tuple(map(" ".join, references)))
        for n, (text, references) in enumerate(stories(data)[:100])
    ]
    options = {"wordnet": str(jar), "paraphrases": table}
    found = score(items, ["meteor:tokens=space"], cache=None, **options)
    assert found.summary["metrics"]["meteor:tokens=space"]["corpus"] == pytest.approx(
        0.35005525420818373, abs=1e-9
    )
    words, pairs = Resource.file(jar).digest, Resource.file(Path(table)).digest
    stages = f"stages:exact+stem+synonym({words})+paraphrase({pairs})|function:{words}"
    assert stages in found.summary["metrics"]["meteor:tokens=space"]["signature"]


def test_paraphrases(tmp_path: Path) -> None:
    table = tmp_path / "table.gz"
    table.write_bytes(gzip.compress(b"0.1\na lot of\nmany\n0.2\npicture\nphoto\n0.3\nphoto\npicture\n"))
    known = load_paraphrases(str(table))
    text, reference = "many people in a photo".split(), "a lot of people in a picture".split()
    assert known.matches(text, reference) == [(0, 3, 0, 1), (6, 1, 4, 1), (6, 1, 4, 1)]
    matches, chunks = align(text, reference, None, known)
    assert (matches[0].stage, matches[0].length, matches[0].text_length) == (3, 3, 1) and chunks == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "empty"), (b"0.1\nphrase\n", "not a paraphrase table"), (b"\x1f\x8bnot gzip", "cannot be read")],
)
def test_broken_paraphrase_tables(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / ("table.gz" if content.startswith(b"\x1f") else "table.txt")
    path.write_bytes(content)
    with pytest.raises(UsageError, match=f"{path.name}: .*{told}"):
        load_paraphrases(str(path))


@pytest.mark.parametrize(
    ("text", "words"),  # as METEOR 1.5's own normaliser answers, lower-cased
    [
        ("mr. smith isn't the u.s.-based man", "mr. smith isn 't the us based man"),
        (
            'he said "ok" (twice)... 1,000 times, by 2 vs. 3',
            'he said " ok " ( twice ) ... 1,000 times , by 2 vs. 3',
        ),
        ("the dogs' bowl at the end.", "the dogs ' bowl at the end ."),
        ("plain words only", "plain words only"),
    ],
)
def test_words_as_meteor_cuts_them(text: str, words: str) -> None:
    assert normal(text.split()) == words.split()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo out of memory >&2; exit 1", "meteor.jar failed: out of memory"),
        ("echo 1.0", "1 answers to 2 lines"),
        ("exec sleep 30", "no answer within 0.5 seconds"),
    ],
)
def test_a_failing_jar_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(UsageError, match=message):
        ask_meteor(tmp_path / "meteor.jar", ["a", "b"], limit=0.5)
