"""Fixed words of the answers for referees (`engine.answers.text`), English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

from engine.verdict import Payers

LABELS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "reading": "reading",
        "alike": "{} other readings pay alike",
        "alike_one": "1 other reading pays alike",
        "for": "{} for {}",
        "wild": "wild",
        "itself": "{} as itself, {} for another tile",
        "none": "none in the hand",
        "bill": "bill",
        "due": "due",
        "seat": "seat",
        "sums": "sums",
        "warning": "warning",
        "pair": "pair",
        "pay": "pay",
        "bonus": "outside",
        "kill_three": "of it 杀三",
        "who": "who",
        "pays": "seat {} pays seat {}: {}",
        "winds": "winds",
        "options": "options",
        "default": "{} (default {})",
        "note": "note",
        "each": "each",
        "deferred": "deferred",
        "unpaid": "unpaid",
        "loans": "loans",
        "bank": "bank",
    },
    "zh": {
        "reading": "牌型",
        "alike": "另有{}种拆法得分相同",
        "alike_one": "另有1种拆法得分相同",
        "for": "{}代{}",
        "wild": "百搭",
        "itself": "{}张作本牌，{}张代其他牌",
        "none": "手中没有",
        "bill": "计分",
        "due": "应付",
        "seat": "座位",
        "sums": "合计",
        "warning": "提醒",
        "pair": "将",
        "pay": "收付",
        "bonus": "课外",
        "kill_three": "其中杀三",
        "who": "谁付谁",
        "pays": "座位{}付座位{}：{}",
        "winds": "风",
        "options": "选项",
        "default": "{}（默认 {}）",
        "note": "注意",
        "each": "每家",
        "deferred": "待结",
        "unpaid": "欠付",
        "loans": "借筹",
        "bank": "公账",
    },
}

UNITS: Mapping[str, Mapping[str, str]] = {
    "en": {"outside": "outside"},
    "zh": {
        "chips": "筹码",
        "lei": "垒",
        "water": "水",
        "times": "倍",
        "fan": "番",
        "han": "番",
        "fu": "符",
        "outside": "课外",
    },
}

PAYERS: Mapping[str, Mapping[Payers, str]] = {
    "en": {
        Payers.EACH: "each loser",
        Payers.DISCARDER: "the discarder",
        Payers.OTHERS: "each other",
        Payers.OFFENDER: "the offender",
    },
    "zh": {
        Payers.EACH: "每家付",
        Payers.DISCARDER: "放冲者付",
        Payers.OTHERS: "其余每家付",
        Payers.OFFENDER: "犯规者付",
    },
}

POLICY_PAYERS: Mapping[str, Mapping[str, Mapping[Payers, str]]] = {
    "en": {
        "bao": {
            Payers.EACH: "the discarder, for each loser",
            Payers.OTHERS: "the discarder, for each other",
        },
        "discarder": {Payers.EACH: "the discarder", Payers.OTHERS: "nobody"},
    },
    "zh": {
        "bao": {Payers.EACH: "放冲者替每家付", Payers.OTHERS: "放冲者替其余每家付"},
        "discarder": {Payers.EACH: "放冲者付", Payers.OTHERS: "无人付"},
    },
}
"""Who pays instead, on another's tile, by the option `payment` (`engine.settlement.owed_by_seat`)."""

WINDS: Mapping[str, tuple[str, ...]] = {
    "en": ("East", "South", "West", "North"),
    "zh": ("东", "南", "西", "北"),
}
"""By number from 0 = east."""
