"""`config`: a commented configuration file for one of the processes."""

from __future__ import annotations

import argparse

from station.central.config import EXAMPLE as CENTRAL
from station.cli.failures import plain_failures
from station.cli.output import OK, emit, say
from station.errors import ConfigError
from station.table.config import EXAMPLE as TABLE
from station.table.example import example

MACHINE_SIM = """\
# A simulated machine, for `quezhuo machine-sim --config FILE`. Options of the command line come first.
profile = "136"
speed = 20.0                          # how much faster than real
seed = 1                              # of the dice
pty_link = "machine.pty"              # a fixed name for the pseudo-terminal
pulses = "pulses.json"                # every executed motion is counted here
# faults = "ack-lost=0.1,jam=2@build"  # the menu: quezhuo machine-sim --help
# state = "machine.json"              # keep the tiles of both sets between two runs
# record = "session.jsonl"            # take down every byte, both ways
# control = true                      # obey items of the menu on standard input
# page = 8090                         # a page to practise on, on this computer
"""
EXAMPLES = {"table": TABLE, "central": CENTRAL, "machine-sim": MACHINE_SIM}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("process", choices=sorted(EXAMPLES), help="which process")
    parser.add_argument("--ruleset", metavar="ID", help="of a table: for this rule set (default: zhenjiang)")


def run(arguments: argparse.Namespace) -> int:
    """Print it."""
    if arguments.ruleset is not None and arguments.process != "table":
        raise ConfigError("Only a table has a rule set.", fix="Leave --ruleset out.", code="usage")
    with plain_failures():
        text = EXAMPLES[arguments.process]
        if arguments.ruleset is not None:
            text = example(arguments.ruleset)
    if arguments.json:
        emit({"process": arguments.process, "toml": text})
    else:
        say(text.rstrip())
    return OK
