"""The version that is installed, part of every signature."""

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """Sightline's version, or "dev" where it runs from files that nobody installed."""
    try:
        return version("sightline")
    except PackageNotFoundError:
        return "dev"
