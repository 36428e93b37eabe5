"""What raters read: the papers' points are there, a study may use its own words, and the record holds them."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from sightline.errors import UsageError
from sightline.people.scales import scale
from sightline.people.study import Kind, Study, parse_study
from sightline.people.wording import INSTRUCTIONS, lines_of, wording

PAGE = Path(__file__).parents[2] / "docs" / "wordings.md"


def test_level_2_of_vicr_names_most_objects() -> None:
    """Table 2 of the paper: most of the objects are identified, though maybe not everything."""
    meaning = scale("vicr").levels[1].meaning
    assert (
        "names most of the objects, though perhaps not all" in meaning and "does not name most" not in meaning
    )


def test_what_the_page_quotes_is_what_raters_read() -> None:
    """Every quotation in docs/wordings.md stands in the instructions, questions, levels or criteria."""
    told = json.dumps(
        [wording(Study(kind=kind, title="t")) for kind in get_args(Kind)], ensure_ascii=False
    ).replace('\\"', '"')
    page = PAGE.read_text("utf-8").split("## VICR's scale")[1]
    quoted = [
        part.strip(" .")
        for line in page.splitlines()
        if line.count("|") >= 3
        for found in re.findall(r'"([^"|]{12,})"', line.split("|")[-2])
        for part in found.split("…")
        if len(part.strip()) > 8
    ]
    assert len(quoted) > 20
    missing = [part for part in quoted if part not in told]
    assert missing == []


def test_every_text_can_be_said_in_the_studys_own_words() -> None:
    study = parse_study(
        """
        kind = "description"
        title = "Bilder"
        language = "de"
        guidance = ["Erste Zeile.", "Zweite Zeile."]
        [texts]
        "Where is the picture taken?" = "An was für einem Ort?"
        """,
        "toml",
    )
    told = wording(study)
    assert told["instructions"] == ["Erste Zeile.", "Zweite Zeile."] == list(lines_of(study))
    assert told["questions"]["scene"] == "An was für einem Ort?"
    assert told["questions"]["action"] == "Was tun die Personen?" and told["language"] == "de"
    assert told["own_words"] == {"Where is the picture taken?": "An was für einem Ort?"}


def test_a_text_that_is_none_of_the_interface_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'Where is the picture taken"):
        parse_study(
            'kind = "description"\ntitle = "x"\n[texts]\n"Where is the picture token?" = "y"\n', "toml"
        )


def test_levels_of_a_scale_of_ones_own_are_in_the_record() -> None:
    study = parse_study(
        'kind = "rating game"\ntitle = "x"\n[scale]\ntitle = "Ours"\nquestion = "True?"\n'
        'levels = [{value = 1, label = "No", meaning = "All wrong."}, {value = 2, label = "Yes"}]\n',
        "toml",
    )
    told = wording(study)
    assert told["scale"]["levels"][0] == {"value": 1, "label": "No", "meaning": "All wrong."}
    assert told["questions"] == {"value": "True?"} and told["instructions"] == []


def test_every_kind_but_the_game_has_instructions() -> None:
    kinds = set(get_args(Kind)) - {"rating game", "grounding survey"}
    assert set(INSTRUCTIONS) == kinds and all(INSTRUCTIONS.values())
