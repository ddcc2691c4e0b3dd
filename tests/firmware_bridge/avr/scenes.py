"""What the tests of the board do again and again."""

from firmware_bridge import profiles
from firmware_bridge.link import Timing
from firmware_bridge.messages import BoardConfig
from firmware_bridge.ops import TIMEOUT_OPS
from tests.firmware_bridge.asking import with_bridge

FAST = ("--speed", "2000")
"""Options of the harness: parts that move twenty times as fast as those of a slow machine."""

HASTE = ("--pace", "8")
HASTY = Timing(lease=60.0, ping_idle=0.25)
"""The board's clock runs eight times as fast as ours where the lease is not what is tried: a host that a busy
machine keeps waiting for seconds must not look dead to it."""

SLOW_LIFT = (*FAST, "--lift-ms", "16000")
"""Slow enough that something can happen to it on its way, on a busy machine too."""


def config(profile="136", **seconds):
    """What the bridge has the board keep: a profile's walls, and the longest times of some operations."""
    timeouts = tuple(round(seconds.get(op.name, 0) * 100) for op in TIMEOUT_OPS)
    return BoardConfig(profile, profiles.load(profile).walls, timeouts, 0)


def play(board, folder, scene, ledger="ledger.sqlite", url=None, limit=60, **kwargs):
    """Run `scene(bridge)` with a bridge to this board, within `limit` seconds."""
    return with_bridge(url or board.url, folder / ledger, scene, limit, **kwargs)
