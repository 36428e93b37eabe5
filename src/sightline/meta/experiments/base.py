"""What an experiment is: what it is given, the table it leaves, and the plots of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sightline.items import Failure, Item, Key
from sightline.meta.evaluate import SAMPLES, Evaluation, MetaRow, evaluate
from sightline.meta.protocols.base import Observations
from sightline.meta.ratings import Scale
from sightline.meta.scoring import Scored
from sightline.registry import Registry

Cell = str | float | int | None
Cells = tuple[Cell, ...]


class Scorer(Protocol):
    """Scores items with metrics, every feature once; corpus statistics from the named items alone."""

    def __call__(
        self, items: Sequence[Item], metrics: Sequence[str], *, learn_from: Collection[Key] | None = None
    ) -> Scored: ...


@dataclass(frozen=True)
class ExperimentTask:
    """What an experiment works on."""

    items: Sequence[Item]
    metrics: Sequence[str]
    score: Scorer
    observations: Observations = "mean"
    headline: str = "kendall_c"
    scale: Scale | None = None
    overall: bool = True
    agreement: bool = True
    samples: int = SAMPLES
    seed: int = 0

    def evaluate(self, items: Sequence[Item], scored: Scored) -> Evaluation:
        return evaluate(
            items,
            scored.scores,
            observations=self.observations,
            scale=self.scale,
            overall=self.overall,
            agreement=self.agreement,
            samples=self.samples,
            seed=self.seed,
        )

    @property
    def ends(self) -> tuple[str, str]:
        """The columns of the headline's interval."""
        return f"{self.headline} low", f"{self.headline} high"

    def cells(self, row: MetaRow) -> Cells:
        """A row's coefficients and the headline's interval."""
        return (*row.correlation.values.values(), *(row.ci.get(self.headline) or (None, None)))


def why(row: MetaRow) -> str | None:
    return row.correlation.why or row.ci_why


@dataclass(frozen=True)
class Plot:
    """A column to draw: as bars, coloured by another column, or against a column of numbers as lines."""

    column: str
    colour: str | None = None
    across: str | None = None
    interval: tuple[str, str] | None = None
    once: bool = False
    """Whether it is the same for every criterion."""
    span: tuple[float, float] | None = None
    """The ends of the axis, where they are known."""
    mark: float | None = None
    """A value to hold the bars against."""
    named: tuple[str, ...] = ()
    """Columns that name a bar; the first one where none is given."""
    title: str = ""


@dataclass(frozen=True)
class ExperimentTable:
    """What an experiment leaves."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Cells, ...]
    plots: tuple[Plot, ...]
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = field(default=(), repr=False)


class Experiment(Protocol):
    """A function of what is given; some take options of their own."""

    def __call__(self, given: ExperimentTask) -> ExperimentTable: ...


experiments: Registry[Experiment] = Registry("experiment")
