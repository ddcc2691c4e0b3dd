"""The model card: what the networks are, as data beside them, checked before anything runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.tiles import TILE_IDS
from vision.decode import DecodeSettings
from vision.errors import ModelError
from vision.interpret import Thresholds

__all__ = ["DEFAULT_CARD", "FORMAT", "LABELS", "OTHER", "ModelCard"]

FORMAT = 1
"""Version of the card and of the networks' inputs and outputs this program speaks."""
OTHER = "other"
"""The classifier's answer for "no tile here"."""
LABELS = (*TILE_IDS[:43], OTHER)
"""What the classifier's outputs mean, in order."""
DEFAULT_CARD = Path(__file__).parent / "models" / "recognizer.json"


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A pair of networks that belong together.

    ``detector`` and ``classifier`` are the ONNX files, ``sha256`` their hashes by name;
    ``temperature`` makes the classifier's outputs probabilities; ``limits`` say when a tile is doubtful.
    """

    path: Path
    detector: Path
    classifier: Path
    sha256: Mapping[str, str]
    temperature: float
    limits: Thresholds = field(default_factory=Thresholds)
    settings: DecodeSettings = field(default_factory=DecodeSettings)

    @classmethod
    def load(cls, path: Path | None = None) -> ModelCard:
        """Read a card and check it against its files; the shipped one without a path.

        Raises ModelError when the card cannot be read, is of another format, names other labels, or
        when a model file is missing or not the one the card describes.
        """
        path = path or DEFAULT_CARD
        data = _read(path)
        if data.get("format") != FORMAT:
            raise ModelError(
                f"{path.name} has format {data.get('format')!r}, this program reads format {FORMAT}:"
                " take the model files that came with this version."
            )
        if tuple(data.get("labels", ())) != LABELS:
            raise ModelError(
                f"{path.name} lists other tile kinds than this program knows:"
                " take the model files that came with this version."
            )
        try:
            return cls._parse(path, data)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{path.name} lacks a usable value ({error}): restore the model files."
            ) from error

    @classmethod
    def _parse(cls, path: Path, data: Mapping[str, Any]) -> ModelCard:
        files = {name: path.parent / str(data[name]["file"]) for name in ("detector", "classifier")}
        hashes = {name: str(data[name]["sha256"]) for name in files}
        for name, file in files.items():
            _verify(file, hashes[name])
        decode = dict(data.get("decode", {}))
        known = {name: decode[name] for name in DecodeSettings.__dataclass_fields__ if name in decode}
        temperature = float(data["temperature"])
        if not 0 < temperature < 100:
            raise ValueError(f"temperature {temperature}")
        return cls(
            path,
            files["detector"],
            files["classifier"],
            hashes,
            temperature,
            _limits(decode, data.get("gate", {})),
            DecodeSettings(**known),
        )


def _limits(decode: Mapping[str, Any], gate: Mapping[str, Any]) -> Thresholds:
    """Thresholds of doubt: of the card's ``gate``; the two that decoding uses as well of ``decode``."""
    shared = {"doubt": decode.get("doubt", 0.7), "box": decode.get("threshold", 0.35)}
    named = {name: float(value) for name, value in {**shared, **gate}.items()}
    unknown = set(named) - set(Thresholds.__dataclass_fields__)
    if unknown or any(not 0 <= value <= 1 for name, value in named.items() if name != "border"):
        raise ValueError(f"gate {sorted(unknown) or named}")
    return Thresholds(**named)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ModelError(f"The model card {path} cannot be read: install the model files again.") from error
    except ValueError as error:
        raise ModelError(f"{path.name} is not a model card (JSON): give the recognizer.json.") from error
    if not isinstance(data, dict):
        raise ModelError(f"{path.name} is not a model card (JSON object): give the recognizer.json.")
    return data


def _verify(file: Path, expected: str) -> None:
    try:
        with file.open("rb") as stream:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"The model file {file} cannot be read: install the model files again.") from error
    if actual != expected:
        raise ModelError(
            f"{file.name} is not the model its card describes (sha256 {actual[:12]}… instead of"
            f" {expected[:12]}…): install the model files again."
        )
