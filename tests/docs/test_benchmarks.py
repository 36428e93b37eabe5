"""Benchmarks run by hand: what they take from the package must still be there."""

import ast
import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("script", sorted(path.name for path in FOLDER.glob("*.py")))
def test_a_benchmark_finds_what_it_imports(script: str) -> None:
    for node in ast.walk(ast.parse((FOLDER / script).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sightline"):
            module = importlib.import_module(node.module or "")
            for name in node.names:
                if not hasattr(module, name.name):
                    importlib.import_module(f"{node.module}.{name.name}")
