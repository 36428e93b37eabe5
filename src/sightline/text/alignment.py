"""METEOR 1.5's alignment of two texts: word by word in stages, then the best set of matches by beam search.

Denkowski & Lavie 2014: most (weighted) words matched, then fewest chunks, then the shortest distances.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import snowballstemmer

from sightline.text.paraphrases import Paraphrases
from sightline.text.wordnet import WordNet

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
STAGES = ("exact", "stem", "synonym", "paraphrase")
BEAM = 40
stem: Callable[[str], str] = lru_cache(maxsize=200_000)(snowballstemmer.stemmer("english").stemWord)


@dataclass(frozen=True, slots=True)
class Match:
    """A stretch of the reference and the stretch of the text that it matches."""

    stage: int
    start: int
    length: int
    text_start: int
    text_length: int


def find_matches(
    text: Sequence[str], reference: Sequence[str], wordnet: WordNet | None, paraphrases: Paraphrases | None
) -> list[Match]:
    """Every possible match, in the order of the stages."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(text):
        places.setdefault(word, []).append(place)
    found = [
        Match(EXACT, number, 1, place, 1)
        for number, word in enumerate(reference)
        for place in places.get(word, ())
    ]
    if list(text) == list(reference):
        return found
    stems: dict[str, list[int]] = {}
    for place, word in enumerate(text):
        stems.setdefault(stem(word), []).append(place)
    found += [
        Match(STEM, number, 1, place, 1)
        for number, word in enumerate(reference)
        for place in stems.get(stem(word), ())
        if text[place] != word
    ]
    if wordnet is not None:
        mine = [wordnet.of(word) for word in text]
        for number, word in enumerate(reference):
            theirs = wordnet.of(word)
            if theirs:
                found += [
                    Match(SYNONYM, number, 1, place, 1)
                    for place, other in enumerate(text)
                    if other != word and not theirs.isdisjoint(mine[place])
                ]
    if paraphrases is not None:
        found += [Match(PARAPHRASE, *place) for place in paraphrases.matches(text, reference)]
    return found


def align(
    text: Sequence[str],
    reference: Sequence[str],
    wordnet: WordNet | None = None,
    paraphrases: Paraphrases | None = None,
) -> tuple[tuple[Match, ...], int]:
    """The best alignment and the number of chunks it falls into."""
    matches = find_matches(text, reference, wordnet, paraphrases)
    by_start: list[list[Match]] = [[] for _ in reference]
    cover, text_cover = [0] * len(reference), [0] * len(text)
    for match in matches:
        by_start[match.start].append(match)
        for place in range(match.start, match.start + match.length):
            cover[place] += 1
        for place in range(match.text_start, match.text_start + match.text_length):
            text_cover[place] += 1
    fixed: dict[int, Match] = {}
    for match in matches:  # what matches in one way only is settled
        alone = all(cover[p] == 1 for p in range(match.start, match.start + match.length))
        if alone and all(
            text_cover[p] == 1 for p in range(match.text_start, match.text_start + match.text_length)
        ):
            fixed[match.start] = match
    return _search(by_start, fixed)


_Step = tuple[int, int, int, int, int, int, int, Match]
"""A match as the search reads it: bits in reference and text, the reference's end, the text's start and end,
the weight (negative, as less is better), the distance, and the match itself."""


def _step(match: Match) -> _Step:
    """METEOR 1.5 counts half a word for a match that is not exact, and cuts each side's count down to whole ones:
    a single word by stem or synonym adds nothing to a path, and is taken for the chunks that it saves."""
    exact = match.stage == EXACT
    weight = -sum(length if exact else length // 2 for length in (match.length, match.text_length))
    bits = ((1 << match.length) - 1) << match.start
    text_bits = ((1 << match.text_length) - 1) << match.text_start
    end, text_end = match.start + match.length, match.text_start + match.text_length
    return (
        bits,
        text_bits,
        end,
        match.text_start,
        text_end,
        weight,
        abs(match.start - match.text_start),
        match,
    )


def _search(by_start: Sequence[Sequence[Match]], fixed: Mapping[int, Match]) -> tuple[tuple[Match, ...], int]:
    """Paths are tuples that sort by merit: weight, chunks, distance, age; then what they used and chose."""
    steps = [[_step(match) for match in matches] for matches in by_start]
    settled = {start: _step(match) for start, match in fixed.items()}
    used = text_used = 0
    for step in settled.values():
        used, text_used = used | step[0], text_used | step[1]
    chain: Any = ()
    paths = [(0, 0, 0, 0, used, text_used, 0, -1, chain)]
    for current, here in enumerate(steps):
        if len(paths) > 1:
            paths.sort()
            del paths[BEAM:]
        onward = []
        age = 0
        for weight, chunks, distance, _, used, text_used, idx, last, chain in paths:
            if used >> current & 1:
                if current >= idx:
                    _, _, idx, start, end, gain, far, match = settled[idx]
                    chunks += last not in (-1, start)
                    weight, distance, last, chain = weight + gain, distance + far, end, (chain, match)
                onward.append((weight, chunks, distance, age, used, text_used, idx, last, chain))
                age += 1
                continue
            for bits, text_bits, end2, start, end, gain, far, match in here:
                if used & bits or text_used & text_bits:
                    continue
                more = chunks + (last not in (-1, start))
                onward.append(
                    (
                        weight + gain,
                        more,
                        distance,
                        age,
                        used | bits,
                        text_used | text_bits,
                        end2,
                        end,
                        (chain, match),
                    )
                )
                age += 1
                distance += far  # METEOR 1.5 adds it to the path that goes on without the match
            onward.append((weight, chunks + (last != -1), distance, age, used, text_used, idx + 1, -1, chain))
            age += 1
        paths = onward
    paths.sort()
    ended = [
        (weight, chunks + (last != -1), distance, place, chain)
        for place, (weight, chunks, distance, *_, last, chain) in enumerate(paths[:BEAM])
    ]
    _, chunks, _, _, chain = min(ended)
    chosen: list[Match] = []
    while chain:
        chain, match = chain
        chosen.append(match)
    return tuple(reversed(chosen)), chunks
