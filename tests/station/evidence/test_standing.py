"""What the events of a log say of each photo."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from station import messages as m
from station.evidence.index import Index, why_removed
from tests.station.evidence import hands as h

FILE, OTHER = h.name(1), h.name(2)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.open(tmp_path / "index.db") as index:
        yield index


def standings(index: Index, told: h.Chain, file: str = FILE) -> set[str]:
    index.catch_up(told.log_id, told.lines[index.position(told.log_id, told.hash_at) :])
    (known,) = [photo for photo in index.photos({FILE: 1, OTHER: 1}) if photo.name == file]
    return set(known.standings)


HAND = [h.read(1, FILE)]


@pytest.mark.parametrize(
    ("bodies", "standing"),
    [
        ([h.indicator(1, FILE)], "pending"),
        ([h.indicator(1, FILE), h.confirmed(1)], "indicator"),
        (HAND, "pending"),
        ([*HAND, h.mended(1)], "pending"),
        ([*HAND, h.confirmed(1)], "clean"),
        ([*HAND, h.mended(1, kind="1m"), h.confirmed(1)], "clean"),
        ([*HAND, h.mended(1), h.confirmed(1)], "mended"),
        ([*HAND, h.read(1, None), h.confirmed(1)], "mended"),
        ([*HAND, m.HandRejected(hand=1, claim=1, reason=None)], "rejected"),
        ([*HAND, m.HandRejected(hand=1, claim=1, reason=None), h.confirmed(1, 2)], "rejected"),
        ([*HAND, h.ruled(1, "draw")], "clean"),
        ([*HAND, h.ruled(1, "win")], "disputed"),
        ([*HAND, h.ruled(1, "false_win", over=False)], "disputed"),
        ([h.indicator(1, FILE), h.ruled(1, "false_win", over=False)], "pending"),
        ([*HAND, h.confirmed(1), m.PenaltyApplied(hand=1, place=0, penalty="warning", amount=0)], "disputed"),
        ([*HAND, h.confirmed(1), m.EventCorrected(target=2, reason="judgement")], "pending"),
        ([*HAND, h.confirmed(1), m.EventCorrected(target=2, reason="judgement"), h.confirmed(1)], "disputed"),
        ([*HAND, h.confirmed(1), m.EventCorrected(target=1, reason="judgement")], "clean"),
        ([m.IntakeOpenedEarly(hand=1, machine_hand=1, photo=FILE)], "pending"),
        ([m.IntakeOpenedEarly(hand=1, machine_hand=1, photo=FILE), h.confirmed(1)], "disputed"),
        ([*HAND, h.confirmed(2)], "pending"),
        ([*HAND, h.closed()], "disputed"),
    ],
)
def test_standing_of_a_photo(index: Index, bodies: list[m.Body], standing: str) -> None:
    told = h.Chain()
    for body in bodies:
        told.tell(body)
        index.catch_up(told.log_id, told.lines[-1:])  # one by one, as after a restart at any place
    assert standings(index, told) == {standing}


def test_an_appeal_keeps_its_photos_until_it_is_decided(index: Index) -> None:
    told = h.Chain()
    told.tell(*HAND, h.confirmed(1), h.closed(), at_s=1000)
    told.tell_raw([("appeal.filed", b'{"hand": 1}')], at_s=2000)
    assert standings(index, told) == {"pending"}
    told.tell_raw([("appeal.decided", b'{"hand": 1}')], at_s=3000)
    assert standings(index, told) == {"disputed"}
    (known,) = index.photos({FILE: 7})
    assert (known.size, known.at, known.ended_at) == (7, 3000.0, 1000.0)


def test_a_photo_that_two_events_name_has_both_standings_and_ends_with_the_later_session(
    index: Index,
) -> None:
    first, second = h.Chain("T1"), h.Chain("T2", b"B" * 16)
    first.tell(h.read(1, FILE), h.confirmed(1), h.closed(), at_s=10)
    second.tell(h.indicator(1, FILE), h.ruled(1, "draw"), at_s=20)
    index.catch_up(b"C" * 16, [*first.lines, *second.lines])
    (known,) = index.photos({FILE: 1})
    assert (known.standings, known.at, known.ended_at) == ({"clean", "indicator"}, 20.0, None)
    second.tell(h.closed(), at_s=30)
    index.catch_up(b"C" * 16, second.lines[-1:])
    assert index.photos({FILE: 1})[0].ended_at == 30.0


def test_a_table_may_put_what_its_own_events_name(index: Index) -> None:
    told = h.Chain("T1")
    told.tell(*HAND)
    index.catch_up(b"C" * 16, told.lines)
    assert index.names("T1", FILE)
    assert not index.names("T2", FILE)
    assert not index.names("T1", OTHER)


def test_what_is_still_to_be_sent_is_what_nobody_acknowledged(index: Index) -> None:
    told = h.Chain()
    told.tell(h.indicator(1, OTHER), h.read(1, FILE), h.read(1, FILE, claim=2))
    index.catch_up(told.log_id, told.lines)
    assert list(index.unsent("station")) == [OTHER, FILE]
    index.note_sent(OTHER, "station")
    index.note_sent(OTHER, "station")
    assert list(index.unsent("station")) == [FILE]
    assert list(index.unsent("another station")) == [OTHER, FILE]
    assert [p.name for p in index.photos({FILE: 1, OTHER: 1}, "station") if p.safe] == [OTHER]


def test_what_this_process_removed_is_gone_and_what_another_removed_is_not(
    index: Index, tmp_path: Path
) -> None:
    own, other = h.Chain(), h.Chain("T1", b"B" * 16)
    own.tell(m.PhotoRemoved(photo=FILE, why="window_over"))
    other.tell(h.read(1, FILE), h.read(1, OTHER), m.PhotoRemoved(photo=OTHER, why="thin.clean"))
    index.catch_up(own.log_id, [*own.lines, *other.lines])
    assert (index.removed(FILE), index.removed(OTHER)) == ("window_over", None)
    assert list(index.unsent("s")) == [OTHER]
    assert [p.name for p in index.photos({FILE: 1, OTHER: 1})] == [OTHER]
    assert why_removed(tmp_path / "index.db", FILE) == "window_over"
    assert why_removed(tmp_path / "none.db", FILE) is None


def test_events_that_cannot_be_read_and_unknown_kinds_say_nothing(index: Index) -> None:
    told = h.Chain()
    told.tell_raw([("hand.read", b"no json"), ("from.the.future", b"{}"), ("appeal.filed", b"[1]")])
    assert index.catch_up(told.log_id, told.lines) == 3
    assert index.photos({FILE: 1}) == []


def test_another_log_begins_anew_and_a_damaged_index_is_thrown_away(tmp_path: Path) -> None:
    path, told = tmp_path / "index.db", h.Chain()
    told.tell(*HAND)
    with Index.open(path) as index:
        index.catch_up(told.log_id, told.lines)
        index.note_sent(FILE, "s")
        assert index.position(told.log_id, told.hash_at) == 1
        assert index.position(b"N" * 16, told.hash_at) == 0
        assert index.photos({FILE: 1}) == []
        index.catch_up(told.log_id, told.lines)
        assert list(index.unsent("s")) == [], "what was acknowledged is not forgotten with the log"
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(b"rubbish" * 1000)
    with Index.open(path) as index:
        assert index.position(told.log_id, told.hash_at) == 0
        for number in range(400):
            told.tell(h.read(1, h.name(number)))
        index.catch_up(told.log_id, told.lines)
    data = bytearray(path.read_bytes())
    data[3 * 4096 : 6 * 4096] = bytes(3 * 4096)
    path.write_bytes(data)
    with Index.open(path) as index:
        assert index.position(told.log_id, told.hash_at) == 0
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with Index.open(path) as index:
        assert index.position(told.log_id, told.hash_at) == 0


def test_a_log_that_was_replaced_by_an_older_copy_of_itself_is_taken_in_anew(index: Index) -> None:
    told, other = h.Chain(), h.Chain()
    for chain in (told, other):
        chain.tell(h.read(1, FILE))
    told.tell(h.read(2, OTHER), h.read(3, OTHER))
    index.catch_up(told.log_id, told.lines)
    assert index.position(told.log_id, told.hash_at) == 3
    assert index.position(other.log_id, other.hash_at) == 0, "it goes less far"
    index.catch_up(told.log_id, told.lines)
    other.tell(h.read(2, h.name(9)), h.read(3, h.name(9)))
    index.note_sent(FILE, "s")
    assert index.position(other.log_id, other.hash_at) == 0, "it went on in another way"
    index.catch_up(other.log_id, other.lines)
    assert list(index.unsent("s")) == [h.name(9)]


def test_what_a_station_acknowledged_counts_for_the_shelf_it_had_then(tmp_path: Path) -> None:
    path, told = tmp_path / "index.db", h.Chain()
    told.tell(h.read(1, FILE))
    with Index.open(path) as index:
        index.catch_up(told.log_id, told.lines)
        assert index.station("key", "") == "key"
        index.note_sent(FILE, index.station("key", "first"))
    with Index.open(path) as index:
        assert list(index.unsent(index.station("key", ""))) == [], "known from before, until it says so again"
        assert list(index.unsent(index.station("key", "made anew"))) == [FILE]
        assert index.station("another", "") == "another"


def test_an_index_has_a_name_of_its_own_as_long_as_it_lasts(tmp_path: Path) -> None:
    names = set()
    for file in ("a.db", "a.db", "b.db"):
        with Index.open(tmp_path / file) as index:
            names.add(index.shelf())
            index.position(os.urandom(16), lambda _: None)
            names.add(index.shelf())
    assert len(names) == 2


def test_photos_that_never_will_be_sent_are_not_waited_for(index: Index) -> None:
    told = h.Chain()
    told.tell(h.read(1, FILE), h.read(2, OTHER))
    index.catch_up(told.log_id, told.lines)
    assert (index.unsent_count("s"), index.unsent_count("s", {OTHER, "x"})) == (2, 1)


def test_nothing_of_a_piece_is_kept_when_the_disk_refuses(index: Index, monkeypatch: Any) -> None:
    told = h.Chain()
    told.tell(*HAND)

    def lines() -> Iterator[Any]:
        yield told.lines[0]
        raise sqlite3.OperationalError("disk full")

    with pytest.raises(sqlite3.OperationalError):
        index.catch_up(told.log_id, lines())
    assert index.position(told.log_id, told.hash_at) == 0
    assert standings(index, told) == {"pending"}
