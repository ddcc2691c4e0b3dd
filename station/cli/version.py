"""`--version`: the product, its recognizer, its rule sets, and the protocols it speaks."""

from __future__ import annotations

from importlib.metadata import version

from engine import rulesets
from firmware_bridge.messages import PROTOCOL as BRIDGE_PROTOCOL
from station.cli.output import OK, emit, say
from station.link.wire import PROTOCOL as LINK_PROTOCOL
from vision.model_card import ModelCard


def show(*, as_json: bool) -> int:
    """Print it."""
    facts = {
        "version": version("quezhuo"),
        "model": dict(ModelCard.load().sha256),
        "rulesets": {name: rulesets.load(name).hash for name in rulesets.ids()},
        "protocols": {"machine": BRIDGE_PROTOCOL, "link": LINK_PROTOCOL},
    }
    if as_json:
        emit(facts)
    else:
        say(f"quezhuo {facts['version']}")
    return OK
