"""What a calibration file says of its own teaching: how and when, and what the camera saw then."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vision.table import TABLE_HALF

__all__ = ["EdgePoint", "Reference", "Taught"]

EdgePoint = tuple[float, float, float, float]
"""A point of a fixed edge: x, y in pixels of the reference picture, and the edge's unit normal."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The view at teaching: a small picture (PNG, grey in older files), points of edges that do not move."""

    png: bytes
    points: tuple[EdgePoint, ...]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Reference:
        """Build from ``{"image": base64, "points": [[x, y, nx, ny], …]}``; raises ValueError or KeyError."""
        try:
            png = base64.b64decode(data["image"], validate=True)
        except binascii.Error as error:
            raise ValueError(f"reference: {error}") from None
        points = tuple((float(x), float(y), float(nx), float(ny)) for x, y, nx, ny in data["points"])
        if not np.isfinite(np.asarray(points)).all():
            raise ValueError("reference: points")
        return cls(png, points)

    def to_json(self) -> dict[str, Any]:
        """Return the object of a calibration file."""
        return {"image": base64.b64encode(self.png).decode(), "points": [list(p) for p in self.points]}


@dataclass(frozen=True, slots=True)
class Taught:
    """Provenance of a calibration.

    ``how``: ``markers`` or ``taps``; ``at``: UTC time, ISO 8601; ``version``: of this program; ``cloth_mm``:
    side of the table's cloth; ``error_mm``: how far the worst marker lies from its spot; None for taps.
    """

    how: str
    at: str
    version: str
    cloth_mm: float = 2 * TABLE_HALF
    error_mm: float | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Taught:
        """Build from the object of a calibration file; raises KeyError, TypeError or ValueError."""
        error = data.get("error_mm")
        cloth = float(data.get("cloth_mm", 2 * TABLE_HALF))
        if not 0 < cloth < 10_000:
            raise ValueError("taught: cloth_mm")
        return cls(
            str(data["how"]),
            str(data["at"]),
            str(data["version"]),
            cloth,
            None if error is None else float(error),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the object of a calibration file."""
        return {
            "how": self.how,
            "at": self.at,
            "version": self.version,
            "cloth_mm": self.cloth_mm,
            "error_mm": self.error_mm,
        }
