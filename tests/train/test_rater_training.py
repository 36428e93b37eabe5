"""The caption rater's training: fits against independent algebra, splits, intervals, a tiny run from file to score."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.encoders.rater import (
    CaptionRater,
    bilinear,
    cosine_curve,
    fingerprint,
    half_width_at,
    joined,
    predicted,
    same_picture,
)
from sightline.encoders.rater import network as forward
from sightline.errors import UsageError
from sightline.io.scores import read_failures
from sightline.resources import Resource
from sightline.train.rater import run as training
from sightline.train.rater.bilinear import FLAT, READ, BilinearRecipe, fit
from sightline.train.rater.crossed import published
from sightline.train.rater.distribution import bins_of, distribution, figure
from sightline.train.rater.errors import ranges, rescale
from sightline.train.rater.intervals import coverage_of, half_widths
from sightline.train.rater.network import PAPER, NetworkRecipe, fit_network, regressor
from sightline.train.rater.pairs import (
    RatedSet,
    check_scale,
    combined,
    parse_scale,
    unique,
)
from sightline.train.rater.run import fit_form
from sightline.train.rater.sources import rated_items
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
        "made", image.astype(np.float32), text.astype(np.float32), picture, caption, ratings, names, ids,
        rng.integers(0, 256, (pictures, 108), np.uint8),
    )  # fmt: skip


def test_conjugate_gradients_find_the_ridge_solution() -> None:
    pairs, recipe = made(), BilinearRecipe(image=0.3, text=0.2, product=0.5)
    i, t = (rows.astype(np.float64) for rows in pairs.vectors)
    X = np.hstack([cosine_curve(pairs.cosine), i, t, np.einsum("na,nb->nab", i, t).reshape(len(i), -1)])
    penalty = np.concatenate(
        [np.full(4, FLAT), np.full(6, 1 / 0.3), np.full(6, 1 / 0.2), np.full(36, 1 / 0.5)]
    )
    theta = np.linalg.solve(X.T @ X + np.diag(penalty), X.T @ pairs.mean)
    found = fit(pairs, recipe, tolerance=1e-10)
    assert found["W"] == pytest.approx(theta[16:].reshape(6, 6), abs=1e-6)
    assert bilinear(i, t, found) == pytest.approx(X @ theta, abs=1e-6)


def test_what_was_read_of_pairs_is_learned_from_too() -> None:
    plain, recipe = made(), BilinearRecipe(image=0.3, text=0.2, product=0.5)
    rng = np.random.default_rng(4)
    read = np.column_stack([rng.normal(plain.mean, 0.2), *rng.normal(5, 3, (4, len(plain)))]).astype(
        np.float32
    )
    pairs = replace(plain, read=read)
    i, t = (rows.astype(np.float64) for rows in pairs.vectors)
    wide = (read.astype(np.float64) - read.mean(axis=0, dtype=np.float64)) / read.std(
        axis=0, dtype=np.float64
    )
    outer = np.einsum("na,nb->nab", i, t).reshape(len(i), -1)
    X = np.hstack([cosine_curve(pairs.cosine), i, t, outer, np.clip(wide, -4, 4) / np.sqrt(5)])
    sizes, penalties = (4, 6, 6, 36, 5), (FLAT, 1 / 0.3, 1 / 0.2, 1 / 0.5, READ)
    theta = np.linalg.solve(X.T @ X + np.diag(np.repeat(penalties, sizes)), X.T @ pairs.mean)
    found = fit(pairs, recipe, tolerance=1e-10)
    assert found["w_r"] == pytest.approx(theta[52:], abs=1e-6)
    assert predicted("bilinear", found, {}, i, t, read) == pytest.approx(X @ theta, abs=1e-5)
    half = np.arange(60)
    assert np.array_equal(pairs.of(half).read, read[:60])
    without = np.corrcoef(
        predicted("bilinear", fit(plain.of(half), recipe), {}, i[60:], t[60:]), plain.mean[60:]
    )
    model = fit(pairs.of(half), recipe)
    with_it = np.corrcoef(predicted("bilinear", model, {}, i[60:], t[60:], read[60:]), plain.mean[60:])
    assert with_it[0, 1] > without[0, 1]


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

    edges, half = half_widths(*drawn(2000))
    x, ratings = drawn(4000)
    held = coverage_of(x, ratings, edges, half)
    assert 0.77 < held.mean() < 0.83
    per = np.repeat(x, 3)
    for low, high in ((1, 2), (2, 3), (3, 4)):
        assert 0.72 < held[(per >= low) & (per < high)].mean() < 0.88


def test_intervals_of_few_levels_do_not_hold_too_much() -> None:
    """Ratings are 1 or 2 and the mean is predicted rightly: widths drawn between bins would hold 86 % and more."""
    rng = np.random.default_rng(0)

    def drawn(n: int) -> tuple[np.ndarray, list[list[float]]]:
        x = 1 + rng.uniform(0, 1, n) ** 2
        return x, [list(1.0 + (rng.random(3) < v - 1)) for v in x]

    edges, half = half_widths(*drawn(3000))
    assert 0.78 < coverage_of(*drawn(3000), edges, half).mean() < 0.82


def test_a_half_width_belongs_to_a_bin_with_its_upper_edge() -> None:
    edges, half = np.array([1.0, 2.0]), np.array([0.1, 0.2, 0.3])
    at = half_width_at(np.array([-9, 1.0, 1.01, 2.0, 9]), edges, half)
    assert at.tolist() == [0.1, 0.1, 0.2, 0.2, 0.3]
    x = np.repeat([1.0, 3.0], 100)  # ties never straddle an edge
    edges, half = half_widths(x, [[v + 0.1 * k] for k, v in enumerate(x)])
    assert edges.tolist() == [1.0] and len(half) == 2


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
    assert sum(distribution(one, bins_of([one], (1, 4))).values()) == len(one)
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
        assert "|rater:" in row["signature"] and "encoder:pocket@" in row["signature"]
        assert any("learned from" in note for note in row["evidence"]["notes"])


def test_a_rater_of_another_encoder_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "other.npz"
    about = {"form": "bilinear", "encoder": "clip:other", "low": 1, "high": 5}
    eye = np.eye(256, dtype=np.float16)
    np.savez(
        model, about=np.array(json.dumps(about)), beta=np.zeros(4), w_i=eye[0], w_t=eye[0], W=eye,
        edges=np.zeros(0), half_width=np.ones(1), seen=np.zeros((1, 108), np.uint8),
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
    assert code == 3, text
    text = " ".join(text.split())
    assert f"3 items could not be learned from: {tmp_path / 'out' / 'failures.jsonl'} says why" in text
    assert "21 pairs of 6 pictures" in text
    assert "3 left out" in text and "3.png: there is no such picture" in text
    assert "1 pictures are copies of others" in text
    told = json.loads((tmp_path / "out" / "training.json").read_text())
    assert [row["id"] for row in told["left_out"]] == ["3-0", "3-1", "3-2"]
    listed = list(read_failures(tmp_path / "out" / "failures.jsonl"))
    assert [one.id for one in listed] == ["3-0", "3-1", "3-2"]
    assert listed[0].source == f"{path}:10" and "no such picture" in listed[0].reason


def test_a_line_that_is_no_item_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    path = study(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:5], "{broken", *lines[5:]]))
    code, text = run("train", "rater", path, "--samples", 0, "-o", tmp_path / "out")
    assert code == 3, text
    assert "24 pairs of 8 pictures" in text and "1 left out" in text
    (bad,) = read_failures(tmp_path / "out" / "failures.jsonl")
    assert bad.source == f"{path}:6" and "not JSON" in bad.reason


def test_sets_of_one_name_and_repeated_ids_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        study(tmp_path / name)
    again = tmp_path / "b" / "rated.jsonl"
    again.write_text(again.read_text() + again.read_text().splitlines()[0])
    out = tmp_path / "out"
    code, text = run("train", "rater", tmp_path / "a" / "rated.jsonl", again, "--samples", 0, "-o", out)
    assert code == 0, text
    told = json.loads((out / "training.json").read_text())
    assert [one["name"] for one in told["learned_from"]] == ["rated.jsonl", "rated.jsonl (2)"]
    counts = {name: sum(found.values()) for name, found in told["distribution"].items()}
    assert counts == {"rated.jsonl": 24, "rated.jsonl (2)": 25}
    page = (out / "report.html").read_text()
    assert "<h3>rated.jsonl (2)</h3>" in page and "<h3>Combined</h3>" in page


def test_names_that_recur_are_numbered() -> None:
    assert unique(["a", "a (2)", "a", "b", "a"]) == ("a", "a (2)", "a (3)", "b", "a (4)")


def test_brackets_in_names_are_no_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "x[" / "y]"
    folder.mkdir(parents=True)
    path = study(folder).rename(folder / "[red]a.jsonl")
    out = folder / ("long" * 20)
    code, text = run("train", "rater", path, "--samples", 0, "-o", out)
    assert code == 0, text
    assert "[red]a.jsonl: 24 pairs" in text
    assert f"--rater {out / 'rater.npz'}\n" in text


def test_a_folder_that_cannot_be_is_told_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    path = study(tmp_path)
    assert run("train", "rater", path, "-o", path) == (2, f"{path}: cannot write there ({path} is a file)")


def test_more_folds_need_more_pictures() -> None:
    with pytest.raises(UsageError, match=r"7 different pictures are too few .* at least 10 are needed"):
        folds([str(n) for n in range(7)], 10)
    with pytest.raises(UsageError, match="at least 5 are needed"):
        folds("abc", 1)


def photo(seed: int, side: int = 240) -> Image.Image:
    """Soft shapes of many colours, as unlike from seed to seed as photographs are."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (5, 7, 3), np.uint8))
    return coarse.resize((side * 4 // 3, side), Image.Resampling.BICUBIC)


def test_fingerprints_know_copies_and_tell_pictures_apart(tmp_path: Path) -> None:
    prints, copies = [], []
    for seed in range(30):
        image = photo(seed)
        image.resize((150, 100)).save(tmp_path / "small.jpg", quality=40)
        prints.append(fingerprint(image))
        copies.append(fingerprint(Image.open(tmp_path / "small.jpg").convert("RGB")))
    assert (same_picture(np.stack(prints), np.stack(copies)) == np.eye(30, dtype=bool)).all()
    plain = np.stack([fingerprint(Image.new("RGB", (9, 9), colour)) for colour in ("white", "#fdfdfd")])
    assert (same_picture(plain, plain) == np.eye(2, dtype=bool)).all()


def test_any_encoder_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_clip: Path) -> None:
    """Its vectors of different pictures may all but coincide: a random model's do."""
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    encoder, out = f"clip:{tiny_clip}", tmp_path / "out"
    rows = []
    for n in range(13):
        photo(n).save(tmp_path / f"{n}.png")
    photo(0).resize((120, 90)).save(tmp_path / "12.png")
    for n in range(13):
        for k, text in enumerate(("a red boat", "two dogs near a tree")):
            item = {"id": f"{n}-{k}", "images": [f"{n}.png"], "text": text}
            rows.append({**item, "ratings": {"overall": [1 + (n + k) % 4, 1 + n % 4]}})
    path = tmp_path / "rated.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, text = run("train", "rater", path, "--encoder", encoder, "--samples", 0, "-o", out)
    assert code == 0, text
    assert "26 pairs of 12 pictures" in text and "1 pictures are copies" in text
    photo(99).save(tmp_path / "new.png")
    new = {"id": "new", "images": ["new.png"], "text": "a red boat"}
    path.write_text(path.read_text() + json.dumps(new) + "\n")
    code, text = run(
        "score", path, "-m", "vicr", "--encoder", encoder, "--rater", out / "rater.npz", "--no-cache",
        "-o", tmp_path / "s",
    )  # fmt: skip
    assert code == 0, text
    scored = [json.loads(line) for line in (tmp_path / "s" / "scores.jsonl").read_text().splitlines()]
    assert {row["id"] for row in scored if row["evidence"]["notes"]} == {row["id"] for row in rows}
    assert len(scored) == 27


def rated(name: str, *ratings: tuple[float, ...]) -> RatedSet:
    """A set of which only the ratings matter."""
    nothing, rows = np.zeros((1, 2), np.float32), np.zeros(len(ratings), np.int64)
    ids = tuple(str(n) for n in range(len(ratings)))
    return RatedSet(name, nothing, nothing, rows, rows, ratings, ("p",), ids, np.zeros((1, 108), np.uint8))


def test_distributions_show_every_level() -> None:
    one = rated("one", (1, 2), (5,), (1, 1, 2))
    assert distribution(one, bins_of([one], (1, 5))) == {"1": 1, "2": 1, "3": 0, "4": 0, "5": 1}


@pytest.mark.parametrize(
    ("ratings", "scale", "first", "filled"),
    [
        (((0.0,), (0.25,), (0.3,), (1.0,)), (0, 1), "0 to 0.1", {0: 1, 2: 1, 3: 1, 9: 1}),
        (((0,), (37, 41), (100,)), (0, 100), "0 to 10", {0: 1, 3: 1, 9: 1}),
        (((0.5,), (4.5,), (5,)), (0.5, 5), "0.5 to 0.95", {0: 1, 8: 1, 9: 1}),
        (((0,), (1e6,)), (0, 1e6), "0 to 100,000", {0: 1, 9: 1}),
    ],
)
def test_long_and_fractional_scales_are_cut_into_equal_bins(
    ratings: tuple[tuple[float, ...], ...], scale: tuple[float, float], first: str, filled: dict[int, int]
) -> None:
    one = rated("one", *ratings)
    bins = bins_of([one], scale)
    assert (len(bins.names), bins.names[0]) == (10, first)
    assert {n: count for n, count in enumerate(bins.counts(one.mean)) if count} == filled


def test_combined_sets_are_drawn_as_shares() -> None:
    few, many = rated("few", (1,), (3,)), rated("many", *[(1,)] * 5, (3,))
    drawn = str(figure([few, many], bins_of([few, many], (1, 3))))
    titles = [drawn.index(f"<h3>{name}</h3>") for name in ("few", "many", "Combined")]
    assert titles == sorted(titles)
    for text in ("50.0 % (1)", "83.3 % (5)", "75.0 % (6)", "0.0 % (0)"):
        assert text in drawn
    assert "<h3>" not in str(figure([few], bins_of([few], (1, 3))))


@pytest.mark.filterwarnings("error")
def test_ratings_to_a_million_are_saved_whole(tmp_path: Path) -> None:
    pairs = made()
    weights = {"beta": np.full(4, 3e5), "w_i": np.full(6, 2e5), "w_t": np.full(6, 0.5), "W": np.eye(6)}
    model = training.FittedRater("bilinear", weights, {}, "{}")
    zeros = np.zeros(len(pairs))
    tested = training.Tested(pairs, zeros.astype(np.int64), zeros, zeros, zeros, zeros, ())
    training.save(tmp_path / "rater.npz", model, tested, pairs, "pocket-1", (0, 1e6), [])
    found = CaptionRater(tmp_path / "rater.npz")
    assert found.raw(*pairs.vectors) == pytest.approx(model.predict(pairs), rel=1e-3)


def test_whole_levels_are_cut_between() -> None:
    truth = np.array([1.0, 1.49, 1.5, 2.67, 4.0])
    names = [(r.name, r.n) for r in ranges(truth, {"a": truth}, (1, 4))]
    assert names == [("all", 5), ("1 to 1.5", 2), ("1.5 to 2.5", 1), ("2.5 to 3.5", 1), ("3.5 to 4", 1)]
    assert len(ranges(truth, {"a": truth}, (0.5, 4.0))) == 7  # no whole levels: six equal parts


def test_published_files_and_exports_are_sources(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(
        "image,caption,num_ratings,ratings,rating_2\nhttp://x/1.jpg,a dog,2,4,5\nhttp://x/2.jpg,a cat,1,2,\n"
    )
    name, (first, second), _ = rated_items(str(tmp_path / "v.csv"), None, None)
    assert (name, first.ratings, second.ratings) == ("v.csv", {"rating": (4, 5)}, {"rating": (2,)})
    composite = {"dataset": "coco", "image": 3, "index": 0, "caption": "a dog", "rating": 2}
    (tmp_path / "c.jsonl").write_text(json.dumps(composite))
    assert rated_items(str(tmp_path / "c.jsonl"), None, None)[1][0].ratings == {"rating": (2,)}
    (tmp_path / "tokens.txt").write_text("a.jpg#0\tA dog .\nb.jpg#2\tA cat .\n")
    (tmp_path / "expert.tsv").write_text("a.jpg\tb.jpg#2\t1\t1\t2\n")
    (tmp_path / "crowd.tsv").write_text("a.jpg\tb.jpg#2\t0.25\t1\t3\n")
    form = f"flickr8k:captions={tmp_path / 'tokens.txt'}"
    assert rated_items(str(tmp_path / "expert.tsv"), None, None, form)[1][0].ratings == {"rating": (1, 1, 2)}
    assert rated_items(str(tmp_path / "crowd.tsv"), None, None, form)[1][0].ratings == {
        "rating": (1, 0, 0, 0)
    }
    export = {"id": "a", "images": ["a.jpg"], "text": "x", "ratings": {"overall": [3, 4]}, "consensus": 4}
    (tmp_path / "e.jsonl").write_text(json.dumps(export))
    assert rated_items(str(tmp_path / "e.jsonl"), None, None)[1][0].ratings == {"rating": (3, 4)}


def fused(folder: Path, joint: bool, blind: bool = False) -> Path:
    """Vectors of pairs by an oracle that fuses: they tell whether the caption names the colour."""
    draw = np.random.default_rng(0)
    rows = [json.loads(line) for line in (folder / "rated.jsonl").read_text().splitlines()]
    good = np.array([row["ratings"]["overall"][0] == 4 for row in rows], np.float32)
    told = (0 if blind else good[:, None] * 2) + draw.normal(0, 0.1, (len(rows), 6)).astype(np.float32)
    arrays = {"pair": told} if joint else {"image": told[:, :4], "text": told[:, 4:]}
    np.savez(folder / "pairs.npz", ids=np.array([row["id"] for row in rows]), **arrays)
    return folder / "pairs.npz"


@pytest.mark.parametrize("joint", [True, False])
def test_vectors_of_pairs_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, joint: bool) -> None:
    """The journey with a fusion model's vectors: train on them, score with them, and what is missing is told."""
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    items, out = study(tmp_path), tmp_path / "out"
    vectors = fused(tmp_path, joint)
    code, text = run("train", "rater", items, "--vectors", vectors, "-o", out)
    assert code == 2 and "give --form paper or --recipe paper" in text
    code, text = run(
        "train",
        "rater",
        items,
        "--vectors",
        vectors,
        "--form",
        "paper",
        "--scale",
        "1-5",
        "--samples",
        9,
        "-o",
        out,
    )
    assert code == 0, text
    told = json.loads((out / "training.json").read_text())
    assert told["encoder"] == ("pairs:6+0" if joint else "pairs:4+2")
    taus = {row["metric"]: row["kendall_c"] for row in told["tested"]["rows"]}
    assert taus["vicr"] > 0.5  # these vectors tell the good captions apart
    score = ["score", items, "-m", "vicr", "--rater", out / "rater.npz", "--no-cache", "-o", tmp_path / "s"]
    code, text = run(*score, "--option", f"pairs={vectors}")
    assert code == 0, text
    rows = [json.loads(line) for line in (tmp_path / "s" / "scores.jsonl").read_text().splitlines()]
    digest = Resource.file(vectors).digest
    assert len(rows) == 24 and all(f"|pairs:{digest}|rater:" in row["signature"] for row in rows)
    code, text = run(*score, "--overwrite")
    assert code == 2 and "was trained for pairs:" in text
    arrays = dict(np.load(vectors))
    np.savez(vectors, **{name: rows[1:] for name, rows in arrays.items()})
    code, text = run(*score, "--overwrite", "--option", f"pairs={vectors}")
    assert code == 3
    failure = json.loads((tmp_path / "s" / "failures.jsonl").read_text())
    assert failure["id"] == "0-0" and "no vector for this pair" in failure["reason"]
    code, text = run("train", "rater", items, "--vectors", vectors, "--form", "paper", "-o", out)
    assert code == 2 and "no vector for '0-0' of rated.jsonl" in text
    np.savez(vectors, ids=np.array(["a", "a"]), pair=np.ones((2, 3)))
    assert run("train", "rater", items, "--vectors", vectors, "-o", out)[1].endswith(
        "two rows are called 'a'"
    )


def test_the_papers_recipe_to_the_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raw ratings, every epoch, the last one's weights: nothing is chosen on the validation pictures."""
    assert (PAPER.widths, PAPER.dropout, PAPER.epochs, PAPER.inputs) == (
        (512, 256),
        0.8,
        4000,
        ("image", "text"),
    )
    epochs: list[float] = []
    short = replace(PAPER, epochs=7, widths=(8,))
    one, other = made(seed=0), made(seed=1)
    arrays, about = fit_network(one, other, short, lambda row: epochs.append(row["epoch"]))
    assert epochs == [1, 2, 3, 4, 5, 6, 7] and about["target"] == [0.0, 1.0]
    again, _ = fit_network(one, made(seed=2), short)
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)
    monkeypatch.setattr("sightline.train.rater.network.PAPER", short)
    assert json.loads(fit_form("exact", one, other).chosen)["patience"] is None


def test_crossed_data_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """VICR's Table 5 as one command, on two made data sets under the paper's names: its numbers stand beside ours."""
    assert published()["vicr", "vicr"] == 0.664 and published()["clipscore", "combined"] == 0.657
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "b").mkdir()
    first = study(tmp_path).rename(tmp_path / "vicr")
    shades = ("pink", "brown", "gray", "gold", "navy", "teal", "lime", "cyan", "magenta", "olive")
    second = study(tmp_path / "b", colours=shades).rename(tmp_path / "b" / "mine")
    out = tmp_path / "out"
    code, text = run(
        "train",
        "rater",
        first,
        second,
        "--format",
        "jsonl",
        "--crossed",
        "--samples",
        20,
        "--seed",
        1,
        "-o",
        out,
    )
    assert code == 0, text
    rows = json.loads((out / "crossed.json").read_text())["rows"]
    assert [(row["trained_on"], row["tested_on"]) for row in rows[:3]] == [
        ("vicr", "vicr"), ("vicr", "mine"), ("vicr", "combined"),
    ]  # fmt: skip
    assert len(rows) == 12 and rows[0]["published"] == 0.664 and rows[1]["published"] is None
    sizes = {row["tested_on"]: row["pairs"] for row in rows}
    assert sizes["combined"] == sizes["vicr"] + sizes["mine"]
    assert "| clipscore |" in (out / "crossed.md").read_text() and "(paper 66.4)" in text
    code, text = run("train", "rater", first, "--format", "jsonl", "--crossed", "-o", out)
    assert code == 2 and "at least two data sets" in text
