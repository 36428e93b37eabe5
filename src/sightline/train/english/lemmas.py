"""Tables for spaCy's rule lemmatizer: English endings, and what a treebank shows them to miss."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from spacy.lookups import Lookups

from sightline.train.english.treebank import Tree

ENDINGS: dict[str, list[list[str]]] = {
    "noun": [
        *(
            ["sses", "ss"],
            ["shes", "sh"],
            ["ches", "ch"],
            ["xes", "x"],
            ["zzes", "zz"],
            ["ies", "y"],
            ["ss", "ss"],
        ),
        *(["us", "us"], ["is", "is"], ["men", "man"], ["s", ""]),
    ],
    "verb": [
        *(
            ["sses", "ss"],
            ["shes", "sh"],
            ["ches", "ch"],
            ["xes", "x"],
            ["ies", "y"],
            ["ied", "y"],
            ["ss", "ss"],
        ),
        *([f"{c}{c}ing", c] for c in "bdgmnprt"),
        *([f"{c}{c}ed", c] for c in "bdgmnprt"),
        *(
            [f"{end}ing", f"{end}e"]
            for end in ("v", "c", "at", "iz", "ur", "as", "us", "is", "os", "dg", "ng", "uir")
        ),
        *(
            [f"{end}ed", f"{end}e"]
            for end in ("v", "c", "at", "iz", "ur", "as", "us", "is", "os", "dg", "ng", "uir")
        ),
        *(["ing", ""], ["ing", "e"], ["ed", ""], ["ed", "e"], ["s", ""]),
    ],
    "adj": [["iest", "y"], ["ier", "y"], ["est", ""], ["est", "e"], ["er", ""], ["er", "e"]],
    "adv": [],
    "aux": [],
    "pron": [],
    "det": [],
    "num": [],
    "part": [],
    "adp": [],
    "punct": [],
    "propn": [],
}
"""Suffix and replacement per part of speech, the more special first: spaCy takes one that leads to a known
word, or else the first that fits."""

KEPT_ADJECTIVES = (
    "other former latter later over under upper lower inner outer proper super clever bitter tender eager"
)


def lemma_tables(trees: Sequence[Tree]) -> Lookups:
    """Rules, the lemmas they may lead to, and an exception for every form that they would get wrong."""
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for tree in trees:
        for word, lemma, tag in zip(tree.words, tree.lemmas, tree.tags, strict=True):
            if lemma != "_" and tag.lower() in ENDINGS and tag != "PROPN":
                seen[tag.lower(), word.lower()][lemma.lower()] += 1
    index: dict[str, set[str]] = defaultdict(set)
    for (tag, _), lemmas in seen.items():
        index[tag].update(lemma for lemma in lemmas if lemma.isalpha())
    exceptions = _exceptions(seen, index)
    for tag, own in exceptions.items():
        for form, (lemma,) in own.items():
            # spaCy does not bring an exception forward that a rule leads to as well: what it prefers must go.
            rivals = known_by_rule(form, ENDINGS[tag], index[tag])
            index[tag].difference_update(rivals[: rivals.index(lemma)] if lemma in rivals else ())
    exceptions = _exceptions(seen, index)
    for form in KEPT_ADJECTIVES.split():
        exceptions["adj"].setdefault(form, [form])
    tables = Lookups()
    tables.add_table("lemma_rules", {tag: rules for tag, rules in ENDINGS.items() if rules})
    tables.add_table("lemma_index", {tag: sorted(index[tag]) for tag, rules in ENDINGS.items() if rules})
    tables.add_table("lemma_exc", dict(exceptions))
    return tables


def _exceptions(
    seen: Mapping[tuple[str, str], Counter[str]], index: Mapping[str, set[str]]
) -> dict[str, dict[str, list[str]]]:
    """Forms that the rules get wrong, with what they are forms of."""
    exceptions: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for (tag, form), lemmas in sorted(seen.items()):
        lemma = lemmas.most_common(1)[0][0]
        if by_rule(form, ENDINGS[tag], index.get(tag, set())) != lemma:
            exceptions[tag][form] = [lemma]
    return exceptions


def by_rule(form: str, rules: Sequence[Sequence[str]], index: set[str]) -> str:
    """What spaCy's rule lemmatizer makes of a form without exceptions."""
    known = known_by_rule(form, rules, index)
    unknown = [made for made in _made(form, rules) if made.isalpha() and made not in index]
    return [*known, *unknown, form][0]


def known_by_rule(form: str, rules: Sequence[Sequence[str]], index: set[str]) -> list[str]:
    """Known words that rules lead to, the one that spaCy takes first."""
    known: list[str] = []
    for made in _made(form, rules):
        if made in index:
            known.insert(0, made)
        elif not made.isalpha():
            known.append(made)
    return list(dict.fromkeys(known))


def _made(form: str, rules: Sequence[Sequence[str]]) -> list[str]:
    found = (form[: len(form) - len(old)] + new for old, new in rules if form.endswith(old))
    return [made for made in found if made]
