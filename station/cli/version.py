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
    model = dict(ModelCard.load().sha256)
    hashes = {name: rulesets.load(name).hash for name in rulesets.ids()}
    hashes |= {name: rulesets.sheet(name).hash for name in rulesets.sheet_ids()}
    protocols = {"machine": BRIDGE_PROTOCOL, "link": LINK_PROTOCOL}
    facts = {"version": version("quezhuo"), "model": model, "rulesets": hashes, "protocols": protocols}
    if as_json:
        emit(facts)
    else:
        say(f"quezhuo {facts['version']}")
        for title, parts in (("recognizer", model), ("rule sets", hashes), ("protocols", protocols)):
            say(f"{title}: " + ", ".join(f"{name} {str(value)[:12]}" for name, value in parts.items()))
    return OK
