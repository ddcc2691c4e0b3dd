"""States of tables with every rule set, as their screens get them: made by the table itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import rulesets
from station import messages as m
from tests.engine.extras import wanted
from tests.station.table.booth import MACHINE, Booth

CHIPS = {"zhenjiang": 50, "xiamen": 100, "fengcheng": 100, "mcr": 0}
NAMES = ("李明", "王芳", "张伟", "Alexander")
THREE_WALLS = {**MACHINE, "progress": [17, 17, 17, 0], "walls": [17, 17, 17, 0]}
OPTIONS: dict[str, dict[str, Any]] = {"fengcheng": {"lei_per_point": 1}, "xiamen": {"hand_size": 16}}


def booth(ruleset: str) -> Booth:
    """A table of this rule set before its first hand."""
    rules = rulesets.load(ruleset, OPTIONS.get(ruleset))
    return Booth(rules, [CHIPS[ruleset]] * rules.players, NAMES[: rules.players])


def read(
    table: Booth, text: str, place: int | None = None, doubt: int = -1, why: tuple[str, ...] = ()
) -> None:
    """The camera reads groups of tiles, written as ``group=kind kind …; …``; one tile may be in doubt.

    ``why``: doubts of the whole reading.
    """
    tiles: list[m.TileRead] = []
    for part in text.split(";") if text else ():
        group, _, kinds = part.strip().partition("=")
        for kind in kinds.split():
            x = 30.0 + 44.0 * len(tiles)
            tiles.append(
                m.TileRead(
                    kind=kind,
                    score=0.62 if len(tiles) == doubt else 0.98,
                    box=(x, 40.0, x + 40, 94.0),
                    alternatives=[(kind, 0.62), ("5p", 0.3)],
                    group=group,
                    why=["low_score"] if len(tiles) == doubt else [],
                )
            )
    assert table.session.claim is not None
    number = table.session.claim.number
    body = m.HandRead(
        hand=1,
        claim=number,
        place=place,
        photo="hand.jpg",
        size=(768, 232),
        tiles=tiles,
        why=list(why),
        expect=None,
    )
    table.book(body)


def two_throws(ruleset: str = "mcr") -> dict[str, Any]:
    """The dealer has thrown; the second throw is waited for."""
    table = booth(ruleset)
    table.book(m.CycleStarted(hand=1))
    table.do("dice", dice=[6, 4])
    return table.state(machine={**MACHINE, "surface": "WALLS_UP"})


def dealing_of_three() -> dict[str, Any]:
    table = booth("fengcheng")
    table.book(m.CycleStarted(hand=1))
    table.do("dice", dice=[5, 6])
    table.do("dice", dice=[6, 6])
    return table.state(machine=THREE_WALLS)


def building_of_three() -> dict[str, Any]:
    table = booth("fengcheng")
    table.book(m.CycleStarted(hand=1))
    machine = {**THREE_WALLS, "surface": "CLEAR", "magazine": "BUILDING", "progress": [17, 12, 3, 0]}
    return table.state(machine=machine)


def flowers(elapsed: float = 7.0) -> dict[str, Any]:
    table = booth("mcr")
    table.deal(2, 3, 4, 5)
    return table.state(flowers_s=elapsed)


def gold_dice() -> dict[str, Any]:
    table = booth("xiamen")
    table.deal(2, 3, 4, 5)
    table.do("flowers")
    return table.state()


def gold_waited_for() -> dict[str, Any]:
    table = booth("xiamen")
    table.deal(2, 3, 4, 5)
    table.do("flowers")
    table.do("dice", dice=[6, 5])
    return table.state()


def gold_in_doubt() -> dict[str, Any]:
    table = booth("xiamen")
    table.deal(2, 3, 4, 5)
    table.do("flowers")
    table.do("dice", dice=[6, 5])
    table.book(m.IndicatorRevealed(hand=1, tile="5p", wild="5p", score=0.6, photo="flip.jpg", doubt=True))
    return table.state()


def play(ruleset: str) -> dict[str, Any]:
    table = booth(ruleset)
    table.to_play("5p")
    return table.state()


def xiamen_win() -> dict[str, Any]:
    table = booth("xiamen")
    table.to_play("1p")
    table.do("claim", place=1, how="zimo", facts={"gold_discarded": False})
    read(
        table,
        "concealed=1s 2s 3s 4s 5s 6s 7s 8s 9s 4m 5m 2z 2z; win=6m; meld:0=back 3m 3m back;flower=1f 2f 3f 4f",
    )
    return table.state()


def xiamen_youjin() -> dict[str, Any]:
    table = booth("xiamen")
    table.to_play("5p")
    table.do("claim", place=2, how="youjin")
    read(table, "concealed=1m 2m 3m 4m 5m 6m 7m 8m 9m 1s 2s 3s 4s 5s 6s 5p", doubt=3)
    return table.state()


def mcr_win() -> dict[str, Any]:
    table = booth("mcr")
    table.to_play()
    table.do("claim", place=3, how="self", facts={"kong": True})
    read(
        table,
        "concealed=6m 7m 8m 3p 4p 5s 5s; win=5p; meld:0=back 9s 9s back; meld:1=3m 4m 5m; flower=1f 6f 3f",
    )
    return table.state()


def mcr_below() -> dict[str, Any]:
    table = booth("mcr")
    table.to_play()
    table.do("claim", place=1, how="discard", **{"from": 0})
    read(table, "concealed=2m 3m 4m 5m 6m 7m 3p 4p 5p 6s 7s 8s 5z; win=5z")
    return table.state()


def _fengcheng() -> Booth:
    table = booth("fengcheng")
    table.to_play()
    table.do("claim", place=2, how="self")
    read(table, "concealed=1m 2m 3m 4m 5m 4m 5m 6m 7m 8m 9m 2m 2m; win=6m; meld:0=back 3z 3z back")
    return table


def fengcheng_reading() -> dict[str, Any]:
    """The winner's hand is read; of the others one is not yet, one shows two 么鸡 and a tile in doubt,
    and perhaps one tile more.
    """
    table = _fengcheng()
    text = "meld:0=6z 6z 6z; meld:1=1p 1p 1p 1p; spread:0=1s 1s; spread:1=1z 2z 3z 4z"
    read(table, text, place=1, doubt=4, why=("cut_at_border", "unseen_tile"))
    return table.state()


def fengcheng_win() -> dict[str, Any]:
    table = _fengcheng()
    read(table, "meld:0=7m back 7m; meld:1=1p 1p 1p 1p; spread:0=5z 6z 7z; spread:1=1s", place=0)
    table.do("hand", place=1, line="")
    table.do("amend", shown={"1": {"seven_less_two": True}})
    return table.state()


def fengcheng_draw() -> dict[str, Any]:
    table = booth("fengcheng")
    table.to_play()
    table.do("ruling", kind="draw")
    for place, line in ((0, "A:1111z"), (1, ""), (2, "11234z")):
        table.do("hand", place=place, line=line)
    return table.state()


def fengcheng_exhausted() -> dict[str, Any]:
    table = booth("fengcheng")
    table.to_play()
    table.do("ruling", kind="draw")
    return table.state()


def borrowed() -> dict[str, Any]:
    table = booth("fengcheng")
    table.do("account", place=1, kind="loan", amount=100)
    table.to_play()
    return table.state()


def xiamen_ruled() -> dict[str, Any]:
    table = booth("xiamen")
    table.claim({"gold": "5p", "hand": "123m456m789m123s456s5p", "how": "youjin", "winner": 2})
    return table.state(machine={**MACHINE, "locked": False})


PRESSED = {**MACHINE, "capabilities": ["moves", "dice", "lid"], "advisory": True, "magazine": "BUILDING"}
WATCHED = {**MACHINE, "capabilities": ["lid"], "advisory": True, "locked": False, "hand_no": None}


def watched_start() -> dict[str, Any]:
    return booth("zhenjiang").state(
        machine=WATCHED, port_to_use="/dev/serial/by-path/pci-0-usb-0:1:1.0-port0"
    )


def watched_play() -> dict[str, Any]:
    """A machine that is only watched was opened in mid-hand."""
    table = booth("zhenjiang")
    table.to_play("1p")
    table.book(m.IntakeOpenedEarly(hand=1, machine_hand=None))
    return table.state(machine=WATCHED)


def pressed_cycle(surface: str, lid: str) -> dict[str, Any]:
    table = booth("zhenjiang")
    table.book(m.CycleStarted(hand=1))
    locked = surface == "WALLS_UP"
    return table.state(machine={**PRESSED, "surface": surface, "lid": lid, "locked": locked})


def watched_cycle(lid: str) -> dict[str, Any]:
    table = booth("zhenjiang")
    table.book(m.CycleStarted(hand=1))
    return table.state(machine={**WATCHED, "lid": lid})


def ruled_at(machine: dict[str, Any], **around: Any) -> dict[str, Any]:
    table = booth("zhenjiang")
    table.to_play("1p")
    table.do("ruling", kind="draw")
    return table.state(machine=machine, **around)


STATES: dict[str, Callable[[], dict[str, Any]]] = {
    "two_throws": two_throws,
    "two_throws_of_three": lambda: two_throws("fengcheng"),
    "building_of_three": building_of_three,
    "dealing_of_three": dealing_of_three,
    "flowers": flowers,
    "flowers_late": lambda: flowers(26.0),
    "gold_dice": gold_dice,
    "gold_waited_for": gold_waited_for,
    "gold_in_doubt": gold_in_doubt,
    "play_xiamen": lambda: play("xiamen"),
    "play_fengcheng": lambda: play("fengcheng"),
    "play_mcr": lambda: play("mcr"),
    "xiamen_win": xiamen_win,
    "xiamen_youjin": xiamen_youjin,
    "xiamen_ruled": xiamen_ruled,
    "fengcheng_reading": fengcheng_reading,
    "fengcheng_win": fengcheng_win,
    "fengcheng_exhausted": fengcheng_exhausted,
    "fengcheng_draw": fengcheng_draw,
    "borrowed": borrowed,
    "watched_start": watched_start,
    "watched_intake": lambda: watched_cycle("OPEN"),
    "watched_dice": lambda: watched_cycle("CLOSED"),
    "watched_play": watched_play,
    "watched_ruled": lambda: ruled_at(WATCHED),
    "pressed_build": lambda: pressed_cycle("CLEAR", "CLOSED"),
    "pressed_intake": lambda: pressed_cycle("COLLECTING", "OPEN"),
    "pressed_dice": lambda: pressed_cycle("WALLS_UP", "CLOSED"),
    "pressed_walls_stand": lambda: ruled_at({**PRESSED, "surface": "WALLS_UP"}, walls_stand=True),
}
if wanted("mcr"):  # the extra counts the fans
    STATES |= {"mcr_win": mcr_win, "mcr_below": mcr_below}
