"""The bench beside other pipelines: the graph is nano-size; rows that cannot be measured say why."""

from collections import defaultdict

import numpy as np
from onnx import shape_inference

from benchmarks.pipeline import __main__ as bench
from benchmarks.pipeline import nano

ROUND = {"load_ms": 10, "p50_ms": 20.0, "p99_ms": 30.0, "peak_mib": 100, "exact": 5, "of": 6}


def test_the_graph_is_as_large_as_yolo11n():
    model, parameters = nano.build()
    assert 2.4e6 < parameters < 2.8e6
    graph = shape_inference.infer_shapes(model).graph
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
        for v in [*graph.value_info, *graph.output]
    }
    weights = {w.name: w.dims for w in graph.initializer}
    work = sum(
        2 * np.prod(weights[node.input[1]][1:]) * np.prod(shapes[node.output[0]][1:])
        for node in graph.node
        if node.op_type == "Conv"
    )
    assert 6.0e9 < work < 7.0e9


def test_the_middle_round_counts():
    rounds = [ROUND | {"p50_ms": t, "load_ms": load} for t, load in ((9.0, 3), (50.0, 1), (12.0, 2))]
    assert bench.middle(rounds)["p50_ms"] == 12.0
    assert bench.middle(rounds)["load_ms"] == 2


def test_a_contestant_that_is_absent_says_why(tmp_path):
    absent = bench.ours("fp32", tmp_path, "table")
    assert "detector.onnx" in absent.absent
    found = {(bench.PEER, 1): ROUND | {"p50_ms": 80.0}, ("int8", 1): ROUND}
    text = bench.table([bench.Contestant("int8"), absent, bench.Contestant(bench.PEER)], found)
    assert "| int8 | 1 | 20.0 / 30.0 | 4.0 |" in text
    assert "left out" in text


def test_floors_are_judged():
    found = defaultdict(dict, {("a", 1): ROUND, (bench.PEER, 1): ROUND | {"p50_ms": 30.0}})
    assert any("1.5 times as fast, floor 2: missed" in line for line in bench.verdicts(dict(found), "a"))
