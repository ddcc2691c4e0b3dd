"""Runs of entries for hypothesis: numbered and chained like real ones, with anything in them."""

from __future__ import annotations

from hypothesis import strategies as st

from station.log.chain import HASH_SIZE, LOG_ID_SIZE, Entry

_HASH = st.binary(min_size=HASH_SIZE, max_size=HASH_SIZE)


@st.composite
def runs(draw: st.DrawFn, most: int = 5) -> tuple[Entry, ...]:
    """Draw entries that follow each other; their hashes are not those of their content."""
    log_id = draw(st.binary(min_size=LOG_ID_SIZE, max_size=LOG_ID_SIZE))
    seq, prev = draw(st.integers(1, (1 << 63) - 1 - most)), draw(_HASH)
    entries: list[Entry] = []
    for _ in range(draw(st.integers(1, most))):
        kind, at_ms = draw(st.text(max_size=16)), draw(st.integers(-(1 << 63), (1 << 63) - 1))
        entry = Entry(log_id, seq, kind, at_ms, draw(st.binary(max_size=64)), prev, draw(_HASH))
        entries.append(entry)
        seq, prev = seq + 1, entry.hash
    return tuple(entries)
