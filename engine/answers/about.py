"""What a problem of a claim is about, as a sentence: what is missing, what has to go, what is too much.

The codes and their `about` pairs stay as they are (`engine.consistency`); only the words are made here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from re import Match

from engine.claim import Claim
from engine.ruledata import RuleData
from engine.verdict import Problem

Said = tuple[str, str]
"""English and Chinese."""

Sentence = Callable[[Match[str], RuleData, Claim], Said]


def sentence(problem: Problem, claim: Claim, data: RuleData, lang: str) -> str:
    """A plain sentence for a problem; "" where its pairs say it best."""
    text = f"{problem.code}|{'|'.join(problem.about)}"
    for pattern, say in _SENTENCES.items():
        if match := re.fullmatch(pattern, text):
            return say(match, data, claim)[lang == "zh"]
    return ""


def _missing(key: str, english: str, chinese: str) -> Sentence:
    return lambda _match, _data, _claim: (f"{key} is missing: {english}", f"缺少 {key}：{chinese}")


def _hand(match: Match[str], data: RuleData, claim: Claim) -> Said:
    have, wanted = match["have"], match["wanted"]
    beside, neben = "", ""
    if claim.melds:
        number = len(claim.melds)
        beside = f" beside {number} meld{'s' if number > 1 else ''}"
        neben = f"，另有牌组{number}副"
    how = data.hows.get(claim.how)
    plus, plus_zh = "", ""
    if how is not None and how.tile == "none":
        plus = f"; how={how.name} is written without a + tile, with the tiles before the last draw"
        plus_zh = f"；how={how.name} 不写 + 牌，写最后摸牌之前的手牌"
    return (
        f"{have} concealed tiles, {wanted} are needed{beside}, without the winning tile{plus}",
        f"暗牌{have}张，应为{wanted}张{neben}，不含所胡的牌{plus_zh}",
    )


def _without_plus(match: Match[str], _data: RuleData, _claim: Claim) -> Said:
    tile, how = match["tile"], match["how"]
    return (
        f"leave out +{tile}: how={how} is written with the tiles before the last draw",
        f"不写 +{tile}：how={how} 写最后摸牌之前的手牌",
    )


def _no_seat(match: Match[str], data: RuleData, _claim: Claim) -> Said:
    seat, last = match["seat"], data.players - 1
    return (
        f"{match['key']}={seat}: there is no seat {seat}; seats are 0 (the dealer) to {last}",
        f"{match['key']}={seat}：没有座位{seat}；座位为0（庄家）至{last}",
    )


def _chips(match: Match[str], data: RuleData, _claim: Claim) -> Said:
    return (
        f"chips= needs {data.players} numbers, one per seat, not {match['number']}",
        f"chips= 要{data.players}个数，每座位一个，不是{match['number']}个",
    )


def _needs_meld(match: Match[str], _data: RuleData, _claim: Claim) -> Said:
    return (
        f"how={match['how']} needs a meld {match['meld']}: of the winner",
        f"how={match['how']} 须写和牌者的牌组 {match['meld']}:",
    )


def _draw(match: Match[str], _data: RuleData, _claim: Claim) -> Said:
    word = match["word"]
    said = ("the hand", "手牌") if word == "hand" else (word, f" {word}")
    return f"with how=draw leave out {said[0]}", f"how=draw 时不写{said[1]}"


def _dealer(match: Match[str], _data: RuleData, _claim: Claim) -> Said:
    how, seat = match["how"], match["seat"]
    return f"how={how} is the dealer's alone: seat=0, not {seat}", f"how={how} 只有庄家：seat=0，不是{seat}"


def _own_discard(match: Match[str], _data: RuleData, _claim: Claim) -> Said:
    return (
        f"seat={match['seat']} and from={match['seat']}: nobody wins on his own discard",
        f"seat={match['seat']}、from={match['seat']}：不能和自己打出的牌",
    )


def _short(match: Match[str], _data: RuleData, _claim: Claim) -> Said:
    fan, minimum = int(match["fan"]), int(match["minimum"])
    return (
        f"{fan} of {minimum} fans, {minimum - fan} short; flowers do not help",
        f"{fan}番，起和{minimum}番，差{minimum - fan}番；花牌不计",
    )


def _obligation(match: Match[str], _data: RuleData, _claim: Claim) -> Said:
    had, gone, option = match["had"], match["gone"], match["option"]
    if match["value"] == "xianggong":
        return (
            f"{had} wildcards, {gone} discarded; the event has the hand ruled dead ({option}=xianggong)",
            f"百搭{had}张，打出{gone}张；本场比赛判相公（{option}=xianggong）",
        )
    return (
        f"{had} wildcards, {gone} discarded; nothing to do ({option}=warn)",
        f"百搭{had}张，打出{gone}张；不必处理（{option}=warn）",
    )


_SEAT_LEFT_OUT = _missing("seat=", "the winner's seat, 0 the dealer, 1 to his right", "胡牌者的座位，庄家为0")

_SENTENCES: Mapping[str, Sentence] = {
    r"contradictory_facts\|how=\w+\|from=none": _missing(
        "from=", "the seat whose tile it was", "打出这张牌的座位"
    ),
    r"contradictory_facts\|how=\w+\|seat=none": _SEAT_LEFT_OUT,
    r"contradictory_facts\|flip=none\|ruleset=\w+": _missing(
        "flip=", "the tile that was turned up", "翻开的牌"
    ),
    r"contradictory_facts\|(?P<key>seat|from)=(?P<seat>-?\d+)\|players=\d+": _no_seat,
    r"contradictory_facts\|chips=(?P<number>\d+) numbers\|players=\d+": _chips,
    r"contradictory_facts\|how=(?P<how>\w+)\|melds without (?P<meld>\w):": _needs_meld,
    r"contradictory_facts\|how=draw\|(?P<word>hand|seat=-?\d+|from=-?\d+)": _draw,
    r"contradictory_facts\|how=(?P<how>\w+)\|seat=(?P<seat>\d+)": _dealer,
    r"contradictory_facts\|seat=(?P<seat>\d+)\|from=(?P=seat)": _own_discard,
    r"tile_count\|hand=(?P<have>\d+)\|expected=(?P<wanted>\d+)": _hand,
    r"tile_count\|win=none": _missing("+", "the winning tile, like +5m", "所胡的牌，如 +5m"),
    r"tile_count\|win=(?P<tile>\w+)\|how=(?P<how>\w+)": _without_plus,
    r"below_minimum\|fan=(?P<fan>\d+)\|minimum=(?P<minimum>\d+)": _short,
    r"\w+\|wildcards=(?P<had>\d+)\|discarded=(?P<gone>\d+)\|(?P<option>\w+)=(?P<value>\w+)": _obligation,
}
"""By pattern of code and pairs, joined by bars; the first that fits."""

INSTEAD = re.compile(r"contradictory_facts|tile_count")
"""Codes whose own words the sentence replaces; to others it is added."""
