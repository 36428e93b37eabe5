"""BLEU-1..4, ROUGE-L and CIDEr-D together against pycocoevalcap, tokenisation included on both sides.

    python benchmarks/bench_reference.py [--large]

Each side runs in a process of its own, so that its peak memory is its own. With --large, ours runs ten times
as many captions too, to show how it grows. The captions are made up from a fixed seed; lengths and word
frequencies are like those of photo captions, so no data is needed.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

CAPTIONS = 25_000
REFERENCES = 5


def captions(count: int) -> tuple[list[str], list[list[str]]]:
    """Candidates and five references each, which share a stretch of words with their candidate."""
    rng = np.random.default_rng(7)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    vocabulary = np.array(
        [syllables[n % 60] + syllables[n // 60 % 60] + syllables[n // 3600] for n in range(12_000)]
    )
    share = 1 / np.arange(1, len(vocabulary) + 1)
    share /= share.sum()
    lengths = rng.integers(7, 17, size=(count, REFERENCES + 1))
    words = rng.choice(len(vocabulary), size=int(lengths.sum()), p=share)
    made: list[str] = []
    start = 0
    for length in lengths.ravel().tolist():
        text = " ".join(vocabulary[words[start : start + length]])
        made.append(text[0].upper() + text[1:] + (" isn't it?" if start % 11 == 0 else "."))
        start += length
    rows = [made[n * (REFERENCES + 1) : (n + 1) * (REFERENCES + 1)] for n in range(count)]
    for row in rows:
        own = row[0].split()
        for place in range(1, len(row)):
            theirs = row[place].split()
            theirs[2:6] = own[2 : 2 + place]
            row[place] = " ".join(theirs)
    return [row[0] for row in rows], [row[1:] for row in rows]


def ours(mine: list[str], theirs: list[list[str]]) -> dict[str, float]:
    from sightline.functional import coco_scores

    return coco_scores(mine, theirs).corpus


def pycocoevalcap(mine: list[str], theirs: list[list[str]]) -> dict[str, float]:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    tokenizer = PTBTokenizer()
    res = tokenizer.tokenize({n: [{"caption": text}] for n, text in enumerate(mine)})
    gts = tokenizer.tokenize({n: [{"caption": text} for text in texts] for n, texts in enumerate(theirs)})
    bleu, _ = Bleu(4).compute_score(gts, res, verbose=0)
    scores = {f"bleu-{n}": float(value) for n, value in enumerate(bleu, 1)}
    scores["rouge-l"] = float(Rouge().compute_score(gts, res)[0])
    scores["cider"] = float(Cider().compute_score(gts, res)[0])
    return scores


SIDES = {"ours": ours, "pycocoevalcap": pycocoevalcap}


def measure(side: str, count: int) -> dict[str, Any]:
    """Seconds, peak memory above the input's, and scores of one side in a fresh process."""
    run = [sys.executable, __file__, "--side", side, "--count", str(count)]
    done = subprocess.run(run, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def one_side(side: str, count: int) -> None:
    mine, theirs = captions(count)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    scores = SIDES[side](mine, theirs)
    seconds = time.perf_counter() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps({"seconds": seconds, "mib": memory, "scores": scores}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--count", type=int, default=CAPTIONS)
    parser.add_argument("--large", action="store_true", help="also ten times as many captions, ours alone")
    given = parser.parse_args()
    if given.side:
        one_side(given.side, given.count)
        return
    theirs, mine = measure("pycocoevalcap", given.count), measure("ours", given.count)
    apart = max(abs(mine["scores"][key] - theirs["scores"][key]) for key in theirs["scores"])
    print(f"{'':16}{'captions':>10}{'seconds':>10}{'MiB':>8}")
    print(f"{'pycocoevalcap':16}{given.count:>10,}{theirs['seconds']:>10.1f}{theirs['mib']:>8.0f}")
    print(f"{'ours':16}{given.count:>10,}{mine['seconds']:>10.1f}{mine['mib']:>8.0f}")
    if given.large:
        large = measure("ours", 10 * given.count)
        print(f"{'ours':16}{10 * given.count:>10,}{large['seconds']:>10.1f}{large['mib']:>8.0f}")
        print(f"ten times the captions take {large['seconds'] / mine['seconds']:.1f} times as long")
    print(f"ratio: {theirs['seconds'] / mine['seconds']:.1f}x faster; largest difference {apart:.1e}")


if __name__ == "__main__":
    main()
