import pytest

from vision.indicator import IndicatorState, IndicatorWatch, indicator_of, shown_tile
from vision.readings import DOUBT_CODES, Box, Reading, TileReading

BOX: Box = (40.0, 40.0, 70.0, 80.0)


def tile(kind: str, score: float = 0.99, *doubts: str, box: Box = BOX) -> TileReading:
    return TileReading(kind, score, box, ((kind, score),), 0, doubts)


def seen(*tiles: TileReading, why: tuple[str, ...] = ()) -> Reading:
    codes = {code for one in tiles for code in one.doubts} | set(why)
    row = (tuple(range(len(tiles))),) if tiles else ()
    ordered = tuple(code for code in DOUBT_CODES if code in codes)
    return Reading(tiles, row, row, not ordered, ordered, 1.0, (128, 144))


@pytest.mark.parametrize(
    ("reading", "status", "kind"),
    [
        (seen(why=("no_tiles",)), "none", None),
        (seen(tile("back")), "face_down", None),
        (seen(tile("6p")), "one", "6p"),
        (seen(tile("back"), tile("6p"), tile("back"), why=("stray_back",)), "one", "6p"),
        (seen(tile("3f"), tile("6p")), "one", "6p"),
        (seen(tile("3f")), "one", "3f"),
        (seen(tile("6p"), tile("7s")), "several", None),
        (seen(tile("6p", 0.5, "low_score")), "unsure", "6p"),
        (seen(tile("6p", 0.99, "cut_at_border")), "unsure", "6p"),
        (seen(tile("6p"), why=("unseen_tile",)), "unsure", "6p"),
        (seen(why=("no_tiles", "cut_at_border")), "unsure", None),
        (seen(tile("back", 0.9, "cut_at_border"), tile("6p")), "one", "6p"),
        (seen(tile("6p"), tile("7s", 0.4, "low_score")), "unsure", None),
        (seen(tile("3f", 0.4, "low_score"), tile("6p")), "unsure", "6p"),
    ],
    ids=[
        "nothing", "not flipped", "one", "beside a wall", "a flower passed over", "a flower", "two",
        "hardly read", "cut", "perhaps another", "across the edge",
        "beside a wall that goes on", "two, one hardly read", "perhaps no flower",
    ],
)  # fmt: skip
def test_what_lies_there(reading: Reading, status: str, kind: str | None) -> None:
    state = indicator_of(reading)
    assert (state.status, state.kind) == (status, kind)
    assert bool(state.reasons) == (status == "unsure")


@pytest.mark.parametrize("reading", [seen(), seen(tile("6p")), seen(tile("6p"), tile("7s"))])
def test_in_an_unfit_frame_nothing_is_certain(reading: Reading) -> None:
    state = indicator_of(reading, ["hand_in_view"])
    assert state.status == "unsure"
    assert state.reasons == ("hand_in_view",)


def test_the_tile_meant_is_the_open_one() -> None:
    assert shown_tile(seen(tile("back"), tile("1f"), tile("6p"))) == 2
    assert shown_tile(seen(tile("back"))) is None
    assert shown_tile(seen(tile("6p"), tile("7s"))) is None


FIRST = IndicatorState("one", "6p", 0.99, BOX)


@pytest.mark.parametrize(
    ("later", "change"),
    [
        (IndicatorState("one", "6p", 0.9, (43.0, 44.0, 73.0, 84.0)), "same"),
        (IndicatorState("one", "6p", 0.9, (70.0, 40.0, 100.0, 80.0)), "moved"),
        (IndicatorState("one", "7p", 0.9, BOX), "changed"),
        (IndicatorState("several"), "changed"),
        (IndicatorState("none"), "gone"),
        (IndicatorState("face_down"), "gone"),
        (IndicatorState("unsure", "6p", 0.5, BOX, ("low_score",)), "unsure"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.status,
)
def test_what_became_of_it(later: IndicatorState, change: str) -> None:
    watch = IndicatorWatch(FIRST)
    assert watch.change(later) == change
    assert watch.same(later) == (change == "same")


def test_what_was_not_certain_cannot_be_watched() -> None:
    assert IndicatorWatch(IndicatorState("none")).change(FIRST) == "unsure"
