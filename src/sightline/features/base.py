"""Features of an item, statistics of a corpus, and the tools both are made with.

A feature or statistic is a frozen dataclass: its fields are its options, and equal ones are computed once. The code
that computes features must not depend on how items are batched, so that every batch size gives the same scores.
"""

import dataclasses
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Generic, ParamSpec, Protocol, TypeVar

import numpy as np

from sightline.errors import Unscorable
from sightline.items import Item

if TYPE_CHECKING:
    from sightline.encoders import Embedder
    from sightline.judges import Asker
    from sightline.text.concreteness import Concreteness
    from sightline.text.language import Language
    from sightline.vision import Pictures, RegionSource

V = TypeVar("V")
P = ParamSpec("P")

WORDLESS = "the text has no words; it counts as one of length 0"
"""The note of a score that was made all the same, as COCO's evaluation makes it."""


class Tools(Protocol):
    """The models and files a run works with; each is loaded when it is first needed."""

    @property
    def language(self) -> "Language": ...
    @property
    def concreteness(self) -> "Concreteness": ...
    @property
    def pictures(self) -> "Pictures": ...
    @property
    def regions(self) -> "RegionSource": ...
    @property
    def embedder(self) -> "Embedder": ...
    def judge(self, model: str) -> "Asker":
        """The judge of this name: a vision-language model that is asked."""
        ...

    def held(self, load: "Callable[P, V]", *args: "P.args", **kwargs: "P.kwargs") -> V:
        """What a loader makes of its arguments: loaded once, and kept until the run ends."""
        ...

    def references(self, file: str) -> "Iterable[Sequence[str]]":
        """The references in a file of items, item by item."""
        ...

    def stored(self, place: str, statistic: "Statistic[V]") -> "Fit[V] | None":
        """A statistic of an earlier run, from its folder or its statistics.json; None where the place is neither."""
        ...

    def option(self, name: str) -> str | None:
        """What the user gave for a named choice (`theta`, `idf`, `coherence`, …), or None."""
        ...


class Feature(Generic[V]):
    """Something about one item. `value` is the dataclass it is stored as: numbers, text, tuples, arrays."""

    value: ClassVar[type]
    reads_pictures: ClassVar[bool] = False
    """Whether it opens the item's picture files, so that they are worth decoding ahead."""
    shows_pictures: ClassVar[bool] = False
    """Whether it has picture files shown to somebody else, and decodes them only then."""
    reads_rivals: ClassVar[bool] = False
    """Whether it holds the item's text against other texts on its pictures."""

    def needs(self) -> "tuple[Feature[Any], ...]":
        """Features that must be there first. An item that fails one of them fails this one, for the same reason."""
        return ()

    def ahead(self, items: "Sequence[Item]", tools: Tools) -> None:
        """Begin in the background with what takes long and needs no other feature: these items come next."""
        return

    def compute(self, batch: "Sequence[Features]", tools: Tools) -> Sequence[V | Unscorable]:
        """One value, or the reason why there is none, for each item of the batch."""
        raise TypeError(f"{type(self).__name__} does not say how it is computed")

    def signature(self, tools: Tools) -> Mapping[str, str]:
        """What a score built on this feature must name: `{"encoder": "clip:…"}`."""
        return {}


class Features:
    """An item with what has been computed of it so far."""

    __slots__ = ("_values", "again", "item")

    def __init__(self, item: Item, values: "Mapping[Feature[Any], Any] | None" = None) -> None:
        self.item = item
        self.again: Collection[Statistic[Any]] = ()
        """Statistics for which an earlier item has the same id and references, as where systems share them."""
        self._values: dict[Feature[Any], Any] = dict(values or {})

    def __getitem__(self, feature: Feature[V]) -> V:
        """The feature's value; raises Unscorable where it could not be computed."""
        found = self._values[feature]
        if isinstance(found, Unscorable):
            raise found
        value: V = found
        return value

    def __contains__(self, feature: Feature[Any]) -> bool:
        return feature in self._values

    def failure(self, feature: Feature[Any]) -> Unscorable | None:
        found = self._values[feature]
        return found if isinstance(found, Unscorable) else None

    def put(self, feature: Feature[V], value: V | Unscorable) -> None:
        self._values[feature] = value


@dataclass(frozen=True)
class Fit(Generic[V]):
    """A statistic's value and where it came from: `corpus`, `shipped`, `references`, `file`, or `given`."""

    value: V
    source: str


class Statistic(Generic[V]):
    """Something learned from the whole corpus before any item is scored: theta, idf, document frequencies.

    It is fitted once, and what was fitted is saved and loaded again, so that other items can be held against it.
    """

    name: ClassVar[str]

    @property
    def key(self) -> str:
        """What it is called where a run's statistics are stored: its name and its options."""
        return ".".join([self.name, *options_of(self).values()])

    def save(self, value: V) -> Any:
        """The value as JSON and arrays: numbers, texts, lists, mappings, or a mapping of NumPy arrays."""
        return value

    def load(self, saved: Any) -> V:
        """What `save` made of a value, back again; raises ValueError where it is something else."""
        raise TypeError(f"{type(self).__name__} does not say how it is loaded")

    def told(self, fit: Fit[V]) -> str:
        """The signature's part: where the value came from, and the value or a digest of it."""
        return f"{fit.source}={digest_of(self.save(fit.value))}"

    counts_documents: ClassVar[bool] = False
    """Whether references that several systems share count once; `Features.again` then says which came before."""

    def needs(self) -> tuple[Feature[Any], ...]:
        """Features that `fit` reads."""
        return ()

    def check(self, tools: Tools) -> None:
        """Refuse what the user gave for it, before any work is done."""
        return

    def learns(self, tools: Tools) -> bool:
        """Whether its value comes from the corpus; else it is given, or one that we ship."""
        return True

    def partial(self, corpus: Iterable[Features]) -> Any:
        """What a part of the corpus adds to it; parts merge in any order to the same, to the bit."""
        raise TypeError(f"{type(self).__name__} does not say how it is fitted")

    def merged(self, parts: Sequence[Any]) -> Any:
        """Several parts as one."""
        raise TypeError(f"{type(self).__name__} does not say how its parts merge")

    def fitted(self, part: Any, tools: Tools) -> Fit[V]:
        """The value, from the merged parts of a corpus, or from None where it does not learn."""
        raise TypeError(f"{type(self).__name__} does not say how it is fitted")

    def fit(self, corpus: Iterable[Features], tools: Tools) -> Fit[V]:
        """Learn from every item (streamed, possibly more than once), or take what the user gave or we ship."""
        part = None
        if self.learns(tools):
            corpus = self._with_repeats(corpus) if self.counts_documents else corpus
            part = self.merged([self.partial(corpus)])
        return self.fitted(part, tools)

    @property
    def merges(self) -> bool:
        """Whether it has parts; a statistic may also be one that only says how it is fitted as a whole."""
        return type(self).partial is not Statistic.partial

    def reads(self, got: "Features") -> bool:
        """Whether the features that it needs are there."""
        return all(got.failure(feature) is None for feature in self.needs())

    def _with_repeats(self, corpus: "Iterable[Features]") -> "Iterable[Features]":
        """The same items; each says whether its id came before with these references."""
        seen: set[str] = set()
        for got in corpus:
            if self.reads(got):
                name = document(got.item)
                got.again = (self,) if name in seen else ()
                seen.add(name)
            yield got


def document(item: Item) -> str:
    """What an item's references are called: equal for the systems that share them."""
    name = repr((item.id, sorted(item.references))).encode("utf-8", "backslashreplace")
    return blake2b(name, digest_size=16).hexdigest()


class Fitted:
    """The statistics of a run."""

    def __init__(self, fits: Mapping[Statistic[Any], Fit[Any]] | None = None) -> None:
        self._fits = dict(fits or {})

    def __getitem__(self, statistic: Statistic[V]) -> V:
        value: V = self._fits[statistic].value
        return value

    def items(self) -> Iterable[tuple[Statistic[Any], Fit[Any]]]:
        return self._fits.items()

    def told(self, statistic: Statistic[Any]) -> str:
        """The signature's part for a statistic."""
        return statistic.told(self._fits[statistic])


def digest_of(saved: Any) -> str:
    """A short digest of what `Statistic.save` gives, the same on every machine."""
    found = blake2b(digest_size=6)
    if isinstance(saved, Mapping) and any(isinstance(value, np.ndarray) for value in saved.values()):
        for name in sorted(saved):
            value = np.ascontiguousarray(saved[name])
            found.update(f"{name}{value.dtype.str}{value.shape}".encode())
            found.update(value.tobytes())
    else:
        found.update(json.dumps(saved, sort_keys=True, ensure_ascii=True).encode())
    return found.hexdigest()


def in_order(features: Iterable[Feature[Any]]) -> list[Feature[Any]]:
    """The features and all that they need, each once, needs first."""
    ordered: dict[Feature[Any], None] = {}
    for feature in features:
        for needed in in_order(feature.needs()):
            ordered.setdefault(needed)
        ordered.setdefault(feature)
    return list(ordered)


def options_of(thing: Any) -> dict[str, str]:
    """The options of a metric or feature as text, for signatures."""
    return {field.name: str(getattr(thing, field.name)) for field in dataclasses.fields(thing)}
