"""Hands to read, each from its number: composite ones of unseen photographs, rendered ones of two kinds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vision.errors import SceneError
from vision.geometry import default_calibration, map_points
from vision.render import render, tile_quads
from vision.render.atlas import KINDS, face
from vision.render.scene import Scene
from vision.shapes import BACK
from vision.training.dataset import LABELS, Image
from vision.training.detector_samples import clear_patches
from vision.training.measure.compose import Picture, back_face, compose
from vision.training.measure.corrupt import Corruption
from vision.training.measure.deal import Deal, deal
from vision.training.measure.pools import Face, Pool, make_pools
from vision.training.measure.unseen import Unseen
from vision.training.pen import FACE_H, FACE_W, Rng

ART = "rendered/art"
OWN = "rendered/own"
HANDS_PER_STYLE = 12
STYLE_SEED = 771
"""Styles are drawn from numbers that no training uses."""


@dataclass
class Table:
    """Deals, lays and photographs hands by number; the same seed and number give the same picture.

    ``pools``: photographed faces; ``surfaces``: bare pieces of their photographs; ``rendered``: names of the
    rendered kinds to use as well.
    """

    pools: Sequence[Pool]
    surfaces: Sequence[Image]
    seed: int
    rendered: Sequence[str] = (ART, OWN)
    _style: tuple[int, dict[str, list[Face]]] | None = None

    @classmethod
    def of(
        cls,
        unseen: Unseen,
        seed: int,
        rendered: Sequence[str] = (ART, OWN),
        only: frozenset[str] = frozenset(),
    ) -> Table:
        """Cut the faces and bare surfaces of what a model never saw.

        ``only``: sources whose hands are wanted, all without it. Raises SystemExit where none is left.
        """
        surfaces = clear_patches(unseen.photos, [photo.read() for photo in unseen.photos])
        pools = [pool for pool in make_pools(unseen) if not only or pool.source in only]
        drawn = [name for name in rendered if not only or name in only]
        if not pools and not drawn:
            raise SystemExit(
                f"No faces of {', '.join(sorted(only))} that the model never saw: name other sources."
            )
        return cls(pools, surfaces, seed, drawn)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sources of hands, which take turns."""
        return (*(pool.name for pool in self.pools), *self.rendered)

    def hand(self, n: int) -> tuple[str, Deal, Picture]:
        """Return the source, the deal and the picture of hand number ``n``."""
        rng = np.random.default_rng([self.seed, n])
        name = self.names[n % len(self.names)]
        if name == OWN:
            return (name, *_rendered(rng))
        faces, back = self._faces(n, rng)
        dealt = deal(rng, frozenset(faces))
        return name, dealt, compose(rng, dealt, faces, back, self.surfaces)

    def spoilt(self, n: int, rng: Rng, corruption: Corruption) -> tuple[str, Deal, Picture]:
        """Return hand number ``n`` as a corruption leaves it; the own renderer takes no part."""
        faces, back = self._faces(n, rng)
        dealt = corruption.dealt(rng, deal(rng, frozenset(faces)))
        picture = compose(rng, dealt, faces, back, self.surfaces, corruption.conditions(rng))
        return self.names[n % len(self.names)], dealt, corruption.spoil(rng, picture)

    def _faces(self, n: int, rng: Rng) -> tuple[Mapping[str, Sequence[Face]], Image]:
        turn = n % len(self.names)
        if self.names[turn] == ART:
            return self._drawn(n // len(self.names) // HANDS_PER_STYLE)
        return self.pools[turn].faces, back_face(rng)

    def _drawn(self, style: int) -> tuple[dict[str, list[Face]], Image]:
        """Faces of a drawn style by its number."""
        if self._style is None or self._style[0] != style:
            self._style = style, drawn_faces(np.random.default_rng([STYLE_SEED, style]))
        faces = dict(self._style[1])
        return faces, faces.pop("back")[0].image


def own_pool() -> Pool:
    """Faces of our own design: they need neither photographs nor fonts."""
    drawn = {kind: [Face(face(kind, FACE_W), float(FACE_H))] for kind in KINDS if kind != BACK}
    return Pool("rendered", "rendered/own faces", drawn)


def drawn_faces(rng: Rng) -> dict[str, list[Face]]:
    """Draw all faces of a style that only this generator knows, ``back`` included."""
    from vision.training.art import draw_face
    from vision.training.styles import random_style

    style = random_style(rng)
    return {label: [Face(draw_face(label, style), 128.0)] for label in LABELS[:43]}


def _rendered(rng: Rng) -> tuple[Deal, Picture]:
    """A hand of our own design at a place of the default table, looked at straight on."""
    calibration = default_calibration()
    while True:
        dealt = deal(rng, frozenset(LABELS[:42]))
        dealt = Deal(dealt.hand, dealt.shape)  # this renderer lays no tile sideways
        place, seed = int(rng.integers(4)), int(rng.integers(1 << 30))
        scene = Scene(None, {place: dealt.hand}, (17, 12, 9, 4), seed)
        try:
            frame = render(scene, calibration, seed=seed)
        except SceneError:
            continue
        quads = [quad for _, quad in tile_quads(scene, calibration)][-len(dealt.kinds) :]
        view = calibration.rectify(frame, place)
        seen = np.stack([map_points(view.matrix, quad) for quad in quads])
        boxes = np.concatenate([seen.min(1), seen.max(1)], 1).astype(np.float32)
        return dealt, Picture(view.image, boxes, dealt.kinds)


def fingerprint(pools: Sequence[Pool]) -> str:
    """Name the faces in play: another split or label gives another name."""
    text = ";".join(f"{p.name}:{k}:{len(v)}" for p in pools for k, v in sorted(p.faces.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
