from __future__ import annotations

import pytest

from station.errors import ConfigError
from station.serving import HttpServer, PortBusy


async def _nothing(*_: object) -> None:
    return None


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 65536), ("127.0.0.1", -1), ("", 0)])
def test_an_address_that_can_not_be_is_bad_input(host: str, port: int) -> None:
    with pytest.raises(ConfigError) as refused:
        HttpServer.bind(_nothing, host, port)
    assert refused.value.exit_status == 2


def test_an_address_of_another_machine_can_not_be_bound() -> None:
    with pytest.raises(PortBusy):
        HttpServer.bind(_nothing, "192.0.2.1", 0)
