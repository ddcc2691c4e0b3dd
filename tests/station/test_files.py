from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from station.files import move_into_place, replace_file, sweep, write_new


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """Let every write beyond this fail (EFBIG; Python ignores the signal): a disk that ends in the middle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is forced to the disk and renamed, in its order."""
    seen: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def synced(fd: int) -> None:
        seen.append(f"sync {Path(f'/proc/self/fd/{fd}').readlink().name}")
        fsync(fd)

    def renamed(self: Path, target: Path) -> Path:
        seen.append(f"{self.name} -> {target.name}")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    return seen


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_file_is_on_the_disk_before_its_name_and_the_name_before_the_return(
    tmp_path: Path, done: list[str]
) -> None:
    replace_file(tmp_path / "a", b"x")
    draft = f".a.{os.getpid()}.new"
    assert done == [f"sync {draft}", f"{draft} -> a", f"sync {tmp_path.name}"]


def test_what_can_be_made_anew_is_replaced_without_waiting_for_the_disk(
    tmp_path: Path, done: list[str]
) -> None:
    replace_file(tmp_path / "a", "x", durable=False)
    assert [step for step in done if step.startswith("sync")] == []
    assert (tmp_path / "a").read_text() == "x"


@pytest.mark.parametrize("data", [b"\x00new", "新"])
def test_bytes_and_text_replace_what_was_there(tmp_path: Path, data: bytes | str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old and longer")
    replace_file(path, data)
    assert path.read_bytes() == (data.encode() if isinstance(data, str) else data)
    assert list(tmp_path.iterdir()) == [path]


def test_the_mode_is_as_asked_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        replace_file(tmp_path / "public", "x", mode=0o644)
        os.umask(0)
        replace_file(tmp_path / "secret", "x")
        write_new(tmp_path / "new", "x")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "public") == 0o644
    assert mode_of(tmp_path / "secret") == mode_of(tmp_path / "new") == 0o600


def test_a_file_keeps_its_mode_where_that_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "a"
    replace_file(path, "x", mode=0o640, keep_mode=True)
    assert mode_of(path) == 0o640
    replace_file(path, "y", mode=0o644, keep_mode=True)
    assert mode_of(path) == 0o640
    replace_file(path, "z", mode=0o600)
    assert mode_of(path) == 0o600


def test_a_disk_that_ends_in_the_middle_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with no_file_longer_than(1000), pytest.raises(OSError, match="too large"):
        replace_file(path, bytes(5000))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_can_not_be_replaced_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path / "a", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "nowhere" / "a", "x")


def test_a_draft_of_a_killed_process_of_the_same_number_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / f".a.{os.getpid()}.new").write_bytes(b"half")
    replace_file(tmp_path / "a", "whole")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["whole"]


def test_a_new_file_replaces_none_and_is_not_left_half_written(tmp_path: Path, done: list[str]) -> None:
    write_new(tmp_path / "a", "mine")
    assert done == ["sync a", f"sync {tmp_path.name}"]
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "a", "yours")
    with no_file_longer_than(1000), pytest.raises(OSError, match="too large"):
        write_new(tmp_path / "b", bytes(5000))
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_written_piece_by_piece_gets_its_name_once_it_is_on_the_disk(
    tmp_path: Path, done: list[str]
) -> None:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "part").write_bytes(b"all of it")
    move_into_place(tmp_path / "part", tmp_path / "shelf" / "a")
    assert done == ["sync part", "part -> a", "sync shelf"]
    assert (tmp_path / "shelf" / "a").read_bytes() == b"all of it"


def test_drafts_of_killed_processes_are_swept_and_nothing_else(tmp_path: Path) -> None:
    for name in (".a.1.new", ".b.jpg.22.new", "a", ".hidden", "c.new"):
        (tmp_path / name).touch()
    sweep(tmp_path)
    sweep(tmp_path / "nowhere")
    assert {path.name for path in tmp_path.iterdir()} == {"a", ".hidden", "c.new"}
