"""The ways in that a person has: a line in the terminal, a form in the browser."""

import re

import httpx
from typer.testing import CliRunner

from sightline.cli.app import load_commands


def command(*line: object) -> str:
    done = CliRunner().invoke(load_commands(), [str(part) for part in line])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def csrf(page: httpx.Response) -> str:
    found = re.search(r'(?:name="csrf" value|data-csrf)="([0-9a-f]{64})"', page.text)
    assert found, page.text[:2000]
    return found[1]
