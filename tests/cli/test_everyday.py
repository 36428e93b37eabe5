"""The comforts of every command: no folder needed, several metrics in a word, quiet, a file of options, Ctrl-C."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.io.counting import expected
from sightline.items import Item
from sightline.registry import parse_specs


def run(*words: object, stdin: str | None = None) -> Any:
    return CliRunner().invoke(load_commands(), list(map(str, words)), input=stdin)


@pytest.fixture
def stories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of four stories in the folder that is worked in."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "stories.jsonl"
    texts = [f"A dog runs over {n} hills. Then it sleeps near the {n} trees." for n in range(4)]
    file.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(texts)))
    return file


def test_without_a_folder_the_result_is_printed_and_nothing_is_left(stories: Path) -> None:
    done = run("score", stories, "-m", "rovist-nr,rovist-nr:variant=published")
    assert done.exit_code == 0, done.output
    assert "4 items" in done.output and "rovist-nr:variant=published" in done.output
    assert "Report" not in done.output and list(stories.parent.iterdir()) == [stories]
    told = json.loads(run("score", stories, "-m", "rovist-nr", "--json").stdout)
    assert list(told["metrics"]) == ["rovist-nr"] and told["metrics"]["rovist-nr"]["n"] == 4
    piped = json.loads(run("score", "-", "-m", "rovist-nr", "--json", stdin=stories.read_text()).stdout)
    assert piped["metrics"] == told["metrics"]


def test_systems_come_in_on_stdin_alone_or_beside_a_file(stories: Path) -> None:
    rows = [json.loads(line) for line in stories.read_text().splitlines()]
    both = "".join(json.dumps({**row, "system": name}) + "\n" for row in rows for name in "ab")
    told = json.loads(run("compare", "-", "-m", "rovist-nr", "--json", stdin=both).stdout)
    beside = run("compare", "a=-", f"b={stories}", "-m", "rovist-nr", "--json", stdin=stories.read_text())
    assert json.loads(beside.stdout)["pairs"] == told["pairs"] and told["pairs"][0]["ties"] == 4
    twice = run("compare", "a=-", "b=-", "-m", "rovist-nr", stdin=stories.read_text())
    assert "one of the files, not several" in str(twice.exception)


def test_results_of_coco_without_references_are_met_with_help(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text('[{"image_id": 1, "caption": "A dog."}]')
    done = run("score", tmp_path / "a.json", "-m", "cider")
    assert done.exit_code == 3 and "--format coco-results:references=FILE" in done.stderr
    done = run("compare", *(f"{name}={tmp_path / name}.json" for name in "ab"), "-m", "cider")
    assert "cider could not score any caption of a and b (there are no references)" in str(done.exception)


def test_json_with_a_folder_leaves_the_folder_too(stories: Path, tmp_path: Path) -> None:
    told = json.loads(run("score", stories, "-m", "rovist-nr", "--json", "-o", tmp_path / "out").stdout)
    assert told == json.loads((tmp_path / "out" / "summary.json").read_text())


def test_what_fails_is_told_without_a_folder(stories: Path) -> None:
    stories.write_text(stories.read_text() + json.dumps({"id": "9", "text": "."}) + "\n")
    done = run("score", stories, "-m", "rovist-nr")
    assert done.exit_code == 3 and "1 score could not be made (the text has no words)." in done.stderr


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["a,b", "c"], ["a", "b", "c"]),
        (["a:x=1,y=2,b , c:z=3"], ["a:x=1,y=2", "b", "c:z=3"]),
        (["a:url=http://h/p,k=v:w", "a:url=http://h/p,k=v:w"], ["a:url=http://h/p,k=v:w"]),
        (["a:x"], ["a:x"]),  # refused where it is read
        (["a=1"], ["a=1"]),
    ],
)
def test_names_in_one_word(given: list[str], found: list[str]) -> None:
    assert parse_specs(given) == found


@pytest.mark.parametrize("given", ["", "a,", ",a", "a,,b"])
def test_a_missing_name_is_told(given: str) -> None:
    with pytest.raises(UsageError, match="a name is missing"):
        parse_specs([given])


def test_quiet_says_nothing_but_errors(stories: Path, tmp_path: Path) -> None:
    stories.write_text(stories.read_text() + "not JSON\n")
    done = run("score", stories, "-m", "rovist-nr", "-q", "-o", tmp_path / "out")
    assert done.exit_code == 3 and done.output == ""
    assert (tmp_path / "out" / "report.html").is_file()
    alone = run("score", stories, "-m", "rovist-nr", "-q")
    assert "4 items" in alone.stdout and not alone.stderr, "without a folder the table is all there is"
    assert isinstance(run("score", stories, "-m", "nonsense", "-q").exception, UsageError)
    assert "4 items" in run("score", stories, "-m", "rovist-nr").output, "quiet is over with its command"


@pytest.mark.parametrize("command", ["score", "compare", "psych", "metrics", "models"])
def test_every_command_can_be_quiet(command: str) -> None:
    assert "--quiet" in run(command, "-h").output


def test_options_from_a_file(stories: Path, tmp_path: Path) -> None:
    (tmp_path / "sightline.toml").write_text(
        'metric = "rovist-nr,rouge-l"\ntheta = 0.6\nagainst = "b"\n[score]\non-error = "stop"\nregion_count = 3\n'
    )
    told = json.loads(run("score", stories, "--json", "--theta", "0.7").stdout)
    assert list(told["metrics"]) == ["rovist-nr", "rouge-l"]
    assert told["settings"]["theta"] == "0.7", "what is typed counts before the file"
    assert told["settings"]["region_count"] == 3
    stories.write_text(stories.read_text() + "not JSON\n")
    assert isinstance(run("score", stories).exception, UsageError), "on-error = stop"
    (tmp_path / "mine.toml").write_text('[score]\nmetric = ["rovist-nr"]\nquiet = true\n')
    done = run("--config", tmp_path / "mine.toml", "score", stories, "-o", tmp_path / "out")
    assert done.exit_code == 3 and done.output == ""
    assert list(json.loads((tmp_path / "out" / "summary.json").read_text())["metrics"]) == ["rovist-nr"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("metrc = 'cider'", "unknown option 'metrc'; did you mean 'metric'?"),
        ("[scor]\nmetric = 'cider'", "unknown command 'scor'; did you mean 'score'?"),
        ("[score]\nregion-cout = 3", "unknown option of score 'region-cout'; did you mean 'region-count'?"),
        ("[score]\nagainst = 'a'", "unknown option of score 'against'"),
        ("region-count = 'many'", "region-count: "),
        ("on-error = 'never'", "on-error: 'never' is not one of 'collect', 'stop'"),
        ("resume = 'yes'", "resume is true or false"),
        ("theta = [1, 2]", "theta takes one value, not a list"),
        ("theta = 2026-11-19", "theta: give text or a number"),
        ("score = 3", "score is a command: give its options in a table, [score]"),
        ("metric = ", "not TOML"),
    ],
)
def test_a_slip_in_the_file_is_one_clear_line(stories: Path, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "sightline.toml").write_text(text)
    done = run("score", stories, "-m", "rovist-nr")
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith("sightline.toml: ") and says in str(done.exception)


def test_a_table_for_a_command_below_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sightline.toml").write_text("[ratings.export]\ndb = 'none.db'\nwat = 1\n")
    fault = run("ratings", "export", "study", "-o", "x.csv").exception
    assert "unknown option of ratings export 'wat'" in str(fault)


def test_ctrl_c_is_one_line_that_tells_how_to_go_on(
    stories: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any, **__: Any) -> Iterator[Item]:
        for n in range(3000):  # many batches
            yield Item(str(n), text=f"A dog runs over {n} hills. It sleeps.")
        raise KeyboardInterrupt

    words = ("score", stories, "-m", "rovist-nr", "-o", tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr("sightline.io.item_file.streamed", stopped)
        done = run(*words)
        assert done.exit_code == 130
        kept = f"what is done is kept in {tmp_path / 'out'}: the same command with --resume goes on"
        assert done.stderr.strip() == f"sightline: stopped; {kept}"
        nowhere = run(*words[:-2])
        assert nowhere.stderr.strip() == "sightline: stopped; without -o nothing is kept"
    assert "unfinished run" in str(run(*words).exception)
    done = run(*words, "--resume")
    assert done.exit_code == 0 and "4 items" in done.output


def test_how_many_items_a_file_has(stories: Path, tmp_path: Path) -> None:
    assert expected([stories, stories]) == 8 and expected([Path("-")]) is None
    table = tmp_path / "a.csv"
    table.write_text("id,text\n1,A dog.\n2,A cat.\n")
    assert expected([table]) == 2
    listed = tmp_path / "a.json"
    listed.write_text('[{"id": 1, "text": "A dog."}]')
    assert expected([listed]) == 1
    assert expected([tmp_path / "none.jsonl"]) is None, "told when it is read"
