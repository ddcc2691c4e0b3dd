"""A photo is shown only as long as its bytes are those that its name says."""

import hashlib
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from station.web.photo import photo_response

PHOTO = b"\xff\xd8 photo"
NAME = f"{hashlib.blake2b(PHOTO, digest_size=16).hexdigest()}.jpg"


def asked(path: Path | None, why: str | None = None, lang: str = "en") -> Response:
    scope = {"type": "http", "headers": [], "query_string": f"lang={lang}".encode(), "path": "/"}
    return photo_response(Request(scope), path, why)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    (tmp_path / NAME).write_bytes(PHOTO)
    return tmp_path / NAME


def test_a_photo_is_its_bytes(photo: Path) -> None:
    answer = asked(photo)
    assert (answer.status_code, answer.body, answer.media_type) == (200, PHOTO, "image/jpeg")
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("data", [b"", PHOTO[:-1], PHOTO + b"x", b"another"])
def test_a_photo_that_was_exchanged_on_the_disk_is_not_shown(photo: Path, data: bytes) -> None:
    photo.write_bytes(data)
    answer = asked(photo)
    assert (answer.status_code, answer.headers["cache-control"]) == (409, "no-store")
    assert b"was changed" in answer.body


def test_a_link_to_something_else_is_not_shown(photo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    photo.unlink()
    photo.symlink_to(tmp_path / "secret")
    assert asked(photo).status_code == 409


def test_a_photo_that_goes_while_it_is_asked_for_is_not_here(photo: Path) -> None:
    photo.unlink()
    assert asked(photo).status_code == 404
