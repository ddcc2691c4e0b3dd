"""A table without devices, for tests: requests in, events through the codec, one fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.claim import Seat
from engine.notation import claim_from_object, format_claim, format_tiles
from engine.rulesets import RuleSet
from station import messages as m
from station.places import Place, place_of
from station.session import Event, Session, Stage, apply
from station.table import decide
from station.table.dealing import deal_of, steps_before_play
from station.table.proposal import Proposal, propose
from station.table.view import Surroundings, state_object

LOSING = {
    "zhenjiang": "147m258p369s1357z +9m",
    "mcr": "111m258p369s1357z +9m",
    "xiamen": "147m258p369s1234567z +9m",
    "fengcheng": "1478m2589p1s1234567z +9m",
}


MACHINE = {
    "link": "up", "surface": "DEALT", "magazine": "READY", "lid": "CLOSED", "locked": True, "hand_no": 1,
    "progress": [18, 18, 18, 18], "walls": [18, 18, 18, 18], "fault": None, "hold": False, "estop": False,
    "moving": [], "indicator_up": True, "code": "machine.ok", "advisory": False,
    "capabilities": ["moves", "cycles", "counts", "deals", "dice", "pips", "indicator", "inhibit", "lid"],
}  # fmt: skip


class Booth:
    """A table without devices: requests in, events through the codec, one fold."""

    def __init__(self, rules: RuleSet, chips: list[int], names: Sequence[str] = ("A", "B", "C", "D")) -> None:
        self.rules = rules
        self.events: list[Event] = []
        self.session = Session()
        self.proposal = Proposal(())
        self.book(
            m.SessionOpened(
                table="T1",
                ruleset=rules.id,
                ruleset_hash=rules.hash,
                options={},
                players=list(names[: rules.players]),
                chips=chips,
                format="match",
            )
        )

    def book(self, *bodies: m.Body) -> None:
        for body in bodies:
            decoded = m.decode(*m.encode(body))
            event = Event(len(self.events) + 1, 100.0, decoded)
            self.events.append(event)
            self.session = apply(self.session, event)

    def do(self, action: str, **body: Any) -> None:
        self.book(*decide.DECISIONS[action](self.session, self.rules, body, None))

    def to_play(self, indicator: str | None = None) -> None:
        """Go to the play of the hand, with this tile flipped."""
        if self.session.stage in (Stage.START, Stage.RULED):
            self.book(*decide.start(self.session, self.rules, None, None))
        if self.session.stage is Stage.FLOWERS:
            self.do("flowers")
        shown = self.session.indicator.tile if self.session.indicator else None
        if self.rules.data.deal.indicators and (shown is None or indicator not in (None, shown)):
            self.do("indicator", tile=indicator or "9s")

    def place(self, seat: int) -> Place:
        return place_of(Seat(seat), self.session.dealer, self.rules.players)

    # the steps of a match

    def claim(self, obj: dict[str, Any]) -> None:
        """A claim of the vectors, tapped, typed, and confirmed if it wins."""
        self.to_play(obj.get(self.rules.data.indicator_key))
        claim = claim_from_object(obj, self.rules.id)
        assert claim.winner is not None
        facts = {
            name: obj[spec.key]
            for name, spec in self.rules.data.facts.items()
            if spec.key in obj and spec.role not in ("seat", "round", "streak")
        }
        giver = {} if claim.discarder is None else {"from": self.place(claim.discarder)}
        self.do("claim", place=self.place(claim.winner), how=claim.how, **giver, facts=facts)
        melds = [f"{meld.kind.value}:{format_tiles(meld.tiles)}" for meld in claim.melds]
        win = [] if claim.win is None else [f"+{claim.win.id}"]
        self.do("hand", line=" ".join([format_tiles(claim.concealed), *melds, *win]))
        self._show(claim.winner, obj.get("players"))
        self._confirmed()

    def draw(self, obj: dict[str, Any]) -> None:
        self.to_play()
        self.do("ruling", kind="draw")
        if self.rules.data.seat_facts:
            self._show(None, obj.get("players"))
            self._confirmed()

    def _show(self, winner: int | None, players: list[dict[str, Any]] | None) -> None:
        """What lies open before every player, where that counts."""
        if not self.rules.data.seat_facts:
            return
        for seat, player in enumerate(players or [{}] * self.rules.players):
            place = self.place(seat)
            if seat != winner:
                self.do("hand", place=place, line=" ".join(player.get("melds", ())))
            spread = player.get("spread", {})
            said = {
                name: (spread if spec.inside else player).get(spec.key)
                for name, spec in self.rules.data.seat_facts.items()
            }
            given = {name: value for name, value in said.items() if value}
            if given:
                self.do("amend", shown={str(place): given})

    def _confirmed(self) -> None:
        self.proposal = propose(self.session, self.rules)
        self.do("confirm" if self.proposal.settles else "reject")

    def false_win(self, obj: dict[str, Any]) -> None:
        wins = obj.get("youjin", [])
        self.to_play(next((win[self.rules.data.indicator_key] for win in wins), None))
        self.do("claim", place=self.place(obj["offender"]), how=self._self_drawn())
        self.do("hand", line=LOSING[self.rules.id])
        self._show(obj["offender"], None)
        self.proposal = propose(self.session, self.rules)
        lines = [format_claim(claim_from_object(win, self.rules.id), self.rules.id) for win in wins]
        self.do("ruling", kind="false_win", spoiled=lines)

    def _self_drawn(self) -> str:
        return "zimo" if "zimo" in self.rules.data.hows else "self"

    def xianggong(self, seat: int) -> None:
        self.to_play()
        self.do("penalty", place=self.place(seat), kind="xianggong")

    def redeal(self, _: object) -> None:
        self.to_play()
        self.do("ruling", kind="redeal")

    def account(self, kind: str, obj: dict[str, Any]) -> None:
        self.do("account", kind=kind, place=obj["player"], amount=obj["amount"])

    def close(self, _: object) -> None:
        if self.session.stage not in (Stage.START, Stage.RULED):
            self.do("ruling", kind="void")
        self.do("close")

    # what came out

    def standing(self) -> dict[str, Any]:
        session, places = self.session, self.session.places
        over = session.stage in (Stage.RULED, Stage.START, Stage.CLOSED)
        body = self.events[-1].body
        return {
            "dealer": session.dealer,
            "streak": session.streak,
            "circle": session.circle,
            "hand": session.match_hand,
            "chips": [place.chips for place in places],
            "outside": [place.outside for place in places],
            "deferred": [-place.deferred for place in places],
            "loans": [place.loans for place in places],
            "carried": [place.carried for place in places],
            "bank": session.bank,
            "forfeited": session.forfeited,
            "barred": [] if over else [i for i, place in enumerate(places) if place.barred],
            "dead": [] if over else [i for i, place in enumerate(places) if place.xianggong],
            "ended": session.ended,
            "unpaid": body.unpaid if isinstance(body, m.SessionClosed) else None,
            "result": [place.chips + place.carried - place.loans for place in places],
        }

    def paid(self, dealer: Place) -> dict[str, Any]:
        """What the last event paid, by seat of the hand it ended."""
        body = self.events[-1].body
        if not isinstance(body, m.Booked):
            return {}
        n = self.rules.players
        told = {"pay": body.pay, "bonus": body.outside, **body.totals}
        by_seat: dict[str, Any] = {
            name: [amounts[place_of(Seat(seat), dealer, n)] for seat in range(n)]
            for name, amounts in told.items()
        }
        verdict = body.verdict or {}
        return {**by_seat, **verdict.get("totals", {}), "cls": verdict.get("cls")}

    def deal(self, *dice: int) -> None:
        """Deal the next hand by a machine, with these dice."""
        self.book(m.CycleStarted(hand=self.session.hand + 1))
        for nth in range(0, len(dice), 2):
            self.do("dice", dice=list(dice[nth : nth + 2]))
        deal = deal_of(self.session, self.rules)
        self.book(
            m.WallDealt(
                hand=self.session.hand,
                machine_hand=1,
                thrower=deal.thrower,
                wall=deal.wall,
                stack=deal.stack,
                steps=steps_before_play(self.rules, deal.plan),
            )
        )

    def state(self, **around: Any) -> dict[str, Any]:
        """The state of the table as screens get it."""
        about = Surroundings(**{"machine": MACHINE, "now": 110.0, **around})
        return state_object(self.session, self.rules, propose(self.session, self.rules), about)
