"""The scripted table: players who play a true hand, and a referee who works the page's own calls.

The referee sees the table as a person would: the truth lies open, the screen shows what was read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog

from engine.claim import Seat
from engine.match import Match
from engine.rulesets import RuleSet
from engine.tiles import Tile
from firmware_bridge.ops import Op
from station.demo.client import Rejected, TableClient
from station.demo.judged import Key, Lie, rendered
from station.demo.laid import LaidOpen
from station.demo.referee import Patience, claim_body, correction, is_read
from station.demo.scenes import scene_of
from station.demo.truth import Books, Pending, match_of
from station.demo.world import STYLES, Hand
from station.places import Place, place_of, sides_of
from vision.render import Scene

log = structlog.get_logger()

POLL_S = 0.03
GIVE_UP_S = 10.0
"""How long the referee waits for the camera to find the flipped tile."""
QUIET_S = 0.4
"""After the last ruling: how long nothing more is booked before the session is closed."""


class Script:
    """Plays ``hands`` hands at one table and compares what is booked with the truth."""

    def __init__(
        self,
        client: TableClient,
        rules: RuleSet,
        scene: Path,
        *,
        table: int,
        hands: int | None,
        seed: int,
        mend: bool,
        referee: bool = True,
        think_s: float = 0.0,
        on_call: Callable[[int], None] | None = None,
        on_hand: Callable[[int, str], None] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._rules = rules
        self._scene = scene
        self._table = table
        self._hands = hands
        self._seed = seed
        self._mend = mend
        self._referee = referee
        self._think_s = think_s
        self._on_call = on_call
        self._on_hand = on_hand
        self._now = now
        self._hand: Hand | None = None
        self._hand_no = 0
        self._pending: Pending | None = None
        self._quiet = -1, 0.0
        """Position of the log, and since when it has been there with the machine unlocked."""
        self._bluffs = 0
        self._shown: Scene | None = None
        self._indicator_looks = 0
        self._patience = Patience()
        self._books = Books(rules)
        self.truths: dict[Key, Lie] = {}
        """What lay open at each claim, as it was rendered."""

    @property
    def disagreements(self) -> list[str]:
        """What was booked otherwise than it truly was; empty when all is right."""
        return self._books.disagreements

    @property
    def laid_open(self) -> LaidOpen | None:
        """What truly lies open on the table for the present claim; None when nothing was claimed."""
        return self._pending.laid if self._pending is not None else None

    def lay_out(self) -> None:
        """Put an empty table in front of the camera."""
        self._show(None, None, None)

    async def play(self) -> None:
        """Play on until the hands are played and ruled (for ever with ``hands`` None)."""
        while True:
            state = await self._client.state()
            self._books.compare_accounts(state)
            if self._last_ruled(state):
                if await self._ended(state):
                    return
                await asyncio.sleep(POLL_S)
                continue
            try:
                moved = await self._step(state)
            except Rejected as refusal:
                # The table saw something newer than this script did; look again.
                log.info("refused", table=self._table, error=str(refusal))
                moved = False
            if not moved:
                await asyncio.sleep(POLL_S)

    def _last_ruled(self, state: dict[str, Any]) -> bool:
        """Whether the hands are played and ruled: from here on nothing is started any more."""
        enough = self._hands is not None and state["hand_count"] >= self._hands
        return enough and state["phase"] in ("ruled", "closed")

    async def _ended(self, state: dict[str, Any]) -> bool:
        """Close the session once the machine has unlocked and that is booked; say whether it is closed."""
        self._settle(state)
        if state["phase"] == "closed":
            return True
        now = self._now()
        locked = state["machine"] is not None and state["machine"]["locked"]
        if locked or state["log_pos"] != self._quiet[0]:
            self._quiet = state["log_pos"], now
        elif state["machine"] is None or now - self._quiet[1] > QUIET_S:
            await self._client.post("close", {}, state["rev"])
        return False

    async def _step(self, state: dict[str, Any]) -> bool:
        match state["phase"]:
            case "start" | "ruled":
                self._settle(state)
                return await self._tap("start", {}, state)
            case "dice":
                self._show(None, None, None)
                return await self._tap("dice", {}, state)
            case "flowers":
                self._dealt(state)
                return await self._tap("flowers", {}, state)
            case "gold":
                self._dealt(state)
                return await self._tap("dice", {}, state)
            case "indicator":
                return await self._indicator(state)
            case "play":
                return await self._play_on(state)
            case "claim" | "verdict":
                self._note_truth(state)
                return self._referee and await self._judge(state)
            case "recovery":
                return await self._tap("recovery", {"choice": state["recovery"]["choices"][0]}, state)
        return False

    async def _tap(self, action: str, body: dict[str, Any], state: dict[str, Any]) -> bool:
        """What a referee taps; without a scripted one a person does."""
        return self._referee and await self._client.post(action, body, state["rev"])

    # ---- the players ------------------------------------------------------------------------------

    def _dealt(self, state: dict[str, Any]) -> Hand:
        number = int(state["hand_no"])
        if self._hand is None or self._hand_no != number:
            style = STYLES[(number - 1 + 2 * self._table) % len(STYLES)]
            seed = f"{self._seed}/{self._table}/{number}"
            self._hand = Hand(
                self._rules, seed, style, state["dice"], streak=state["streak"], circle=state["circle"]
            )
            self._hand_no = number
            self._indicator_looks = 0
            self._pending = None
            self._books.compare_walls(state)
        return self._hand

    async def _indicator(self, state: dict[str, Any]) -> bool:
        hand = self._dealt(state)
        if hand.indicator is None:
            hand.turn_up(state["break"]["gold"]["dice"])
        up = hand.wall.turned is not None or _is_up(state["machine"])
        self._show(state, _id(hand.indicator) if up else "back", None)
        self._indicator_looks += 1
        if self._indicator_looks * POLL_S > GIVE_UP_S:
            # The camera finds no tile there: a person reads it instead.
            return await self._tap("indicator", {"tile": _id(hand.indicator)}, state)
        return False

    async def _play_on(self, state: dict[str, Any]) -> bool:
        hand = self._dealt(state)
        if state["indicator"] is not None and not self._indicator_right(state, hand):
            tile = _id(hand.indicator) if self._mend else state["indicator"]["tile"]
            return await self._tap(
                "indicator", {"tile": tile if tile in _KINDS else _id(hand.indicator)}, state
            )
        if self._pending is not None and self._pending.declared:
            self._turned_down(self._pending, hand, state)
        if self._pending is None:
            laid = hand.next_claim()
            if laid is None:
                return await self._exhausted(hand, state)
            self._pending = self._books.pending(hand.claim(laid), laid, state)
            await asyncio.sleep(self._think_s)
        return await self._declare(self._pending, state)

    def _indicator_right(self, state: dict[str, Any], hand: Hand) -> bool:
        """Whether the turned-up tile needs nobody: no doubt, and read right, if somebody mends at all."""
        found = state["indicator"]
        return not found["doubt"] and (not self._mend or found["tile"] == _id(hand.indicator))

    def _turned_down(self, pending: Pending, hand: Hand, state: dict[str, Any]) -> None:
        """A person rejected the claim or ruled a false win: the hand goes on without it."""
        self._books.compare_no_win(pending)
        seat = pending.laid.seat
        if seat is not None and _is_out(state["places"][self._place(seat, state)]):
            hand.bar(seat)
        self._pending = None

    async def _exhausted(self, hand: Hand, state: dict[str, Any]) -> bool:
        """The wall is empty: the referee rules a draw; without one the players call."""
        if self._referee:
            return await self._draw(hand, state)
        if not hand.called:
            hand.called = True
            laid = hand.exhausted()
            if laid is not None:
                self._show(state, _id(hand.indicator), laid)
            if self._on_call is not None:
                self._on_call(self._hand_no)
            await self._client.post("call", {"place": state["dealer"]}, None)
        return False

    async def _declare(self, pending: Pending, state: dict[str, Any]) -> bool:
        self._show(state, _id(self._dealt(state).indicator), pending.laid)
        body = claim_body(self._rules, pending.laid, Place(state["dealer"]))
        pending.declared = await self._client.post("claim", body, state["rev"])
        return pending.declared

    def _show(self, state: dict[str, Any] | None, indicator: str | None, laid: LaidOpen | None) -> None:
        """Put the table in front of the camera; without a state it is empty."""
        sides = sides_of(self._rules.players) if state is None else [p["side"] for p in state["places"]]
        scene = scene_of(
            None if state is None else self._hand,
            indicator,
            laid,
            sides=sides,
            dealer=Place(0 if state is None else state["dealer"]),
            seed=f"{self._seed}/{self._table}/{self._hand_no}",
        )
        if self._shown != scene:
            self._shown = scene
            scene.save(self._scene)

    def _place(self, seat: Seat, state: dict[str, Any]) -> Place:
        return place_of(seat, Place(state["dealer"]), self._rules.players)

    def _note_truth(self, state: dict[str, Any]) -> None:
        if self._shown is not None and state["claim"] is not None:
            self.truths |= rendered(self._shown, state)

    # ---- the referee ------------------------------------------------------------------------------

    async def _draw(self, hand: Hand, state: dict[str, Any]) -> bool:
        """Rule the draw; where losers score, all lay open what counts, and it is read first."""
        laid = hand.exhausted()
        if laid is not None:
            self._pending = self._books.pending(hand.claim(laid), laid, state)
            self._pending.declared = True
            self._show(state, _id(hand.indicator), laid)
        booked = await self._client.post("ruling", {"kind": "draw"}, state["rev"])
        if booked and laid is None:
            self._books.expect(match_of(self._rules, state).draw().match)
        return booked

    async def _judge(self, state: dict[str, Any]) -> bool:
        pending, claim = self._pending, state["claim"]
        if pending is None or claim is None:
            return False
        if self._patience.is_lost(claim, state["guidance"], self._now()):
            return await self._client.post("anyway", {}, state["rev"])
        if not is_read(claim):
            return False
        dealer = Place(state["dealer"])
        fix = correction(claim, pending.laid, self._rules, dealer, mend=self._mend)
        if fix is not None:
            action, body = fix
            return await self._client.post(action, body, state["rev"])
        if claim["can_confirm"]:
            booked = await self._client.post("confirm", {}, state["rev"])
            if booked:
                self._books.expect(pending.expected.match)
            return booked
        if claim["place"] is None:
            return await self._unsettled(state)
        return await self._no_win(pending, state)

    async def _unsettled(self, state: dict[str, Any]) -> bool:
        """What lies open when the wall is exhausted can't be settled as it was read: nothing is booked."""
        booked = await self._client.post("ruling", {"kind": "void"}, state["rev"])
        if booked:
            self._books.note(state, "an exhausted wall was not settled")
            self._pending = None
        return booked

    async def _no_win(self, pending: Pending, state: dict[str, Any]) -> bool:
        """Reject, or rule a false win every other time: that is the referee's to decide."""
        seat = pending.laid.seat
        after: Match | None = None
        if seat is None or "false_win" not in state["ruling_options"] or self._bluffs % 2 == 1:
            booked = await self._client.post("reject", {}, state["rev"])
        else:
            after = match_of(self._rules, state).false_win(seat).match
            booked = await self._client.post("ruling", {"kind": "false_win"}, state["rev"])
            if booked and self._hand is not None:
                self._hand.bar(seat)
        if booked:
            self._books.expect(after)
            self._bluffs += 1
            self._books.compare_no_win(pending)
            self._pending = None
        return booked

    def _settle(self, state: dict[str, Any]) -> None:
        """Compare a finished hand's booking with the truth, once."""
        last, pending = state["last"], self._pending
        if last is None or last["hand_no"] != self._hand_no or self._hand is None:
            return
        if last["outcome"] in ("win", "draw") and pending is not None:
            self._books.compare_booking(pending, last)
        if self._on_hand is not None:
            self._on_hand(self._hand_no, last["outcome"])
        self._hand, self._pending = None, None


_KINDS = frozenset(tile.id for tile in Tile if tile.is_kind)


def _is_up(machine: dict[str, Any] | None) -> bool:
    """Whether the flipped tile shows its face, as it does while it is being flipped; a person flips at once.

    Else the table, which looks as soon as the machine is done, would look at a tile that lies face down.
    """
    return machine is None or machine["indicator_up"] or Op.FLIP_INDICATOR.name in machine["moving"]


def _is_out(place: dict[str, Any]) -> bool:
    """Whether a player can't win this hand any more."""
    return bool(place["barred"] or place["xianggong"])


def _id(tile: Tile | None) -> str | None:
    return None if tile is None else tile.id
