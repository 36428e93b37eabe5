"""Around every answer: what browsers may do, how much may be sent in, no word of inner faults."""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
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
SMALL, LARGE = 256 * 1024, 25 * 2**20
LARGE_PATHS = ("/staff/",)
log = logging.getLogger("sightline.server")


class TooLarge(Exception):  # noqa: N818
    """More was sent in than this address takes."""


class Guard:
    """Outermost layer of the application."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = LARGE if scope["path"].startswith(LARGE_PATHS) else SMALL
        started = False

        async def guarded_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                if "cache-control" not in headers:
                    headers["cache-control"] = "no-store"
                message["headers"] = [*message["headers"], *_RAW]
            await send(message)

        received = 0

        async def counted_receive() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise TooLarge
            return message

        try:
            if _declared(scope) > limit:
                raise TooLarge
            await self.app(scope, counted_receive, guarded_send)
        except TooLarge:
            if not started:
                await _plain(guarded_send, 413, "That is too much at once.")
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await _plain(guarded_send, 500, "Something went wrong on our side. Please try again.")


def _declared(scope: Message) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else LARGE + 1
    return 0


async def _plain(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
