"""A card for every metric: what the code says of it, what docs/cards.toml adds, and what was measured."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sightline
from sightline.metrics import metrics

DOCS = Path(__file__).parent
PUBLISHED = Path(sightline.__file__).parent / "meta" / "expected"
TAU = {
    "kendall_b": "τ_b",
    "kendall_c": "τ_c",
    "pearson": "r",
    "spearman": "ρ",
    "pairwise_accuracy": "accuracy",
}
PROTOCOLS = ("flickr8k-expert", "flickr8k-cf", "composite")
INTRODUCTION = """What each metric measures, in which range, what it needs and costs, what it is blind to, how far it
agrees with people, and whom to cite. Agreement measured here is Kendall's τ_c on Flickr8k-Expert (16,992 ratings)
where nothing else is said; published numbers are those that `sightline meta --check` holds a run against. The cost is
CPU time of a new item, printed by `benchmarks/measure_costs.py` (a caption of Flickr8k; a story for `rovist-c`); where
there is none, it is the model's or the jar's. Scores can be compared only under one signature.
"""


def cards_page(notice: str, options: Any, names: list[str]) -> str:
    """All cards; `options` tells those of a metric's class."""
    told = tomllib.loads((DOCS / "cards.toml").read_text("utf-8"))
    costs = json.loads((DOCS / "costs.json").read_text("utf-8"))
    parts = [notice + "# Cards of the metrics\n", INTRODUCTION]
    parts += [card(name, told.get(name, {}), costs.get(name), options(metrics.get(name))) for name in names]
    return "\n".join(parts)


def card(name: str, told: dict[str, str], cost: float | None, options: str) -> str:
    cls = metrics.get(name)
    page = place(told.get("more", "index.md"))
    rows = {
        "range": told.get("range", ""),
        "direction": "lower is better: it counts faults" if cls.lower_is_better else "higher is better",
        "needs": told.get("needs", ""),
        "cost": f"{cost:g} ms of CPU an item" if cost is not None else "",
        "options": options,
        "blind to": told.get("blind", ""),
        "agreement with people, measured": f"{told['agreement']} ([how]({page}))"
        if "agreement" in told
        else "",
        "agreement with people, published": "; ".join(published(name)),
        "cite": told.get("cite", ""),
    }
    lines = [f"| **{what}** | {value.replace('|', '&#124;')} |\n" for what, value in rows.items() if value]
    example = f"```sh\nsightline score items.jsonl -m {name} -o out\n```"
    more = f"More in [{page.rpartition('/')[2].removesuffix('.md')}]({page})."
    told_by_code = metrics.describe(name)
    return f"## {name}\n\n{told_by_code}\n\n| asked | told |\n| --- | --- |\n{''.join(lines)}\n{example}\n\n{more}\n"


def place(page: str) -> str:
    return f"../{page}"


def published(name: str) -> Iterator[str]:
    """Numbers of the papers over people's ratings of captions, with the protocol and the paper."""
    for path in sorted(PUBLISHED.glob("*.json")):
        found = json.loads(path.read_text("utf-8"))
        for row in found.get("numbers", ()):
            if (
                row.get("metric") == name
                and row.get("protocol") in PROTOCOLS
                and row.get("value") is not None
            ):
                source = found["source"][row["source"]].partition(",")[0]
                yield f"{row['protocol']} {TAU.get(row['coefficient'], row['coefficient'])} {row['value']:g} ({source})"
