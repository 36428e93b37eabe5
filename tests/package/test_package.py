"""What is published: built as a release is, checked, and installed where nothing else is.

Takes about two minutes, most of it the installers': a package that misses a file works for whoever has the repository
beside it, so nothing short of an empty environment shows it.
"""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ABILITIES = Path(__file__).with_name("abilities.py")
LARGEST = 64 << 20
"""Bytes of a wheel: what the models that come with it may grow to."""


def said(*line: object, **given: object) -> str:
    done = subprocess.run([*map(str, line)], capture_output=True, text=True, check=False, **given)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of wheel and sdist, as `make package` builds them; the wheel is built from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    said(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as files:
        name = next(name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(files.read(name))


def test_twine_finds_nothing_amiss(built: Path) -> None:
    said(sys.executable, "-m", "twine", "check", "--strict", *built.iterdir())


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        inside = {name for name in files.namelist() if ".dist-info/" not in name}
    listed = said("git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "src/sightline").splitlines()
    there = {name.removeprefix("src/") for name in listed if (ROOT / name).is_file()}
    assert inside == there
    assert wheel.stat().st_size < LARGEST


def test_the_sdist_has_what_a_build_needs_and_no_folder_of_ours(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as files:
        inside = {name.split("/", 1)[1] for name in files.getnames() if "/" in name}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/sightline/py.typed"} <= inside
    assert not [name for name in inside if name.startswith((".venv", ".ci", "demo-output"))]


def test_the_metadata_say_what_is_true(metadata: Message) -> None:
    assert metadata["Version"] == PROJECT["version"]
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert set(PROJECT["optional-dependencies"]) == set(metadata.get_all("Provides-Extra", []))
    lowest = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {lowest}" in metadata.get_all("Classifier", [])


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == PROJECT["version"]
    assert cited["license"] == PROJECT["license"]
    assert cited["cff-version"] and cited["title"] and cited["authors"] and cited["message"]


def test_workflows_call_the_same_targets_as_people() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        flow = yaml.safe_load(path.read_text("utf-8"))
        lines = [step["run"] for job in flow["jobs"].values() for step in job["steps"] if "run" in step]
        called = {name for line in lines for name in re.findall(r"make ([\w-]+)", line)}
        assert called and called <= targets, path.name


def interpreter(version: str) -> Path | None:
    """A Python of this version: the one at work, one on the path, or one of pyenv's."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return Path(sys.executable)
    on_path = shutil.which(f"python{version}")
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [*([Path(on_path)] if on_path else []), *sorted(kept.glob(f"{version}.*/bin/python"))]
    return next((one for one in found if _starts(one)), None)


def _starts(python: Path) -> bool:
    done = subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_an_empty_environment_can_do_all_that_is_embedded(version: str, wheel: Path, tmp_path: Path) -> None:
    """With everything on the interpreter at work; on the others what differs between them: installing and running."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    environment = tmp_path / "empty"
    said(python, "-m", "venv", "--without-pip", environment)
    inside = environment / "bin" / "python"
    said(
        sys.executable, "-m", "pip", "--python", inside, "install", "--quiet", "--no-compile",
        "--constraint", ROOT / "constraints.txt", wheel,
    )  # fmt: skip
    home = tmp_path / "home"
    home.mkdir()
    nothing_else = {"HOME": str(home), "PATH": str(environment / "bin"), "LANG": "C.UTF-8"}
    short = () if Path(sys.executable) == python else ("--short",)
    told = said(inside, ABILITIES, *short, cwd=home, env=nothing_else).splitlines()
    assert told[-1] == ("demo" if short else "python")


@pytest.mark.parametrize(
    ("installer", "told"),
    [("uv\n", "uv pip install 'sightline[torch]'"), ("pip\n", "pip install 'sightline[torch]'")],
)
def test_uv_is_named_where_uv_installed(installer: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sightline.errors import install_command

    recorded = SimpleNamespace(read_text=lambda name: installer)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: recorded)
    assert install_command("sightline[torch]") == told


@pytest.mark.parametrize(
    ("receipt", "told"),
    [
        ("uv-receipt.toml", "uv tool install 'sightline[torch]'"),
        ("pipx_metadata.json", "pipx install --force 'sightline[torch]'"),
    ],
)
def test_tools_of_their_own_environment_are_named(
    receipt: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sightline.errors import install_command

    (tmp_path / receipt).write_text("")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert install_command("sightline[torch]") == told
