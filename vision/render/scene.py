"""What lies on the table, as a value that travels as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vision.errors import SceneError
from vision.render.atlas import KINDS
from vision.render.upset import CALM, Upset, film_from_json, film_to_json
from vision.saving import replace_text
from vision.table import PLACES, WALL_STACKS

__all__ = ["LaidHand", "Scene", "Wall"]

Wall = int | tuple[int, ...]
"""What stands of a wall: how many whole stacks are left at its owner's left end, or how many tiles (0 to 2)
each stack has, from the right end to the left."""
NO_WALLS: tuple[Wall, ...] = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class LaidHand:
    """An opened hand: melds and groups of spread tiles as they lie, flowers, concealed tiles, and the winning
    tile apart (None: no tile apart).

    Players without a claim lay no winning tile; their concealed tiles are left out or lie face down.
    """

    melds: tuple[tuple[str, ...], ...] = ()
    concealed: tuple[str, ...] = ()
    win: str | None = None
    flowers: tuple[str, ...] = ()
    spread: tuple[tuple[str, ...], ...] = ()

    @property
    def upper(self) -> tuple[tuple[str, ...], ...]:
        """Groups of the upper rows: melds, spread tiles, flowers."""
        return (*self.melds, *self.spread, *((self.flowers,) if self.flowers else ()))

    @property
    def kinds(self) -> tuple[str, ...]:
        """All tiles in reading order: upper rows, concealed, winning tile."""
        upper = tuple(kind for group in self.upper for kind in group)
        return (*upper, *self.concealed, *(() if self.win is None else (self.win,)))


@dataclass(frozen=True, slots=True)
class Scene:
    """A table: the indicator (a kind, ``back`` while face down, None for none), opened hands by place,
    what stands of the walls, and the seed of light and of how the tiles happen to lie.

    ``stacks``: of a whole wall. ``turned``: place and stack (from its player's right end) on which the
    indicator lies turned up, as the gold of Xiamen does; None: it lies in the indicator's own zone.
    ``film``: what disturbs the camera's first, second, … frame of this scene; later frames are calm.
    Raises SceneError for a tile or place that does not exist.
    """

    indicator: str | None = None
    hands: Mapping[int, LaidHand] = field(default_factory=dict)
    walls: tuple[Wall, ...] = NO_WALLS
    light_seed: int = 0
    stacks: int = 17
    turned: tuple[int, int] | None = None
    film: tuple[Upset, ...] = ()

    def __post_init__(self) -> None:
        shown = () if self.indicator is None else (self.indicator,)
        for kind in (*shown, *(kind for hand in self.hands.values() for kind in hand.kinds)):
            if kind not in KINDS:
                raise SceneError(f"There is no tile {kind!r}: use tile ids such as 1m or back.")
        if not set(self.hands) <= set(PLACES):
            raise SceneError(f"Places are 0 to 3, not {sorted(self.hands)}: correct the scene.")
        if not 1 <= self.stacks <= WALL_STACKS:
            raise SceneError(f"A wall has 1 to {WALL_STACKS} stacks, not {self.stacks}: correct the scene.")
        if len(self.walls) != len(PLACES) or not all(_possible(wall, self.stacks) for wall in self.walls):
            raise SceneError(
                f"Walls are four numbers from 0 to {self.stacks}, or lists of 0, 1 and 2: correct the scene."
            )
        if self.turned is not None and not self._stands(*self.turned):
            raise SceneError(f"No stack stands at {self.turned}, where the indicator is: correct the scene.")

    def upset(self, frame: int) -> Upset:
        """Return what disturbs a frame, counted from 0 since the scene is as it is."""
        return self.film[frame] if frame < len(self.film) else CALM

    def heights(self, place: int) -> tuple[int, ...]:
        """Tiles of every stack of a wall, from its player's right end to the left."""
        wall = self.walls[place]
        if isinstance(wall, int):
            return (0,) * (self.stacks - wall) + (2,) * wall
        return wall + (0,) * (self.stacks - len(wall))

    def _stands(self, place: int, stack: int) -> bool:
        return place in PLACES and 1 <= stack <= self.stacks and self.heights(place)[stack - 1] > 0

    @classmethod
    def load(cls, path: Path) -> Scene:
        """Read a scene file; raises SceneError."""
        try:
            data = json.loads(path.read_text("utf-8"))
        except OSError as error:
            raise SceneError(f"The scene {path} cannot be read: check the camera setting.") from error
        except ValueError as error:
            raise SceneError(f"{path.name} is not a scene (JSON): correct the file.") from error
        return cls.from_json(data)

    def save(self, path: Path) -> None:
        """Write the scene file in one step, so that a camera reading it never sees half of it."""
        replace_text(path, json.dumps(self.to_json()) + "\n", durable=False)

    @classmethod
    def from_json(cls, data: Any) -> Scene:
        """Build from the object of a scene file; raises SceneError."""
        try:
            hands = {int(place): _hand(hand) for place, hand in data.get("hands", {}).items()}
            walls = tuple(_wall(wall) for wall in data.get("walls") or NO_WALLS)
            seed, stacks = int(data.get("light_seed", 0)), int(data.get("stacks", 17))
            film = film_from_json(data.get("film"))
            return cls(data.get("indicator"), hands, walls, seed, stacks, _spot(data.get("turned")), film)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise SceneError(f"The scene is not laid out as expected ({error}): correct the file.") from error

    def to_json(self) -> dict[str, Any]:
        """Return the object of a scene file."""
        hands = {
            str(place): {
                "melds": [list(meld) for meld in hand.melds],
                "concealed": list(hand.concealed),
                "win": hand.win,
                "flowers": list(hand.flowers),
                "spread": [list(group) for group in hand.spread],
            }
            for place, hand in self.hands.items()
        }
        return {
            "indicator": self.indicator,
            "hands": hands,
            "walls": [wall if isinstance(wall, int) else list(wall) for wall in self.walls],
            "light_seed": self.light_seed,
            "stacks": self.stacks,
            "turned": None if self.turned is None else list(self.turned),
            **({"film": film_to_json(self.film)} if self.film else {}),
        }


def _possible(wall: Wall, stacks: int) -> bool:
    if isinstance(wall, int):
        return 0 <= wall <= stacks
    return len(wall) <= stacks and all(0 <= height <= 2 for height in wall)


def _wall(data: Any) -> Wall:
    return tuple(int(height) for height in data) if isinstance(data, list | tuple) else int(data)


def _spot(data: Any) -> tuple[int, int] | None:
    if data is None:
        return None
    place, stack = data
    return int(place), int(stack)


def _hand(data: Mapping[str, Any]) -> LaidHand:
    return LaidHand(
        tuple(tuple(meld) for meld in data.get("melds", ())),
        tuple(data.get("concealed", ())),
        data.get("win"),
        tuple(data.get("flowers", ())),
        tuple(tuple(group) for group in data.get("spread", ())),
    )
