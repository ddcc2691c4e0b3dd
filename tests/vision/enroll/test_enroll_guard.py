from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.enroll.guard import enrol, judged, stacked
from vision.enroll.prototypes import Blend, mean_embeddings, scale_of
from vision.enroll.shots import Shot
from vision.enroll.tileset import TileSet
from vision.errors import ShapeError, TileSetError
from vision.model_card import LABELS
from vision.readings import EMBEDDING, Looks

KINDS = LABELS[:34]


def labels_of(shots: list[Shot]) -> np.ndarray:
    return np.asarray([LABELS.index(s.kind) for s in shots], np.intp)


def test_a_set_that_bends_the_networks_directions_is_read_better_after_enrolment(maker: Callable) -> None:
    own = maker(bend=2.5, noise=0.12)
    blend, guard = enrol(own.shots(pictures=("a", "b", "c")), 0.7)
    assert guard.used
    assert guard.weight == blend.weight > 0
    assert guard.nll < guard.plain_nll
    later = own.shots(pictures=("later",))
    plain, enrolled = (judged(stacked(later), b, 0.7, labels_of(later)) for b in (None, blend))
    assert enrolled[0] >= plain[0]
    assert enrolled[1] < plain[1]


def test_one_picture_alone_cannot_be_checked_so_the_plain_network_stays(maker: Callable) -> None:
    _, guard = enrol(maker(bend=2.5).shots(pictures=("a",)), 0.7)
    assert (guard.used, guard.reason, guard.weight) == (False, "one_picture", 0.0)


def test_kinds_on_one_picture_each_cannot_be_checked_by_the_prototypes_of_the_others(maker: Callable) -> None:
    own = maker(bend=2.5)
    _, guard = enrol(own.shots(KINDS[:9], ["a"]) + own.shots(KINDS[9:18], ["b"]), 0.7)
    assert (guard.used, guard.reason) == (False, "one_picture")


def test_tiles_captured_under_wrong_names_are_not_used(maker: Callable) -> None:
    """A row laid shifted by one in one picture: the prototypes contradict the other picture."""
    good, bad = maker().shots(pictures=("a",)), maker().shots(pictures=("b",))
    moved = [
        Shot(KINDS[(i + 1) % len(KINDS)], s.picture, s.logits, s.embeddings, s.look)
        for i, s in enumerate(bad)
    ]
    _, guard = enrol(good + moved, 0.7)
    assert guard.right >= guard.plain_right
    assert guard.nll <= guard.plain_nll


@settings(deadline=None, max_examples=30)
@given(
    bend=st.floats(0, 4),
    noise=st.floats(0, 0.5),
    seed=st.integers(0, 5),
    kinds=st.sets(st.sampled_from(KINDS), min_size=1, max_size=12),
    pictures=st.integers(1, 4),
    wrong=st.integers(0, 3),
)
def test_never_worse_by_its_guard(
    maker: Callable, bend: float, noise: float, seed: int, kinds: set[str], pictures: int, wrong: int
) -> None:
    shots = maker(bend, noise, seed).shots(sorted(kinds), [f"p{i}" for i in range(pictures)])
    for i in range(min(wrong, len(shots))):
        s = shots[i]
        shots[i] = Shot(KINDS[(i + 7) % 34], s.picture, s.logits, s.embeddings, s.look)
    blend, guard = enrol(shots, 0.7)
    assert guard.right >= guard.plain_right
    assert guard.nll <= guard.plain_nll
    assert guard.used == (blend.weight > 0) == (guard.weight > 0)
    assert guard.used or guard.reason


def test_a_weight_of_nothing_leaves_the_logits_as_they_are(maker: Callable) -> None:
    shots = maker().shots()
    columns, prototypes = mean_embeddings(shots)
    looks = stacked(shots)
    assert np.array_equal(Blend(columns, prototypes, 0.0, 3.0, 1.0).logits(looks), looks.logits)


def test_kinds_without_a_prototype_keep_their_logits(maker: Callable) -> None:
    shots = maker().shots(["1m", "2m"])
    looks = stacked(maker().shots())
    mixed = Blend(*mean_embeddings(shots), 0.5, 7.0, 0.0).logits(looks)
    assert np.array_equal(mixed[:, 2:], looks.logits[:, 2:])
    assert not np.array_equal(mixed[:, :2], looks.logits[:, :2])


def test_prototypes_come_to_the_level_of_the_plain_logits() -> None:
    plain = np.asarray([[7, 0], [1, 8]], np.float32)
    cosines = np.asarray([[0.9, 0.1], [0.2, 0.8]], np.float32)
    own = np.asarray([0, 1], np.intp)
    scale, offset = scale_of(plain, cosines, own)
    matched = scale * cosines + offset
    assert np.isclose(matched[[0, 1], own].mean(), 7.5)
    assert np.isclose(matched[[0, 1], 1 - own].mean(), 0.5)
    assert scale_of(plain, np.full((2, 2), np.nan, np.float32), own) == (1.0, 0.0)


def test_prototypes_of_another_shape_are_refused() -> None:
    with pytest.raises(ShapeError):
        Blend(np.asarray([1]), np.zeros((2, EMBEDDING), np.float32), 0.5, 1, 0)


def test_nothing_captured_is_refused() -> None:
    with pytest.raises(TileSetError):
        enrol([], 0.7)


def test_a_tile_set_lacking_kinds_is_refused_and_they_are_named(maker: Callable, origin: Callable) -> None:
    shots = [s for s in maker().shots() if s.kind not in ("3m", "7z")]
    with pytest.raises(TileSetError, match="2 of 34 kinds were not captured: 3m 7z"):
        TileSet.build(shots, KINDS, origin())


def test_a_tile_set_the_guard_refused_changes_nothing(maker: Callable, origin: Callable) -> None:
    tiles = TileSet.build(maker().shots(pictures=("a",)), KINDS, origin())
    logits = np.zeros((3, len(LABELS)), np.float32)
    assert tiles.adapt(Looks(logits, np.zeros((3, EMBEDDING), np.float32))) is logits


def test_a_set_that_lacks_kinds_of_the_rule_set_is_refused(maker: Callable) -> None:
    tiles = maker().set(kinds=KINDS)
    tiles.check_kinds([*KINDS, "back"])
    with pytest.raises(TileSetError, match="lacks 1f 2f"):
        tiles.check_kinds([*KINDS, "1f", "2f"])
