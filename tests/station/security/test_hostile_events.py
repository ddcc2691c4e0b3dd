"""What an enrolled table may book: it is stored as it is, and must stop neither the hall nor the photos."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from station import health
from station import messages as m
from station.central.fold import Hall, TableFold
from station.central.view import Surroundings, state_object
from station.evidence.index import Index
from station.fold_cache import FoldCache
from station.log import Log, chain
from station.log.chain import ZERO_HEAD, Entry
from station.web import pages

DEEP = b'{"x":' + b"[" * 20_000 + b"]" * 20_000 + b"}"
OPENED: dict[str, Any] = {
    "table": "T1", "ruleset": "zhenjiang", "ruleset_hash": "", "options": {}, "players": list("ABCD"),
    "chips": [50] * 4,
}  # fmt: skip
FIVE: dict[str, Any] = {"players": list("ABCDE"), "chips": [50] * 5}
INDICATOR: dict[str, Any] = {"hand": 1, "tile": "1p", "wild": None, "score": None, "photo": "p"}
REJECTED: dict[str, Any] = {"hand": 1, "claim": 2**70, "reason": "x"}
HOSTILE: dict[str, tuple[str, bytes]] = {
    "nested": ("hand.confirmed", DEEP),
    "chips": ("session.opened", json.dumps(OPENED | {"chips": [2**70] * 4}).encode()),
    "players": ("session.opened", json.dumps(OPENED | FIVE).encode()),
    "hand": ("indicator.revealed", json.dumps(INDICATOR | {"hand": -(2**70)}).encode()),
    "claim": ("hand.rejected", json.dumps(REJECTED).encode()),
    "target": ("event.corrected", json.dumps({"v": 2, "target": 2**63, "reason": "x"}).encode()),
    "appeal of an object": ("appeal.filed", b'{"hand":{}}'),
    "appeal of no hand": ("appeal.filed", b'{"hand":1180591620717411303424}'),
    "nested appeal": ("appeal.filed", DEEP),
}


def entries(*events: tuple[str, bytes], log_id: bytes = b"A" * 16) -> list[Entry]:
    return chain.link(log_id, ZERO_HEAD, events, 1)


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE.keys())
def hostile(request: pytest.FixtureRequest) -> tuple[str, bytes]:
    event: tuple[str, bytes] = request.param
    return event


def test_the_hall_goes_on_and_every_page_is_shown(tmp_path: Path, hostile: tuple[str, bytes]) -> None:
    good = m.encode(m.SessionOpened(**OPENED))
    hall = Hall()
    with Log.open(tmp_path / "central.db") as log:
        theirs = entries(hostile) if hostile[0] == "session.opened" else entries(good, hostile)
        log.accept([("T1", entry) for entry in theirs], 1)
        log.accept([("T2", entry) for entry in entries(good, log_id=b"B" * 16)], 1)
        for item in log.entries():
            hall.apply(item)
        hall.settle(log.entries_of)
        cache = FoldCache(tmp_path / "kept", Hall, b"code", b"secret")
        cache.save(log.log_id, hall.pos, hall.hash, hall)
        assert cache.load(log.log_id, log.store_hash_at) is not None
    state = state_object(hall, Surroundings(now=1.0))
    assert msgspec.json.encode(state)
    for view in ("wall", "head"):
        assert "Table 2" in pages.render_fragment(view, state, "en")
    (_, other) = state["tables"]
    assert (other["id"], other["phase"], len(other["places"])) == ("T2", "start", 4)


def test_the_photos_of_the_others_go_on(tmp_path: Path, hostile: tuple[str, bytes]) -> None:
    seen = m.encode(m.IndicatorRevealed(hand=1, tile="1p", wild=None, score=None, photo="name"))
    lines = [("T1", entry) for entry in entries(seen, hostile)]
    lines += [("T2", entry) for entry in entries(seen, log_id=b"B" * 16)]
    with Index.open(tmp_path / "index.db") as index:
        assert index.catch_up(b"L" * 16, [(pos, *line, b"") for pos, line in enumerate(lines, 1)]) == 3
        assert index.names("T2", "name")


@pytest.mark.parametrize(
    "body",
    [DEEP, b'{"phase":"x","machine":null,"camera":"x","log_pos":' + b"9" * 3000 + b"}"],
    ids=["nested", "number"],
)
def test_a_health_that_is_none_is_told_by_an_error_of_its_format(body: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        health.decode(body)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("account.moved", lambda i: {"hand": 1, "place": 0, "account": "x", "amount": 0, "reason": "r"}),
        ("referee.called", lambda i: {"place": i}),
        ("dice.rolled", lambda i: {"v": 2, "hand": 1, "dice": [1] * 50, "source": "host", "nth": i, "of": 9}),
        (
            "dice.rolled",
            lambda i: {"v": 2, "hand": 1, "dice": [1, 2], "source": "host", "nth": i, "of": 9**9},
        ),
        ("command.done", lambda i: {"log": f"{i:032x}", "seq": 1, "command": "c", "outcome": "done"}),
    ],
    ids=["undoable", "called", "dice", "throws", "commands"],
)
def test_no_event_costs_more_than_the_one_before(kind: str, body: Callable[[int], dict[str, Any]]) -> None:
    """What a table's state remembers is bounded, however long it goes on within one hand."""
    events = [(kind, json.dumps(body(i)).encode()) for i in range(1500)]
    fold = TableFold(b"A" * 16)
    sizes = []
    for entry in entries(m.encode(m.SessionOpened(**OPENED)), *events):
        fold.apply(entry)
        sizes.append(len(msgspec.msgpack.encode(fold.session)))
    assert sizes[-1] <= sizes[len(sizes) // 2] + 20
