"""As much of PDF as a sheet of cards needs: A4 pages of filled shapes, exact to 0.01 mm.

Source: ISO 32000-1, 7.5 (file structure) and 8.5 (paths). Lengths in millimetres, origin at the bottom left.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["A4", "Page", "pdf_bytes"]

A4: Final = (210.0, 297.0)
POINT: Final = 72 / 25.4
"""Points a millimetre."""


@dataclass(slots=True)
class Page:
    """The drawing operators of one page, in millimetres."""

    operators: list[str] = field(default_factory=list)

    def box(self, x: float, y: float, width: float, height: float, *, white: bool = False) -> None:
        """Fill a black or white rectangle."""
        colour = "1 g " if white else "0 g "
        self.operators.append(f"{colour}{x:.2f} {y:.2f} {width:.2f} {height:.2f} re f 0 g")

    def frame(self, x: float, y: float, width: float, height: float, line: float = 0.1) -> None:
        """Draw the grey outline of a rectangle."""
        self.operators.append(f"q 0.6 G {line:.2f} w {x:.2f} {y:.2f} {width:.2f} {height:.2f} re S Q")

    def latin(self, x: float, y: float, height: float, text: str) -> None:
        """Write ASCII text in Helvetica, which every PDF reader has; ``height``: of the type."""
        safe = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self.operators.append(f"BT /F1 {height:.2f} Tf {x:.2f} {y:.2f} Td ({safe}) Tj ET")

    def outline(self, x: float, y: float, scale: float, path: str) -> None:
        """Fill an outline given as PDF path operators in its own units; ``scale``: millimetres a unit."""
        self.operators.append(f"q {scale:.6f} 0 0 {scale:.6f} {x:.3f} {y:.3f} cm {path} f Q")


def pdf_bytes(pages: Sequence[Page], title: str) -> bytes:
    """Return a PDF file of A4 pages; the same pages give the same bytes. ``title`` is ASCII."""
    width, height = (round(side * POINT, 3) for side in A4)
    kids = " ".join(f"{4 + 2 * k} 0 R" for k in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, page in enumerate(pages):
        text = "\n".join([f"{POINT:.8f} 0 0 {POINT:.8f} 0 0 cm", *page.operators]).encode("ascii")
        packed = zlib.compress(text, 9)
        objects += [
            (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}]"
                f" /Contents {5 + 2 * number} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            ).encode(),
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
        ]
    objects.append(f"<< /Title ({title}) >>".encode("ascii"))
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    starts = []
    for number, body in enumerate(objects, 1):
        starts.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % start for start in starts)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects))
    out += b"startxref\n%d\n%%%%EOF\n" % table
    return bytes(out)
