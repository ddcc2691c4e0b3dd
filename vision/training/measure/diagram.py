"""Reliability: how often a probability tells the truth, as a table and as a PNG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from vision.training.measure.bounds import reliability, wilson
from vision.training.measure.journal import Record

Scores = Sequence[tuple[float, bool]]
LEAST_TILES = 10
"""A bin of a single source with fewer tiles tells nothing, and is not drawn."""


def scores(records: Iterable[Record], way: str) -> dict[str, list[tuple[float, bool]]]:
    """Scores of tiles found and whether they were right, by source and ``all``."""
    found: dict[str, list[tuple[float, bool]]] = {"all": []}
    for record in records:
        mine = [(float(s), bool(ok)) for s, ok in record["ways"][way]["scores"]]
        found["all"] += mine
        found.setdefault(record["source"], []).extend(mine)
    return found


def report(by_source: Mapping[str, Scores]) -> str:
    """Return markdown: calibration error and mean score per source, then the bins of all."""
    lines = ["| source | tiles | right | mean p | ECE |", "|---|---|---|---|---|"]
    for name, mine in by_source.items():
        _, error = reliability(mine)
        right, mean = (
            sum(ok for _, ok in mine) / max(1, len(mine)),
            sum(s for s, _ in mine) / max(1, len(mine)),
        )
        lines.append(f"| {name} | {len(mine)} | {right:.3%} | {mean:.3%} | {error:.4f} |")
    lines += ["", "| mean p | tiles | right (95 %) |", "|---|---|---|"]
    for one in reliability(by_source["all"])[0]:
        low, high = wilson(round(one.right * one.count), one.count)
        lines.append(f"| {one.mean:.3f} | {one.count} | {one.right:.2%} ({low:.2%}–{high:.2%}) |")
    return "\n".join(lines)


def draw(by_source: Mapping[str, Scores], file: Path) -> None:
    """Draw the diagram, 95 % intervals for all sources together; needs matplotlib (extra ``train``)."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 6))
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for name, mine in by_source.items():
        bins, error = reliability(mine)
        label = f"{name}: ECE {error:.4f}, {len(mine)} tiles"
        if name != "all":
            told = [b for b in bins if b.count >= LEAST_TILES]
            axes.plot([b.mean for b in told], [b.right for b in told], marker=".", linewidth=0.9, label=label)
            continue
        spans = [wilson(round(b.right * b.count), b.count) for b in bins]
        bars = [
            [b.right - low for b, (low, _) in zip(bins, spans, strict=True)],
            [high - b.right for b, (_, high) in zip(bins, spans, strict=True)],
        ]
        points = [b.mean for b in bins], [b.right for b in bins]
        axes.errorbar(*points, yerr=np.maximum(bars, 0), color="black", marker="o", label=label, capsize=2)
    axes.set(xlabel="probability", ylabel="share right", title="reliability")
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file, dpi=120)
    plt.close(figure)
