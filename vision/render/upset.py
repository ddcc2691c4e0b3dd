"""What disturbs a frame: arms over the table, lamps on tiles, a knocked camera, light, blur, stray tiles.

Lengths on the table are millimetres; lengths in the picture are pixels of one 1600 wide and grow with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from vision.errors import SceneError
from vision.render.atlas import KINDS
from vision.table import PLACES

__all__ = ["GLOVE", "SKIN", "Arm", "Bump", "Glare", "Stray", "Upset", "film_from_json", "film_to_json"]

Colour = tuple[int, int, int]
SKIN: Final[Colour] = (120, 150, 198)
GLOVE: Final[Colour] = (232, 234, 236)
"""A referee's white glove."""
MOST_FRAMES: Final = 1000


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm reaching over the edge of the table, open hand first.

    ``place``: whose edge; ``x``: where, from its middle to its player's right; ``reach``: how far the finger
    tips are from the edge; ``lean``: degrees by which it points to its player's right. ``colour``:
    BGR of the hand; ``sleeve``: BGR of what covers the arm, None for a bare one. ``height``: above the cloth.
    """

    place: int
    x: float
    reach: float
    lean: float = 0.0
    colour: Colour = SKIN
    sleeve: Colour | None = None
    height: float = 45.0

    def __post_init__(self) -> None:
        if self.place not in PLACES:
            raise SceneError(f"Places are 0 to 3, not {self.place}: correct the scene.")


@dataclass(frozen=True, slots=True)
class Glare:
    """A lamp mirrored by what lies at world ``x, y``: ``radius`` of its core, ``strength`` 0 to 1."""

    x: float
    y: float
    radius: float = 10.0
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Bump:
    """A camera that was knocked: the picture turns by degrees about its middle and shifts by pixels."""

    turn: float = 0.0
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Stray:
    """One more tile, anywhere: kind, world ``x, y``, and degrees counter-clockwise."""

    kind: str
    x: float
    y: float
    turn: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SceneError(f"There is no tile {self.kind!r}: use tile ids such as 1m or back.")


@dataclass(frozen=True, slots=True)
class Upset:
    """All that disturbs one frame. ``gain``: of its light; ``blur``: sigma; ``smear``: x and y of a motion.

    Raises SceneError for what cannot be.
    """

    arms: tuple[Arm, ...] = ()
    glares: tuple[Glare, ...] = ()
    strays: tuple[Stray, ...] = ()
    bump: Bump = Bump()
    gain: float = 1.0
    blur: float = 0.0
    smear: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if self.gain < 0 or self.blur < 0:
            raise SceneError("Light and blur of a frame are not below 0: correct the scene.")


CALM: Final = Upset()


def film_from_json(data: Sequence[Mapping[str, Any]] | None) -> tuple[Upset, ...]:
    """Build from the list ``film`` of a scene file.

    Raises SceneError, and KeyError, TypeError or ValueError for values of another shape.
    """
    frames = tuple(_upset(frame) for frame in data or ())
    if len(frames) > MOST_FRAMES:
        raise SceneError(f"A film has at most {MOST_FRAMES} frames, not {len(frames)}: correct the scene.")
    return frames


def _upset(data: Mapping[str, Any]) -> Upset:
    smear = data.get("smear", CALM.smear)
    return Upset(
        tuple(_arm(arm) for arm in data.get("arms", ())),
        tuple(Glare(**glare) for glare in data.get("glares", ())),
        tuple(Stray(**stray) for stray in data.get("strays", ())),
        Bump(**data.get("bump", {})),
        float(data.get("gain", CALM.gain)),
        float(data.get("blur", CALM.blur)),
        (float(smear[0]), float(smear[1])),
    )


def _arm(data: Mapping[str, Any]) -> Arm:
    colours = {key: _colour(data[key]) for key in ("colour", "sleeve") if data.get(key) is not None}
    return Arm(**{**data, **colours})


def _colour(data: Sequence[int]) -> Colour:
    blue, green, red = data
    return int(blue), int(green), int(red)


def film_to_json(film: Sequence[Upset]) -> list[dict[str, Any]]:
    """Return the list ``film`` of a scene file; what is as usual is left out."""
    return [_changed(upset, CALM) for upset in film]


def _changed(value: Any, usual: Any) -> dict[str, Any]:
    names = type(value).__dataclass_fields__
    return {
        name: _plain(getattr(value, name))
        for name in names
        if usual is None or getattr(value, name) != getattr(usual, name)
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Arm | Glare | Stray | Bump):
        return _changed(value, None)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
