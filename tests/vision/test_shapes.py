import pytest

from vision.shapes import HandShape, is_meld, lay_meld, meld_faces, meld_letter

KINDS = ("1m", "5p", "9s", "5z")


@pytest.mark.parametrize(
    ("tiles", "letter"),
    [
        ("1m 2m 3m", "C"),
        ("9s 7s 8s", "C"),
        ("1m 2m 3p", None),
        ("1z 2z 3z", None),
        ("1f 2f 3f", None),
        ("5z 5z 5z", "P"),
        ("5z 5z 5z 5z", "K"),
        ("back 5z 5z back", "A"),
        ("back 5z 6z back", None),
        ("5z back 5z", "H"),
        ("5z back 6z", None),
        ("back 5z back", None),
        ("back back back", "H"),
        ("back back back back", None),
        ("5z 5z", None),
        ("", None),
    ],
)
def test_a_meld_shows_its_kind(tiles: str, letter: str | None) -> None:
    assert meld_letter(tiles.split()) == letter
    assert is_meld(tiles.split()) == (letter is not None)


def test_a_rule_set_knows_its_own_melds_only() -> None:
    assert HandShape(13, "PKA").meld(["1m", "2m", "3m"]) is None
    assert HandShape(13, "CPKA").meld(["1m", "2m", "3m"]) == "C"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("letter", "size"), [("P", 3), ("K", 4), ("A", 4), ("H", 3)])
def test_what_is_laid_is_read_back(letter: str, size: int, kind: str) -> None:
    laid = lay_meld(letter, [kind] * size)
    assert meld_letter(laid) == letter
    assert meld_faces(laid) == (kind,) * size


def test_a_chow_is_read_back_in_order_whatever_tile_was_claimed() -> None:
    assert meld_faces(("3m", "1m", "2m")) == ("1m", "2m", "3m")


def test_a_shao_not_opened_has_no_faces() -> None:
    assert meld_faces(("back",) * 3) is None


@pytest.mark.parametrize("missing", range(4))
def test_a_tile_overlooked_in_a_concealed_kong_leaves_no_other_meld(missing: int) -> None:
    laid = list(lay_meld("A", ["5z"] * 4))
    del laid[missing]
    assert meld_letter(laid) is None
