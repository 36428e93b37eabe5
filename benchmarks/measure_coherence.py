"""How good the embedded order model is on VIST stories it was not trained on. Needs the folder of real data.

    python benchmarks/measure_coherence.py [--coherence NAME-or-PATH]

Held out are the groups of stories (those that share a photo or a text) whose hundredth is below 12: neither their
human nor their generated stories were trained on or chosen on.
"""

import argparse
import os
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from sightline.metrics.rovist_c import judged, rovist_c
from sightline.text.coherence import load_coherence
from sightline.train.coherence.stories import CoherenceStory, group_keys, hundredth, read_stories

DATA = Path(os.environ.get("SIGHTLINE_DATA", Path(__file__).parents[2] / "shared" / "data"))
LEFT_OUT = 12
SHUFFLES = 5


def held_out() -> tuple[list[CoherenceStory], list[CoherenceStory]]:
    """Human stories as lists of sentences, and human and generated stories with their published scores."""
    lists = read_stories([DATA / "vist_test_stories.jsonl.gz"])
    scored = read_stories([DATA / "vist_published_scores.jsonl.gz"])
    keys = group_keys([*lists, *scored])
    held = [story for story, key in zip([*lists, *scored], keys, strict=True) if hundredth(key) < LEFT_OUT]
    return [s for s in held if s.system is None], [s for s in held if s.score is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coherence", default=None)
    model = load_coherence(parser.parse_args().coherence)
    lists, scored = held_out()
    pairs = [pair for story in lists for pair in permutations(story.sentences, 2)]
    pairs += [pair for story in scored for pair in pairwise(story.sentences)]
    pairs = list(dict.fromkeys(pairs))
    p = dict(zip(pairs, model.probabilities(pairs), strict=True))

    def score(sentences: tuple[str, ...]) -> float:
        return rovist_c(judged(sentences, [p.get(pair, 0.0) for pair in pairwise(sentences)]))

    right = [
        value
        for story in lists
        for a, b in pairwise(story.sentences)
        if a != b
        for value in (p[a, b] > 0.5, p[b, a] < 0.5)
    ]
    rng = np.random.default_rng(0)
    wins = []
    for story in lists:
        for _ in range(SHUFFLES):
            order = rng.permutation(len(story.sentences))
            if (order != np.arange(len(order))).any():
                wins.append(score(story.sentences) > score(tuple(story.sentences[n] for n in order)))
    ours = np.array([score(story.sentences) for story in scored])
    theirs = np.array([story.score for story in scored], float)
    human = np.array([story.system == "human" for story in scored])
    rows = [
        ("pair accuracy", len(right) // 2, np.mean(right)),
        ("original above shuffled", len(wins), np.mean(wins)),
        ("Spearman with published C, human", human.sum(), spearmanr(ours[human], theirs[human])[0]),
        ("Spearman with published C, generated", (~human).sum(), spearmanr(ours[~human], theirs[~human])[0]),
        ("Spearman with published C, all", len(ours), spearmanr(ours, theirs)[0]),
        ("mean score, human", human.sum(), ours[human].mean()),
        ("mean score, generated", (~human).sum(), ours[~human].mean()),
    ]
    print(f"{model.signature}: {len(lists)} held-out human stories")
    for name, n, value in rows:
        print(f"{name:38s} n = {n:5d}  {value:.4f}")


if __name__ == "__main__":
    main()
