from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from engine import rulesets
from vision.enroll.inventory import Inventory
from vision.enroll.shots import Shot
from vision.errors import TileSetError
from vision.readings import TileReading


def counts(ruleset: str) -> dict[str, int]:
    tiles = rulesets.load(ruleset).tile_set
    return {kind.id: tiles.counts[kind] for kind in tiles.kinds}


def read(kinds: Sequence[str], score: float = 0.99) -> list[TileReading]:
    return [TileReading(k, score, (0, 0, 3, 4), ((k, score),), 0) for k in kinds]


def block(own: Callable, kinds: Sequence[str], picture: str) -> list[Shot]:
    return [own.shot(kind, picture) for kind in kinds]


@pytest.mark.parametrize(("ruleset", "total"), [("zhenjiang", 136), ("xiamen", 144), ("fengcheng", 102)])
def test_a_whole_set_in_blocks_is_whole(maker: Callable, ruleset: str, total: int) -> None:
    own, expected = maker(), counts(ruleset)
    tiles = [kind for kind, n in expected.items() for _ in range(n)]
    counted = Inventory(expected)
    for at in range(0, len(tiles), 36):
        part = tiles[at : at + 36]
        counted = counted.add(f"block {at}", read(part), block(own, part, f"block {at}"))
    assert counted.total == sum(counted.counts.values()) == total
    assert counted.complete
    assert counted.to_json()["missing"] == {}


def test_what_is_missing_too_many_and_not_of_the_set_is_named(maker: Callable) -> None:
    own, expected = maker(), {"1m": 4, "2m": 4, "3m": 4}
    lying = ["1m"] * 3 + ["2m"] * 5 + ["3m"] * 4 + ["1f"]
    counted = Inventory(expected).add("a", read(lying), block(own, lying, "a"))
    assert counted.missing == {"1m": 1}
    assert counted.surplus == {"2m": 1, "1f": 1}
    assert not counted.complete


def test_a_block_photographed_again_is_not_counted_twice(maker: Callable) -> None:
    own, lying = maker(), ["1m"] * 4
    counted = Inventory({"1m": 4})
    for _ in range(2):
        counted = counted.add("a", read(lying), block(own, lying, "a"))
    assert counted.counts["1m"] == 4


def test_tiles_face_down_and_uncertain_ones_are_to_be_looked_at(maker: Callable) -> None:
    own = maker()
    tiles = read(["1m", "back"]) + read(["2m"], 0.4)
    counted = Inventory({"1m": 1, "2m": 1}).add("a", tiles, block(own, ["1m", "back", "2m"], "a"))
    found = counted.to_json()
    assert [t["place"] for t in found["face_down"]] == [2]
    assert [t["kind"] for t in found["doubtful"]] == ["2m"]
    assert found["missing"] == {}
    assert not found["complete"]


@pytest.mark.parametrize("known", [True, False])
def test_a_tile_of_another_set_is_named(maker: Callable, known: bool) -> None:
    own, other, kinds = maker(noise=0.03), maker(seed=2, noise=0.03), ["1m", "2m", "3m"]
    lying = [kind for kind in kinds for _ in range(4)]
    shots = block(own, lying, "a")
    shots[5] = other.shot("2m", "a")
    enrolled = own.set(kinds=kinds) if known else None
    counted = Inventory(dict.fromkeys(kinds, 4), enrolled).add("a", read(lying), shots)
    assert [(c.place, c.tile.kind) for c in counted.strange] == [(6, "2m")]
    assert not counted.complete


def test_a_set_of_nothing_is_refused() -> None:
    with pytest.raises(TileSetError):
        Inventory({})
