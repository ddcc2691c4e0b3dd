import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vision.arrange import arrange
from vision.errors import ShapeError
from vision.interpret import (
    Opinion,
    Sight,
    Thresholds,
    opinions,
    softmax,
    tile_readings,
    trust_detector,
    why_not,
)
from vision.model_card import LABELS
from vision.readings import Detections, TileReading
from vision.shapes import HandShape

AREA = (0.0, 0.0, 1000.0, 1000.0)


def shares(**weights: float) -> np.ndarray:
    row = np.zeros((1, len(LABELS)), np.float32)
    for kind, weight in weights.items():
        row[0, LABELS.index(kind.lstrip("_"))] = weight
    return row


def read(kinds: list[str], scores: list[float] | None = None, heat: float = 0.9) -> tuple[TileReading, ...]:
    found = Detections.of(
        [(100 + 30 * k, 100, 130 + 30 * k, 140) for k in range(len(kinds))], [heat] * len(kinds)
    )
    scores = scores or [0.99] * len(kinds)
    seen = [Opinion(((kind, score),), 0.0) for kind, score in zip(kinds, scores, strict=True)]
    return tile_readings(found, seen, arrange(found), AREA, Thresholds())


@given(arrays(np.float32, (3, 44), elements=st.floats(-50, 50, width=32)), st.floats(0.1, 5))
@settings(max_examples=40, deadline=None)
def test_probabilities_sum_to_one_and_keep_the_order(logits: np.ndarray, temperature: float) -> None:
    p = softmax(logits, temperature)
    assert p.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-4)
    assert (p.argmax(axis=1) == logits.argmax(axis=1)).all() or p.max() == pytest.approx(
        p[np.arange(3), logits.argmax(axis=1)].max()
    )


def test_logits_of_another_shape_are_refused() -> None:
    with pytest.raises(ShapeError):
        softmax(np.zeros(3, np.float32))


def test_the_three_best_kinds_are_the_alternatives() -> None:
    (opinion,) = opinions(shares(_1m=0.6, _2m=0.25, _3m=0.1, _4m=0.05), LABELS)
    assert [kind for kind, _ in opinion.alternatives] == ["1m", "2m", "3m"]
    assert opinion.score == pytest.approx(0.6)


def test_no_tile_here_counts_against_every_kind() -> None:
    (opinion,) = opinions(shares(_1m=0.3, other=0.7), LABELS)
    assert opinion.score == pytest.approx(0.3)


def test_kinds_outside_the_set_are_not_answered_but_reported() -> None:
    (opinion,) = opinions(shares(_1f=0.6, _1m=0.4), LABELS, frozenset({"1m", "2m"}))
    assert opinion.kind == "1m"
    assert opinion.score == pytest.approx(1.0)
    assert opinion.outside == pytest.approx(0.6)


def test_a_tile_face_down_is_in_every_set() -> None:
    (opinion,) = opinions(shares(back=0.9, _1m=0.1), LABELS, frozenset({"1m"}))
    assert opinion.kind == "back"


def test_scores_of_another_width_are_refused() -> None:
    with pytest.raises(ShapeError):
        opinions(np.zeros((1, 3), np.float32), LABELS)


def test_a_sure_reading_has_no_doubts() -> None:
    assert why_not(read(["1m", "2m", "3m"]), 3) == ()


def test_a_low_probability_is_a_doubt() -> None:
    tiles = read(["1m", "2m"], [0.99, 0.6])
    assert [tile.doubts for tile in tiles] == [(), ("low_score",)]
    assert why_not(tiles, None) == ("low_score",)


def test_the_least_certain_of_five_copies_is_doubted() -> None:
    tiles = read(["7s"] * 5, [0.99, 0.98, 0.9, 0.99, 0.99])
    assert [tile.doubts for tile in tiles] == [(), (), ("fifth_copy",), (), ()]


def test_the_face_down_tiles_of_a_kong_are_copies_too() -> None:
    kong = ["back", "7s", "7s", "back"]
    assert why_not(read([*kong, "8s"]), 5) == ()
    assert [tile.doubts for tile in read([*kong, "7s"], [0.99] * 4 + [0.8])][4] == ("fifth_copy",)


def test_a_flower_exists_once() -> None:
    assert why_not(read(["1f", "1f"]), 2) == ("fifth_copy",)


def test_any_number_of_tiles_may_lie_face_down() -> None:
    assert why_not(read(["back"] * 6), 6) == ()


def test_a_face_down_tile_among_open_ones_is_doubted() -> None:
    assert [tile.doubts for tile in read(["1m", "back", "2m"])] == [(), ("stray_back",), ()]


def test_a_face_down_tile_in_a_group_that_is_no_meld_is_doubted() -> None:
    found = Detections.of([(100 + 30 * k, 100, 130 + 30 * k, 140) for k in range(3)] + [(100, 160, 130, 200)])
    seen = [Opinion(((kind, 0.99),), 0.0) for kind in ("4z", "4z", "back", "1m")]
    tiles = tile_readings(found, seen, arrange(found), AREA, Thresholds())
    assert [tile.doubts for tile in tiles] == [(), (), ("stray_back",), ()]


@pytest.mark.parametrize(
    ("kinds", "doubted"),
    [
        (["5z", "7p", "7p", "5z"], {0, 3}),
        (["back", "7p", "7p", "5z"], {3}),
        (["7p", "5z", "7p"], {1}),
        (["5z", "7p", "7p", "8p"], set()),
        (["5z", "5z", "5z"], set()),
        (["5z", "5z", "5z", "5z"], set()),
        (["5z", "7p", "7p", "5z", "1m"], set()),
    ],
)
def test_white_dragons_where_tiles_of_a_meld_lie_face_down_are_doubted(
    kinds: list[str], doubted: set[int]
) -> None:
    found = Detections.of([(100 + 30 * k, 100, 130 + 30 * k, 140) for k in range(len(kinds))])
    seen = [Opinion(((kind, 0.99),), 0.0) for kind in kinds]
    tiles = tile_readings(found, seen, arrange(found), AREA, Thresholds(), HandShape(16, "CPKAH"))
    assert {k for k, tile in enumerate(tiles) if "blank_or_back" in tile.doubts} == doubted


def test_a_concealed_kong_is_not_doubted() -> None:
    assert why_not(read(["back", "7z", "7z", "back"]), 4) == ()


@pytest.mark.parametrize(
    ("kind", "chance", "red"),
    [("5m", 0.97, True), ("5s", 0.02, False), ("5p", 0.6, None), ("6p", 0.97, None), ("5z", 0.97, None)],
    ids=["red", "not red", "not certain", "no five", "no suit"],
)
def test_a_red_five_is_told_where_there_are_some(kind: str, chance: float, red: bool | None) -> None:
    found = Detections.of([(100, 100, 130, 140)])
    seen = [Opinion(((kind, 0.99),), 0.0)]
    row = np.ones(1, np.float32)
    sight = Sight(np.zeros((1, 44), np.float32), row, row * np.float32(chance))
    for shape, expected in ((HandShape(red=True), red), (HandShape(), None)):
        (tile,) = tile_readings(found, seen, arrange(found), AREA, Thresholds(), shape, sight)
        assert tile.red is expected


def test_a_tile_unlike_itself_upside_down_is_doubted() -> None:
    found = Detections.of([(100, 100, 130, 140)])
    seen = [Opinion((("6p", 0.9),), 0.0)]
    sight = Sight(np.zeros((1, 44), np.float32), np.asarray([0.2], np.float32))
    (tile,) = tile_readings(found, seen, arrange(found), AREA, Thresholds(), None, sight)
    assert tile.doubts == ("low_score",)


def test_a_tile_on_another_is_doubted_and_so_is_the_other() -> None:
    found = Detections.of([(100, 100, 130, 140), (115, 103, 145, 143), (200, 100, 230, 140)])
    seen = [Opinion(((kind, 0.99),), 0.0) for kind in ("1m", "2m", "3m")]
    tiles = tile_readings(found, seen, arrange(found), AREA, Thresholds())
    assert {tile.kind: tile.doubts for tile in tiles} == {"1m": ("overlap",), "2m": ("overlap",), "3m": ()}


def test_touching_tiles_at_an_angle_do_not_overlap() -> None:
    step = 30 / np.sqrt(2)
    found = Detections.of(
        [(100 + step * k, 100 + step * k, 149 + step * k, 149 + step * k) for k in range(5)]
    )
    seen = [Opinion(((f"{k + 1}m", 0.99),), 0.0) for k in range(5)]
    assert why_not(tile_readings(found, seen, arrange(found), AREA, Thresholds()), 5) == ()


@pytest.mark.parametrize(("heat", "tile"), [(0.97, True), (0.5, False), (0.2, False)])
def test_a_blank_tile_counts_where_the_detector_is_sure_of_it(heat: float, tile: bool) -> None:
    blank = shares(_5z=0.45, other=0.55)
    weighed = trust_detector(blank, np.asarray([heat], np.float32))
    assert weighed.sum() == pytest.approx(1)
    assert bool(weighed[0, LABELS.index("5z")] > 0.5) == tile


def test_an_opened_shao_is_doubted_only_where_there_is_none() -> None:
    found = Detections.of([(100 + 30 * k, 100, 130 + 30 * k, 140) for k in range(3)])
    seen = [Opinion(((kind, 0.99),), 0.0) for kind in ("4z", "back", "4z")]
    doubts = [
        [tile.doubts for tile in tile_readings(found, seen, arrange(found), AREA, Thresholds(), shape)]
        for shape in (None, HandShape(16, "CPKAH"))
    ]
    assert doubts == [[(), ("stray_back",), ()], [(), (), ()]]


def test_a_shao_that_was_not_opened_beside_open_tiles_is_doubted() -> None:
    assert why_not(read(["1m", "back", "back", "back"]), 4) == ("stray_back",)


def test_a_tile_at_the_border_may_be_cut() -> None:
    found = Detections.of([(0, 100, 30, 140)])
    tiles = tile_readings(found, [Opinion((("1m", 0.99),), 0.0)], arrange(found), AREA, Thresholds())
    assert tiles[0].doubts == ("cut_at_border",)


@pytest.mark.parametrize(("visible", "doubts"), [(30, ()), (27, ()), (24, ("cut_at_border",))])
def test_a_tile_at_the_border_as_large_as_its_row_is_whole(visible: int, doubts: tuple[str, ...]) -> None:
    found = Detections.of([(0, 100, visible, 140), *((32 + 31 * k, 100, 62 + 31 * k, 140) for k in range(4))])
    seen = [Opinion(((f"{n}m", 0.99),), 0.0) for n in range(1, 6)]
    tiles = tile_readings(found, seen, arrange(found), AREA, Thresholds())
    assert [tile.doubts for tile in tiles] == [doubts, (), (), (), ()]


@pytest.mark.parametrize("kind", ["1s", "1f", "8f"])
def test_kinds_that_every_maker_draws_in_another_way_need_more(kind: str) -> None:
    assert read([kind, "2m"], [0.85, 0.85])[0].doubts == ("low_score",)
    assert read([kind, "2m"], [0.85, 0.85])[1].doubts == ()
    assert read([kind, "2m"], [0.92, 0.92])[0].doubts == ()


@pytest.mark.parametrize(
    ("share", "doubts"),
    [
        ({"back": 0.4, "_5z": 0.3, "other": 0.2}, ()),
        ({"back": 0.45, "_3p": 0.4}, ("low_score",)),
    ],
)
def test_a_tile_that_the_meld_tells_to_lie_face_down_needs_only_no_print(
    share: dict[str, float], doubts: tuple[str, ...]
) -> None:
    rows = np.concatenate([shares(**share), shares(_3p=1.0), shares(_3p=1.0), shares(back=1.0)])
    found = Detections.of([(100 + 30 * k, 100, 130 + 30 * k, 140) for k in range(4)], [0.9] * 4)
    sight = Sight(rows, np.full(4, 0.3, np.float32) + np.array([0, 0.7, 0.7, 0.7], np.float32))
    shape = HandShape(16, "CPKAH")
    tiles = tile_readings(found, opinions(rows, LABELS), arrange(found), AREA, Thresholds(), shape, sight)
    assert [tile.kind for tile in tiles] == ["back", "3p", "3p", "back"]
    assert tiles[0].doubts == doubts


def test_kinds_that_the_set_in_play_lacks_count_against_the_others() -> None:
    found = Detections.of([(100, 100, 130, 140)])
    seen = opinions(shares(_5m=0.5, _5f=0.29, _6m=0.21), LABELS, frozenset({"5m", "6m"}))
    assert seen[0].score > 0.7
    tiles = tile_readings(found, seen, arrange(found), AREA, Thresholds())
    assert tiles[0].doubts == ("low_score",)


def test_a_tile_that_is_mostly_outside_the_set_is_doubted() -> None:
    found = Detections.of([(100, 100, 130, 140)])
    tiles = tile_readings(found, [Opinion((("1m", 0.99),), 0.5)], arrange(found), AREA, Thresholds())
    assert tiles[0].doubts == ("low_score", "not_in_set")


def test_a_weak_box_is_doubted() -> None:
    assert read(["1m"], heat=0.2)[0].doubts == ("unsure_box",)


@pytest.mark.parametrize(
    ("tiles", "expect", "why"),
    [([], None, ("no_tiles",)), ([], 14, ("no_tiles", "wrong_count")), (["1m"], 2, ("wrong_count",))],
)
def test_a_wrong_number_is_the_first_alarm(
    tiles: list[str], expect: int | None, why: tuple[str, ...]
) -> None:
    assert why_not(read(tiles), expect) == why
