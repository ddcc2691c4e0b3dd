"""Developer's tool: rasterise the tile sprite (SVG symbols ``t-1m`` … ``t-back``) into ``atlas.png``.

Example: ``python -m vision.render.make_atlas station/web/static/tiles.svg``. Needs Chromium; not used at
run time.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.render.atlas import ATLAS_FILE, CELL, COLUMNS, KINDS

__all__ = ["main", "page"]


def page(sprite: str) -> str:
    """HTML that lays the symbols of a sprite out on the atlas grid, background transparent."""
    width, height = CELL
    cells = "".join(
        f'<svg style="position:absolute;left:{i % COLUMNS * width}px;top:{i // COLUMNS * height}px"'
        f' width="{width}" height="{height}"><use href="#t-{kind}"/></svg>'
        for i, kind in enumerate(KINDS)
    )
    return f"<!doctype html><meta charset=utf-8><style>body{{margin:0}}</style>{sprite}{cells}"


def _clear_back(image: NDArray[np.uint8]) -> None:
    """Keep only the white pattern of the back, so that it can lie on any colour."""
    index = KINDS.index("back")
    left, top = index % COLUMNS * CELL[0], index // COLUMNS * CELL[1]
    cell = image[top : top + CELL[1], left : left + CELL[0]]
    base = cell[CELL[1] // 2 - 30, 3, :3].astype(np.float32)
    white = ((cell[..., :3] - base) / (255 - base)).min(axis=2)
    cell[..., 3] = (np.clip(white, 0, 1) * cell[..., 3]).astype(np.uint8)
    cell[..., :3] = 255


def main() -> None:
    """Rasterise and write the atlas beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sprite", type=Path)
    parser.add_argument("--browser", default="chromium")
    arguments = parser.parse_args()
    rows = -(-len(KINDS) // COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        source, shot = Path(folder) / "page.html", Path(folder) / "shot.png"
        source.write_text(page(arguments.sprite.read_text("utf-8")), "utf-8")
        command = [arguments.browser, "--headless", "--no-sandbox", "--hide-scrollbars"]
        command += ["--default-background-color=00000000", f"--screenshot={shot}"]
        command += [f"--window-size={COLUMNS * CELL[0]},{rows * CELL[1]}", source.as_uri()]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603
        image = cv2.imread(str(shot), cv2.IMREAD_UNCHANGED)
    if image is None:
        raise SystemExit("the browser gave no picture")
    sheet = np.asarray(image, np.uint8)
    _clear_back(sheet)
    # Steps of 8 in colour cost nothing to the eye and halve the file.
    sheet[..., :3] = np.minimum(sheet[..., :3].astype(np.uint16) + 4, 255) // 8 * 8
    sheet[sheet[..., 3] == 0] = 0
    cv2.imwrite(str(ATLAS_FILE), sheet, [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main()
