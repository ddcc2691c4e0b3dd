"""The tile classifier: a crop of one tile to 44 kinds, an embedding, and whether a five is red."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as fn

from vision.training.dataset import LABELS
from vision.training.detector import Residual, conv

COSINE_SCALE = 20.0
RED_SHARE = 0.1
"""Weight of the red fives in the loss: an attribute, which must not bend the kinds."""


class Classifier(nn.Module):  # type: ignore[misc]
    """1.67 M parameters; float (N, 3, 64, 48) -> logits (N, 44), embedding (N, 128), red (N,)."""

    def __init__(self) -> None:
        super().__init__()
        stages: list[nn.Module] = []
        for inside, outside in ((3, 32), (32, 64), (64, 128), (128, 192)):
            stages += [conv(inside, outside, 2), Residual(outside)]
        self.trunk = nn.Sequential(*stages)
        self.neck = nn.Sequential(
            nn.Flatten(), nn.Dropout(0.2), nn.Linear(192 * 12, 128, bias=False), nn.BatchNorm1d(128)
        )
        self.red = nn.Sequential(nn.Flatten(), nn.Linear(192 * 12, 1))
        self.kinds = nn.Parameter(torch.randn(len(LABELS), 128) * 0.1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return logits, unit-length embeddings and the logit that a five is red."""
        seen = self.trunk(x)
        embedding = fn.normalize(self.neck(seen).float(), dim=1)
        logits = COSINE_SCALE * embedding @ fn.normalize(self.kinds, dim=1).T
        return logits, embedding, self.red(seen).float()[:, 0]


def loss(logits: torch.Tensor, red: torch.Tensor, kinds: torch.Tensor, reds: torch.Tensor) -> torch.Tensor:
    """Cross-entropy with smoothing 0.05, and of the fives whose colour is known (``reds`` 0 or 1)."""
    value = fn.cross_entropy(logits.float(), kinds, label_smoothing=0.05)
    known = reds >= 0
    if bool(known.any()):
        value = value + RED_SHARE * fn.binary_cross_entropy_with_logits(red[known], reds[known].float())
    return value
