"""What a call computes and touches, counted from its loops: what a run by the interpreter does, and closed formulas."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.types import F32, I32, VectorType
from affdsl.mlir.readers import parse
from affdsl.passes.analysis import iterations
from affdsl.passes.analysis.touched import summary
from affdsl.passes.analysis.work import flops, functions, integer_operations, work_of
from affdsl.seeing.counting import counted
from affdsl.seeing.nests import nests_of
from benchmarks.polybench.suite import SUITE
from tests.seeing.tracing import elements, found_in, total, traced

M, N = af.symbols("M N")


@af.kernel
def triangle(A: af.f64[N, N], x: af.f64[N]):
    with af.for_(N) as i, af.for_(i) as j:
        A[i, j] = A[j, i] * x[j] + A[i, j]


@af.kernel
def tetrahedron(A: af.f32[N, N]):
    with af.for_(N) as i, af.for_(i) as j, af.for_(j, i) as k:
        A[i, k] += A[j, k] * 2.0


@af.kernel
def conditions(A: af.f64[N, M]):
    with af.for_(N) as i, af.for_(M) as j:
        with af.if_((i >= 2) & (i + j < N)):
            A[i, j] = A[i - 2, j] / 3.0
        with af.else_():
            with af.if_(j % 3 == 1):
                A[i, j] = af.sqrt(A[i, j])


@af.kernel
def steps(x: af.f64[N]):
    with af.for_(1, N, 3) as i, af.for_(af.max(i - 4, 0), af.min(i + 3, N), 2) as j:
        x[j] = x[j] + x[i // 2]


@af.kernel
def backwards(x: af.f64[N]):
    with af.for_(N - 1, 0, -2) as i:
        x[i] -= x[i - 1]


@af.kernel
def scale(x: af.f64[N], by: af.f64):
    with af.for_(N) as i:
        x[i] *= by


@af.kernel
def calls(A: af.f64[M, N], x: af.f64[N]):
    scale(x, 2.0)
    t = af.alloc(af.f64[N])
    with af.for_(M) as i:
        with af.for_(N) as j:
            t[j] = A[i, j]
        scale(t, 3.0)
        with af.for_(N) as j:
            A[i, j] = t[j]
    scale(x, 0.5)


@af.kernel
def put(x: af.f64[N], place: af.index):
    x[place] = 1.0


@af.kernel
def numbers(x: af.f64[N]):
    with af.for_(0, N, 2) as i:
        put(x, i)


@af.kernel
def wide(A: af.f64[M, N], x: af.f64[N]):
    with af.if_(N >= 3):
        with af.for_(M) as i:
            x[0] += A[i, 2]
    with af.else_():
        with af.for_(N) as j:
            x[j] = 1.0


@af.kernel
def sums(A: af.f32[M, N], out: af.f32[M]):
    with af.for_(M) as i:
        with af.parallel(N, reduce=[("addf", af.f32)]) as (j, row):
            af.yield_(A[i, j])
        out[i] = row


@af.kernel
def pixels(image: af.u8[M, N], out: af.u8[M, N]):
    with af.for_(M) as i, af.for_(1, N) as j:
        out[i, j] = (image[i, j] >> 1) + (image[i, j - 1] >> 1)
        with af.if_(i == j):
            out[i, j] = af.u8(0)


KERNELS = (triangle, tetrahedron, conditions, steps, backwards, calls, numbers, wide, pixels)


def arguments(kernel, n, m):
    rng = np.random.default_rng(n)
    sizes = {"N": n, "M": m}
    shapes = [[sizes[v.hint] for e in p.type.shape for v in e.values()] for p in kernel.program.parameters]
    kinds = [p.type.dtype.numpy for p in kernel.program.parameters]
    return tuple((rng.random(s) * 9 + 1).astype(kind) for s, kind in zip(shapes, kinds, strict=True))


@pytest.mark.parametrize("n", [0, 1, 2, 7, 12])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_counts_are_those_of_a_run(kernel, n):
    given = arguments(kernel, n, 5)
    trace = traced(kernel, given)
    nests, found = found_in(kernel, given)
    work, touched = total(nests, found)
    assert found.why == {}
    assert (elements(work, "load"), elements(work, "store")) == (trace.loads, trace.stores)
    assert touched.at_most == ()
    assert (touched.read, touched.written) == (len(trace.read), len(trace.written))
    assert touched.together == len(trace.read | trace.written)
    if kernel is not calls:  # whose array of its own is no memory elsewhere
        assert touched.moved <= trace.moved  # what nobody can do without
    if kernel in (triangle, wide, pixels, backwards):
        assert touched.moved == trace.moved


@af.kernel
def scaled(A: af.f64[M, N], B: af.f64[N, N], C: af.f64[M, N], alpha: af.f64):
    with af.for_(M) as i, af.for_(N) as j, af.for_(N) as k:
        C[i, j] += alpha * A[i, k] * B[k, j]


@af.kernel
def twice(A: af.f64[M, N], x: af.f64[N]):
    with af.for_(M) as i, af.for_(N) as j:
        with af.if_(j >= 1):
            A[i, j] = A[i, j] * (x[j] * x[0]) + x[j] * x[0]


@af.kernel
def written(A: af.f64[M, N], x: af.f64[N], by: af.f64):
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] += x[j] * by
        with af.for_(N):
            A[i, j] += x[i] * by
        x[j] = 0.0


@af.kernel
def lower(A: af.f64[N, N], x: af.f64[N]):
    with af.for_(N) as i, af.for_(i, N) as j:
        A[i, j] += x[j] * 2.0


@af.kernel
def summed(A: af.f64[M, N], s: af.f64[M]):
    with af.for_(M) as i, af.for_(N):
        with af.for_(N, iter_args=af.f64(0)) as (k, total):
            af.yield_(total + A[i, k])
        s[i] += total * total


@pytest.mark.parametrize(
    ("kernel", "flops_needed"),
    [(scaled, 4 * 7 + 2 * 4 * 7 * 7), (twice, 6 + 2 * 4 * 6), (written, 2 * 4 * 7 + 2 * 4 * 7 * 7 - 4 * 7 * 7 + 4 * 7),
     (lower, 7 + 28), (summed, 4 * 7 * 7 + 2 * 4 * 7), (triangle, 2 * 21)],
    ids=lambda each: getattr(each, "name", ""),
)  # fmt: skip
def test_what_is_the_same_number_each_time_is_needed_once(kernel, flops_needed):
    sizes = {"N": 7, "M": 4}
    given = [np.ones([sizes[v.hint] for e in p.type.shape for v in e.values()]) if hasattr(p.type, "shape") else 2.0
             for p in kernel.program.parameters]  # fmt: skip
    _, found = found_in(kernel, tuple(given))
    assert sum(flops(work) for work in found.needed.values()) == flops_needed


def test_schedules_leave_what_is_needed():
    given = np.ones((12, 14)), np.ones((14, 14)), np.ones((12, 14)), 2.0
    for schedule in (lambda s: s.tile(("i", "j"), 5), lambda s: s.interchange("i", "j"), lambda s: s.unroll("k", 3)):
        _, found = found_in(schedule(af.Schedule(scaled)).kernel(), given)
        assert sum(flops(work) for work in found.needed.values()) == 12 * 14 + 2 * 12 * 14 * 14


@pytest.mark.parametrize(
    "steps",
    [lambda s: s.tile(("i", "j"), (4, 3)), lambda s: s.interchange("i", "j"), lambda s: s.strip_mine("j", 5),
     lambda s: s.skew("i", "j", 1), lambda s: s.unroll("j", 3), lambda s: s.peel("j", first=1)],
    ids=["tile", "interchange", "strip_mine", "skew", "unroll", "peel"],
)  # fmt: skip
def test_schedules_leave_the_counts(steps):
    @af.kernel
    def product(A: af.f64[N, M], x: af.f64[M]):
        with af.for_(N) as i, af.for_(M) as j:
            A[i, j] = A[i, j] * x[j]

    made = steps(af.Schedule(product)).kernel()
    given = arguments(product, 10, 7)
    trace, (work, touched) = traced(made, given), total(*found_in(made, given))
    assert flops(work) == 70
    assert (elements(work, "load"), elements(work, "store")) == (trace.loads, trace.stores)
    assert (touched.read, touched.written, touched.together, touched.moved) == (616, 560, 616, 1176)
    assert (len(trace.read), len(trace.written)) == (616, 560)


@pytest.mark.parametrize("benchmark", SUITE, ids=lambda b: b.name)
def test_polybench(benchmark):
    sizes = {name: min(number, 6) for name, number in benchmark.sizes["MINI"].items()}
    given = tuple(benchmark.arrays(sizes).values())
    trace = traced(benchmark.kernel, given)
    nests, found = found_in(benchmark.kernel, given)
    work, touched = total(nests, found)
    assert (elements(work, "load"), elements(work, "store")) == (trace.loads, trace.stores)
    assert touched.at_most == ()
    assert (touched.read, touched.written) == (len(trace.read), len(trace.written))
    assert touched.together == len(trace.read | trace.written)


@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_closed_formulas(n):
    work, touched = total(*found_in(triangle, (np.ones((n, n)), np.ones(n))))
    below = n * (n - 1) // 2
    assert flops(work) == 2 * below
    assert touched.read == 8 * (2 * below + max(n - 1, 0))
    assert touched.written == 8 * below
    assert touched.moved == touched.read + touched.written
    work, _ = total(*found_in(tetrahedron, (np.ones((n, n), "f4"),)))
    assert flops(work) == 2 * sum(i * (i + 1) // 2 for i in range(n))


def test_operations_count_as_processors_count_them():
    @af.kernel
    def mixed(x: af.f64[N], y: af.f32[N], k: af.i32[N]):
        with af.for_(N) as i:
            x[i] = af.fma(x[i], 2.0, 1.0) / 3.0 - af.max(x[i], 0.0)  # 2 + 1 + 1 + 1
            y[i] = af.exp(y[i]) + af.abs(-y[i])  # 1, and a function
            k[i] = k[i] * 3 + 1  # 2 of integers

    work, _ = total(*found_in(mixed, (np.ones(7), np.ones(7, "f4"), np.ones(7, "i4"))))
    assert flops(work) == 7 * 6
    assert functions(work) == 7
    assert integer_operations(work) == 7 * 2


def test_complex_numbers_are_two_floats():
    @af.kernel
    def turn(z: af.c128[N], w: af.c64[N]):
        with af.for_(N) as i:
            z[i] = z[i] * z[i] - z[i]  # 6 + 2
            w[i] = w[i] / (w[i] + w[i])  # 2, and a quotient, which the C library computes

    work, touched = total(*found_in(turn, (np.ones(5, "c16"), np.ones(5, "c8"))))
    assert flops(work) == 5 * 10
    assert functions(work) == 5
    assert touched.moved == 2 * 5 * (16 + 8)


def test_vectors_count_their_lanes():
    @af.kernel
    def axpy(x: af.f32[N], y: af.f32[N]):
        with af.for_(N) as i:
            y[i] += 2.0 * x[i]

    made = af.Schedule(axpy).vectorize("i", 8, tail="scalar").kernel()
    work, touched = total(*found_in(made, (np.ones(29, "f4"), np.ones(29, "f4"))))
    assert flops(work) == 2 * 29
    assert (touched.read, touched.written, touched.moved) == (2 * 116, 116, 3 * 116)
    split, _ = total(*found_in(made, (np.ones(29, "f4"), np.ones(29, "f4")), width=128))
    assert split == work
    masked = af.Schedule(axpy).vectorize("i", 8, tail="masked").kernel()
    work, touched = total(*found_in(masked, (np.ones(29, "f4"), np.ones(29, "f4"))))
    assert flops(work) == 2 * 32
    assert touched.read <= 2 * 116


@pytest.mark.parametrize(("stop", "step"), [(16, 4), (24, 8), (24, 1)])
@pytest.mark.parametrize("by", [1, 3])
@pytest.mark.parametrize("rows", [1, 2])
def test_lanes_behind_the_end_of_a_row_touch_nothing(rows, by, stop, step):
    """They have the padding: of a row in front of another, and of vectors all of whose lanes are there, too."""
    module = parse(f"""func.func @f(%A: memref<{rows}x10xf64>) {{
      affine.for %i = 0 to {stop} step {step} {{
        %zero = arith.constant 0.0 : f64
        %row = arith.constant 0 : index
        %at = affine.apply affine_map<(d0) -> (d0 floordiv {by} * {by})>(%i)
        %v = vector.transfer_read %A[%row, %at], %zero : memref<{rows}x10xf64>, vector<4xf64>
      }}
      return
    }}""")
    nests = nests_of(module)
    _, touched = total(nests, counted(nests, {}, {module.functions[0].args[0]: (rows, 10)}))
    begins = {i // by * by for i in range(0, stop, step)}
    assert touched.read == 8 * len({k for begin in begins for k in range(begin, begin + 4) if k < 10})
    assert touched.at_most == ()


def test_an_outer_product_is_rounded_once_of_floats_alone():
    for element, wanted in ((F32, {("fma", "f32"): 6}), (I32, {("muli", "i32"): 6, ("addi", "i32"): 6})):
        left, right, box = (Value(VectorType(shape, element)) for shape in ((2,), (3,), (2, 3)))
        assert work_of(vector.OuterProduct(Value(box.type), left, right, (box,))) == wanted


def test_parallel_loops_count_what_they_combine():
    work, touched = total(*found_in(sums, (np.ones((3, 5), "f4"), np.ones(3, "f4"))))
    assert work[("addf", "f32")] == 15
    assert touched.read == 60


def test_a_large_call_takes_no_time_to_count():
    n = 100_000  # whose loops nobody could run here
    nests, found = found_in(scale, (np.lib.stride_tricks.as_strided(np.ones(1), (n,), (8,)), 2.0))
    work, _ = total(nests, found)
    assert flops(work) == n

    @af.kernel
    def cube(x: af.f64[1], n: af.index):
        with af.for_(n) as i, af.for_(n) as j, af.for_(n):
            x[0] += af.f64(1)
            with af.for_(i + j):
                x[0] *= 2.0

    nests, found = found_in(cube, (np.ones(1), 1000))
    assert flops(total(nests, found)[0]) == 1000**3 + 1000 * sum(i + j for i in range(1000) for j in range(1000))


def test_what_takes_too_long_to_count_is_not_counted(monkeypatch):
    monkeypatch.setattr(iterations, "MOST", 100)
    nests, found = found_in(triangle, (np.ones((500, 500)), np.ones(500)))
    assert [found.why[nest.op] for nest in nests.found] == ["there are more than 100 iterations that differ"]


def test_iterations_that_differ_in_nothing_that_matters_further_in_are_counted_as_one(monkeypatch):
    @af.kernel
    def chain(x: af.f64[1], n: af.index):
        with af.for_(n) as i, af.for_(i) as j, af.for_(j) as k, af.for_(k):
            x[0] += 1.0

    n = 40
    monkeypatch.setattr(iterations, "MOST", 3 * n * n)  # there are n**3 / 6 of i, j and k
    nests, found = found_in(chain, (np.ones(1), n))
    assert flops(total(nests, found)[0]) == sum(j * (j - 1) // 2 for i in range(n) for j in range(i))


def test_data_that_decides_is_said():
    @af.kernel
    def choice(x: af.f64[N], place: af.i64[N], y: af.f64[N]):
        with af.for_(N) as i:
            y[i] = x[place[i]]
            with af.if_(x[i] > 0.0):
                y[i] = 0.0

    nests, found = found_in(choice, (np.ones(5), np.zeros(5, "i8"), np.ones(5)))
    (why,) = found.why.values()
    assert why.endswith("data decides")
    assert "test_counts.py:" in why
    touched = summary(found.footprints[nests.found[0].op])
    assert touched.at_most == ("x", "y")
    assert touched.read == 80
    assert touched.written == 40
