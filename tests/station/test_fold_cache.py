"""The kept fold: a shortcut that is only taken when it leads to the same state."""

from __future__ import annotations

import os
from pathlib import Path

import grimp
import pytest
import structlog.testing

from station.central.feed import HALL_CODE
from station.fold_cache import FOLDING, FoldCache, code_version
from station.session import Session

LOG_ID, HASH = b"A" * 16, b"h" * 32
CODE = code_version(FOLDING)


@pytest.fixture
def cache(tmp_path: Path) -> FoldCache[Session]:
    return FoldCache(tmp_path / "log.fold", Session, CODE)


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
    assert load(FoldCache(tmp_path / "log.fold", Session, b"other")) is None
    assert load(FoldCache(tmp_path / "log.fold", Session, None)) is None


def test_nothing_is_kept_where_the_code_has_no_source(tmp_path: Path) -> None:
    assert code_version(("sys",)) is None
    assert code_version(("station.nowhere",)) is None
    FoldCache(tmp_path / "log.fold", Session, None).save(LOG_ID, 3, HASH, Session())
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_that_of_the_sources() -> None:
    assert code_version(FOLDING) == code_version(FOLDING) != code_version(FOLDING[1:])
    assert code_version((*FOLDING, "engine")) not in (None, CODE)


@pytest.mark.parametrize(
    ("root", "covered"),
    [("station.session", FOLDING), ("station.central.fold", HALL_CODE)],
    ids=["table", "hall"],
)
def test_no_module_that_folds_is_left_out_of_the_version(root: str, covered: tuple[str, ...]) -> None:
    """Else a program that folds otherwise would go on from a state of the older one."""
    graph = grimp.build_graph("station", cache_dir=None)
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
    FoldCache(path, Session, CODE).save(LOG_ID, 3, HASH, Session(seq=3, bank=1_000_000))
    assert load(FoldCache(path, Session, CODE, b"secret")) is None
    FoldCache(path, Session, CODE, b"secret").save(LOG_ID, 3, HASH, Session(seq=3))
    assert load(FoldCache(path, Session, CODE, b"secret")) == Session(seq=3)


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
