"""What a simulated machine keeps between two runs, as JSON: its tiles, commands, configuration and number."""

from __future__ import annotations

from typing import Any

from firmware_bridge.errors import MessageError, UsageError
from firmware_bridge.messages import BoardConfig
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.plant import Plant
from firmware_bridge.sim.records import Memory


def saved(device: Device) -> dict[str, Any]:
    """All of it, now."""
    memory = device.memory
    return {
        "plant": device.plant.to_json(),
        "last_id": memory.last_id,
        "running": list(memory.running),
        "config": memory.config.to_bytes().hex() if memory.config else None,
        "uid": f"{device.uid:016x}",
    }


def restored(known: dict[str, Any], plant: Plant) -> tuple[Memory, int]:
    """Put the tiles back into `plant`; what the board remembers, and its number.

    Raises:
        UsageError: `known` is not what `saved` made.
    """
    try:
        plant.restore(known["plant"])
        memory = Memory(int(known["last_id"]), tuple(known["running"]), config_of(known.get("config")))
        return memory, int(known["uid"], 16)
    except (KeyError, TypeError, ValueError, IndexError, MessageError):
        raise UsageError("This is no state of a simulated machine.") from None


def config_of(text: str | None) -> BoardConfig | None:
    """A configuration from its bytes in hex; None or an empty text: none.

    Raises:
        ValueError: no hex. MessageError: no configuration.
    """
    return BoardConfig.from_bytes(bytes.fromhex(text)) if text else None
