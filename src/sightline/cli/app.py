"""The command line: finds the commands, and turns wrong use into one clear line."""

import contextlib
import ctypes
import sys
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from sightline.cli.consoles import console as console
from sightline.cli.consoles import errors as errors
from sightline.cli.lazy import LazyGroup
from sightline.errors import UsageError
from sightline.version import package_version


class Commands(LazyGroup):
    place = "sightline.cli."
    lines: ClassVar = {
        "cache": "Show the cache of vectors and regions; prune or verify it.",
        "calibrate": "Fit an encoder's theta and score range, and keep them for later runs with it.",
        "caption": "Describe pictures: captions as items that `score` reads, failures, a contact sheet.",
        "captioners": "Compare captioners, as before and after fine-tuning, in the form of HL's Tables 3 and 4.",
        "compare": "Compare systems: differences with intervals, who wins, and why; or their distance from people.",
        "corpus": "Analyse a caption corpus: words, PMI, confidence, diversity, purity, hard samples.",
        "demo": "Score bundled sample stories: good, mediocre and wrong ones for the same pictures, and a captioner's.",
        "doctor": "Look at what is installed: extras, models, caches, GPU, Java; and say what mends what is missing.",
        "meta": "Correlate metrics with people's ratings: intervals, significance, and how far people agree.",
        "metrics": "List the metrics, a line each, with options; or tell about one, a judge's prompts too.",
        "models": "List the embedded models, or show the card of one: data, recipe, measured quality, licence.",
        "narrate": "Join each picture's scene, action and rationale into one sentence, and mark what lost one.",
        "psych": "Partial credit model, latent regression, Wright map, agreement and worker selection.",
        "ratings": "People's judgements to and from files.",
        "score": "Score stories and captions against their pictures.",
        "serve": "Let people play the rating game and take part in studies, in the browser.",
        "train": "Train one of the embedded parts anew.",
    }

    def invoke(self, ctx: Any) -> Any:
        """Run a command; after Ctrl-C one line tells how it stands."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            errors.print(f"\nsightline: stopped{'; '.join(['', *getattr(stop, '__notes__', ())])}")
            raise


app = typer.Typer(
    name="sightline",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Commands.owner = app
M_ARENA_MAX = -8
"""Name of the setting in glibc's malloc.h."""


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"sightline {package_version()}")
        raise typer.Exit


@app.callback()
def sightline(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_tell_version)
    ] = False,
    config: Annotated[
        Path | None, typer.Option(help="Options from this file, not from the folder's sightline.toml.")
    ] = None,
) -> None:
    """How true is a text to its pictures?"""


def load_commands() -> typer.Typer:
    """The application with every command imported, for what is made from all of them."""
    Commands.load_all()
    return app


def share_heaps() -> None:
    """glibc gives each thread a heap of its own and little of it back: two for all save a quarter of the memory."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def main() -> None:
    """Entry point of the `sightline` command."""
    share_heaps()
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except UsageError as fault:
        errors.print(f"sightline: {fault}")
        sys.exit(2)
    except typer.TyperException as fault:
        errors.print(_one_line(fault), end="")
        sys.exit(2)
    except typer.Abort:
        sys.exit(1)


def _one_line(fault: typer.TyperException) -> str:
    """What Typer has to say of wrong use; nothing where it has shown a command's help already."""
    told = str(getattr(fault, "format_message", fault.__str__)()).strip()
    context = getattr(fault, "ctx", None)
    more = f" ('{context.command_path} --help' tells more)" if context else ""
    return f"sightline: {told}{more}\n" if told else ""
