"""One file per command, thin. Each module in this folder adds its command to `app`."""

from sightline.cli.app import app, main

__all__ = ["app", "main"]
