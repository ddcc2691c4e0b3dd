"""The parts of the model card that no run changes: contract, decoding, data and licences."""

from __future__ import annotations

from typing import Any

_NORMALISATION = "(x - 127.5) / 64, inside the graph"

FIXED: dict[str, Any] = {
    "format": 1,
    "detector": {
        "input": {
            "name": "image",
            "dtype": "uint8",
            "shape": [1, "height", "width", 3],
            "multiple": 32,
            "colour": "BGR",
            "normalisation": _NORMALISATION,
        },
        "outputs": {
            "maps": {
                "shape": [1, 5, "height / 8", "width / 8"],
                "stride": 8,
                "channels": ["heat logit", "log left", "log top", "log right", "log bottom"],
                "unit": "cells of 8 px, from the cell's centre to the box's sides",
            }
        },
    },
    "classifier": {
        "input": {
            "name": "crops",
            "dtype": "uint8",
            "shape": ["n", 64, 48, 3],
            "colour": "BGR",
            "normalisation": _NORMALISATION,
            "margin": 0.04,
            "turn_clockwise_above": 1.1,
        },
        "outputs": {
            "logits": {"shape": ["n", 44], "meaning": "20 x cosine to the weight of each label"},
            "embedding": {"shape": ["n", 128], "meaning": "unit length"},
            "red": {"shape": ["n"], "meaning": "logit that a five is red; means nothing for other kinds"},
        },
    },
    "decode": {
        "long_side": 640,
        "multiple": 32,
        "pad": 114,
        "threshold": 0.35,
        "iou": 0.6,
        "centre": 0.4,
        "peak": 3,
    },
    "gate": {
        "doubt": 0.7,
        "drawn": 0.9,
        "floor": 0.4,
        "outside": 0.3,
        "box": 0.35,
        "border": 1.0,
        "whole": 0.85,
        "overlap": 0.7,
        "unseen": 0.7,
        "unseen_blank": 0.985,
        "unseen_back": 0.9,
        "red": 0.8,
    },
    "data": [
        {
            "name": "Chinese Mahjong Detection v4",
            "author": "Roboflow user riichimahjongdetection",
            "source": "universe.roboflow.com/riichimahjongdetection/chinese-mahjong-detection",
            "licence": "CC-BY-4.0",
            "changes": "un-stretched, about 35 labels corrected, hold-out left out",
        },
        {
            "name": "mahjong-dataset",
            "author": "Camerash",
            "source": "github.com/Camerash/mahjong-dataset",
            "licence": "MIT",
            "changes": "single-tile crops",
        },
        {
            "name": "Mahjong_Tile_Classifier",
            "author": "justinchan114",
            "source": "github.com/justinchan114/Mahjong_Tile_Classifier",
            "licence": "MIT",
            "changes": "single-tile crops",
        },
        {
            "name": "rendered tiles and scenes",
            "author": "The Quezhuo authors",
            "source": "vision/training/art.py, vision/training/scenes.py",
            "licence": "Apache-2.0",
            "changes": "characters drawn from fonts: Noto CJK, WenQuanYi, AR PL (Arphic), LXGW WenKai, "
            "Reggae One, Kouzan and Aoyagi brushes",
        },
    ],
}
