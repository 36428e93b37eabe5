"""Pictures of a fitted model: the Wright map (people and items on one logit axis) and characteristic
curves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sightline.psychometrics.model.design import category_probabilities
from sightline.psychometrics.model.fit import Fit
from sightline.psychometrics.model.regression import Prediction
from sightline.psychometrics.model.responses import Floats

NAMES_FIT = 40
"""Up to so many items keep their order and all their names; more are sorted by location, some are named."""
MOST_CURVES = 30


@dataclass(frozen=True)
class Palette:
    """Colours of a picture, as the report's page has them."""

    paper: str
    ink: str
    muted: str
    line: str
    people: str
    steps: tuple[str, ...]


LIGHT = Palette(
    "#ffffff", "#1f2328", "#5f656e", "#e3e0d8", "#8fa8c8",
    ("#e0a100", "#c2410c", "#8a3ffc", "#00805c", "#2a5f9e", "#a3195b"),
)  # fmt: skip
DARK = Palette(
    "#1d2025", "#e7e5df", "#a0a6af", "#343940", "#5b7ba3",
    ("#f0c24b", "#f2935a", "#b99cff", "#4cc79e", "#8ab8f0", "#ee86b4"),
)  # fmt: skip


def wright_map(
    fit: Fit, abilities: Floats, predictions: Sequence[Prediction] = (), palette: Palette = LIGHT
) -> Figure:
    """Predicted means, a histogram of people, and each item's Thurstonian thresholds, on one axis of logits.

    A person beside a threshold is as likely to reach that level as not; above it, more likely.
    """
    thresholds, _ = fit.thurstone()
    item, level = fit.design.item, fit.design.level
    count = len(fit.design.steps)
    many = count > NAMES_FIT
    place = _places(fit, many)
    parts = [1.1] * bool(predictions) + [1.7, max(4.2, count * (0.1 if many else 0.3))]
    figure = Figure(figsize=(sum(parts) + 1.3, 6.4), facecolor=palette.paper, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(parts), sharey=True, width_ratios=parts)
    low, high = _range(abilities, thresholds, predictions)
    for ax in axes:
        _plain(ax, palette)
        ax.set_ylim(low, high)
        ax.grid(axis="y", color=palette.line, linewidth=0.6)
    axes[0].set_ylabel("logits  (harder items, abler people upward)", color=palette.muted, fontsize=9)
    if predictions:
        _draw_predictions(axes[0], predictions, palette)
    _draw_people(axes[-2], abilities, (low, high), palette)
    ax = axes[-1]
    for i in range(count):
        mine = thresholds[item == i]
        ax.plot([place[i]] * 2, [mine.min(), mine.max()], color=palette.line, linewidth=1, zorder=1)
    size = 9 if many else 34
    reached = np.array([fit.responses.labels[i][k] for i, k in zip(item, level, strict=True)])
    for k, label in enumerate(np.unique(reached)):
        here = reached == label
        color = palette.steps[k % len(palette.steps)]
        ax.scatter(
            place[item[here]],
            thresholds[here],
            s=size,
            color=color,
            label=f"reaches {label}",
            zorder=2,
            linewidths=0,
        )
    _name_items(ax, fit, place, many, palette)
    legend = ax.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=6, frameon=False, fontsize=8, handletextpad=0.1,
        columnspacing=1.0,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_color(palette.muted)
    return figure


def _places(fit: Fit, by_location: bool) -> Floats:
    """Where each item stands from left to right."""
    place = np.arange(len(fit.design.steps), dtype=float)
    if by_location:
        place[np.argsort(fit.locations()[0], kind="stable")] = np.arange(len(place))
    return place


def _range(abilities: Floats, thresholds: Floats, predictions: Sequence[Prediction]) -> tuple[float, float]:
    everything = np.r_[np.quantile(abilities, [0.001, 0.999]), thresholds, [p.mean for p in predictions]]
    everything = everything[np.isfinite(everything)]
    pad = 0.06 * (everything.max() - everything.min()) + 0.1
    return float(everything.min() - pad), float(everything.max() + pad)


def _draw_people(ax: Axes, abilities: Floats, span: tuple[float, float], palette: Palette) -> None:
    bins = [float(edge) for edge in np.linspace(*span, 36)]
    ax.hist(np.clip(abilities, *span), bins=bins, orientation="horizontal", color=palette.people)
    ax.invert_xaxis()
    ax.set_title(f"people  (n = {len(abilities):,})", fontsize=9, color=palette.ink)
    ax.set_xticks([])
    ax.axhline(float(np.median(abilities)), color=palette.ink, linewidth=1, linestyle=(0, (3, 2)))


def _draw_predictions(ax: Axes, predictions: Sequence[Prediction], palette: Palette) -> None:
    """The first covariate's predicted means with 95 % intervals."""
    name = predictions[0].covariate
    mine = [p for p in predictions if p.covariate == name]
    for p in mine:
        ax.plot([0.3, 0.3], [p.mean - 1.96 * p.se, p.mean + 1.96 * p.se], color=palette.muted, linewidth=1)
        ax.plot(0.3, p.mean, "o", color=palette.ink, markersize=4)
        ax.annotate(
            f"{p.value:g}", (0.3, p.mean), (7, 0), textcoords="offset points", va="center", fontsize=8,
            color=palette.ink,
        )  # fmt: skip
    ax.set_xlim(0, 1)
    ax.set_xticks([])
    ax.set_title(f"mean at\n{_short(name, 16)}", fontsize=9, color=palette.ink)


def _name_items(ax: Axes, fit: Fit, place: Floats, many: bool, palette: Palette) -> None:
    count = len(place)
    every = math.ceil(count / 220)
    order = np.argsort(place)[::every]
    ax.set_xticks(place[order], [_short(fit.responses.items[n], 18) for n in order])
    ax.tick_params(axis="x", labelrotation=90 if count > 8 else 0, labelsize=5.5 if many else 8)
    ax.set_xlim(-0.8, count - 0.2)
    ax.yaxis.set_tick_params(labelleft=False)
    if many:
        ax.set_xlabel(f"{count} items, easiest first", fontsize=9, color=palette.muted)


def characteristic_curves(fit: Fit, palette: Palette = LIGHT) -> Figure:
    """For each item, the probability of every level along the ability; up to the first 30 items."""
    shown = min(len(fit.design.steps), MOST_CURVES)
    columns = min(5, shown)
    rows = math.ceil(shown / columns)
    figure = Figure(
        figsize=(2.3 * columns + 0.6, 1.75 * rows + 0.5), facecolor=palette.paper, layout="constrained"
    )
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    thresholds, _ = fit.thresholds()
    theta = np.linspace(min(-4, thresholds.min() - 2), max(4, thresholds.max() + 2), 161)
    probability, _ = category_probabilities(fit.table[:shown], theta)
    colors = (palette.muted, *palette.steps)
    for i, ax in enumerate(axes):
        if i >= shown:
            ax.set_visible(False)
            continue
        _plain(ax, palette)
        for k, label in enumerate(fit.responses.labels[i]):
            ax.plot(theta, probability[i, k], color=colors[k % len(colors)], linewidth=1.4, label=str(label))
        ax.set_title(_short(fit.responses.items[i], 26), fontsize=8, color=palette.ink)
        ax.set_ylim(0, 1)
    longest = max(range(shown), key=lambda i: len(fit.responses.labels[i]))
    handles, labels = axes[longest].get_legend_handles_labels()
    legend = figure.legend(
        handles, labels, loc="outside upper center", ncols=10, frameon=False, fontsize=8, title="level"
    )
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_color(palette.muted)
    figure.supxlabel("ability (logits)", fontsize=9, color=palette.muted)
    figure.supylabel("probability", fontsize=9, color=palette.muted)
    return figure


def _plain(ax: Axes, palette: Palette) -> None:
    ax.set_facecolor(palette.paper)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(palette.line)
    ax.tick_params(colors=palette.muted, labelsize=8, length=2)
    ax.set_axisbelow(True)


def _short(name: str, most: int) -> str:
    """A name that fits, safe from matplotlib's formula signs."""
    text = " ".join("".join(c if c.isprintable() else " " for c in name).split()).replace("$", r"\$")
    return text if len(text) <= most else text[: most - 1] + "…"
