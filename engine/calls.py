"""Calls: may a player call, and who gets a tile that several call for, by which sentence of the rules.

A rule set's file lists its calls with their ranks (`RuleData.calls`); small hooks say the rest: tiles nobody
may take, passed tiles, what a tile counts as in a set. What a pung or a chow *is* stands here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from engine.claim import Seat
from engine.consistency import Defect
from engine.errors import EngineError
from engine.melds import Meld, MeldKind
from engine.ruledata import CallSpec, RuleData
from engine.tiles import Tile
from engine.verdict import Problem

MELDS = {
    "chow": MeldKind.CHOW,
    "pung": MeldKind.PUNG,
    "kong": MeldKind.KONG,
    "kong_added": MeldKind.KONG,
    "kong_concealed": MeldKind.CONCEALED_KONG,
    "shao": MeldKind.SHAO,
}
"""What a call lays down."""

OWN_TURN = frozenset({"kong_added", "kong_concealed", "shao", "discard", "spread"})
"""Calls with the player's own tiles; the others take the tile of a discarder."""

Want = tuple[Seat, str]
"""Who calls what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call and what is known about it.

    `tile` is the discarder's tile, the tile added or drawn, or the tile discarded; `own` are the tiles of the
    caller that go with it; `hand` are the concealed tiles of who discards. `passed` are kinds the caller let
    pass since his last draw, `discarded` the kinds that lie out, `shao` = the own tiles lie face down as 韶.
    `locked` = the caller may only win by self-draw in this go-round, `closed` = so may everybody (双游 of
    Xiamen is played).
    """

    kind: str
    seat: Seat
    discarder: Seat | None = None
    tile: Tile | None = None
    own: tuple[Tile, ...] = ()
    indicator: Tile | None = None
    hand: tuple[Tile, ...] = ()
    passed: tuple[Tile, ...] = ()
    discarded: tuple[Tile, ...] = ()
    shao: bool = False
    locked: bool = False
    closed: bool = False

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles that would lie in the meld."""
        return self.own if self.tile is None else (*self.own, self.tile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """Who gets a tile. `seat` and `call` are None when nobody may have it.

    `section`, `text` and `zh` are the sentence that decides; `refused` are the calls that fall away, each
    with what speaks against it.
    """

    seat: Seat | None = None
    call: str | None = None
    section: str = ""
    text: str = ""
    zh: str = ""
    refused: tuple[tuple[Want, Problem], ...] = ()


class CallRules:
    """The part of a rule set that speaks of calls."""

    data: RuleData

    def award(
        self,
        tile: Tile,
        discarder: Seat,
        wants: Sequence[Want],
        *,
        indicator: Tile | None = None,
        may_not_win: Mapping[Seat, str] = MappingProxyType({}),
    ) -> Award:
        """Say who gets a tile that others call for; the order of `wants` does not matter.

        Calls of a lower rank come first; of equal ones the nearest seat counter-clockwise from the discarder.
        A call that the rules refuse whatever the caller holds falls away, as does the win of a seat that
        `may_not_win`, for the reason named there ("xianggong", "barred").

        Raises:
            EngineError: no such seat.
        """
        refused: list[tuple[Want, Problem]] = []
        good: list[Want] = []
        for seat, kind in wants:
            call = Call(kind=kind, seat=seat, discarder=discarder, tile=tile, indicator=indicator)
            problems = [*self._claim_problems(call)]
            if kind == "win" and seat in may_not_win:
                problems.append(self._call_problem(call, (may_not_win[seat], (f"seat={seat}",))))
            if problems:
                refused.append(((seat, kind), problems[0]))
            else:
                good.append((seat, kind))
        if not good:
            return Award(refused=tuple(refused))
        seat, kind = min(good, key=lambda want: self._order(want, discarder))
        spec = self.data.calls[kind]
        return Award(
            seat=seat,
            call=kind,
            section=spec.section,
            text=spec.text,
            zh=spec.zh,
            refused=tuple(refused),
        )

    def _order(self, want: Want, discarder: Seat) -> tuple[int, int, int]:
        seat, kind = want
        listed = list(self.data.calls).index(kind)  # of two calls of one player the one listed first
        return self.data.calls[kind].rank, (seat - discarder) % self.data.players, listed

    def may_call(self, call: Call) -> tuple[Problem, ...]:
        """Everything that speaks against a call; () = it is allowed.

        Raises:
            EngineError: no such seat.
        """
        problems = list(self._claim_problems(call))
        spec = self.data.calls.get(call.kind)
        if spec is not None and not any(problem.fatal for problem in problems):
            found = (*self.refuse_call(call), *self._tile_defects(call))
            problems += [self._call_problem(call, defect) for defect in found]
        return tuple(problems)

    # what may be said without the caller's tiles

    def _claim_problems(self, call: Call) -> Iterator[Problem]:
        for name, seat in (("seat", call.seat), ("discarder", call.discarder)):
            if seat is not None and not 0 <= seat < self.data.players:
                raise EngineError(f"there is no {name} {seat}; seats are 0 to {self.data.players - 1}.")
        spec = self.data.calls.get(call.kind)
        if spec is None:
            chow = call.kind == "chow" and "chow_not_allowed" in self.data.sections
            code = "chow_not_allowed" if chow else "call_not_allowed"
            yield self._call_problem(call, (code, (f"call={call.kind}",)), fatal=True)
            return
        for about in _contradictions(call):
            yield self._call_problem(call, ("contradictory_facts", about), fatal=True)
        for defect in (*self._place_defects(call, spec), *self.refuse_tile(call)):
            yield self._call_problem(call, defect)

    def _place_defects(self, call: Call, spec: CallSpec) -> Iterator[Defect]:
        if spec.next_only and call.discarder is not None:
            following = (call.discarder + 1) % self.data.players
            if call.seat != following:
                yield "not_next_player", (f"seat={call.seat}", f"next={following}")
        if spec.suits_only and call.tile is not None:
            counted = self.face(call.tile, call.indicator)
            if not counted.is_suited:
                yield "not_suited", (call.tile.id,)

    # what the tiles say

    def _tile_defects(self, call: Call) -> Iterator[Defect]:
        copies = Counter(call.tiles)
        for tile in sorted(copies):
            if tile > Tile.BAMBOO or copies[tile] > self.data.tile_set.counts[tile]:
                yield "fifth_copy", (tile.id,)
        if call.kind in MELDS and not self.tiles_fit(call):
            yield "tiles_do_not_fit", tuple(tile.id for tile in call.tiles)
        if call.kind == "discard" and call.hand and call.tile not in call.hand:
            yield "tiles_do_not_fit", ("none" if call.tile is None else call.tile.id,)

    def tiles_fit(self, call: Call) -> bool:
        """Whether the tiles are what the call lays down, each counted as its `face`."""
        faces = tuple(self.face(tile, call.indicator) for tile in call.tiles)
        return Meld(MELDS[call.kind], faces).is_well_formed

    def _call_problem(self, call: Call, defect: Defect, *, fatal: bool = False) -> Problem:
        code, about = defect
        spec = self.data.calls.get(call.kind)
        section = self.data.sections.get(code) or (
            spec.section if spec else self.data.section("unknown_meld")
        )
        return Problem(code, section, about, fatal)

    # hooks

    def face(self, tile: Tile, indicator: Tile | None) -> Tile:  # noqa: ARG002
        """What a tile counts as in a meld: itself, or what it stands proxy for."""
        return tile

    def refuse_tile(self, call: Call) -> Iterable[Defect]:  # noqa: ARG002
        """What speaks against a call whatever the caller holds, such as a tile that nobody may take."""
        return ()

    def refuse_call(self, call: Call) -> Iterable[Defect]:  # noqa: ARG002
        """What else the rule set has against a call: own tiles, passed tiles, missing declarations."""
        return ()


def _contradictions(call: Call) -> Iterator[tuple[str, ...]]:
    said = f"call={call.kind}"
    if call.kind in OWN_TURN:
        return
    if call.discarder is None:
        yield said, "discarder=none"
    elif call.discarder == call.seat:
        yield f"seat={call.seat}", f"discarder={call.discarder}"
    if call.tile is None:
        yield said, "tile=none"
