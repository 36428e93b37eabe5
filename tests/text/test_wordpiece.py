"""The tokeniser against the library it stands in for."""

import string
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.text.wordpiece import CACHED_WORDS, WordPiece, words

WHOLE = [
    "the",
    "bride",
    "##room",
    "##s",
    "un",
    "##believ",
    "##able",
    "male",
    "cafe",
    "ete",
    "naive",
    "##ing",
    "danc",
]
CHARACTERS = string.ascii_lowercase + string.digits + "ßøłσςжש中日本語の"
VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *WHOLE,
    *CHARACTERS,
    *("##" + c for c in CHARACTERS),
    *string.punctuation,
    *"。、“”—…¿",
]


@pytest.fixture(scope="module")
def ours() -> WordPiece:
    return WordPiece(VOCABULARY)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from transformers import BertTokenizer

    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(VOCABULARY) + "\n", "utf-8")
    return BertTokenizer(str(path))


def their_ids(theirs: Any, texts: list[str]) -> list[list[int]]:
    found: list[list[int]] = theirs(texts, add_special_tokens=False)["input_ids"]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "The brides were UNBELIEVABLE!!!",
        "[male] and [female] danced, didn't they?",
        "Café été naïve ÅÄÖ ß",
        "ΟΔΟΣ ΣΑΣ",
        "中日本語の words",
        "a\u200db \u00a0 c\u3000d\te\nf\rg\x00h\ufffdi\x1cj\x85k",
        "👩‍👩‍👧 🎉 \U0001fae8",
        "x" * 100 + " " + "x" * 101,
        "",
        "   ",
        "…“quoted”—dash¿que?",
        "İstanbul ǅ ﬁne",
    ],
)
def test_same_ids_as_bert(text: str, ours: WordPiece, theirs: Any) -> None:
    assert ours.ids(text) == their_ids(theirs, [text])[0]


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(max_codepoint=0x33FF, exclude_categories=["Cs", "Cn"]), max_size=40))
def test_fuzzed_text_gives_the_same_ids(ours: WordPiece, theirs: Any, text: str) -> None:
    younger = {c for c in text if [ours.ids(f"a{c}b")] != their_ids(theirs, [f"a{c}b"])}
    text = "".join(c for c in text if c not in younger)
    assert ours.ids(text) == their_ids(theirs, [text])[0]


def test_every_character_of_unicode_but_the_youngest(ours: WordPiece, theirs: Any) -> None:
    characters = [chr(n) for n in range(0x20000) if not 0xD800 <= n < 0xE000]
    texts = [f"a{c}b" for c in characters]
    differing = [
        c
        for c, text, want in zip(characters, texts, their_ids(theirs, texts), strict=True)
        if ours.ids(text) != want
    ]
    assert len(differing) < 600
    assert not [c for c in differing if unicodedata.category(c)[0] in "LN"]


def test_special_words_in_a_text_stay_text(ours: WordPiece) -> None:
    assert ours.id_of("[SEP]") not in ours.ids("the [SEP] [CLS] bride")
    assert ours.pieces("[male]") == ["[", "male", "]"]


def test_the_memory_changes_nothing_and_stays_small(ours: WordPiece) -> None:
    fresh = WordPiece(VOCABULARY)
    text = "the bride danced . the bride danced ."
    assert fresh.ids(text) == fresh.ids(text) == ours.ids(text)
    fresh.ids(" ".join(map(str, range(CACHED_WORDS + 10))))
    assert len(fresh._known) <= CACHED_WORDS
    assert sum(map(sys.getsizeof, fresh._known)) < 30e6


def test_cased_vocabularies_keep_case_and_accents() -> None:
    assert words("Café ÉTÉ!", lowercase=False) == ["Café", "ÉTÉ", "!"]


def test_vocabularies_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no piece '\[UNK\]'"):
        WordPiece(["a"])
    with pytest.raises(UsageError, match="not a readable vocabulary"):
        WordPiece.from_file(tmp_path / "none.txt")
    with pytest.raises(UsageError, match="no piece 'bride'"):
        WordPiece(["[UNK]"]).id_of("bride")
