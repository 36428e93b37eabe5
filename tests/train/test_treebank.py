"""Reading CoNLL-U: what the text looked like, who depends on whom, and what is wrong with a bad file."""

import gzip

import pytest
import spacy

from sightline.errors import UsageError
from sightline.train.english.treebank import read_trees, to_doc

SAMPLE = """# newdoc id = made-up
# text = I don't sing.
1\tI\tI\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tsing\tsing\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
4.1\tsing\tsing\tVERB\tVB\t_\t_\t_\t_\t_
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

# text = Dogs bark
1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_
"""


@pytest.mark.parametrize("packed", [False, True])
def test_reads_contracted_and_empty_tokens(tmp_path, packed) -> None:
    path = tmp_path / ("a.conllu.gz" if packed else "a.conllu")
    path.write_bytes(gzip.compress(SAMPLE.encode()) if packed else SAMPLE.encode())
    first, second = read_trees(path)
    assert first.text == "I don't sing."
    assert first.words == ("I", "do", "n't", "sing", ".")
    assert first.relations[3] == "ROOT"
    assert first.heads == (3, 3, 3, 3, 3)
    assert (first.opens_document, second.opens_document) == (True, False)
    assert first.lower().text == "i do n't sing ."
    doc = to_doc([first, second], spacy.blank("en").vocab)
    assert [sentence.text for sentence in doc.sents] == ["I don't sing.", "Dogs bark"]


def test_a_bad_line_is_named(tmp_path) -> None:
    path = tmp_path / "b.conllu"
    path.write_text("1\tI\tI\n")
    with pytest.raises(UsageError, match=r"b\.conllu:1: 3 columns"):
        read_trees(path)


@pytest.mark.parametrize("name", ["missing.conllu", "broken.conllu.gz"])
def test_an_unreadable_file_is_named(tmp_path, name) -> None:
    if name.startswith("broken"):
        (tmp_path / name).write_bytes(b"not gzip")
    with pytest.raises(UsageError, match=name):
        read_trees(tmp_path / name)


def test_every_sentence_of_the_treebank_reads_as_written(data) -> None:
    path = data / "ud_ewt_test.conllu.gz"
    with gzip.open(path, "rt") as lines:
        written = [line.removeprefix("# text = ").strip() for line in lines if line.startswith("# text = ")]
    trees = read_trees(path)
    assert len(trees) == len(written) == 2077
    assert [tree.text for tree in trees] == [text.replace("\xa0", " ") for text in written]
