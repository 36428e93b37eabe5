"""Whether our English pipeline finds a sentence grammatical: one root, a finite verb, verbs that agree."""

from sightline.generate.compose.reading import SUBJECTS, is_plural
from sightline.generate.compose.words import MODALS, PRONOUNS
from sightline.text.language import Tree

SINGULAR = frozenset({"is", "was", "has", "does"})
PLURAL = frozenset({"are", "were", "have", "do"})
UNJUDGED = frozenset("who that which there what".split())
PAST = frozenset("did had went took got made saw came gave found sat stood won".split())


def faults(tree: Tree) -> list[str]:
    """What is wrong, in words; nothing where the sentence is grammatical."""
    roots = [place for place, label in enumerate(tree.labels) if label == "ROOT"]
    found = [] if len(roots) == 1 else [f"{len(roots)} roots"]
    if roots and not _finite(tree, roots[0]):
        found.append("no finite verb")
    for place, label in enumerate(tree.labels):
        if label in SUBJECTS and label != "csubj":
            found += _disagreement(tree, place)
    return found


def _verbs(tree: Tree, place: int) -> list[int]:
    """The finite verb of a clause with this head, first where there are several: its auxiliary, copula or itself."""
    helping = [child for child in tree.children(place) if tree.labels[child] in ("aux", "aux:pass", "cop")]
    return [*sorted(helping), *([place] if tree.words[place].tag in ("VERB", "AUX") else [])]


def _finite(tree: Tree, root: int) -> bool:
    verbs = _verbs(tree, root)
    return bool(verbs) and (
        len(verbs) > 1 or not tree.words[verbs[0]].text.lower().endswith("ing") or verbs[0] != root
    )


def _disagreement(tree: Tree, place: int) -> list[str]:
    subject, head = tree.words[place], tree.heads[place]
    verbs = _verbs(tree, head)
    there = any(tree.words[child].text.lower() == "there" for child in tree.children(head) if child < place)
    if not verbs or (verbs[0] < place and not there):
        return []  # a question
    if any(
        tree.labels[child] == "mark" and tree.words[child].text.lower() == "to"
        for child in tree.children(head)
    ):
        return []
    verb = tree.words[verbs[0]]
    word, lemma, name = verb.text.lower(), verb.lemma.lower(), subject.text.lower()
    if word in MODALS or word in PAST or word.endswith(("ed", "ing")) or name in UNJUDGED:
        return []
    plural = is_plural(subject, tree, place)
    collective = name in ("group", "team", "couple", "family", "crowd", "all", "some", "lot", "i", "one")
    says = (
        False if word in SINGULAR
        else True if word in PLURAL
        else False if word != lemma and word.endswith("s")
        else True if word == lemma
        else None
    )  # fmt: skip
    if says is None or collective or says == plural:
        return []
    known = name in PRONOUNS or word in SINGULAR | PLURAL or verb.tag == "VERB"
    return [f"'{subject.text} {verb.text}' do not agree"] if known else []
