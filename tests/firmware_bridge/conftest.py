"""What the tests of the firmware share: its builds for the host, made once."""

import pytest

from tests.firmware_bridge.avr.board import Workshop, need_tools
from tests.firmware_bridge.firmware.board_library import Library, build


@pytest.fixture(scope="session")
def firmware_library(tmp_path_factory):
    """The core and the plant in C, in virtual time."""
    folder = tmp_path_factory.mktemp("firmware-lib")
    build("lib", folder)
    return Library(folder / "libquezhuo-board.so")


@pytest.fixture(scope="session")
def firmware_host(tmp_path_factory):
    """The firmware as a process, with sanitizers: path of the program."""
    folder = tmp_path_factory.mktemp("firmware-host")
    build("host", folder)
    return folder / "quezhuo-board"


@pytest.fixture(scope="session")
def avr_workshop(tmp_path_factory):
    """Builds of the board's program, and the simulator it runs in."""
    need_tools()
    return Workshop(tmp_path_factory.mktemp("avr"))
