"""Data sets, experiment stores and the hub, each read back by its own library; nothing leaves the machine."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

import sightline
from sightline.demo import STORIES
from sightline.integrations import hub, loggers
from sightline.integrations.datasets import to_dataset, with_names


@pytest.fixture(scope="module")
def result() -> sightline.Result:
    return sightline.score(STORIES, ["rovist-nr", "rovist-c"], cache=None)


def test_results_become_a_data_set_and_its_columns_items_again(
    result: sightline.Result, tmp_path: Path
) -> None:
    import datasets

    to_dataset(result).save_to_disk(str(tmp_path / "kept"))
    found = datasets.load_from_disk(str(tmp_path / "kept"))
    assert len(found) == len(result.items)
    assert found[0]["images"][0].size[0] > 10, "a picture, as data sets show them"
    scores = {(score.id, score.system): score.score for score in result.scores if score.metric == "rovist-nr"}
    assert [row["rovist-nr"] for row in found] == [scores[row["id"], row["system"]] for row in found]
    failed = {failure.id for failure in result.failures}
    assert failed and {row["id"] for row in found if "rovist-c: " in row["why"]} == failed
    again = sightline.score(with_names(found), ["rovist-nr"])
    assert {score.id: score.score for score in again.scores} == {
        id: score for (id, _), score in scores.items()
    }


def test_columns_of_any_name_are_fields(cat: Path) -> None:
    import datasets

    given = datasets.Dataset.from_dict(
        {"photo": [str(cat)], "generated": ["A cat. A cat."], "split": ["test"]}
    )
    given = given.cast_column("photo", datasets.Image())
    named = with_names(given, image="photo", text="generated")
    assert set(named.column_names) == {"image", "text"}
    assert len(sightline.score(named, ["rovist-nr"]).scores) == 1
    with pytest.raises(sightline.UsageError, match="no columns: said; fields are"):
        with_names(given, text="said")


def test_mlflow_keeps_numbers_table_and_report(result: sightline.Result, tmp_path: Path) -> None:
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.create_experiment("captions", artifact_location=(tmp_path / "kept").as_uri())
    mlflow.set_experiment("captions")
    with pytest.raises(sightline.UsageError, match=r"mlflow\.start_run"):
        loggers.MLflow()
    with mlflow.start_run() as run:
        loggers.log(result, loggers.MLflow(), step=3)
    client = mlflow.MlflowClient()
    [point] = client.get_metric_history(run.info.run_id, "rovist-nr")
    assert (point.value, point.step) == (pytest.approx(result.summary["metrics"]["rovist-nr"]["mean"]), 3)
    table = mlflow.artifacts.load_dict(f"runs:/{run.info.run_id}/sightline_items.json")
    assert len(table["score"]) == len(result.scores) + len(result.failures)
    page = client.download_artifacts(run.info.run_id, "sightline_report/report.html", str(tmp_path))
    assert Path(page).read_text("utf-8").startswith("<!doctype html>")


def test_wandb_keeps_them_offline(
    result: sightline.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import wandb

    for name, folder in (
        ("WANDB_DIR", "runs"),
        ("WANDB_CACHE_DIR", "cache"),
        ("WANDB_CONFIG_DIR", "config"),
        ("WANDB_DATA_DIR", "data"),
    ):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(name, str(tmp_path / folder))
    with pytest.raises(sightline.UsageError, match=r"wandb\.init"):
        loggers.WandB()
    with wandb.init(
        mode="offline", project="captions", settings=wandb.Settings(silent=True, console="off")
    ) as run:
        loggers.log(result, loggers.WandB())
        found = dict(run.summary)
        files = Path(run.dir)
    assert found["rovist-nr"] == pytest.approx(result.summary["metrics"]["rovist-nr"]["mean"])
    assert found["rovist-c/failed"] == result.summary["metrics"]["rovist-c"]["failed"]
    [table] = files.glob("media/table/sightline_items*.json")
    assert len(json.loads(table.read_text())["data"]) == len(result.scores) + len(result.failures)
    [page] = files.glob("media/html/sightline_report*.html")
    assert page.read_text("utf-8").startswith("<!doctype html>")


class Hub:
    """A stand-in that keeps what is pushed as the hub's cache on disk has it, so that the hub's own client reads it."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.private: bool | None = None

    def create_repo(self, repo: str, *, private: bool, exist_ok: bool) -> None:
        self.private = private
        (self._at(repo) / "snapshots" / "abc123").mkdir(parents=True, exist_ok=exist_ok)
        (self._at(repo) / "refs").mkdir(exist_ok=True)
        (self._at(repo) / "refs" / "main").write_text("abc123")

    def upload_file(self, *, path_or_fileobj: str, path_in_repo: str, repo_id: str) -> None:
        shutil.copy(path_or_fileobj, self._at(repo_id) / "snapshots" / "abc123" / path_in_repo)

    def upload_folder(
        self, *, folder_path: str, repo_id: str, ignore_patterns: list[str], commit_message: str
    ) -> Any:
        from huggingface_hub.utils import filter_repo_objects

        names = [
            path.relative_to(folder_path).as_posix()
            for path in Path(folder_path).rglob("*")
            if path.is_file()
        ]
        for name in filter_repo_objects(names, ignore_patterns=ignore_patterns):
            to = self._at(repo_id) / "snapshots" / "abc123" / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(folder_path) / name, to)
        return SimpleNamespace(commit_url=f"https://hub/{repo_id}/commit/abc123")

    def _at(self, repo: str) -> Path:
        return self.cache / f"models--{repo.replace('/', '--')}"


def test_a_trained_captioner_is_pushed_with_its_card_and_comes_back(
    result: sightline.Result, cat: Path, tmp_path: Path
) -> None:
    from huggingface_hub import ModelCard, hf_hub_download

    from tiny_captioners import save_git

    made = save_git(tmp_path / "git-scene")
    (made / "card.md").write_text("# A captioner of scenes\n\nData: 12 captions.\n")
    (made / "sightline.json").write_text(json.dumps({"axes": ["scene"], "ends": [], "recipe": {}}))
    (made / "best.safetensors").write_bytes(b"of a training that went on")
    api = Hub(tmp_path / "hub")
    address = hub.push_to_hub(
        made, "somebody/git-scene", api=api, license="mit", summary=dict(result.summary)
    )
    assert address == "https://hub/somebody/git-scene/commit/abc123"
    assert api.private is True
    card = ModelCard.load(
        hf_hub_download("somebody/git-scene", "README.md", cache_dir=api.cache, local_files_only=True)
    )
    assert (card.data.license, card.data.library_name, card.data.pipeline_tag) == (
        "mit",
        "transformers",
        "image-to-text",
    )
    assert {row.metric_type for row in card.data.eval_results} == {"rovist-nr", "rovist-c"}
    assert "Data: 12 captions." in card.text
    assert not list(api.cache.rglob("best.safetensors"))
    said = sightline.caption([cat], f"git:{made}", axis="scene").items[0].text
    there = next((api.cache).rglob("snapshots/abc123"))
    assert sightline.caption([cat], f"git:{there}", axis="scene").items[0].text == said


def test_what_other_trainings_write_down_is_the_card(tmp_path: Path) -> None:
    (tmp_path / "training.json").write_text('{"recipe": {"seed": 1}}')
    head, _, body = hub.model_card(tmp_path, license="apache-2.0").removeprefix("---\n").partition("---\n")
    assert yaml.safe_load(head)["library_name"] == "sightline"
    assert '"seed": 1' in body
    with pytest.raises(sightline.UsageError, match=r"neither card\.md nor training\.json"):
        hub.model_card(tmp_path / "nowhere")
