"""What lies on the table, as a value that travels as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vision.errors import SceneError
from vision.render.atlas import KINDS
from vision.table import PLACES

__all__ = ["LaidHand", "Scene"]

STACKS = 17
"""Stacks of a full wall side."""


@dataclass(frozen=True, slots=True)
class LaidHand:
    """An opened hand: melds in groups, concealed tiles, the winning tile apart (None: no tile apart)."""

    melds: tuple[tuple[str, ...], ...] = ()
    concealed: tuple[str, ...] = ()
    win: str | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """All tiles in reading order: melds, concealed, winning tile."""
        melds = tuple(kind for meld in self.melds for kind in meld)
        return (*melds, *self.concealed, *(() if self.win is None else (self.win,)))


@dataclass(frozen=True, slots=True)
class Scene:
    """A table: the indicator (a kind, ``back`` while face down, None for none), opened hands by place,
    stacks left per wall side, and the seed of light and of how the tiles happen to lie.

    Raises SceneError for a tile or place that does not exist.
    """

    indicator: str | None = None
    hands: Mapping[int, LaidHand] = field(default_factory=dict)
    walls: tuple[int, ...] = (0, 0, 0, 0)
    light_seed: int = 0

    def __post_init__(self) -> None:
        shown = () if self.indicator is None else (self.indicator,)
        for kind in (*shown, *(kind for hand in self.hands.values() for kind in hand.kinds)):
            if kind not in KINDS:
                raise SceneError(f"There is no tile {kind!r}: use tile ids such as 1m or back.")
        if not set(self.hands) <= set(PLACES):
            raise SceneError(f"Places are 0 to 3, not {sorted(self.hands)}: correct the scene.")
        if len(self.walls) != len(PLACES) or not all(0 <= n <= STACKS for n in self.walls):
            raise SceneError(f"Walls are four numbers from 0 to {STACKS}: correct the scene.")

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
        draft = path.with_name(path.name + ".new")
        draft.write_text(json.dumps(self.to_json()) + "\n", "utf-8")
        draft.replace(path)

    @classmethod
    def from_json(cls, data: Any) -> Scene:
        """Build from the object of a scene file; raises SceneError."""
        try:
            hands = {
                int(place): LaidHand(
                    tuple(tuple(meld) for meld in hand.get("melds", ())),
                    tuple(hand.get("concealed", ())),
                    hand.get("win"),
                )
                for place, hand in data.get("hands", {}).items()
            }
            walls = tuple(int(n) for n in data.get("walls") or (0, 0, 0, 0))
            return cls(data.get("indicator"), hands, walls, int(data.get("light_seed", 0)))
        except (AttributeError, TypeError, ValueError) as error:
            raise SceneError(f"The scene is not laid out as expected ({error}): correct the file.") from error

    def to_json(self) -> dict[str, Any]:
        """Return the object of a scene file."""
        hands = {
            str(place): {
                "melds": [list(meld) for meld in hand.melds],
                "concealed": list(hand.concealed),
                "win": hand.win,
            }
            for place, hand in self.hands.items()
        }
        return {
            "indicator": self.indicator,
            "hands": hands,
            "walls": list(self.walls),
            "light_seed": self.light_seed,
        }
