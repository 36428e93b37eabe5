"""What `sightline train` made, on the Hugging Face hub: a model card in its format, and the folder pushed.

>>> from sightline.integrations.hub import push_to_hub  # doctest: +SKIP
>>> push_to_hub("git-scene", "somebody/git-scene")  # doctest: +SKIP
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import sightline
from sightline.errors import UsageError, extra

CARD = "README.md"
LEFT_HERE = ["unfinished*", "best.safetensors", "*.part", ".*", "failures.jsonl"]
"""Of a training that could go on: nobody needs it to use the model."""


def model_card(
    folder: str | Path,
    *,
    license: str | None = None,
    language: str = "en",
    summary: dict[str, Any] | None = None,
) -> str:
    """The card that the training left, under the head that the hub reads.

    `license` is named only where you name it: what a model may be used for depends on what it learned from. `summary`
    is that of a `Result`: its numbers go to `model-index` with their signatures.
    """
    folder = Path(folder)
    body = told(folder)
    config = folder / "config.json"
    transformers = config.is_file() and "architectures" in json.loads(config.read_text("utf-8"))
    captioner = (folder / "sightline.json").is_file()
    head: dict[str, Any] = {
        "language": language,
        "library_name": "transformers" if transformers else "sightline",
        "tags": ["sightline", *(["image-captioning"] if captioner else [])],
    }
    if captioner:
        head["pipeline_tag"] = "image-to-text"
    if license:
        head["license"] = license
    if summary:
        head["model-index"] = [{"name": folder.name, "results": [results(summary)]}]
    yaml = extra("yaml", "server")
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n{body}"


def told(folder: Path) -> str:
    """What the training says of itself: its card, or its recipe and measurements as it wrote them down."""
    if (folder / "card.md").is_file():
        return (folder / "card.md").read_text("utf-8")
    if (folder / "training.json").is_file():
        record = json.dumps(json.loads((folder / "training.json").read_text("utf-8")), indent=1)
        name = folder.resolve().name
        return f"# {name}\n\nMade by `sightline train`. Recipe and measurements:\n\n```json\n{record}\n```\n"
    raise UsageError(
        f"{folder}: neither card.md nor training.json; give the folder that 'sightline train' left with -o"
    )


def results(summary: dict[str, Any]) -> dict[str, Any]:
    """A run's published numbers as the hub's `model-index` has them."""
    rows = []
    for spec, row in summary["metrics"].items():
        value = row.get("corpus", row["mean"])
        if value is not None:
            rows.append(
                {
                    "type": spec,
                    "value": value,
                    "name": f"{spec} (n={row['n']})",
                    "args": {"signature": row["signature"]},
                }
            )
    return {
        "task": {"type": "image-to-text"},
        "dataset": {"name": "your items", "type": "items"},
        "metrics": rows,
    }


def push_to_hub(folder: str | Path, repo: str, *, private: bool = True, api: Any = None, **card: Any) -> str:
    """Push a trained folder with its card; the commit's address comes back. Private unless you say otherwise.

    `api` is an `HfApi`; its own, with your token, where none is given. `card`: as `model_card` takes it.
    """
    told = model_card(folder, **card)
    api = api or extra("huggingface_hub", "torch").HfApi(
        library_name="sightline", library_version=sightline.__version__
    )
    api.create_repo(repo, private=private, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / CARD).write_text(told, "utf-8")
        api.upload_file(path_or_fileobj=str(Path(name) / CARD), path_in_repo=CARD, repo_id=repo)
    made = api.upload_folder(
        folder_path=str(folder),
        repo_id=repo,
        ignore_patterns=[*LEFT_HERE, CARD],
        commit_message="Trained with Sightline",
    )
    return str(getattr(made, "commit_url", made))
