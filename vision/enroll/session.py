"""An enrolment in progress: which row comes next, what is still missing, when it is done. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from vision.enroll.files import Capture
from vision.enroll.plan import Row, capture_plan
from vision.enroll.shots import Shot
from vision.enroll.tileset import Provenance, TileSet, missing_kinds
from vision.errors import TileSetError

__all__ = ["Enrolment"]


@dataclass(frozen=True, slots=True, eq=False)
class Enrolment:
    """The rows of a plan and what was captured of them."""

    plan: tuple[Row, ...]
    capture: Capture

    @classmethod
    def begin(cls, kinds: Sequence[str], model: str, shots: int) -> Enrolment:
        """Start anew. ``model``: sha256 of the classifier. Raises TileSetError."""
        plan = capture_plan(kinds, shots)
        wanted = tuple(dict.fromkeys(kind for row in plan for kind in row.kinds))
        return cls(plan, Capture(wanted, model))

    def resume(self, earlier: Capture) -> Enrolment:
        """Go on where an earlier capture ended.

        Raises TileSetError when it is of another recognizer or of other kinds.
        """
        if earlier.model != self.capture.model:
            raise TileSetError("The capture was begun with another recognizer: begin anew with `--fresh`.")
        if earlier.kinds != self.capture.kinds or any(i >= len(self.plan) for i in earlier.done):
            raise TileSetError("The capture was begun for other kinds or rows: begin anew with `--fresh`.")
        return replace(self, capture=earlier)

    @property
    def next(self) -> int | None:
        """Index of the first row of the plan that was not taken; None when all were."""
        left = (i for i in range(len(self.plan)) if i not in self.capture.done)
        return next(left, None)

    def accept(self, index: int | None, shots: Sequence[Shot]) -> Enrolment:
        """Keep the shots of one picture; ``index``: its row of the plan, None for other rows.

        A picture taken again, by its name, replaces what it showed before.
        """
        names = {shot.picture for shot in shots}
        kept = tuple(shot for shot in self.capture.shots if shot.picture not in names)
        done = self.capture.done if index is None else tuple(sorted({*self.capture.done, index}))
        return replace(self, capture=replace(self.capture, done=done, shots=kept + tuple(shots)))

    def missing(self, least: int = 1) -> dict[str, int]:
        """Kinds with fewer than ``least`` shots, and how many are still wanted."""
        return missing_kinds(self.capture.shots, self.capture.kinds, least)

    def progress(self) -> dict[str, Any]:
        """Return rows and kinds taken so far, for screens."""
        row = None if self.next is None else self.plan[self.next]
        return {
            "rows": len(self.plan),
            "done": len(self.capture.done),
            "next": None if row is None else {"kinds": list(row.kinds), "take": row.take + 1},
            "shots": len(self.capture.shots),
            "missing": list(self.missing()),
        }

    def finish(self, provenance: Provenance) -> TileSet:
        """Build the tile set; raises TileSetError where kinds are missing."""
        return TileSet.build(self.capture.shots, self.capture.kinds, provenance)
