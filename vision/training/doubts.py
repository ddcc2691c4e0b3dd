"""Lists labels that the trained classifier contradicts with confidence: candidates for correction."""

from __future__ import annotations

from pathlib import Path

from vision.training.dataset import LABELS, PHOTO_SOURCES, load_photos
from vision.training.evaluate import classify, session

SURE = 0.9


def list_doubts(classifier: Path, temperature: float) -> list[str]:
    """Return ``source/name box: label -> reading (p)`` for every label contradicted with p > 0.9."""
    net = session(classifier)
    lines = []
    for photo in (p for source in PHOTO_SOURCES for p in load_photos(source)):
        chances = classify(net, photo.read(), photo.boxes, temperature)
        for i, row in enumerate(chances):
            best = int(row.argmax())
            if best != photo.kinds[i] and row[best] > SURE:
                box = [round(float(v)) for v in photo.boxes[i]]
                lines.append(
                    f"{photo.key} {box}: {LABELS[photo.kinds[i]]} -> {LABELS[best]} ({row[best]:.3f})"
                )
    return lines
