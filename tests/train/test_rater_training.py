"""The caption rater's training: fits against independent algebra, splits, intervals, a tiny run from file to score."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.encoders.rater import CaptionRater, bilinear, cosine_curve, joined, signs
from sightline.encoders.rater import network as forward
from sightline.errors import UsageError
from sightline.train.rater.bilinear import FLAT, Recipe, fit
from sightline.train.rater.errors import ranges, rescale
from sightline.train.rater.intervals import coverage_of, half_widths
from sightline.train.rater.network import NetworkRecipe, fit_network, regressor
from sightline.train.rater.pairs import (
    RatedSet,
    check_scale,
    combined,
    distribution,
    parse_scale,
    rated_items,
)
from sightline.train.rater.splits import folds, rows_in


def made(pictures: int = 20, captions: int = 15, pairs: int = 120, width: int = 6, seed: int = 0) -> RatedSet:
    """Pairs whose ratings follow the cosine and one planted product."""
    rng = np.random.default_rng(seed)
    image, text = (rng.normal(size=(n, width)) for n in (pictures, captions))
    image, text = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (image, text))
    picture, caption = rng.integers(0, pictures, pairs), rng.integers(0, captions, pairs)
    truth = 2.5 + np.einsum("nd,nd->n", image[picture], text[caption]) + image[picture, 0] * text[caption, 1]
    ratings = tuple(
        tuple(float(v) for v in np.clip(np.round(t + rng.normal(0, 0.4, 3)), 1, 4)) for t in truth
    )
    names = tuple(f"{seed}-{n}" for n in range(pictures))
    ids = tuple(str(n) for n in range(pairs))
    return RatedSet(
        "made", image.astype(np.float32), text.astype(np.float32), picture, caption, ratings, names, ids
    )


def test_conjugate_gradients_find_the_ridge_solution() -> None:
    pairs, recipe = made(), Recipe(image=0.3, text=0.2, product=0.5)
    i, t = (rows.astype(np.float64) for rows in pairs.vectors)
    X = np.hstack([cosine_curve(pairs.cosine), i, t, np.einsum("na,nb->nab", i, t).reshape(len(i), -1)])
    penalty = np.concatenate(
        [np.full(4, FLAT), np.full(6, 1 / 0.3), np.full(6, 1 / 0.2), np.full(36, 1 / 0.5)]
    )
    theta = np.linalg.solve(X.T @ X + np.diag(penalty), X.T @ pairs.mean)
    found = fit(pairs, recipe, tolerance=1e-10)
    assert found["W"] == pytest.approx(theta[16:].reshape(6, 6), abs=1e-6)
    assert bilinear(i, t, found) == pytest.approx(X @ theta, abs=1e-6)


@pytest.mark.parametrize("inputs", [("image", "text"), ("image", "text", "product", "difference", "cosine")])
def test_numpy_and_torch_go_forward_alike(inputs: tuple[str, ...]) -> None:
    recipe = NetworkRecipe(inputs=inputs)
    i, t = (rows.astype(np.float32) for rows in made().vectors)
    x = joined(i, t, inputs)
    torch.manual_seed(0)
    model = regressor(x.shape[1], recipe).eval()
    layers = [
        (m.weight.detach().numpy(), m.bias.detach().numpy()) for m in model if isinstance(m, torch.nn.Linear)
    ]
    assert [weight.shape[0] for weight, _ in layers] == [512, 256, 1]
    assert [m.p for m in model if isinstance(m, torch.nn.Dropout)] == [0.8, 0.8]
    expected = model(torch.as_tensor(x)).detach().numpy()[:, 0]
    assert forward(x, layers) == pytest.approx(expected, abs=1e-5)


def test_a_network_stops_early_and_the_same_seed_gives_the_same_model() -> None:
    pairs, told = made(pairs=200), []
    recipe = NetworkRecipe(widths=(16,), dropout=0.1, epochs=400, patience=3, members=2)
    train, held = pairs.of(np.arange(150)), pairs.of(np.arange(150, 200))
    arrays, about = fit_network(train, held, recipe, told.append)
    again, _ = fit_network(train, held, recipe)
    assert len(told) < 800
    assert set(arrays) == {f"{part}_{m}_{n}" for part in ("weight", "bias") for m in (0, 1) for n in (0, 1)}
    assert all((arrays[name] == again[name]).all() for name in arrays)
    assert about["members"] == 2


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("abcdefg", min_size=1, max_size=2), min_size=1, max_size=80),
    st.integers(1, 6),
    st.integers(0, 5),
)
def test_no_picture_is_in_two_parts(groups: list[str], count: int, seed: int) -> None:
    names = set(groups)
    if len(names) < max(count, 5):
        with pytest.raises(UsageError, match="too few"):
            folds(groups, count, seed)
        return
    splits = folds(groups, count, seed)
    assert len(splits) == count
    for split in splits:
        assert not split.train & split.validation
        assert not split.seen & split.test
        assert split.seen | split.test == names
        assert split.train and split.validation and split.test
    if count >= 5:
        tested = [name for split in splits for name in split.test]
        assert sorted(tested) == sorted(names)
    rows = np.concatenate([rows_in(np.array(groups), part) for part in (splits[0].seen, splits[0].test)])
    assert sorted(rows.tolist()) == list(range(len(groups)))


def test_shares_are_64_16_20() -> None:
    (split,) = folds([f"p{n}" for n in range(1000)], 1)
    assert (len(split.train), len(split.validation), len(split.test)) == (640, 160, 200)


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_intervals_hold_what_they_promise_on_discrete_ratings(noise: float) -> None:
    rng = np.random.default_rng(1)

    def drawn(n: int) -> tuple[np.ndarray, list[list[float]]]:
        x = rng.uniform(1, 4, n)
        spread = noise * (0.3 + 0.4 * x)  # wider for higher ratings: one width would not do
        return x, [
            list(np.clip(np.round(v + rng.normal(0, s, 3)), 1, 5)) for v, s in zip(x, spread, strict=True)
        ]

    knots, half = half_widths(*drawn(2000))
    x, ratings = drawn(4000)
    held = coverage_of(x, ratings, knots, half)
    assert 0.77 < held.mean() < 0.83
    per = np.repeat(x, 3)
    for low, high in ((1, 2), (2, 3), (3, 4)):
        assert 0.72 < held[(per >= low) & (per < high)].mean() < 0.88


def test_errors_by_hand() -> None:
    slope, intercept = rescale(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    assert (slope, intercept) == pytest.approx((2, 1))
    truth = np.array([1.0, 2.0, 4.0])
    whole, low, _, high = ranges(
        truth, {"a": np.array([1.0, 3.5, 9.0]), "b": np.array([2.5, 2.0, 4.0])}, (1, 4), parts=3
    )
    assert whole.error == pytest.approx({"a": 1.5 / 9, "b": 1.5 / 9})  # 9 is kept within the scale
    assert (low.n, low.error["b"]) == (1, pytest.approx(0.5))
    assert (high.name, high.n, high.error["a"]) == ("3 to 4", 1, 0)


def test_combined_keeps_levels_and_joins_copies() -> None:
    one, other = made(seed=0), made(seed=1)
    assert not combined([one, other]).copies
    both = combined([one, one])
    assert both.copies == len(one.group)
    assert both.ratings[: len(one)] == one.ratings
    assert set(both.groups[: len(one)]) == set(both.groups[len(one) :])
    assert sum(distribution(one).values()) == len(one)
    np.testing.assert_allclose(both.cosine[len(one) :], one.cosine, atol=1e-6)


def test_scales_are_checked() -> None:
    assert parse_scale("1-5") == (1, 5)
    for wrong in ("5-1", "five", "1"):
        with pytest.raises(UsageError, match="--scale"):
            parse_scale(wrong)
    assert check_scale([made()], (1, 5)) == (1, 5)
    with pytest.raises(UsageError, match=r"item '\d+' is rated .* outside the scale from 1 to 2"):
        check_scale([made()], (1, 2))


COLOURS = ("red", "green", "blue", "yellow", "white", "black", "purple", "orange")


def study(folder: Path, rating: int | None = None, colours: tuple[str, ...] = COLOURS) -> Path:
    """Plain pictures; captions that name the colour are good, others bad."""
    lines = []
    for n, colour in enumerate(colours):
        Image.new("RGB", (40, 40), colour).save(folder / f"{n}.png")
        for k in range(3):
            said = colours[(n + k) % len(colours)]
            given = rating or (4 if k == 0 else 1 + (n + k) % 2)
            item = {"id": f"{n}-{k}", "images": [f"{n}.png"], "text": f"a {said} wall"}
            lines.append({**item, "ratings": {"overall": [given, given]}})
    path = folder / "rated.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def run(*arguments: object) -> tuple[int, str]:
    found = CliRunner().invoke(load_commands(), [str(a) for a in arguments])
    if isinstance(found.exception, UsageError):
        return 2, str(found.exception)
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.exit_code, found.output


@pytest.mark.parametrize("form", ["bilinear", "network"])
def test_from_a_file_to_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "out"
    code, text = run(
        "train", "rater", study(tmp_path), "--form", form, "--scale", "1-5", "--samples", 20, "-o", out
    )
    assert code == 0, text
    told = json.loads((out / "training.json").read_text())
    assert told["tested"]["pairs"] == 24
    assert told["learned_from"][0]["pictures"] == 8
    assert "Absolute errors" in (out / "report.html").read_text()
    code, text = run(
        "score", tmp_path / "rated.jsonl", "-m", "vicr", "--rater", out / "rater.npz", "--no-cache",
        "-o", tmp_path / "s",
    )  # fmt: skip
    assert code == 0, text
    rows = [json.loads(line) for line in (tmp_path / "s" / "scores.jsonl").read_text().splitlines()]
    assert len(rows) == 24
    for row in rows:
        parts = row["evidence"]["parts"]
        assert 1 <= parts["low (80 %)"] <= row["score"] <= parts["high (80 %)"] <= 5
        assert "rater:rater.npz@" in row["signature"] and "encoder:pocket" in row["signature"]
        assert any("learned from" in note for note in row["evidence"]["notes"])


def test_a_rater_of_another_encoder_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "other.npz"
    about = {"form": "bilinear", "encoder": "clip:other", "low": 1, "high": 5}
    eye = np.eye(256, dtype=np.float16)
    np.savez(
        model, about=np.array(json.dumps(about)), beta=np.zeros(4), w_i=eye[0], w_t=eye[0], W=eye,
        knots=np.ones(1), half_width=np.ones(1), seen=signs(eye[:1]),
    )  # fmt: skip
    code, text = run(
        "score", study(tmp_path), "-m", "vicr", "--rater", model, "--no-cache", "-o", tmp_path / "s"
    )
    assert code == 2
    assert "was trained for clip:other, not for pocket" in text


@pytest.mark.parametrize("content", [b"", b"PK nothing", b"\x93NUMPY"])
def test_a_file_that_is_no_rater_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "no.npz").write_bytes(content)
    with pytest.raises(UsageError, match="not a caption rater"):
        CaptionRater(tmp_path / "no.npz")


def test_bad_input_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "out"
    code, text = run("train", "rater", study(tmp_path, rating=3), "-o", out)
    assert (code, "every rating is 3: constant" in text) == (2, True)
    one = tmp_path / "one.jsonl"
    one.write_text(json.dumps({"id": "a", "images": ["0.png"], "text": "x", "ratings": {"overall": [3]}}))
    code, text = run("train", "rater", one, "--scale", "1-5", "-o", out)
    assert code == 2
    assert "constant" in text
    code, text = run("train", "rater", study(tmp_path, colours=COLOURS[:3]), "-o", out)
    assert (code, "3 different pictures are too few" in text) == (2, True)
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({"id": "a", "images": ["0.png"], "text": "x"}))
    assert run("train", "rater", bare, "-o", out) == (
        2, f"{bare}: no item has ratings, so there is nothing to learn from",
    )  # fmt: skip
    code, text = run("train", "rater", study(tmp_path), "--scale", "1-3", "-o", out)
    assert (code, "outside the scale from 1 to 3" in text) == (2, True)
    code, text = run("train", "rater", study(tmp_path), "--criterion", "fluency", "-o", out)
    assert (code, "no item is rated on 'fluency'; there is overall" in text) == (2, True)
    code, text = run("train", "rater", "flickr8k-expert", "-o", out)
    assert (code, "give --data DIR" in text) == (2, True)


def test_missing_pictures_and_copies_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    path = study(tmp_path)
    (tmp_path / "3.png").unlink()
    (tmp_path / "5.png").write_bytes((tmp_path / "4.png").read_bytes())  # one picture by two names
    code, text = run("train", "rater", path, "--samples", 0, "-o", tmp_path / "out")
    assert code == 0, text
    text = " ".join(text.split())
    assert "21 pairs of 6 pictures" in text
    assert "3 left out" in text and "3.png: there is no such picture" in text
    assert "1 pictures are copies of others" in text
    told = json.loads((tmp_path / "out" / "training.json").read_text())
    assert [row["id"] for row in told["left_out"]] == ["3-0", "3-1", "3-2"]


def test_whole_levels_are_cut_between() -> None:
    truth = np.array([1.0, 1.49, 1.5, 2.67, 4.0])
    names = [(r.name, r.n) for r in ranges(truth, {"a": truth}, (1, 4))]
    assert names == [("all", 5), ("1 to 1.5", 2), ("1.5 to 2.5", 1), ("2.5 to 3.5", 1), ("3.5 to 4", 1)]
    assert len(ranges(truth, {"a": truth}, (0.5, 4.0))) == 7  # no whole levels: six equal parts


def test_published_files_and_exports_are_sources(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(
        "image,caption,num_ratings,ratings,rating_2\nhttp://x/1.jpg,a dog,2,4,5\nhttp://x/2.jpg,a cat,1,2,\n"
    )
    name, (first, second) = rated_items(str(tmp_path / "v.csv"), None, None)
    assert (name, first.ratings, second.ratings) == ("v.csv", {"rating": (4, 5)}, {"rating": (2,)})
    composite = {"dataset": "coco", "image": 3, "index": 0, "caption": "a dog", "rating": 2}
    (tmp_path / "c.jsonl").write_text(json.dumps(composite))
    assert rated_items(str(tmp_path / "c.jsonl"), None, None)[1][0].ratings == {"rating": (2,)}
    (tmp_path / "tokens.txt").write_text("a.jpg#0\tA dog .\nb.jpg#2\tA cat .\n")
    (tmp_path / "expert.tsv").write_text("a.jpg\tb.jpg#2\t1\t1\t2\n")
    (tmp_path / "crowd.tsv").write_text("a.jpg\tb.jpg#2\t0.25\t1\t3\n")
    form = f"flickr8k:captions={tmp_path / 'tokens.txt'}"
    assert rated_items(str(tmp_path / "expert.tsv"), None, None, form)[1][0].ratings == {"rating": (1, 1, 2)}
    assert rated_items(str(tmp_path / "crowd.tsv"), None, None, form)[1][0].ratings == {"rating": (0.25,)}
    export = {"id": "a", "images": ["a.jpg"], "text": "x", "ratings": {"overall": [3, 4]}, "consensus": 4}
    (tmp_path / "e.jsonl").write_text(json.dumps(export))
    assert rated_items(str(tmp_path / "e.jsonl"), None, None)[1][0].ratings == {"rating": (3, 4)}
