"""Calibrations: the curve onto CLIP's range, theta, and what later runs find of them."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.encoders import Embedder, load_encoder
from sightline.encoders.calibration import (
    FOREIGN,
    MATCHING,
    Calibration,
    Curve,
    fit_curve,
    keep,
    kept,
    place_of,
)
from sightline.errors import UsageError
from sightline.io import read_items
from sightline.meta.scoring import score_items
from sightline.pipeline.settings import LocalTools, Settings
from sightline.train.calibration import calibrate

DEMO = Path(__file__).parents[2] / "src" / "sightline" / "demo" / "stories.jsonl"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path))
    return tmp_path


def good() -> list:
    return [item for item in read_items(DEMO) if item.system == "good"]


@settings(max_examples=30)
@given(st.floats(-0.2, 0.6), st.floats(0.01, 0.5), st.floats(0.005, 0.1), st.integers(0, 99))
def test_a_curve_brings_matching_and_foreign_pairs_to_clips_means(
    foreign: float, gap: float, spread: float, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    other = draw.normal(foreign, spread * gap, 400)
    own = draw.normal(foreign + gap, spread * gap, 400)
    curve = fit_curve(own, other)
    assert math.isclose(np.mean(curve(own)), MATCHING, abs_tol=1e-3)
    assert math.isclose(np.mean(curve(other)), FOREIGN, abs_tol=1e-3)
    line = np.linspace(min(other.min(), own.min()), max(own.max(), other.max()), 200)
    assert (np.diff(curve(line)) > 0).all()


def test_an_encoder_that_sees_nothing_is_refused() -> None:
    draw = np.random.default_rng(0)
    with pytest.raises(UsageError, match="no nearer to their own pictures"):
        fit_curve(draw.normal(size=300), draw.normal(0.5, size=300))


def test_what_was_kept_is_found_by_content_and_damage_is_told() -> None:
    own = Calibration("A photo depicts ", None, {"phrases": 0.5})
    assert kept("siglip@1", own) is own
    made = Calibration("", Curve(0.05, 0.45, 3.0, 0.1), {"phrases": 0.7, "nouns": 0.6})
    place = keep("siglip@1", made, stories=40, pairs=200, on="mine.jsonl")
    found = kept("siglip@1", own)
    assert (found.prompt, found.curve, found.thetas, found.source) == (
        own.prompt, made.curve, made.thetas, "calibrated",
    )  # fmt: skip
    assert kept("siglip@2", own) is own
    place.write_text('{"encoder": "siglip@1", "curve": {"slope": "steep"}}')
    with pytest.raises(
        UsageError, match=r"siglip@1.json: no sound calibration .* run 'sightline calibrate' again"
    ):
        kept("siglip@1", own)
    place.rename(place_of("siglip@2"))
    place_of("siglip@2").write_text(place_of("siglip@2").read_text().replace("slope", "s"))
    with pytest.raises(UsageError, match="no sound calibration"):
        kept("siglip@2", own)


def test_an_encoder_without_theta_is_calibrated_and_then_scores_few_stories(tiny_siglip: Path) -> None:
    """The journey: refused with the remedy, the remedy, scores whose signature names it; and back."""
    chosen = Settings(f"clip:{tiny_siglip}", cache=None)
    few = good()[:3]
    with pytest.raises(UsageError, match=r"no theta is known .* run 'sightline calibrate --encoder"):
        score_items(few, ["groovist"], chosen)
    run = CliRunner()
    command = ["calibrate", "--encoder", f"clip:{tiny_siglip}", "--range", "keep", "--no-cache"]
    told = run.invoke(load_commands(), command)
    assert told.exit_code == 0, told.output
    assert "theta of phrases" in told.output and "rough calibration" in told.output
    scored = score_items(few, ["groovist"], chosen)
    (signature,) = {scored.signatures["groovist"]}
    record = json.loads(place_of(load_encoder(f"clip:{tiny_siglip}").signature).read_text())
    assert f"theta:calibrated={record['thetas']['phrases']:.10g}" in signature
    assert record["stories"] == 8 and record["on"] == "demo"
    assert run.invoke(load_commands(), [*command, "--forget"]).exit_code == 0
    with pytest.raises(UsageError, match="no theta is known"):
        score_items(few, ["groovist"], chosen)


def test_theta_is_the_one_a_corpus_of_the_same_stories_gives() -> None:
    """Without a curve of its own: the mean over every story's phrases, as groovist fits it on a corpus."""
    tools = LocalTools(Settings(cache=None))
    try:
        found = calibrate(good(), tools, "fit")
        embedder = tools.embedder
        assert embedder.calibration.curve is None
    finally:
        tools.close()
    assert found.matching and found.foreign and found.matching > found.foreign + 0.1
    keep(found.encoder, found.calibration, stories=found.stories, pairs=found.pairs, on="demo")
    scored = score_items(good(), ["groovist"], Settings(cache=None).with_options(theta="corpus"))
    assert f"theta:corpus={found.calibration.thetas['phrases']:.4g}"[:17] in scored.signatures["groovist"]
    assert f"range:{found.calibration.curve.digest}" in scored.signatures["groovist"]


def test_the_range_is_named_in_every_signature() -> None:
    embedder = Embedder(load_encoder("pocket"))
    before = embedder.calibrated_parts["range"]
    keep(embedder.signature, Calibration("", Curve(0.05, 0.45, 2.0, 0.1), {}), stories=1, pairs=9, on="x")
    assert Embedder(load_encoder("pocket")).calibrated_parts["range"] != before


def test_too_few_pairs_are_told() -> None:
    tools = LocalTools(Settings(cache=None))
    try:
        with pytest.raises(UsageError, match="at least 8, of two pictures"):
            calibrate(good()[:1], tools, "fit")
    finally:
        tools.close()
