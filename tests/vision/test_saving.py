from __future__ import annotations

import os
from pathlib import Path

import pytest

from vision.saving import replace_text


def test_a_text_is_on_the_disk_before_its_name_and_the_name_before_the_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: list[str] = []
    fsync = os.fsync

    def synced(fd: int) -> None:
        forced.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", synced)
    path = tmp_path / "calibration.json"
    path.write_text("old")
    replace_text(path, "新\n")
    assert path.read_text("utf-8") == "新\n"
    assert forced == [f".calibration.json.{os.getpid()}.new", tmp_path.name]
    replace_text(path, "scene", durable=False)
    assert len(forced) == 2
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_text(path, "half of it \ud800")
    assert path.read_text() == "old"
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_text(tmp_path / "folder", "x")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "folder"]
