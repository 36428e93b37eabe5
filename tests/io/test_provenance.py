"""How a result came about, as summaries and pages say it."""

import re
from importlib.metadata import version

from sightline.io.provenance import provenance, without_places
from sightline.report import page


def test_the_command_is_sightlines_own_or_python() -> None:
    made = provenance(["/usr/bin/sightline", "score", "my stories.jsonl", "-m", "cider"])
    assert made["command"] == "sightline score 'my stories.jsonl' -m cider"
    assert made["versions"]["sightline"] == version("sightline") and made["versions"]["numpy"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", made["date"])
    assert provenance(["/opt/pytest"])["command"] == "Python"


def test_a_page_names_it_without_the_folders_of_this_machine() -> None:
    command = "sightline compare a=/home/me/a.jsonl b=b.jsonl -o /tmp/out '<script>'"
    assert without_places(command) == "sightline compare a=a.jsonl b=b.jsonl -o out '<script>'"
    html = page.render("T", [], made={**provenance(), "command": command})
    foot = html[html.index('<footer class="made">') :]
    assert "sightline compare a=a.jsonl b=b.jsonl -o out" in foot and "/home" not in foot
    assert "<script>" not in foot and f"Sightline {version('sightline')}" in foot and "UTC" in foot
