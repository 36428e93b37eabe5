"""METEOR against its own jar and the published number of a VIST system."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.features.meteor import _run_jar, count_matches, from_java, normal
from sightline.metrics.meteor import meteor
from sightline.text.alignment import align
from sightline.text.wordnet import WordNet, load_wordnet, meteor_jar
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


@pytest.mark.java
@pytest.mark.data
def test_counts_agree_with_the_jar(data: Path) -> None:
    jar = meteor_jar()
    if jar is None or shutil.which("java") is None:
        skip("METEOR's jar needs Java and pycocoevalcap")
        return
    pairs = [(text, references[0]) for text, references in stories(data)[:12]]
    lines = _run_jar(jar, [f"SCORE ||| {' '.join(b)} ||| {' '.join(a)}" for a, b in pairs])
    theirs = np.array([from_java(line) for line in lines])
    ours = np.array([count_matches(normal(a), normal(b), load_wordnet(str(jar))) for a, b in pairs])
    np.testing.assert_allclose(ours[:, 0], theirs[:, 0], atol=2)  # lengths
    np.testing.assert_allclose(ours[:, [5, 9]].sum(), theirs[:, [5, 9]].sum(), rtol=0.05)  # exact matches
    np.testing.assert_allclose([meteor(o) for o in ours], [meteor(t) for t in theirs], atol=0.05)
