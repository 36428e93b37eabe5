"""Metric specs: what people type becomes a metric, or one clear line."""

import pytest

from sightline.errors import UsageError
from sightline.metrics import make_metric
from sightline.metrics.groovist import Groovist
from sightline.registry import parse_spec


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
        ("clipscore:a=b", "takes no options"),
    ],
)
def test_wrong_specs_get_one_clear_line(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as fault:
        make_metric(spec)
    assert "\n" not in str(fault.value)
