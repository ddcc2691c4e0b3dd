import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.arrange import HandLayout, hand_layout


def lay(*rows: list[str]) -> tuple[HandLayout, list[str]]:
    """Read rows of groups written as ids with spaces."""
    kinds: list[str] = []
    row_runs, group_runs = [], []
    for row in rows:
        start = len(kinds)
        for group in row:
            ids = group.split()
            group_runs.append(tuple(range(len(kinds), len(kinds) + len(ids))))
            kinds += ids
        row_runs.append(tuple(range(start, len(kinds))))
    return hand_layout(tuple(row_runs), tuple(group_runs), kinds), kinds


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


group = st.lists(st.sampled_from(["1m", "2m", "3m", "5z", "1f", "back"]), min_size=1, max_size=6).map(
    " ".join
)


@given(st.lists(st.lists(group, min_size=1, max_size=4), min_size=1, max_size=3))
@settings(max_examples=80, deadline=None)
def test_every_tile_has_exactly_one_part(rows: list[list[str]]) -> None:
    layout, kinds = lay(*rows)
    parts = [i for meld in layout.melds for i in meld] + [*layout.concealed, *layout.flowers]
    parts += [] if layout.win is None else [layout.win]
    assert sorted(parts) == list(range(len(kinds)))
    assert all(len(meld) in (3, 4) for meld in layout.melds)
