"""Which of COCO's objects a text names, and which are on its pictures as far as people said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.features.text import Sentences
from sightline.items import Item
from sightline.text.objects import NamedObject, ObjectNames, load_object_names
from sightline.vision.annotated import load_annotated

OBJECTS = "objects"
"""Where an item may say what is on its pictures."""


@dataclass(frozen=True)
class ObjectsValue:
    named: tuple[tuple[NamedObject, ...], ...]
    """For each sentence its mentions."""
    there: tuple[str, ...]
    """The classes on the pictures."""


@dataclass(frozen=True)
class Objects(Feature[ObjectsValue]):
    """The text's objects, and those of the pictures: annotated ones, those the item gives, and the references'."""

    value = ObjectsValue

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[ObjectsValue | Unscorable]:
        names = _names(tools)
        return [_value(got, names, tools) for got in batch]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        place = tools.option("chair_objects")
        annotated = {"objects": tools.held(load_annotated, place).signature} if place else {}
        return {"synonyms": _names(tools).signature, **annotated}


def _names(tools: Tools) -> ObjectNames:
    return tools.held(load_object_names, tools.option("chair_synonyms"))


def _value(got: Features, names: ObjectNames, tools: Tools) -> ObjectsValue | Unscorable:
    there = _there(got.item, names, tools)
    if there is None:
        return Unscorable(
            "nothing says what is on the picture: give references, 'objects' in the item, or --option "
            "chair_objects=instances_val2014.json"
        )
    named = tuple(tuple(names.named(sentence)) for sentence in got[Sentences()].sentences)
    return ObjectsValue(named, tuple(sorted(there)))


def _there(item: Item, names: ObjectNames, tools: Tools) -> set[str] | None:
    """The classes on the item's pictures; None where nothing is known of them."""
    place = tools.option("chair_objects")
    annotated = [tools.held(load_annotated, place).of(picture) for picture in item.images] if place else []
    given = item.extra.get(OBJECTS)
    texts = [*item.references, *(map(str, given) if isinstance(given, list | tuple) else ())]
    if (
        not texts
        and not any(kinds is not None for kinds in annotated)
        and not isinstance(given, list | tuple)
    ):
        return None
    spoken = {one.kind for text in texts for one in names.named(text)}
    return spoken.union(*(kinds for kinds in annotated if kinds is not None))
