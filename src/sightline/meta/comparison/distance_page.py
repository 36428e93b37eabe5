"""The page of `sightline compare`: human and generated stories side by side."""

from collections.abc import Mapping, Sequence

from sightline.meta.comparison.distance import PARTS, Distance, squashed
from sightline.report import charts, page

STYLE = """
.versus { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 1rem 2rem; }
.versus h4 { margin: 0 0 0.3rem; font-weight: 600; }
"""


def comparison_page(
    human: Mapping[str, Mapping[str, float]],
    generated: Mapping[str, Mapping[str, float]],
    found: Distance,
    *,
    names: tuple[str, str],
    notes: Sequence[str] = (),
) -> str:
    """A self-contained page with d_HM, its parts, and both distributions of every metric."""
    sections = [
        _distance(found),
        *(_metric(metric, human, generated, found, names) for metric in found.parts),
    ]
    if notes:
        items = page.Markup("").join(page.Markup("<li>{}</li>").format(note) for note in notes)
        sections.append(page.Section("To keep in mind", page.Markup("<ul>{}</ul>").format(items)))
    stories = max((part.n for part in found.parts.values()), default=0)
    return page.render(
        f"{names[1]} beside {names[0]}",
        sections,
        lead="How far generated stories lie from the human stories of the same pictures. Higher is not "
        "better here: a distance of 0 means stories that score like people's.",
        facts=[f"{page.number(stories)} stories in both", f"{len(found.parts)} metrics"],
        style=STYLE,
    )


def _distance(found: Distance) -> page.Section:
    bars = [
        charts.Bar(PARTS.get(_name(metric), metric), part.deviation, series=2)
        for metric, part in found.parts.items()
        if _name(metric) in PARTS
    ]
    if found.d_hm is not None:
        bars.append(charts.Bar("d_HM", found.d_hm, series=1))
    rows = [
        [PARTS.get(_name(metric), metric), p.n, p.human, p.generated, p.deviation, f"{100 * p.higher:.0f} %"]
        for metric, p in found.parts.items()
    ]
    columns = [
        "metric",
        "stories",
        "mean, human",
        "mean, generated",
        "mean |difference|",
        "generated is higher",
    ]
    missing = [title for name, title in PARTS.items() if name not in {_name(m) for m in found.parts}]
    intro = (
        "d_HM is the mean of the absolute differences in tanh(GROOViST), RoViST-C and RoViST-NR."
        if found.d_hm is not None
        else f"d_HM needs {', '.join(PARTS.values())}; {', '.join(missing)} is missing."
    )
    label = "Distance between human and generated stories"
    drawn = charts.bars(bars, label=label, digits=4) if bars else page.Markup("")
    return page.Section("Distance from human stories", drawn + page.table(columns, rows, digits=4), intro)


def _metric(
    metric: str,
    human: Mapping[str, Mapping[str, float]],
    generated: Mapping[str, Mapping[str, float]],
    found: Distance,
    names: tuple[str, str],
) -> page.Section:
    shared = [story for story in human[metric] if story in generated[metric]]
    values = {
        name: [squashed(metric, side[metric][story]) for story in shared]
        for name, side in zip(names, (human, generated), strict=True)
    }
    everything = [value for column in values.values() for value in column]
    edge = (max(everything) - min(everything)) * 0.02 or 0.05
    strips = charts.strips(values, label=metric, domain=(min(everything) - edge, max(everything) + edge))
    drawn = page.Markup("").join(
        page.Markup("<div><h4>{}</h4>{}</div>").format(
            name, charts.histogram(column, label=name, series=place)
        )
        for place, (name, column) in enumerate(values.items(), 1)
    )
    part = found.parts[metric]
    title = PARTS.get(_name(metric), metric)
    return page.Section(
        title,
        strips + page.Markup('<div class="versus">{}</div>').format(drawn),
        f"{names[1]} scores higher in {100 * part.higher:.0f} % of {page.number(part.n)} stories; "
        f"mean difference in size {part.deviation:.4f}.",
        id=metric.replace(":", "-"),
    )


def _name(metric: str) -> str:
    return metric.partition(":")[0]
