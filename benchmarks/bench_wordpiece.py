"""Our WordPiece against Hugging Face's tokenizers on the captions of the shared data: speed as ratios, and differences.

    python benchmarks/bench_wordpiece.py [DATA]

The library was measured as a replacement: it gives the same pieces for every caption and story, takes several times
as long for single short texts, knows an older Unicode, and refuses half a surrogate pair.
"""

import gzip
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from sightline.text.wordpiece import WordPiece

VOCABULARY = Path(__file__).parents[1] / "src" / "sightline" / "models" / "pocket" / "vocabulary.txt"


def theirs(vocabulary: list[str]) -> Any:
    pieces = {piece: number for number, piece in enumerate(vocabulary)}
    made = Tokenizer(models.WordPiece(vocab=pieces, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(strip_accents=True, lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def main(data: Path) -> None:
    with gzip.open(data / "coco_captions.jsonl.gz", "rt") as lines:
        texts = [caption for line in lines for caption in json.loads(line)["captions"]]
    vocabulary = VOCABULARY.read_text("utf-8").rstrip("\n").split("\n")
    built, ours = timed(lambda: WordPiece(vocabulary))
    built_theirs, other = timed(lambda: theirs(vocabulary))
    first, mine = timed(lambda: [ours.ids(text) for text in texts])
    again, _ = timed(lambda: [ours.ids(text) for text in texts])
    single, found = timed(lambda: [other.encode(text, add_special_tokens=False).ids for text in texts])
    odd = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    differ = sum(ours.ids(f"a{c}b") != other.encode(f"a{c}b", add_special_tokens=False).ids for c in odd)
    wrong = sum(a != b for a, b in zip(mine, found, strict=True))
    print(f"{len(texts):,} captions, {wrong} differ; {differ} characters differ")
    print(f"CPU time of tokenizers against ours: start {built_theirs / built:.1f}, ", end="")
    print(f"first reading {single / first:.1f}, second reading {single / again:.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
