"""How long Sightline takes to start, in CPU time, against what its command line cannot do without.

Prints each ratio beside the most that is allowed, and ends with status 1 where one is above. CPU time of child
processes (user and system), the median of several runs taken in turn, so that a busy machine slows all alike.
"""

import os
import statistics
import subprocess
import sys

RUNS = 15
FLOOR = ("-c", "import typer, rich.console")
ALLOWED = {
    "sightline --help": (("-m", "sightline", "--help"), 3.0),
    "import sightline": (("-c", "import sightline"), 1.0),
    "sightline score --help": (("-m", "sightline", "score", "--help"), 4.0),
}


def cpu_time(arguments: tuple[str, ...]) -> float:
    """User and system seconds of one Python process."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with status {process.returncode}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    asked = {"floor": FLOOR, **{name: arguments for name, (arguments, _) in ALLOWED.items()}}
    for arguments in asked.values():
        cpu_time(arguments)  # byte code is written, files are in memory
    times: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(RUNS):
        for name, arguments in asked.items():
            times[name].append(cpu_time(arguments))
    median = {name: statistics.median(own) for name, own in times.items()}
    print(f'python -c "{FLOOR[1]}": {median["floor"]:.3f} s CPU (median of {RUNS})')
    above = False
    for name, (_, most) in ALLOWED.items():
        ratio = median[name] / median["floor"]
        above = above or ratio > most
        print(f"{name}: {median[name]:.3f} s, {ratio:.2f} times (at most {most:g})")
    sys.exit(above)


if __name__ == "__main__":
    main()
