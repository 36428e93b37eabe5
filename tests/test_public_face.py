"""What `import sightline` gives: each name is shown, is there, and is documented."""

import importlib.resources
import inspect
import re

import pytest

import sightline
from sightline import errors


def test_every_public_name_is_shown_and_is_there() -> None:
    assert set(sightline.__all__) <= set(dir(sightline))
    for name in sightline.__all__:
        assert getattr(sightline, name) is not None
    assert not [name for name in dir(sightline) if name in ("Any", "TYPE_CHECKING", "importlib")]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        sightline.scores  # noqa: B018
    assert not hasattr(sightline, "scores")


def test_types_are_for_users_too() -> None:
    assert importlib.resources.files("sightline").joinpath("py.typed").is_file()


def test_public_things_say_what_they_are() -> None:
    for name in sightline.__all__:
        if name != "__version__":
            assert inspect.getdoc(getattr(sightline, name)), name


def test_the_tree_of_errors_is_told_whole_and_is_public() -> None:
    """Each error stands in the module's docstring below its parent, and can be caught from `sightline`."""
    own = {
        name: thing
        for name, thing in vars(errors).items()
        if inspect.isclass(thing) and issubclass(thing, Exception)
    }
    lines = [re.match(r"^([ │├└─]*)(\w+)  ", line) for line in (errors.__doc__ or "").splitlines()[1:]]
    told: list[tuple[int, str]] = [(len(found[1]), found[2]) for found in lines if found]
    assert {name for _, name in told} == set(own)
    for number, (depth, name) in enumerate(told):
        above = [other for shift, other in told[:number] if shift < depth]
        assert own[name].__bases__ == ((own[above[-1]] if above else Exception),)
        assert getattr(sightline, name) is own[name]


def test_errors_can_be_caught_by_kind() -> None:
    with pytest.raises(sightline.UsageError, match=r"pip install 'sightline\[x\]'") as found:
        errors.extra("a_package_that_is_not_there", "x")
    assert isinstance(found.value, sightline.MissingExtra)
