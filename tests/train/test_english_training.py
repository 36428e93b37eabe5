"""Training small: the same seed gives the same pipeline, and the commands say what they made."""

import gzip
import json

import numpy as np
import pytest
import spacy
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.train.english.lemmas import lemma_tables
from sightline.train.english.run import EnglishRecipe, accuracy, train
from sightline.train.english.treebank import read_trees
from sightline.train.english.word_vectors import PieceTable, reduce

SENTENCE = """1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdogs\tdog\tNOUN\tNNS\t_\t3\tnsubj\t_\t_
3\tchased\tchase\tVERB\tVBD\t_\t0\troot\t_\t_
4\tmice\tmouse\tNOUN\tNNS\t_\t3\tobj\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""


@pytest.fixture
def teacher(tmp_path):
    words = ["[PAD]", "[UNK]", "the", "dog", "##s", "chased", "mice", ".", "cat"]
    folder = tmp_path / "teacher"
    folder.mkdir()
    tokenizer = Tokenizer(WordPiece({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    vectors = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    save_file({"embeddings.word_embeddings.weight": vectors}, folder / "model.safetensors")
    return folder


@pytest.fixture
def folder(tmp_path):
    for part in ("train", "dev"):
        (tmp_path / f"ud_ewt_{part}.conllu.gz").write_bytes(gzip.compress((SENTENCE * 40).encode()))
    stories = {"sentences": ["the dogs chased mice .", "the cat slept ."]}
    (tmp_path / "vist_val_stories.jsonl.gz").write_bytes(gzip.compress((json.dumps(stories) + "\n").encode()))
    (tmp_path / "coco_captions.jsonl.gz").write_bytes(
        gzip.compress(b'{"id": 1, "captions": ["the dog the cat"]}\n')
    )
    return tmp_path


def test_the_same_seed_gives_the_same_pipeline(folder, teacher) -> None:
    recipe = EnglishRecipe(epochs=3, warmup=2, words_per_batch=60, vector_rows=8, vector_dimensions=4)
    made = [train(folder, teacher, folder / name, recipe, lambda *_: None) for name in ("a", "b")]
    for path in ("tok2vec/model", "parser/model", "morphologizer/model", "vocab/vectors"):
        assert (folder / "a" / path).read_bytes() == (folder / "b" / path).read_bytes()
    loaded = spacy.load(folder / "a")
    trees = read_trees(folder / "ud_ewt_dev.conllu.gz")
    assert accuracy(loaded, trees) == accuracy(made[0], trees)  # also for capitals: "The"
    assert [token.lemma_ for token in loaded("the dogs chased mice .")][1] == "dog"


def test_lemmas_the_rules_miss_are_exceptions(folder) -> None:
    tables = lemma_tables(read_trees(folder / "ud_ewt_train.conllu.gz"))
    assert tables.get_table("lemma_exc")["noun"] == {"mice": ["mouse"]}


def test_words_are_the_mean_of_their_pieces(teacher) -> None:
    table = PieceTable(teacher)
    expected = (table.vectors[3] + table.vectors[4]) / 2
    np.testing.assert_allclose(table.of_words(["Dogs"])[0], expected, rtol=1e-6)
    assert table.whole_words == ["the", "dog", "chased", "mice", "cat"]
    assert reduce(table.vectors, 3).shape == (9, 3)


def test_a_folder_without_a_teacher(tmp_path) -> None:
    with pytest.raises(UsageError, match="not the folder of a BERT-like teacher"):
        PieceTable(tmp_path)


def test_commands(folder, tmp_path) -> None:
    app = load_commands()
    made = CliRunner().invoke(app, ["train", "idf", "--data", str(folder), "-o", str(tmp_path / "idf")])
    assert made.exit_code == 0, made.output
    assert json.loads((tmp_path / "idf" / "idf.json").read_text())["stories"] == 1
    listed = CliRunner().invoke(app, ["models"])
    assert listed.exit_code == 0
    assert "english" in listed.output
    card = CliRunner().invoke(app, ["models", "english"])
    assert "CC BY-SA" in card.output
    wrong = CliRunner().invoke(app, ["models", "englsh"])
    assert isinstance(wrong.exception, UsageError)
    assert "did you mean 'english'" in str(wrong.exception)
