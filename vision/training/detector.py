"""The tile detector: one stride-8 map of centres and box sides. Network and loss."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as fn


def conv(inside: int, outside: int, stride: int = 1, kernel: int = 3) -> nn.Sequential:
    """Convolution + batch norm + ReLU."""
    return nn.Sequential(
        nn.Conv2d(inside, outside, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):  # type: ignore[misc]
    """x + two convolutions, ReLU after the sum."""

    def __init__(self, width: int):
        super().__init__()
        self.first = conv(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a map of the same shape."""
        return fn.relu(x + self.second(self.first(x)))


class Detector(nn.Module):  # type: ignore[misc]
    """0.9 M parameters; float (N, 3, H, W) BGR normalised -> (N, 5, H/8, W/8): heat, log l, t, r, b."""

    def __init__(self) -> None:
        super().__init__()
        self.s4 = nn.Sequential(conv(3, 16, 2), conv(16, 32, 2), conv(32, 32))
        self.s8 = nn.Sequential(conv(32, 64, 2), Residual(64))
        self.s16 = nn.Sequential(conv(64, 96, 2), Residual(96))
        self.s32 = nn.Sequential(conv(96, 128, 2), Residual(128))
        self.top = conv(128, 64, kernel=1)
        self.side16, self.join16 = conv(96, 64, kernel=1), conv(64, 64)
        self.side8, self.join8 = conv(64, 64, kernel=1), Residual(64)
        self.head = nn.Sequential(conv(64, 64), nn.Conv2d(64, 5, 1))
        with torch.no_grad():
            self.head[1].weight.mul_(0.1)
            self.head[1].bias.copy_(torch.tensor([-4.0, 0.7, 0.7, 0.7, 0.7]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the five maps at stride 8."""
        c8 = self.s8(self.s4(x))
        c16 = self.s16(c8)
        up = fn.interpolate(self.top(self.s32(c16)), scale_factor=2.0, mode="nearest")
        p16 = self.join16(up + self.side16(c16))
        p8 = self.join8(fn.interpolate(p16, scale_factor=2.0, mode="nearest") + self.side8(c8))
        return self.head(p8)


def normalise(images: torch.Tensor) -> torch.Tensor:
    """Turn uint8 (N, H, W, 3) into the float (N, 3, H, W) that the networks take."""
    return (images.permute(0, 3, 1, 2).float() - 127.5) / 64.0


def loss(
    maps: torch.Tensor, heat: torch.Tensor, sides: torch.Tensor, mask: torch.Tensor, weight: torch.Tensor
) -> torch.Tensor:
    """CenterNet focal loss of the centres + 2 x GIoU of the boxes."""
    maps = maps.float()
    logit = maps[:, 0]
    p = torch.sigmoid(logit).clamp(1e-5, 1 - 1e-5)
    positive = heat >= 0.999
    near = (1 - p) ** 2 * torch.log(p)
    far = (1 - heat) ** 4 * p**2 * torch.log(1 - p)
    focal = -(torch.where(positive, near, far) * weight).sum() / positive.sum().clamp(min=1)
    sure = maps[:, 1:].clamp(-4, 5).exp()
    overlap = [torch.minimum(sure[:, k], sides[:, k]) for k in range(4)]
    hull = [torch.maximum(sure[:, k], sides[:, k]) for k in range(4)]
    inter = (overlap[0] + overlap[2]) * (overlap[1] + overlap[3])
    area = (sure[:, 0] + sure[:, 2]) * (sure[:, 1] + sure[:, 3])
    wanted = (sides[:, 0] + sides[:, 2]) * (sides[:, 1] + sides[:, 3])
    union = area + wanted - inter
    cover = (hull[0] + hull[2]) * (hull[1] + hull[3])
    giou = inter / union - (cover - union) / cover
    return focal + 2 * ((1 - giou) * mask).sum() / mask.sum().clamp(min=1)
