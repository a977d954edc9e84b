"""Whole functions: what is folded, what is named, loops, conditions, buffers, calls; against the interpreter."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen.c.emit import emit, emit_jit
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import F32, F64, I1, I8, I32, I64, INDEX, MemRefType, StridedLayout
from tests.codegen.c.build import Builder, module
from tests.codegen.c.compare import call, check, check_compiles, compile_silently, run_c
from tests.oracles import require

RNG = np.random.default_rng(7)


def array(*shape: int, dtype: str = "float32") -> np.ndarray:
    if dtype.startswith("f"):
        return RNG.standard_normal(shape).astype(dtype)
    return RNG.integers(0, 50, shape).astype(dtype)


def gemm() -> func.Module:
    b = Builder("gemm")
    M, N, K = b.index("M"), b.index("N"), b.index("K")
    A, B, C = b.array("A", M, K), b.array("B", K, N), b.array("C", M, N)
    with b.loop("i", 0, M) as i, b.loop("j", 0, N) as j:
        b.store(b.constant(0.0, F32), C, i.iv, j.iv)
        with b.loop("k", 0, K) as k:
            product = b.binary("mulf", b.load(A, i.iv, k.iv), b.load(B, k.iv, j.iv))
            b.store(b.binary("addf", b.load(C, i.iv, j.iv), product), C, i.iv, j.iv)
    return module(b.func())


def jacobi() -> func.Module:
    b = Builder("jacobi")
    T, N = b.index("T"), b.index("N")
    A, B = b.array("A", N, N, type=F64), b.array("B", N, N, type=F64)
    b.assumes.append(Constraint(N - 2))
    with b.loop("t", 0, T):
        for source, target in ((A, B), (B, A)):
            with b.loop("i", 1, N - 1) as i, b.loop("j", 1, N - 1) as j:
                total = b.binary("addf", b.load(source, i.iv, j.iv), b.load(source, i.iv, j.iv - 1))
                for di, dj in ((0, 1), (1, 0), (-1, 0)):
                    total = b.binary("addf", total, b.load(source, i.iv + di, j.iv + dj))
                b.store(b.binary("mulf", b.constant(0.2, F64), total), target, i.iv, j.iv)
    return module(b.func())


def dot() -> func.Module:
    b = Builder("dot")
    N = b.index("N")
    x, y = b.array("x", N, type=F64), b.array("y", N, type=F64)
    with b.loop("i", 0, N, inits=[b.constant(0.0, F64)], names=["sum"]) as i:
        b.yield_(b.binary("addf", i.carried[0], b.binary("mulf", b.load(x, i.iv), b.load(y, i.iv))))
    return module(b.func(*i.results))


def parallel_sum() -> func.Module:
    b = Builder("norms")
    M, N = b.index("M"), b.index("N")
    A, total = b.array("A", M, N, type=F64), b.array("total", type=F64)
    count = b.array("count", type=I32)
    with b.parallel("i j", [0, 0], [M, N], reductions=["maximumf", "addi"], types=[F64, I32]) as band:
        i, j = band.ivs
        value = b.load(A, i, j)
        big = b.cast("extui", b.compare("ogt", value, b.constant(0.5, F64)), I32)
        b.yield_(b.unary("absf", value), big)
    b.store(band.results[0], total)
    b.store(band.results[1], count)
    return module(b.func())


@pytest.mark.parametrize("make", [gemm, jacobi, dot, parallel_sum])
def test_golden(make, golden):
    m = make()
    made = emit(m, m.functions[0].symbol)
    golden(made.source, f"{made.name}.c")
    golden(made.header, f"{made.name}.h")


@pytest.mark.parametrize(("m", "n", "k"), [(3, 4, 5), (0, 2, 3), (1, 1, 0)])
def test_gemm(tmp_path: Path, m, n, k):
    check(gemm(), "gemm", [array(m, k), array(k, n), array(m, n)], tmp_path, sizes=(m, n, k))


@pytest.mark.parametrize(("t", "n"), [(3, 6), (0, 3), (2, 2)])
def test_jacobi(tmp_path: Path, t, n):
    check(jacobi(), "jacobi", [t, n, array(n, n, dtype="float64"), array(n, n, dtype="float64")], tmp_path)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_dot(tmp_path: Path, n):
    (result,) = check(dot(), "dot", [array(n, dtype="float64"), array(n, dtype="float64")], tmp_path, sizes=(n,))
    assert result.dtype == np.float64


@pytest.mark.parametrize("shape", [(7, 5), (0, 4), (1, 1)])
def test_parallel_reductions(tmp_path: Path, shape):
    arrays = [array(*shape, dtype="float64"), np.zeros((), "float64"), np.zeros((), "int32")]
    check(parallel_sum(), "norms", arrays, tmp_path, sizes=shape)


def test_a_load_is_not_moved_behind_a_store_to_its_buffer(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x = b.array("x", N)
    with b.loop("i", 0, N - 1) as i:
        first, second = b.load(x, i.iv), b.load(x, i.iv + 1)
        b.store(second, x, i.iv)
        b.store(first, x, i.iv + 1)
    check(module(b.func()), "kernel", [array(6)], tmp_path, sizes=(6,))
    assert "const float t = x[i];" in emit(module(b.func()), "kernel").source


def test_a_load_is_not_moved_into_or_behind_a_loop_that_writes(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x = b.array("x", N)
    first, last = b.load(x, 0), b.load(x, N - 1)
    with b.loop("i", 0, N) as i:
        b.store(first, x, i.iv)
    b.store(last, x, 0)
    check(module(b.func()), "kernel", [array(5)], tmp_path, sizes=(5,))


def test_a_bound_that_the_body_changes_is_read_once(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    n = b.array("n", 1, type=INDEX)
    x = b.array("x", N)
    zero, one = b.constant(0, INDEX), b.constant(1, INDEX)
    upper = b.load(n, 0)
    with b.scf_loop("i", zero, upper, one) as i:
        b.store(zero, n, 0)
        b.scatter(b.constant(2.0, F32), x, i.iv)
    check(module(b.func()), "kernel", [np.array([4]), array(5)], tmp_path, sizes=(5,))


def test_csr_bounds_are_folded(tmp_path: Path):
    b = Builder("spmv")
    N, Z = b.index("N"), b.index("Z")
    rows, columns = b.array("rows", N + 1, type=I32), b.array("columns", Z, type=I32)
    values, x, y = b.array("values", Z), b.array("x", N), b.array("y", N)
    with b.loop("i", 0, N) as i:
        low = b.cast("index_cast", b.load(rows, i.iv), INDEX)
        high = b.cast("index_cast", b.load(rows, i.iv + 1), INDEX)
        with b.scf_loop("k", low, high, b.constant(1, INDEX), [b.constant(0.0, F32)], ["sum"]) as k:
            column = b.cast("index_cast", b.gather(columns, k.iv), INDEX)
            product = b.binary("mulf", b.gather(values, k.iv), b.gather(x, column))
            b.scf_yield(b.binary("addf", k.carried[0], product))
        b.store(k.results[0], y, i.iv)
    m = module(b.func())
    arguments = [
        np.array([0, 2, 2, 5], "int32"), np.array([0, 2, 1, 0, 2], "int32"), array(5), array(3), np.zeros(3, "float32")
    ]  # fmt: skip
    check(m, "spmv", arguments, tmp_path, sizes=(3, 5))
    assert "for (int64_t k = (int64_t)rows[i]; k < (int64_t)rows[i + 1]; ++k) {" in emit(m, "spmv").source


def test_fibonacci_swaps_carried_values(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x = b.array("x", N, type=I64)
    with b.loop("i", 0, N, inits=[b.constant(0, I64), b.constant(1, I64)], names=["a", "b"]) as i:
        b.store(i.carried[0], x, i.iv)
        b.yield_(i.carried[1], b.binary("addi", *i.carried))
    m = module(b.func(*i.results))
    results = check(m, "kernel", [np.zeros(90, "int64")], tmp_path, sizes=(90,))
    assert results[0] == 2880067194370816120
    b = Builder("swap")
    N = b.index("N")
    x = b.array("x", N, type=I64)
    with b.loop("i", 0, N, inits=[b.constant(3, I64), b.constant(5, I64)]) as i:
        b.store(i.carried[0], x, i.iv)
        b.yield_(i.carried[1], i.carried[0])
    check(module(b.func(*i.results)), "swap", [np.zeros(5, "int64")], tmp_path, sizes=(5,))


def test_an_inner_loop_goes_on_with_the_variable_of_the_outer_one(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x = b.array("x", N, N, type=F64)
    with b.loop("i", 0, N, inits=[b.constant(0.0, F64)], names=["total"]) as i:
        with b.loop("j", 0, i.iv + 1, inits=i.carried) as j:
            b.yield_(b.binary("addf", j.carried[0], b.load(x, i.iv, j.iv)))
        b.yield_(*j.results)
    m = module(b.func(*i.results))
    check(m, "kernel", [array(4, 4, dtype="float64")], tmp_path, sizes=(4,))
    source = emit(m, "kernel").source
    assert "total += x[i * N + j];" in source
    assert source.count("double total = 0.0;") == 1


def test_a_carried_value_read_inside_a_loop_keeps_its_variable(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x = b.array("x", N, N, type=F64)
    with b.loop("i", 0, N, inits=[b.constant(1.0, F64)]) as i:
        with b.loop("j", 0, N) as j:
            with b.loop("k", 0, 2, inits=i.carried) as k:
                b.yield_(b.binary("addf", k.carried[0], k.carried[0]))
            b.store(k.results[0], x, i.iv, j.iv)
        b.yield_(b.load(x, i.iv, 0))
    check(module(b.func()), "kernel", [array(3, 3, dtype="float64")], tmp_path, sizes=(3,))


def test_conditions(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x, y = b.array("x", N), b.array("y", N)
    with b.loop("i", 0, N) as i:
        with b.block() as then:
            b.yield_(b.load(x, i.iv - 1))
        with b.block() as orelse:
            b.yield_(b.constant(-1.5, F32))
        inside = [Constraint(i.iv - 1), Constraint(N - 2 - i.iv)]
        (value,) = b.if_(inside, tuple(then), tuple(orelse), [F32])
        with b.block() as then:
            b.store(value, y, i.iv)
        with b.block() as orelse:
            b.store(b.binary("addf", value, value), y, i.iv)
        b.if_(b.compare("ogt", b.load(y, i.iv), b.constant(0.0, F32)), tuple(then), tuple(orelse))
        with b.block() as orelse:
            b.store(b.constant(9.0, F32), x, i.iv)
        b.if_([Constraint(i.iv % 2, equality=True)], (), tuple(orelse))
    m = module(b.func())
    check(m, "kernel", [array(7), array(7)], tmp_path, sizes=(7,))
    source = emit(m, "kernel").source
    assert "if (i >= 1 && i <= N - 2) {" in source
    assert "if (i % 2 != 0) {" in source


def test_min_max_bounds_steps_and_division(tmp_path: Path):
    b = Builder()
    N, M = b.index("N"), b.index("M")
    x = b.array("x", N, type=I64)
    y = b.array("y", M, type=I64)
    with b.loop("ii", 0, N, 4) as ii, b.loop("i", ii.iv, (ii.iv + 4, N)) as i:
        value = b.cast("index_cast", b.apply((i.iv - 3) // 4 + (i.iv - N) % 3 + i.iv.__floordiv__(2)), I64)
        b.store(value, x, i.iv)
    with b.loop("j", (0, M - 5), M, 2) as j:
        ceiling = Affine.of(j.iv - 6).ceildiv(4)
        low = b.define(INDEX, affine.Min, (Affine.of(j.iv), N - 3, ceiling))
        high = b.define(INDEX, affine.Max, (Affine.of(j.iv), N - 3, Affine.of(low)))
        b.store(b.cast("index_cast", high, I64), y, j.iv)
        b.store(b.binary("addi", b.load(y, j.iv), b.cast("index_cast", low, I64)), y, j.iv)
    m = module(b.func())
    check(m, "kernel", [array(11, dtype="int64"), array(9, dtype="int64")], tmp_path, sizes=(11, 9))
    assert "for (int64_t i = ii; i < min_i64(ii + 4, N); ++i) {" in emit(m, "kernel").source


def test_semi_affine(tmp_path: Path):
    b = Builder()
    N, s = b.index("N"), b.index("s")
    x = b.array("x", N, type=INDEX)
    b.array("w", s)
    b.assumes.append(Constraint(s - 1))
    with b.loop("i", 0, N) as i:
        value = b.apply(Affine.of(i.iv) % s + (i.iv // Affine.of(s)) * s + (i.iv - N) % s - (i.iv - N) // Affine.of(s))
        b.store(value, x, i.iv)
    check(module(b.func()), "kernel", [array(9, dtype="int64"), array(4)], tmp_path, sizes=(9, 4))


def test_local_buffers(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x = b.array("x", N)
    size = b.apply(N + 2)
    row = b.alloc(MemRefType((None, 2), F32), size, name="row")
    small = b.alloc(MemRefType((4,), F32), name="small", make=memref.Alloca)
    with b.loop("i", 0, N) as i:
        aside = b.alloc(MemRefType((None,), F64), N, name="aside", make=memref.Alloca)
        b.store(b.cast("extf", b.load(x, i.iv), F64), aside, i.iv)
        b.store(b.cast("truncf", b.load(aside, i.iv), F32), row, i.iv + 1, 1)
        b.store(b.load(row, i.iv + 1, 1), small, i.iv % 4)
        tile = b.alloc(MemRefType((None,), F32), N, name="tile")
        b.store(b.load(small, i.iv % 4), tile, i.iv)
        b.store(b.load(tile, i.iv), x, i.iv)
        b.add(memref.Dealloc(tile))
    b.add(memref.Dealloc(row))
    m = module(b.func())
    check(m, "kernel", [array(5)], tmp_path, sizes=(5,))
    check(m, "kernel", [array(0)], tmp_path, sizes=(0,))
    source = emit(m, "kernel").source
    assert "float *row = new_buffer(sizeof(float), 2, (const int64_t[]){N + 2, 2});" in source
    assert "float small[4];" in source


def test_no_memory_gives_status_2_and_frees_what_is_live(tmp_path: Path):
    b = Builder()
    N, huge = b.index("N"), b.index("huge")
    x = b.array("x", N)
    a = b.alloc(MemRefType((None,), F32), N, name="a")
    with b.parallel("i", [0], [N]) as band:
        (i,) = band.ivs
        with b.loop("j", 0, 1) as j:
            c = b.alloc(MemRefType((None, None), F64), huge, huge, name="c")
            b.store(b.constant(0.0, F64), c, j.iv, 0)
        b.store(b.load(a, i), x, i)
    m = module(b.func())
    check_compiles(m, "kernel", tmp_path)
    compiler = require("gcc", ("-fopenmp",))
    library = ctypes.CDLL(str(compile_silently(emit_jit(m, "kernel", sizes=1), tmp_path, compiler, "-fopenmp")))
    x = array(4)
    assert call(library, m, "kernel", [2**61, x], sizes=1)[0] == 2
    assert call(library, m, "kernel", [3, x], sizes=1)[0] == 0


def test_array_results_and_calls(tmp_path: Path):
    inner = Builder("prefix")
    N = inner.index("N")
    x = inner.array("x", N)
    out = inner.alloc(MemRefType((None,), F32), inner.apply(N + 1), name="out")
    inner.store(inner.constant(0.0, F32), out, 0)
    with inner.loop("i", 0, N) as i:
        inner.store(inner.binary("addf", inner.load(out, i.iv), inner.load(x, i.iv)), out, i.iv + 1)
    total = inner.load(out, N)
    prefix = inner.func(out, total)
    outer = Builder("twice")
    N = outer.index("N")
    x = outer.array("x", N)
    once, last = outer.call(prefix, N, x, names=["once", "last"])
    size = outer.apply(N + 1)
    twice, other = outer.call(prefix, size, once, names=["twice"])
    outer.store(outer.binary("addf", last, other), x, 0)
    m = module(prefix, outer.func(twice))
    check(m, "twice", [array(6)], tmp_path, sizes=(6,))
    check(m, "prefix", [array(6)], tmp_path, sizes=(6,))


def test_one_buffer_passed_twice_loses_restrict(tmp_path: Path):
    inner = Builder("add")
    N = inner.index("N")
    x, y = inner.array("x", N), inner.array("y", N)
    with inner.loop("i", 0, N - 1) as i:
        a = inner.load(x, i.iv)
        inner.store(inner.load(x, i.iv + 1), y, i.iv)
        inner.store(a, y, i.iv + 1)
    add = inner.func()
    outer = Builder("self")
    N = outer.index("N")
    x = outer.array("x", N)
    outer.call(add, N, x, x)
    m = module(add, outer.func())
    check(m, "self", [array(6)], tmp_path, sizes=(6,))
    source = emit(m, "self").source
    assert "static void add(int64_t N, const float *x, float *y)" in source
    assert "float *restrict x" in source


def test_casts_dims_copies_and_layouts(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x, y = b.array("x", N, 4), b.array("y", N, 4)
    z = b.array("z", N, type=INDEX)
    seen = Value(MemRefType((None, None), F32, StridedLayout((None, None), None)))
    b.add(memref.Cast(seen, x))
    b.add(memref.Copy(y, seen))
    rows = b.define(INDEX, memref.Dim, seen, b.constant(0, INDEX))
    with b.loop("i", 0, rows) as i:
        columns = b.define(INDEX, memref.Dim, seen, b.constant(1, INDEX))
        b.store(columns, z, i.iv)
        b.store(b.load(seen, i.iv, columns - 1), y, i.iv, 0)
    m = module(b.func())
    check(m, "kernel", [array(3, 4), array(3, 4), array(3, dtype="int64")], tmp_path, sizes=(3,))
    assert "memcpy(x, y, (size_t)N * 4 * sizeof(*x));" in emit(m, "kernel").source


def test_narrow_and_unsigned_arguments(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    h = b.array("h", N, type=I32, unsigned=True)
    c = b.array("c", N, type=I8, unsigned=True)
    flags = b.array("flags", N, type=I1)
    u = b.scalar("u", I8, unsigned=True)
    with b.loop("i", 0, N) as i:
        value = b.cast("extui", b.load(c, i.iv), I32)
        b.store(b.binary("addi", b.load(h, i.iv), value), h, i.iv)
        b.store(b.compare("ugt", b.load(c, i.iv), u), flags, i.iv)
        b.store(b.binary("subi", b.load(c, i.iv), u), c, i.iv)
    m = module(b.func())
    arguments = [array(5, dtype="uint32"), array(5, dtype="uint8") + np.uint8(200), np.zeros(5, "bool"), np.uint8(210)]
    check(m, "kernel", arguments, tmp_path, sizes=(5,))
    assert "h[i] += (uint32_t)(int32_t)c[i];" in emit(m, "kernel").source


def test_extended_and_unused(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    unused = b.array("unused", N)
    x = b.array("x", N, type=I32)
    b.scalar("also_unused", F32)
    b.load(unused, 0)
    with b.loop("i", 0, N) as i:
        low, carry = Value(I32), Value(I1)
        b.add(arith.Extended(low, carry, "addui_extended", b.load(x, i.iv), b.constant(2**31 - 1, I32)))
        high = Value(I32)
        b.add(arith.Extended(Value(I32), high, "mulsi_extended", low, low))
        b.store(b.binary("addi", high, b.cast("extui", carry, I32)), x, i.iv)
    arguments = [array(4), np.array([1, -1, 2**31 - 1, -(2**31)], "int32"), 1.0]
    check(module(b.func()), "kernel", arguments, tmp_path, sizes=(4,))


def test_refusals():
    b = Builder()
    x = b.array("x", 4)
    with pytest.raises(UnsupportedError, match=r"array 'x' that 'kernel' returns is an argument"):
        emit(module(b.func(x)), "kernel")
    b = Builder()
    out = b.alloc(MemRefType((4,), F32), name="out")
    with pytest.raises(UnsupportedError, match=r"array 'out' that 'kernel' returns is returned twice"):
        emit(module(b.func(out, out)), "kernel")
    b = Builder()
    x = b.array("x", 4, type=INDEX)
    out = b.alloc(MemRefType((None,), F32), b.load(x, 0), name="out")
    with pytest.raises(UnsupportedError, match=r"'out'.* has a size that is not an affine expression"):
        emit(module(b.func(out)), "kernel")
    f = func.Func("loop", (), (func.Call((), "loop", ()),))
    with pytest.raises(UnsupportedError, match=r"recursion \(loop -> loop\)"):
        emit(module(f), "loop")
    with pytest.raises(UnsupportedError, match=r"there is no function 'other' in the module; it has: loop"):
        emit(module(f), "other")
    a = Value(MemRefType((4,), F32, StridedLayout((None,), 0)), "a")
    with pytest.raises(UnsupportedError, match=r"array 'a' of 'f' has the layout strided<\[\?\]>; a call from Python"):
        emit_jit(module(func.Func("f", (a,), ())), "f")
    b = Builder()
    b.index("N")
    with pytest.raises(UnsupportedError, match=r"no array of 'kernel' has a dimension that determines the size N"):
        emit_jit(module(b.func()), "kernel", sizes=1)


def test_run_needs_no_module_level_state(tmp_path: Path):
    first = run_c(dot(), "dot", [array(3, dtype="float64"), array(3, dtype="float64")], tmp_path, sizes=1)
    assert len(first) == 1
