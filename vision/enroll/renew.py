"""Learns a tile set anew for another recognizer, from the small pictures in its file."""

from __future__ import annotations

from dataclasses import replace

from vision.enroll.shots import shots_of
from vision.enroll.tileset import TileSet
from vision.errors import TileSetError
from vision.recognizer import Recognizer

__all__ = ["is_stale", "renewed"]


def is_stale(tiles: TileSet, recognizer: Recognizer) -> bool:
    """Whether a set was learned with another recognizer than this."""
    return recognizer.card is not None and recognizer.card.sha256["classifier"] != tiles.provenance.model


def renewed(tiles: TileSet, recognizer: Recognizer, version: str) -> TileSet:
    """Return the set as this recognizer sees its pictures, guarded anew.

    ``version``: of the program, for the provenance. Raises TileSetError for a set without pictures.
    """
    if recognizer.card is None:
        raise TileSetError("A recognizer without a card cannot learn a tile set: give a model card.")
    shots = []
    for shot in tiles.shots:
        if shot.patch is None:
            raise TileSetError(
                f"The tile set {tiles.provenance.name} holds no pictures of its tiles: capture the set again."
            )
        look = shots_of(
            recognizer.classify, shot.patch.image(), [shot.patch.box], [shot.kind], shot.picture, keep=False
        )
        shots.append(replace(look[0], patch=shot.patch))
    origin = replace(
        tiles.provenance,
        model=recognizer.card.sha256["classifier"],
        temperature=recognizer.temperature,
        version=version,
    )
    return TileSet.build(shots, tiles.kinds, origin)
