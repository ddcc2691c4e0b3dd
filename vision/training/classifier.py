"""The tile classifier: a crop of one tile to 44 kinds and an embedding. Network and loss."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as fn

from vision.training.dataset import LABELS
from vision.training.detector import Residual, conv

COSINE_SCALE = 20.0


class Classifier(nn.Module):  # type: ignore[misc]
    """1.67 M parameters; float (N, 3, 64, 48) -> logits (N, 44) = 20 x cosine, embedding (N, 128)."""

    def __init__(self) -> None:
        super().__init__()
        stages: list[nn.Module] = []
        for inside, outside in ((3, 32), (32, 64), (64, 128), (128, 192)):
            stages += [conv(inside, outside, 2), Residual(outside)]
        self.trunk = nn.Sequential(*stages)
        self.neck = nn.Sequential(
            nn.Flatten(), nn.Dropout(0.2), nn.Linear(192 * 12, 128, bias=False), nn.BatchNorm1d(128)
        )
        self.kinds = nn.Parameter(torch.randn(len(LABELS), 128) * 0.1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and unit-length embeddings."""
        embedding = fn.normalize(self.neck(self.trunk(x)).float(), dim=1)
        return COSINE_SCALE * embedding @ fn.normalize(self.kinds, dim=1).T, embedding


def loss(logits: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    """Cross-entropy with smoothing 0.05."""
    return fn.cross_entropy(logits.float(), kinds, label_smoothing=0.05)
