"""The eyes at a rendered table: what disturbs a zone is told, and it is read when it is fit and rests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest

from station.table.camera_worker import Eyes, SeenHand, Unfit
from station.table.zone_watch import ZoneWatch
from vision.calibration.drift import make_reference
from vision.camera import Frame, RenderCamera
from vision.fitness import assess
from vision.geometry import Calibration, default_calibration, map_points, whole_picture
from vision.hand import HandShape
from vision.readings import LOW_SCORE, Reading, TileReading
from vision.render import Arm, Bump, Glare, LaidHand, Look, Scene, Upset, render, tile_quads
from vision.render.laying import place_tiles

KINDS = ("1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1z", "1z", "3s", "4s")
SCENE = Scene(hands={0: LaidHand(concealed=KINDS, win="5s")}, light_seed=2)


LOST = Scene(hands={0: LaidHand(melds=(("2m",) * 3,), concealed=("back",) * 7)}, light_seed=2)
"""Before a player who lost: a meld, and tiles that he keeps face down."""


@cache
def taught() -> Calibration:
    exact = default_calibration()
    return replace(exact, reference=make_reference(render(Scene()), exact))


@dataclass
class TrueReader:
    """Reads what truly lies in zone 0; the ``doubted`` first readings have one doubt each.

    ``rows``: how many tiles the groups of each row have.
    """

    doubted: int = 0
    scene: Scene = SCENE
    rows: tuple[tuple[int, ...], ...] = ((13, 1),)
    reads: int = 0
    seen: list[int] = field(default_factory=list)

    def read(self, image: Any, *_: Any, **__: Any) -> Reading:
        self.reads += 1
        matrix = taught().zone("0").matrix()
        doubts = (LOW_SCORE,) if self.reads <= self.doubted else ()
        tiles = []
        for kind, quad in tile_quads(self.scene):
            corners = map_points(matrix, quad)
            (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
            tiles.append(
                TileReading(kind, 0.99, (x0, y0, x1, y1), ((kind, 0.99),), 0, () if tiles else doubts)
            )
        left = iter(range(len(tiles)))
        rows = [[tuple(islice(left, n)) for n in row] for row in self.rows]
        groups = tuple(group for row in rows for group in row)
        lie = tuple(tuple(chain(*row)) for row in rows)
        return Reading(tuple(tiles), lie, groups, not doubts, doubts, 1.0, (1280, 388))


class Ticking:
    """A camera's clock: a tenth of a second between two frames."""

    now = 100.0

    def __call__(self) -> float:
        self.now += 0.1
        return self.now


def eyes(folder: Path, film: Sequence[Upset] = (), reader: TrueReader | None = None, **more: Any) -> Eyes:
    file = folder / "scene.json"
    reader, clock = reader or TrueReader(), more.pop("clock", Ticking())
    replace(reader.scene, film=tuple(film)).save(file)
    calibration = more.pop("calibration", taught())
    return Eyes(
        lambda: RenderCamera(file, None, clock),
        lambda: reader,
        calibration,
        frozenset(KINDS) | {"5s"},
        HandShape(),
        **more,
    )


def looks(sight: Eyes, most: int = 20) -> Counter[str]:
    """What is told, look by look, until the hand is read."""
    told: Counter[str] = Counter()
    for _ in range(most):
        seen = sight.hand(0, win=True)
        if isinstance(seen, SeenHand):
            assert Counter(seen.hand.reading.kinds) == Counter([*KINDS, "5s"])
            return told
        told[seen.fitness.codes[0]] += 1
    raise AssertionError(f"never read: {told}")


def lamp() -> Upset:
    tile = next(tile for tile in place_tiles(SCENE) if tile.kind == "5m")
    return Upset(glares=(Glare(tile.x, tile.y, 8.0),))


ARM = Upset(arms=(Arm(0, 230.0, 120.0),))


def test_a_calm_hand_is_read_at_the_first_look(tmp_path: Path) -> None:
    assert looks(eyes(tmp_path)) == {}


@pytest.mark.parametrize(
    ("film", "code"),
    [
        ((ARM, ARM), "hand_in_view"),
        ((lamp(), lamp()), "glare"),
        ((Upset(bump=Bump(0.7, 10.0, 10.0)),) * 2, "camera_moved"),
        ((Upset(gain=0.12),) * 2, "too_dark"),
        ((Upset(blur=5.0),) * 2, "blurred"),
    ],
    ids=["arm", "lamp", "knock", "dark", "blur"],
)
def test_what_disturbs_a_zone_is_told_and_then_it_is_read(
    tmp_path: Path, film: tuple[Upset, ...], code: str
) -> None:
    told = looks(eyes(tmp_path, film))
    assert code in told
    assert set(told) <= {code, "moving"}


def test_tiles_that_a_loser_keeps_face_down_are_no_hand(tmp_path: Path) -> None:
    seen = eyes(tmp_path, (), TrueReader(scene=LOST, rows=((3,), (7,)))).shown(0)
    assert isinstance(seen, SeenHand)
    assert seen.hand.reading.kinds == ("2m",) * 3
    assert len(seen.hand.covered) == 7


def test_an_arm_over_a_losers_tiles_is_told_all_the_same(tmp_path: Path) -> None:
    seen = eyes(tmp_path, (ARM,) * 9, TrueReader(scene=LOST, rows=((3,), (7,)))).shown(0)
    assert isinstance(seen, Unfit)
    assert seen.fitness.codes == ("hand_in_view",)


def test_a_hand_on_its_way_is_never_read(tmp_path: Path) -> None:
    reader = TrueReader()
    film = [Upset(arms=(Arm(0, 230.0, reach),)) for reach in (30.0, 50.0, 70.0, 90.0, 110.0, 130.0)]
    sight = eyes(tmp_path, film, reader)
    for _ in range(5):
        assert isinstance(sight.hand(0, win=True), Unfit)
    assert reader.reads == 0


def test_a_person_has_it_read_as_it_is(tmp_path: Path) -> None:
    seen = eyes(tmp_path, (ARM,) * 9).hand(0, win=True, anyway=True)
    assert isinstance(seen, SeenHand)
    assert seen.taken_at > 100.0


@pytest.mark.parametrize(
    ("film", "anyway", "judged"),
    [((), False, 1), ((), True, 0), ((ARM,) * 9, False, 1)],
    ids=["calm", "anyway", "arm"],
)
def test_only_the_frame_that_could_be_read_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, film: tuple[Upset, ...], anyway: bool, judged: int
) -> None:
    asked: list[Any] = []

    def counted(view: Any, *words: Any, **more: Any) -> Any:
        asked.append(view)
        return assess(view, *words, **more)

    monkeypatch.setattr("station.table.zone_watch.assess", counted)
    eyes(tmp_path, film).hand(0, win=True, anyway=anyway)
    assert len(asked) == judged


def test_a_zone_of_which_one_moment_is_shown_again_and_again_never_rests(tmp_path: Path) -> None:
    sight = eyes(tmp_path, clock=lambda: 100.0)
    seen = sight.hand(0, win=True)
    assert isinstance(seen, Unfit)
    assert seen.fitness.codes == ("moving",)


def test_what_a_table_ignores_does_not_keep_it_from_reading(tmp_path: Path) -> None:
    assert looks(eyes(tmp_path, (ARM,) * 9, ignored=("hand_in_view",))) == {}


@pytest.mark.parametrize(("doubted", "reads", "accepted"), [(0, 1, True), (1, 3, True), (2, 3, False)])
def test_a_reading_with_doubts_is_put_to_the_vote_of_three_frames(
    tmp_path: Path, doubted: int, reads: int, accepted: bool
) -> None:
    reader = TrueReader(doubted)
    seen = eyes(tmp_path, (), reader).hand(0, win=True)
    assert isinstance(seen, SeenHand)
    assert (reader.reads, seen.hand.reading.accept) == (reads, accepted)
    assert Counter(seen.hand.reading.kinds) == Counter([*KINDS, "5s"])


def test_whole_pictures_and_cameras_that_nobody_taught_are_not_judged(tmp_path: Path) -> None:
    assert not ZoneWatch(None).judges("0")
    assert not ZoneWatch(whole_picture((1600, 1200))).judges("0")
    assert ZoneWatch(taught()).judges("0")
    assert not ZoneWatch(taught()).judges("9")


@pytest.mark.parametrize("reach", [90.0, 140.0])
def test_a_dark_arm_over_cloth_of_its_colour_is_told_by_what_was_taught(reach: float) -> None:
    look, exact = Look((50, 70, 95)), default_calibration()
    watch = ZoneWatch(replace(exact, reference=make_reference(render(Scene(), exact, look=look), exact)))
    arm = Upset(arms=(Arm(0, -150.0, reach, 0.0, (52, 66, 100)),))
    frame = Frame(render(SCENE, exact, 1, look, arm), 5.0, "")
    empty = Reading((), (), (), True, (), 1.0, (1280, 388))
    bare = Frame(render(Scene(), exact, 2, look), 6.0, "")
    assert watch.after("0", bare, exact.rectify(bare.image, "0"), empty).fit
    assert "hand_in_view" in watch.after("0", frame, exact.rectify(frame.image, "0"), empty).codes


def test_a_tile_is_as_wide_as_the_cloth_says() -> None:
    assert ZoneWatch(taught()).tile("0") == pytest.approx(30 * 1280 / 568)
