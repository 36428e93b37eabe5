"""`chair` on worked examples of its published definition, and `unsupported` on the demo's stories."""

import json
from pathlib import Path

import numpy as np
import pytest

import sightline
from doors import command
from sightline.errors import UsageError
from sightline.metrics.chair import chair
from sightline.metrics.unsupported import unsupported
from sightline.text.objects import ObjectNames


def items(*texts: str, references: tuple[str, ...] = ("A puppy and a woman.",)) -> list[dict[str, object]]:
    return [
        {
            "id": str(n),
            "images": ["COCO_val2014_000000000042.jpg"],
            "text": text,
            "references": list(references),
        }
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Two dogs chase a man.", ["dog", "person"]),
        ("A hot dog on a dining table.", ["hot dog", "dining table"]),
        ("Children with teddy bears and cell phones", ["person", "teddy bear", "cell phone"]),
        ("He slides into home plate beside the train tracks.", []),
        ("Buses, geese, knives, mice and boxes", ["bus", "bird", "knife", "mouse"]),
        ("The dog's bowl", ["dog", "bowl"]),
        ("A toilet seat and a bow tie", ["toilet", "tie"]),
        ("catalogue, carpet, carton", []),
        ("", []),
    ],
)
def test_the_objects_a_text_names(text: str, kinds: list[str]) -> None:
    found = ObjectNames().named(text)
    assert [one.kind for one in found] == kinds
    assert all(text[one.start : one.end] == one.text for one in found)


def test_there_are_cocos_eighty_classes() -> None:
    assert len(ObjectNames().kinds) == 80


def test_the_formulas() -> None:
    assert chair(["dog", "dog", "cat", "person"], {"dog", "person"}) == 0.25
    assert chair([], {"dog"}) == 0.0
    assert unsupported(np.array([0.5, 0.7, 0.6]), 0.6) == pytest.approx(1 / 3)


def test_over_a_corpus_mentions_and_texts_are_counted_as_published() -> None:
    """CHAIR-i = hallucinated mentions / mentions; CHAIR-s = texts with one / texts, those that name nothing too."""
    texts = (
        "A dog, a cat and two dogs.",
        "A man on a bicycle with a cat.",
        "A quiet evening.",
        "A girl and her puppy.",
    )
    found = sightline.score(items(*texts), ["chair", "chair:per=text"], cache=False)
    by = {(one.metric, one.id): one.score for one in found.scores}
    assert [by["chair", str(n)] for n in range(4)] == pytest.approx([1 / 3, 2 / 3, 0, 0])
    assert [by["chair:per=text", str(n)] for n in range(4)] == [1, 1, 0, 0]
    assert found.summary["metrics"]["chair"]["corpus"] == pytest.approx(3 / 8)
    assert found.summary["metrics"]["chair:per=text"]["corpus"] == pytest.approx(2 / 4)
    marked = [phrase.text for phrase in found.scores[1].evidence.phrases if phrase.contribution < 0]
    assert marked == ["bicycle", "cat"]


def test_what_is_outlined_counts_as_there_and_a_list_of_ones_own_names_it(tmp_path: Path) -> None:
    instances = {
        "images": [{"id": 42}, {"id": 43}],
        "categories": [{"id": 17, "name": "cat"}],
        "annotations": [{"image_id": 42, "category_id": 17}],
    }
    place = tmp_path / "instances_val2014.json"
    place.write_text(json.dumps(instances))
    given = items("A moggy and a dog.", references=())
    names = tmp_path / "synonyms.txt"
    names.write_text("cat, moggy\ndog\n")
    options = {"cache": False, "chair_objects": str(place)}
    (plain,) = sightline.score(given, ["chair"], **options).scores
    (own,) = sightline.score(given, ["chair"], chair_synonyms=str(names), **options).scores
    assert (plain.score, plain.evidence.parts["objects named"]) == (1.0, 1.0)
    assert (own.score, own.evidence.parts["objects named"]) == (0.5, 2.0)
    assert plain.signature != own.signature and "objects:" in plain.signature


def test_without_anything_known_of_the_picture_there_is_no_score(tmp_path: Path) -> None:
    found = sightline.score(items("A dog.", references=()), ["chair"], cache=False)
    assert not found.scores and "nothing says what is on the picture" in found.failures[0].reason
    bad = tmp_path / "instances.json"
    bad.write_text("[]")
    with pytest.raises(UsageError, match="not COCO's instances"):
        sightline.score(items("A dog."), ["chair"], cache=False, chair_objects=str(bad))
    twice = tmp_path / "names.txt"
    twice.write_text("cat, animal\ndog, animal\n")
    with pytest.raises(UsageError, match=r"names\.txt:2: 'animal' is both cat and dog"):
        sightline.score(items("A dog."), ["chair"], cache=False, chair_synonyms=str(twice))


def test_on_the_demo_wrong_texts_are_marked_and_good_ones_hardly(tmp_path: Path) -> None:
    demo = Path(sightline.__file__).parent / "demo" / "stories.jsonl"
    found = sightline.score(demo, ["unsupported"], cache=False)
    marks: dict[str, list[bool]] = {}
    for score in found.scores:
        marks.setdefault(str(score.system), []).extend(p.contribution < 0 for p in score.evidence.phrases)
    share = {system: sum(found) / len(found) for system, found in marks.items()}
    assert (
        share["good"] <= 0.1 and share["wrong"] >= 0.75 and share["good"] < share["mediocre"] < share["wrong"]
    )
    assert "|support:shipped=" in found.scores[0].signature
    with pytest.raises(UsageError, match="support=much is no number"):
        sightline.score(demo, ["unsupported"], cache=False, support="much")


def test_against_words_that_people_marked(tmp_path: Path) -> None:
    """`psych --evidence` holds the marked phrases of a run against error-marked texts."""
    demo = Path(sightline.__file__).parent / "demo" / "stories.jsonl"
    command("score", demo, "-m", "unsupported", "-o", tmp_path / "run", "--no-cache")
    rows = []
    for line in demo.read_text().splitlines():
        item = json.loads(line)
        sentences = item.get("sentences") or [item["text"]]
        words = sum(len(sentence.split()) for sentence in sentences)
        marked = list(range(words)) if item["system"] == "wrong" else []
        rows.append({"id": item["id"], "sentences": sentences, "errors": [marked, marked]})
    marks = tmp_path / "marks.jsonl"
    marks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = ["--evidence", tmp_path / "run", "--metric", "unsupported", "-o", tmp_path / "psych"]
    said = command("psych", marks, *told)
    assert "precision" in said.lower() and "recall" in said.lower()


def test_metrics_that_count_faults_are_read_the_other_way(tmp_path: Path) -> None:
    rows = [
        {**item, "id": f"{n}", "system": system, "ratings": {"right": [5 - n if system == "a" else 1]}}
        for n, texts in enumerate((("A dog.", "A cat."), ("A dog and a cat.", "A bus.")))
        for system, item in zip("ab", items(*texts), strict=True)
    ]
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = command("compare", path, "-m", "chair", "-o", tmp_path / "compare", "--no-cache")
    assert "chair counts faults: lower is better" in told
    told = command("meta", path, "-m", "chair", "-o", tmp_path / "meta", "--no-cache", "--samples", "0")
    assert "with their sign turned" in told
    assert json.loads((tmp_path / "meta" / "meta.json").read_text())["rows"][0]["kendall_b"] > 0
