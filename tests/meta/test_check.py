"""Published numbers: every one names a real protocol and coefficient, and verdicts say what became of it."""

import pytest

from sightline.items import Item
from sightline.meta.check import Published, _verdict, published_numbers
from sightline.meta.correlation import NAMES
from sightline.meta.evaluate import evaluate
from sightline.meta.protocols import protocols
from sightline.metrics import metrics


def test_published_numbers_are_whole() -> None:
    rows = published_numbers()
    assert len(rows) >= 30
    for row in rows:
        assert row.protocol in set(protocols) and row.coefficient in NAMES and len(row.source) > 20
        assert row.metric.split(":")[0] in {*metrics, "rovist-vg"}
    both = {row.value for row in rows if (row.protocol, row.metric) == ("flickr8k-expert", "bleu-1")}
    assert both == {32.3, 36.3}  # CLIPScore's and VICR's papers differ, and both are kept


@pytest.mark.parametrize(
    ("value", "n", "verdict"),
    [
        (100.0, 3, "reproduced"),
        (98.0, None, "differs by +2.0"),
        (100.0, 9, "reproduced on 3 of 9 observations"),
    ],
)
def test_verdicts(value: float, n: int | None, verdict: str) -> None:
    items = [Item(str(k), ratings={"match": (float(k),)}) for k in range(1, 4)]
    found = evaluate(items, {"m": {"1": 0.1, "2": 0.2, "3": 0.3}}, samples=0)
    row = Published("p", "match", "m", "kendall_b", value, n, "somewhere")
    assert _verdict(row, found, None).verdict == verdict
    assert _verdict(row, None, "no jar").verdict == "not runnable here: no jar"
