import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.arrange import Arrangement, arrange, overlapping
from vision.readings import Detections, Floats

W, H = 30.0, 40.0


def tiles_at(spots: list[tuple[float, float]], angle: float = 0.0, w: float = W, h: float = H) -> Detections:
    """Upright boxes around tiles of w x h whose centres are ``spots``, all turned by ``angle`` degrees."""
    rad = np.radians(angle)
    cos, sin = np.cos(rad), np.sin(rad)
    turn = np.asarray([[cos, -sin], [sin, cos]])
    centres = np.asarray(spots) @ turn.T + 1000
    half = np.asarray([abs(w * cos) + abs(h * sin), abs(w * sin) + abs(h * cos)]) / 2
    return Detections.of([tuple(map(float, (*(c - half), *(c + half)))) for c in centres])


def hand_spots(rows: list[list[int]], gap: float = 0.8) -> list[tuple[float, float]]:
    """Centres of tiles laid in rows of groups of the given sizes, in reading order."""
    spots = []
    for r, groups in enumerate(rows):
        x = 0.0
        for size in groups:
            for _ in range(size):
                spots.append((x, r * (H + 6)))
                x += W + 0.3
            x += gap * W
    return spots


def sizes(lie: Arrangement) -> tuple[list[int], list[int]]:
    return [len(row) for row in lie.rows], [len(group) for group in lie.groups]


def shuffled(found: Detections, seed: int) -> tuple[Detections, list[int]]:
    order = np.random.default_rng(seed).permutation(len(found))
    return found.take(order), [int(i) for i in np.argsort(order)]


def test_no_boxes_have_no_rows() -> None:
    assert arrange(Detections.empty()) == Arrangement((), (), (), 0.0)


def test_one_tile_is_one_row_and_one_group() -> None:
    lie = arrange(tiles_at([(0, 0)]))
    assert lie.order == (0,)
    assert sizes(lie) == ([1], [1])


@pytest.mark.parametrize("order_seed", range(3))
def test_a_hand_with_melds_is_read_row_by_row_in_groups(order_seed: int) -> None:
    found, expected = shuffled(tiles_at(hand_spots([[3, 4], [7, 1]])), order_seed)
    lie = arrange(found)
    assert list(lie.order) == expected
    assert sizes(lie) == ([7, 8], [3, 4, 7, 1])


@given(st.floats(-42, 132), st.sampled_from([[[13, 1]], [[14]], [[3, 3, 4], [4, 1]], [[17]], [[7], [7]]]))
@settings(max_examples=60, deadline=None)
def test_any_turn_of_a_picture_gives_the_same_order_until_down_becomes_up(
    angle: float, rows: list[list[int]]
) -> None:
    found, expected = shuffled(tiles_at(hand_spots(rows), angle), 1)
    lie = arrange(found)
    assert list(lie.order) == expected
    assert sizes(lie)[0] == [sum(row) for row in rows]
    assert lie.angle == pytest.approx(angle, abs=3)


@given(st.floats(-180, 180))
@settings(max_examples=40, deadline=None)
def test_with_the_direction_known_any_turn_at_all_gives_the_same_order(angle: float) -> None:
    found, expected = shuffled(tiles_at(hand_spots([[3, 4], [9, 1]]), angle), 2)
    lie = arrange(found, near=angle)
    assert list(lie.order) == expected
    assert sizes(lie) == ([7, 10], [3, 4, 9, 1])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_small_disorder_of_human_hands_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = tiles_at(hand_spots([[3, 3], [8, 1]]))
    noise: Floats = rng.normal(0, 0.03 * W, (len(found), 2)).astype(np.float32)
    messy = Detections(found.boxes + np.tile(noise, 2), found.scores)
    lie = arrange(messy)
    assert list(lie.order) == list(range(15))
    assert sizes(lie) == ([6, 9], [3, 3, 8, 1])


def test_rows_that_fan_out_in_perspective_stay_rows() -> None:
    spots = [(x + 0.0, row * 46 + 0.05 * (row - 1) * x) for row in range(3) for x in range(0, 390, 30)]
    lie = arrange(tiles_at(spots))
    assert [len(row) for row in lie.rows] == [13, 13, 13]
    assert list(lie.order) == list(range(39))


def test_a_row_seen_from_table_level_with_tiles_wider_than_high_is_one_row() -> None:
    lie = arrange(tiles_at([(40.0 * k, 0.4 * k) for k in range(9)], w=40, h=30))
    assert sizes(lie) == ([9], [9])


def test_two_upright_tiles_above_each_other_are_two_rows() -> None:
    assert sizes(arrange(tiles_at([(0, 0), (1, 44)])))[0] == [1, 1]


def test_a_column_of_tiles_on_their_side_is_one_row() -> None:
    lie = arrange(tiles_at([(0.0, 30.0 * k) for k in range(6)], w=40, h=30))
    assert sizes(lie)[0] == [6]


@pytest.mark.parametrize(("angle", "first"), [(-40, "left"), (40, "left"), (60, "top"), (-60, "top")])
def test_a_steep_row_is_read_from_the_top_down(angle: float, first: str) -> None:
    found = tiles_at(hand_spots([[9]]), angle)
    begin, end = (found.centres[arrange(found).order[k]] for k in (0, -1))
    assert (begin[0] < end[0]) if first == "left" else (begin[1] < end[1])


def test_runs_on_one_line_are_one_row_however_far_apart() -> None:
    lie = arrange(tiles_at([*((30.0 * k, 0.0) for k in range(6)), (400.0, 2.0), (430.0, 2.0)]))
    assert sizes(lie) == ([8], [6, 2])


@pytest.mark.parametrize(("gap", "groups"), [(0.15, [14]), (0.6, [13, 1]), (1.5, [13, 1])])
def test_the_winning_tile_is_apart_from_six_tenths_of_a_tile_on(gap: float, groups: list[int]) -> None:
    assert sizes(arrange(tiles_at(hand_spots([[13, 1]], gap))))[1] == groups


@given(
    st.lists(st.tuples(st.floats(0, 900), st.floats(0, 600)), max_size=24),
    st.floats(-90, 90),
)
@settings(max_examples=60, deadline=None)
def test_whatever_lies_there_every_box_is_read_once(spots: list[tuple[float, float]], angle: float) -> None:
    lie = arrange(tiles_at(spots, angle) if spots else Detections.empty())
    n = len(spots)
    assert sorted(lie.order) == list(range(n))
    assert [i for row in lie.rows for i in row] == list(range(n))
    assert [i for group in lie.groups for i in group] == list(range(n))


@pytest.mark.parametrize("angle", range(0, 180, 15))
def test_tiles_side_by_side_at_any_angle_do_not_lie_on_each_other(angle: float) -> None:
    assert not overlapping(tiles_at(hand_spots([[3, 4], [7, 1]]), angle), 0.7).any()


def test_half_of_a_tile_found_as_another_lies_on_it() -> None:
    sideways, half = (385.0, 136.0, 499.0, 199.0), (437.0, 136.0, 506.0, 198.0)
    assert overlapping(Detections.of([sideways, half]), 0.7).all()
