from __future__ import annotations

from collections.abc import Callable

import pytest

from vision.enroll.session import Enrolment
from vision.errors import TileSetError

KINDS = ["1m", "2m", "3m", "1p", "2p", "3p"]


def begin(model: str = "a" * 64) -> Enrolment:
    return Enrolment.begin(KINDS, model, 2)


def test_rows_are_asked_for_until_all_kinds_are_there(maker: Callable, origin: Callable) -> None:
    going, asked = begin(), []
    while going.next is not None:
        row = going.plan[going.next]
        asked.append(row.text)
        shots = maker().shots(row.kinds, [f"row {going.next}"])
        going = going.accept(going.next, shots)
    assert asked == [t for t in ("1m to 3m", "1p to 3p", "4 tiles face down") for _ in range(2)]
    assert going.missing(2) == {}
    assert going.finish(origin()).kinds == (*KINDS, "back")


def test_what_is_missing_is_said_at_any_time(maker: Callable, origin: Callable) -> None:
    going = begin().accept(0, maker().shots(KINDS[:3], ["row 0"]))
    assert list(going.missing()) == ["1p", "2p", "3p", "back"]
    assert going.missing(2)["1m"] == 1
    assert going.progress() == {
        "rows": 6,
        "done": 1,
        "next": {"kinds": ["1m", "2m", "3m"], "take": 2},
        "shots": 3,
        "missing": ["1p", "2p", "3p", "back"],
    }
    with pytest.raises(TileSetError, match="1p 2p 3p back"):
        going.finish(origin())


def test_a_row_taken_again_replaces_its_first_picture(maker: Callable) -> None:
    going = begin().accept(0, maker().shots(KINDS[:3], ["row 0"]))
    again = going.accept(0, maker().shots(KINDS[:3], ["row 0"]))
    assert len(again.capture.shots) == 3
    assert again.capture.done == (0,)


def test_a_capture_goes_on_where_it_ended(maker: Callable) -> None:
    going = begin().accept(0, maker().shots(KINDS[:3], ["row 0"]))
    assert begin().resume(going.capture).next == 1


def test_a_capture_of_other_kinds_or_another_recognizer_does_not_go_on() -> None:
    with pytest.raises(TileSetError, match="another recognizer"):
        begin().resume(begin("b" * 64).capture)
    with pytest.raises(TileSetError, match="other kinds"):
        begin().resume(Enrolment.begin(["1m"], "a" * 64, 2).capture)
