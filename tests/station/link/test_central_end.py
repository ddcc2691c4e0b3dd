"""The central station's end of the link, with time and messages passed in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from station.errors import LogFull
from station.link.denials import Denials
from station.link.keys import Standing
from station.link.replicate import CentralEnd, Incoming, Limits
from station.link.said import Ack, Diverged, Event, Hello, Message, Nack, Ping, Resume, Time, Value
from station.link.wire import NackCode, decode, encode
from station.log import Entry, Log, chain
from station.log.chain import ZERO_HEAD, Head

LOG, S1, S2 = b"L" * 16, b"session1", b"session2"
SLOW = Limits(events_per_s=10, burst=20, messages_per_s=10, message_burst=5, greeting_burst=3, round_quota=30)


class Central:
    """The end with a real log; two tables are enrolled."""

    def __init__(self, log: Log, limits: Limits = Limits()) -> None:  # noqa: B008
        self.log = log
        self.standings = {f"key-{n}": Standing(f"T{n}", "", f"T{n}") for n in (1, 2)}
        self.values: list[tuple[str, str, bytes]] = []
        self.end = CentralEnd(
            log,
            lambda key: self.standings.get(key, Standing(None, "not_enrolled")),
            Denials(log.append),
            limits=limits,
            clock=lambda: 77.0,
            on_value=lambda *value: self.values.append(value),
        )

    def receive(self, *messages: tuple[str, str, Message], now: float = 1.0) -> dict[str, list[Message]]:
        """Take messages given as (peer, key, message); give the answers to each peer."""
        batch = [Incoming(peer.encode(), key, encode(message)) for peer, key, message in messages]
        answers: dict[str, list[Message]] = {}
        for answer in self.end.receive(batch, now, 1000):
            answers.setdefault(answer.peer[0].decode(), []).append(decode(answer.frames))
        return answers

    def t1(self, *messages: Message, peer: str = "p1", now: float = 1.0) -> Message | None:
        """Take messages of T1; give the one answer, if there is one."""
        answers = self.receive(*((peer, "key-1", message) for message in messages), now=now).get(peer, [])
        assert len(answers) <= 1
        return answers[0] if answers else None

    def poll(self, now: float) -> list[Message]:
        return [decode(outgoing.frames) for outgoing in self.end.poll(now)]

    def denials(self) -> list[bytes]:
        return [e.entry.body for e in self.log.entries() if e.entry.kind == "link.denied"]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log.open(tmp_path / "central.log") as log:
        yield log


@pytest.fixture
def central(log: Log) -> Central:
    return Central(log)


def entries(n: int, text: str = "e", log_id: bytes = LOG) -> list[Entry]:
    return chain.link(log_id, ZERO_HEAD, [(text, b"%d" % i) for i in range(n)], 5)


def hello(head: Head = ZERO_HEAD, session: bytes = S1, table: str = "T1", log_id: bytes = LOG) -> Hello:
    return Hello(session, log_id, head, table)


def events(listed: list[Entry], session: bytes = S1) -> list[Event]:
    return [Event(session, (entry,)) for entry in listed]


# ---- entries of tables ----


def test_a_greeting_is_answered_with_where_to_go_on(central: Central) -> None:
    e = entries(3)
    assert central.t1(hello(e[-1].head)) == Resume(S1, LOG, 1, ZERO_HEAD.hash)
    central.t1(*events(e[:2]))
    assert central.t1(hello(e[-1].head, S2)) == Resume(S2, LOG, 3, e[1].hash)


def test_one_acknowledgement_answers_a_batch_after_it_is_stored(central: Central) -> None:
    e = entries(3)
    assert central.t1(hello(), *events(e[:1])) == Resume(S1, LOG, 2, e[0].hash)
    assert central.t1(*events(e[1:])) == Ack(S1, LOG, 3)
    assert central.log.entries_of(LOG) == e


def test_duplicates_are_acknowledged_again(central: Central) -> None:
    e = entries(3)
    central.t1(hello(), *events(e))
    assert central.t1(*events(e[:1])) == Ack(S1, LOG, 3)
    assert len(central.log.entries_of(LOG)) == 3


def test_a_gap_is_answered_with_where_to_go_on(central: Central) -> None:
    e = entries(4)
    central.t1(hello(), *events(e[:1]))
    assert central.t1(*events(e[2:])) == Resume(S1, LOG, 2, e[0].hash)


def test_a_message_may_begin_with_what_is_known(central: Central) -> None:
    e = entries(6)
    central.t1(hello(), Event(S1, tuple(e[:3])))
    assert central.t1(Event(S1, tuple(e[1:]))) == Ack(S1, LOG, 6)
    assert central.log.entries_of(LOG) == e


def test_of_a_message_that_goes_wrong_in_the_middle_what_is_before_is_stored(central: Central) -> None:
    e = entries(6)
    central.t1(hello())
    forged = Entry(LOG, 4, "e", 5, b"forged", e[3].prev, e[3].hash)
    assert central.t1(Event(S1, (*e[:3], forged, *e[4:]))) == Nack(S1, LOG, NackCode.BROKEN)
    assert central.log.entries_of(LOG) == e[:3]
    assert len(central.denials()) == 1


def test_a_fork_in_the_middle_of_a_message_is_a_fork_and_nothing_after_it_is_stored(central: Central) -> None:
    e = entries(4)
    other = chain.link(LOG, e[1].head, [("other", b"")] * 3, 5)
    central.t1(hello(), Event(S1, tuple(e[:3])))
    assert central.t1(Event(S1, (e[1], *other))) == Nack(S1, LOG, NackCode.FORK)
    assert central.log.entries_of(LOG) == e[:3]
    assert central.log.in_quarantine(LOG)


def test_a_ping_is_answered_with_the_state_of_things(central: Central) -> None:
    e = entries(2)
    central.t1(hello(), *events(e))
    assert central.t1(Ping(S1, LOG, 2)) == Ack(S1, LOG, 2)


@pytest.mark.parametrize("message", [Event(S1, (entries(1)[0],)), Ping(S1, LOG, 0)], ids=["event", "ping"])
def test_who_has_not_greeted_is_asked_to(central: Central, message: Message) -> None:
    assert central.t1(message) == Nack(S1, LOG, NackCode.HELLO)
    assert central.log.pos_head.seq == 0


def test_a_message_of_an_earlier_session_is_not_taken(central: Central) -> None:
    central.t1(hello())
    central.t1(hello(session=S2))
    assert central.t1(*events(entries(1), S1)) == Nack(S1, LOG, NackCode.HELLO)


def test_another_name_than_that_of_the_key_is_refused_and_logged(central: Central) -> None:
    answer = central.receive(("p2", "key-2", hello(table="T1")))
    assert answer == {"p2": [Nack(S1, LOG, NackCode.WRONG_TABLE)]}
    refused = central.receive(("p2", "key-2", Event(S1, (entries(1)[0],))))
    assert refused == {"p2": [Nack(S1, LOG, NackCode.HELLO)]}
    (denied,) = central.denials()
    assert b'"wrong_table"' in denied
    assert b'"T2"' in denied
    assert central.end.last_seen == {}


def test_a_refused_greeting_is_logged_even_if_a_good_one_follows_at_once(central: Central) -> None:
    central.receive(("p2", "key-2", hello(table="T1")), ("p2", "key-2", hello(table="T2", log_id=b"M" * 16)))
    assert len(central.denials()) == 1


def test_the_log_of_another_table_is_refused_and_logged(central: Central) -> None:
    central.t1(hello(), *events(entries(2)[:1]))
    answer = central.receive(("p2", "key-2", hello(table="T2")))
    assert answer == {"p2": [Nack(S1, LOG, NackCode.FOREIGN_LOG)]}
    assert len(central.denials()) == 1


def test_the_stations_own_chain_is_nobody_elses(central: Central) -> None:
    assert central.t1(hello(log_id=central.log.log_id)) == Nack(S1, central.log.log_id, NackCode.FOREIGN_LOG)


def test_a_key_that_is_not_enrolled_any_more_gets_no_answer(central: Central) -> None:
    central.t1(hello())
    del central.standings["key-1"]
    for _ in range(2):
        assert central.t1(*events(entries(1)), now=2.0) is None
    assert len(central.denials()) == 1
    assert central.end.tables.of((b"p1", "key-1")) is None


@pytest.mark.parametrize("reason", ["expired", "revoked"])
def test_a_key_whose_time_is_over_hears_so_and_nothing_of_it_is_stored(central: Central, reason: str) -> None:
    central.t1(hello())
    central.standings["key-1"] = Standing(None, reason, "T1")
    assert central.t1(*events(entries(1)), now=2.0) == Nack(S1, LOG, reason)
    assert central.t1(hello(session=S2), now=2.0) == Nack(S2, LOG, reason)
    assert central.t1(Time(S1, 5), now=2.0) is None
    assert central.log.entries_of(LOG) == []
    (denied,) = central.denials()
    assert reason.encode() in denied
    assert b'"table":"T1"' in denied


def test_a_routing_id_does_not_say_who_somebody_is(central: Central) -> None:
    """Another authorised table under the routing id of T1 neither speaks for T1 nor disturbs it."""
    e = entries(2)
    central.t1(hello(), *events(e[:1]))
    for stolen in (Event(S1, (e[1],)), Ping(S1, LOG, 1)):
        assert central.receive(("p1", "key-2", stolen)) == {"p1": [Nack(S1, LOG, NackCode.HELLO)]}
    assert central.receive(("p1", "key-2", Value(S1, 1, 0, "health", b"{}"))) == {}
    assert central.values == []
    assert central.log.head_of(LOG).seq == 1
    assert central.t1(*events(e[1:])) == Ack(S1, LOG, 2)


def test_a_fork_is_refused_for_good(central: Central) -> None:
    e, other = entries(2), entries(2, "other")
    central.t1(hello(), *events(e))
    assert central.t1(*events(other[:1])) == Nack(S1, LOG, NackCode.FORK)
    assert central.t1(hello(e[-1].head, S2)) == Nack(S2, LOG, NackCode.FORK)
    assert central.log.entries_of(LOG) == e
    assert [s.entry.kind for s in central.log.entries()][2:] == ["link.fork"]


def test_a_claimed_head_that_contradicts_the_log_is_a_fork(central: Central) -> None:
    central.t1(hello(), *events(entries(3)))
    assert central.t1(hello(entries(2, "other")[-1].head, S2)) == Nack(S2, LOG, NackCode.FORK)
    assert central.log.in_quarantine(LOG)


def test_a_late_greeting_of_the_same_log_is_no_fork(central: Central) -> None:
    e = entries(3)
    central.t1(hello(), *events(e))
    assert central.t1(hello(e[0].head, S2)) == Resume(S2, LOG, 4, e[2].hash)


@pytest.mark.parametrize("reason", ["rollback", "fork"])
def test_a_table_that_finds_itself_diverged_is_put_into_quarantine(central: Central, reason: str) -> None:
    e = entries(3)
    central.t1(hello(), *events(e))
    central.t1(hello(e[0].head, S2))
    assert central.t1(Diverged(S2, LOG, e[0].head, reason)) == Nack(S2, LOG, NackCode.FORK)
    assert reason.encode() in central.log.entries()[3].entry.body


def test_an_entry_with_a_false_hash_is_refused_and_logged(central: Central) -> None:
    (e,) = entries(1)
    central.t1(hello())
    forged = Entry(LOG, 1, e.kind, e.at_ms, b"forged", e.prev, e.hash)
    assert central.t1(Event(S1, (forged,))) == Nack(S1, LOG, NackCode.BROKEN)
    assert central.log.head_of(LOG).seq == 0
    assert len(central.denials()) == 1


def test_another_protocol_is_told_so_in_the_words_of_the_first_one(central: Central) -> None:
    frames = [b"HELLO", b"\x01", S1, LOG, bytes(8), bytes(32), b"T1"]
    (answer,) = central.end.receive([Incoming(b"p1", "key-1", frames)], 1.0, 1000)
    assert answer.frames == [b"NACK", S1, LOG, b"version"]
    assert b'"version"' in central.denials()[0]


def test_noise_of_an_enrolled_table_is_logged_once_and_harms_nobody(central: Central) -> None:
    e = entries(1)
    noise = Incoming(b"p2", "key-2", [b"noise"])
    batch = [noise, Incoming(b"p1", "key-1", encode(hello())), noise]
    batch.append(Incoming(b"p1", "key-1", encode(Event(S1, (e[0],)))))
    assert len(central.end.receive(batch, 1.0, 1000)) == 1
    assert central.log.head_of(LOG).seq == 1
    assert len(central.denials()) == 1


def test_nothing_is_acknowledged_when_the_disk_is_full_and_the_rest_goes_on(central: Central) -> None:
    e = chain.link(LOG, ZERO_HEAD, [("photo", bytes(50_000))], 5)
    central.t1(hello())
    db = central.log._database.connection
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    assert central.t1(*events(e), Time(S1, 5)) == Time(S1, 5, 1_000_000, 77_000_000)
    assert isinstance(central.end.trouble, LogFull)
    other = hello(table="T2", log_id=b"M" * 16)
    answers = central.receive(*(("p1", "key-1", event) for event in events(e)), ("p2", "key-2", other))
    assert answers == {"p2": [Resume(S1, b"M" * 16, 1, ZERO_HEAD.hash)]}
    db.execute("PRAGMA max_page_count = 100000")
    assert central.t1(*events(e)) == Ack(S1, LOG, 1)
    assert central.end.trouble is None


def test_it_knows_when_a_table_was_last_heard(central: Central) -> None:
    central.t1(hello(), now=5.0)
    central.t1(Ping(S1, LOG, 0), now=8.0)
    assert central.end.last_seen == {"T1": 8.0}


def test_of_two_connections_of_one_key_the_newer_counts(central: Central) -> None:
    """Every reconnect is a new peer; what is known of a peer does not pile up."""
    for n in range(9):
        central.t1(hello(session=b"session%d" % n), peer=f"p{n}", now=10.0 * n)
    assert len(central.end.tables._peers) == len(central.end._receiver._greeted) == 1
    assert central.t1(Ping(b"session7", LOG, 0), peer="p7", now=99.0) == Nack(
        b"session7", LOG, NackCode.HELLO
    )
    assert central.t1(Ping(b"session8", LOG, 0), peer="p8", now=99.0) == Ack(b"session8", LOG, 0)


# ---- commands ----


def test_a_command_goes_out_when_it_is_stored_and_until_the_table_has_it(central: Central) -> None:
    central.t1(hello())
    command = central.end.command("T1", "clock.paused", b"{}", 1.0, 1000)
    chain_id = command.log_id
    assert central.poll(1.0) == [Hello(S1, chain_id, command.head, "T1")]
    assert central.end.next_deadline() == 2.5
    assert central.t1(Resume(S1, chain_id, 1, ZERO_HEAD.hash)) == Event(S1, (command,))
    assert central.end.tables.undelivered() == {"T1": 1}
    assert central.poll(2.5) == [Event(S1, (command,))]
    assert central.t1(Ack(S1, chain_id, 1), now=2.6) is None
    assert central.end.tables.undelivered() == {"T1": 0}
    assert central.end.next_deadline() == math.inf
    assert central.log.authored == {chain_id: "T1"}


def test_commands_of_before_a_restart_go_out_with_the_next_greeting(central: Central) -> None:
    command = central.end.command("T1", "clock.paused", b"{}", 1.0, 1000)
    again = Central(central.log)
    answers = again.receive(("p1", "key-1", hello()))["p1"]
    assert answers == [Resume(S1, LOG, 1, ZERO_HEAD.hash), Hello(S1, command.log_id, command.head, "T1")]
    assert again.receive(("p2", "key-2", hello(table="T2", log_id=b"M" * 16)))["p2"] == [
        Resume(S1, b"M" * 16, 1, ZERO_HEAD.hash)
    ]


def test_a_table_that_does_not_follow_is_logged(central: Central) -> None:
    central.t1(hello())
    command = central.end.command("T1", "clock.paused", b"{}", 1.0, 1000)
    central.poll(1.0)
    central.t1(Nack(S1, command.log_id, NackCode.FORK))
    assert b'"not_followed"' in central.denials()[0]


# ---- values and time ----


def test_a_value_is_told_once_and_again_on_every_connection(central: Central) -> None:
    central.end.tables.set_value(None, "clock", b"1", 5)
    central.end.tables.set_value("T1", "seat", b"2", 5)
    central.end.tables.set_value("T2", "seat", b"3", 5)
    for session in (S1, S2):
        resume, *values = central.receive(("p1", "key-1", hello(session=session)))["p1"]
        assert isinstance(resume, Resume)
        assert values == [Value(session, 1, 5, "clock", b"1"), Value(session, 2, 5, "seat", b"2")]
        assert central.poll(1.0) == []
    for body in (b"4", b"5"):
        central.end.tables.set_value(None, "clock", body, 6)
    assert central.poll(1.0) == [Value(S2, 3, 6, "clock", b"5")]


def test_a_value_that_did_not_go_out_is_said_when_the_table_is_heard_again(central: Central) -> None:
    central.end.tables.set_value(None, "clock", b"1", 5)
    central.receive(("p1", "key-1", hello()))
    central.end.tables.not_sent((b"p1", "key-1"))
    assert central.poll(1.5) == []
    assert central.receive(("p1", "key-1", Ping(S1, LOG, 0)), now=2.0)["p1"][1:] == [
        Value(S1, 2, 5, "clock", b"1")
    ]


def test_of_the_values_of_a_table_the_newest_counts_and_no_more_than_so_many_keys(central: Central) -> None:
    central.t1(hello())
    for number, body in ((1, b"1"), (3, b"3"), (2, b"2")):
        central.t1(Value(S1, number, 0, "health", body))
    assert central.values == [("T1", "health", b"1"), ("T1", "health", b"3")]
    for n in range(100):
        central.t1(Value(S1, 10 + n, 0, f"k{n}", b"{}"), now=2.0 + n)
    assert len(central.values) == 2 + 31


def test_the_time_is_told_with_when_it_was_asked_and_answered(central: Central) -> None:
    central.t1(hello())
    assert central.t1(Time(S1, 123), now=5.0) == Time(S1, 123, 5_000_000, 77_000_000)
    assert central.receive(("p1", "key-1", Time(S2, 123))) == {}


# ---- limits ----


def test_a_table_that_keeps_to_the_window_is_slowed_down_and_loses_nothing(log: Log) -> None:
    central = Central(log, SLOW)
    e = entries(40)
    central.t1(hello(), now=0.0)
    assert central.t1(*events(e[:20]), now=0.0) == Ack(S1, LOG, 20)
    assert central.t1(*events(e[20:30]), now=0.0) is None
    assert log.head_of(LOG).seq == 30
    assert central.end.next_deadline() == pytest.approx(1.0)
    assert central.poll(0.9) == []
    assert central.poll(1.0) == [Ack(S1, LOG, 30)]
    assert b'"flood"' in central.denials()[0]


def test_a_table_that_goes_on_all_the_same_is_not_listened_to(log: Log) -> None:
    central = Central(log, SLOW)
    e = entries(500)
    central.t1(hello(), now=0.0)
    for n in range(20):
        central.t1(*events(e[25 * n : 25 * n + 25]), now=0.1)
    assert log.head_of(LOG).seq <= 20 + SLOW.round_quota
    assert len(central.denials()) == 1
    assert central.receive(("p2", "key-2", hello(table="T2", log_id=b"M" * 16)), now=0.1)


def test_each_entry_of_a_message_counts(log: Log) -> None:
    central = Central(log, SLOW)
    e = entries(90)
    central.t1(hello(), now=0.0)
    assert central.t1(Event(S1, tuple(e[:20])), now=0.0) == Ack(S1, LOG, 20)
    assert central.t1(Event(S1, tuple(e[20:40])), Event(S1, tuple(e[40:60])), now=0.0) is None
    assert log.head_of(LOG).seq == 40  # the second was more than one round may have
    assert central.t1(Event(S1, tuple(e[40:60])), now=0.0) is None
    assert log.head_of(LOG).seq == 40  # further ahead of the rate than anybody may be
    assert central.poll(2.0) == [Ack(S1, LOG, 40)]


def test_a_table_that_was_alone_for_an_evening_is_not_slowed_down(central: Central) -> None:
    e = chain.link(LOG, ZERO_HEAD, [("e", bytes(460))] * 10_000, 5)
    central.t1(hello(e[-1].head))
    for begin in range(0, len(e), 128):
        part = tuple(e[begin : begin + 128])
        assert central.t1(Event(S1, part), now=1.0) == Ack(S1, LOG, part[-1].seq)
    assert central.denials() == []


def test_a_new_connection_is_no_way_around_the_limits(log: Log) -> None:
    central = Central(log, SLOW)
    answers = [central.t1(hello(session=b"session%d" % n), peer=f"p{n}", now=0.0) for n in range(9)]
    assert [answer is not None for answer in answers] == [True] * 3 + [False] * 6
    assert central.t1(hello(session=S2), peer="q", now=5.0) is not None


def test_pings_and_noise_are_limited_too(log: Log) -> None:
    central = Central(log, SLOW)
    central.t1(hello(), now=0.0)
    answered = [central.t1(Ping(S1, LOG, 0), now=0.0) is not None for _ in range(9)]
    assert sum(answered) == 5


def test_a_flood_of_refusals_is_not_logged(central: Central) -> None:
    denials = Denials(central.log.append)
    logged = [denials.note("not_enrolled", key=f"k{i}", now=float(i), wall_ms=1) for i in range(500)]
    assert sum(logged) == 120
    assert denials.note("not_enrolled", key="k0", now=3700.0, wall_ms=1)
    assert not denials.note("not_enrolled", key="k0", now=3701.0, wall_ms=1)


def test_a_refusal_that_could_not_be_logged_is_logged_with_a_later_one(central: Central) -> None:
    def full(*_: object) -> None:
        raise LogFull("full")

    denials = Denials(full)
    assert not denials.note("not_enrolled", key="k", now=1.0, wall_ms=1)
    denials._append = central.log.append
    assert not denials.note("not_enrolled", key="k", now=2.0, wall_ms=1)  # not with each of a flood
    assert denials.note("not_enrolled", key="k", now=6.0, wall_ms=1)
