"""A hall with one honest table, and what its screens say of an attack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq

from station.central.fold import Hall
from station.central.view import Surroundings, state_object
from station.link.sockets import LinkSettings, Socket, new_context, table_socket
from station.log import Stored
from station.web.sentences import SENTENCES
from tests.station.link.conftest import Place

EVENT = ("hand.rejected", b'{"v":1,"hand":1,"claim":1,"reason":null}')
SESSION = b"8 bytes."


class Scene(Place):
    """The place of the link's tests, with what a head referee would see."""

    def alarms(self) -> list[tuple[str, str | None, str]]:
        """Give code, table and reason of each alarm of the central state."""
        hall = Hall()
        for stored in self.stored():
            hall.apply(stored)
        shown: list[dict[str, Any]] = state_object(hall, Surroundings())["alarms"]
        assert all(alarm["code"] in SENTENCES for alarm in shown)
        return [(_kind(a["code"]), a["table"], str(a["params"].get("reason", ""))) for a in shown]

    def of_tables(self) -> list[Stored]:
        """Give what is stored of tables."""
        return [stored for stored in self.stored() if stored.source]

    def port(self, endpoint: str) -> int:
        return int(endpoint.rpartition(":")[2])


def _kind(code: str) -> str:
    """``link.denied.flood`` and its like have a sentence each; the event is the same."""
    return "link.denied" if code.startswith("link.denied.") else code


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@contextmanager
def rogue(settings: LinkSettings) -> Iterator[Socket]:
    """A socket with real keys and no manners, connected."""
    context = new_context()
    try:
        socket = table_socket(context, settings.keys, settings.server_key)
        socket.connect(settings.endpoint)
        assert socket.poll(10_000, zmq.POLLOUT)
        yield socket
    finally:
        context.destroy(linger=0)
