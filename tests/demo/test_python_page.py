"""The page about Python runs, from its first block to its last."""

import re
from pathlib import Path
from typing import Any

import pytest

from sightline.metrics import metrics

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "python.md"


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


def test_the_page_about_reports_runs() -> None:
    names: dict[str, Any] = {}
    for block in python_blocks(DOCS / "report.md"):
        exec(compile(block, "report.md", "exec"), names)
    assert names["html"].startswith("<!doctype html>")


def test_every_block_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(metrics, "_entries", dict(metrics._entries))
    blocks = python_blocks(PAGE)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(blocks) >= 8
    assert (tmp_path / "report.html").is_file()
    assert [failure.id for failure in names["mine"].failures] == ["three", "three"]
    assert "did you mean 'groovist'?" in capsys.readouterr().out
    assert "<table>" in names["result"]._repr_html_()
    assert len(names["table"]) == len(names["result"].items)
