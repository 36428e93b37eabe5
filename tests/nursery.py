"""A server of its own for browsers in tests, started in moments."""

import contextlib
import http.client
import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

SRC = Path(__file__).parents[1] / "src"


def free_port() -> int:
    """A port that the system gives to no client: one who knocks while nobody listens could be its own host."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 200):
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no free port")


NURSERY = """
import os, sys
from sightline.server.start import Database, run
child = None
for line in sys.stdin:
    if child:
        os.waitpid(child, 0)  # until it is gone, it may hold the port
    child = os.fork()
    if child == 0:
        run(Database(sys.argv[1]), "127.0.0.1", int(sys.argv[2]), public_url=sys.argv[3])
        os._exit(0)
    print(child, flush=True)
"""


class Nursery:
    """Has everything imported and lets a server go at each call: starting one takes moments."""

    def __init__(self, url: str, port: int, public_url: str = "") -> None:
        self.port = port
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        line = [sys.executable, "-c", NURSERY, url, str(port), public_url]
        env = {**os.environ, **threads, "PYTHONPATH": str(SRC)}
        self.process = subprocess.Popen(
            line, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self) -> int:
        """A server's process id, once it answers."""
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        child = int(self.process.stdout.readline())
        for _ in range(1200):
            try:
                link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                link.request("GET", "/health")
                if link.getresponse().status == 200:
                    return child
            except OSError:
                time.sleep(0.03)
        raise RuntimeError("the server did not start")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(15)
