"""Developer's tool: take the outlines of the sheet's Chinese sentences from a font into ``glyphs.json``.

Example: ``python -m vision.calibration.make_glyphs NotoSansCJK-Regular.ttc``. Needs fonttools
(``pip install fonttools``); not used at run time.
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from vision.calibration.sheet import GLYPHS, TEXTS

__all__ = ["main"]

FACES = {"zh-Hans": "Noto Sans CJK SC", "zh-Hant": "Noto Sans CJK TC"}


def _path(glyphs: Any, name: str) -> tuple[int, str]:
    """Advance and outline of a glyph as PDF path operators, in font units (1000 a type's height)."""
    pen = import_module("fontTools.pens.recordingPen").RecordingPen()
    glyphs[name].draw(pen)
    letters = {"moveTo": "m", "lineTo": "l", "curveTo": "c"}
    words: list[str] = []
    for operator, points in pen.value:
        if operator in ("closePath", "endPath"):
            words.append("h")
            continue
        words += [str(round(value)) for point in points for value in point]
        words.append(letters[operator])
    return round(glyphs[name].width), " ".join(words)


def main() -> None:
    """Write the outlines of every sign that the sheet uses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collection", type=Path, help="NotoSansCJK-Regular.ttc")
    open_fonts = import_module("fontTools.ttLib").TTCollection
    fonts = {font["name"].getDebugName(4): font for font in open_fonts(parser.parse_args().collection)}
    taken = {}
    for lang, face in FACES.items():
        font = fonts[face]
        names, glyphs = font.getBestCmap(), font.getGlyphSet()
        signs = sorted(set("".join(line for page in TEXTS[lang] for line in page)))
        taken[lang] = {sign: _path(glyphs, names[ord(sign)]) for sign in signs}
    GLYPHS.write_text(json.dumps(taken, ensure_ascii=False, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
