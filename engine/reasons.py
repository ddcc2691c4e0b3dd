"""What reason codes mean, for people: English and Chinese. A rule set's file adds its own (`reasons`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LANGUAGES = ("en", "zh")
"""Languages in which rules speak to people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonText:
    """What a reason code means. `text` is English, `zh` Chinese; both go on after a colon."""

    text: str
    zh: str

    def in_language(self, lang: str) -> str:
        """The text in "en" or "zh"."""
        return self.zh if lang == "zh" else self.text


def _text(text: str, zh: str) -> ReasonText:
    return ReasonText(text=text, zh=zh)


COMMON: Mapping[str, ReasonText] = {
    "tile_count": _text("the number of tiles is not right", "张数不对"),
    "fifth_copy": _text("more copies of a tile than the set has", "同一种牌多于全副张数"),
    "foreign_tile": _text("a tile that these rules do not use", "本规则不用的牌"),
    "unknown_tile": _text("a tile that was not recognized or lies face down", "有牌未识别或未翻开"),
    "unknown_meld": _text("a meld that these rules do not know", "本规则没有的吃碰杠牌组"),
    "chow_not_allowed": _text("these rules have no chow", "本规则不可吃牌"),
    "contradictory_facts": _text("these cannot both be", "互相矛盾"),
    "xianggong": _text("the hand is dead and may not win", "相公不得胡牌"),
    "barred": _text("the player made a false win and may not win this hand", "诈胡者本局不得胡牌"),
    "no_decomposition": _text("the tiles do not make sets and a pair", "不能组成全部面子和将牌"),
    "rob_kong_not_allowed": _text("this kong may not be robbed", "此杠不可抢"),
    "ron_with_wild_substitution": _text(
        "a win on another's tile may not use a wildcard for another tile", "胡别人的牌，百搭不得代替其他牌"
    ),
    "gold_in_hand_no_discard_win": _text("with a gold in hand no win on a discard", "手中有金不能平和"),
    "gold_discard_not_claimable": _text("nobody may take a discarded gold", "打出的金不能吃碰杠和"),
    "not_any_tile_wait": _text("not every tile would have completed the hand", "不是任何牌都能和的听牌"),
    "not_three_gold": _text("the hand does not hold three golds", "手中不足三张金"),
    "below_minimum": _text("the hand has too few fans to win", "不够起和番"),
    "call_not_allowed": _text("these rules do not have this call", "本规则没有这种叫牌"),
    "not_next_player": _text("only the player after the discarder may call this", "只有下家可以吃"),
    "not_suited": _text("only suited tiles", "只限序数牌"),
    "tiles_do_not_fit": _text("these tiles do not make what was called", "这些牌凑不成所叫的牌组"),
    "draw": _text("the wall is exhausted", "牌墙抓完"),
}
"""Codes of the engine itself, and those that several rule sets have."""
