"""slp: what becomes a vector, rows that turn in registers, loops run before and after, and what it refuses."""

from random import Random

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.slp import slp
from tests import oracles
from tests.passes.compare import assert_alike, parsed

M, N = af.symbols("M N")
HEAD = "func.func @f(%A: memref<4x16xf32>, %x: memref<16xf32>, %y: memref<4xf32>, %B: memref<16x4xf32>) "


def sums(terms: list[str], values: int = 4, columns: int = 1, more: str = "", bounds: str = "0 to 16") -> str:
    """A loop over j that carries some values, each of which takes its terms one after the other: {r} is its number."""
    lines, last = [more], [f"%c{r}" for r in range(values)]
    for k in range(columns):
        for r in range(values):
            for n, term in enumerate(terms):
                name = f"{r}_{k}_{n}"
                lines.append(f"%l{name} = affine.load {term.format(r=r, k=k)}")
                lines.append(f"%v{name} = arith.addf {last[r]}, %l{name} : f32")
                last[r] = f"%v{name}"
    inits = "\n".join(f"%i{r} = affine.load %y[{r}] : memref<4xf32>" for r in range(values))
    carried = ", ".join(f"%c{r} = %i{r}" for r in range(values))
    types = ", ".join(["f32"] * values)
    stores = "\n".join(f"affine.store %s#{r}, %y[{r}] : memref<4xf32>" for r in range(values))
    body = "\n".join(lines)
    loop = f"%s:{values} = affine.for %j = {bounds} iter_args({carried}) -> ({types}) {{\n{body}\n"
    return f"{{ {inits}\n{loop} affine.yield {', '.join(last)} : {types} }}\n{stores}\nreturn }}"


def packed(text, lanes, loop=0):
    """The module, and what slp makes of one of its loops."""
    before = parsed(HEAD + text)
    loops = [op for op in walk(before) if isinstance(op, affine.For)]
    after = with_fields(before, body=(slp(before.functions[0], loops[loop].iv, lanes),))
    verify(after)
    return before, after


def inside(module, kind):
    """How many operations of a kind the first loop has."""
    loop = next(op for op in walk(module) if isinstance(op, affine.For))
    return sum(isinstance(op, kind) for op in walk(loop))


DIM = "%d = memref.dim %y, %o : memref<4xf32>"
ROW, COLUMN, SAME = (
    "%B[%j, {r}] : memref<16x4xf32>", "%A[{r}, %j + {k}] : memref<4x16xf32>", "%x[%j + {k}] : memref<16xf32>"
)  # fmt: skip


@pytest.mark.parametrize(
    ("terms", "lanes", "columns", "loads", "shuffles", "broadcasts"),
    [
        ([ROW], 4, 1, 1, 0, 0),
        ([ROW], 2, 1, 2, 0, 0),
        ([SAME], 4, 1, 0, 0, 1),
        ([COLUMN], 4, 4, 4, 8, 0),  # one square of four rows
        ([COLUMN], 2, 4, 8, 8, 0),  # two rows at a time, four squares of two
        ([COLUMN, SAME], 4, 4, 4, 8, 4),
        ([COLUMN, COLUMN], 4, 4, 4, 8, 0),  # the same elements twice are one square
    ],
)
def test_rows_columns_and_what_is_the_same(terms, lanes, columns, loads, shuffles, broadcasts):
    bounds = f"0 to 16 step {columns}"
    before, after = packed(sums(terms, columns=columns, bounds=bounds), lanes)
    found = [inside(after, kind) for kind in (affine.VectorLoad, vector.Shuffle, vector.Broadcast)]
    assert found == [loads, shuffles, broadcasts]
    assert assert_alike(before, after) > 0
    assert "vector" in oracles.mlir_opt(str(after), "--lower-affine")


def test_values_that_are_made_otherwise_stay_as_they_are():
    text = sums([ROW]).replace("%v3_0_0 = arith.addf", "%v3_0_0 = arith.mulf")
    before, after = packed(text, 2)
    loop = next(op for op in walk(after) if isinstance(op, affine.For))
    assert [str(v.type) for v in loop.results] == ["vector<2xf32>", "f32", "f32"]
    assert assert_alike(before, after) > 0


@pytest.mark.parametrize(
    ("text", "lanes", "reason"),
    [
        (sums([ROW]), 8, "at most 4 of the values that it carries are made alike"),
        (sums([COLUMN], columns=2, bounds="0 to 16 step 2"), 4, "no square of 4 rows and as many columns"),
        (sums(["%B[%j, 3 - {r}] : memref<16x4xf32>"]), 4, "no square of 4 rows"),
        (sums(["%B[%j, ({r} * 3) mod 4] : memref<16x4xf32>"]), 4, "no square of 4 rows"),
        (sums([ROW], more="affine.store %c0, %x[%j] : memref<16xf32>"), 4, "affine.store in it is no load"),
        (sums([ROW], more="%z = arith.addf %c0, %c1 : f32\naffine.store %z, %x[0] : memref<16xf32>"), 4, "no load"),
        (sums([ROW]).replace("%v3_0_0 = arith.addf %c3", "%v3_0_0 = arith.addf %c0"), 4, "would be no vector"),
        (
            sums(["%B[%d + {k}, {r}] : memref<16x4xf32>"], more="%o = arith.constant 0 : index\n" + DIM),
            4,
            "the place of .* is computed in the loop",
        ),
        ("{ affine.for %j = 0 to 4 { } return }", 4, "it carries no values"),
    ],
)
def test_what_it_refuses(text, lanes, reason):
    with pytest.raises(IllegalTransform, match=reason):
        packed(text, lanes)


@pytest.mark.parametrize("lanes", [0, 1, 3, -2])
def test_lanes_are_a_power_of_two(lanes):
    with pytest.raises(ValueError, match="power of two"):
        packed(sums([ROW]), lanes)


@pytest.mark.parametrize(("type", "dtype"), [(af.f64, "f8"), (af.f32, "f4"), (af.i32, "i4"), (af.i8, "i1")])
def test_it_leaves_the_same_to_the_bit_whatever_the_sizes(type, dtype):
    @af.kernel
    def both(A: type[M, N], B: type[M, N], x: type[N], y: type[M], z: type[M]):
        with af.for_(M) as i, af.for_(N) as j:
            y[i] += A[i, j] * x[j]
            z[i] += B[i, j] * x[j]

    made = af.Schedule(both).unroll_jam("i", 8).scalar_replace("j").unroll("j", 4).slp("j", 4).kernel()
    assert made.mlir().count("vector.shuffle") == 4 * 8
    random = np.random.default_rng(3)
    for m, n in ((17, 11), (8, 4), (9, 3), (3, 9), (0, 5), (8, 0)):
        given = [(random.integers(-9, 9, shape) / 3).astype(dtype) for shape in ((m, n), (m, n), (n,), (m,), (m,))]
        results = []
        for run in (both.interpret, made.interpret, made):
            some = [each.copy() for each in given]
            run(*some)
            results.append([each.tobytes() for each in some])
        assert results[0] == results[1] == results[2]


def test_what_all_lanes_compute_alike_is_computed_once():
    @af.kernel
    def weighted(A: af.f64[M, N], y: af.f64[M]):
        with af.for_(M) as i, af.for_(N) as j:
            y[i] += A[i, j] * af.f64(j * 2 + 1)

    made = af.Schedule(weighted).unroll_jam("i", 4).scalar_replace("j").unroll("j", 4).slp("j", 4).kernel()
    loops = [op for op in walk(made.func) if isinstance(op, affine.For)]
    (loop,) = [op for op in loops if any("vector" in str(v.type) for v in op.results)]
    assert [sum(isinstance(op, kind) for op in loop.body) for kind in (arith.Cast, vector.Broadcast)] == [8, 4]
    given = np.random.default_rng(1).normal(size=(9, 7))
    one, other = np.zeros(9), np.zeros(9)
    weighted(given, one)
    made(given, other)
    assert one.tobytes() == other.tobytes()


def test_random_sums_are_the_same():
    random, done = Random(11), 0
    for _ in range(40):
        lanes, columns = random.choice((2, 4)), random.choice((1, 2, 4))
        terms = [random.choice((ROW, COLUMN, SAME)) for _ in range(random.randint(1, 3))]
        try:
            before, after = packed(sums(terms, columns=columns, bounds=f"0 to 16 step {columns}"), lanes)
        except IllegalTransform:
            continue
        done += assert_alike(before, after) > 0
    assert done > 15
