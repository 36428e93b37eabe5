"""What people outlined on COCO's pictures: the classes in instances_val2014.json, by picture."""

import re
from pathlib import Path

from sightline.errors import UsageError
from sightline.io.source import Source
from sightline.resources import Resource

NUMBER = re.compile(r"(?:COCO_\w+2014_)?0*(\d+)")


class Annotated:
    """The classes of each picture. Pictures go by the number in their file's name, whatever the split."""

    def __init__(self, path: str) -> None:
        self.resource = Resource.file(Path(path))
        document = Source(Path(path)).document
        try:
            names = {one["id"]: str(one["name"]).lower() for one in document["categories"]}
            found: dict[str, set[str]] = {str(one["id"]): set() for one in document.get("images", ())}
            for one in document["annotations"]:
                found.setdefault(str(one["image_id"]), set()).add(names[one["category_id"]])
        except (KeyError, TypeError, AttributeError) as fault:
            raise UsageError(f"{path}: not COCO's instances ({type(fault).__name__}: {fault})") from None
        self._kinds = {picture: frozenset(kinds) for picture, kinds in found.items()}

    @property
    def signature(self) -> str:
        return self.resource.digest

    def of(self, picture: Path) -> frozenset[str] | None:
        """The classes on a picture; None where the file does not know it."""
        number = NUMBER.fullmatch(picture.stem)
        return self._kinds.get(number[1]) if number else None


def load_annotated(path: str) -> Annotated:
    """The classes in a file of COCO's instances."""
    return Annotated(path)
