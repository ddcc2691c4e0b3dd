"""The scripted table: players who play a true hand, and a referee who works the page's own calls.

The referee sees the table as a person would: the truth lies open, the screen shows what was read.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from engine.claim import Claim
from engine.notation import format_meld, format_tiles
from engine.rulesets import RuleSet
from engine.tiles import Tile
from engine.verdict import Outcome
from station.demo.client import Rejected, TableClient
from station.demo.players import LaidOpen
from station.demo.world import STYLES, Hand, shown
from station.places import Place, by_place, by_seat, place_of
from station.table.proposal import meld_of
from vision.render import LaidHand, Scene

log = structlog.get_logger()

POLL_S = 0.03
GIVE_UP_S = 10.0
"""How long the referee waits for the camera to find the flipped tile."""


@dataclass(slots=True)
class _Pending:
    """The claim being judged, and what the referee already did about it."""

    laid: LaidOpen
    truth: Claim
    declared: bool = False


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
        self._hand: Hand | None = None
        self._hand_no = 0
        self._pending: _Pending | None = None
        self._bluffs = 0
        self._shown: Scene | None = None
        self._indicator_looks = 0
        self.disagreements: list[str] = []
        """What was booked otherwise than it truly was; empty when all is right."""

    @property
    def laid_open(self) -> LaidOpen | None:
        """What truly lies open on the table for the present claim; None when nothing was claimed."""
        return self._pending.laid if self._pending is not None else None

    def lay_out(self) -> None:
        """Put an empty table in front of the camera."""
        self._show(None, None)

    async def play(self) -> None:
        """Play on until the hands are played and ruled (for ever with ``hands`` None)."""
        while True:
            state = await self._client.state()
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
        """Close the session once the machine has unlocked; say whether it is closed."""
        self._settle(state)
        if state["phase"] == "closed":
            return True
        if state["machine"] is None or not state["machine"]["locked"]:
            await self._client.post("close", {}, state["rev"])
        return False

    async def _step(self, state: dict[str, Any]) -> bool:
        match state["phase"]:
            case "start" | "ruled":
                self._settle(state)
                return self._referee and await self._client.post("start", {}, state["rev"])
            case "dice":
                self._show(None, None)
                return self._referee and await self._client.post("dice", {}, state["rev"])
            case "indicator":
                return await self._indicator(state)
            case "play":
                return await self._play_on(state)
            case "verdict":
                return self._referee and await self._judge(state)
            case "recovery":
                choice = state["recovery"]["choices"][0]
                return self._referee and await self._client.post("recovery", {"choice": choice}, state["rev"])
        return False

    # ---- the players ------------------------------------------------------------------------------

    def _dealt(self, state: dict[str, Any]) -> Hand:
        number = int(state["hand_no"])
        if self._hand is None or self._hand_no != number:
            style = STYLES[(number - 1 + 2 * self._table) % len(STYLES)]
            seed = f"{self._seed}/{self._table}/{number}"
            self._hand = Hand(self._rules, seed, style, state["dice"])
            self._hand_no = number
            self._indicator_looks = 0
            self._pending = None
        return self._hand

    async def _indicator(self, state: dict[str, Any]) -> bool:
        hand = self._dealt(state)
        machine = state["machine"]
        flipped = machine is None or machine["indicator_up"]
        self._show(hand.dealt.indicator.id if flipped else "back", None)
        self._indicator_looks += 1
        if self._referee and self._indicator_looks * POLL_S > GIVE_UP_S:
            # The camera finds no tile there: a person reads it instead.
            return await self._client.post("indicator", {"tile": hand.dealt.indicator.id}, state["rev"])
        return False

    async def _play_on(self, state: dict[str, Any]) -> bool:
        hand = self._dealt(state)
        shown_tile = state["indicator"]
        wrong = shown_tile["tile"] != hand.dealt.indicator.id
        if shown_tile["doubt"] or (wrong and self._mend):
            if not self._referee:
                return False
            tile = hand.dealt.indicator.id if self._mend else shown_tile["tile"]
            if tile not in _kinds():
                tile = hand.dealt.indicator.id
            return await self._client.post("indicator", {"tile": tile}, state["rev"])
        if self._pending is not None and self._pending.declared:
            self._turned_down(self._pending, hand, state)
        if self._pending is None:
            laid = hand.next_claim()
            if laid is None:
                return await self._exhausted(hand, state)
            self._pending = self._claim_of(hand, laid, state)
            await asyncio.sleep(self._think_s)
        return await self._declare(self._pending, state)

    def _turned_down(self, pending: _Pending, hand: Hand, state: dict[str, Any]) -> None:
        """A person rejected the claim or ruled a false win: the hand goes on without it."""
        self._compare_no_win(pending)
        place = place_of(pending.laid.seat, Place(state["dealer"]))
        if state["places"][place]["barred"]:
            hand.bar(pending.laid.seat)
        self._pending = None

    async def _exhausted(self, hand: Hand, state: dict[str, Any]) -> bool:
        """The wall is empty: the referee rules a draw; without one the players call."""
        if self._referee:
            return await self._client.post("ruling", {"kind": "draw"}, state["rev"])
        if not hand.called:
            hand.called = True
            if self._on_call is not None:
                self._on_call(self._hand_no)
            await self._client.post("call", {"place": state["dealer"]}, None)
        return False

    def _claim_of(self, hand: Hand, laid: LaidOpen, state: dict[str, Any]) -> _Pending:
        chips = by_seat([p["chips"] for p in state["places"]], Place(state["dealer"]))
        return _Pending(laid, hand.claim(laid, chips))

    async def _declare(self, pending: _Pending, state: dict[str, Any]) -> bool:
        laid, dealer = pending.laid, Place(state["dealer"])
        place = place_of(laid.seat, dealer)
        hand = self._dealt(state)
        self._show(hand.dealt.indicator.id, (place, laid))
        body: dict[str, Any] = {
            "place": place,
            "how": laid.how,
            "da": dict(laid.da),
        }
        if laid.source is not None:
            body["from"] = place_of(laid.source, dealer)
        pending.declared = await self._client.post("claim", body, state["rev"])
        return pending.declared

    def _show(self, indicator: str | None, opened: tuple[Place, LaidOpen] | None) -> None:
        """Put the table in front of the camera."""
        hands = {}
        if opened is not None:
            place, laid = opened
            groups: dict[str, list[str]] = {}
            for group, tile in shown(laid):
                groups.setdefault(group, []).append(tile.id)
            melds = tuple(tuple(tiles) for group, tiles in groups.items() if group.startswith("meld"))
            hands[int(place)] = LaidHand(melds, tuple(groups.get("concealed", [])), groups["win"][0])
        text = f"{self._seed}/{self._table}/{self._hand_no}/{indicator}/{hands}"
        light = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")
        scene = Scene(indicator=indicator, hands=hands, light_seed=light)
        if self._shown != scene:
            self._shown = scene
            scene.save(self._scene)

    # ---- the referee ------------------------------------------------------------------------------

    async def _judge(self, state: dict[str, Any]) -> bool:
        pending = self._pending
        if pending is None:
            return False
        claim = state["claim"]
        truth = shown(pending.laid)
        fix = self._correction(claim["tiles"], truth)
        if fix is not None:
            action, body = fix
            return await self._client.post(action, body, state["rev"])
        if claim["can_confirm"]:
            return await self._client.post("confirm", {}, state["rev"])
        return await self._no_win(pending, state)

    def _correction(
        self, tiles: list[dict[str, Any]], truth: list[tuple[str, Tile]]
    ) -> tuple[str, dict[str, Any]] | None:
        """Return the next thing a referee would mend or approve."""
        same_layout = [t["group"] for t in tiles] == [group for group, _ in truth]
        if self._mend and not same_layout:
            return "hand", {"line": line_of(truth)}
        for index, tile in enumerate(tiles):
            right = truth[index][1].id if same_layout else tile["kind"]
            if self._mend and tile["kind"] != right:
                return "tile", {"i": index, "kind": right}
            if tile["doubt"]:
                return "tile", {"i": index, "kind": tile["kind"]}
        return None

    async def _no_win(self, pending: _Pending, state: dict[str, Any]) -> bool:
        """Reject, or rule a false win every other time: that is the referee's to decide."""
        if "false_win" not in state["ruling_options"] or self._bluffs % 2 == 1:
            booked = await self._client.post("reject", {}, state["rev"])
        else:
            booked = await self._client.post("ruling", {"kind": "false_win"}, state["rev"])
            if booked and self._hand is not None:
                self._hand.bar(pending.laid.seat)
        if booked:
            self._bluffs += 1
            self._compare_no_win(pending)
            self._pending = None
        return booked

    # ---- comparing with the truth -----------------------------------------------------------------

    def _compare_no_win(self, pending: _Pending) -> None:
        if self._rules.check(pending.truth).outcome is Outcome.WIN:
            self.disagreements.append(f"hand {self._hand_no}: a winning claim was turned down")

    def _settle(self, state: dict[str, Any]) -> None:
        """Compare a finished hand's booking with the truth, once."""
        last, pending = state["last"], self._pending
        if last is None or last["hand_no"] != self._hand_no or self._hand is None:
            return
        if last["outcome"] == "win" and pending is not None:
            self._compare_win(pending, last)
        if self._on_hand is not None:
            self._on_hand(self._hand_no, last["outcome"])
        self._hand, self._pending = None, None

    def _compare_win(self, pending: _Pending, last: dict[str, Any]) -> None:
        verdict = self._rules.check(pending.truth)
        where = f"hand {last['hand_no']}"
        if verdict.outcome is not Outcome.WIN:
            self.disagreements.append(f"{where}: a hand that does not win was confirmed")
            return
        winner_place = last["winner"]
        dealer = Place((winner_place - pending.laid.seat) % 4)
        pay = by_place(self._rules.settle(verdict, pending.truth).pay, dealer)
        if tuple(last["pay"]) != pay or last["cls"] != verdict.cls:
            self.disagreements.append(
                f"{where}: booked {last['cls']} {last['pay']}, true {verdict.cls} {list(pay)}"
            )


def _kinds() -> frozenset[str]:
    return frozenset(tile.id for tile in Tile if tile.is_kind)


def line_of(truth: list[tuple[str, Tile]]) -> str:
    """Return a laid-open hand as a person would type it: tiles, melds, ``+`` winning tile."""
    concealed = format_tiles([tile for group, tile in truth if group == "concealed"])
    win = next(tile for group, tile in truth if group == "win")
    melds: dict[str, list[Tile]] = {}
    for group, tile in truth:
        if group.startswith("meld:"):
            melds.setdefault(group, []).append(tile)
    words = [concealed, *(format_meld(meld_of(tiles)) for tiles in melds.values()), f"+{win.id}"]
    return " ".join(words)
