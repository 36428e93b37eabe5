"""Writes the reference pages and the index of the documentation from the code, so that they are never stale.

python docs/generate.py           write them
python docs/generate.py --check   say which are stale, and exit with status 1 if any is
"""

import dataclasses
import importlib
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from sightline import functional
from sightline.cli.app import load_commands
from sightline.metrics import metrics
from sightline.registry import Registry, load_plugins

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))  # the pages' parts lie beside this script, from wherever it is run
from cards import cards_page  # noqa: E402
from notebooks import opening as tutorial  # noqa: E402

REFERENCE = DOCS / "reference"
NOTICE = "<!-- Written by docs/generate.py from the code. Do not edit. -->\n"

INTRODUCTIONS = {
    "metric": "Name one with `-m NAME` or `-m NAME:key=value,…`. `sightline metrics` prints this list; what each is "
    "blind to and how far it agrees with people stands on its [card](cards.md).",
    "format": "The format of a file is guessed; `--format NAME` says it where it cannot be.",
    "encoder": "Choose one with `--encoder NAME` or `--encoder NAME:ARGUMENT`.",
    "judge": "Named in a metric's options: `-m judge:model=NAME:ARGUMENT`. A name alone is a server's where "
    "`--judge-url` names one, and else a model to run here.",
    "captioner": "Choose one with `sightline caption --captioner NAME` or `--captioner NAME:ARGUMENT`.",
    "region source": "Choose one with `--regions NAME` or `--regions NAME:ARGUMENT`.",
    "engine": "Choose one with `--engine NAME`.",
    "purity scorer": "Choose one with `sightline corpus --purity NAME` or `--purity NAME:ARGUMENT`.",
    "option": "Choices of single metrics: `--option NAME=VALUE`, a flag of its own where a command has one, or a "
    "keyword of `sightline.score`.",
    "protocol": "Choose one with `sightline meta --protocol NAME --data DIR`. Below the table stands what DIR "
    "holds; files may be gzipped, and pictures may be of any kind (`.jpg`, `.webp`, …).",
}
FIRST = """# Sightline

How true is a text to its pictures? `sightline demo --open` scores sample stories and shows why each got what it got:

[![The report: a story with its phrases lit up in the pictures](images/report.png)](report.md)

[Score your own captions](tutorials/01-score-my-captions.ipynb), see [what each metric is and is
blind to](reference/cards.md), or begin with the [commands](reference/commands.md).
"""
FILES = {"metric": "metrics", "format": "readers", "region source": "regions"}
"""Names of pages that are not the plural of the kind."""


def pages() -> dict[Path, str]:
    """Every generated page with what it should say."""
    load_plugins()
    for room in ("sightline.pipeline.run",):  # registries that no plugin adds to
        importlib.import_module(room)
    found = {REFERENCE / "commands.md": commands_page()}
    for registry in Registry.every:
        if own_names(registry):
            file = FILES.get(registry.kind, registry.kind.replace(" ", "-") + "s")
            found[REFERENCE / f"{file}.md"] = registry_page(registry)
    found[REFERENCE / "functional.md"] = functional_page()
    found[REFERENCE / "cards.md"] = cards_page(NOTICE, options, own_names(metrics))
    found[DOCS / "index.md"] = index_page(found)
    return found


def registry_page(registry: Registry[Any]) -> str:
    """A table of everything in a registry that comes with Sightline."""
    title = FILES.get(registry.kind, registry.kind + "s").capitalize()
    rows = [
        (f"`{name}`", registry.describe(name), options(registry.get(name))) for name in own_names(registry)
    ]
    columns = ("name", "what it is", "options (the default first)")
    if not any(row[2] for row in rows):
        columns, rows = columns[:2], [row[:2] for row in rows]
    intro = INTRODUCTIONS.get(registry.kind, "")
    trees = [
        f"## {name}\n\n```\nDIR/\n{drawn(tree)}\n```\n"
        for name in own_names(registry)
        if (tree := getattr(registry.get(name), "tree", ""))
    ]
    parts = (NOTICE + f"# {title}\n", *((intro + "\n",) if intro else ()), table(columns, rows), *trees)
    return "\n".join(parts)


def drawn(tree: str) -> str:
    """The entries of a folder, a line each, with the branches that lead to them."""
    *lines, last = tree.split("\n")
    return "\n".join((*(f"├── {line}" for line in lines), f"└── {last}"))


def functional_page() -> str:
    """Every formula of `sightline.functional` with its arguments and its example."""
    parts = [NOTICE + "# Formulas\n", prose(module_doc(functional)[0]) + "\n", module_doc(functional)[1]]
    by_module: dict[str, list[Any]] = {}
    for thing in (getattr(functional, name) for name in functional.__all__):
        by_module.setdefault(thing.__module__, []).append(thing)
    for name, things in by_module.items():
        parts.append(
            f"## {name.rpartition('.')[2].capitalize()}\n\n{prose(importlib.import_module(name).__doc__)}\n"
        )
        for thing in things:
            if inspect.isfunction(thing):
                words, example = module_doc(thing)
                given = (p.replace(annotation=p.empty) for p in inspect.signature(thing).parameters.values())
                call = f"{thing.__name__}({', '.join(map(str, given))})".replace("'", '"')
                parts.append(f"### {thing.__name__}\n\n```python\n{call}\n```\n\n{prose(words)}\n")
                parts.append(example)
    return "\n".join(parts)


def module_doc(thing: Any) -> tuple[str, str]:
    """What a docstring says, and its example as a block of code."""
    words, mark, rest = (inspect.getdoc(thing) or "").partition(">>> ")
    example, _, after = (mark + rest).partition("\n\n")
    return f"{words}\n{after}", f"```pycon\n{example}\n```\n"


def own_names(registry: Registry[Any]) -> list[str]:
    """Names that Sightline itself registers; what else is installed here is not documented here."""
    return [
        name for name in registry if getattr(registry.get(name), "__module__", "").startswith("sightline.")
    ]


def options(thing: Any) -> str:
    """The options of a dataclass, each with its choices, the default first."""
    if not dataclasses.is_dataclass(thing):
        return ""
    hints = typing.get_type_hints(thing)
    return "<br>".join(
        f"`{field.name}={choices(field, hints[field.name])}`" for field in dataclasses.fields(thing)
    )


def choices(field: Any, hint: Any) -> str:
    default = "" if field.default in (dataclasses.MISSING, None) else str(field.default)
    if typing.get_origin(hint) is typing.Literal:
        return "|".join(sorted(map(str, typing.get_args(hint)), key=lambda choice: choice != default))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        hint = next(kind for kind in typing.get_args(hint) if kind is not type(None))
    return default or getattr(hint, "__name__", str(hint)).upper()


def commands_page() -> str:
    """Every command with its arguments and options."""
    status = (
        "What each command takes. Exit status: 0 all done; 2 wrong use; 3 done, but some items failed; 130 stopped by "
        "Ctrl-C.\n"
    )
    shared = "All take `-h`, and `-q` to say nothing but errors; options can stand in a [file](../everyday.md), too.\n"
    found = list(commands(typer.main.get_command(load_commands()), "sightline"))
    overview = [(f"[`{name}`](#{name.replace(' ', '-')})", prose(c.help).split("\n")[0]) for name, c in found]
    parts = [NOTICE + "# Commands\n", status, shared, table(("command", "what it does"), overview)]
    for name, command in found:
        rows = [row(parameter) for parameter in command.params if parameter.name not in ("help", "quiet")]
        given = " ".join([name, *(cells[0].strip("`") for cells in rows if not cells[0].startswith("`-"))])
        parts.append(f"## {name}\n\n{prose(command.help)}\n\n```\n{given} [OPTIONS]\n```\n")
        if example := prose(command.epilog).removeprefix("Example: "):
            parts.append(f"For example:\n\n```sh\n{example}\n```\n")
        if rows:
            parts.append(table(("argument or option", "what it is", "default"), rows))
    return "\n".join(parts)


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The commands below a group, with their full names. Typer keeps its own copy of Click."""
    if getattr(command, "invoke_without_command", False) and name != "sightline":
        yield name, command
    if hasattr(command, "commands"):
        for inner in sorted(command.commands):
            yield from commands(command.commands[inner], f"{name} {inner}")
    elif not command.hidden:
        yield name, command


def row(parameter: Any) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`", prose(parameter.help), ""
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.required:
        return names, prose(parameter.help), "required"
    plain = parameter.default not in (None, False, (), []) and not callable(parameter.default)
    return names, prose(parameter.help), f"`{parameter.default}`" if plain else ""


def index_page(generated: dict[Path, str]) -> str:
    """All pages of the documentation with what each begins with."""
    written = {path: path.read_text("utf-8") for path in DOCS.rglob("*.md") if path.name != "index.md"}
    everything = {**written, **generated}
    books = sorted((DOCS / "tutorials").glob("*.ipynb"))
    rows = [(f"[{tutorial(book)[0]}](tutorials/{book.name})", tutorial(book)[1]) for book in books]
    parts = [NOTICE + FIRST, f"## Tutorials\n\n{table(('page', 'begins'), rows)}"]
    for heading, inside in (("Guides", False), ("Reference", True)):
        rows = [
            (f"[{title(text)}]({path.relative_to(DOCS).as_posix()})", opening(text))
            for path, text in sorted(everything.items())
            if (path.parent == REFERENCE) is inside
        ]
        if rows:
            parts.append(f"## {heading}\n\n{table(('page', 'begins'), rows)}")
    return "\n".join(parts)


def title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1] if found else "?"


def opening(text: str) -> str:
    """The first sentence after the title."""
    after = re.split(r"^# .+$", text, maxsplit=1, flags=re.MULTILINE)[-1]
    paragraph = next((part for part in after.strip().split("\n\n") if re.match(r"(?!```)[\w`*]", part)), "")
    return re.split(r"(?<=[.!?:])\s", " ".join(paragraph.split()), maxsplit=1)[0].rstrip(":")


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def prose(text: str | None) -> str:
    """Help text as Markdown: one line per paragraph."""
    return "\n\n".join(
        " ".join(part.split()) for part in (text or "").replace("\f", "").strip().split("\n\n")
    )


def stale() -> list[Path]:
    """Generated pages that do not say what they should, and those that should no longer be there."""
    wanted = pages()
    old = [path for path, text in wanted.items() if not path.is_file() or path.read_text("utf-8") != text]
    return old + [path for path in REFERENCE.glob("*.md") if path not in wanted]


def main() -> None:
    if "--check" in sys.argv[1:]:
        found = stale()
        for path in found:
            print(f"stale: {path.relative_to(DOCS.parent)}; run docs/generate.py")
        sys.exit(1 if found else 0)
    wanted = pages()
    REFERENCE.mkdir(exist_ok=True)
    for path in REFERENCE.glob("*.md"):
        if path not in wanted:
            path.unlink()
    for path, text in wanted.items():
        path.write_text(text, "utf-8")
        print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
