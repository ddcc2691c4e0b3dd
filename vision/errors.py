"""Errors of the vision room.

VisionError
├── ImageError          a picture file cannot be used
├── CameraError         the camera gives no frame now
├── ModelError          the model files and their card do not belong together
├── CalibrationError    the taught geometry is missing or wrong
├── SceneError          a scene to render is not possible
├── TileSetError        an enrolled tile set is not usable or not complete
├── RegionError         a region of interest is not usable
└── ShapeError          an array has the wrong shape (a mistake of the caller)

Every message is one plain sentence with what to do about it.
"""

__all__ = [
    "CalibrationError",
    "CameraError",
    "ImageError",
    "ModelError",
    "RegionError",
    "SceneError",
    "ShapeError",
    "TileSetError",
    "VisionError",
]


class VisionError(Exception):
    """Base of everything this room raises on purpose.

    ``code`` is a stable identifier for screens and logs.
    """

    code = "vision"


class ImageError(VisionError):
    """A picture file is missing, empty, cut off, or no picture at all."""

    code = "vision.image"


class CameraError(VisionError):
    """The camera (device, folder or scene file) gives no frame at present."""

    code = "vision.camera"


class ModelError(VisionError):
    """Model files, model card and this program do not belong together."""

    code = "vision.model"


class CalibrationError(VisionError):
    """The taught table geometry cannot be used."""

    code = "vision.calibration"


class SceneError(VisionError):
    """The scene cannot be laid on the table."""

    code = "vision.scene"


class TileSetError(VisionError):
    """An enrolled tile set, or the capture of one, cannot be used or is not complete."""

    code = "vision.tileset"


class RegionError(VisionError):
    """The region of interest is not four numbers or lies outside the picture."""

    code = "vision.region"


class ShapeError(VisionError, ValueError):
    """An array argument has the wrong shape; carries both shapes."""

    code = "vision.shape"

    def __init__(self, name: str, expected: str, actual: tuple[int, ...]) -> None:
        super().__init__(f"{name} must have shape {expected}, not {actual}: check the caller.")
        self.name = name
        self.expected = expected
        self.actual = actual
