"""A backup that somebody bent reaches nothing outside it; one that cannot be written is as good as any."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from station.errors import LogError
from station.log import Log, verify_file
from station.ops.backup import Source, back_up
from station.ops.manifest import BackedUp, BackupError, Manifest, read_manifest, sha256_of, write_manifest
from station.ops.restore import restore
from tests.required import go_without


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    (tmp_path / "home" / "photos").mkdir(parents=True)
    (tmp_path / "home" / "photos" / "a.jpg").write_bytes(b"photo")
    (tmp_path / "table.toml").write_text("")
    with Log.open(tmp_path / "home" / "table.db") as log:
        log.append([("session.opened", b"{}")], 1)
    source = Source("table", "T1", tmp_path / "home", "table.db", tmp_path / "table.toml")
    back_up(source, tmp_path / "backup")
    return tmp_path / "backup"


def sealed_anew(backup: Path, **changes: object) -> Manifest:
    manifest = msgspec.structs.replace(read_manifest(backup), **changes)
    write_manifest(backup, manifest)
    return manifest


def test_a_list_that_names_a_log_elsewhere_is_refused_and_that_log_is_left_alone(
    backup: Path, tmp_path: Path
) -> None:
    with Log.open(tmp_path / "central.db") as other:
        other.append([("a", b"{}")], 1)
        wal = tmp_path / "central.db-wal"
        before = wal.read_bytes()
        head = other.pos_head
        good = read_manifest(backup)
        for name in (str(tmp_path / "central.db"), "../../central.db", "", "manifest.json"):
            bent = msgspec.structs.replace(good, log=name, pos=head.seq, head=head.hash.hex())
            write_manifest(backup, bent)
            with pytest.raises(BackupError):
                restore(backup, tmp_path / "new")
        assert wal.read_bytes() == before
    assert not (tmp_path / "new").exists()


def test_a_folder_that_leads_out_of_the_backup_is_not_followed(backup: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.move(backup / "home" / "photos", outside)
    (backup / "home" / "photos").symlink_to(outside)
    with pytest.raises(BackupError, match="lacks home"):
        restore(backup, tmp_path / "new")


def test_nothing_is_restored_so_that_others_may_write_it(backup: Path, tmp_path: Path) -> None:
    files = read_manifest(backup).files
    sealed_anew(backup, files=tuple(msgspec.structs.replace(file, mode=0o7777) for file in files))
    restore(backup, tmp_path / "new")
    modes = {path.stat().st_mode & 0o7777 for path in (tmp_path / "new").rglob("*") if path.is_file()}
    assert modes == {0o755}


def test_two_files_of_one_name_are_not_taken_for_a_backup(backup: Path, tmp_path: Path) -> None:
    first, *files = read_manifest(backup).files
    sealed_anew(backup, files=(first, first, *files))
    with pytest.raises(BackupError, match="damaged"):
        restore(backup, tmp_path / "new")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True)
    if done.returncode:
        go_without("root", "mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_backup_on_a_medium_that_cannot_be_written_is_verified_and_restored(
    backup: Path, small: Path, tmp_path: Path
) -> None:
    shutil.copytree(backup, small / "backup")
    shutil.copy(backup / "home" / "table.db", small / "cut.db")
    (small / "cut.db-wal").write_bytes(b"something")
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    assert verify_file(small / "backup" / "home" / "table.db")["entries"] == 1
    restore(small / "backup", tmp_path / "new")
    assert verify_file(tmp_path / "new" / "table.db")["ok"] is True
    with pytest.raises(LogError, match=r"cut\.db"):  # its end may be beside it, and cannot be read there
        verify_file(small / "cut.db")


def test_a_full_disk_is_said_to_be_that_of_the_backup(tmp_path: Path, small: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "table.toml").write_text("")
    with Log.open(tmp_path / "home" / "table.db") as log:
        log.append([("x", bytes(150_000))] * 10, 1)
        source = Source("table", "T1", tmp_path / "home", "table.db", tmp_path / "table.toml")
        with pytest.raises(OSError, match="No space left") as raised:
            back_up(source, small / "backup")
    assert str(small) in str(raised.value.filename)
    assert list(small.iterdir()) == []


def test_a_file_that_is_listed_and_is_none_is_named(backup: Path, tmp_path: Path) -> None:
    odd = BackedUp("home/x\x1b[2J", 0, sha256_of(tmp_path / "table.toml"), 0o600)
    sealed_anew(backup, files=(*read_manifest(backup).files, odd))
    with pytest.raises(BackupError):
        restore(backup, tmp_path / "new")
