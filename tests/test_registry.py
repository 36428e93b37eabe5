"""Metric specs: what people type becomes a metric, or one clear line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from sightline.errors import UsageError
from sightline.metrics import make_metric
from sightline.metrics.groovist import Groovist
from sightline.registry import build, parse_spec


def test_specs_become_metrics() -> None:
    assert make_metric("groovist") == Groovist()
    assert make_metric("groovist:penalty=off,weights=none") == Groovist(penalty="off", weights="none")
    assert parse_spec("a:b=c,d=e") == ("a", {"b": "c", "d": "e"})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("grovist", "did you mean 'groovist'"),
        ("groovist:weigths=idf", "did you mean 'weights'"),
        ("groovist:weights=tfidf", "is not one of concreteness, idf, none"),
        ("groovist:weights", "key=value"),
        ("groovist:weights=idf,weights=none", "twice"),
        ("pac-s:a=b", "takes no options"),
    ],
)
def test_wrong_specs_get_one_clear_line(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as fault:
        make_metric(spec)
    assert "\n" not in str(fault.value)


@dataclass(frozen=True)
class Options:
    flag: bool = True
    count: int = 0
    layer: int | None = None
    share: float = 0.5
    size: Literal[1, 2] = 1
    file: Path | None = None
    name: str = ""


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("flag", "false", False),
        ("flag", "true", True),
        ("count", "-3", -3),
        ("layer", "7", 7),
        ("share", "2.5e-1", 0.25),
        ("size", "2", 2),
        ("file", "a/b.txt", Path("a/b.txt")),
        ("name", "12", "12"),
    ],
)
def test_text_becomes_the_type_of_its_option(key: str, text: str, value: Any) -> None:
    found = getattr(build(Options, "m", {key: text}), key)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("flag", "maybe", "m:flag=maybe is not true or false"),
        ("flag", "Falsch", "m:flag=Falsch is not true or false"),
        ("count", "2.5", "m:count=2.5 is not a whole number"),
        ("layer", "last", "m:layer=last is not a whole number"),
        ("share", "nan", "m:share=nan is not a finite number"),
        ("share", "half", "m:share=half is not a finite number"),
        ("size", "3", "m:size=3 is not one of 1, 2"),
    ],
)
def test_a_value_of_another_type_is_refused(key: str, text: str, message: str) -> None:
    with pytest.raises(UsageError) as fault:
        build(Options, "m", {key: text})
    assert str(fault.value) == message
