"""The pages made from the code say what the code says now."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_generated_page_is_stale(generate: ModuleType) -> None:
    names = [path.relative_to(ROOT).as_posix() for path in generate.stale()]
    assert not names, "run docs/generate.py (make docs)"


def test_every_metric_reader_and_command_is_in_a_table() -> None:
    from sightline.cli.app import load_commands
    from sightline.io import readers
    from sightline.metrics import metrics

    told = {path.stem: path.read_text("utf-8") for path in (DOCS / "reference").glob("*.md")}
    own = [name for name in metrics if metrics.get(name).__module__.startswith("sightline.")]
    assert own and all(f"| `{name}` |" in told["metrics"] for name in own)
    assert all(f"| `{name}` |" in told["readers"] for name in readers)
    for command in load_commands().registered_commands:
        name = command.name or command.callback.__name__.replace("_", "-")
        assert command.hidden or f"## sightline {name}\n" in told["commands"]


def test_a_new_metric_makes_the_page_stale(generate: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    from sightline.metrics import Metric, metrics

    class Newcomer(Metric):
        """Something nobody wrote down."""

    Newcomer.__module__ = "sightline.metrics.newcomer"
    monkeypatch.setitem(metrics._entries, "newcomer", Newcomer)
    assert DOCS / "reference" / "metrics.md" in generate.stale()


def test_links_between_pages_lead_somewhere() -> None:
    for page in (*DOCS.rglob("*.md"), ROOT / "README.md"):
        if not page.is_file():
            continue
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8")):
            if "://" not in target and not target.startswith("mailto:"):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_check_says_what_is_stale(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    for found, status in (([], 0), ([DOCS / "reference" / "metrics.md"], 1)):
        monkeypatch.setattr(generate, "stale", lambda found=found: found)
        with pytest.raises(SystemExit) as ended:
            generate.main()
        assert ended.value.code == status
    assert capsys.readouterr().out == "stale: docs/reference/metrics.md; run docs/generate.py\n"
