"""The table's half of the protocol, with time and messages passed in."""

import itertools
import math

import pytest

from station.link.codes import NackCode
from station.link.replicate import Sender, SenderState, SenderTimes
from station.link.said import Ack, Chained, Diverged, Event, Hello, Nack, Ping, Resume
from station.log import chain
from station.log.chain import GENESIS, ZERO_HEAD, Entry, Head

LOG = b"L" * 16
TIMES = SenderTimes(window=4, resend_s=1.5, ping_s=2.0, refused_s=30.0)


class Table:
    """A sender with a log in memory."""

    def __init__(self, n: int = 0) -> None:
        self.log: list[Entry] = []
        sessions = itertools.count(1)
        self.append(n)
        self.sender = Sender("T1", LOG, self, lambda: next(sessions).to_bytes(8, "big"), TIMES)

    @property
    def session(self) -> bytes:
        return self.sender.session

    def head_of(self, _: bytes) -> Head:
        return self.log[-1].head if self.log else ZERO_HEAD

    def entries_of(self, _: bytes, after: int = 0, limit: int | None = None) -> list[Entry]:
        return self.log[after:][:limit]

    def hash_at(self, _: bytes, seq: int) -> bytes | None:
        if seq == 0:
            return GENESIS
        return self.log[seq - 1].hash if seq <= len(self.log) else None

    def append(self, n: int) -> None:
        self.log += chain.link(LOG, self.head_of(LOG), [("e", b"%d" % i) for i in range(n)], 0)
        if hasattr(self, "sender"):
            self.sender.appended(self.head_of(LOG))

    def resume(self, next_seq: int, now: float = 0.0) -> list[Chained]:
        digest = self.hash_at(LOG, next_seq - 1)
        assert digest is not None
        return self.sender.received(Resume(self.session, LOG, next_seq, digest), now)

    def ack(self, seq: int, now: float = 0.0) -> None:
        self.sender.received(Ack(self.session, LOG, seq), now)

    def seqs(self, now: float) -> list[int]:
        said = self.sender.poll(now)
        return [entry.seq for message in said if isinstance(message, Event) for entry in message.entries]

    def streaming(self, acked: int = 0) -> "Table":
        self.sender.connected(0.0)
        self.sender.poll(0.0)
        self.resume(acked + 1)
        return self


def test_it_greets_with_the_head_of_its_log_when_a_connection_comes_up() -> None:
    table = Table(3)
    assert table.sender.poll(0.0) == []
    table.sender.connected(1.0)
    assert table.sender.poll(1.0) == [Hello(table.session, LOG, table.log[-1].head, "T1")]
    assert table.sender.poll(1.1) == []


def test_it_greets_again_when_nothing_comes_back() -> None:
    table = Table(1)
    table.sender.connected(0.0)
    table.sender.poll(0.0)
    assert table.sender.next_deadline() == 1.5
    assert isinstance(table.sender.poll(1.5)[0], Hello)


def test_it_sends_from_where_the_central_station_asks_and_no_more_than_the_window() -> None:
    table = Table(9).streaming(acked=2)
    assert table.seqs(0.0) == [3, 4, 5, 6]
    assert table.seqs(0.1) == []
    table.ack(4, 0.2)
    assert table.seqs(0.2) == [7, 8]
    assert (table.sender.acked, table.sender.unsent) == (4, 5)


def test_it_goes_back_to_the_first_unacknowledged_entry_when_the_timer_runs_out() -> None:
    table = Table(6).streaming()
    assert table.seqs(0.0) == [1, 2, 3, 4]
    table.ack(1, 0.5)
    assert table.seqs(0.5) == [5]
    assert table.seqs(1.9) == []
    assert table.seqs(2.0) == [2, 3, 4, 5]


def test_new_entries_do_not_put_the_timer_off() -> None:
    table = Table(1).streaming()
    assert table.seqs(0.0) == [1]
    table.append(1)
    assert table.seqs(1.0) == [2]
    assert table.seqs(1.5) == [1, 2]


def test_a_new_entry_goes_out_at_once_on_an_idle_link() -> None:
    table = Table(1).streaming(acked=1)
    table.append(2)
    assert table.seqs(0.5) == [2, 3]


def test_an_idle_link_is_pinged() -> None:
    table = Table(1).streaming(acked=1)
    assert table.sender.poll(1.9) == []
    assert table.sender.poll(2.0) == [Ping(table.session, LOG, 1)]
    assert table.sender.next_deadline() == 4.0


def test_answers_to_another_session_or_log_are_ignored() -> None:
    table = Table(3).streaming()
    table.seqs(0.0)
    table.sender.received(Ack(b"otherses", LOG, 2), 0.1)
    table.sender.received(Ack(table.session, b"M" * 16, 2), 0.1)
    assert table.sender.acked == 0


@pytest.mark.parametrize("seq", [0, 1, 4], ids=["nothing", "older", "beyond the log"])
def test_an_acknowledgement_never_moves_back_or_past_the_log(seq: int) -> None:
    table = Table(3).streaming(acked=1)
    table.ack(seq)
    assert table.sender.acked == 1


def test_a_gap_at_the_central_station_makes_it_go_back_once_per_resend_time() -> None:
    table = Table(4).streaming()
    assert table.seqs(0.0) == [1, 2, 3, 4]
    for _ in range(3):
        table.resume(2, 0.1)
    assert table.seqs(0.1) == [2, 3, 4]
    table.resume(2, 0.2)
    assert table.seqs(0.2) == []
    table.resume(2, 1.7)
    assert table.seqs(1.7) == [2, 3, 4]


def test_a_central_station_with_an_empty_log_gets_everything_again() -> None:
    table = Table(3).streaming(acked=3)
    table.sender.disconnected()
    assert table.sender.state is SenderState.DOWN
    table.streaming(acked=0)
    assert table.sender.unsent == 3
    assert table.seqs(0.0) == [1, 2, 3]


def test_asked_to_greet_it_greets_in_a_new_session() -> None:
    table = Table(2).streaming()
    before = table.session
    table.sender.received(Nack(before, LOG, NackCode.HELLO), 5.0)
    assert table.sender.state is SenderState.GREETING
    assert isinstance(table.sender.poll(5.0)[0], Hello)
    assert table.session != before
    table.sender.received(Nack(before, LOG, NackCode.HELLO), 5.1)
    assert table.sender.poll(5.1) == []


@pytest.mark.parametrize(
    "code", [NackCode.FORK, NackCode.WRONG_TABLE, NackCode.FOREIGN_LOG, NackCode.VERSION]
)
def test_a_refusal_stops_sending_and_is_tried_again_much_later(code: str) -> None:
    table = Table(2).streaming()
    table.sender.received(Nack(table.session, LOG, code), 1.0)
    assert (table.sender.state, table.sender.reason) == (SenderState.REFUSED, code)
    assert table.sender.poll(30.9) == []
    assert isinstance(table.sender.poll(31.0)[0], Hello)
    assert table.sender.reason == code
    table.resume(1, 31.1)
    assert (table.sender.state, table.sender.reason) == (SenderState.STREAMING, None)


def test_a_central_station_that_knows_more_than_the_log_means_a_rolled_back_log() -> None:
    table = Table(2)
    table.sender.connected(0.0)
    table.sender.poll(0.0)
    answer = table.sender.received(Resume(table.session, LOG, 5, b"h" * 32), 0.1)
    assert answer == [Diverged(table.session, LOG, table.log[-1].head, "rollback")]
    assert (table.sender.state, table.sender.reason) == (SenderState.REFUSED, "rollback")
    assert table.seqs(0.2) == []


def test_another_hash_at_the_same_place_means_a_fork() -> None:
    table = Table(4)
    table.sender.connected(0.0)
    table.sender.poll(0.0)
    answer = table.sender.received(Resume(table.session, LOG, 3, b"h" * 32), 0.1)
    assert answer == [Diverged(table.session, LOG, table.log[-1].head, "fork")]
    assert table.sender.state is SenderState.REFUSED


def test_nothing_is_sent_while_there_is_no_connection() -> None:
    table = Table(3).streaming()
    table.sender.disconnected()
    assert table.sender.poll(100.0) == []
    assert table.resume(1, 100.0) == []
    table.ack(1, 100.0)
    assert table.sender.acked == 0


def test_it_waits_longer_each_time_nothing_is_acknowledged_and_not_after_progress() -> None:
    table = Table(2).streaming()
    assert table.seqs(0.0) == [1, 2]
    assert [table.seqs(at) for at in (1.5, 3.0, 4.5, 9.0, 10.5)] == [[1, 2], [], [1, 2], [], [1, 2]]
    table.ack(1, 10.6)
    assert table.seqs(12.1) == [2]


def test_without_an_interval_an_idle_chain_is_not_pinged() -> None:
    table = Table(1)
    table.sender._times = SenderTimes(ping_s=math.inf)
    table.streaming(acked=1)
    assert table.sender.next_deadline() == math.inf
