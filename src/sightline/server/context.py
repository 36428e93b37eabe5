"""What every request needs: the server's parts, the visitor's session, and errors as answers."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address, ip_network
from typing import TypeVar
from urllib.parse import urlsplit

from fastapi import Request, Response
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from sightline.errors import UsageError
from sightline.server.private import Private
from sightline.server.security.limits import Limits
from sightline.server.security.sessions import COOKIE, LIFETIME, STAFF_LIFETIME, Session, Sessions
from sightline.server.storage import staff, studies
from sightline.server.storage.database import Database
from sightline.server.storage.staff import Account
from sightline.server.storage.studies import StoredStudy
from sightline.server.storage.writer import Writer

T = TypeVar("T")
NO_STUDY = "There is no such study."
STUDY_MEMORY = 1.0
"""Seconds for which a study's settings are remembered; other processes notice a pause that late."""


class Problem(Exception):  # noqa: N818
    """An answer that is not the hoped-for one."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Server:
    """The parts of a running server."""

    def __init__(
        self,
        database: Database,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.time,
        trusted_proxies: Sequence[str] = ("127.0.0.1",),
        public_url: str = "",
        private: Private | None = None,
    ) -> None:
        self.database = database
        self.private = private or Private.beside(database)
        self.public_url = public_url.rstrip("/")
        """Where people reach this server, as links outside of it name it; empty: where the request came to."""
        self.root = urlsplit(self.public_url).path.rstrip("/")
        """The path under which it is served: before every address of its pages."""
        self.trusted_proxies = tuple(trusted_proxies)
        """Addresses or networks whose word on the client's address and scheme is taken."""
        self.sessions = Sessions(self.private.signing_key(database))
        self.writer = Writer(database)
        self.limits = limits or Limits()
        self.clock = clock
        self._studies: dict[str, tuple[float, StoredStudy | None]] = {}

    def study(self, slug: str) -> StoredStudy:
        known = self._studies.get(slug)
        if known is None or known[0] < time.monotonic():
            with self.database.read() as connection:
                found = studies.find(connection, slug)
            if len(self._studies) > 1000:
                self._studies.clear()
            known = self._studies[slug] = (time.monotonic() + STUDY_MEMORY, found)
        if known[1] is None:
            raise Problem(404, NO_STUDY)
        return known[1]

    def is_staff(self, cookies: str) -> bool:
        """Whether a staff member who is logged in sent these cookies."""
        try:
            value = SimpleCookie(cookies).get(COOKIE)
        except CookieError:
            return False
        return self.account(self.sessions.read(value.value if value else None)) is not None

    def account(self, session: Session) -> Account | None:
        """The staff member whom a session belongs to, while it holds."""
        login = session.staff
        if login is None or self.clock() - login[2] >= STAFF_LIFETIME:
            return None
        with self.database.read() as connection:
            return staff.account(connection, login[0], login[1])

    def forget_studies(self) -> None:
        self._studies.clear()

    async def write(self, job: Callable[[Connection], T]) -> T:
        """Run a writing job; returns when it is on disk."""
        with _taken():
            return await asyncio.wrap_future(self.writer.submit(job))

    def write_now(self, job: Callable[[Connection], T]) -> T:
        """The same for handlers that run in a thread."""
        with _taken():
            return self.writer.submit(job).result(timeout=60)

    def close(self) -> None:
        self.writer.close()
        self.database.close()


@contextmanager
def _taken() -> Iterator[None]:
    """What must be unique and was still taken after several tries is another's: an answer's token, a name."""
    try:
        yield
    except IntegrityError:
        raise Problem(409, "This was sent before, or belongs to somebody else.") from None


def server_of(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


def address_for(request: Request, path: str) -> str:
    """The whole address of a page of ours, for people to pass on."""
    server = server_of(request)
    here = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return f"{server.public_url or here}{path}"


def session_of(request: Request) -> Session:
    session: Session | None = getattr(request.state, "session", None)
    if session is None:
        session = server_of(request).sessions.read(request.cookies.get(COOKIE))
        request.state.session = session
    return session


def keep_session(request: Request, response: Response) -> None:
    """Send the session with an answer."""
    value = server_of(request).sessions.write(session_of(request))
    server = server_of(request)
    secure = request.url.scheme == "https" or server.public_url.startswith("https://")
    response.set_cookie(
        COOKIE,
        value,
        max_age=LIFETIME,
        path=server.root or "/",
        httponly=True,
        samesite="lax",
        secure=secure,
    )


def check_csrf(request: Request, token: str | None) -> None:
    """Only pages of ours may send things in the visitor's name."""
    origin = request.headers.get("origin")
    ours = (request.headers.get("host"), urlsplit(server_of(request).public_url).netloc or None)
    if origin is not None and origin.split("://")[-1] not in ours:
        raise Problem(403, "This came from another site.")
    if not server_of(request).sessions.csrf_holds(session_of(request), token):
        raise Problem(403, "This page has grown old. Reload it and try again.")


def check_limit(request: Request, kind: str, key: str | None = None) -> None:
    if not server_of(request).limits.allow(kind, key or address_of(request)):
        raise Problem(429, "That was a little fast. Take a breath and try again.")


@contextmanager
def count_failures(request: Request, kind: str) -> Iterator[None]:
    """A limit on what goes wrong: whoever is let in uses none of it, whoever guesses is soon slowed down."""
    limits = server_of(request).limits
    if not limits.left(kind, address_of(request)):
        raise Problem(429, "That went wrong too often. Wait a minute and try again.")
    try:
        yield
    except (Problem, UsageError):
        limits.allow(kind, address_of(request))
        raise


def address_of(request: Request) -> str:
    """The client's address; of IPv6 the network, since one line at home has all addresses in it."""
    host = request.client.host if request.client else "?"
    with suppress(ValueError):
        found = ip_address(host)
        if found.version == 6:
            mapped = found.ipv4_mapped
            return str(mapped or ip_network((found, 64), strict=False))
    return host


def rater_of(request: Request, slug: str) -> int:
    """The visitor's rater number in a study."""
    rater = session_of(request).raters.get(slug)
    if rater is None:
        raise Problem(401, "You have not joined this study on this device.")
    return rater


def staff_of(request: Request) -> Account:
    """The staff member, or the way to the login page."""
    if known := server_of(request).account(session_of(request)):
        return known
    raise Problem(401, "Staff only: please log in.")
