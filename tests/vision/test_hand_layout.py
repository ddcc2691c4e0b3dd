import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.hand import (
    HandLayout,
    HandShape,
    Spread,
    expected_tiles,
    hand_layout,
    public_layout,
    spread_of,
)

XIAMEN = HandShape(16, "CPKA")
FENGCHENG = HandShape(16, "CPKAH", spread=True)


def runs(
    rows: tuple[list[str], ...],
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...], list[str]]:
    """Rows, groups and kinds of rows of groups written as ids with spaces."""
    kinds: list[str] = []
    row_runs, group_runs = [], []
    for row in rows:
        start = len(kinds)
        for group in row:
            ids = group.split()
            group_runs.append(tuple(range(len(kinds), len(kinds) + len(ids))))
            kinds += ids
        row_runs.append(tuple(range(start, len(kinds))))
    return tuple(row_runs), tuple(group_runs), kinds


def lay(*rows: list[str], shape: HandShape | None = None, win: bool = True) -> tuple[HandLayout, list[str]]:
    """Lay out a claimed hand."""
    row_runs, group_runs, kinds = runs(rows)
    return hand_layout(row_runs, group_runs, kinds, shape, win=win), kinds


def show(*rows: list[str], shape: HandShape = FENGCHENG) -> tuple[HandLayout, list[str]]:
    """Lay out what a player without a claim shows."""
    row_runs, group_runs, kinds = runs(rows)
    return public_layout(row_runs, group_runs, kinds, shape), kinds


def texts(units: tuple[tuple[int, ...], ...], kinds: list[str]) -> list[str]:
    return [" ".join(kinds[i] for i in unit) for unit in units]


def named(layout: HandLayout, kinds: list[str]) -> tuple[list[str], str, str | None]:
    melds = [" ".join(kinds[i] for i in meld) for meld in layout.melds]
    win = None if layout.win is None else kinds[layout.win]
    return melds, " ".join(kinds[i] for i in layout.concealed), win


def test_melds_above_concealed_below_winning_tile_apart() -> None:
    melds, concealed, win = named(*lay(["5p 5p 5p", "1z 1z 1z 1z"], ["1m 2m 3m 7s", "7s"]))
    assert melds == ["5p 5p 5p", "1z 1z 1z 1z"]
    assert (concealed, win) == ("1m 2m 3m 7s", "7s")


def test_a_concealed_kong_is_a_meld_wherever_it_lies() -> None:
    melds, concealed, win = named(*lay(["back 3s 3s back", "1m 2m 3m 4m", "4m"]))
    assert melds == ["back 3s 3s back"]
    assert (concealed, win) == ("1m 2m 3m 4m", "4m")


def test_without_a_tile_apart_the_last_tile_counts_as_the_winning_one() -> None:
    assert named(*lay(["1m 2m 3m 5z 5z"])) == ([], "1m 2m 3m 5z", "5z")


def test_groups_of_a_single_row_are_concealed_tiles() -> None:
    assert named(*lay(["1m 2m 3m", "4p 5p 6p", "5z 5z"])) == ([], "1m 2m 3m 4p 5p 6p 5z", "5z")


def test_touching_melds_are_told_apart_by_what_they_show() -> None:
    melds, _, _ = named(*lay(["1m 2m 3m 7p 7p 7p 7p 5z 5z 5z"], ["1s 1s"]))
    assert melds == ["1m 2m 3m", "7p 7p 7p 7p", "5z 5z 5z"]


def test_a_concealed_hand_laid_in_two_rows_has_no_melds() -> None:
    melds, concealed, win = named(*lay(["1m 2m 4m 7p 7p 9s 1z"], ["2s 3s 4s 5z 5z 5z 6z"]))
    assert melds == []
    assert len(concealed.split()) == 13
    assert win == "6z"


def test_a_misread_tile_does_not_undo_a_meld() -> None:
    assert named(*lay(["5p 6s 5p"], ["1s 1s"]))[0] == ["5p 6s 5p"]


def test_a_gap_in_the_wrong_place_does_not_undo_melds_that_their_faces_show() -> None:
    melds, _, _ = named(*lay(["1m 1m 1m back", "7z 7z back"], ["9p", "9p"]))
    assert melds == ["1m 1m 1m", "back 7z 7z back"]


def test_flowers_stand_apart_from_the_hand() -> None:
    layout, kinds = lay(["1f 6f"], ["1s 1s"])
    assert [kinds[i] for i in layout.flowers] == ["1f", "6f"]
    assert named(layout, kinds) == ([], "1s", "1s")


@pytest.mark.parametrize("rows", [[], [["1m"]]])
def test_an_empty_hand_and_a_single_tile(rows: list[list[str]]) -> None:
    layout, _ = lay(*rows)
    assert layout.concealed == ()
    assert layout.win == (0 if rows else None)


def test_a_row_of_flowers_lies_anywhere_even_nearest() -> None:
    layout, kinds = lay(["5p 5p 5p"], ["1m 2m 3m", "7s"], ["1f 6f 8f"])
    assert named(layout, kinds) == (["5p 5p 5p"], "1m 2m 3m", "7s")
    assert [kinds[i] for i in layout.flowers] == ["1f", "6f", "8f"]


def test_flowers_touching_a_meld_and_one_misread_among_them_stay_flowers() -> None:
    layout, kinds = lay(["5p 5p 5p 1f", "2f 3m 4f"], ["1s", "1s"])
    assert texts(layout.melds, kinds) == ["5p 5p 5p"]
    assert [kinds[i] for i in layout.flowers] == ["1f", "2f", "3m", "4f"]


def test_flowers_alone_are_no_hand() -> None:
    layout, _ = lay(["1f 2f"])
    assert layout == HandLayout((), (), None, (0, 1))


def test_without_a_winning_tile_all_are_concealed() -> None:
    layout, kinds = lay(["5p 5p 5p"], ["1m 2m 3m 7s"], win=False)
    assert named(layout, kinds) == (["5p 5p 5p"], "1m 2m 3m 7s", None)


def test_an_opened_shao_is_told_from_pung_and_concealed_kong() -> None:
    layout, kinds = lay(
        ["9m back 9m", "back 1p 1p back", "6z 6z 6z", "1m 2m 3m"], ["2m", "2m"], shape=FENGCHENG
    )
    assert texts(layout.melds, kinds) == ["9m back 9m", "back 1p 1p back", "6z 6z 6z", "1m 2m 3m"]
    assert [FENGCHENG.meld(kinds[slice(m[0], m[-1] + 1)]) for m in layout.melds] == ["H", "A", "P", "C"]


def test_a_shao_in_the_nearest_row_is_a_meld_only_where_there_is_one() -> None:
    rows = ["9m back 9m", "1m 2m 3m 7s", "7s"]
    assert named(*lay(rows, shape=FENGCHENG)) == (["9m back 9m"], "1m 2m 3m 7s", "7s")
    assert named(*lay(rows, shape=XIAMEN))[0] == []


def test_melds_touch_and_are_told_apart_by_their_faces() -> None:
    layout, kinds = lay(["9m back 9m back 1p 1p back 5z back 5z 1m 2m 3m"], ["2m", "2m"], shape=FENGCHENG)
    assert texts(layout.melds, kinds) == ["9m back 9m", "back 1p 1p back", "5z back 5z", "1m 2m 3m"]


def test_a_back_beside_the_melds_does_not_undo_them() -> None:
    layout, kinds = lay(["5p 5p 5p", "back"], ["1m 2m 3m", "7s"])
    assert named(layout, kinds) == (["5p 5p 5p"], "back 1m 2m 3m", "7s")


def test_spread_winds_dragons_and_yaoji_stand_apart_from_melds() -> None:
    layout, kinds = lay(
        ["7p 7p 7p", "1z 2z 3z 4z", "5z 6z 7z", "1s 1s"], ["4m 5m 6m 9m", "9m"], shape=FENGCHENG
    )
    assert texts(layout.melds, kinds) == ["7p 7p 7p"]
    assert texts(layout.spread, kinds) == ["1z 2z 3z 4z", "5z 6z 7z", "1s 1s"]
    assert spread_of(layout, kinds) == Spread(("1z", "2z", "3z", "4z", "5z", "6z", "7z"), 2, 2)


@pytest.mark.parametrize(
    ("row", "groups"),
    [
        (["1z 2z 3z 4z 1z"], ["1z 2z 3z 4z 1z"]),
        (["4z 1z 2z 3z", "1z", "3z 3z"], ["4z 1z 2z 3z", "1z", "3z 3z"]),
        (["1z 2z 3z 4z 5z 6z 7z"], ["1z 2z 3z 4z", "5z 6z 7z"]),
        (["1s", "5z 6z 7z"], ["1s", "5z 6z 7z"]),
        (["5z 6z 7z", "4z 4z 4z"], ["5z 6z 7z"]),
    ],
)
def test_spread_groups_and_extra_tiles(row: list[str], groups: list[str]) -> None:
    layout, kinds = show(row)
    assert texts(layout.spread, kinds) == groups
    assert layout.concealed == ()


def test_honours_are_no_spread_tiles_where_nothing_is_spread() -> None:
    assert lay(["1z 2z 3z 4z"], ["4m 5m 6m", "9m"], shape=XIAMEN)[0].spread == ()


def test_a_loser_shows_melds_and_spread_tiles_in_any_row() -> None:
    layout, kinds = show(["5z back 5z", "1z 2z 3z 4z"], ["1p 1p 1p", "1s"])
    assert texts(layout.melds, kinds) == ["5z back 5z", "1p 1p 1p"]
    assert texts(layout.spread, kinds) == ["1z 2z 3z 4z", "1s"]
    assert (layout.concealed, layout.win) == ((), None)


@pytest.mark.parametrize("covered", [1, 4, 7, 10, 13, 16])
def test_a_losers_covered_tiles_are_no_melds(covered: int) -> None:
    layout, kinds = show(["1p 1p 1p"], [" ".join(["back"] * covered)])
    assert texts(layout.melds, kinds) == ["1p 1p 1p"]
    assert len(layout.concealed) == covered


def test_a_shao_not_opened_is_a_meld_without_a_face() -> None:
    layout, kinds = show(["back back back", "1p 1p 1p"])
    assert texts(layout.melds, kinds) == ["back back back", "1p 1p 1p"]


def test_what_a_loser_laid_by_mistake_is_left_over() -> None:
    layout, kinds = show(["1p 1p 1p", "4m 5m"])
    assert [kinds[i] for i in layout.concealed] == ["4m", "5m"]


def test_nothing_shown_is_an_empty_layout() -> None:
    assert show()[0] == HandLayout((), (), None)


@pytest.mark.parametrize(
    ("rows", "shape", "win", "count"),
    [
        ([["1m 2m 3m", "3m"]], HandShape(), True, 14),
        ([["1m 1m 1m 1m"], ["1s", "1s"]], HandShape(), True, 15),
        ([["1f 2f"], ["1m 2m", "3m"]], XIAMEN, True, 19),
        ([["1m 2m 3m 4m"]], XIAMEN, False, 16),
        ([["1z 2z 3z 4z"], ["1m", "1m"]], FENGCHENG, True, 18),
        ([["5z 6z 7z"], ["1m", "1m"]], FENGCHENG, True, 17),
        ([["5z 6z 7z 7z", "1s"], ["1m", "1m"]], FENGCHENG, True, 19),
        ([["1z 2z 3z 4z 1z", "5z 6z 7z", "1s 1s", "2m 2m 2m 2m"], ["1m", "1m"]], FENGCHENG, True, 22),
        ([["3m back 3m"], ["1m", "1m"]], FENGCHENG, True, 17),
    ],
)
def test_how_many_tiles_a_whole_hand_has(
    rows: list[list[str]], shape: HandShape, win: bool, count: int
) -> None:
    layout, kinds = lay(*rows, shape=shape, win=win)
    assert expected_tiles(layout, kinds, shape, win=win) == count


suited = st.sampled_from(["2m", "9p", "5s"])
"""Alike honours need their gap: without it they could be extra tiles of a spread group."""
alike = st.sampled_from(["2m", "9p", "1z", "7z"])


def faces(unit: tuple[str, list[str]]) -> frozenset[str]:
    return frozenset(unit[1]) - {"back"}


unit = st.one_of(
    suited.map(lambda k: ("meld", [k] * 3)),
    suited.map(lambda k: ("meld", [k] * 4)),
    alike.map(lambda k: ("meld", ["back", k, k, "back"])),
    alike.map(lambda k: ("meld", [k, "back", k])),
    st.sampled_from([("meld", ["1m", "3m", "2m"]), ("meld", ["6p", "7p", "8p"])]),
    st.sampled_from([("spread", ["1z", "2z", "3z", "4z"]), ("spread", ["6z", "5z", "7z"])]),
)


@given(
    st.lists(unit, min_size=1, max_size=5, unique_by=faces), st.lists(st.booleans(), min_size=5, max_size=5)
)
@settings(max_examples=150, deadline=None)
def test_parts_are_found_whichever_gaps_were_forgotten(
    units: list[tuple[str, list[str]]], gaps: list[bool]
) -> None:
    groups: list[str] = []
    for (_, tiles), gap in zip(units, gaps, strict=False):
        if groups and not gap:
            groups[-1] += " " + " ".join(tiles)
        else:
            groups.append(" ".join(tiles))
    layout, kinds = show(groups)
    assert texts(layout.melds, kinds) == [" ".join(tiles) for part, tiles in units if part == "meld"]
    spread = [tile for part, tiles in units for tile in tiles if part == "spread"]
    assert " ".join(texts(layout.spread, kinds)).split() == spread


group = st.lists(
    st.sampled_from(["1m", "2m", "3m", "1s", "5z", "6z", "7z", "1f", "back"]), min_size=1, max_size=6
).map(" ".join)


@given(
    st.lists(st.lists(group, min_size=1, max_size=4), min_size=1, max_size=3),
    st.sampled_from([XIAMEN, FENGCHENG]),
    st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_every_tile_has_exactly_one_part(rows: list[list[str]], shape: HandShape, claimed: bool) -> None:
    layout, kinds = lay(*rows, shape=shape) if claimed else show(*rows, shape=shape)
    parts = [i for unit in (*layout.melds, *layout.spread) for i in unit]
    parts += [*layout.concealed, *layout.flowers]
    parts += [] if layout.win is None else [layout.win]
    assert sorted(parts) == list(range(len(kinds)))
    assert all(len(meld) in (3, 4) for meld in layout.melds)
