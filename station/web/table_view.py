"""What every page of one table shows: top bar, players, wildcard, stage, notices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.tiles import TILE_IDS
from station.web.catalogue import N_
from station.web.deal_view import clock_text, flower_clock, throw, top_view
from station.web.place_view import State, names_of, place_views
from station.web.rule_texts import RuleTexts
from station.web.sentences import DOUBTS, FITNESS, PHASES, RULINGS
from station.web.training_words import STEPS
from station.web.words import Words

CLAIM_PHASES: Final = frozenset({"claim", "verdict"})
MACHINE_WELL: Final = frozenset({"machine.ok", "machine.moving", "machine.none"})
UNANSWERED: Final = frozenset({"no_feedback", "no_reply"})
"""Why a press of a relay counts as unanswered."""
PRESS_STEPS: Final = (
    N_("Did the machine move? Then choose, and finish with the machine’s own button"),
    N_("It did not: choose, then press its own button by hand. If that works, look at the relay’s wires"),
)
NO_MACHINE: Final[Mapping[str, Any]] = {"code": "machine.none"}
MACHINE_AT_PORT: Final = MACHINE_WELL | {"machine.uid_mismatch"}
CAMERA_WELL: Final = frozenset({"camera.ok", "camera.none"})
CENTRAL_WELL: Final = frozenset({"central.up", "central.standby", "central.none", "central.off"})
DOUBTS_OF_ALL: Final = frozenset(
    {
        "no_tiles",
        "wrong_count",
        "extra_tiles",
        "cut_at_border",
        "odd_size",
        "unseen_tile",
        "stray_back",
        "indicator_changed",
        "indicator_gone",
        "indicator_moved",
    }
)
"""Doubts of a whole reading; those of a tile stand at the tile."""
MELD_SLOTS: Final = (
    ("chow", "C", N_("Chow")),
    ("pung", "P", N_("Pung")),
    ("kong", "K", N_("Exposed kong")),
    ("concealed_kong", "A", N_("Concealed kong")),
    ("shao", "H", N_("Shao")),
)
"""Melds that can be typed in: kind, letter of the notation, word."""


@dataclass(frozen=True)
class DeviceWord:
    """One device of the top bar: a word, whether it is well, and the sentence when it is not."""

    word: str
    ok: bool
    sentence: str


def clock(state: State, words: Words) -> dict[str, Any]:
    """Time left where there is a limit, else time played. ``step`` is what one second does to it."""
    times = state.get("clock") or {}
    left = times.get("remaining_s")
    if left is not None:
        step = -1 if times.get("running", True) else 0
        word = words.say("Left") if step else words.say("Clock stopped")
        return {"word": word, "seconds": left, "text": clock_text(left), "step": step}
    played = times.get("elapsed_s")
    return {"word": words.say("Played"), "seconds": played, "text": clock_text(played), "step": 1}


def health(state: State, words: Words, names: Mapping[int, str]) -> list[DeviceWord]:
    """Machine, camera and network in words. A device that a table does not have is well."""
    machine = state.get("machine") or NO_MACHINE
    camera = state.get("camera") or {"code": "camera.none"}
    central = state.get("central") or {"code": "central.none"}
    network, net_ok = words.sentence(central["code"], None, names), central["code"] in CENTRAL_WELL
    unsent = int(central.get("unsent") or 0)
    if unsent and central["code"] == "central.down":
        network = words.many("%(n)s result kept on this table", "%(n)s results kept on this table", unsent)
    photos = int((state.get("photos") or {}).get("unsent") or 0)
    if photos and not unsent and central["code"] in (*CENTRAL_WELL, "central.down"):
        network = words.many("%(n)s photo still to be sent", "%(n)s photos still to be sent", photos)
    return [
        DeviceWord(
            words.say("Machine"),
            machine["code"] in MACHINE_WELL,
            _machine_words(state, words, names),
        ),
        DeviceWord(
            words.say("Camera"),
            camera["code"] in CAMERA_WELL,
            _camera_words(camera, words, names),
        ),
        DeviceWord(words.say("Network"), net_ok, network),
    ]


def tileset(state: State, words: Words) -> dict[str, str] | None:
    """The tile set in play, for the line of the lights; None where every set is read alike."""
    known = state.get("tilesets")
    if not known:
        return None
    name = known["in_play"]
    if name is not None:
        return {"word": words.say("Set %(name)s", name=name), "sentence": words.say("Tile set in play")}
    sentence = words.say(
        "Which of the tile sets %(names)s is in play shows with the first open hand",
        names=", ".join(known["names"]),
    )
    return {"word": words.say("Set %(name)s", name="?"), "sentence": sentence}


def guidance(state: State, words: Words, names: Mapping[int, str]) -> list[str]:
    """What to do so that the waiting zone can be read: its first problem often causes the others."""
    waiting = state.get("guidance") or {}
    problems = waiting.get("problems") or []
    if not problems or waiting.get("anyway"):
        return []
    what = words.code(FITNESS, problems[0]["code"])
    claim = state.get("claim") or {}
    if waiting["place"] == claim.get("place"):
        return [what]
    return [words.say("%(name)s: %(what)s", name=names.get(waiting["place"], ""), what=what)]


def doubts_of_all(laid: Mapping[str, Any], words: Words) -> list[str]:
    """What is in doubt about all that lies before a player, as far as it stands at no tile.

    That nothing lies open before one who claims nothing is no doubt.
    """
    at_tiles = {code for tile in laid.get("tiles") or [] for code in tile.get("why") or []}
    codes = [code for code in laid.get("why") or [] if code in DOUBTS_OF_ALL - at_tiles]
    if "winner" in laid:
        codes = [code for code in codes if code != "no_tiles"]
    # A tile across the edge of the zone is none of the reading: what helps is to push it in.
    return [
        words.code(FITNESS, "outside_zone") if code == "cut_at_border" else words.code(DOUBTS, code)
        for code in codes
    ]


def _machine_words(state: State, words: Words, names: Mapping[int, str]) -> str:
    """State of the machine: of a fault at which side, else which board answers where.

    The latter is for who compares it with the table's file.
    """
    machine = state.get("machine") or NO_MACHINE
    code = machine["code"]
    told = words.sentence(code, machine.get("params"), names)
    if code == f"machine.fault.{machine.get('fault')}":
        sides = {int(p.get("side", p["place"])): names.get(p["place"], "") for p in state.get("places") or []}
        return " · ".join([told, *_fault_words(machine, words, sides)])
    if code not in MACHINE_AT_PORT or not machine.get("uid"):
        return told
    return words.say(
        "%(state)s. Board %(uid)s at %(port)s",
        state=told,
        uid=machine["uid"],
        port=machine.get("port") or "?",
    )


def _fault_words(machine: Mapping[str, Any], words: Words, sides: Mapping[int, str]) -> list[str]:
    """At whose side to look, and for how many tiles. ``sides``: side → name of the player."""
    side, tiles = machine.get("fault_side"), int(machine.get("fault_tiles") or 0)
    told = []
    if side is not None and sides.get(side):
        told.append(words.say("at the side of %(name)s", name=sides[side]))
    elif side is not None:
        told.append(words.say("side %(n)s", n=side + 1))
    if tiles:
        told.append(words.many("%(n)s tile", "%(n)s tiles", tiles))
    return told


def board_words(machine: Mapping[str, Any], words: Words) -> str:
    """Port in use and, once it told, number of the board there; empty without a port."""
    port, uid = machine.get("port"), machine.get("uid")
    if not port:
        return ""
    return (
        words.say("Board %(uid)s at %(port)s", uid=uid, port=port)
        if uid
        else words.say("Port %(port)s", port=port)
    )


def machine_steps(state: State, words: Words) -> list[str]:
    """What to do about the machine's trouble before anything is chosen."""
    if (state.get("recovery") or {}).get("why") in UNANSWERED:
        return [words.say(step) for step in PRESS_STEPS]
    code = (state.get("machine") or {}).get("code") or ""
    if code == "machine.estop":
        return [words.say(step) for step in STEPS[code]]
    # The last step is the choice itself, which the page offers as buttons.
    return [words.say(step) for step in STEPS.get(code, ())[:-1]] if code.startswith("machine.fault.") else []


def _camera_words(camera: Mapping[str, Any], words: Words, names: Mapping[int, str]) -> str:
    """State of the camera, and how old its last picture is."""
    told, age = words.sentence(camera["code"], camera.get("params"), names), camera.get("age_s")
    if age is None or camera["code"] not in CAMERA_WELL:
        return told
    return words.say("%(state)s. Last picture %(n)s s ago", state=told, n=age)


def notices(state: State, words: Words, names: Mapping[int, str], texts: RuleTexts) -> list[str]:
    """Everything a person should read now: messages of the table, obligations, devices that are not well."""
    told = guidance(state, words, names)
    told += [words.sentence(m["code"], m.get("params"), names) for m in state.get("messages") or []]
    claim = state.get("claim") or {}
    told += doubts_of_all(claim, words)
    for shown in claim.get("shown") or []:
        name = names.get(shown["place"], "")
        told += [
            words.say("%(name)s: %(what)s", name=name, what=what) for what in doubts_of_all(shown, words)
        ]
    told += [texts.reason(warning["code"]) for warning in (claim.get("verdict") or {}).get("warnings") or []]
    told += [h.sentence for h in health(state, words, names) if not h.ok and h.sentence]
    if state["phase"] == "recovery":  # the page says this in large letters already
        told = [t for t in told if t != words.sentence("machine.hold")]
    # A refusal says the same as the light, which adds a side or a board: once is enough.
    told = [t for t in told if not any(other != t and other.startswith(t) for other in told)]
    return list(dict.fromkeys(told))


def hand_number(phase: str, finished: int) -> int:
    """Number of the hand the table is at: the last one until its tiles are away, then the next."""
    return max(1, finished) if phase in ("ruled", "intake", "closed") else finished + 1


def table_name(table_id: str, words: Words) -> str:
    """``T3`` → ``3 号桌``; other names stay as they are."""
    number = table_id[1:] if table_id[:1].upper() == "T" else table_id
    return words.say("Table %(n)s", n=number) if number.isdigit() else table_id


def indicator(state: State, words: Words) -> dict[str, Any] | None:
    """Flipped tile and wildcard with their names, and whether a person should look."""
    shown = state.get("indicator")
    if not shown or not shown.get("tile"):
        return None
    score = shown.get("score")
    return {
        "tile": shown["tile"],
        "tile_name": words.tile(shown["tile"]),
        "wild": shown.get("wild") or "?",
        "wild_name": words.tile(shown.get("wild") or "?"),
        "photo": shown.get("photo"),
        "percent": percent(score),
        "mended": bool(shown.get("mended")),
        "doubt": bool(shown.get("doubt", state["phase"] == "indicator")),
    }


def percent(score: float | None) -> str:
    """``0.712`` → ``71 %``, never rounded to a certainty at either end; empty when unknown."""
    if score is None:
        return ""
    if 0 < score < 0.005:
        return "<1 %"
    return f"{min(99, int(score * 100 + 0.5)) if score < 1 else 100} %"


def last_result(state: State, words: Words, names: Mapping[int, str]) -> dict[str, Any] | None:
    """The hand booked before, in words."""
    last = state.get("last")
    if not last:
        return None
    winner = last.get("winner")
    who = names.get(winner, "") if winner is not None else ""
    title = words.code(RULINGS, last["outcome"])
    if last["outcome"] == "win" and who:
        title = words.say("%(name)s wins", name=who)
    elif who:
        title = words.say("%(ruling)s: %(name)s", ruling=title, name=who)
    return {
        "title": title,
        "outcome": last["outcome"],
        "who": who,
        "hand_no": last.get("hand_no"),
        "pay": [
            {"name": names.get(i, str(i + 1)), "delta": int(amount)}
            for i, amount in enumerate(last.get("pay") or [])
        ],
    }


def common(state: State, words: Words) -> dict[str, Any]:
    """The part that referee page and players' page share."""
    places = place_views(state, words)
    names = names_of(places)
    machine = state.get("machine") or {}
    texts = RuleTexts.of(str(state.get("ruleset") or ""), words.lang)
    return {
        "state": state,
        "phase": state["phase"],
        "phase_word": words.code(PHASES, state["phase"]),
        "table": table_name(state["table"], words),
        "hand_number": hand_number(state["phase"], int(state["hand_count"])),
        "places": places,
        "names": names,
        "dealer": next((p for p in places if p.dealer), None),
        "clock": clock(state, words),
        "health": health(state, words, names),
        "board": board_words(machine, words),
        "machine_steps": machine_steps(state, words),
        "tileset": tileset(state, words),
        "notices": notices(state, words, names, texts),
        "guidance": guidance(state, words, names),
        "indicator": indicator(state, words),
        "last": last_result(state, words, names),
        "topview": top_view(state, words, places),
        "flower_clock": flower_clock(state),
        "gold_count": (state.get("break") or {}).get("gold"),
        "throw": throw(state, words, names),
        **_tile_set(texts, words),
        "can_undo": bool(state.get("can_undo", True)),
        "locked": _holds(machine),
        "other_hand": bool(machine.get("other_hand")),
        **_attached(machine),
        "resuming": state["phase"] == "start" and int(state["hand_no"]) > int(state["hand_count"]),
        "claiming": state["phase"] in CLAIM_PHASES and bool(state.get("claim")),
    }


def _holds(machine: Mapping[str, Any]) -> bool:
    """Whether the machine keeps its intake locked for a hand; walls of the next hand are held for it."""
    held = bool(machine.get("locked")) and machine.get("hand_no") is not None
    return held and not machine.get("walls_stand")


def _attached(machine: Mapping[str, Any]) -> dict[str, bool]:
    """What people do themselves here. A state that does not say is of a machine with everything."""
    able = machine.get("capabilities")
    known = bool(machine) and able is not None
    return {
        "walls_stand": bool(machine.get("walls_stand")),
        "watched": known and "moves" not in (able or ()),
        "by_people": known and "cycles" not in (able or ()),
        "counts": not known or "counts" in (able or ()),
        "can_roll": not known or "dice" in (able or ()),
        "tells_dice": not known or "pips" in (able or ()),
    }


def _tile_set(texts: RuleTexts, words: Words) -> dict[str, Any]:
    """What the rule set's tiles and melds mean for the pages; of an unknown one, what most have."""
    data = texts.data
    kinds = {tile.id for tile in data.tile_set.kinds} if data else set(TILE_IDS)
    letters = {kind.value for kind in data.melds} if data else {"P", "K", "A"}
    gold = data is not None and data.indicator_key == "gold"
    return {
        "flowers": data is not None and any(kind.endswith("f") for kind in kinds),
        "flips": data is None or bool(data.deal.indicators),
        "gold": gold,
        "wild_word": words.say("Gold") if gold else words.say("Wild"),
        "lacking": frozenset(TILE_IDS) - kinds,
        "melds": tuple((slot, mark, words.say(word)) for slot, mark, word in MELD_SLOTS if mark in letters),
    }
