"""`kernel.fuse()` on kernels of several stages: what lies between the stages, and that nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.passes.optimize.storage import storage
from affdsl.schedule.history import counted
from benchmarks.polybench.suite import SUITE
from tests.effort import some
from tests.harness.judges import bits, copied
from tests.schedule import pipelines

N = af.symbols("N")

BETWEEN = {
    "blur": ["3x?"],
    "unsharp": ["3x?"],
    "three_products": ["1x?", "?x?"],
    "layer_norm": ["1", "1"],
    "attention": ["1x?", "1x?", "1", "1"],
    "harris": ["3x?", "3x?", "3x?"],
    "sweeps": ["3x?", "3x?", "3x?", "3x?", "3x?"],
    "softmax": ["1", "1x?", "1"],
    "two_products": ["1x?"],
}
"""What is left between the stages of each kernel."""
SIZES = (0, 5, 64, 1, 1000)
SMALL = 5
"""Up to this size the interpreter runs the kernels as written; behind that their C does."""


def arguments(kernel: af.Kernel, size: int) -> list[object]:
    sizes = {"N": size, "M": size + 3, "D": size // 8 + 1, "K": size // 4 + 2}
    random = np.random.default_rng(size)
    shapes = kernel.func.shapes[-len(kernel.program.parameters) :]
    return [
        float(sizes["M"]) if shape is None else random.random([sizes[e.value.hint] for e in shape]).astype(np.float32)
        for shape in shapes
    ]


@pytest.fixture(scope="module", params=some([*BETWEEN], 5))
def pair(request):
    kernel = getattr(pipelines, request.param)
    return kernel, kernel.fuse()


def test_what_lies_between(pair):
    kernel, fused = pair
    assert re.findall(r"memref\.alloc\(.*\) : memref<(.*)xf32>", fused.mlir()) == BETWEEN[kernel.name]


@pytest.mark.parametrize("size", some(SIZES, 3))
def test_results(pair, size):
    kernel, fused = pair
    given = arguments(kernel, size)
    expected, found = copied(given), copied(given)
    (kernel.interpret if size <= SMALL else kernel)(*expected)
    fused(*found)
    assert bits(found) == bits(expected)


def test_the_schedule_replays(pair):
    _, fused = pair
    replayed: dict[str, object] = {}
    exec(str(fused.schedule), replayed)
    assert replayed["s"].kernel().mlir() == fused.mlir()


PAGE = Path(__file__).resolve().parents[2] / "docs" / "fusion.md"


def test_the_table_of_the_page(pair):
    kernel, fused = pair
    stored = storage(fused._fusion)
    nests = sum(isinstance(op, affine.For) for op in kernel.func.body)
    before, after = (
        ", ".join(dict.fromkeys(each.shape.removesuffix(" f32") for each in some if each is not None)) or "nothing"
        for some in ([each.before for each in stored], [each.after for each in stored])
    )
    kept = sum(each.after is not None for each in stored)
    counts = [counted(number, "array") for number in (len(stored), kept)]
    row = f"| `{kernel.name}` | {nests} | {counts[0]}: {before} | {counts[1]}: {after} |"
    assert row in PAGE.read_text(), row


def test_what_is_said_of_rows_that_roll():
    said = str(pipelines.blur.fuse().explain()).splitlines()
    assert said[0] == "blur: 2 steps"
    assert re.fullmatch(r"loops i \(.*pipelines.py:\d+\) and k \(.*pipelines.py:\d+\)", said[1])
    assert said[2:8] == [
        "    evaluating fusion profitability at depth : 2",
        "     additional compute fraction: 99.80%",
        "     storage reduction factor: 332666.67x",
        "     fused nest cost: 23904096",
        "     src write region size: 3992000",
        "     slice write region size: 12",
    ]
    assert (
        said[-3] == '    chosen: fuse("i", "k", shift=1, guarded=True), at depth 1, additional compute fraction: 0.00%'
    )
    assert said[-2] == "storage:"
    assert said[-1].startswith("    rows: N x M f32, 4000000 bytes, by way of ")
    assert said[-1].endswith(" -> 3 x M f32, 12000 bytes, by way of L1")


def test_small_arrays_stay_apart():
    made = pipelines.blur.fuse(sizes={"N": 16, "M": 16})
    assert made.schedule.steps == ()
    assert "the 3600 bytes that both touch stay in the nearest cache, and i would no longer run in any order" in (
        made.explain()
    )


def test_an_edge_keeps_nests_apart():
    said = pipelines.three_products.fuse().explain()
    assert re.search(r"left apart: the store f\[i, j\] at line \d+ feeds the load f\[k, j\] at line \d+,", said)
    assert re.search(r"f: M x K f32, 4000000 bytes, by way of \w+ as before", said)


@af.kernel
def halved(x: af.f32[2 * N, 2 * N], y: af.f32[N, N]):
    t = af.alloc(af.f32[2 * N, 2 * N])
    with af.for_(2 * N) as i, af.for_(2 * N) as j:
        t[i, j] = af.sqrt(x[i, j])
    with af.for_(N) as k, af.for_(N) as m:
        y[k, m] = t[2 * k, 2 * m] + t[2 * k, 2 * m + 1] + t[2 * k + 1, 2 * m] + t[2 * k + 1, 2 * m + 1]


@af.kernel
def by_columns(x: af.f32[N, N], y: af.f32[N, N]):
    t = af.alloc(af.f32[N, N])
    with af.for_(N) as j, af.for_(N) as i:
        t[i, j] = af.sqrt(x[i, j])
    with af.for_(1, N) as k, af.for_(N) as m:
        y[k, m] = t[k, m] + t[k - 1, m]


@af.kernel
def jacobi(x: af.f32[N, N], y: af.f32[N, N], times: af.index):
    with af.for_(times) as _t:
        with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
            y[i, j] = 0.2 * (x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i - 1, j] + x[i + 1, j])
        with af.for_(1, N - 1) as k, af.for_(1, N - 1) as m:
            x[k, m] = 0.2 * (y[k, m] + y[k, m - 1] + y[k, m + 1] + y[k - 1, m] + y[k + 1, m])


STEPS = [
    (halved, ['compute_at("t", "k")'], ["2x?"]),
    (by_columns, ['interchange("j", "i")', 'fuse("i", "k", guarded=True)', 'fold("t", 0, 2)'], ["2x?"]),
    (jacobi, ['fuse("i", "k", shift=1, guarded=True)'], []),
]


@pytest.mark.parametrize(("kernel", "steps", "between"), STEPS, ids=lambda each: getattr(each, "name", ""))
def test_other_ways(kernel, steps, between):
    made = kernel.fuse()
    assert [str(step) for step in made.schedule.steps] == steps
    assert re.findall(r"memref\.alloc\(.*\) : memref<(.*)xf32>", made.mlir()) == between
    for size in (0, 1, 2, 9):
        given = [
            np.random.default_rng(size).random((2 * size if kernel is halved and k == 0 else size,) * 2, np.float32)
            for k in range(2)
        ]
        wanted, found = ([a.copy() for a in given] for _ in range(2))
        rest = (3,) if kernel is jacobi else ()
        kernel.interpret(*wanted, *rest)
        made.interpret(*found, *rest)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(wanted, found, strict=True))


@pytest.mark.parametrize("benchmark", some(SUITE[::-1], 3), ids=lambda benchmark: benchmark.name)
def test_polybench_is_the_same_to_the_bit(benchmark):
    fused = benchmark.kernel.fuse()
    for first in (1, 6):
        sizes = {name: first + k * (first > 1) for k, name in enumerate(benchmark.sizes["MINI"])}
        given = benchmark.random_arguments(sizes, np.random.default_rng(5))
        wanted, found = (
            {name: np.copy(x) if isinstance(x, np.ndarray) else x for name, x in given.items()} for _ in range(2)
        )
        benchmark.run(wanted, "interpreter")
        fused.interpret(*found.values())
        assert all(found[name].tobytes() == wanted[name].tobytes() for name in benchmark.live_out)


@af.kernel
def side_by_side(x: af.f32[N, N], y: af.f32[N, N], z: af.f32[N, N], w: af.f32[N, N]):
    root = af.alloc(af.f32[N, N])
    with af.parallel(N, N) as (i, j):
        root[i, j] = af.sqrt(x[i, j])
    with af.parallel(N, N) as (k, m):
        y[k, m] = root[k, m] + 1.0
    with af.parallel(N, N) as (p, q):
        z[p, q] = root[p, q] * 2.0
    with af.parallel(N) as r, af.for_(1, N) as s:
        w[r, s] = z[r, s] + z[r, s - 1]


def test_iterations_that_run_in_any_order():
    made = side_by_side.fuse()
    assert [str(step) for step in made.schedule.steps] == ['fuse("i", "k")', 'fuse("i", "p")', 'inline("root")']
    assert "left apart: rows cannot roll where iterations run in any order" in made.explain()
    given = [np.random.default_rng(3).random((7, 7), np.float32) for _ in range(4)]
    wanted, found = ([a.copy() for a in given] for _ in range(2))
    side_by_side.interpret(*wanted)
    made.interpret(*found)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(wanted, found, strict=True))
