"""What an answer adds for a referee: what was assumed, what may have been forgotten, what would have won.

Notes never change a verdict. They are lines of plain text, English or Chinese.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.answers.words import WINDS
from engine.claim import DRAW, Claim
from engine.consistency import TILE_DEFECTS
from engine.errors import EngineError
from engine.hand import Hand
from engine.ruleset import RuleSet
from engine.settlement import Settlement
from engine.text.tiletext import format_tiles
from engine.tiles import Tile
from engine.verdict import Outcome, Payers, Verdict

WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "seat_wind": "seat {wind} (by seat={seat}, the dealer is East)",
        "seat_fact": "seat {wind} (assumed where {word}= is not given)",
        "seat_given": "seat {wind} ({word}={number})",
        "round_fact": "prevailing {wind} (assumed where {word}= is not given)",
        "round_given": "prevailing {wind} ({word}={number})",
        "winds_differ": "counted with the seat wind {wind}, but seat {seat} is {other} where seat 0, the"
        " dealer, is East; for {other} write {word}={seat}",
        "kong": "if +{tile} was the replacement tile of the kong, write {word}",
        "waits": "{tiles} would complete these tiles by self-draw; look at the winning tile again",
        "no_waits": "no tile completes these {number} tiles; look at the whole hand again",
        "stake": "seat {seat} owes {owed}, more than the {stake} chips of the stake; give chips= to limit"
        " what is paid",
        "bao": "payment=bao: the discarder pays for all, {sum} = {total}",
    },
    "zh": {
        "seat_wind": "门风{wind}（按 seat={seat}，庄家为东）",
        "seat_fact": "门风{wind}（不写 {word}= 即按此）",
        "seat_given": "门风{wind}（{word}={number}）",
        "round_fact": "圈风{wind}（不写 {word}= 即按此）",
        "round_given": "圈风{wind}（{word}={number}）",
        "winds_differ": "按门风{wind}计算，但座位0（庄家）为东时座位{seat}是{other}；"
        "若为{other}，请写 {word}={seat}",
        "kong": "如果 +{tile} 是杠后补的牌，请写 {word}",
        "waits": "自摸{tiles}可以成牌；请再看一遍所胡的牌",
        "no_waits": "这{number}张牌摸任何牌都不成；请再看一遍整手牌",
        "stake": "座位{seat}应付{owed}，超过底牌{stake}；请写 chips= 以限制付款",
        "bao": "payment=bao：放冲者一人付三家，{sum} = {total}",
    },
}


def winds_text(claim: Claim, rules: RuleSet, lang: str) -> str:
    """The winds a hand was counted with, and where each comes from; "" where winds do not count."""
    words, names = WORDS[lang], WINDS[lang]
    roles = {spec.role: spec for spec in rules.data.facts.values() if spec.role in ("seat", "round")}
    if not roles or claim.how == DRAW or claim.winner is None:
        return ""
    told = []
    if "seat" not in roles:
        told.append(words["seat_wind"].format(wind=names[claim.winner % len(names)], seat=claim.winner))
    for role in ("seat", "round"):
        if role in roles:
            spec = roles[role]
            number = rules.count(claim, spec.name)
            form = f"{role}_given" if number else f"{role}_fact"
            told.append(words[form].format(wind=names[number % len(names)], word=spec.word, number=number))
    return ("，" if lang == "zh" else ", ").join(told)


def notes(
    claim: Claim, rules: RuleSet, verdict: Verdict, settlement: Settlement | None, lang: str
) -> Iterator[str]:
    """What a referee should look at, one sentence after another. `rules` have the claim's options."""
    if verdict.outcome is Outcome.INCONSISTENT:
        return
    yield from _winds_differ(claim, rules, lang)
    yield from _kong(claim, rules, lang)
    if verdict.outcome is Outcome.NO_WIN:
        yield from _waits(claim, rules, verdict, lang)
    if settlement is not None:
        yield from _bao(claim, rules, settlement, lang)
        yield from _stake(claim, rules, settlement, lang)
        yield from _of_the_rules(claim, rules, settlement, lang)


def _winds_differ(claim: Claim, rules: RuleSet, lang: str) -> Iterator[str]:
    """A seat wind that is not the seat's own. Both are told apart, so this is never an error."""
    spec = next((spec for spec in rules.data.facts.values() if spec.role == "seat"), None)
    if spec is None or claim.how == DRAW or claim.winner is None:
        return
    number, names = rules.count(claim, spec.name), WINDS[lang]
    if number != claim.winner:
        yield WORDS[lang]["winds_differ"].format(
            wind=names[number % len(names)], seat=claim.winner, other=names[claim.winner], word=spec.word
        )


def _kong(claim: Claim, rules: RuleSet, lang: str) -> Iterator[str]:
    """A self-draw with a kong on the table may have been on its replacement tile, which pays more."""
    how, kinds = rules.how(claim), {meld.kind.value for meld in claim.melds if meld.kind.is_kong}
    if how is None or how.claimed or how.meld or how.dealer or claim.win is None or not kinds:
        return
    instead = [f"how={other.name}" for other in rules.data.hows.values() if other.meld in kinds]
    fact = rules.data.facts.get("kong")
    if fact is not None and not rules.fact(claim, fact.name):
        instead = [fact.word]
    if instead:
        either = " / " if lang == "zh" else " or "
        yield WORDS[lang]["kong"].format(tile=claim.win.id, word=either.join(instead))


def _waits(claim: Claim, rules: RuleSet, verdict: Verdict, lang: str) -> Iterator[str]:
    """What would have completed the hand: nearly always the winning tile was misread."""
    if "no_decomposition" not in verdict.problems or claim.win is None:
        return
    if not TILE_DEFECTS.isdisjoint(verdict.problems):
        return
    try:
        found = rules.waits(Hand(claim.concealed, claim.melds), claim.indicator)
    except EngineError:  # the tiles themselves cannot be judged
        return
    if found:
        between = "、" if lang == "zh" else ", "
        yield WORDS[lang]["waits"].format(tiles=between.join(_joined(found)))
    else:
        yield WORDS[lang]["no_waits"].format(number=len(claim.concealed))


def _joined(kinds: tuple[Tile, ...]) -> Iterator[str]:
    """Tiles of one suit as one word."""
    for suit in dict.fromkeys(kind.suit for kind in kinds):
        yield format_tiles(kind for kind in kinds if kind.suit == suit)


def _bao(claim: Claim, rules: RuleSet, settlement: Settlement, lang: str) -> Iterator[str]:
    """The sum that the discarder pays for all."""
    if claim.discarder is None or rules.options.get("payment") != "bao":
        return
    times = {Payers.EACH: rules.players - 1, Payers.OTHERS: rules.players - 2, Payers.DISCARDER: 1}
    parts = [(times[item.payers], item.amount) for item in settlement.items if item.payers in times]
    shown = " + ".join(f"{number}×{amount}" if number > 1 else str(amount) for number, amount in parts)
    total = sum(number * amount for number, amount in parts)
    yield WORDS[lang]["bao"].format(sum=shown, total=total)


def _stake(claim: Claim, rules: RuleSet, settlement: Settlement, lang: str) -> Iterator[str]:
    """Without the chips nobody's payment is limited, which matters where it exceeds the stake."""
    if _is_over_stake(claim, rules, settlement):
        stake, owed = rules.data.stake, -min(settlement.pay)
        seat = settlement.pay.index(-owed)
        yield WORDS[lang]["stake"].format(seat=seat, owed=owed, stake=stake)


def _is_over_stake(claim: Claim, rules: RuleSet, settlement: Settlement) -> bool:
    limited = "chips" in rules.data.keys and not rules.chips_below_zero
    return limited and claim.chips is None and 0 < rules.data.stake < -min(settlement.pay)


def _of_the_rules(claim: Claim, rules: RuleSet, settlement: Settlement, lang: str) -> Iterator[str]:
    """Sentences of the rule set's file on what follows: a stake that is over, melds without value."""
    lying = bool(claim.melds or any(entry.melds for entry in claim.shown))
    for code, is_so in (
        ("stake_is_over", "kill_three" in settlement.totals),
        ("chips_left_out", _is_over_stake(claim, rules, settlement)),
        ("draw_without_melds", claim.how == DRAW and lying),
        ("discarder_as_others", claim.discarder is not None),
    ):
        if is_so and code in rules.data.reasons:
            yield rules.data.words(code, lang)
