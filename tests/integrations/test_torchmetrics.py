"""Sightline's metrics in torchmetrics: the numbers are those of `sightline.score`, however the items come."""

import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchmetrics import MetricCollection

import sightline
from sightline.integrations.torchmetrics import CLIPScore, SightlineMetric

Rows = list[dict[str, Any]]


def said(rows: Rows) -> tuple[list[str], list[list[str]]]:
    return [row["text"] for row in rows], [row["references"] for row in rows]


def test_clipscore_of_tensors_arrays_and_paths_is_sightlines(cat: Path) -> None:
    pixels = np.asarray(Image.open(cat).convert("RGB"))
    tensor = torch.from_numpy(pixels.copy()).permute(2, 0, 1)
    texts = ["A brown cat with green eyes.", "A red bus on a busy street."]
    wanted = sightline.score([{"images": [str(cat)], "text": text} for text in texts], ["clipscore"])
    for images in (
        [tensor, tensor],
        torch.stack([tensor, tensor]),
        [tensor / 255, pixels],
        [str(cat), Image.open(cat)],
    ):
        metric = CLIPScore(per_item=True)
        metric.update(images, texts)
        # a PNG of the pixels is the picture itself; the JPEG's own decoding may differ in its last bit
        assert metric.compute().tolist() == pytest.approx([score.score for score in wanted.scores], abs=1e-6)
    assert metric.signature == wanted.scores[0].signature
    assert metric.higher_is_better


def test_updates_add_up_and_reset_forgets(stories: Rows) -> None:
    texts, _ = said(stories)
    metric = SightlineMetric("rovist-nr")
    for start in range(0, len(texts), 3):
        metric.update(texts[start : start + 3])
    whole = sightline.score([{"text": text} for text in texts], ["rovist-nr"])
    assert float(metric.compute()) == pytest.approx(whole.summary["metrics"]["rovist-nr"]["mean"], abs=1e-12)
    metric.reset()
    metric.update(texts[0])
    assert float(metric.compute()) == whole.scores[0].score


@pytest.mark.parametrize("name", ["cider", "bleu-4"])
def test_a_metric_of_all_items_is_not_a_mean_of_batches(name: str, stories: Rows) -> None:
    texts, references = said(stories)
    metric = SightlineMetric(name)
    for start in range(0, len(texts), 4):
        metric.update(texts[start : start + 4], references=references[start : start + 4])
    row = sightline.score([{"id": str(n), **story} for n, story in enumerate(stories)], [name]).summary[
        "metrics"
    ][name]
    assert float(metric.compute()) == pytest.approx(row["corpus"], abs=1e-12)


@pytest.mark.parametrize("name", ["rovist-nr", "bleu-4"])
def test_what_cannot_be_scored_is_nan_and_told(name: str) -> None:
    metric = SightlineMetric(name, per_item=True)
    with pytest.warns(UserWarning, match=f"{name}: 1 of 2 items could not be scored"):
        metric.update(["A dog runs. A dog sleeps.", ""], references=[["A dog."], []])
        scores = metric.compute()
    assert not math.isnan(scores[0]) and math.isnan(scores[1])
    assert list(metric.failures) == [1] and metric.failures[1]


def test_wrong_use_is_one_clear_line(cat: Path) -> None:
    with pytest.raises(sightline.UsageError, match="did you mean 'groovist'"):
        SightlineMetric("grovist")
    with pytest.raises(sightline.UsageError, match="2 texts, but 1 images"):
        CLIPScore().update([str(cat)], ["a", "b"])
    with pytest.raises(sightline.UsageError, match="undo its normalisation"):
        CLIPScore().update(torch.full((3, 4, 4), -2.0), "a")


def test_it_lives_in_a_collection_and_travels(stories: Rows) -> None:
    texts, references = said(stories)
    both = MetricCollection({"nr": SightlineMetric("rovist-nr"), "bleu": SightlineMetric("bleu-1")}).clone(
        prefix="val/"
    )
    both.update(texts, references=references)
    there = pickle.loads(pickle.dumps(both))
    assert there.compute() == both.compute()
    assert set(both.compute()) == {"val/nr", "val/bleu"}


RANK = """
import os, sys, json, torch.distributed as dist
from sightline.integrations.torchmetrics import SightlineMetric
rank, store, rows = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
mine = rows[: len(rows) // 3] if rank == 0 else rows[len(rows) // 3 :]
found = {}
for name, per_item in (("bleu-4", False), ("cider", True), ("rovist-nr", True)):
    metric = SightlineMetric(name, per_item=per_item)
    metric.update([r["text"] for r in mine], references=[r["references"] for r in mine])
    found[name] = metric.compute().tolist()
    assert len(metric.failures) == 0
print(json.dumps(found))
dist.destroy_process_group()
"""


def test_two_processes_find_what_one_does(stories: Rows, tmp_path: Path, environment: dict[str, str]) -> None:
    """Shares of different length: the states of each are of its own size."""
    import json

    command = [sys.executable, "-c", RANK]
    started = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "store"), json.dumps(stories)],
            env={**environment, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    told = []
    for process in started:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        told.append(json.loads(out.splitlines()[-1]))
    assert told[0] == told[1]
    alone = sightline.score(
        [{"id": str(n), **row} for n, row in enumerate(stories)], ["bleu-4", "cider", "rovist-nr"]
    )
    assert told[0]["bleu-4"] == pytest.approx(alone.summary["metrics"]["bleu-4"]["corpus"], abs=1e-12)
    for name in ("cider", "rovist-nr"):
        assert told[0][name] == [score.score for score in alone.scores if score.metric == name]
