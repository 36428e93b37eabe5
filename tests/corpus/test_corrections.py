"""Edit distances against NLTK's, agreement against the krippendorff package."""

import json
import random
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from nltk import edit_distance

from sightline.corpus.corrections import read_corrections
from sightline.errors import UsageError


def test_a_change_counts_as_nltk_counts_it(tmp_path: Path) -> None:
    draw = random.Random(2)
    known = [("kitten", "sitting", 3), ("flaw", "lawn", 2), ("same", "same", 0), ("é", "e", 1)]
    made = [["".join(draw.choices("abcé", k=draw.randint(1, 90))) for _ in range(2)] for _ in range(100)]
    pairs = [*known, *((one, other, edit_distance(one, other)) for one, other in made)]
    rows = [
        {"id": str(n), "original": a, "corrected": b, "corrector": "ann"} for n, (a, b, _) in enumerate(pairs)
    ]
    path = tmp_path / "corrections.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_corrections(path).distances == [distance for *_, distance in pairs]


def test_two_correctors(tmp_path: Path) -> None:
    draw = random.Random(0)
    rows = ["id,original,corrected,corrector"]
    edited = np.full((2, 60), np.nan)
    distance = np.full((2, 60), np.nan)
    for n in range(60):
        for who, name in enumerate(("ann", "ben")):
            if n >= 40 and who:
                continue  # only ann saw these
            changes = draw.choice([0, 0, 0, 1, 12])
            rows.append(f"{n},he play ball,he play ball{'s' * changes},{name}")
            edited[who, n], distance[who, n] = changes > 0, changes
    path = tmp_path / "corrections.csv"
    path.write_text("\n".join(rows))
    found = read_corrections(path)
    given = distance[np.isfinite(distance)]
    told = found.to_json()
    assert told["corrections"] == 100 and told["captions"] == 60
    assert told["edited"] == pytest.approx(np.mean(given > 0))
    assert told["more_than_10"] == pytest.approx(np.mean(given > 10))
    agreement = told["agreement"]
    assert agreement["shared"] == 40
    shared = np.s_[:, :40]
    nominal = krippendorff.alpha(edited[shared], level_of_measurement="nominal")
    interval = krippendorff.alpha(distance[shared], level_of_measurement="interval")
    assert agreement["alpha_edited"]["value"] == pytest.approx(nominal)
    assert agreement["alpha_distance"]["value"] == pytest.approx(interval)


def test_wide_files_and_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "wide.jsonl"
    rows = [
        {"id": 1, "original": "he play", "corrected_ann": "he plays", "corrected_ben": "he plays"},
        {"id": 2, "original": "they is", "corrected_ann": "they are", "corrected_ben": ""},
        {"id": 3, "original": "", "corrected_ann": "x"},
        {"id": 4, "original": "a", "corrected_ann": 7},
        {"id": 5, "original": "a" * 30_000, "corrected_ann": "b"},
        {"id": 6, "original": "a"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\nnot json\n")
    found = read_corrections(path)
    assert [(one.id, one.corrector, one.distance) for one in found.made] == [
        ("1", "ann", 1),
        ("1", "ben", 1),
        ("2", "ann", 3),
    ]
    assert [failure.id for failure in found.failures] == ["3", "4", "5", "6", ""]
    agreement = found.agreement(samples=10)
    assert agreement is not None and agreement.equal == 1


def test_a_file_without_corrections(tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    path.write_text("id,text\n1,hello\n")
    with pytest.raises(UsageError, match="no correction in it"):
        read_corrections(path)


def test_a_bad_cell_leaves_the_other_correctors(tmp_path: Path) -> None:
    path = tmp_path / "wide.jsonl"
    rows = [
        {"id": 1, "original": "he go", "corrected_a": 7, "corrected_b": "he goes", "corrected_c": "  "},
        {"id": 1, "original": "he go", "corrected_b": "he went", "corrected_d": "he go"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_corrections(path)
    assert [(one.corrector, one.distance) for one in found.made] == [("b", 2), ("d", 0)]
    assert [(failure.id, failure.reason) for failure in found.failures] == [
        ("1", "a: a number instead of text"),
        ("1", "'b' corrected it twice; the first counts"),
    ]


def test_captions_are_told_apart_by_id_or_by_the_whole_original(tmp_path: Path) -> None:
    long = "a " * 150
    rows = [
        {"id": 0, "original": "he go", "corrected": "he goes", "corrector": "a"},
        {"id": 0, "original": "he go ", "corrected": "he goes", "corrector": 0},
        {"id": "", "original": f"{long}dog", "corrected": f"{long}dog", "corrector": "a"},
        {"original": f"{long}cat", "corrected": f"{long}cat", "corrector": "a"},
    ]
    path = tmp_path / "long.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_corrections(path)
    assert not found.failures
    assert [(one.id, one.corrector) for one in found.made] == [
        ("0", "a"),
        ("0", "0"),
        (f"{long}dog", "a"),
        (f"{long}cat", "a"),
    ]


def test_bytes_that_are_not_utf_8_can_be_told(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(b"id,original,corrected_a,corrected_b\xe9\n1,x,y,z\n,caf\xe9,x,y\n")
    found = read_corrections(path)
    assert [one.corrector for one in found.made] == ["a"]
    assert [failure.id for failure in found.failures] == ["1", "caf\ufffd", "caf\ufffd"]
    assert all(failure.reason.encode("utf-8") for failure in found.failures)
