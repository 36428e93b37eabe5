"""`python -m sightline` is the `sightline` command."""

from sightline.cli import main

main()
