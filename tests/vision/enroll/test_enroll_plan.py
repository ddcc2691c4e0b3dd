from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import rulesets
from vision.enroll.plan import capture_plan, ordered, parse_rows
from vision.errors import TileSetError
from vision.model_card import LABELS

FACES = LABELS[:42]


@pytest.mark.parametrize("ruleset", ["zhenjiang", "xiamen", "fengcheng"])
def test_the_plan_shows_every_kind_of_a_rule_set_and_tiles_face_down(ruleset: str) -> None:
    kinds = [kind.id for kind in rulesets.load(ruleset).tile_set.kinds]
    rows = capture_plan(kinds, shots=2)
    for take in (0, 1):
        shown = [kind for row in rows if row.take == take for kind in row.kinds]
        assert sorted(set(shown)) == sorted([*kinds, "back"])
        assert len(shown) == len(kinds) + 4


def test_a_suit_of_one_kind_lies_with_the_honours() -> None:
    rows = capture_plan(["1s", "1z", "2z", "3z"], shots=1, backs=0)
    assert [row.text for row in rows] == ["1s 1z 2z 3z"]


@given(st.sets(st.sampled_from(FACES), min_size=1), st.integers(1, 3))
def test_no_kind_is_left_out_and_none_asked_twice_in_a_take(kinds: set[str], shots: int) -> None:
    rows = capture_plan(kinds, shots)
    for take in range(shots):
        faces = [k for row in rows if row.take == take for k in row.kinds if k != "back"]
        assert faces == list(ordered(kinds))


def test_rows_count_up_in_words() -> None:
    assert [row.text for row in parse_rows(["1m 2m 3m", "3m 1m", "back back"])] == [
        "1m to 3m",
        "3m 1m",
        "2 tiles face down",
    ]


@pytest.mark.parametrize("lines", [["1m 10m"], [""], ["1M"]])
def test_a_row_that_is_none_is_refused(lines: list[str]) -> None:
    with pytest.raises(TileSetError):
        parse_rows(lines)


def test_a_set_without_faces_is_refused() -> None:
    with pytest.raises(TileSetError, match="no kinds"):
        capture_plan(["back"])
