"""How fast judges are asked: against a server that takes 200 ms for every answer, and again from the cache.

Beside each rate stands what a bare HTTP client reaches in the same run, so that a busy machine is told from slow code.

python benchmarks/bench_judges.py [ITEMS]
"""

import http.client
import json
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import sightline
from sightline.resources import Holder

SLOW = 0.2
AT_ONCE = (4, 8, 16, 32)
SPEC = "judge:model=m,criterion=vicr,readout=number"


class Slow(BaseHTTPRequestHandler):
    """Says 4 after 200 ms."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else the kernel holds every answer back for 40 ms more than was asked

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(SLOW)
        message = {"role": "assistant", "content": "4"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def captions(folder: Path, count: int) -> Path:
    """So many captions, each with a picture of its own, of the size of COCO's."""
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)
    photo = Image.fromarray(levels).resize((640, 480))
    rows = []
    for number in range(count):
        photo.putpixel((0, 0), (number % 256, number // 256, 0))
        photo.save(folder / f"{number}.jpg")
        with (folder / f"{number}.jpg").open("ab") as file:
            file.write(str(number).encode())  # so that each picture is another
        rows.append({"id": str(number), "images": [f"{number}.jpg"], "text": f"Dog number {number}."})
    path = folder / "captions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def bare(port: int, at_once: int, count: int) -> float:
    """Requests a second of threads that do nothing but send a body of the same size and read the answer."""
    body = b'{"image": "' + b"0" * 60_000 + b'"}'

    def send(times: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for _ in range(times):
            connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
            connection.getresponse().read()

    threads = [threading.Thread(target=send, args=(count // at_once,)) for _ in range(at_once)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return count // at_once * at_once / (time.perf_counter() - started)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.request_queue_size = 128
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    with tempfile.TemporaryDirectory() as folder, Holder() as holder:
        source = captions(Path(folder), count)
        about: dict[str, Any] = {"judge_url": url, "holder": holder}
        sightline.score(
            list(sightline.read_items(source))[:2], [SPEC], cache=False, **about
        )  # everything is imported
        for at_once in AT_ONCE:
            some = min(count, 40 * at_once)
            items = list(sightline.read_items(source))[:some]
            started = time.perf_counter()
            sightline.score(items, [SPEC], cache=False, judge_at_once=at_once, **about)
            rate = some / (time.perf_counter() - started)
            most = at_once / SLOW
            plain = bare(server.server_port, at_once, some)
            print(
                f"{at_once:>3} at once: {rate:6.1f} answers a second, {rate / most:4.0%} of {most:g}; "
                f"{rate / plain:4.0%} of a bare client's {plain:.1f}"
            )
        cache = Path(folder) / "cache"
        sightline.score(source, [SPEC], cache=cache, judge_at_once=64, **about)
        started = time.perf_counter()
        again = sightline.score(source, [SPEC], cache=cache, **about)
        told = again.summary["judges"]
        print(f"{count:,} again: {time.perf_counter() - started:.2f} s, {told['cached']} from the cache")
    server.shutdown()


if __name__ == "__main__":
    main()
