"""The decoder and the stop watch of the firmware read any bytes exactly as the host's do."""

import random

import pytest

from tests.firmware_bridge.firmware.corpus import python_reads, string

CHUNK = 5000


def compare(library, seeds):
    found = stopped = wrong = 0
    for seed in seeds:
        rng = random.Random(seed)
        strings = [string(rng) for _ in range(CHUNK)]
        for data, told in zip(strings, library.decode(strings), strict=True):
            expected = python_reads(data, rng)
            assert told == expected, data.hex()
            found, stopped = found + len(expected[0]), stopped + expected[2]
            wrong += expected[1].total
    return found, stopped, wrong


def test_any_bytes_read_alike(firmware_library):
    found, stopped, wrong = compare(firmware_library, range(10))
    # A corpus that is all good or all bad would prove little.
    assert found > 20_000
    assert stopped > 1000
    assert wrong > 20_000


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_million_strings_read_alike(firmware_library):
    found, _, _ = compare(firmware_library, range(1000, 1200))
    assert found > 400_000
