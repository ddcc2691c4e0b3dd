"""The training loop of both networks: one-cycle AdamW, moving average, checkpoints, a JSON-lines log."""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from vision.training.pen import Rng

Batch = tuple[np.ndarray[Any, Any], ...]


@dataclass(frozen=True)
class Plan:
    """How long and how fast: ``steps`` of ``batch`` samples at a peak rate ``rate``."""

    steps: int
    batch: int
    rate: float
    ema: float
    seed: int = 0
    decay: float = 0.02
    clip: float = 5.0
    warm: float = 0.1
    log_every: int = 20
    save_every_s: float = 120.0


def one_cycle(step: int, plan: Plan) -> float:
    """Return the learning rate of a step: linear rise, cosine fall."""
    rise = max(1, int(plan.steps * plan.warm))
    if step < rise:
        return plan.rate * (0.05 + 0.95 * step / rise)
    done = (step - rise) / max(1, plan.steps - rise)
    return plan.rate * (0.005 + 0.995 * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))


class Average:
    """Exponential moving average of a model's weights and batch-norm statistics."""

    def __init__(self, model: nn.Module, decay: float):
        self.model = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def update(self, model: nn.Module, step: int) -> None:
        """Move the average towards the model; faster during the first steps."""
        keep = min(self.decay, (1 + step) / (10 + step))
        for mine, theirs in zip(self.model.state_dict().values(), model.state_dict().values(), strict=True):
            if mine.dtype.is_floating_point:
                mine.lerp_(theirs, 1 - keep)
            else:
                mine.copy_(theirs)


def train(
    model: nn.Module,
    draw: Callable[[Rng, int], Batch],
    step_loss: Callable[[nn.Module, list[torch.Tensor]], torch.Tensor],
    plan: Plan,
    out: Path,
    start_from: Path | None = None,
) -> nn.Module:
    """Train until ``plan.steps``, resuming from ``out`` where a checkpoint lies; return the average.

    ``draw(rng, size)`` makes a batch of arrays from a generator seeded by (seed, step), so that a
    resumed run sees the samples that an unbroken one would have seen. ``start_from`` names a
    checkpoint whose averaged weights begin a fresh run.
    """
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(plan.seed)
    before = 0
    if start_from is not None:
        earlier = torch.load(start_from, weights_only=True)
        model.load_state_dict(earlier["average"])
        before = int(earlier["step"]) + int(earlier.get("before", 0))
    model.train().to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(_groups(model, plan.decay), lr=plan.rate)
    average = Average(model, plan.ema)
    done = _resume(out / "checkpoint.pt", model, optimizer, average)
    (out / "plan.json").write_text(json.dumps(asdict(plan), indent=1))
    started = saved = time.monotonic()
    losses: list[float] = []
    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(draw, np.random.default_rng([plan.seed, done]), plan.batch)
        steps = tqdm(range(done, plan.steps), out.name, initial=done, total=plan.steps, mininterval=5)
        for step in steps:
            batch = [torch.from_numpy(a) for a in ahead.result()]
            ahead = pool.submit(draw, np.random.default_rng([plan.seed, step + 1]), plan.batch)
            for group in optimizer.param_groups:
                group["lr"] = one_cycle(step, plan)
            value = step_loss(model, batch)
            optimizer.zero_grad(set_to_none=True)
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), plan.clip)
            optimizer.step()
            average.update(model, step)
            losses.append(float(value.detach()))
            if (step + 1) % plan.log_every == 0 or step + 1 == plan.steps:
                entry = {
                    "step": step + 1,
                    "loss": round(float(np.mean(losses)), 5),
                    "rate": one_cycle(step, plan),
                }
                entry["seconds"] = round(time.monotonic() - started, 1)
                with (out / "log.jsonl").open("a") as log:
                    log.write(json.dumps(entry) + "\n")
                steps.set_postfix(loss=entry["loss"])
                losses.clear()
            if time.monotonic() - saved > plan.save_every_s or step + 1 == plan.steps:
                _save(out / "checkpoint.pt", model, optimizer, average, step + 1, before)
                saved = time.monotonic()
        ahead.cancel()
    return average.model


def _groups(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]


def _save(path: Path, model: nn.Module, optimizer: Any, average: Average, step: int, before: int) -> None:
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "average": average.model.state_dict(),
        "step": step,
        "before": before,
    }
    part = path.with_suffix(".part")
    torch.save(state, part)
    part.replace(path)


def _resume(path: Path, model: nn.Module, optimizer: Any, average: Average) -> int:
    if not path.exists():
        return 0
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    average.model.load_state_dict(state["average"])
    return int(state["step"])


def draw_curve(log: Path, picture: Path) -> None:
    """Draw the loss over the steps of a JSON-lines log as a PNG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    rows = [json.loads(line) for line in log.read_text().splitlines()]
    figure, axes = plt.subplots(figsize=(7, 4))
    axes.plot([r["step"] for r in rows], [r["loss"] for r in rows])
    axes.set(xlabel="step", ylabel="loss", yscale="log", title=log.parent.name)
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    plt.close(figure)
