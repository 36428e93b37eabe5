"""The shipped document frequencies: words of noun phrases over the VIST validation stories."""

import json
from pathlib import Path

from sightline.io.results import ResultFolder
from sightline.text.idf import Idf
from sightline.text.language import Language
from sightline.text.phrases import find_mentions
from sightline.train.texts import told_stories


def train(data: Path, language: Language, out: Path) -> Idf:
    """Count in how many stories each word of a noun phrase stands, and write it to `out`."""
    with ResultFolder(out) as results:
        found = find_mentions(told_stories(data), language, "phrases")
        idf = Idf.fit([word.text for mention in story.mentions for word in mention.words] for story in found)
        results.text("idf.json", json.dumps(idf.to_json(), ensure_ascii=False, indent=0) + "\n")
    return idf
