"""Label Studio and Potato: items there, answers back; and Croissant metadata of exported studies."""

import json
from pathlib import Path
from typing import Any

import pytest

from doors import command
from sightline import Item, UsageError
from sightline.integrations import croissant, label_studio, potato
from sightline.io.ratings import read_ratings
from skipping import skip

ROWS = [
    {"id": "a", "images": ["p/1.jpg", "p/2.jpg"], "sentences": ["A dog.", "It <runs> & rests."], "system": "x"},
    {"id": "a", "images": ["p/1.jpg", "p/2.jpg"], "sentences": ["A cat.", "It sleeps."], "system": "y"},
    {"id": "b", "images": ["p/1.jpg"], "text": "A bird, \"flying\".", "references": ["A bird."]},
]  # fmt: skip
CRITERIA = ("grounding", "coherence")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def answered(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tasks as Label Studio exports them after two people rated, one of whom skipped the last one."""
    found = []
    for number, task in enumerate(tasks, 1):
        annotations = [
            {
                "id": 100 * number + person,
                "completed_by": person if person == 7 else {"id": person, "email": "a@example.org"},
                "was_cancelled": person == 8 and number == 3,
                "lead_time": 3.2,
                "result": [
                    {
                        "id": f"{name}{number}", "type": "rating", "from_name": name, "to_name": "text",
                        "value": {"rating": 1 + (number + person + place) % 5},
                    }
                    for place, name in enumerate(CRITERIA)
                ],
            }
            for person in (7, 8)
        ]  # fmt: skip
        found.append({"id": number, **task, "annotations": annotations, "predictions": []})
    return found


def test_label_studio_there_and_back(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "project"
    told = ["--criterion", "grounding", "--criterion", "coherence", "--pictures", "/data/local-files/?d=p/"]
    command("ratings", "tasks", file, "--for", "label-studio", *told, "-o", out)
    tasks = json.loads((out / "tasks.json").read_text())
    assert tasks[0]["data"]["images"] == ["/data/local-files/?d=p/1.jpg", "/data/local-files/?d=p/2.jpg"]
    assert tasks[0]["data"]["text"] == "A dog.\nIt <runs> & rests." and tasks[2]["data"]["item"] == "b"
    export = tmp_path / "export.json"
    export.write_text(json.dumps(answered(tasks)))
    command("ratings", "convert", export, "--from", "label-studio", "-o", tmp_path / "ratings.jsonl")
    found = {
        (r.item, r.system, r.rater, r.criterion): r.value for r in read_ratings(tmp_path / "ratings.jsonl")
    }
    assert len(found) == 2 * 2 * 2 + 2, "what was skipped is no answer"
    assert found["a", "y", "a@example.org", "coherence"] == 1 + (2 + 8 + 1) % 5
    back = label_studio.items(export)
    assert [(one["id"], one.get("system")) for one in back] == [("a", "x"), ("a", "y"), ("b", None)]
    assert back[2]["ratings"] == {"grounding": [1.0], "coherence": [2.0]} and back[2]["references"] == [
        "A bird."
    ]


@pytest.mark.parametrize("scale", ["1-5", "0-3"])
def test_label_studios_own_converter_reads_the_project(file: Path, tmp_path: Path, scale: str) -> None:
    """The interface is one to it, and what it makes of the answers (JSON-MIN, CSV) comes back."""
    try:
        from label_studio_converter import Converter
    except ImportError as fault:
        skip(f"label-studio-converter is not there: {fault}")
    out = tmp_path / "project"
    command(
        *("ratings", "tasks", file, "--for", "label-studio", "-o", out, "--scale", scale),
        *("--criterion", "grounding", "--criterion", "coherence"),
    )
    done = answered(json.loads((out / "tasks.json").read_text()))
    for task in done:
        for one in task["annotations"]:
            for result in one["result"]:
                if scale == "0-3":
                    level = result["value"]["rating"] % 4
                    result |= {"type": "choices", "value": {"choices": [str(level)]}}
    export = tmp_path / "export.json"
    export.write_text(json.dumps(done))
    converter = Converter((out / "interface.xml").read_text(), str(tmp_path), download_resources=False)
    assert {"grounding", "coherence"} <= set(converter._schema)
    converter.convert_to_json_min(str(export), str(tmp_path / "min"), is_dir=False)
    converter.convert_to_csv(str(export), str(tmp_path / "csv"), sep=",", header=True, is_dir=False)

    def told(ratings: Any) -> list[tuple[Any, ...]]:
        return sorted((r.item, r.system or "", r.rater, r.criterion, r.value) for r in ratings)

    whole = told(label_studio.ratings(export))
    assert len(whole) == 10 and told(label_studio.ratings(tmp_path / "min" / "result.json")) == whole
    table = tmp_path / "csv" / "result.csv"
    command("ratings", "convert", table, "--from", "label-studio", "-o", tmp_path / "r.csv")
    assert told(read_ratings(tmp_path / "r.csv")) == whole


def test_potato_there_and_back(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "project"
    criteria = ["--criterion", "grounding", "--criterion", "coherence"]
    command("ratings", "tasks", file, "--for", "potato", *criteria, "-o", out)
    settings = json.loads((out / "config.yaml").read_text())
    assert [scheme["name"] for scheme in settings["annotation_schemes"]] == list(CRITERIA)
    rows = [json.loads(line) for line in (out / "items.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["a (x)", "a (y)", "b"] and rows[2]["image_2"] == ""
    person = out / "annotation_output" / "ann"
    person.mkdir(parents=True)
    labels = {
        row["id"]: [[{"schema": name, "name": str(k + 2)}, str(k + 2)] for k, name in enumerate(CRITERIA)]
        for row in rows
    }
    labels["b"].append([{"schema": "comment", "name": "text_box"}, "blurred"])
    state = {"user_id": "ann@x", "instance_id_to_label_to_value": labels}
    (person / "user_state.json").write_text(json.dumps(state))
    bob = out / "annotation_output" / "bob"
    bob.mkdir()
    old = {"id": "a (y)", "displayed_text": "…", "label_annotations": {"grounding": {"scale_4": "4"}}}
    (bob / "annotated_instances.jsonl").write_text(json.dumps(old) + "\n")
    command("ratings", "convert", out, "--from", "potato", "-o", tmp_path / "ratings.csv")
    found = {
        (r.item, r.system, r.rater, r.criterion): r.value for r in read_ratings(tmp_path / "ratings.csv")
    }
    assert len(found) == 7 and found["a", "x", "ann@x", "coherence"] == 3.0
    assert found["a", "y", "bob", "grounding"] == 4.0 and found["b", None, "ann@x", "grounding"] == 2.0


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: label_studio.ratings(Path("/no/such.json")), "not an export of Label Studio"),
        (lambda: potato.ratings(Path("/no/such")), "give the folder of a Potato project"),
        (lambda: potato.project([Item("a"), Item("a")], ["x"]), "two items would be called 'a'"),
        (lambda: croissant.croissant(Path("x.txt"), [], "x", "y"), "are made of .csv"),
    ],
)
def test_what_is_none_is_one_clear_line(made: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        made()
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_there_is_left_alone(file: Path, tmp_path: Path) -> None:
    command("ratings", "tasks", file, "--for", "potato", "-o", tmp_path / "p")
    with pytest.raises(UsageError, match="is there already"):
        command("ratings", "tasks", file, "--for", "potato", "-o", tmp_path / "p")
    with pytest.raises(UsageError, match="scales of Potato begin with 1"):
        command("ratings", "tasks", file, "--for", "potato", "--scale", "0-3", "-o", tmp_path / "q")


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_croissant_describes_an_export(tmp_path: Path, form: str) -> None:
    """mlcroissant finds nothing wrong, and reads the rows through the metadata."""
    try:
        import mlcroissant
    except ImportError as fault:
        skip(f"mlcroissant is not there: {fault}")
    from sightline.io.rating_columns import ratings_file
    from sightline.items import Rating

    given = [Rating("a", "r1", 4.0), Rating("b", "r2", 2.5, "grounding")]
    path = tmp_path / f"ratings.{form}"
    path.write_bytes(ratings_file(given, form))
    rows = [
        {"item": r.item, "system": "", "rater": r.rater, "value": r.value, "criterion": r.criterion}
        for r in given
    ]
    made = croissant.croissant(
        path, rows, "My study!", "Ratings.", licence="CC-BY-4.0", published="2026-01-01"
    )
    place = tmp_path / "ratings.croissant.json"
    place.write_text(json.dumps(made))
    dataset = mlcroissant.Dataset(place)
    assert not dataset.metadata.ctx.issues.errors and dataset.metadata.name == "My-study"
    records = list(dataset.records("ratings"))
    assert [(row["ratings/item"], row["ratings/value"]) for row in records] == [(b"a", 4.0), (b"b", 2.5)]
