"""Around every answer: what browsers may do, how much may be sent in, no word of inner faults."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from starlette.datastructures import MutableHeaders

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_RAW = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
HSTS = (b"strict-transport-security", b"max-age=31536000")
SMALL, LARGE = 256 * 1024, 25 * 2**20
PATIENCE = 10.0
"""Seconds for which the rest of what is too much is waited for."""
LARGE_PATHS = ("/staff/studies/",)
log = logging.getLogger("sightline.server")


class TooLarge(Exception):  # noqa: N818
    """More was sent in than this address takes."""


class Guard:
    """Outermost layer of the application.

    `root` is the path under which it is served: a proxy may hand it on or take it away. Where it is reached by
    https alone, browsers are told so. `is_staff` says of a request's cookies whether a staff member sent it: only
    they may send files.
    """

    def __init__(
        self,
        app: App,
        root: str = "",
        https_only: bool = False,
        is_staff: Callable[[str], bool] = lambda cookies: False,
    ) -> None:
        self.app, self.root, self.is_staff = app, root, is_staff
        self.headers = [*_RAW, HSTS] if https_only else _RAW

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = self._below_root(scope)
        limit = SMALL
        started = False

        def check(size: int) -> None:
            """So much may be sent here by whoever this is; who it is is asked when it matters."""
            nonlocal limit
            if (
                size > limit == SMALL
                and scope["path"].startswith(LARGE_PATHS)
                and self.is_staff(_cookies(scope))
            ):
                limit = LARGE
            if size > limit:
                raise TooLarge

        async def guarded_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                if "cache-control" not in headers:
                    headers["cache-control"] = "no-store"
                if self.root and headers.get("location", "").startswith("/"):
                    headers["location"] = self.root + headers["location"]
                message["headers"] = [*message["headers"], *self.headers]
            await send(message)

        received, ended = 0, False

        async def counted_receive() -> Message:
            nonlocal received, ended
            message = await receive()
            received += len(message.get("body", b""))
            ended = not message.get("more_body")
            check(received)
            return message

        try:
            check(_declared(scope))
            await self.app(scope, counted_receive, guarded_send)
        except TooLarge:
            if not started:
                if not ended:
                    await _let_pass(receive)
                await _plain(guarded_send, 413, "That is too much at once.")
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await _plain(guarded_send, 500, "Something went wrong on our side. Please try again.")

    def _below_root(self, scope: Message) -> Message:
        path = scope["path"]
        if not self.root or not (path == self.root or path.startswith(f"{self.root}/")):
            return scope
        short = path[len(self.root) :] or "/"
        return {**scope, "path": short, "raw_path": short.encode()}


def _cookies(scope: Message) -> str:
    return "; ".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie")


def _declared(scope: Message) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else LARGE + 1
    return 0


async def _let_pass(receive: Receive) -> None:
    """Take what is still on its way and forget it: a proxy that is cut off while it sends does not hear the answer."""
    taken = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while taken <= LARGE + SMALL:
                message = await receive()
                if not message.get("more_body"):
                    return
                taken += len(message.get("body", b""))


async def _plain(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
