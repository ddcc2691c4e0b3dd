"""The kept fold: a shortcut that is only taken when it leads to the same state."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import msgspec
import pytest
import structlog.testing

from station.central.feed import HALL_CODE
from station.fold_cache import FOLDING, FoldCache, _files, code_version
from station.session import Session

LOG_ID, HASH = b"A" * 16, b"h" * 32
CODE = code_version(FOLDING)
SECRET = b"s" * 32


@pytest.fixture
def cache(tmp_path: Path) -> FoldCache[Session]:
    return FoldCache(tmp_path / "log.fold", Session, CODE, SECRET)


def load(cache: FoldCache[Session], log_id: bytes = LOG_ID, digest: bytes | None = HASH) -> Session | None:
    return cache.load(log_id, lambda seq: digest if seq == 3 else None)


def test_a_state_is_kept_and_given_back(cache: FoldCache[Session], tmp_path: Path) -> None:
    assert load(cache) is None
    cache.save(LOG_ID, 3, HASH, Session(seq=3, bank=7))
    assert load(cache) == Session(seq=3, bank=7)
    assert [path.name for path in tmp_path.iterdir()] == ["log.fold"]
    assert (tmp_path / "log.fold").stat().st_mode & 0o777 == 0o600


def test_it_is_not_used_for_another_log_or_another_history(cache: FoldCache[Session]) -> None:
    cache.save(LOG_ID, 3, HASH, Session(seq=3))
    with structlog.testing.capture_logs() as lines:
        assert load(cache, log_id=b"B" * 16) is None
        assert load(cache, digest=b"x" * 32) is None
        assert load(cache, digest=None) is None  # the log is shorter: an older copy was restored
    assert {line["why"] for line in lines} == {"it is not of this log"}


def test_it_is_not_used_when_other_code_wrote_it(cache: FoldCache[Session], tmp_path: Path) -> None:
    cache.save(LOG_ID, 3, HASH, Session(seq=3))
    assert load(FoldCache(tmp_path / "log.fold", Session, b"other", SECRET)) is None
    assert load(FoldCache(tmp_path / "log.fold", Session, None, SECRET)) is None


def test_nothing_is_kept_where_the_code_has_no_source(tmp_path: Path) -> None:
    assert code_version(("sys",)) is None
    assert code_version(("station.nowhere",)) is None
    FoldCache(tmp_path / "log.fold", Session, None, SECRET).save(LOG_ID, 3, HASH, Session())
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that nobody else knows, with rules in a data file."""
    folder = tmp_path / "foldable"
    (folder / "rules").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "prices.py").write_text("PRICE = 1\n")
    (folder / "rules" / "town.toml").write_text("price = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    sys.modules.pop("foldable", None)  # looking for what is below a package imports it
    code_version.cache_clear()


def version_of(*modules: str) -> bytes | None:
    code_version.cache_clear()
    return code_version(modules)


def test_rules_in_data_files_names_of_files_and_libraries_make_another_version(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = [version_of("foldable")]
    (package / "rules" / "town.toml").write_text("price = 2\n")
    versions.append(version_of("foldable"))
    (package / "rules" / "town.toml").rename(package / "rules" / "village.toml")
    versions.append(version_of("foldable"))
    (package / "prices.py").write_text("PRICE = 2\n")
    versions.append(version_of("foldable"))
    monkeypatch.setattr(msgspec, "__version__", "99")
    versions.append(version_of("foldable"))
    assert None not in versions
    assert len(set(versions)) == len(versions)


def test_compiled_code_and_the_order_of_the_names_make_no_other_version(package: Path) -> None:
    before = version_of("foldable", "foldable.prices")
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "prices.pyc").write_bytes(b"x")
    assert version_of("foldable.prices", "foldable", "foldable") == before


def test_the_rule_sets_decide_too() -> None:
    assert "engine" in FOLDING
    assert "rules/zhenjiang.toml" in {name for name, _ in _files("engine")}


def test_the_version_is_that_of_the_sources() -> None:
    assert code_version(FOLDING) == code_version(FOLDING) != code_version(FOLDING[1:])
    assert code_version((*FOLDING, "station.errors")) not in (None, CODE)


@pytest.mark.parametrize(
    ("root", "covered"),
    [("station.session", FOLDING), ("station.central.fold", HALL_CODE)],
    ids=["table", "hall"],
)
def test_no_module_that_folds_is_left_out_of_the_version(root: str, covered: tuple[str, ...]) -> None:
    """Else a program that folds otherwise would go on from a state of the older one."""
    graph = grimp.build_graph("station", "engine", cache_dir=None)
    used = {root, *graph.find_upstream_modules(root)}
    assert {name for name in used if not f"{name}.".startswith(tuple(f"{one}." for one in covered))} == set()


def test_a_damaged_file_is_not_used_and_one_line_says_so(cache: FoldCache[Session], tmp_path: Path) -> None:
    cache.save(LOG_ID, 3, HASH, Session(seq=3))
    good = (tmp_path / "log.fold").read_bytes()
    for at in (*range(0, len(good), 7), len(good) - 1):
        (tmp_path / "log.fold").write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        with structlog.testing.capture_logs() as lines:
            assert load(cache) is None
        assert [line["why"] for line in lines] == ["it is damaged, or was written with other keys"]
    for size in (0, 5, 40, len(good) - 1):
        (tmp_path / "log.fold").write_bytes(good[:size])
        assert load(cache) is None


def test_nobody_without_the_secret_can_write_one_that_is_used(tmp_path: Path) -> None:
    path = tmp_path / "log.fold"
    FoldCache(path, Session, CODE, b"another").save(LOG_ID, 3, HASH, Session(seq=3, bank=1_000_000))
    assert load(FoldCache(path, Session, CODE, SECRET)) is None
    FoldCache(path, Session, CODE, SECRET).save(LOG_ID, 3, HASH, Session(seq=3))
    assert load(FoldCache(path, Session, CODE, SECRET)) == Session(seq=3)


def test_a_process_without_a_secret_keeps_nothing_and_uses_nothing(tmp_path: Path) -> None:
    """Anybody who can write the file could say there what nobody booked."""
    path = tmp_path / "log.fold"
    FoldCache(path, Session, CODE).save(LOG_ID, 3, HASH, Session(seq=3))
    assert not path.exists()
    FoldCache(path, Session, CODE, SECRET).save(LOG_ID, 3, HASH, Session(seq=3, bank=1_000_000))
    _resealed_without_a_key(path)
    assert load(FoldCache(path, Session, CODE)) is None
    assert load(FoldCache(path, Session, CODE, SECRET)) is None


def _resealed_without_a_key(path: Path) -> None:
    data = path.read_bytes()[32:]
    path.write_bytes(hashlib.blake2b(data, digest_size=32, person=b"fold cache").digest() + data)


def test_a_disk_that_refuses_is_told_once_and_leaves_the_old_file(
    cache: FoldCache[Session], tmp_path: Path
) -> None:
    in_the_way = tmp_path / f".log.fold.{os.getpid()}.new"
    in_the_way.mkdir()
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):
            cache.save(LOG_ID, 3, HASH, Session(seq=3))
    assert [line["event"] for line in lines] == ["fold not kept"]
    in_the_way.rmdir()
    cache.save(LOG_ID, 3, HASH, Session(seq=3))
    assert load(cache) == Session(seq=3)
