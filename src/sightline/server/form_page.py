"""A study's form: its page, what was typed into it, and the files that were chosen in it."""

from collections.abc import Callable, Sequence
from typing import Any, get_args

from fastapi import Request, Response
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.datastructures import UploadFile as Sent

from sightline.people import words
from sightline.people.scales import scales
from sightline.people.study import DEFAULT_SCALES, Kind
from sightline.server import chosen, study_form
from sightline.server.context import server_of
from sightline.server.desk import Desk
from sightline.server.pages import page
from sightline.server.storage import studies, uploads
from sightline.server.storage.staff import Account

KINDS: tuple[Kind, ...] = get_args(Kind)
ABOUT = {
    "rating game": "One level for a caption or story, with training, points and a leaderboard.",
    "description": "People write where it is, what is done and why, and are told which rules they break.",
    "confidence": "How likely is each given answer? For captions on several axes.",
    "story survey": "Several questions about each story, and which of several is the best.",
    "grounding survey": "One level for how much of a text is in the pictures, after a page of consent.",
    "pairwise preference": "Which of two texts about the same pictures is truer?",
    "error marking": "People mark the words that the pictures do not support.",
}
RULES = {
    "long": "not longer than 300 characters",
    "one word": "more than one word",
    "hedge": 'without "I think", "I suppose" and "maybe"',
    "or": 'no choice with "or"',
    "capitals": "no words in capitals",
    "acronym": "no acronyms",
    "slang": "no slang",
    "subject": "a sentence with its subject",
    "same": "What and Why differ",
}


def form_page(
    request: Request,
    kind: Kind,
    fields: dict[str, str],
    batch: str,
    *,
    who: Account,
    desk: Desk | None = None,
    status: int = 200,
    fault: str | None = None,
) -> Response:
    """The form with what was typed and chosen, and what is wrong with it."""
    with server_of(request).database.read() as connection:
        tables, pictures = uploads.names(connection, batch, who.id)
        fixed = desk is not None and studies.answered(connection, desk.stored.id)
    values: dict[str, Any] = {
        "kind": kind,
        "about": ABOUT[kind],
        "fields": {**study_form.EMPTY, **fields},  # a box that is not ticked is not sent
        "offered": study_form.offered(kind),
        "scales": {name: scale.title for name, scale in scales().items()},
        "usual_scale": scales()[DEFAULT_SCALES[kind]].title,
        "languages": {name: words.NAMES.get(name, name) for name in words.languages()},
        "rules": RULES,
        "batch": batch,
        "tables": tables,
        "pictures": pictures,
        "fault": fault,
        "fixed": fixed,
    }
    if desk is not None:
        return desk.page("staff/form.html", status, **values)
    return page(request, "staff/form.html", status, who=who, stored=None, **values)


def sources(form: FormData) -> list[chosen.Source]:
    """The files of a form, by their paths within what was chosen."""
    sent = [value for _, value in form.multi_items() if isinstance(value, Sent) and value.filename]
    return [chosen.Source(str(one.filename), one.file) for one in sent]


def texts(form: FormData) -> dict[str, str]:
    return {name: value for name, value in form.multi_items() if isinstance(value, str)}


def keep(
    connection: Connection,
    batch: str,
    who: Account,
    kept: Sequence[uploads.Kept],
    drop: str | None,
    now: float,
) -> None:
    uploads.sweep(connection, now)
    if drop:
        uploads.forget(connection, batch, who.id, None if drop == "*" else drop)
    uploads.keep(connection, batch, who.id, kept, now)


async def in_thread(job: Callable[..., Any], *given: Any) -> Any:
    return await run_in_threadpool(job, *given)
