"""Which photos go, and why: the policy of docs/evidence.md as one pure function."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, Self

import msgspec

__all__ = ["ORDER", "Photo", "Removal", "Rules", "to_remove"]

PENDING: Final = "pending"
ORDER: Final = ("indicator", "clean", "mended", "rejected")
"""What goes first when the disk is nearly full; what is not named here never goes before its time."""
WINDOW: Final = "window_over"


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """``appeal_window_s``: how long after the end of a session an appeal may come, in seconds.
    ``reserve``: bytes of the disk below which photos are thinned.
    """

    appeal_window_s: float = 24 * 3600.0
    reserve: int = 500 * 1024 * 1024

    @classmethod
    def of(cls, appeal_window_h: float, photo_reserve_mb: int) -> Self:
        """Return the rules from what configuration files say: hours and MiB."""
        return cls(appeal_window_s=3600 * appeal_window_h, reserve=photo_reserve_mb * 1024 * 1024)


class Photo(msgspec.Struct, frozen=True, kw_only=True):
    """A stored photo and what its events say.

    ``standings``: of each event that names it: ``pending`` (its claim or hand is not decided, or an appeal is
    open), ``indicator`` (of a finished hand), ``clean`` and ``mended`` (confirmed as read, or after a person
    changed it), ``rejected`` (the claim fell), ``disputed`` (ruling, penalty, correction, early opening,
    decided appeal). ``unnamed``: no event names it. ``at``: Unix seconds of the newest of them.
    ``ended_at``: when the last session that names it ended, None while one goes on. ``safe``: False while it
    is still to be sent to the central station. ``counted_s``: for how long, as far as the steady clock tells,
    the process has known that nothing about it goes on.
    """

    name: str
    size: int
    standings: frozenset[str]
    at: float
    ended_at: float | None
    safe: bool = True
    counted_s: float = math.inf


class Removal(msgspec.Struct, frozen=True):
    """A photo to delete; ``why``: ``window_over``, or ``thin.`` and the kind of what went first."""

    name: str
    why: str


def to_remove(photos: Iterable[Photo], now: float, free: int, rules: Rules) -> list[Removal]:
    """Choose what to delete.

    Args:
        photos: what is stored.
        now: Unix seconds.
        free: bytes that the disk has free.
        rules: window and reserve.

    Returns:
        first what the appeal window has left behind, then what goes for want of space: in the order of
        `ORDER`, the oldest first, no more than needed.
    """
    may_go = [photo for photo in photos if photo.safe and PENDING not in photo.standings]
    over = [photo for photo in may_go if _window_over(photo, now, rules)]
    removals = [Removal(photo.name, WINDOW) for photo in sorted(over, key=lambda p: (p.at, p.name))]
    free += sum(photo.size for photo in over)
    gone = {photo.name for photo in over}
    for why, photo in _thinned([photo for photo in may_go if photo.name not in gone]):
        if free >= rules.reserve:
            break
        removals.append(Removal(photo.name, f"thin.{why}"))
        free += photo.size
    return removals


def _window_over(photo: Photo, now: float, rules: Rules) -> bool:
    """Both clocks have to say so: the wall clock alone may be set far ahead, and would end every window."""
    by_wall = photo.ended_at is not None and now - max(photo.ended_at, photo.at) > rules.appeal_window_s
    return by_wall and photo.counted_s > rules.appeal_window_s


def _thinned(photos: list[Photo]) -> list[tuple[str, Photo]]:
    """Order what may be thinned; a photo that several events name goes when the last of them lets it."""
    ranked = []
    for photo in photos:
        if photo.standings <= frozenset(ORDER):
            rank = max((ORDER.index(standing) for standing in photo.standings), default=0)
            ranked.append((rank, photo.at, photo.name, photo))
    return [(ORDER[rank], photo) for rank, _, _, photo in sorted(ranked, key=lambda item: item[:3])]
