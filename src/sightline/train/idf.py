"""The shipped document frequencies: words of noun phrases over the VIST validation stories."""

import gzip
import json
from pathlib import Path

from sightline.errors import UsageError
from sightline.text.idf import Idf
from sightline.text.language import Language
from sightline.text.phrases import find_mentions


def train(data: Path, language: Language, out: Path) -> Idf:
    """Count in how many stories each word of a noun phrase stands, and write it to `out`."""
    path = data / "vist_val_stories.jsonl.gz"
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            stories = [json.loads(line)["sentences"] for line in lines]
    except (OSError, EOFError, ValueError, KeyError) as fault:
        raise UsageError(f"{path}: the stories cannot be read ({fault})") from None
    found = find_mentions(stories, language, "phrases")
    idf = Idf.fit([word.text for mention in story.mentions for word in mention.words] for story in found)
    out.mkdir(parents=True, exist_ok=True)
    (out / "idf.json").write_text(json.dumps(idf.to_json(), ensure_ascii=False, indent=0) + "\n", "utf-8")
    return idf
