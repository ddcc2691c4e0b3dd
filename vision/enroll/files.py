"""The tile set file, and the file of a capture that goes on later: JSON, written whole or not at all."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vision.enroll.guard import Guard
from vision.enroll.plan import ordered
from vision.enroll.prototypes import Blend
from vision.enroll.shots import LOOK, Patch, Shot
from vision.enroll.tileset import Provenance, TileSet
from vision.errors import TileSetError
from vision.model_card import LABELS, ModelCard
from vision.readings import EMBEDDING, Floats
from vision.saving import replace_text

__all__ = ["FORMAT", "Capture", "load_capture", "load_tileset", "save_capture", "save_tileset"]

FORMAT: Final = 1
CAPTURE: Final = "quezhuo capture"
TILESET: Final = "quezhuo tile set"
LARGEST = 64 << 20
"""Bytes above which a file is no tile set."""


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """An enrolment that is going on: rows of the plan already taken, and their shots.

    ``kinds``: what is to be captured; ``model``: sha256 of the classifier; ``done``: indices into the plan.
    """

    kinds: tuple[str, ...]
    model: str
    done: tuple[int, ...] = ()
    shots: tuple[Shot, ...] = ()


def save_tileset(tiles: TileSet, path: Path) -> None:
    """Write a tile set file: draft beside it, flushed to disk, then put in its place."""
    data = {
        "what": TILESET,
        "format": FORMAT,
        "provenance": asdict(tiles.provenance),
        "kinds": list(tiles.kinds),
        "guard": tiles.guard.to_json(),
        "blend": {
            "labels": [LABELS[column] for column in tiles.blend.columns],
            "weight": tiles.blend.weight,
            "scale": tiles.blend.scale,
            "offset": tiles.blend.offset,
        },
        "prototypes": _packed(tiles.blend.prototypes, "float32"),
        "shots": [_shot_to_json(shot) for shot in tiles.shots],
    }
    _write(path, data)


def load_tileset(path: Path, card: ModelCard | None = None) -> TileSet:
    """Read a tile set file; with ``card`` it has to be of that card's classifier.

    Raises TileSetError when it cannot be read, is of another kind or format, lacks kinds or values, or
    belongs to another network.
    """
    data = _read(path, TILESET)
    try:
        tiles = _tileset(data)
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
        raise TileSetError(f"{path.name} lacks a usable value ({error}): capture the set again.") from error
    lacking = [kind for kind in tiles.kinds if LABELS.index(kind) not in tiles.blend.columns]
    if lacking or not tiles.kinds:
        raise TileSetError(
            f"{path.name} has no prototype of {' '.join(lacking) or 'any kind'}: capture the set again."
        )
    if card is not None:
        tiles.check_model(card)
    return tiles


def _tileset(data: Mapping[str, Any]) -> TileSet:
    blend, guard, origin = data["blend"], data["guard"], data["provenance"]
    columns = np.asarray([LABELS.index(kind) for kind in blend["labels"]], np.intp)
    prototypes = _unpacked(data["prototypes"], (len(columns), EMBEDDING))
    weight, scale, offset = (float(blend[name]) for name in ("weight", "scale", "offset"))
    if not 0 <= weight <= 1 or not np.isfinite([scale, offset]).all():
        raise ValueError(f"weight {weight}, scale {scale}, offset {offset}")
    if len(columns) and np.abs(np.linalg.norm(prototypes, axis=1) - 1).max() > 1e-3:
        raise ValueError("a prototype that is not of unit length")
    return TileSet(
        ordered(str(kind) for kind in data["kinds"]),
        tuple(_shot_from_json(shot) for shot in data["shots"]),
        Blend(columns, prototypes, weight, scale, offset),
        Guard(**{name: type(guard[name])(guard[name]) for name in Guard.__dataclass_fields__}),
        Provenance(
            name=str(origin["name"]),
            table=str(origin["table"]),
            when=str(origin["when"]),
            version=str(origin["version"]),
            model=str(origin["model"]),
            temperature=float(origin["temperature"]),
            sources=tuple(str(source) for source in origin["sources"]),
        ),
    )


def save_capture(capture: Capture, path: Path) -> None:
    """Write what has been captured so far."""
    data = {
        "what": CAPTURE,
        "format": FORMAT,
        "kinds": list(capture.kinds),
        "model": capture.model,
        "done": list(capture.done),
        "shots": [_shot_to_json(shot) for shot in capture.shots],
    }
    _write(path, data)


def load_capture(path: Path) -> Capture:
    """Read what has been captured so far; raises TileSetError."""
    data = _read(path, CAPTURE)
    try:
        return Capture(
            tuple(str(kind) for kind in data["kinds"]),
            str(data["model"]),
            tuple(int(index) for index in data["done"]),
            tuple(_shot_from_json(shot) for shot in data["shots"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
        raise TileSetError(
            f"{path.name} lacks a usable value ({error}): delete it and capture the set again."
        ) from error


def _shot_to_json(shot: Shot) -> dict[str, Any]:
    data: dict[str, Any] = {
        "kind": shot.kind,
        "picture": shot.picture,
        "logits": _packed(shot.logits),
        "embeddings": _packed(shot.embeddings),
        "look": _packed(shot.look),
    }
    if shot.patch is not None:
        jpeg = base64.b64encode(shot.patch.jpeg).decode("ascii")
        data["patch"] = {"jpeg": jpeg, "box": list(shot.patch.box)}
    return data


def _shot_from_json(data: Mapping[str, Any]) -> Shot:
    patch = None
    if "patch" in data:
        x0, y0, x1, y1 = (float(v) for v in data["patch"]["box"])
        patch = Patch(base64.b64decode(data["patch"]["jpeg"], validate=True), (x0, y0, x1, y1))
    kind = str(data["kind"])
    LABELS.index(kind)
    return Shot(
        kind,
        str(data["picture"]),
        _unpacked(data["logits"], (2, len(LABELS))),
        _unpacked(data["embeddings"], (2, EMBEDDING)),
        _unpacked(data["look"], (LOOK,)),
        patch,
    )


def _packed(array: Floats, kind: str = "float16") -> dict[str, Any]:
    """Pack numbers as base64, little-endian; half precision is finer than the network's own int8."""
    raw = np.ascontiguousarray(array, np.dtype(kind).newbyteorder("<")).tobytes()
    return {"dtype": kind, "base64": base64.b64encode(raw).decode("ascii")}


def _unpacked(data: Mapping[str, Any], shape: Sequence[int]) -> Floats:
    if data["dtype"] not in ("float16", "float32"):
        raise ValueError(f"numbers of the type {data['dtype']!r}")
    raw = base64.b64decode(data["base64"], validate=True)
    array: NDArray[Any] = np.frombuffer(raw, np.dtype(data["dtype"]).newbyteorder("<")).reshape(shape)
    if not np.isfinite(array).all():
        raise ValueError("a number that is not finite")
    return array.astype(np.float32)


def _read(path: Path, what: str) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST:
            raise TileSetError(f"{path.name} is too large for a {what}: give the file enroll has written.")
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise TileSetError(
            f"The file {path} cannot be read ({error.strerror}): check the name, or capture the set again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise TileSetError(f"{path.name} is no {what} (JSON): give the file enroll has written.") from error
    if not isinstance(data, dict) or data.get("what") != what:
        raise TileSetError(f"{path.name} is no {what}: give the file enroll has written.")
    if data.get("format") != FORMAT:
        raise TileSetError(
            f"{path.name} has format {data.get('format')!r}, this program reads format {FORMAT}:"
            " capture the set again."
        )
    return data


def _write(path: Path, data: Mapping[str, Any]) -> None:
    try:
        replace_text(path, json.dumps(data, ensure_ascii=False) + "\n")
    except OSError as error:
        raise TileSetError(
            f"The file {path} cannot be written ({error.strerror}): choose another folder or make room."
        ) from error
