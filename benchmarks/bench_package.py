"""What a user waits for: the wheel's size, the start-up, and time and CPU from a fresh clone to the demo's report.

    python benchmarks/bench_package.py [--keep]

Each stands beside the last release's (docs/package.json), which `--keep` replaces. CPU time is that of all processes
and says more than the time on the clock, which depends on the package index and on what else the machine does.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "package.json"


def run(line: Sequence[str | Path], folder: Path) -> tuple[float, float]:
    """Seconds on the clock and of CPU that a command takes with all it starts."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, line)], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, line))}: {done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - start, sum(
        getattr(after, kind) - getattr(before, kind) for kind in ("ru_utime", "ru_stime")
    )


def measured() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(
            [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder / "dist", ROOT],
            ROOT,
        )
        wheel = next((folder / "dist").glob("*.whl"))
        run(["git", "clone", "--quiet", ROOT, folder / "clone"], folder)
        clock, cpu = run(["make", "demo"], folder / "clone")
        report = folder / "clone" / "demo-output" / "report.html"
        sightline = folder / "clone" / ".venv" / "bin" / "sightline"
        starts = sorted(run([sightline, "--help"], folder)[1] for _ in range(5))
        again = run([sightline, "demo", "-o", folder / "again"], folder)
        return {
            "wheel, MiB": wheel.stat().st_size / (1 << 20),
            "sightline --help, s of CPU": starts[2],
            "clone to report, s of CPU": cpu,
            "clone to report, s": clock,
            "the demo alone, s of CPU": again[1],
            "the report, MiB": report.stat().st_size / (1 << 20),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--keep", action="store_true")
    keep = parser.parse_args().keep
    before = json.loads(KEPT.read_text("utf-8")) if KEPT.is_file() else {}
    found = {name: round(value, 2) for name, value in measured().items()}
    for name, value in found.items():
        print(f"{name}: {value:g} (last release: {before.get(name, 'none yet')})")
    if keep:
        KEPT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
