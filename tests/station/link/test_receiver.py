"""The central half of the protocol, with time and messages passed in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from station.errors import LogFull
from station.link.denials import Denials
from station.link.receiver import Incoming, Receiver
from station.link.wire import (
    Ack,
    Diverged,
    Event,
    FromCentral,
    FromTable,
    Hello,
    Nack,
    NackCode,
    Ping,
    Resume,
    decode_from_central,
    encode,
)
from station.log import CentralLog, Entry, chain
from station.log.chain import ZERO_HEAD, Head

LOG, S1, S2 = b"L" * 16, b"session1", b"session2"
KEYS = {"key-1": "T1", "key-2": "T2"}


class Central:
    """A receiver with a real log."""

    def __init__(self, log: CentralLog) -> None:
        self.log = log
        self.enrolled = dict(KEYS)
        self.receiver = Receiver(log, self.enrolled.get, Denials(log.append_own))

    def receive(self, *messages: tuple[str, str, FromTable], now: float = 1.0) -> dict[str, FromCentral]:
        """Take messages given as (peer, key, message); give the answer to each peer."""
        batch = [Incoming(peer.encode(), key, encode(message)) for peer, key, message in messages]
        answers = self.receiver.receive(batch, now, 1000)
        return {answer.peer.decode(): decode_from_central(answer.frames) for answer in answers}

    def t1(self, *messages: FromTable, peer: str = "p1", now: float = 1.0) -> FromCentral | None:
        return self.receive(*((peer, "key-1", message) for message in messages), now=now).get(peer)

    def denials(self) -> list[bytes]:
        return [e.entry.body for e in self.log.entries() if e.entry.kind == "link.denied"]


@pytest.fixture
def central(tmp_path: Path) -> Iterator[Central]:
    with CentralLog.open(tmp_path / "central.log") as log:
        yield Central(log)


def entries(n: int, text: str = "e", log_id: bytes = LOG) -> list[Entry]:
    return chain.link(log_id, ZERO_HEAD, [(text, b"%d" % i) for i in range(n)], 5)


def hello(head: Head = ZERO_HEAD, session: bytes = S1, table: str = "T1", log_id: bytes = LOG) -> Hello:
    return Hello(session, log_id, head, table)


def events(listed: list[Entry], session: bytes = S1) -> list[Event]:
    return [Event(session, entry) for entry in listed]


def test_a_greeting_is_answered_with_where_to_go_on(central: Central) -> None:
    e = entries(3)
    assert central.t1(hello(e[-1].head)) == Resume(S1, LOG, 1, ZERO_HEAD.hash)
    central.t1(*events(e[:2]))
    assert central.t1(hello(e[-1].head, S2)) == Resume(S2, LOG, 3, e[1].hash)


def test_one_acknowledgement_answers_a_batch_after_it_is_stored(central: Central) -> None:
    e = entries(3)
    assert central.t1(hello(), *events(e[:1])) == Resume(S1, LOG, 2, e[0].hash)
    assert central.t1(*events(e[1:])) == Ack(S1, LOG, 3)
    assert [c.entry for c in central.log.entries()] == e


def test_duplicates_are_acknowledged_again(central: Central) -> None:
    e = entries(3)
    central.t1(hello(), *events(e))
    assert central.t1(*events(e[:1])) == Ack(S1, LOG, 3)
    assert central.log.head.seq == 3


def test_a_gap_is_answered_with_where_to_go_on(central: Central) -> None:
    e = entries(4)
    central.t1(hello(), *events(e[:1]))
    assert central.t1(*events(e[2:])) == Resume(S1, LOG, 2, e[0].hash)


def test_a_ping_is_answered_with_the_state_of_things(central: Central) -> None:
    e = entries(2)
    central.t1(hello(), *events(e))
    assert central.t1(Ping(S1, LOG, 2)) == Ack(S1, LOG, 2)


@pytest.mark.parametrize("message", [Event(S1, entries(1)[0]), Ping(S1, LOG, 0)], ids=["event", "ping"])
def test_who_has_not_greeted_is_asked_to(central: Central, message: FromTable) -> None:
    assert central.t1(message) == Nack(S1, LOG, NackCode.HELLO)
    assert central.log.head.seq == 0
    assert central.denials() == []


def test_a_message_of_an_earlier_session_is_not_taken(central: Central) -> None:
    e = entries(1)
    central.t1(hello())
    central.t1(hello(session=S2))
    assert central.t1(*events(e, S1)) == Nack(S1, LOG, NackCode.HELLO)


def test_another_name_than_that_of_the_key_is_refused_and_logged(central: Central) -> None:
    answer = central.receive(("p2", "key-2", hello(table="T1")))
    assert answer == {"p2": Nack(S1, LOG, NackCode.WRONG_TABLE)}
    assert central.receive(("p2", "key-2", Event(S1, entries(1)[0])))["p2"] == Nack(S1, LOG, NackCode.HELLO)
    (denied,) = central.denials()
    assert b'"wrong_table"' in denied
    assert b'"T2"' in denied
    assert central.receiver.last_seen == {}


def test_the_log_of_another_table_is_refused_and_logged(central: Central) -> None:
    e = entries(2)
    central.t1(hello(), *events(e[:1]))
    assert central.receive(("p2", "key-2", hello(table="T2"))) == {"p2": Nack(S1, LOG, NackCode.FOREIGN_LOG)}
    assert len(central.denials()) == 1


def test_a_key_that_is_not_enrolled_any_more_gets_no_answer(central: Central) -> None:
    central.t1(hello())
    del central.enrolled["key-1"]
    assert central.t1(*events(entries(1))) is None
    assert central.t1(*events(entries(1))) is None
    assert len(central.denials()) == 1
    assert [c.entry.kind for c in central.log.entries()] == ["link.denied"]


def test_a_routing_id_does_not_say_who_somebody_is(central: Central) -> None:
    """Another authorised table under the routing id of T1 neither speaks for T1 nor gets its acks."""
    e = entries(2)
    central.t1(hello(), *events(e[:1]))
    stolen = central.receive(("p1", "key-2", Event(S1, e[1])))
    assert stolen == {"p1": Nack(S1, LOG, NackCode.HELLO)}
    assert central.log.head.seq == 1
    assert central.t1(*events(e[1:])) == Ack(S1, LOG, 2)


def test_a_fork_is_refused_for_good(central: Central) -> None:
    e, other = entries(2), entries(2, "other")
    central.t1(hello(), *events(e))
    assert central.t1(*events(other[:1])) == Nack(S1, LOG, NackCode.FORK)
    assert central.t1(hello(e[-1].head, S2)) == Nack(S2, LOG, NackCode.FORK)
    assert [c.entry for c in central.log.entries(limit=2)] == e
    assert central.log.entries()[2].entry.kind == "link.fork"


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
    forged = Entry(LOG, 1, e.kind, e.at_ms, b"forged", e.prev, e.hash)
    central.t1(hello())
    assert central.t1(Event(S1, forged)) == Nack(S1, LOG, NackCode.BROKEN)
    assert central.log.head_of(LOG).seq == 0
    assert len(central.denials()) == 1


def test_another_protocol_is_refused(central: Central) -> None:
    assert central.t1(Hello(S1, LOG, ZERO_HEAD, "T1", 99)) == Nack(S1, LOG, NackCode.VERSION)


def test_noise_of_an_enrolled_table_is_logged_once_and_harms_nobody(central: Central) -> None:
    noise = Incoming(b"p2", "key-2", [b"noise"])
    e = entries(1)
    batch = [noise, Incoming(b"p1", "key-1", encode(hello())), noise]
    batch.append(Incoming(b"p1", "key-1", encode(Event(S1, e[0]))))
    assert len(central.receiver.receive(batch, 1.0, 1000)) == 1
    assert central.log.head_of(LOG).seq == 1
    assert len(central.denials()) == 1


def test_nothing_is_acknowledged_when_the_disk_is_full(central: Central) -> None:
    e = chain.link(LOG, ZERO_HEAD, [("photo", bytes(50_000))], 5)
    central.t1(hello())
    db = central.log._database.connection
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(LogFull):
        central.t1(*events(e))
    db.execute("PRAGMA max_page_count = 100000")
    assert central.t1(*events(e)) == Ack(S1, LOG, 1)


def test_it_knows_when_a_table_was_last_heard(central: Central) -> None:
    central.t1(hello(), now=5.0)
    central.t1(Ping(S1, LOG, 0), now=8.0)
    assert central.receiver.last_seen == {"T1": 8.0}


def test_peers_that_have_been_silent_for_long_are_forgotten(central: Central) -> None:
    central.t1(hello(), now=1.0)
    central.t1(hello(), peer="p9", now=500.0)
    assert list(central.receiver._peers) == [b"p9"]
    assert central.t1(Ping(S1, LOG, 0), now=501.0) == Nack(S1, LOG, NackCode.HELLO)


def test_a_flood_of_refusals_is_not_logged(central: Central) -> None:
    denials = Denials(central.log.append_own)
    logged = [denials.note("not_enrolled", key=f"k{i}", now=float(i), wall_ms=1) for i in range(500)]
    assert sum(logged) == 120
    assert denials.note("not_enrolled", key="k0", now=3700.0, wall_ms=1)
    assert not denials.note("not_enrolled", key="k0", now=3701.0, wall_ms=1)


def test_a_refusal_that_could_not_be_logged_is_logged_with_the_next(central: Central) -> None:
    def full(*_: object) -> None:
        raise LogFull("full")

    denials = Denials(full)
    assert not denials.note("not_enrolled", key="k", now=1.0, wall_ms=1)
    denials._append = central.log.append_own
    assert denials.note("not_enrolled", key="k", now=2.0, wall_ms=1)
