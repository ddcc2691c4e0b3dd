from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from vision.arrange import arrange
from vision.hand import HandShape
from vision.hand_reading import look_indicator, read_claimed, read_shown, read_turned, voted_shown
from vision.interpret import Opinion, Thresholds, tile_readings, why_not
from vision.readings import Box, Detections, Image, Reading

XIAMEN = HandShape(16, "CPKA")
FENGCHENG = HandShape(16, "CPKAH", spread=True)
STRIP = np.zeros((388, 1280, 3), np.uint8)
WALL = np.zeros((100, 284, 3), np.uint8)
Row = list[str]


@dataclass
class Table:
    """Rows of groups of tiles written as ids with spaces; ``faint``: a tile seen only where it is missed;
    ``beside``: doubts about what is no tile."""

    rows: list[Row]
    faint: int | None = None
    beside: tuple[str, ...] = ()
    asked: list[tuple[int | None, int | None]] = field(default_factory=list)

    def read(
        self,
        frame: Image,
        region: Box | None = None,
        expect: int | None = None,
        kinds: frozenset[str] | None = None,
        shape: HandShape | None = None,
        long_side: int | None = None,
    ) -> Reading:
        self.asked.append((expect, long_side))
        spots = [
            (kind, 20 + 36 * (k + 1.0 * g + sum(len(r.split()) for r in row[:g])), 20 + 60 * y)
            for y, row in enumerate(self.rows)
            for g, group in enumerate(row)
            for k, kind in enumerate(group.split())
        ]
        seen = [s for i, s in enumerate(spots) if i != self.faint or expect == len(spots)]
        found = Detections.of([(x, y, x + 36.0, y + 48.0) for _, x, y in seen])
        lie = arrange(found)
        says = [Opinion(((kind, 0.99),), 0.0) for kind, _, _ in seen]
        tiles = tile_readings(found, says, lie, (0, 0, 1280, 388), Thresholds(), shape)
        why = why_not(tiles, expect, self.beside)
        return Reading(tiles, lie.rows, lie.groups, not why, why, 1.0, (1280, 388))


def test_a_whole_hand_is_looked_at_once_and_finely() -> None:
    table = Table([["1m 2m 3m", "1f 2f"], ["4p " * 12 + "5z", "5z"]])
    hand = read_claimed(table, STRIP, XIAMEN)
    assert table.asked == [(None, 1280)]
    assert (hand.expected, hand.complete, hand.reading.accept) == (19, True, False)
    assert [len(part) for part in (hand.layout.melds, hand.layout.concealed, hand.layout.flowers)] == [
        1,
        13,
        2,
    ]


def test_a_tile_overlooked_is_looked_for() -> None:
    table = Table([["back 1z 1z back"], ["4p 4p 4p 5p 6p 7p 1s 2s 3s 9m", "9m"]], faint=0)
    hand = read_claimed(table, STRIP, HandShape(13, "PKA"))
    assert [expect for expect, _ in table.asked] == [None, 15]
    assert hand.complete
    assert hand.reading.kinds[:4] == ("back", "1z", "1z", "back")


def test_a_hand_with_too_few_tiles_stays_incomplete() -> None:
    hand = read_claimed(Table([["4p 5p 6p", "6p"]]), STRIP, XIAMEN)
    assert (hand.expected, hand.complete) == (17, False)
    assert "wrong_count" in hand.reading.why


def test_tiles_laid_as_a_meld_that_show_none_are_not_sound() -> None:
    concealed = ["1m 2m 3m 4m 5m 6m 7m 8m 9m 1s", "1s"]
    shape = HandShape(13, "CPKA")
    assert read_claimed(Table([["5p 6p 7p"], concealed]), STRIP, shape).sound
    torn = read_claimed(Table([["5p 6p 2p 7p"], concealed]), STRIP, shape)
    assert (torn.complete, torn.reading.accept, torn.sound) == (True, True, False)


def test_a_white_dragon_of_the_concealed_tiles_that_passes_for_a_back_is_not_sound() -> None:
    """Beside two alike it looks like the end of a concealed kong, which only a group of its own can be."""
    hand = read_claimed(
        Table([["1m 2m 3m 4m 5m 6m 7z 7z back 5z 5z 1s 1s", "1s"]]), STRIP, HandShape(13, "CPKA")
    )
    assert not hand.sound
    hidden = Table([["1m 2m 3m 4m 5m 6m 9m back 7z 7z back 1s 1s", "1s"]])
    hand = read_claimed(hidden, STRIP, HandShape(13, "CPKA"))
    assert (hand.complete, hand.reading.accept, hand.sound) == (True, True, False)


def test_a_kong_whose_covered_ends_were_both_overlooked_is_in_doubt() -> None:
    shape = HandShape(13, "CPKA")
    concealed = ["4m 8m 8m 3p 7p 7s 6z", "3p"]
    whole = read_claimed(Table([["back 1p 1p back", "9s 9s 9s 9s"], concealed]), STRIP, shape)
    assert (whole.complete, whole.sound, whole.reading.accept) == (True, True, True)
    blind = read_claimed(Table([["1p 1p", "9s 9s 9s 9s"], concealed]), STRIP, shape)
    assert blind.complete
    assert blind.reading.why == ("unseen_tile",)


def test_concealed_tiles_in_two_rows_are_no_melds_and_in_no_doubt() -> None:
    two_rows = Table([["1m 1m 2p 5s 7s 9s 1z"], ["4m 8m 8m 3p 7p 6z", "3p"]])
    hand = read_claimed(two_rows, STRIP, HandShape(13, "CPKA"))
    assert (hand.complete, hand.reading.accept) == (True, True)


def test_a_claim_without_a_winning_tile() -> None:
    hand = read_claimed(Table([["4p " * 16]]), STRIP, XIAMEN, win=False)
    assert (hand.layout.win, len(hand.layout.concealed), hand.complete) == (None, 16, True)


def test_covered_tiles_of_a_player_without_a_claim_are_left_out() -> None:
    table = Table([["5z back 5z", "1z 2z 3z 4z"], ["back " * 13]])
    hand = read_shown(table, STRIP, FENGCHENG)
    assert hand.reading.kinds == ("5z", "back", "5z", "1z", "2z", "3z", "4z")
    assert (hand.layout.melds, hand.layout.spread) == (((0, 1, 2),), ((3, 4, 5, 6),))
    assert (hand.expected, hand.complete, hand.reading.accept) == (None, True, True)


def test_a_shao_left_covered_is_in_doubt() -> None:
    hand = read_shown(Table([["back back back", "1p 1p 1p"]]), STRIP, FENGCHENG)
    assert len(hand.layout.melds) == 2
    assert hand.reading.why == ("stray_back",)


def test_what_is_left_of_a_shao_among_the_melds_stays_in_doubt() -> None:
    hand = read_shown(Table([["1p 1p 1p", "back back"], ["back " * 10]]), STRIP, FENGCHENG)
    assert (hand.reading.kinds, hand.reading.why) == (("1p", "1p", "1p", "back", "back"), ("stray_back",))
    assert len(hand.covered) == 10
    elsewhere = read_shown(Table([["1p 1p 1p", "back back"]]), STRIP, XIAMEN)
    assert (elsewhere.reading.kinds, elsewhere.reading.accept) == (("1p", "1p", "1p"), True)


@pytest.mark.parametrize("covered", [["back " * 13], []], ids=["tiles face down", "tiles kept back"])
@pytest.mark.parametrize("code", ["unseen_tile", "odd_size", "cut_at_border"])
def test_a_tile_perhaps_overlooked_before_a_player_without_a_claim_stays_in_doubt(
    code: str, covered: Row
) -> None:
    table = Table([["1p 1p 1p"], *([covered] if covered else [])], beside=(code,))
    hands = [read_shown(table, STRIP, FENGCHENG) for _ in range(2)]
    assert len(hands[0].layout.melds) == 1, "perhaps an exposed kong"
    assert (hands[0].reading.accept, hands[0].reading.why) == (False, (code,))
    assert voted_shown(hands, FENGCHENG).reading.why == (code,)


def test_a_player_who_shows_nothing() -> None:
    hand = read_shown(Table([]), STRIP, FENGCHENG)
    assert hand.layout.melds == ()
    assert hand.reading.why == ("no_tiles",)


@pytest.mark.parametrize(
    ("row", "kinds"),
    [
        (["back back back 6p back"], ("6p",)),
        (["back 1f 6p back"], ("6p",)),
        (["back 1f back"], ("1f",)),
        (["back back back back"], ("back",)),
        ([], ()),
    ],
)
def test_the_open_tile_of_a_wall_is_meant(row: Row, kinds: tuple[str, ...]) -> None:
    table = Table([row] if row else [])
    assert read_turned(table, WALL).kinds == kinds


def test_of_two_open_tiles_the_one_nearest_the_middle_is_meant() -> None:
    assert read_turned(Table([["9s back back 6p"]]), WALL).kinds == ("6p",)


@pytest.mark.parametrize("code", ["unseen_tile", "odd_size", "cut_at_border"])
def test_something_beside_the_flipped_tile_leaves_state_and_tile_in_doubt(code: str) -> None:
    state, reading = look_indicator(Table([["6p"]], beside=(code,)), WALL)
    assert (state.status, state.kind, state.reasons) == ("unsure", "6p", (code,))
    assert reading.why == (code,)
