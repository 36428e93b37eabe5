"""`evaluate`, inspect-ai and lmms-eval find the numbers that `sightline.score` finds."""

import base64
import functools
import importlib.util
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import sightline
from sightline.integrations import hf_evaluate
from sightline.integrations.lmms_eval import for_task

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`evaluate.load` with folders of its own."""
    evaluate = pytest.importorskip("evaluate")
    folder = tmp_path_factory.mktemp("evaluate")
    evaluate.config.HF_MODULES_CACHE = str(folder / "modules")
    return lambda name, **given: evaluate.load(
        hf_evaluate.__file__, name, cache_dir=str(folder / "cache"), **given
    )


def scored(rows: Rows, name: str) -> sightline.Result:
    return sightline.score([{"id": str(n), **row} for n, row in enumerate(rows)], [name])


def test_evaluate_loads_it_by_path_and_computes(load: Any, stories: Rows) -> None:
    metric = load("bleu-4")
    found = metric.compute(
        predictions=[row["text"] for row in stories], references=[row["references"] for row in stories]
    )
    wanted = scored(stories, "bleu-4")
    assert found["bleu-4"] == pytest.approx(wanted.summary["metrics"]["bleu-4"]["corpus"], abs=1e-12)
    assert found["scores"] == [score.score for score in wanted.scores]
    assert found["signature"] == wanted.scores[0].signature
    assert found["failures"] == {}


def test_evaluate_takes_pictures_as_paths_and_values_and_batches(load: Any, cat: Path) -> None:
    texts = ["A brown cat.", "A red bus."]
    wanted = scored([{"text": text, "images": [str(cat)]} for text in texts], "clipscore")
    paths = load("clipscore").compute(predictions=texts, images=[str(cat)] * 2)
    assert paths["scores"] == [score.score for score in wanted.scores]
    metric = load("clipscore")
    metric.add(prediction=texts[0], images=Image.open(cat))
    metric.add_batch(predictions=texts[1:], images=[[str(cat)]])
    found = metric.compute()
    assert found["scores"] == pytest.approx([score.score for score in wanted.scores], abs=0.02)
    assert found["scores"][0] > found["scores"][1]


def test_evaluate_tells_what_failed_and_takes_options(load: Any) -> None:
    found = load("rovist-nr").compute(predictions=["A dog. A cat.", ""], metric="rovist-nr:variant=published")
    assert found["scores"][1] is None and found["scores"][0] is not None
    assert list(found["failures"]) == [1]
    assert "variant:published" in found["signature"]
    with pytest.raises(ValueError, match="name a metric"):
        load("default").compute(predictions=["A dog."])


@pytest.fixture
def tokens_are_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """inspect-ai counts a prompt's tokens with a vocabulary that it fetches from the web."""
    monkeypatch.setattr("inspect_ai.model._model.count_text_tokens", lambda text: len(text.split()))


def inspected(samples: list[Any], answers: list[str], scorers: list[Any], folder: Path) -> Any:
    import inspect_ai
    from inspect_ai.model import ModelOutput, get_model

    model = get_model(
        "mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm", answer) for answer in answers]
    )
    task = inspect_ai.Task(dataset=samples, scorer=scorers)
    evaluate = functools.partial(inspect_ai.eval, log_dir=str(folder), display="none", max_samples=1)
    # In a thread of its own: where the tests' browser is open, this one has a loop already.
    with ThreadPoolExecutor(1) as apart:
        [log] = apart.submit(evaluate, task, model=model, max_connections=1).result()
    assert log.status == "success", log.error
    return log


@pytest.mark.usefixtures("tokens_are_words")
def test_inspect_scores_answers_by_the_pictures_of_their_samples(cat: Path, tmp_path: Path) -> None:
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText

    from sightline.integrations.inspect_ai import sightline_scorer

    inline = "data:image/jpeg;base64," + base64.b64encode(cat.read_bytes()).decode()
    samples = [
        Sample(input=[ChatMessageUser(content=[ContentText(text="Describe."), ContentImage(image=inline)])]),
        Sample(input="Describe.", metadata={"images": [str(cat)]}),
        Sample(input="Describe.", metadata={"images": [str(cat)]}),
    ]
    answers = ["A brown cat.", "A red bus.", ""]
    log = inspected(samples, answers, [sightline_scorer("clipscore")], tmp_path)
    wanted = [
        score.score
        for score in scored(
            [{"text": text, "images": [str(cat)]} for text in answers[:2]], "clipscore"
        ).scores
    ]
    found = [next(iter(sample.scores.values())) for sample in log.samples]
    assert [score.value for score in found[:2]] == pytest.approx(wanted, abs=1e-12)
    assert math.isnan(found[2].value) and found[2].explanation
    assert found[0].metadata["signature"].startswith("clipscore|")
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(sum(wanted) / 2)


@pytest.mark.usefixtures("tokens_are_words")
def test_inspect_takes_the_target_as_reference_and_refuses_metrics_of_a_corpus(tmp_path: Path) -> None:
    from inspect_ai.dataset import Sample

    from sightline.integrations.inspect_ai import sightline_scorer

    log = inspected(
        [Sample(input="Describe.", target=["a dog runs", "the dog is running"])], ["a dog is running"],
        [sightline_scorer("rouge-l")], tmp_path,
    )  # fmt: skip
    row = {"text": "a dog is running", "references": ["a dog runs", "the dog is running"]}
    assert next(iter(log.samples[0].scores.values())).value == scored([row], "rouge-l").scores[0].score
    with pytest.raises(sightline.UsageError, match="one by one"):
        sightline_scorer("cider")


def test_a_task_of_lmms_eval_aggregates_over_all_answers(stories: Rows, tmp_path: Path) -> None:
    """Its convention only, as its task `coco_cap` uses it: installing lmms-eval would bring forty packages."""
    utils = tmp_path / "utils.py"
    utils.write_text(
        "from sightline.integrations.lmms_eval import for_task\n"
        'process_results, aggregate = for_task("cider", images=None, references="answer")\n'
    )
    spec = importlib.util.spec_from_file_location("utils", utils)
    assert spec and spec.loader
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    collected = [task.process_results({"answer": row["references"]}, [row["text"]]) for row in stories]
    assert {tuple(one) for one in collected} == {("cider",)}
    wanted = scored(stories, "cider").summary["metrics"]["cider"]["corpus"]
    assert task.aggregate([one["cider"] for one in collected], args=None) == pytest.approx(wanted, abs=1e-12)


def test_a_task_of_lmms_eval_hands_its_pictures_on(cat: Path) -> None:
    process, aggregate = for_task("clipscore")
    rows = [
        process({"image": Image.open(cat)}, [text])["clipscore"] for text in ("A brown cat.", "A red bus.")
    ]
    wanted = scored([{"text": row["text"], "images": [str(cat)]} for row in rows], "clipscore")
    assert aggregate(rows) == pytest.approx(wanted.summary["metrics"]["clipscore"]["mean"], abs=0.02)
