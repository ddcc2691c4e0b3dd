"""Which module may load what: the pure core needs no camera, no runtime and no fonts."""

import subprocess
import sys

import pytest

HEAVY = ("cv2", "onnxruntime", "torch")
PURE = [
    "errors",
    "readings",
    "decode",
    "arrange",
    "interpret",
    "sizes",
    "areas",
    "indicator",
    "unseen",
    "table",
    "shapes",
    "rowparse",
    "hand",
]
WITH_PICTURES = [
    "imaging",
    "pictures",
    "geometry",
    "camera",
    "fitness",
    "render",
    "reading_service",
    "hand_reading",
    "walls",
    "model_card",
]


def loaded_by(modules: list[str]) -> list[str]:
    imports = "; ".join(f"import vision.{module}" for module in modules)
    code = f"import sys; {imports}; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [(PURE, []), (WITH_PICTURES, ["cv2"]), (["recognizer"], ["cv2", "onnxruntime"])],
    ids=["pure core", "pictures", "recognizer"],
)
def test_only_the_recognizer_loads_the_runtime_and_the_core_nothing(
    modules: list[str], heavy: list[str]
) -> None:
    assert loaded_by(modules) == heavy
