"""Every scenario runs on every kind of machine."""

import pytest

from tests.firmware_bridge.avr.bench import AvrBench
from tests.firmware_bridge.conformance.bench import Talk
from tests.firmware_bridge.conformance.benches import LibBench, SimBench
from tests.firmware_bridge.firmware.board_library import Rig, SanitizedRig

BENCHES = {
    "avr": lambda request: AvrBench(request.getfixturevalue("avr_workshop")),
    "sim": lambda request: SimBench(),
    "library": lambda request: LibBench(Rig(request.getfixturevalue("firmware_library"))),
    "sanitized": lambda request: LibBench(SanitizedRig(request.getfixturevalue("firmware_host"))),
}


MARKS = {"avr": [pytest.mark.avr, pytest.mark.slow]}


@pytest.fixture(params=[pytest.param(name, marks=MARKS.get(name, [])) for name in sorted(BENCHES)])
def board(request):
    """A conversation with a machine that was just switched on."""
    bench = BENCHES[request.param](request)
    yield Talk(bench)
    bench.close()
