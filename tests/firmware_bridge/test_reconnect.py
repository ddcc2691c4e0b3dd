"""Finding one's own machine again: names that last, and the board's number where names prove nothing."""

import asyncio

import pytest

from firmware_bridge import port_round
from firmware_bridge.bridge import Bridge
from firmware_bridge.discovery import Targets, lasting, targets
from firmware_bridge.discovery_linux import collect
from firmware_bridge.errors import PortAmbiguousError, PortMissingError
from firmware_bridge.machine import LinkState, Status
from firmware_bridge.machines import (
    NativeSettings,
    ObserveSettings,
    open_machine,
    probe,
    with_lasting_port,
)
from tests.firmware_bridge.pty_board import PtyBoard, point
from tests.firmware_bridge.test_discovery import BY_ID, LOW, TOP, Tree

MINE, OTHER = 0x51, 0x52
UID = f"{MINE:016x}"


def plugged(uid):
    """A board with this number at a port of its own."""
    board = PtyBoard(uid)
    board.plug()
    return board


class Ports:
    """Names in a folder, as /dev/serial/by-path has them: the first is the configured one."""

    def __init__(self, folder):
        self.names = [folder / name for name in ("first", "second")]
        self.uid_known = True

    def point(self, *boards):
        for name, board in zip(self.names, boards, strict=True):
            name.unlink(missing_ok=True)
            if board is not None:
                point(name, board.tty)

    def targets(self):
        names = self.names if self.uid_known else self.names[:1]
        return Targets(tuple(str(name) for name in names))


def play(folder, scene, uid=UID):
    """Run `scene(bridge, ports, boards)` with two boards, the first of them ours."""

    async def run():
        boards = [plugged(MINE), plugged(OTHER)]
        ports = Ports(folder)
        ports.uid_known = uid is not None
        ports.point(*boards)
        try:
            async with asyncio.timeout(30):
                bridge = Bridge(str(ports.names[0]), folder / "commands.db", uid=uid, targets=ports.targets)
                async with bridge:
                    await scene(bridge, ports, boards)
        finally:
            for board in boards:
                board.unplug()

    asyncio.run(run())


async def back(bridge, boards):
    view = await bridge.wait_for(lambda view: view.ready)
    assert view.uid == UID
    assert (await bridge.execute("START")).status is Status.DONE
    assert boards[1].executed == []
    return view


def test_the_configured_port_is_used_while_its_board_is_the_right_one(tmp_path):
    async def scene(bridge, ports, boards):
        view = await back(bridge, boards)
        assert view.port == str(ports.names[0])

    play(tmp_path, scene)


def test_a_link_that_leads_elsewhere_now_is_followed(tmp_path):
    """As after unplugging: the same name, another terminal behind it."""

    async def scene(bridge, ports, boards):
        await bridge.wait_ready()
        boards[0].unplug()
        await bridge.wait_for(lambda view: not view.ready)
        boards[0] = plugged(MINE)
        ports.point(*boards)
        view = await back(bridge, boards)
        assert view.port == str(ports.names[0])

    play(tmp_path, scene)


def test_a_machine_that_was_plugged_in_elsewhere_is_found_by_its_number(tmp_path):
    async def scene(bridge, ports, boards):
        await bridge.wait_ready()
        boards[0].unplug()
        ports.point(None, None)
        await bridge.wait_for(lambda view: view.link is LinkState.PORT_MISSING)
        boards[0] = plugged(MINE)
        ports.point(None, boards[0])
        view = await back(bridge, boards)
        assert view.port == str(ports.names[1])

    play(tmp_path, scene)


def test_two_machines_whose_cables_were_swapped_are_told_apart(tmp_path):
    async def scene(bridge, ports, boards):
        await bridge.wait_ready()
        ports.point(boards[1], boards[0])
        bridge._transport.close()  # the hub loses power
        bridge._port_lost("it was unplugged")
        seen = await bridge.wait_for(lambda view: view.link is LinkState.UID_MISMATCH)
        assert (await bridge.execute("START")).code == "link_down"
        assert seen.uid == f"{OTHER:016x}"
        view = await back(bridge, boards)
        assert view.port == str(ports.names[1])

    play(tmp_path, scene)


def test_another_board_alone_is_never_moved(tmp_path):
    async def scene(bridge, ports, boards):
        await bridge.wait_ready()
        boards[0].unplug()
        ports.point(boards[1], None)
        view = await bridge.wait_for(lambda view: view.link is LinkState.UID_MISMATCH)
        assert view.uid == f"{OTHER:016x}"
        assert (await bridge.execute("START")).status is Status.REJECTED
        assert boards[1].executed == []

    play(tmp_path, scene)


def test_the_right_board_is_found_when_it_comes_later(tmp_path, monkeypatch):
    monkeypatch.setattr(port_round, "LOOK_AGAIN", 0.1)

    async def scene(bridge, ports, boards):
        await bridge.wait_ready()
        boards[0].unplug()
        ports.point(boards[1], None)
        await bridge.wait_for(lambda view: view.link is LinkState.UID_MISMATCH)
        await asyncio.sleep(0.3)
        boards[0] = plugged(MINE)
        ports.point(boards[1], boards[0])
        assert (await back(bridge, boards)).port == str(ports.names[1])

    play(tmp_path, scene)


def test_two_candidates_without_a_number_refuse_motion(tmp_path):
    async def scene():
        board = plugged(MINE)
        twins = Targets((), why=targets(twin_facts(tmp_path), uid_known=False).why)
        try:
            async with asyncio.timeout(30):
                bridge = Bridge(BY_ID, tmp_path / "commands.db", targets=lambda: twins)
                async with bridge:
                    view = await bridge.wait_for(lambda view: view.link is LinkState.PORT_AMBIGUOUS)
                    assert "2 adapters share the name" in view.detail
                    assert "set the board's uid" in view.detail
                    assert (await bridge.execute("START")).code == "link_down"
        finally:
            board.unplug()

    asyncio.run(scene())


# Where to look, from made-up systems.


def twin_facts(folder, port=BY_ID):
    tree = Tree(folder / "system")
    tree.adapter(0, TOP)
    tree.adapter(1, LOW)
    tree.link(BY_ID, "../../ttyUSB1")
    return collect(port, tree.root, holders=False)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_a_number_tells_twins_apart(tmp_path):
    facts = twin_facts(tmp_path)
    assert targets(facts, uid_known=True).ports == (TOP, LOW)
    refused = targets(facts, uid_known=False)
    assert refused.ports == ()
    assert refused.why.code == "port_ambiguous"
    assert f"Use {TOP} or {LOW}" in refused.why.fix


def test_without_a_number_only_the_port_itself_will_do(tree):
    tree.adapter(0, TOP)
    tree.adapter(1, LOW)
    assert targets(collect(TOP, tree.root), uid_known=False).ports == (TOP,)
    assert targets(collect(TOP, tree.root), uid_known=True).ports == (TOP, LOW)
    gone = LOW.replace(":2:", ":3:")
    assert targets(collect(gone, tree.root), uid_known=True).ports == (gone, TOP, LOW)
    assert targets(collect(gone, tree.root), uid_known=False).ports == (gone,)


@pytest.mark.parametrize("port", ["pty:/tmp/x", "socket://host:1"])
def test_other_addresses_are_what_they_are(tree, port):
    tree.adapter(0, TOP)
    assert targets(collect(port, tree.root), uid_known=True).ports == (port,)


def test_a_passing_name_is_taken_for_its_lasting_one_at_the_start(tree):
    tree.adapter(0, TOP)
    found = lasting(collect("/dev/ttyUSB0", tree.root))
    assert found.ports == (TOP,)
    assert found.warning.fix == f'Write "{TOP}" instead.'
    settings, warning = with_lasting_port(NativeSettings("/dev/ttyUSB0", UID), tree.root)
    assert (settings.port, settings.uid, warning) == (TOP, UID, found.warning)
    assert with_lasting_port(NativeSettings(TOP), tree.root) == (NativeSettings(TOP), None)


def test_a_passing_name_without_a_lasting_one_is_never_opened(tree):
    tree.write("dev/ttyACM0")
    settings, warning = with_lasting_port(NativeSettings("/dev/ttyACM0"), tree.root)
    assert settings.port == "/dev/ttyACM0"
    assert warning.code == "port_ambiguous"
    tree.adapter(0, TOP)
    facts = collect("/dev/ttyACM0", tree.root)
    assert targets(facts, uid_known=False).ports == ()
    assert f"Use {TOP}" in targets(facts, uid_known=False).why.fix
    assert targets(facts, uid_known=True).ports == (TOP,)


def test_a_wrong_port_is_told_before_anything_runs(tree):
    async def scene():
        with pytest.raises(PortAmbiguousError, match="whichever adapter came first"):
            await probe(NativeSettings("/dev/ttyUSB7"), tree.root)
        with pytest.raises(PortMissingError):
            await probe(NativeSettings("/dev/serial/by-path/nowhere"), tree.root)
        await probe(ObserveSettings(), tree.root)

    asyncio.run(scene())


def test_a_native_machine_looks_for_its_number_below_the_given_root(tree, tmp_path):
    async def scene():
        opened = open_machine(NativeSettings("/dev/ttyUSB7"), tmp_path / "commands.db", root=tree.root)
        task = asyncio.create_task(opened.run())
        async with asyncio.timeout(30):
            view = await opened.wait_for(lambda view: view.link is LinkState.PORT_AMBIGUOUS)
        await opened.close()
        await task
        return view.code

    assert asyncio.run(scene()) == "machine.port_ambiguous"
