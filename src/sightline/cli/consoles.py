"""Where the command line writes: results and remarks on stdout, errors and progress on stderr."""

from rich.console import Console, RenderableType

console = Console()
errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


def be_quiet(quiet: bool) -> None:
    """Whether remarks and progress are left out; errors are told all the same."""
    console.quiet = quiet


def show(result: RenderableType, *, kept: bool) -> None:
    """A command's result. Where no file keeps it, it is all that was asked for: then `-q` does not hide it."""
    quiet = console.quiet
    console.quiet = quiet and kept
    try:
        console.print(result)
    finally:
        console.quiet = quiet


def remark(text: str) -> None:
    """Something that a user may want to know, beside the results."""
    if not console.quiet:
        errors.print(text)
