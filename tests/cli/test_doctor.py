"""`sightline doctor` and `sightline demo --open`: what a newcomer asks first."""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sightline.cli import demo, examination
from sightline.cli.app import load_commands
from sightline.cli.examination import State


def found(**given: Any) -> dict[str, examination.Finding]:
    return {finding.about: finding for finding in examination.examine(**given)}


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "SIGHTLINE_DEVICE", "HF_HUB_OFFLINE", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def test_every_part_is_looked_at_and_what_is_missing_has_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.distribution

    def without_torch(name: str) -> importlib.metadata.Distribution:
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "distribution", without_torch)
    monkeypatch.setattr(examination.shutil, "which", lambda name: None)
    findings = found()
    assert findings["torch"].state is State.absent
    assert findings["torch"].remedy.endswith("install 'sightline[torch]'")
    assert findings["train"].what.endswith("without torch"), "an extra within an extra counts"
    assert findings["Java"].state is State.absent
    assert findings["GPU"].what == "none is used without PyTorch"
    assert findings["pandas"].state is State.good
    assert "pocket" in findings["embedded models"].what


def test_every_extra_for_users_is_told() -> None:
    extras = set(importlib.metadata.metadata("sightline").get_all("Provides-Extra") or ())
    assert extras - set(examination.FOR) <= {"dev", "site"}


def test_places_and_settings_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hub" / "hub" / "models--openai--clip").mkdir(parents=True)
    (tmp_path / "sightline.toml").write_text("")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret")
    findings = found()
    assert findings["models of the hub"].what == "openai/clip"
    assert findings["cache"].what == f"{tmp_path / 'cache' / 'sightline'}: empty"
    assert {"HF_HUB_OFFLINE", "sightline.toml", "chat server"} <= set(findings)
    assert not any("a-secret" in finding.what for finding in findings.values())


def test_a_changed_file_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "_changed", lambda: iter(["sightline/items.py"]))
    assert found(whole=True)["files"].state is State.note


def test_what_is_broken_ends_with_status_2_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "cards", dict)
    done = CliRunner().invoke(load_commands(), ["doctor"])
    assert type(done.exception).__name__ == "UsageError"
    assert "embedded models are not there: " in str(done.exception)


def test_programs_read_it_as_json() -> None:
    done = CliRunner().invoke(load_commands(), ["doctor", "--json"])
    rows = json.loads(done.output)
    assert done.exit_code == 0
    assert {"part", "about", "state", "what", "remedy"} == set(rows[0])


def test_the_demo_opens_its_report_only_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(demo.webbrowser, "open", lambda address: not opened.append(address))
    monkeypatch.setattr(demo, "score_file", lambda source, run, out, **_: out.mkdir() or {"failures": 0})
    monkeypatch.setattr(demo, "read_scores", lambda path: [])
    monkeypatch.setattr(demo, "demo_table", lambda *_: "")
    for name, line in (("quiet", []), ("shown", ["--open"])):
        done = CliRunner().invoke(load_commands(), ["demo", "-o", str(tmp_path / name), *line])
        assert done.exit_code == 0, done.output
    assert opened == [(tmp_path / "shown" / "report.html").as_uri()]
