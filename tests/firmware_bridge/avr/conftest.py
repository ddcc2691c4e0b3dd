"""Boards and lines that end with their test."""

import pytest

from tests.firmware_bridge.avr.bench import AvrBench
from tests.firmware_bridge.avr.board import BadLine, Board
from tests.firmware_bridge.conformance.bench import Talk


@pytest.fixture
def start_board(avr_workshop):
    """Call it with options of the harness, and `extra` for another build; see harness.c."""
    boards = []

    def start(*options, extra=""):
        board = Board(avr_workshop.harness(), avr_workshop.program(extra), "--uid", "51", *options)
        boards.append(board)
        return board

    yield start
    try:
        for board in boards:
            board.check()
    finally:
        for board in boards:
            board.stop()


@pytest.fixture
def bench(avr_workshop):
    """Call it as `start_board`: a conversation with a board in a time of its own."""
    benches = []

    def make(*options, extra=""):
        benches.append(AvrBench(avr_workshop, *options, extra=extra))
        return Talk(benches[-1])

    yield make
    for made in benches:
        made.close()


@pytest.fixture
def bad_line():
    """Call it with a pseudo-terminal and a seed: the same line, but able to damage frames."""
    lines = []

    def make(pty, seed):
        line = BadLine(pty, seed)
        lines.append(line)
        return line

    yield make
    for line in lines:
        line.close()
