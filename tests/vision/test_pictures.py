import struct
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.errors import ImageError
from vision.pictures import decode_image, load_image


def picture() -> np.ndarray:
    image = np.zeros((40, 60, 3), np.uint8)
    image[:20, :30] = (0, 0, 255)
    return image


def encoded(suffix: str = ".jpg") -> bytes:
    return bytes(cv2.imencode(suffix, picture())[1].tobytes())


def with_orientation(jpeg: bytes, value: int, thumbnail: bytes = b"") -> bytes:
    """Insert an EXIF segment with an orientation, and an embedded thumbnail after it."""
    entry = struct.pack("<HHIHH", 0x0112, 3, 1, value, 0)
    tiff = b"II*\0" + struct.pack("<IH", 8, 1) + entry + b"\0\0\0\0" + thumbnail
    body = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".bmp"])
def test_common_formats_are_read_as_bgr(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"photo{suffix}"
    path.write_bytes(encoded(suffix))
    image = load_image(path)
    assert image.shape == (40, 60, 3)
    assert image.dtype == np.uint8
    assert image[5, 5] == pytest.approx([0, 0, 255], abs=40)


@pytest.mark.parametrize(
    ("value", "shape", "red"),
    [(1, (40, 60), (5, 5)), (3, (40, 60), (35, 55)), (6, (60, 40), (5, 35)), (8, (60, 40), (55, 5))],
    ids=["as is", "upside down", "clockwise", "counter-clockwise"],
)
def test_the_exif_orientation_is_applied(value: int, shape: tuple[int, int], red: tuple[int, int]) -> None:
    image = decode_image(with_orientation(encoded(), value), "photo.jpg")
    assert image.shape[:2] == shape
    assert image[red][2] > 200


def test_grey_pictures_become_three_channels() -> None:
    data = cv2.imencode(".png", np.full((9, 9), 77, np.uint8))[1].tobytes()
    assert decode_image(data, "grey.png").shape == (9, 9, 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"hello, this is no picture", "not a picture"),
        (b"\xff\xd8\xff", "cut off"),
        (encoded()[: len(encoded()) // 2], "cut off"),
        (encoded()[:-2], "cut off"),
        (encoded(".png")[:-20], "cut off"),
        (encoded(".webp")[:-9], "cut off"),
        (with_orientation(encoded(), 1, thumbnail=encoded())[:-40], "cut off"),
    ],
    ids=[
        "empty",
        "text",
        "jpeg start",
        "half jpeg",
        "no end",
        "half png",
        "half webp",
        "thumbnail has an end",
    ],
)
def test_a_bad_file_is_refused_in_plain_words(data: bytes, message: str) -> None:
    with pytest.raises(ImageError, match=message):
        decode_image(data, "photo.jpg")


def test_what_follows_the_end_of_a_jpeg_does_not_matter() -> None:
    assert decode_image(encoded() + b"maker's trailer" * 9, "photo.jpg").shape == (40, 60, 3)


def test_random_bytes_after_a_jpeg_header_raise_nothing_else() -> None:
    rng = np.random.default_rng(3)
    for size in (10, 100, 1000):
        with pytest.raises(ImageError):
            decode_image(encoded()[:20] + rng.bytes(size), "photo.jpg")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="no file"):
        load_image(tmp_path / "none.jpg")
    with pytest.raises(ImageError, match="folder"):
        load_image(tmp_path)
