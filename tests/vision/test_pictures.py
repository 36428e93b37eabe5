"""Whatever a picture file holds, out comes an upright RGB picture or a reason."""

import io
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from sightline.errors import Unscorable
from sightline.vision.decoding import FULL_PIXELS, MOST_PIXELS
from sightline.vision.pictures import Pictures


@pytest.fixture
def pictures() -> Pictures:
    return Pictures()


def save(path: Path, image: Image.Image, **options) -> Path:
    image.save(path, **options)
    return path


def quarters(width: int = 40, height: int = 20) -> Image.Image:
    """Red, green over blue, white: any turn or flip can be told."""
    image = Image.new("RGB", (width, height))
    for number, colour in enumerate(("red", "lime", "blue", "white")):
        left, top = (number % 2) * width // 2, (number // 2) * height // 2
        image.paste(colour, (left, top, left + width // 2, top + height // 2))
    return image


def reason(pictures: Pictures, path: Path) -> str:
    with pytest.raises(Unscorable) as caught:
        pictures.load(path).crop()
    told = str(caught.value)
    assert str(path) in told
    assert "\n" not in told
    return told


def test_size_digest_and_crop(tmp_path: Path, pictures: Pictures) -> None:
    one = pictures.load(save(tmp_path / "one.png", quarters()))
    two = pictures.load(save(tmp_path / "two.png", quarters()))
    other = pictures.load(save(tmp_path / "other.png", quarters(20, 20)))
    assert one.size == (40, 20)
    assert one.digest == two.digest != other.digest
    assert one.crop().size == (40, 20)
    assert one.crop((20, 0, 40, 10)).getcolors() == [(200, (0, 255, 0))]
    assert one.crop((-5, -5, 10, 10)).size == (10, 10), "clipped to the picture"
    assert one.crop((39.9, 19.9, 40, 20)).size == (1, 1), "at least one pixel"
    with pytest.raises(Unscorable, match="outside the picture"):
        one.crop((40, 0, 50, 10))
    with pytest.raises(Unscorable, match="outside the picture"):
        one.crop((float("nan"), 0, 50, 10))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(tmp_path: Path, pictures: Pictures, orientation: int) -> None:
    undo = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]
    stored = quarters() if undo is None else quarters().transpose(undo)
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = pictures.load(save(tmp_path / "turned.png", stored, exif=exif))
    assert picture.size == (40, 20)
    assert np.array_equal(np.asarray(picture.crop()), np.asarray(quarters()))


def test_damaged_exif_leaves_the_picture_as_stored(tmp_path: Path, pictures: Pictures) -> None:
    path = save(tmp_path / "odd.jpg", quarters(), exif=b"Exif\0\0MM\0*\xff\xff\xff\xff" + b"\xff" * 40)
    assert pictures.load(path).size == (40, 20)


@pytest.mark.parametrize(
    ("mode", "suffix"),
    [
        ("1", "png"),
        ("L", "png"),
        ("LA", "png"),
        ("P", "gif"),
        ("RGBA", "png"),
        ("CMYK", "jpg"),
        ("CMYK", "tiff"),
    ],
)
def test_other_colour_modes_become_rgb(tmp_path: Path, pictures: Pictures, mode: str, suffix: str) -> None:
    image = pictures.load(save(tmp_path / f"x.{suffix}", quarters().convert(mode))).crop()
    assert image.mode == "RGB"
    assert np.asarray(image)[15, 35].min() > 240, "white stays white"


def test_transparent_palette_lies_on_white(tmp_path: Path, pictures: Pictures) -> None:
    image = Image.new("P", (8, 8), 0)
    image.putpalette([10, 20, 30, 200, 0, 0])
    image.paste(1, (4, 0, 8, 8))
    shown = pictures.load(save(tmp_path / "clear.png", image, transparency=0)).crop()
    assert shown.getpixel((0, 0)) == (255, 255, 255)
    assert shown.getpixel((7, 0)) == (200, 0, 0)


def test_sixteen_bits_are_scaled_not_clipped(tmp_path: Path, pictures: Pictures) -> None:
    deep = np.array([[0, 128 << 8], [255, 65535]], np.uint16)
    shown = np.asarray(pictures.load(save(tmp_path / "deep.png", Image.fromarray(deep))).crop())
    assert shown[..., 0].tolist() == [[0, 128], [0, 255]]


@pytest.mark.parametrize(
    ("levels", "shown"),
    [
        ([0, 100, 255], [0, 100, 255]),
        ([0, 255, 256], [0, 0, 1]),
        ([0, 128 << 8, 65535], [0, 128, 255]),
        ([-5, 0, 200], [0, 0, 200]),
        ([-32768, 0, 32767], [0, 0, 127]),
        ([0, 7, 65536], None),
        ([0, 7, 2**31 - 1], None),
        ([-(2**31), 0, 7], None),
    ],
)
def test_levels_in_32_bits_are_read_by_their_range(
    tmp_path: Path, pictures: Pictures, levels: list[int], shown: list[int] | None
) -> None:
    path = save(tmp_path / "i.tiff", Image.fromarray(np.array([levels], np.int32)))
    if shown is None:
        assert "32-bit numbers; convert it to 8 or 16 bits" in reason(pictures, path)
    else:
        assert np.asarray(pictures.load(path).crop())[0, :, 0].tolist() == shown


def test_floating_point_pixels_are_refused(tmp_path: Path, pictures: Pictures) -> None:
    path = save(tmp_path / "f.tiff", Image.fromarray(np.ones((4, 4), np.float32)))
    assert "floating-point" in reason(pictures, path)


@pytest.mark.parametrize("suffix", ["gif", "webp", "png"])
def test_first_frame_of_an_animation(tmp_path: Path, pictures: Pictures, suffix: str) -> None:
    frames = [Image.new("RGB", (16, 16), colour) for colour in ("red", "blue")]
    path = save(tmp_path / f"moving.{suffix}", frames[0], save_all=True, append_images=frames[1:])
    red, _, blue = pictures.load(path).crop().getpixel((8, 8))
    assert red > 240
    assert blue < 15


def test_wrong_extension_does_not_matter(tmp_path: Path, pictures: Pictures) -> None:
    path = tmp_path / "really_png.jpg"
    quarters().save(path, format="PNG")
    assert pictures.load(path).size == (40, 20)


def test_what_is_no_picture_is_told(tmp_path: Path, pictures: Pictures) -> None:
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "text.jpg").write_text("not a picture\n" * 100)
    (tmp_path / "drawing.eps").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n")
    (tmp_path / "folder.jpg").mkdir()
    whole = io.BytesIO()
    quarters(400, 400).save(whole, format="JPEG", quality=95)
    (tmp_path / "half.jpg").write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
    assert "0 bytes" in reason(pictures, tmp_path / "empty.jpg")
    assert "not a picture" in reason(pictures, tmp_path / "text.jpg")
    assert "not a picture" in reason(pictures, tmp_path / "drawing.eps"), "no Ghostscript is ever run"
    assert "folder" in reason(pictures, tmp_path / "folder.jpg")
    assert "damaged" in reason(pictures, tmp_path / "half.jpg")
    assert "no such picture" in reason(pictures, tmp_path / "missing.jpg")
    assert "cannot be read" in reason(pictures, tmp_path / ("x" * 300))
    assert "cannot be read" in reason(pictures, tmp_path / "nul\0.jpg")


def header_only_png(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds next to nothing."""
    small = io.BytesIO()
    Image.new("L", (1, 1)).save(small, format="PNG")
    data = bytearray(small.getvalue())
    data[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    import zlib

    data[29:33] = zlib.crc32(bytes(data[12:29])).to_bytes(4, "big")
    return bytes(data)


def test_decompression_bombs_are_refused_before_decoding(tmp_path: Path, pictures: Pictures) -> None:
    for number, side in enumerate((14_000, 60_000)):
        path = tmp_path / f"bomb{number}.png"
        path.write_bytes(header_only_png(side, side))
        assert side * side > MOST_PIXELS
        assert "pixels" in reason(pictures, path)


@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_a_large_picture_is_reduced_but_keeps_its_coordinates(
    tmp_path: Path, pictures: Pictures, suffix: str
) -> None:
    path = save(tmp_path / f"large.{suffix}", quarters(8001, 4001).resize((8001, 4001)))
    picture = pictures.load(path)
    assert picture.size == (8001, 4001)
    assert picture.crop().width * picture.crop().height <= FULL_PIXELS
    blue = picture.crop((500, 2500, 3500, 3500))
    assert abs(blue.width - 1500) <= 1
    red, green, level = np.asarray(blue).reshape(-1, 3).mean(axis=0)
    assert level > 240
    assert red + green < 10


def test_extreme_shapes(tmp_path: Path, pictures: Pictures) -> None:
    for number, size in enumerate([(1, 1), (1, 5000), (5000, 1), (3, 60_000)]):
        picture = pictures.load(save(tmp_path / f"{number}.png", Image.new("RGB", size, "red")))
        assert picture.size == size
        assert picture.crop((0, 0, size[0] / 3, size[1] / 3)).width >= 1


def test_memory_stays_within_the_budget_and_pixels_come_back(tmp_path: Path) -> None:
    budget = 10 * 100 * 100 * 4
    pictures = Pictures(budget=budget)
    loaded = [
        pictures.load(save(tmp_path / f"{n}.png", Image.new("RGB", (100, 100), (n, 0, 0)))) for n in range(30)
    ]
    assert pictures.bytes_held <= budget
    assert [picture.crop().getpixel((0, 0))[0] for picture in loaded] == list(range(30))
    assert pictures.bytes_held <= budget


def test_a_file_that_changed_is_noticed(tmp_path: Path) -> None:
    pictures = Pictures(budget=1)
    path = save(tmp_path / "a.png", Image.new("RGB", (10, 10), "red"))
    picture = pictures.load(path)
    pictures.load(save(tmp_path / "b.png", Image.new("RGB", (10, 10), "blue")))  # drives the first out
    save(path, Image.new("RGB", (12, 10), "lime"))
    with pytest.raises(Unscorable, match="changed"):
        picture.crop()
    assert pictures.load(path).size == (12, 10)


def test_decoding_ahead_gives_the_same_and_tells_failures_when_asked(
    tmp_path: Path, pictures: Pictures
) -> None:
    good = [save(tmp_path / f"{n}.png", Image.new("RGB", (50, 50), (n, 0, 0))) for n in range(20)]
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    pictures.prefetch([*good, bad, tmp_path / "missing.png", *good])
    assert [pictures.load(path).crop().getpixel((1, 1))[0] for path in good] == list(range(20))
    reason(pictures, bad)
    reason(pictures, tmp_path / "missing.png")
    assert threading.active_count() < 20


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cut=st.integers(0, 700),
    junk=st.binary(max_size=30),
    kind=st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "TIFF"]),
)
def test_damaged_files_never_raise_anything_else(tmp_path: Path, cut: int, junk: bytes, kind: str) -> None:
    whole = io.BytesIO()
    quarters(30, 30).save(whole, format=kind)
    data = bytearray(whole.getvalue())
    cut %= len(data)
    data[cut : cut + len(junk)] = junk
    path = tmp_path / "fuzzed"
    path.write_bytes(bytes(data))
    try:
        assert Pictures().load(path).crop().mode == "RGB"
    except Unscorable as told:
        assert str(path) in str(told)
