"""Doubles of a table's surroundings: a log in memory, eyes that read what they are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import rulesets
from engine.rulesets import RuleSet
from station.clock import Clock
from station.log.chain import ZERO_HEAD, Entry, link
from station.session import Session, Stage
from station.table.camera_worker import Seen, SeenHand, Unfit
from station.table.config import TableConfig
from station.table.photos import PhotoStore
from station.table.runtime import Table
from station.table.tilesets import SetsInUse
from vision.fitness import Fitness, Problem
from vision.hand import HandShape
from vision.hand_reading import read_claimed, read_shown
from vision.readings import Reading, TileReading

LOG_ID = bytes(16)
FRAME = np.zeros((300, 900, 3), np.uint8)
WINNING = "123m456m789m11z34s +5s"
LOSING = "123m456m789m11z39s +5s"


class MemoryWriter:
    """An event writer without a disk."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.fail: Exception | None = None
        self.checkpoints: list[str] = []

    def stored(self, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        return self.entries[after:][:limit]

    def remembered(self) -> Session | None:
        return None

    def remember(self, session: Session) -> None:
        self.session = session

    async def append(self, events: list[tuple[str, bytes]], checkpoint: str | None = None) -> Sequence[Entry]:
        self.checkpoints += [] if checkpoint is None else [checkpoint]
        if self.fail is not None:
            raise self.fail
        head = self.entries[-1].head if self.entries else ZERO_HEAD
        new = link(LOG_ID, head, events, 1_000 * (len(self.entries) + 1))
        self.entries += new
        return new

    def link_state(self) -> tuple[str, int]:
        return "central.none", 0


@dataclass
class Told:
    """A recognizer that reads what it was told."""

    reading: Reading

    def read(self, *_: Any, **__: Any) -> Reading:
        return self.reading


@dataclass
class ToldEyes:
    """Eyes that see what a test puts before them, and count how often they look."""

    hand_reading: Reading | None = None
    indicator_reading: Reading | None = None
    looks: list[str] = field(default_factory=list)
    sees_indicator: bool = True
    refused: tuple[str, ...] = ()
    tilesets: SetsInUse | None = None
    shown_readings: dict[int, Reading] = field(default_factory=dict)
    shape: HandShape = field(default_factory=HandShape)
    stacks: tuple[tuple[int, int], ...] = ()
    unfit: list[str] = field(default_factory=list)
    """Codes of the frames that come before a fit one; of an endless row the last one stays."""
    endless: bool = False

    def _unfit(self) -> Unfit:
        code = self.unfit[0] if self.endless and len(self.unfit) == 1 else self.unfit.pop(0)
        return Unfit(Fitness((Problem(code, (1.0, 2.0, 3.0, 4.0), 1.0, 0.5),)), 990.0)

    async def indicator(self, stacks: Sequence[tuple[int, int]] = ()) -> Seen:
        self.looks.append("indicator")
        self.stacks = tuple(stacks)
        assert self.indicator_reading is not None
        return Seen(self.indicator_reading, b"jpeg of the indicator", (100, 100))

    async def hand(self, side: int, *, win: bool, anyway: bool = False) -> SeenHand | Unfit:
        self.looks.append(f"hand {side}")
        if self.unfit and not anyway:
            return self._unfit()
        assert self.hand_reading is not None
        read = read_claimed(Told(self.hand_reading), FRAME, self.shape, win=win)
        return SeenHand(read, b"jpeg of the hand", (900, 300))

    async def shown(self, side: int, *, anyway: bool = False) -> SeenHand | Unfit:
        self.looks.append(f"shown {side}")
        if self.unfit and not anyway:
            return self._unfit()
        read = read_shown(Told(self.shown_readings[side]), FRAME, self.shape)
        return SeenHand(read, b"jpeg of open tiles", (900, 300))


def reading_of(
    rows: Sequence[Sequence[Sequence[str]]], score: float = 0.99, doubts: tuple[str, ...] = ()
) -> Reading:
    """Return a reading of rows of groups of tile kinds."""
    tiles: list[TileReading] = []
    row_indices, groups = [], []
    for y, row in enumerate(rows):
        row_indices.append(tuple(range(len(tiles), len(tiles) + sum(map(len, row)))))
        for group in row:
            groups.append(tuple(range(len(tiles), len(tiles) + len(group))))
            for kind in group:
                x = 50.0 * len(tiles)
                box = (x, 100.0 * y, x + 48, 100.0 * y + 64)
                tiles.append(TileReading(kind, score, box, ((kind, score),), len(groups) - 1, doubts))
    accept = not doubts
    return Reading(tuple(tiles), tuple(row_indices), tuple(groups), accept, doubts, 1.0, (900, 300))


@dataclass
class Desk:
    """A table for tests: the running object, its log and its eyes."""

    table: Table
    writer: MemoryWriter
    eyes: ToldEyes | None

    @property
    def session(self) -> Session:
        return self.table.session

    async def do(self, action: str, key: str | None = None, rev: int | None = None, **body: Any) -> int:
        """Carry out a request; ``source`` stands for the body's ``from``."""
        if "source" in body:
            body["from"] = body.pop("source")
        return await self.table.act(action, body, key, rev)

    async def to_play(self, indicator: str = "1p") -> None:
        """Bring a table without a machine to the play of its next hand."""
        await self.do("start")
        if self.session.stage is Stage.FLOWERS:
            await self.do("flowers")
        if self.session.stage is Stage.DEALT:
            await self.do("indicator", tile=indicator)

    async def claim(self, line: str = WINNING, place: int = 1, source: int | None = 2) -> None:
        """Declare and type a hand."""
        how = "self" if source is None else "discard"
        await self.do("claim", place=place, how=how, **({} if source is None else {"source": source}))
        await self.do("hand", line=line)


@pytest.fixture
def rules() -> RuleSet:
    return rulesets.load("zhenjiang")


@pytest.fixture
def new_desk(tmp_path: Path) -> Callable[..., Any]:
    """Return an async function that makes a loaded desk."""

    async def make(
        ruleset: str = "zhenjiang",
        options: dict[str, Any] | None = None,
        *,
        eyes: ToldEyes | None = None,
        writer: MemoryWriter | None = None,
        **settings: Any,
    ) -> Desk:
        writer = writer or MemoryWriter()
        rules = rulesets.load(ruleset, options)
        config = TableConfig(
            home=str(tmp_path),
            driver="none",
            camera="none",
            ruleset=ruleset,
            options=options or {},
            players=("甲", "乙", "丙", "丁")[: rules.players],
            **settings,
        )
        clock = Clock(monotonic=lambda: 0.0, wall=lambda: 1_000.0)
        table = Table(config, rules, writer, PhotoStore(tmp_path / "photos"), None, eyes, clock)
        await table.load()
        return Desk(table, writer, eyes)

    return make


@pytest.fixture
def new_writer() -> Callable[[], MemoryWriter]:
    """Return a maker of logs in memory."""
    return MemoryWriter


@pytest.fixture
def eyes() -> ToldEyes:
    return ToldEyes()


@pytest.fixture(name="reading_of")
def _reading_of() -> Callable[..., Reading]:
    return reading_of
