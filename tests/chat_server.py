"""A server on this machine that speaks OpenAI's chat protocol and answers what a test tells it to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[Any, ...]
"""Status, body, and headers where there are any. A body of bytes is sent as it is."""


def said(*texts: str, **choice: Any) -> Reply:
    """A reply of the protocol with these answers."""
    choices = [
        {
            "index": n,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
            **choice,
        }
        for n, text in enumerate(texts)
    ]
    return 200, {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}


def refused(status: int, message: str) -> Reply:
    return status, {"error": {"message": message, "type": "error"}}


@contextmanager
def chat_server(answer: Callable[[dict[str, Any]], Reply]) -> Iterator[str]:
    """Its address. `answer` gets each request's body."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, body, *headers = answer(asked)
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            for name, value in (headers[0] if headers else {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            """Not among the tests' own lines."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()
