"""How much may be under way, and how long to wait for it."""

from hypothesis import given
from hypothesis import strategies as st

from station.link.replicate.limits import Limits
from station.link.replicate.window import MOST_BYTES, SenderTimes, Window

TIMES = SenderTimes(window=128, first_window=16, resend_s=1.5, resend_most_s=6.0)


class Peer:
    """A peer that acknowledges whatever is under way after a while."""

    def __init__(self) -> None:
        self.window, self.seq, self.now = Window(TIMES), 0, 0.0

    def exchange(self, took_s: float = 0.01, entries: int | None = None) -> None:
        count = self.window.entries if entries is None else entries
        self.window.sent(self.seq + count, 500 * count, self.now)
        self.now += took_s
        self.window.acked(self.seq, self.seq + count, self.now)
        self.seq += count


def test_it_doubles_while_it_is_full_and_acknowledged_soon_up_to_its_bound() -> None:
    peer = Peer()
    sizes = []
    for _ in range(5):
        sizes.append(peer.window.entries)
        peer.exchange()
    assert sizes == [16, 32, 64, 128, 128]


def test_it_does_not_grow_where_acknowledgements_come_late_or_little_is_sent() -> None:
    late, few = Peer(), Peer()
    for _ in range(9):
        late.exchange(0.5)
        few.exchange(entries=1)
    assert late.window.entries == few.window.entries == 16


def test_it_halves_when_something_is_lost_but_not_below_eight() -> None:
    peer = Peer()
    for _ in range(3):
        peer.exchange()
    sizes = []
    for _ in range(6):
        sizes.append(peer.window.entries)
        peer.window.lost()
    assert sizes == [128, 64, 32, 16, 8, 8]


def test_the_timer_is_three_round_trips_but_not_less_than_its_first_nor_more_than_its_longest_pause() -> None:
    peer = Peer()
    peer.exchange(0.01)
    assert peer.window.resend_s == 1.5
    for _ in range(50):
        peer.exchange(1.0)
    assert 2.9 < peer.window.resend_s < 3.0
    for _ in range(50):
        peer.exchange(5.0)
    assert peer.window.resend_s == 6.0
    peer.window.begin()
    assert (peer.window.resend_s, peer.window.entries) == (1.5, 16)


def test_what_was_sent_twice_measures_nothing() -> None:
    """Nobody knows which of the two was acknowledged."""
    window = Window(TIMES)
    window.sent(4, 100, 0.0)
    window.lost()
    window.sent(4, 100, 5.0)
    window.acked(0, 4, 9.0)
    assert window.resend_s == 1.5


@given(st.lists(st.tuples(st.integers(1, 300_000), st.booleans()), max_size=60))
def test_bytes_under_way_are_counted_exactly(steps: list[tuple[int, bool]]) -> None:
    window, under_way, acked = Window(TIMES), [], 0
    for seq, (size, answered) in enumerate(steps, 1):
        window.sent(seq, size, 0.0)
        under_way.append(size)
        if answered:
            window.acked(acked, acked + 1, 0.1)
            acked += 1
            under_way.pop(0)
        assert window.full() == (sum(under_way) >= MOST_BYTES)


def test_a_full_window_of_the_shipped_values_fits_into_the_share_of_one_round() -> None:
    # What is over the share is dropped unseen: a window beyond it would lose its end every time.
    assert SenderTimes().window <= Limits().round_quota
