"""Tables as a paper takes them: Markdown, and LaTeX with booktabs. Any text can stand in a cell."""

from collections.abc import Sequence

_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#"} | {"\n": " ", "\r": " "})
_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"<": "$<$", ">": "$>$", "−": "$-$", "–": "--", "\n": " ", "\r": " "}
)


def markdown_text(text: str) -> str:
    return text.translate(_MARKDOWN)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table whose first column is names."""
    lines = [list(map(markdown_text, row)) for row in (head, *rows)]
    lines.insert(1, ["---"] + ["---:"] * (len(head) - 1))
    return [f"| {' | '.join(line)} |" for line in lines]


def latex_text(text: str) -> str:
    return text.translate(_LATEX)


def latex_table(head: Sequence[str], rows: Sequence[Sequence[str]], columns: str) -> list[str]:
    """The lines of a booktabs table. Cells are LaTeX already."""
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(head) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
