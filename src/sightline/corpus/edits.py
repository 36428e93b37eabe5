"""How many characters a correction changed: Levenshtein's distance (1966)."""

LONGEST = 20_000
"""Characters of a text that is compared; the work grows with the square of the length."""


def levenshtein(one: str, other: str) -> int:
    """Fewest insertions, deletions and replacements of a character that turn one text into the other.

    Myers' bit-parallel algorithm (1999) in Hyyrö's form: a column of the table is two whole numbers.
    """
    if one == other:
        return 0
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = {}
    for place, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << place
    every, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    up, down, distance = every, 0, len(one)
    for character in other:
        equal = places.get(character, 0)
        vertical = equal | down
        horizontal = (((equal & up) + up) ^ up) | equal
        rises = down | (every & ~(horizontal | up))
        falls = up & horizontal
        distance += 1 if rises & last else -1 if falls & last else 0
        rises = (rises << 1 | 1) & every
        falls = falls << 1 & every
        up = falls | (every & ~(vertical | rises))
        down = rises & vertical
    return distance
