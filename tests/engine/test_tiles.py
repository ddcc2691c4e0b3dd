import pytest

from engine.errors import EngineError
from engine.melds import Meld, MeldKind
from engine.tiles import HAND_KINDS, TILE_IDS, Tile, UnknownTileError


def test_ids_and_values_are_inverse_for_all_44_kinds():
    assert len(TILE_IDS) == len(set(TILE_IDS)) == len(Tile) == 44
    assert all(Tile.of(tile_id) is Tile(value) for value, tile_id in enumerate(TILE_IDS))
    assert all(tile.id == TILE_IDS[tile] for tile in Tile)


def test_the_order_of_kinds_is_the_public_one():
    assert [Tile.of(i) for i in ("1m", "9m", "1p", "1s", "1z", "7z", "1f", "8f", "back", "?")] == [
        0, 8, 9, 18, 27, 33, 34, 41, 42, 43,
    ]  # fmt: skip


def test_every_kind_belongs_to_exactly_one_family():
    for tile in Tile:
        families = [tile.is_suited, tile.is_honour, tile.is_flower, tile.suit == ""]
        assert families.count(True) == 1
        assert tile.is_kind == (tile in HAND_KINDS)
    assert (Tile.RED.suit, Tile.RED.rank) == ("z", 7)
    assert (Tile.BACK.suit, Tile.BACK.rank) == ("", 0)


@pytest.mark.parametrize("text", ["", "0m", "10m", "8z", "9f", "m1", "1M", "1x", "Back", "１m"])
def test_what_is_no_id_is_refused_with_the_text(text):
    with pytest.raises(UnknownTileError) as caught:
        Tile.of(text)
    assert caught.value.text == text
    assert isinstance(caught.value, EngineError)


def meld(kind, *ids):
    return Meld(MeldKind(kind), tuple(Tile.of(tile_id) for tile_id in ids))


def test_melds_are_well_formed_only_as_their_kind_says():
    good = [
        meld("C", "3m", "1m", "2m"),
        meld("P", "5z", "5z", "5z"),
        meld("K", "5z", "5z", "5z", "5z"),
        meld("A", "9s", "9s", "9s", "9s"),
        meld("H", "1p", "1p", "1p"),
    ]
    bad = [
        meld("C", "9m", "1p", "2p"),
        meld("C", "1z", "2z", "3z"),
        meld("C", "1m", "1m", "1m"),
        meld("C", "1m", "2m", "4m"),
        meld("P", "1m", "1m", "2m"),
        meld("P", "1m", "1m"),
        meld("P", "1m", "1m", "1m", "1m"),
        meld("K", "1m", "1m", "1m"),
        meld("P", "1f", "1f", "1f"),
        meld("P", "?", "?", "?"),
        meld("P"),
    ]
    assert all(m.is_well_formed for m in good)
    assert not any(m.is_well_formed for m in bad)
