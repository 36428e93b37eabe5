"""The whole analysis: a file of captions in, everything the report tells out."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sightline.corpus.corrections import Corrections, read_corrections
from sightline.corpus.counting import CHUNK, AxisCounts, Counted, CountingTask, cores, count_all
from sightline.corpus.entries import Caption, Entries, Entry
from sightline.corpus.hard import DEFAULT, HardSamples, check_measures, parse_conditions, select
from sightline.corpus.measures import Floats, MeasureRow, by_picture, measure_names
from sightline.corpus.pmi import Incidence, Informative, informative
from sightline.corpus.purity import UNSCORED
from sightline.corpus.reading import Corpus, Progress, read_corpus
from sightline.items import Failure

FEW = 2_000
"""Below so many pictures one process is quicker than starting two."""

COMMONPLACE = 0.5
"""A lemma in more than this share of the pictures is not asked for its objects: it has none of its own."""


@dataclass(frozen=True)
class CorpusSettings:
    """The choices of an analysis."""

    nlp: str = "embedded"
    purity: str = "embedded"
    """A scorer, `published` (the values in the file) or `none`."""
    objects: str = "object"
    floor: int = 100
    floor_by: str = "mentions"
    """Whether the floor of the objects counts their `mentions` in all captions, as the paper, or `pictures`."""
    lemma_floor: int = 1
    hard: str = DEFAULT
    lemmas: tuple[str, ...] = ()
    """Lemmas whose objects are asked for beside those of the most frequent ones."""
    processes: int = 0
    """0: as many as there are cores, or one for a small corpus."""


@dataclass
class CorpusAnalysis:
    """What was found. Words are counted by axis, measures by picture and axis."""

    settings: CorpusSettings
    entries: Entries
    objects: str = ""
    """The axis whose captions name objects; empty where there is no other axis, and so nothing to tell of."""
    axes: dict[str, AxisCounts] = field(default_factory=dict)
    per_picture: dict[str, Counter[int]] = field(default_factory=dict)
    """For each axis, how many pictures have so many captions."""
    confidence: dict[str, Counter[float]] = field(default_factory=dict)
    """For each axis, how many captions got that confidence."""
    rows: list[MeasureRow] = field(default_factory=list)
    informative: dict[str, Informative] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    hard: HardSamples = field(default_factory=lambda: HardSamples([], [], [], []))
    corrections: Corrections | None = None
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pictures_there: int = 0
    items: dict[str, Floats] = field(default_factory=dict)
    """Measures picture by picture."""

    @property
    def high_axes(self) -> list[str]:
        """All axes but that of the objects."""
        return [axis for axis in self.axes if axis != self.objects]

    def top_lemmas(self, axis: str, most: int) -> list[str]:
        """Frequent nouns and verbs of the axis, those asked for first."""
        found = self.informative.get(axis)
        if found is None:
            return []
        share = dict(zip(found.lemmas, found.lemma_images / max(found.images, 1), strict=True))
        counts = self.axes[axis].nouns + self.axes[axis].verbs
        frequent = (lemma for lemma, _ in counts.most_common() if 0 < share.get(lemma, 0) <= COMMONPLACE)
        asked = [lemma for lemma in self.settings.lemmas if lemma in share]
        return list(
            dict.fromkeys([*asked, *(lemma for lemma, _ in zip(frequent, range(most), strict=False))])
        )


def analyse(
    path: Path,
    settings: CorpusSettings,
    *,
    format: str | None = None,
    corrections: Path | None = None,
    progress: Progress,
) -> CorpusAnalysis:
    """Analyse a file of captions. What cannot be read or measured is a failure, and the rest goes on."""
    conditions = parse_conditions(settings.hard)
    corrected = read_corrections(corrections) if corrections else None
    corpus = read_corpus(path, format, progress)
    found = CorpusAnalysis(settings, corpus.entries, corrections=corrected, pictures_there=corpus.pictures)
    found.objects = "" if corpus.axes == {settings.objects} else settings.objects
    check_measures(conditions, measure_names(corpus.axes - {found.objects}))
    found.failures += corpus.failures
    task = CountingTask(settings.nlp, None if settings.purity in UNSCORED else settings.purity, found.objects)
    incidence: dict[str, Incidence] = {}
    done, kinds = 0, _Kinds()
    for counted in count_all(corpus.entries.chunks(CHUNK), task, _processes(settings, corpus)):
        _take_in(found, counted, done, incidence)
        kinds.add(counted.entries)
        done += len(counted.entries)
        progress("analysing", done, len(corpus.entries))
    _order_axes(found)
    _pmi(found, incidence)
    _check(found, corpus, kinds)
    found.items = by_picture(found.rows, done)
    found.hard = select(found.items, conditions)
    if found.hard.left_out:
        found.notes.append(
            f"hard samples are chosen without {' and '.join(found.hard.left_out)}: there is none"
        )
    return found


def _processes(settings: CorpusSettings, corpus: Corpus) -> int:
    return settings.processes or (1 if len(corpus.entries) < FEW else cores())


def _take_in(found: CorpusAnalysis, counted: Counted, start: int, incidence: dict[str, Incidence]) -> None:
    found.signatures.update(counted.signatures)
    for axis, counts in counted.axes.items():
        found.axes.setdefault(axis, AxisCounts()).update(counts)
    for place, (entry, picture) in enumerate(zip(counted.entries, counted.pictures, strict=True), start):
        for axis in picture.lemmas.keys() - incidence.keys():
            own = incidence[axis] = Incidence()
            for _ in range(place):
                own.add(None)
        for axis, own in incidence.items():
            own.add(picture.lemmas.get(axis))
        for axis, captions in entry.axes.items():
            found.per_picture.setdefault(axis, Counter())[len(captions)] += 1
            given = [c.confidence for c in captions if c.confidence is not None]
            found.confidence.setdefault(axis, Counter()).update(given)
            if axis != found.objects:
                purity = _purity(found.settings, captions, picture.purity.get(axis))
                found.rows.append(
                    MeasureRow(
                        place, entry.id, axis, len(captions), picture.self_bleu.get(axis), _mean(given), purity,
                        entry.self_bleu.get(axis), _published(captions),
                    )
                )  # fmt: skip


def _purity(
    settings: CorpusSettings, captions: list[Caption], scores: tuple[float, ...] | None
) -> float | None:
    if settings.purity == "published":
        return _published(captions)
    return _mean(list(scores)) if scores else None


def _published(captions: list[Caption]) -> float | None:
    return _mean([c.purity for c in captions if c.purity is not None])


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _order_axes(found: CorpusAnalysis) -> None:
    """High-level axes in the order of the file, objects last."""
    found.axes = dict(sorted(found.axes.items(), key=lambda pair: pair[0] == found.objects))


def _pmi(found: CorpusAnalysis, incidence: dict[str, Incidence]) -> None:
    settings = found.settings
    if found.objects not in incidence:
        found.notes.append(f"no PMI: no picture has captions of an axis '{settings.objects}' beside others")
        return
    mentions = found.axes[found.objects].mentions if settings.floor_by == "mentions" else None
    for axis in found.high_axes:
        found.informative[axis] = informative(
            axis, incidence[axis], incidence[found.objects], settings.floor, settings.lemma_floor, mentions
        )
    if not any(one.objects for one in found.informative.values()):
        found.notes.append(f"no PMI: no object has {settings.floor} {settings.floor_by}; lower --floor")
    for lemma in settings.lemmas:
        if not any(lemma in one.lemmas for one in found.informative.values()):
            often = "" if settings.lemma_floor == 1 else f" in {settings.lemma_floor} pictures or more"
            kinds = "nouns, verbs and adjectives"
            found.notes.append(f"--lemma {lemma}: not among the {kinds} that stand beside objects{often}")


class _Kinds:
    """Which axes each picture has; few combinations occur."""

    def __init__(self) -> None:
        self._known: dict[frozenset[str], frozenset[str]] = {}
        self._of: list[tuple[str, str, frozenset[str]]] = []

    def add(self, entries: list[Entry]) -> None:
        for entry in entries:
            axes = frozenset(entry.axes)
            self._of.append((entry.id, entry.source, self._known.setdefault(axes, axes)))

    def source(self, place: int) -> str:
        """File and line of the picture at this place."""
        return self._of[place][1]

    def missing(self) -> Iterator[tuple[str, str, str]]:
        """Pictures that lack an axis which at least half of them have."""
        times = Counter(axis for _, _, axes in self._of for axis in axes)
        expected = {axis for axis, n in times.items() if 2 * n >= len(self._of)}
        for id, source, axes in self._of:
            for axis in sorted(expected - axes):
                yield id, source, axis


def _check(found: CorpusAnalysis, corpus: Corpus, kinds: _Kinds) -> None:
    """Failures and remarks that only the whole corpus shows."""
    for id, source, axis in kinds.missing():
        found.failures.append(Failure(id, "axis", f"the axis '{axis}' is missing", source))
    single = [row for row in found.rows if row.captions == 1]
    if len(single) < len(found.rows):
        found.failures += [_single(row, kinds) for row in single]
    elif single:
        found.notes.append("no diversity and no purity: every picture has one caption")
    if corpus.pictures:
        found.failures += corpus.unseen
    elif corpus.unseen:
        found.notes.append(
            f"no picture is at hand, such as {corpus.unseen[0].id}; the report goes without them"
        )
    for axis, times in found.per_picture.items():
        usual = times.most_common(1)[0][0]
        other = sum(n for captions, n in times.items() if captions != usual)
        if other and (usual > 1 or len(single) < len(found.rows)):
            total = sum(times.values())
            found.notes.append(
                f"{axis}: {other:,} of {total:,} pictures have another number of captions than {usual}"
            )
    if not any(found.confidence.values()):
        found.notes.append("no confidences in the file")
    if found.settings.purity == "published" and not any(row.purity is not None for row in found.rows):
        found.notes.append("--purity published: the file has none")
    if found.corrections is not None:
        found.failures += found.corrections.failures


def _single(row: MeasureRow, kinds: _Kinds) -> Failure:
    reason = f"{row.axis}: one caption only: diversity and purity need two"
    return Failure(row.id, "self_bleu", reason, kinds.source(row.place))


def purity_of(found: CorpusAnalysis) -> str:
    """The name of the scorer behind `purity`."""
    return found.signatures.get("purity", found.settings.purity)


def overall_confidence(found: CorpusAnalysis) -> Floats:
    """The confidences of all captions of the high-level axes."""
    return np.concatenate(
        [np.zeros(0), *(expand(found.confidence.get(axis, Counter())) for axis in found.high_axes)]
    )


def expand(times: Counter[float]) -> Floats:
    """Values as often as they were counted."""
    return np.repeat(np.array(list(times), np.float64), np.array(list(times.values()), np.int64))
