"""Decoding settings and axes: what is wrong is one clear line, what does not change the texts changes no signature."""

import pytest

from saying import Saying
from sightline.errors import UsageError
from sightline.generate.base import AXES, Decoding, check_axis, load_captioner, signature


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"beams": 0}, "beams is 0; it is at least 1"),
        ({"samples": -1}, "samples is -1; it is at least 0"),
        ({"length": 0}, "length is 0; it is at least 1"),
        ({"temperature": 0.0}, "temperature is 0; it is a number above 0"),
        ({"temperature": float("nan")}, "it is a number above 0"),
        ({"top_k": -1}, "top_k is -1; it is at least 0"),
        ({"top_p": 0.0}, "top_p is 0; it is above 0 and at most 1"),
    ],
)
def test_wrong_settings_get_one_clear_line(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Decoding(**wrong)  # type: ignore[arg-type]


def test_the_seed_counts_only_where_something_is_drawn() -> None:
    assert Decoding(seed=1).signature == Decoding(seed=2, temperature=0.5).signature == "beams=3,length=30"
    assert Decoding(top_k=5, top_p=0.5).signature == Decoding().signature
    assert Decoding(samples=2, top_k=120, top_p=0.9).signature == (
        "samples=2,temperature=1,seed=0,top_k=120,top_p=0.9,length=30"
    )
    assert Decoding(samples=5, seed=1).signature == "samples=5,temperature=1,seed=1,length=30"
    assert Decoding(samples=5, seed=1).signature != Decoding(samples=5, seed=2).signature


def test_an_axis_that_a_captioner_was_not_trained_on_is_refused() -> None:
    scenes = Saying({}, axes=("scene",))
    with pytest.raises(UsageError, match="saying tells of scene, not of action: choose --axis scene"):
        check_axis(scenes, "saying", "action")
    for axis in AXES:
        check_axis(Saying({}), "saying", axis)
    assert signature(scenes, "scene", Decoding(beams=1)) == "saying@0|axis=scene|beams=1,length=30"


def test_an_unknown_captioner_is_named() -> None:
    with pytest.raises(UsageError, match="unknown captioner 'gti'"):
        load_captioner("gti:x")
