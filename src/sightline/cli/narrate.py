"""`sightline narrate`: scene, action and rationale of a picture in one sentence."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from sightline.cli.app import app, console
from sightline.cli.options import FormatOption, OutOption, OverwriteOption

if TYPE_CHECKING:
    from sightline.generate.narratives import Teller

LOOP = "Of --way loop"


@app.command(epilog="Example: sightline narrate hl.jsonl -o narratives")
def narrate(
    file: Annotated[
        Path,
        typer.Argument(help="HL's JSON Lines, or items that name their axis; - is stdin."),
    ],
    out: OutOption,
    way: Annotated[
        Literal["compose", "prompt", "paraphrase", "loop"],
        typer.Option(help="By grammar, by a chat model, by a paraphraser, or by one that people teach."),
    ] = "compose",
    model: Annotated[
        str | None,
        typer.Option(help="chat:NAME for prompt; a T5's NAME or PATH for paraphrase and loop."),
    ] = None,
    pictures: Annotated[int, typer.Option(min=2, help="Of a round.", rich_help_panel=LOOP)] = 50,
    finish: Annotated[
        bool, typer.Option("--finish", help="End with the corrections there are.", rich_help_panel=LOOP)
    ] = False,
    seed: Annotated[int, typer.Option(help="The order of the pictures.", rich_help_panel=LOOP)] = 0,
    format: FormatOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Join each picture's scene, action and rationale into one sentence, and mark what lost one."""
    from sightline.errors import UsageError
    from sightline.generate.narratives import FILES, Triple, told, triples_at, write
    from sightline.io.results import ResultFolder
    from sightline.items import Failure
    from sightline.text.spacy_language import load_language

    with ResultFolder(out, overwrite=overwrite) as folder:
        if folder.holds(FILES[0]) and not overwrite:
            raise UsageError(f"{out} holds narratives already; give another folder, or --overwrite them")
        read = list(triples_at(file, format))
        triples = [one for one in read if isinstance(one, Triple)]
        teller: Teller
        if way == "loop":
            from sightline.errors import extra

            extra("torch", "train")
            from sightline.generate.paraphrasing import PUBLISHED
            from sightline.train.narratives.loop import LoopSettings, Waiting, run_loop

            settings = LoopSettings(model or PUBLISHED, pictures, seed=seed, finish=finish)
            found = run_loop(
                folder, triples, settings, lambda line: console.print(escape(line), soft_wrap=True)
            )
            if isinstance(found, Waiting):
                console.print(
                    f"Waiting for {found.missing} of {found.rows} narratives: fill in the column 'narrative' of "
                    f"{escape(str(found.path))} (ok accepts the draft), then give this command again.",
                    soft_wrap=True,
                )
                return
            teller = found
        else:
            teller = _teller(way, model)
        language = load_language("embedded")
        texts = told(triples, teller, language)
        failures = [one for one in read if isinstance(one, Failure)]
        made = write(
            folder, [*failures, *texts], model or way, teller.signature, f"Narratives of {file.name}"
        )
    lost = sum(bool(one.lost) for one in made)
    console.print(
        f"{len(made):,} narratives, {lost:,} of which lost a source: {out / FILES[0]}", soft_wrap=True
    )
    console.print(f"Report: {out / FILES[2]}", soft_wrap=True)
    if folder.failed:
        console.print(f"{folder.failed} failed: {out / FILES[1]} says why.", soft_wrap=True)
    raise typer.Exit(folder.status)


def _teller(way: str, model: str | None) -> "Teller":
    from sightline.chat import Chat
    from sightline.errors import UsageError
    from sightline.generate.narratives import ComposeTeller
    from sightline.generate.paraphrasing import PUBLISHED, ParaphraseTeller
    from sightline.generate.prompting import PromptTeller

    if way == "compose":
        if model:
            raise UsageError("--way compose needs no --model")
        return ComposeTeller()
    if way == "prompt":
        kind, _, name = (model or "").partition(":")
        if kind != "chat" or not name:
            raise UsageError("--way prompt needs a model: --model chat:NAME")
        return PromptTeller(Chat(name))
    return ParaphraseTeller(model or PUBLISHED)
