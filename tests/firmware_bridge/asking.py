"""A bridge to some board for the time of a scene, and commands that must be done or refused."""

import asyncio

from firmware_bridge.bridge import Bridge
from firmware_bridge.machine import Status


def with_bridge(url, ledger, scene, limit, **kwargs):
    """Run `scene(bridge)` within `limit` seconds, from when commands are taken."""

    async def whole():
        async with asyncio.timeout(limit), Bridge(url, ledger, **kwargs) as bridge:
            await bridge.wait_ready()
            return await scene(bridge)

    return asyncio.run(whole())


async def done(bridge, op, rev=None, **args):
    """The outcome of a command that succeeds."""
    outcome = await bridge.execute(op, rev=rev, **args)
    assert outcome.status is Status.DONE, outcome
    return outcome


async def clear(bridge):
    """End a stop or a fault as a person does: look, and look again where it has changed meanwhile."""
    seen = bridge.view.rev
    while (outcome := await bridge.execute("CLEAR", rev=seen)).code == "stale_state":
        seen = (await bridge.wait_for(lambda view: view.rev != seen)).rev  # noqa: B023 - awaited in this round
    assert outcome.status is Status.DONE, outcome


async def refused(bridge, op, **args):
    """Why a command is rejected."""
    outcome = await bridge.execute(op, **args)
    assert outcome.status is Status.REJECTED, outcome
    return outcome.code
