"""Pictures from the web: only from public addresses, of a limited size, within a limited time."""

import http.server
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline import BadLine
from sightline.demo import STORIES
from sightline.io import fetch, read_items
from sightline.io.pictures import files

CAT = (STORIES.parent / "pictures" / "cat.jpg").read_bytes()


class Web(http.server.BaseHTTPRequestHandler):
    """A small web with good and bad corners."""

    def do_GET(self) -> None:
        kind = self.path.strip("/").split("?")[0]
        if kind.startswith("to"):
            self.send_response(302)
            places = {"to-private": "http://10.0.0.7/secret", "to-file": "file:///etc/passwd", "to-loop": "/to-loop",
                      "to-cat": "/cat", "to-user": "http://me:pw@example.org/"}  # fmt: skip
            self.send_header("Location", places[kind])
            self.end_headers()
            return
        self.send_response(200 if kind in ("cat", "large", "slow", "short", "none") else 404)
        if kind == "short":
            self.send_header("Content-Length", "999999")
        self.end_headers()
        if kind in ("cat", "short"):
            self.wfile.write(CAT)
        elif kind == "large":
            self.wfile.write(b"x" * 5000)
        elif kind == "slow":
            for _ in range(40):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.1)

    def log_message(self, *_: Any) -> None:
        """Nothing on the screen."""


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://pictures.test:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pictures.test` stands for a public server, which here lives on this machine."""
    real = fetch.public_address
    monkeypatch.setattr(
        fetch,
        "public_address",
        lambda host, port: "127.0.0.1" if host == "pictures.test" else real(host, port),
    )


@pytest.mark.usefixtures("public")
def test_a_picture_is_fetched_also_behind_a_redirection(web: str) -> None:
    assert fetch.fetch(f"{web}/cat") == CAT
    assert fetch.fetch(f"{web}/to-cat?a b=ü") == CAT


@pytest.mark.usefixtures("public")
@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nothing", "404"),
        ("none", "sends nothing"),
        ("short", "less than it said"),
        ("to-private", "10.0.0.7, which is not a public address"),
        ("to-file", "http:// or https://"),
        ("to-user", "password"),
        ("to-loop", "5 redirections"),
        ("large", "larger than 0 MB"),
        ("slow", "no answer in time"),
    ],
)
def test_what_cannot_be_had_is_told(web: str, place: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "TOTAL", 0.5)
    if place == "large":
        monkeypatch.setattr(fetch, "MOST_BYTES", 4000)
    begun = time.monotonic()
    with pytest.raises(ValueError, match=says) as told:
        fetch.fetch(f"{web}/{place}")
    assert time.monotonic() - begun < 3 and "\n" not in str(told.value)


PRIVATE = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
    "255.255.255.255", "::1", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::",
    "64:ff9b::7f00:1", "fec0::1", "ff02::1", "::", "2001:db8::1",
]  # fmt: skip


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_inside_a_network_is_refused_however_it_is_named(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, "93.184.216.34", address)  # one good address does not help
    with pytest.raises(ValueError, match="not a public address"):
        fetch.public_address("innocent.example", 80)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822"]
)
def test_a_public_address_is_taken(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, address)
    assert fetch.public_address("public.example", 80) == address


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere when it is looked up a second time gains nothing by it."""
    asked: list[str] = []

    def refuse(place: tuple[str, int], *_: Any) -> None:
        asked.append(place[0])
        raise ConnectionRefusedError(111, "Connection refused")

    answers = iter(["93.184.216.34", "127.0.0.1"])
    monkeypatch.setattr(
        socket, "getaddrinfo",
        lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 80))],
    )  # fmt: skip
    monkeypatch.setattr(socket, "create_connection", refuse)
    with pytest.raises(ValueError, match="Connection refused"):
        fetch.fetch("http://rebinding.example/cat.jpg")
    assert asked == ["93.184.216.34"]


@pytest.mark.parametrize(
    "url", ["http://", "http://[::1", "http://a:b@c/", "http://x:99999/", "http://\u0130\u0307..x/"]
)
def test_an_address_that_is_none_is_one_line(url: str) -> None:
    with pytest.raises(ValueError) as told:
        fetch.fetch(url)
    assert "\n" not in str(told.value)


@pytest.mark.usefixtures("public")
def test_a_file_with_addresses(web: str, tmp_path: Path) -> None:
    lines = [
        f'{{"id": "{n}", "images": ["{web}/{place}"], "text": "A cat."}}'
        for n, place in enumerate(["cat", "gone"])
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(lines))
    files.keep_in(tmp_path / "cache")
    with files.from_the_web(True):
        good, bad = read_items(tmp_path / "items.jsonl", on_error="collect")
    assert not isinstance(good, BadLine) and good.images[0].read_bytes() == CAT
    assert isinstance(bad, BadLine) and bad.id == "1" and "404" in bad.reason
    with pytest.raises(BadLine, match="--allow-urls"):
        list(read_items(tmp_path / "items.jsonl"))
