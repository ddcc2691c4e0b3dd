"""A graph of the size of a "nano" single-stage detector at 640 x 640, weights drawn at random.

As large as YOLO11n (2.6 million parameters, 6.4 GFLOP): stages of 16, 32, 64, 128 and 256 channels, split
blocks with small bottlenecks, pyramid pooling, three heads of 64 + 34 channels, SiLU; its one attention block
is stood for by 1x1 convolutions of the same sizes. It reads nothing: only its time counts.

    python -m benchmarks.pipeline.nano FOLDER --graph FILE --threads 1 --passes 1
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from benchmarks.pipeline.clock import contest

SIDE = 640
CLASSES = 34
BOX_CHANNELS = 64


@dataclass
class Builder:
    """Collects nodes and weights; every method returns the name of its output."""

    rng: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)
    parameters: int = 0

    def node(self, kind: str, inputs: Sequence[str], outputs: int = 1, **attributes: object) -> list[str]:
        """Add a node."""
        names = [f"t{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def _weight(self, values: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        self.parameters += values.size
        return name

    def conv(
        self, x: str, wide: int, out: int, k: int = 3, step: int = 1, group: int = 1, act: bool = True
    ) -> str:
        """Convolution with bias (batch norm folded in) and SiLU."""
        fan = wide // group * k * k
        weight = self._weight(self.rng.normal(0, (2 / fan) ** 0.5, (out, wide // group, k, k)))
        bias = self._weight(self.rng.normal(0, 0.1, out))
        (y,) = self.node(
            "Conv",
            [x, weight, bias],
            kernel_shape=[k, k],
            strides=[step, step],
            pads=[k // 2] * 4,
            group=group,
        )
        if not act:
            return y
        (gate,) = self.node("Sigmoid", [y])
        return self.node("Mul", [y, gate])[0]

    def join(self, *parts: str) -> str:
        """Concatenate along the channels."""
        return self.node("Concat", parts, axis=1)[0]

    def neck(self, x: str, wide: int, half: float = 0.5) -> str:
        """Bottleneck: two 3x3 convolutions and a shortcut."""
        inner = int(wide * half)
        return self.node("Add", [x, self.conv(self.conv(x, wide, inner), inner, wide)])[0]

    def split_block(self, x: str, wide: int, out: int, share: float = 0.5, deep: bool = False) -> str:
        """Split block: half goes on, half through bottlenecks, all joined."""
        c = int(out * share)
        y = self.conv(x, wide, 2 * c, 1)
        first, second = self.node("Split", [y], 2, axis=1, num_outputs=2)
        third = self._deep(second, c) if deep else self.neck(second, c)
        return self.conv(self.join(first, second, third), 3 * c, out, 1)

    def _deep(self, x: str, c: int) -> str:
        h = c // 2
        y = self.neck(self.neck(self.conv(x, c, h, 1), h, 1.0), h, 1.0)
        return self.conv(self.join(y, self.conv(x, c, h, 1)), c, c, 1)

    def pyramid(self, x: str, c: int) -> str:
        """Pool three times by 5x5 and join."""
        levels = [self.conv(x, c, c // 2, 1)]
        for _ in range(3):
            levels += self.node("MaxPool", [levels[-1]], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4)
        return self.conv(self.join(*levels), 2 * c, c, 1)

    def mixing(self, x: str, c: int) -> str:
        """Stand-in for the attention block: the same 1x1 convolutions, without the attention itself."""
        y = self.conv(x, c, c, 1)
        a, b = self.node("Split", [y], 2, axis=1, num_outputs=2)
        h = c // 2
        b = self.node("Add", [b, self.conv(self.conv(b, h, 2 * h, 1, act=False), 2 * h, h, 1, act=False)])[0]
        b = self.node("Add", [b, self.conv(self.conv(b, h, 2 * h, 1), 2 * h, h, 1, act=False)])[0]
        return self.conv(self.join(a, b), c, c, 1)

    def twice(self, x: str) -> str:
        """Double the size by repeating pixels."""
        scales = self._weight(np.array([1, 1, 2, 2]))
        return self.node("Resize", [x, "", scales], mode="nearest")[0]

    def head(self, x: str, c: int) -> str:
        """Box and class channels of one scale."""
        box = self.conv(self.conv(self.conv(x, c, 64), 64, 64), 64, BOX_CHANNELS, 1, act=False)
        y = self.conv(self.conv(x, c, c, group=c), c, 64, 1)
        y = self.conv(self.conv(y, 64, 64, group=64), 64, 64, 1)
        return self.join(box, self.conv(y, 64, CLASSES, 1, act=False))


def build(seed: int = 0) -> tuple[onnx.ModelProto, int]:
    """Return the graph, input ``image`` float32 (1, 3, 640, 640), and the number of its parameters."""
    b = Builder(np.random.default_rng(seed))
    x = b.conv(b.conv("image", 3, 16, step=2), 16, 32, step=2)
    x = b.conv(b.split_block(x, 32, 64, 0.25), 64, 64, step=2)
    p3 = b.split_block(x, 64, 128, 0.25)
    p4 = b.split_block(b.conv(p3, 128, 128, step=2), 128, 128, deep=True)
    p5 = b.split_block(b.conv(p4, 128, 256, step=2), 256, 256, deep=True)
    p5 = b.mixing(b.pyramid(p5, 256), 256)
    n4 = b.split_block(b.join(b.twice(p5), p4), 384, 128)
    o3 = b.split_block(b.join(b.twice(n4), p3), 256, 64)
    o4 = b.split_block(b.join(b.conv(o3, 64, 64, step=2), n4), 192, 128)
    o5 = b.split_block(b.join(b.conv(o4, 128, 128, step=2), p5), 384, 256, deep=True)
    outputs = [b.head(o3, 64), b.head(o4, 128), b.head(o5, 256)]
    graph = helper.make_graph(
        b.nodes,
        "nano",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIDE, SIDE])],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, BOX_CHANNELS + CLASSES, cells, cells])
            for name, cells in zip(outputs, (SIDE // 8, SIDE // 16, SIDE // 32), strict=True)
        ],
        b.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    return model, b.parameters


def prepared(file: Path, threads: int) -> Callable[[np.ndarray], Sequence[str]]:
    """Open the graph; the reader scales a picture to 640 x 640 and runs it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def read(image: np.ndarray) -> Sequence[str]:
        factor = SIDE / max(image.shape[:2])
        small = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        canvas = np.full((SIDE, SIDE, 3), 114, np.uint8)
        canvas[: small.shape[0], : small.shape[1]] = small[:SIDE, :SIDE]
        session.run(None, {"image": canvas.transpose(2, 0, 1)[None].astype(np.float32) / 255})
        return ()

    return read


def main() -> None:
    """Load and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--passes", type=int, default=1)
    a = parser.parse_args()
    cv2.setNumThreads(a.threads)
    contest(lambda: prepared(a.graph, a.threads), lambda p: cv2.imread(str(p)), a.folder, a.passes)


if __name__ == "__main__":
    main()
