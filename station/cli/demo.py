"""`demo`: the whole system on one machine."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from engine import rulesets
from engine.rulesets import RuleSet
from station.cli.failures import plain_failures
from station.cli.home import home_of
from station.cli.output import NO, OK, emit, note, say
from station.demo.layout import Layout, Settings, asked
from station.demo.run import run as run_demo
from station.errors import ConfigError
from station.ops import logs
from vision.model_card import ModelCard

MAX_TABLES = 16


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--tables", type=int, default=2, metavar="N", help="tables (default: 2)")
    parser.add_argument("--hands", type=int, metavar="N", help="hands a table (default: 3, or on and on)")
    parser.add_argument("--ruleset", default="zhenjiang", metavar="ID", help="rule set (default: zhenjiang)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of tiles and players")
    parser.add_argument("--auto", action="store_true", help="a scripted referee rules")
    parser.add_argument("--no-mend", action="store_true", help="the recognizer's errors are left in")
    parser.add_argument("--headless", action="store_true", help="no pages; print a summary and end")
    parser.add_argument("--speed", type=float, metavar="X", help="how much faster than real the machine runs")
    parser.add_argument("--model", metavar="FILE", help="another recognizer's card (JSON)")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; status 1 when a booked hand differs from the truth."""
    logs.set_up("demo", level="warning")
    _check(arguments)
    terminal = sys.stdout.isatty() and not arguments.json
    referee = arguments.auto or arguments.headless or not terminal
    endless = terminal and not arguments.headless
    hands = arguments.hands if arguments.hands is not None else (None if endless else 3)
    settings = Settings(
        tables=arguments.tables,
        hands=hands,
        ruleset=arguments.ruleset,
        seed=arguments.seed,
        mend=not arguments.no_mend,
        referee=referee,
        speed=arguments.speed or (20.0 if referee else 4.0),
        model=arguments.model,
    )
    home, of_all = home_of(arguments.home), "" if hands is None else f" of {hands}"
    with plain_failures():
        rules = rulesets.load(settings.ruleset)
        rules.load_libraries()
        ModelCard.load(Path(arguments.model) if arguments.model else None)
        note(f"rule set {rules.id}; settings that its rules leave open: {_open_settings(rules)}")
        for name, value in asked(rules).items():
            note(f"{name} = {value} (asked at set-up)")
        note("starting machines, tables and the central station: some ten seconds …")
        result = asyncio.run(
            run_demo(
                home,
                settings,
                pages=not arguments.headless,
                announce=lambda lay: _announce(lay, referee),
                on_hand=lambda table, hand, outcome: note(f"{table} hand {hand}{of_all}: {outcome}"),
                on_call=lambda table, hand: note(
                    f"{table} hand {hand}: the wall is empty and nobody won: hold 'drawn hand' (按住 · 黄牌)"
                ),
            )
        )
    if result is None:
        note("stopped")
        return OK
    if arguments.json:
        emit(result)
    else:
        _print(result)
    return OK if result["verdicts_agree"] else NO


def _open_settings(rules: RuleSet) -> str:
    """Return the options that the rules leave open and we chose (`quezhuo rules` has them all)."""
    specs = rulesets.option_specs(rules.id)
    chosen = [name for name, spec in specs.items() if "CHOICE" in spec.source and spec.type != "int"]
    return ", ".join(f"{name}={rules.options[name]}" for name in chosen) or "none"


def _check(arguments: argparse.Namespace) -> None:
    if not 1 <= arguments.tables <= MAX_TABLES:
        raise ConfigError(f"--tables must be from 1 to {MAX_TABLES}.", fix="Choose fewer tables.")
    if arguments.hands is not None and arguments.hands < 1:
        raise ConfigError("--hands must be at least 1.", fix="Leave it out to play on and on.")
    if arguments.speed is not None and not 0.1 <= arguments.speed <= 1000:
        raise ConfigError("--speed must be from 0.1 to 1000.", fix="Leave it out for a good value.")


def _announce(layout: Layout, referee: bool) -> None:
    for table in layout.tables:
        note(f"{table.name}: referee page {table.http}referee")
    note(f"wall page {layout.central_http}wall")
    note("a scripted referee rules" if referee else "you are the referee: open a referee page and tap start")
    note("Ctrl-C ends the demo")


SUMMARY = (
    "hands played: {hands_played} (won {wins}, drawn {draws}, void {voids})",
    "claims that did not win: {no_wins} (ruled false wins: {false_wins_ruled})",
    "tiles read: {tiles_read} (mended {tiles_mended}, doubted {tiles_doubted})",
    "hands read wrong without a doubt: {silently_wrong}",
    "indicators read: {indicators_read} (mended {indicators_mended})",
)
BESIDE = {
    "outside": "paid outside the chips",
    "loans": "borrowed",
    "carried": "net of finished stakes",
}
TABLE = "{id}: chips {chips}; bank {bank}; events {events} (arrived {central_events}), chain {chain}"


def _refusals(guidance: dict[str, int]) -> str:
    """Say how often a zone was not fit to be read and for what, the most frequent first."""
    told = sorted(guidance.items(), key=lambda item: (-item[1], item[0]))
    reasons = ", ".join(f"{code.replace('_', ' ')} {times}" for code, times in told)
    return f"{sum(guidance.values())} ({reasons})" if told else "0"


def _print(result: dict[str, Any]) -> None:
    for line in SUMMARY:
        say(line.format(**result))
    say(f"looks at hands not fit to be read: {_refusals(result['guidance'])}")
    if result["read_anyway"]:
        say(f"hands that never became fit, and were read as they were: {result['read_anyway']}")
    for table in result["tables"]:
        chips = ", ".join(str(n) for n in table["chips"].values())
        say(TABLE.format(**{**table, "chips": chips, "chain": "whole" if table["chain_ok"] else "BROKEN"}))
        for account, words in BESIDE.items():
            amounts = table[account].values()
            if any(amounts):
                say(f"{table['id']}: {words} {', '.join(map(str, amounts))}")
    for name, value in result["latency_ms"].items():
        say(f"{name.replace('_', ' ')}: p50 {value['p50']} ms, p99 {value['p99']} ms")
    for url, size in result.get("pages", {}).items():
        say(f"fetched {url}: {size} bytes")
    say(
        "every booked hand is the true one"
        if result["verdicts_agree"]
        else "BOOKED HANDS ARE NOT THE TRUE ONES:"
    )
    for text in result["disagreements"]:
        say(f"  {text}")
