"""Pictures from the web: of a limited size, within a limited time, and never from an address inside a network.

A name is looked up once, every address it has is checked, and the connection goes to the very address that was checked;
so does each redirection. What a name leads to afterwards does not matter.
"""

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

MOST_BYTES: Final = 32 << 20
"""Of one picture."""
TIMEOUT: Final = 20.0
"""Seconds that a server may stay silent."""
TOTAL: Final = 60.0
"""Seconds for one picture, redirections included."""
REDIRECTIONS: Final = 5
AT_ONCE: Final = 8
"""Pictures fetched at one time."""
PIECE: Final = 1 << 16
UNQUOTED: Final = "/%?&=+:;,@!$'()*~[]"


class Fetcher:
    """Fetches each address once, several at a time; `keep` puts the bytes into a file."""

    def __init__(self, keep: Callable[[bytes], Path]) -> None:
        self._keep = keep
        self._lock = threading.Lock()
        self._coming: dict[str, Future[Path]] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="fetch")

    def ahead(self, url: str) -> Future[Path]:
        """Begin to fetch."""
        with self._lock:
            if url not in self._coming:
                self._coming[url] = self._threads.submit(lambda: self._keep(fetch(url)))
            return self._coming[url]

    def path(self, url: str) -> Path:
        """The picture's file; raises ValueError with the reason where it cannot be had."""
        return self.ahead(url).result()


def fetch(url: str) -> bytes:
    """The bytes behind an address; raises ValueError with the reason where there are none."""
    end = time.monotonic() + TOTAL
    following = url
    try:
        for _ in range(REDIRECTIONS + 1):
            with _open(following, end) as connection:
                answer = connection.getresponse()
                place = answer.getheader("Location") if answer.status in (301, 302, 303, 307, 308) else None
                if place is None and answer.status != 200:
                    raise ValueError(f"the server answers {answer.status} {answer.reason}")
                if place is None:
                    return _body(answer, end)
                following = urljoin(following, place)
        raise ValueError(f"more than {REDIRECTIONS} redirections")
    except (ValueError, OSError, http.client.HTTPException) as fault:
        late = isinstance(fault, TimeoutError) or time.monotonic() > end
        reason = "no answer in time" if late else getattr(fault, "strerror", None) or fault
        raise ValueError(f"{url[:200]}: cannot be fetched ({reason})") from None


def public_address(host: str, port: int) -> str:
    """An address of a host, where all that it has are public; raises ValueError else."""
    found = dict.fromkeys(str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    for address in found:
        if not _is_public(ipaddress.ip_address(address.partition("%")[0])):
            raise ValueError(f"{host} leads to {address}, which is not a public address")
    return next(iter(found))


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address, and one that it may stand for, belongs to the open internet."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped or address.sixtofour or address.teredo:
            return False
        if address in ipaddress.ip_network("64:ff9b::/96"):
            return _is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address.is_site_local:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


class _Connected(http.client.HTTPConnection):
    """A connection to an address that was checked, whatever the name leads to by now."""

    def __init__(self, host: str, port: int, address: str, secure: bool) -> None:
        super().__init__(host, port, timeout=TIMEOUT)
        self._address = address
        self._secure = secure

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), TIMEOUT)
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)
        self._wire = self.sock  # http.client lets go of its own while the answer is still read

    def end_at(self, end: float) -> None:
        """Cut it off then, however slowly the server still sends."""
        self._clock = threading.Timer(max(end - time.monotonic(), 0.01), self._cut)
        self._clock.daemon = True
        self._clock.start()

    def _cut(self) -> None:
        with suppress(OSError, AttributeError):
            self._wire.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> "_Connected":
        return self

    def __exit__(self, *_: object) -> None:
        self._clock.cancel()
        self.close()


def _open(url: str, end: float) -> _Connected:
    """A connection on which the picture has been asked for."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("only addresses that begin with http:// or https:// are fetched")
    if parts.username or parts.password:
        raise ValueError("an address with a password is not fetched")
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    connection = _Connected(parts.hostname, port, public_address(parts.hostname, port), secure)
    connection.end_at(end)
    place = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=UNQUOTED)
    head = {"User-Agent": "sightline", "Accept": "image/*", "Accept-Encoding": "identity"}
    try:
        connection.request("GET", place, headers=head)
    except BaseException:
        connection.__exit__()
        raise
    return connection


def _body(answer: http.client.HTTPResponse, end: float) -> bytes:
    found = bytearray()
    while piece := answer.read1(PIECE):
        found += piece
        if len(found) > MOST_BYTES:
            raise ValueError(f"the picture is larger than {MOST_BYTES >> 20} MB")
    if time.monotonic() > end:
        raise TimeoutError
    if not found or answer.length:
        raise ValueError("the server sends nothing, or less than it said")
    return bytes(found)
