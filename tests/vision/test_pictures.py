import base64
import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.errors import ImageError
from vision.picture_size import claimed_size
from vision.pictures import MOST_PIXELS, decode_image, load_image, pictures_in


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


CMYK = base64.b64decode(
    "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJT"
    "UjI+WmFaUGBKUVJP/8AAFAgAEAAYBEMRAE0RAFkRAEsRAP/EABYAAQEBAAAAAAAAAAAAAAAAAAcACP/EABgQAQADAQAAAAAAAAAA"
    "AAAAAAAHRYPD/9oADgRDAE0AWQBLAAA/AE4YDAnInwxc4dCfDFzh0SJxOSZiZiSJ8MXOHQnwxc4dEicTk//Z"
)
"""24 x 16 pixels in CMYK as Adobe writes it (inverted): red on the left, white on the right."""


def png_claiming(width: int, height: int) -> bytes:
    """A few bytes that unpack to a picture of any size."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def test_a_cmyk_jpeg_is_read_in_its_colours() -> None:
    image = decode_image(CMYK, "print.jpg")
    assert image.shape == (16, 24, 3)
    assert image[8, 4].tolist() == pytest.approx([0, 0, 255], abs=12)
    assert image[8, 20].tolist() == pytest.approx([255, 255, 255], abs=12)


@pytest.mark.parametrize("suffix", [".png", ".tiff"])
def test_a_16_bit_picture_keeps_its_brightness(suffix: str) -> None:
    deep = picture().astype(np.uint16) * 257
    image = decode_image(cv2.imencode(suffix, deep)[1].tobytes(), f"deep{suffix}")
    assert (image.dtype, image.shape) == (np.uint8, (40, 60, 3))
    assert image[5, 5].tolist() == pytest.approx([0, 0, 255], abs=2)


def test_a_transparent_picture_loses_its_fourth_channel() -> None:
    clear = np.dstack([picture(), np.full((40, 60), 128, np.uint8)])
    assert decode_image(cv2.imencode(".png", clear)[1].tobytes(), "clear.png").shape == (40, 60, 3)


def test_a_picture_of_fifty_megapixels_is_read() -> None:
    large = cv2.imencode(".png", np.zeros((6250, 8000), np.uint8), [cv2.IMWRITE_PNG_COMPRESSION, 1])[1]
    assert decode_image(large.tobytes(), "large.png").shape == (6250, 8000, 3)


@pytest.mark.parametrize("size", [(60_000, 60_000), (MOST_PIXELS, 2), (2**31 - 1, 2**31 - 1)])
def test_a_picture_that_would_fill_the_memory_is_refused_before_it_is_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(ImageError, match="million: make it smaller"):
        decode_image(png_claiming(*size), "bomb.png")


def test_a_phone_picture_in_heic_is_refused_with_the_way_out() -> None:
    with pytest.raises(ImageError, match="save it as JPEG"):
        decode_image(b"\0\0\0\x18ftypheic" + bytes(40), "IMG_1.heic")


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".bmp", ".tiff"])
def test_the_size_stands_in_the_head(suffix: str) -> None:
    assert claimed_size(encoded(suffix)) == (60, 40)


def test_the_size_stands_in_the_head_of_a_lossless_webp() -> None:
    lossless = cv2.imencode(".webp", picture(), [cv2.IMWRITE_WEBP_QUALITY, 101])[1].tobytes()
    assert claimed_size(lossless) == (60, 40)


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".bmp", ".tiff"])
@pytest.mark.parametrize("length", [0, 3, 9, 15, 20, 27])
def test_a_head_cut_anywhere_raises_nothing_but_plain_words(suffix: str, length: int) -> None:
    claimed_size(encoded(suffix)[:length])
    with pytest.raises(ImageError):
        decode_image(encoded(suffix)[:length], f"photo{suffix}")


def test_the_pictures_of_a_folder_are_found_by_name(tmp_path: Path) -> None:
    for name in ("b.JPG", "a.png", "notes.txt", "deeper/c.webp", ".hidden/d.jpg", "e.jpg/f.jpg"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    names = [str(path.relative_to(tmp_path)) for path in pictures_in(tmp_path)]
    assert names == ["a.png", "b.JPG", "deeper/c.webp", "e.jpg/f.jpg"]
