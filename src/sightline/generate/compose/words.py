"""Forms of English words that joining needs: number, persons of verbs, pronouns, the prepositions of places."""

import re
from typing import Final

PRONOUNS: Final = {"he": False, "she": False, "it": False, "they": True, "we": True, "you": True, "i": True}
"""Whether the verb takes the plural's form."""
BE: Final = {"is": "are", "are": "are", "was": "were", "were": "were", "'s": "are", "'re": "are", "am": "are"}
SINGULAR_BE: Final = {
    "are": "is",
    "were": "was",
    "'re": "is",
    "am": "is",
    "is": "is",
    "was": "was",
    "'s": "is",
}
MODALS: Final = frozenset("can could may might must shall should will would".split())
FINITE: Final = frozenset({*BE, *MODALS, "has", "have", "had", "does", "do", "did"})
IRREGULAR: Final = {"have": "has", "do": "does", "go": "goes"}
PLURALS: Final = frozenset("people children men women police kids persons cattle folks boys girls".split())
MALE: Final = frozenset(
    "man boy guy gentleman father son brother husband king prince waiter fireman policeman "
    "fisherman salesman businessman cowboy groom batsman grandfather grandpa dad male".split()
)
FEMALE: Final = frozenset(
    "woman girl lady mother daughter sister wife queen princess waitress bride grandmother "
    "grandma mom female".split()
)
PERSONS: Final = frozenset(
    {*MALE, *FEMALE}
    | set(
        "person subject child kid baby player skier surfer skater skateboarder snowboarder rider "
        "driver passenger worker chef cook officer soldier student teacher doctor batter pitcher "
        "catcher umpire athlete cyclist someone somebody toddler individual vendor customer tourist "
        "traveler pedestrian couple family group team crowd band photographer farmer motorcyclist "
        "biker tennis-player".split()
    )
)
VAGUE: Final = frozenset(
    "subject person people man woman someone somebody persons subjects individual".split()
)
"""How annotators speak of whom they were asked about."""
ON: Final = frozenset(
    "street road beach court field ground grounds pitch mountain hill slope slopes sidewalk "
    "pavement bridge boat ship train bus plane track tracks runway platform rink grass lawn farm "
    "ranch couch bed sofa bench highway playground balcony patio deck dock pier stage porch shore "
    "seashore coast island".split()
)
AT: Final = frozenset(
    "airport station stop zoo school stadium party game event home competition match wedding "
    "resort concert museum market festival circus tournament ceremony race parade work sea "
    "seaside lake crossing intersection corner table".split()
)
MASS: Final = frozenset(
    "snow water air nature traffic town downtown home work sand grass rain sunlight daylight land "
    "ice mud public".split()
)
PLACES: Final = frozenset(
    "outside outdoors indoors inside home downtown somewhere outdoor indoor upstairs abroad".split()
)
"""Words that tell a place by themselves."""
PREPOSITIONS: Final = frozenset(
    "in on at near by inside outside beside under over along behind around across through next "
    "from into within between among against above below before towards toward off up down onto "
    "aboard amid beneath underneath during".split()
)


def third_person(base: str) -> str:
    """What he, she and it do: play, plays."""
    if base in IRREGULAR:
        return IRREGULAR[base]
    if re.search(r"(s|x|z|ch|sh)$", base):
        return f"{base}es"
    return f"{base[:-1]}ies" if re.search(r"[^aeiou]y$", base) else f"{base}s"


def agreeing(verb: str, lemma: str, plural: bool, tag: str) -> str:
    """A verb's form of the present as its subject needs it; other forms stay."""
    word = verb.lower()
    if word in BE:
        return BE[word] if plural else SINGULAR_BE[word]
    if word in ("has", "have"):
        return "have" if plural else "has"
    if word in ("does", "do"):
        return "do" if plural else "does"
    if tag not in ("VERB", "AUX") or word in MODALS or word.endswith(("ing", "ed")):
        return verb
    if plural:
        return lemma if word.endswith("s") and word != lemma and third_person(lemma) == word else verb
    return third_person(word) if word == lemma else verb


def pronoun_of(head: str, plural: bool) -> tuple[str, bool]:
    """The pronoun for a noun, and whether its verbs take the plural's form: a person is `they`."""
    word = head.lower()
    if plural:
        return "they", True
    if word in MALE:
        return "he", False
    if word in FEMALE:
        return "she", False
    return ("they", True) if word in PERSONS else ("it", False)


def preposition(noun: str) -> str:
    """What stands before a place."""
    word = noun.lower()
    singular = word.removesuffix("s")
    if word in ON or singular in ON:
        return "on"
    return "at" if word in AT or singular in AT else "in"


def with_article(phrase: str) -> str:
    """`tennis court` as `a tennis court`."""
    return f"{'an' if phrase[:1].lower() in 'aeiou' else 'a'} {phrase}"
