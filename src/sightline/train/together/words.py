"""Which words contradict each other, and which only say the same thing otherwise."""

from collections.abc import Mapping
from typing import Final

COLOURS: Final = frozenset("red orange yellow green blue purple pink brown black white".split())
NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight")

_OPPOSITES: Final = """
big large huge giant | small little tiny
young | old elderly older
tall | short
long | short
wet | dry
empty | full crowded
open | closed
dirty muddy | clean
wooden | metal plastic brick concrete glass stone
metal | wooden plastic brick
brick | wooden glass
male | female
snowy | grassy sandy dusty rocky
grassy | snowy sandy dusty
sandy | grassy snowy
rocky | grassy snowy
shirtless | clothed
smiling happy | sad crying angry
striped | plaid spotted plain
plaid | striped plain
spotted | striped plain
indoor | outdoor
"""

_RELATIONS: Final = """
on | under behind beneath
in | behind under outside
into | out_of
out_of | into
under | on over above
beneath | on over above
underneath | on over above
over | under around beneath
above | under below
below | above
behind | in_front_of
in_front_of | behind
inside | outside
outside | inside
up | down
down | up
through | around over
around | through over
across | under
onto | off
off | onto into
with | without
without | with
next_to | on_top_of inside under
beside | on_top_of inside under
near | inside on_top_of under
on_top_of | under next_to behind
toward | away_from
towards | away_from
away_from | towards toward
against | under behind
along | across under
"""

_SEXES: Final = """
man men boy boys guy guys gentleman gentlemen male males father dad son brother grandfather businessman
| woman women girl girls lady ladies female females mother mom daughter sister grandmother
"""

PEOPLE: Final = frozenset(
    """person people someone somebody anyone everyone individual adult teenager teen teens toddler baby infant child
    children kid kids player rider biker cyclist bicyclist skateboarder skater skier snowboarder surfer swimmer runner
    climber hiker jogger athlete performer dancer musician worker pedestrian spectator fan crowd couple family friend
    friends team group audience youth boater kayaker wakeboarder motorcyclist racer driver passenger fisherman police
    officer fireman tourist student guy gal pair trio bunch onlooker bystander model lot""".split()
    + _SEXES.replace("|", " ").split()
)
"""Words for people, most of which may be said of the same ones."""

ANIMALS: Final = frozenset(
    """dog dogs puppy puppies cat cats kitten horse horses cow cows bull sheep lamb goat elephant elephants giraffe
    giraffes zebra zebras bear bears bird birds duck ducks goose geese monkey fox deer camel donkey pig lion
    tiger""".split()
)
"""Who, beside people, can do something to another."""

VAGUE: Final = frozenset(
    """thing something anything animal object item area place scene part side front back top bottom middle center centre
    background foreground distance picture photo photograph image view shot camera way type kind piece set pair number
    row line edge end corner variety bunch group couple day time left right body outdoors surface ground equipment
    display other others position style activity game sport air motion action event setting direction thing stuff
    one ones two three four five white black red blue green yellow brown pink orange purple grey gray""".split()
)
"""Nouns that may be said of nearly any picture, or stand in set phrases: neither exchanged nor put in."""

WEAK_VERBS: Final = frozenset(
    """be have do get go make take use look see appear seem try include show contain feature involve pose let come
    stand sit wear hold""".split()
)
"""Verbs that may be said of nearly any picture: never put in. Postures and what hands do go with most others."""

SYMMETRIC: Final = frozenset("with and near by beside next alongside among between together like".split())
"""Where two are joined so, exchanging them says the same."""


def _both_ways(text: str) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in text.strip().split("\n"):
        left, right = (side.split() for side in line.split("|"))
        for one in left:
            found.setdefault(one, {}).update(dict.fromkeys(right))
        for one in right:
            found.setdefault(one, {}).update(dict.fromkeys(left))
    return {word: tuple(others) for word, others in found.items()}


QUALITIES: Final = _both_ways(_OPPOSITES)
"""Adjectives and what cannot be said of the same thing."""

RELATIONS: Final[Mapping[str, tuple[str, ...]]] = {
    one: tuple(word.replace("_", " ") for word in others.split())
    for one, _, others in (line.replace(" | ", "|").partition("|") for line in _RELATIONS.strip().split("\n"))
}
"""Prepositions and what they rule out."""

SEXES: Final[Mapping[str, int]] = {
    word: number for number, side in enumerate(_SEXES.split("|")) for word in side.split()
}


def apart(one: str, other: str) -> bool:
    """Whether two nouns, lower-cased, are of one kind and cannot be said of one thing, as far as these lists know."""
    if other in VAGUE:
        return False
    if one in PEOPLE and other in PEOPLE:
        return one in SEXES and other in SEXES and SEXES[one] != SEXES[other]
    return one not in PEOPLE and other not in PEOPLE
