"""Universal Dependencies treebanks (CoNLL-U) as spaCy documents."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from sightline.errors import BadLine, UsageError
from sightline.io.source import Source


@dataclass(frozen=True)
class Tree:
    """One sentence with its gold analysis; `heads` are token numbers from 0, a root is its own head."""

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    lemmas: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    opens_document: bool = False

    @property
    def text(self) -> str:
        return "".join(
            word + " " * space for word, space in zip(self.words, self.spaces, strict=True)
        ).strip()

    def lower(self) -> "Tree":
        """The same sentence as story data sets write it: lower-cased, with blanks between all tokens."""
        words = tuple(word.lower() for word in self.words)
        return Tree(
            words,
            (True,) * len(words),
            self.lemmas,
            self.tags,
            self.heads,
            self.relations,
            self.opens_document,
        )


def read_trees(path: Path) -> list[Tree]:
    """Every sentence of a `.conllu` or `.conllu.gz` file."""
    try:
        with Source(path).open() as file:
            lines = file.read().decode("utf-8").split("\n")
        return [_tree(block, path) for block in _blocks(lines)]
    except (OSError, UnicodeDecodeError, EOFError) as fault:
        raise UsageError(f"{path}: cannot read the treebank ({fault})") from None


def _blocks(lines: Iterable[str]) -> Iterator[list[tuple[int, str]]]:
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            block.append((number, line.rstrip("\r")))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _tree(block: Sequence[tuple[int, str]], path: Path) -> Tree:
    rows: list[list[str]] = []
    spaces: list[bool] = []
    inside_until, space_after = 0, True
    for number, line in block:
        if line.startswith("#"):
            continue
        row = line.split("\t")
        if len(row) != 10:
            raise BadLine(f"{path}:{number}", f"{len(row)} columns where CoNLL-U has 10")
        space = "SpaceAfter=No" not in row[9]
        if "-" in row[0]:  # a written word that is several tokens: "don't" as "do", "n't"
            inside_until, space_after = int(row[0].split("-")[1]), space
            continue
        if "." in row[0]:  # a token that is understood but not written
            continue
        place = int(row[0])
        spaces.append(space if place > inside_until else place == inside_until and space_after)
        rows.append(row)
    return Tree(
        words=tuple(row[1] for row in rows),
        spaces=tuple(spaces),
        lemmas=tuple(row[2] for row in rows),
        tags=tuple(row[3] for row in rows),
        heads=tuple(int(row[6]) - 1 if int(row[6]) else place for place, row in enumerate(rows)),
        relations=tuple("ROOT" if row[7] == "root" else row[7] for row in rows),
        opens_document=any(line.startswith("# newdoc") for _, line in block),
    )


def to_doc(trees: Sequence[Tree], vocab: Vocab) -> Doc:
    """The trees, one after the other, as one gold document."""
    starts = [sum(len(tree.words) for tree in trees[:k]) for k in range(len(trees))]
    return Doc(
        vocab,
        words=[word for tree in trees for word in tree.words],
        spaces=[space for tree in trees for space in tree.spaces],
        pos=[tag for tree in trees for tag in tree.tags],
        lemmas=[lemma for tree in trees for lemma in tree.lemmas],
        heads=[head + start for tree, start in zip(trees, starts, strict=True) for head in tree.heads],
        deps=[relation for tree in trees for relation in tree.relations],
        sent_starts=[place == 0 for tree in trees for place in range(len(tree.words))],
    )


def bare_doc(trees: Sequence[Tree], vocab: Vocab) -> Doc:
    """The trees' tokens without any analysis."""
    return Doc(
        vocab,
        words=[word for tree in trees for word in tree.words],
        spaces=[space for tree in trees for space in tree.spaces],
    )
