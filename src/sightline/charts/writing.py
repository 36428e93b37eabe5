"""Numbers and names as they stand in figures, tables and pages."""

import re
from collections.abc import Iterable


def number(value: float | None, digits: int = 3) -> str:
    """A number as people read it: rounded, thousands apart, a true minus sign; a dash for None and NaN."""
    if value is None or value != value:
        return "–"
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"
    return (
        "0" + text[2:]
        if float(text.replace(",", "")) == 0 and text.startswith("-")
        else text.replace("-", "−")
    )


def counted(count: int, noun: str) -> str:
    """`1 item`, `2 stories`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def enumerated(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


def clean(text: str) -> str:
    """Text that can be written: half a surrogate pair or a control character becomes the replacement sign."""
    return _UNWRITABLE.sub("\ufffd", text)


_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
