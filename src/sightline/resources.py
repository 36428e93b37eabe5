"""Whatever is loaded and changes a number: where it lies, what it holds, what it runs on, and who keeps it loaded.

A resource is known by its content. Its digest is the same wherever the files lie, and another as soon as one byte that
matters differs. Device and precision are told beside it: they are no part of what a thing is.
"""

import functools
import gc
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from sightline.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future

# Intel's matrix library may sum rows in different orders, depending on threads. This asks it not to: a vector
# must not depend on what it is computed beside. It is read when the library is first used.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

MODELS = Path(__file__).parent / "models"
"""The embedded models, a folder each."""

FRESH = 0.1
"""Seconds within which a file can change again without its time telling: its digest is not remembered so soon."""

AT_ONCE = 4 << 20
"""Bytes whose digest takes no longer than to start a thread for it: a hundredth of a second."""

State = tuple[int, int, int]
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Resource:
    """Files that make up one loaded thing."""

    given: str
    """What the user wrote; `embedded` for what comes with Sightline."""
    files: tuple[tuple[str, Path, State], ...]
    """Name within the resource, place, and state when it was looked up. A single file has no name: any will do."""
    commit: str = ""
    """Of the hub's repository, where it comes from there."""
    device: str = "cpu"
    precision: str = "fp32"
    _digest: "list[str | Future[str]]" = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, given: str, files: Iterable[tuple[str, Path]], commit: str = "") -> "Resource":
        """From names and places; raises UsageError where one is not there."""
        try:
            found = tuple((name, path, _state(path)) for name, path in sorted(files))
        except FileNotFoundError as fault:
            raise UsageError(f"{fault.filename}: there is no such file") from None
        except OSError as fault:
            raise UsageError(f"{fault.filename}: cannot be read ({fault.strerror})") from None
        return cls(given, found, commit)

    @classmethod
    def file(cls, path: Path, given: str | None = None) -> "Resource":
        return cls.of(given or str(path), [("", path)])

    @classmethod
    def folder(cls, path: Path, files: Iterable[Path] | None = None, given: str | None = None) -> "Resource":
        """The files of a folder that matter; all, where none are named."""
        chosen = [one for one in path.rglob("*") if one.is_file()] if files is None else files
        return cls.of(given or str(path), [(one.relative_to(path).as_posix(), one) for one in chosen])

    @property
    def digest(self) -> str:
        """Twelve letters that stand for the content; read when first asked for."""
        if not self._digest:
            self._digest.append(self._read())
        known = self._digest[0]
        return known if isinstance(known, str) else known.result()

    def ahead(self) -> "Resource":
        """Read the files for their digest before they are loaded; large ones beside it, which a second core does."""
        from concurrent.futures import ThreadPoolExecutor

        if sum(size for _, _, (size, _, _) in self.files) <= AT_ONCE:
            self.digest  # noqa: B018 - asked for is read
        elif not self._digest:
            reader = ThreadPoolExecutor(1, thread_name_prefix="digest")
            self._digest.append(reader.submit(self._read))
            reader.shutdown(wait=False)
        return self

    @property
    def place(self) -> str:
        """Where it lies: `embedded`, a path, or the hub's name at a commit."""
        if self.commit:
            return f"{self.given}@{self.commit}"
        if self.given == "embedded" or not self.files:
            return self.given
        name, path, _ = self.files[0]
        return str((path.parents[len(Path(name).parts) - 1] if name else path).resolve())

    @property
    def changed(self) -> bool:
        """Whether its files are no longer what they were when it was looked up."""
        try:
            return any(_state(path) != state for _, path, state in self.files)
        except OSError:
            return True

    def told(self) -> dict[str, str]:
        """For people: what stands behind a digest in a signature."""
        return {
            "given": self.given,
            "place": self.place,
            "device": self.device,
            "precision": self.precision,
        }

    def _read(self) -> str:
        try:
            parts = [(name, _content(path, state)) for name, path, state in self.files]
            if self.changed:
                raise UsageError(f"{self.place} changed while it was being used; run the command again")
        except OSError as fault:
            raise UsageError(f"{fault.filename}: cannot be read ({fault.strerror})") from None
        return hashlib.blake2b(repr(parts).encode(), digest_size=6).hexdigest()


_contents: dict[tuple[Path, State], str] = {}


def _content(path: Path, state: State) -> str:
    """A file's digest, read once as long as the file stays what it is."""
    known = _contents.get((path, state))
    if known is None:
        with path.open("rb") as file:
            known = hashlib.file_digest(file, "blake2b").hexdigest()
        if time.time() - state[1] / 1e9 > FRESH:
            _contents[path, state] = known
    return known


def _state(path: Path) -> State:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def embedded(model: str, *names: str) -> Resource:
    """Files of an embedded model; all but its card, where none are named. The same files elsewhere are the same."""
    folder = MODELS / model
    if len(names) == 1:
        return Resource.file(folder / names[0], "embedded")
    files = [folder / name for name in names] or [one for one in folder.rglob("*") if one.name != "card.md"]
    return Resource.folder(folder, [one for one in files if not one.is_dir()], "embedded")


_alive: "WeakValueDictionary[Any, Any]" = WeakValueDictionary()
_loading = threading.RLock()


def shared(load: Callable[P, T]) -> Callable[P, T]:
    """A loader whose result all share that ask for the same, as long as anybody holds it."""

    @functools.wraps(load)
    def found(*args: P.args, **kwargs: P.kwargs) -> T:
        key = (load, args, tuple(kwargs.items()))
        with _loading:
            known = _alive.get(key)
            if known is None or _outdated(known):
                known = _settled(load(*args, **kwargs))
                if known is not None:
                    _alive[key] = known
            result: T = known
            return result

    return found


class Holder:
    """What is loaded for a run, each thing once, until the holder is closed.

    A run has one of its own. To keep models loaded over several runs, make one and give it to each; what has changed
    on disk meanwhile is loaded anew.
    """

    def __init__(self) -> None:
        self._held: dict[Any, Any] = {}
        self._lock = threading.RLock()

    def get(self, load: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the loader makes of its arguments, loaded when first asked for."""
        key = (load, args, tuple(kwargs.items()))
        with self._lock:
            if key not in self._held:
                self._held[key] = _settled(load(*args, **kwargs))
            found: T = self._held[key]
            return found

    def refresh(self) -> None:
        """Before a run: let go of what is no longer what lies on disk."""
        with self._lock:
            for key in [key for key, thing in self._held.items() if _outdated(thing)]:
                del self._held[key]

    def resources(self) -> list[Resource]:
        """Of all that is held."""
        found = [getattr(thing, "resource", None) for thing in self._held.values()]
        return [one for one in found if isinstance(one, Resource)]

    def close(self) -> None:
        """Let go of everything; models hold themselves in circles, which are broken here and now."""
        with self._lock:
            models = self.resources()
            self._held.clear()
        if models:
            gc.collect()

    def __enter__(self) -> "Holder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _outdated(thing: object) -> bool:
    resource = getattr(thing, "resource", None)
    return isinstance(resource, Resource) and resource.changed


def _settled(thing: T) -> T:
    """What was loaded, if its files stayed what they were meanwhile: its digest names what was read."""
    if _outdated(thing):
        resource: Resource = thing.resource  # type: ignore[attr-defined]
        raise UsageError(f"{resource.place} changed while it was being read; run the command again")
    return thing
