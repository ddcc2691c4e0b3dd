"""The hall from its kept state, after corrections, and after many events: the same, and no larger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog.testing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from station import messages as m
from station.central.feed import Feed, hall_cache
from station.central.fold import WINS_SHOWN, Hall
from station.central.view import Surroundings
from station.log import Log, chain
from station.session import Event, Session, replay
from tests.station.central.conftest import Evening, claimed, confirmed, dealt, opened

SECRET = b"s" * 32
LOGS = {"T1": b"A" * 16, "T2": b"B" * 16}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(sorted(LOGS)),
        st.sampled_from(["win", "fine", "call", "correct", "noise", "bad place", "unknown", "refused"]),
        st.integers(-3, 20),
    ),
    max_size=40,
)


def events_of(step: str, number: int, seq: int) -> list[tuple[str, bytes]]:
    match step:
        case "win":
            return [m.encode(b) for b in (*dealt(1), claimed(1), confirmed(1, winner=number % 4))]
        case "fine":
            return [m.encode(m.PenaltyApplied(hand=1, place=number % 4, penalty="chips", amount=1))]
        case "call":
            return [m.encode(m.RefereeCalled(place=number % 4))]
        case "correct":
            return [m.encode(m.EventCorrected(target=seq - number, reason="x"))]
        case "noise":
            return [("hand.confirmed", b"no json")]
        case "bad place":
            return [m.encode(m.PenaltyApplied(hand=1, place=9, penalty="chips", amount=1))]
    return [("from.the.future", b"{}")]


class Writer:
    """A central log that is written as if by two tables."""

    def __init__(self, log: Log) -> None:
        self.log = log
        log._database.connection.execute("PRAGMA synchronous = OFF")  # only for speed
        for table in LOGS:
            self.tell(table, [m.encode(opened(table))])

    def tell(self, table: str, events: Sequence[tuple[str, bytes]]) -> None:
        entries = chain.link(LOGS[table], self.log.head_of(LOGS[table]), events, 1000)
        self.log.accept([(table, entry) for entry in entries], 2000)

    def step(self, table: str, step: str, number: int) -> None:
        if step == "refused":
            self.log.append([("link.denied", b'{"v":1,"reason":"not_enrolled","key":"k"}')], 3000)
        else:
            self.tell(table, events_of(step, number, self.log.head_of(LOGS[table]).seq))


def feed_of(log: Log, *, cached: bool = True) -> Feed:
    feed = Feed(log, Surroundings, hall_cache(log, SECRET) if cached else None)
    feed.catch_up()
    return feed


def folded_alone(log: Log, table: str) -> Session:
    """The session of a table by the table's own rules: what can't be decoded counts as unknown."""
    events = []
    for entry in log.entries_of(LOGS[table]):
        try:
            body = m.decode(entry.kind, entry.body)
        except msgspec.DecodeError:
            body = None
        if isinstance(body, m.PenaltyApplied) and body.place == 9:
            body = None
        events.append(Event(entry.seq, entry.at_ms / 1000, body))
    return replay(events)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, kept=st.sets(st.integers(0, 40)))
def test_however_it_is_folded_the_hall_is_the_same(
    steps: list[tuple[str, str, int]], kept: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("hall") / "central.db"
    with Log.open(path) as log, structlog.testing.capture_logs() as lines:
        writer = Writer(log)
        following = feed_of(log, cached=False)
        for number, step in enumerate(steps):
            if number in kept:
                feed_of(log).keep()
            writer.step(*step)
            following.catch_up()
        halls = [following._hall, feed_of(log)._hall, feed_of(log, cached=False)._hall]
        assert halls[0] == halls[1] == halls[2]
        assert halls[0].pos == log.pos_head.seq
        corrected_noise = any(step in ("noise", "bad place") for _, step, _ in steps)
        for table in LOGS:
            if not corrected_noise:
                assert halls[0].tables[table].session == folded_alone(log, table)
    assert lines == []


def test_a_hall_of_another_history_is_not_taken(tmp_path: Path) -> None:
    with Log.open(tmp_path / "central.db") as log:
        writer = Writer(log)
        writer.tell("T1", [m.encode(b) for b in (*dealt(1), confirmed(1))])
        feed_of(log).keep()
        kept = (tmp_path / "central.db.fold").read_bytes()
    with Log.open(tmp_path / "other.db") as log:
        Writer(log)
        (tmp_path / "other.db.fold").write_bytes(kept)
        with structlog.testing.capture_logs() as lines:
            assert feed_of(log)._hall == feed_of(log, cached=False)._hall
        assert [line["why"] for line in lines] == ["it is not of this log"]


def test_a_long_log_is_kept_from_time_to_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("station.central.feed._KEEP_EVERY", 1000)
    with Log.open(tmp_path / "central.db") as log:
        writer = Writer(log)
        writer.tell("T1", [m.encode(m.RefereeCalled(place=0))] * 1500)
        feed = feed_of(log)
        cache = hall_cache(log, SECRET)
        hall = cache.load(log.log_id, log.store_hash_at)
        assert hall is not None
        assert hall.pos == feed._hall.pos == 1502


def encoded(hall: Hall) -> int:
    return len(msgspec.msgpack.encode(hall))


def play(evening: Evening, hands: int) -> None:
    for hand in range(1, hands + 1):
        evening.tell(*dealt(hand), m.HandRead(**READ), claimed(hand), confirmed(hand), at_s=hand)


READ: dict[str, Any] = {"hand": 1, "claim": 1, "photo": None, "size": None, "tiles": [], "why": []}


def test_a_day_of_hands_makes_the_hall_no_larger(evening: Evening) -> None:
    evening.tell(opened())
    play(evening, 60)
    after_60 = encoded(evening.hall)
    play(evening, 240)
    assert len(evening.hall.tables["T1"].wins) == WINS_SHOWN
    assert encoded(evening.hall) < 1.05 * after_60
    assert evening.hall.tables["T1"].events == 1 + 300 * 7


def test_a_correction_brings_an_older_win_back_into_the_list(evening: Evening) -> None:
    evening.tell(opened())
    play(evening, WINS_SHOWN + 1)
    fold = evening.hall.tables["T1"]
    newest = max(fold.wins)
    oldest = min(fold.wins)
    evening.tell(m.EventCorrected(target=newest, reason="wrong place"))
    assert newest not in fold.wins
    assert min(fold.wins) == oldest - 7
    assert len(fold.wins) == WINS_SHOWN


@pytest.mark.parametrize(
    "target", [1, 7, 8, 99], ids=["opening", "taken back before", "a correction", "never"]
)
def test_a_correction_of_nothing_is_ignored_and_counted(evening: Evening, target: int) -> None:
    evening.tell(opened(), *dealt(1), claimed(1), confirmed(1))
    evening.tell(m.EventCorrected(target=7, reason="x"))
    fold = evening.hall.tables["T1"]
    before = fold.session.places
    evening.tell(m.EventCorrected(target=target, reason="x"))
    assert fold.session.places == before
    assert fold.unreadable == 1


def test_what_the_station_says_of_its_own_log_or_to_a_table_is_no_alarm(tmp_path: Path) -> None:
    with Log.open(tmp_path / "central.db", signer=bytes(32)) as log:
        log.checkpoint("session.closed", 1)
        log.append([("clock.started", b'{"v":1}'), ("link.denied", b"{}")], 1, log.author("T1"))
        log.append([("link.denied", b'{"v":1,"reason":"not_enrolled","key":"k"}')], 1)
        hall = feed_of(log)._hall
    assert [alarm.code for alarm in hall.alarms] == ["link.denied"]
    assert hall.pos == 5
