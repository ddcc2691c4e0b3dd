"""What a table looks at by itself: the flipped tile, the hands of a claim, and an opening during one.

Each look may be stopped anywhere: what was not booked is looked at anew.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import structlog

from engine.tiles import Tile
from station import messages as m
from station.places import Place
from station.session import Session, Stage
from station.table.camera_worker import Seen, SeenHand, Unfit
from station.table.dealing import gold_stacks
from station.table.facts import has_red_fives
from station.table.interpret import tiles_of
from station.table.photos import PhotoStoreError
from station.table.proposal import wild_of
from station.table.runtime import Table
from station.table.view import Guidance
from vision.errors import VisionError
from vision.indicator import ONE, SEVERAL, UNSURE
from vision.readings import WRONG_COUNT

__all__ = ["LOOK_AGAIN_S", "Looker"]

log = structlog.get_logger()

LOOK_AGAIN_S = 0.25
"""Pause between two looks at a zone that is not ready (no tile flipped yet, tiles missing)."""
LOOK_UNTIL_FIT_S = 0.05
"""Pause between two looks at a zone that is not fit to be read."""
HAND_LOOKS = 3
"""Frames taken of a hand whose number of tiles does not fit, before a person is shown what was read."""
TILE_APART = {"required": (True,), "optional": (True, False), "none": (False,)}
"""Whether a tile lies apart, by what the way to win says of it."""
DOUBT_BELOW = 0.7
"""An indicator read with a lower probability has to be approved by a person."""
FLIPPED_ALARMS = ("changed", "gone", "moved")
"""What may have become of the flipped tile by the time of a claim that a person has to look at."""
ZONE_NOT_TAUGHT = "photo.zone_not_taught"
"""Why an opening has no photo: without taught zones it would show what everybody holds."""


class Looker:
    """Looks with the table's camera, and books what is read. Raises VisionError, StationError."""

    def __init__(self, table: Table) -> None:
        self._table = table

    async def read_indicator(self, session: Session) -> None:
        """Look once at the flipped tile, and book it when it lies still, alone and open.

        Args:
            session: as it was when the look was decided on; nothing is booked when it has moved on.
        """
        table = self._table
        on_wall = bool(session.gold_dice)
        if table.eyes is None or not (table.eyes.sees_indicator or on_wall):
            await asyncio.sleep(LOOK_AGAIN_S)
            return
        stacks = [(table.sides[place], stack) for place, stack in gold_stacks(session, table.rules)]
        seen = await table.eyes.indicator(stacks)
        trouble = _indicator_trouble(seen)
        table.camera_trouble(trouble)
        tiles = seen.reading.tiles
        # A flower turned up is passed over: the players go on to the next tile.
        if trouble or len(tiles) != 1 or tiles[0].kind == Tile.BACK.id or Tile.of(tiles[0].kind).is_flower:
            await asyncio.sleep(LOOK_AGAIN_S)
            return
        tile = tiles[0]
        wild = wild_of(table.rules, Tile.of(tile.kind))
        photo, no_photo = await self._kept(seen.jpeg)
        body = m.IndicatorRevealed(
            hand=session.hand,
            tile=tile.kind,
            wild=wild,
            score=round(tile.score, 4),
            photo=photo,
            no_photo=no_photo,
            doubt=tile.score < DOUBT_BELOW
            or wild is None
            or (seen.state is not None and seen.state.status != ONE),
        )
        await table.book_if(lambda s: s.hand == session.hand and s.stage is Stage.DEALT, body)

    async def read_hand(self, session: Session, place: Place) -> None:
        """Look at the hand laid open before a place, and book what was read once the zone is fit.

        Args:
            session: as it was when the look was decided on, with a claim; nothing is booked when it has moved
                on.
            place: of the claim, or one whose tiles count too.
        """
        table, claim = self._table, session.claim
        assert claim is not None
        if table.eyes is None:
            await asyncio.sleep(LOOK_AGAIN_S)
            return
        claimed, waiting = place == claim.place, self._waiting(session.hand, claim.number, place)
        if claimed:
            how = table.rules.data.hows.get(claim.how)
            apart = TILE_APART["required" if how is None else how.tile]
            seen = await self._look_at_hand(place, apart, waiting.anyway)
        else:
            seen = await table.eyes.shown(table.sides[place], anyway=waiting.anyway)
        table.camera_trouble(None)
        table.frame_at = seen.taken_at or None
        if isinstance(seen, Unfit):
            await self._wait_until_fit(waiting, seen)
            return
        table.guide(None)
        flipped = [f"indicator_{seen.indicator}"] if seen.indicator in FLIPPED_ALARMS else []
        photo, no_photo = await self._kept(seen.jpeg)
        body = m.HandRead(
            hand=session.hand,
            claim=claim.number,
            place=None if claimed else place,
            photo=photo,
            no_photo=no_photo,
            size=seen.size,
            tiles=tiles_of(seen.hand, claimed=claimed, red=claimed and has_red_fives(table.rules)),
            why=[*seen.hand.reading.why, *flipped],
            expect=seen.hand.expected,
            ms=round(seen.hand.reading.ms, 1),
            waited=dict(waiting.waited),
            anyway=waiting.anyway,
        )
        await table.book_if(lambda s: _waits_for_reading(s, session.hand, claim.number, place), body)

    def _waiting(self, hand: int, claim: int, place: Place) -> Guidance:
        """What a person was told so far about the zone of a place."""
        told = self._table.guidance
        if told is not None and (told.hand, told.claim, told.place) == (hand, claim, place):
            return told
        return Guidance(hand, claim, place, ())

    async def _wait_until_fit(self, waiting: Guidance, seen: Unfit) -> None:
        """Tell what is wrong, count it, and let some time pass; a person's wish in the meantime stays."""
        table, problems = self._table, seen.fitness.problems
        counts = Counter(dict(waiting.waited)) + Counter([problems[0].code] if problems else [])
        now = self._waiting(waiting.hand, waiting.claim, waiting.place)
        table.guide(replace(waiting, problems=problems, waited=tuple(counts.items()), anyway=now.anyway))
        await asyncio.sleep(LOOK_UNTIL_FIT_S)

    async def _look_at_hand(self, place: Place, apart: tuple[bool, ...], anyway: bool) -> SeenHand | Unfit:
        """Look until the number of tiles fits the melds that lie there, a few frames at most.

        ``apart``: whether a tile apart completed the hand, the likelier answer first; ``anyway``: also where
        the zone is not fit.
        """
        eyes, side = self._table.eyes, self._table.sides[place]
        assert eyes is not None
        for look in range(HAND_LOOKS):
            if look:
                await asyncio.sleep(LOOK_AGAIN_S)
            for win in apart:
                seen = await eyes.hand(side, win=win, anyway=anyway)
                if isinstance(seen, Unfit):
                    return seen
                if seen.hand.complete:
                    return seen if win == apart[0] else _less_likely(seen)
        return seen

    async def zones_of_claim(self) -> tuple[str | None, str | None]:
        """Keep a picture of the hands that lie open as evidence, but only while a claim is pending.

        Returns:
            name of the photo, code of why there is none; both None where none is wanted.
        """
        table = self._table
        claim = table.session.claim
        if claim is None or table.eyes is None:
            return None, None
        # Of the others only who has been read lies open; the rest still hold their tiles.
        places = [p for p, laid in claim.everything.items() if p == claim.place or laid.read_at is not None]
        if not places:
            return None, None
        try:
            jpeg = await table.eyes.zones([table.sides[place] for place in places])
        except VisionError as error:
            log.warning("no photo of the opening", error=str(error))
            return None, error.code
        now = table.session.claim
        if now is None or now.number != claim.number:
            return None, None  # it fell while the camera looked: the hand goes on, and the camera sees hands
        return (None, ZONE_NOT_TAUGHT) if jpeg is None else await self._kept(jpeg)

    async def _kept(self, jpeg: bytes) -> tuple[str | None, str | None]:
        """Keep a photo; return its name, or the code of why the disk refused it: the hand goes on without.

        Whoever has the name may book it: the photo is on the disk by then. A slow card keeps only this task
        waiting, not the pages.
        """
        try:
            return await asyncio.to_thread(self._table.photos.put, jpeg), None
        except PhotoStoreError as error:
            log.warning("photo not kept", code=error.code, error=str(error))
            return None, error.code


def _less_likely(seen: SeenHand) -> SeenHand:
    """Doubt a whole hand without a tile apart: a hand with one of which a tile hides looks the same."""
    return replace(seen, hand=replace(seen.hand, reading=seen.hand.reading.doubted(WRONG_COUNT)))


def _indicator_trouble(seen: Seen) -> str | None:
    """Say what keeps the flipped tile from being read; one that is only in doubt is shown to a person."""
    state = seen.state
    if state is None or state.status not in (SEVERAL, UNSURE):
        return None
    if "moving" in state.reasons:
        return "indicator.moving"
    return None if seen.reading.tiles else f"indicator.{state.status}"


def _waits_for_reading(session: Session, hand: int, number: int, place: Place) -> bool:
    claim = session.claim
    if session.hand != hand or claim is None or claim.number != number:
        return False
    laid = claim.at_place(place)
    return laid is not None and laid.read_at is None
