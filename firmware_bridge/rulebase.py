"""What the interlock's tables consist of."""

from __future__ import annotations

from dataclasses import dataclass

from firmware_bridge.wire.enums import Hand, HandEffect, Lane, Lid, Magazine, Op, Surface


@dataclass(frozen=True, slots=True)
class Case:
    """One combination of surface and magazine in which an operation makes sense.

    `cut` empty: the case of a machine that is not held. Otherwise: of one held in the middle of one
    of these operations. None for surfaces or magazines: any.
    """

    surfaces: frozenset[Surface] | None = None
    magazines: frozenset[Magazine] | None = None
    counts: bool = False
    cut: frozenset[Op] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions of one operation. `cases` empty: whatever lies on or beneath the table."""

    lane: Lane = Lane.NONE
    hand: Hand = Hand.KNOWN
    unlocked: bool = False
    still: bool = False
    """No motion of any lane."""
    not_during: frozenset[Op] = frozenset()
    """Motions of another lane that need the same room."""
    lid: Lid | None = None
    untaken: bool = False
    service: bool = False
    needs_hold: bool = False
    works_held: bool = False
    under_estop: bool = False
    names_rev: bool = False
    """The command must name the state's revision: with `ANY_REV` the device refuses it (STALE_STATE)."""
    cases: tuple[Case, ...] = ()

    @property
    def motion(self) -> bool:
        """Something turns or lifts: a lease is needed, a stop forbids it."""
        return self.lane is not Lane.NONE


@dataclass(frozen=True, slots=True)
class Effect:
    """What is different when an operation is done. None: unchanged.

    `lock_first`: locked already when the motion begins, so that a cut leaves it on the safe side.
    """

    surface: Surface | None = None
    magazine: Magazine | None = None
    lid: Lid | None = None
    locked: bool | None = None
    hand: HandEffect = HandEffect.KEEP
    lock_first: bool = False
    magazine_leaves: bool = False
    """The built set leaves the magazine: LOADED if another waits in the drum, else EMPTY."""
    tiles_in: bool = False
    """Tiles taken in lie loose in the drum: an EMPTY magazine becomes LOADED."""
