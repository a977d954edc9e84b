import numpy as np
import pytest

from affdsl.errors import AffdslError
from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.location import Location
from affdsl.ir.types import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    I8,
    I32,
    INDEX,
    IntegerType,
    OpaqueType,
    StridedLayout,
)
from affdsl.mlir.readers import parse
from tests.ir.build import array, exprs, function, index, value


def constant(number, type=INDEX):
    op = arith.Constant(Value(type, f"c{number}"), number)
    return op, op.result


def loop(iv, lower, upper, *body, **more):
    return affine.For(iv, exprs(lower), exprs(upper), body, **more)


def test_matrix_product():
    M, N, K = index("M"), index("N"), index("K")
    A, B, C = array("A", None, None), array("B", None, None), array("C", None, None)
    i, j, k = index("i"), index("j"), index("k")
    a, b, c, p, s = (value(n) for n in "abcps")
    f = function(
        (M, N, K, A, B, C),
        loop(i, 0, M, loop(j, 0, N, loop(k, 0, K,
            affine.Load(a, A, exprs(i, k)), affine.Load(b, B, exprs(k, j)), affine.Load(c, C, exprs(i, j)),
            arith.Binary(p, "mulf", a, b), arith.Binary(s, "addf", c, p), affine.Store(s, C, exprs(i, j))))),
        shapes=(None, None, None, exprs(M, K), exprs(K, N), exprs(M, N)),
        assumes=(Constraint(Affine.of(M) - 2),),
    )  # fmt: skip
    x, y = np.arange(15, dtype="f4").reshape(3, 5), np.arange(20, dtype="f4").reshape(5, 4)
    z = np.zeros((3, 4), "f4")
    assert run(f, 3, 4, 5, x, y, z) == ()
    np.testing.assert_array_equal(z, x @ y)
    with pytest.raises(InterpreterError, match=r"^@f: argument %B has sizes \(5, 4\), but must have \(5, 5\)$"):
        run(f, 3, 5, 5, x, y, z)
    with pytest.raises(InterpreterError, match=r"^@f assumes M - 2 >= 0, which does not hold for M = 1$"):
        run(f, 1, 4, 5, x[:1], y, z[:1])


@pytest.mark.parametrize(("lower", "upper", "step"), [(0, 0, 1), (5, 2, 1), (-3, 4, 3), (2, 3, 7)])
def test_loop_carries_values(lower, upper, step):
    iv, x, y, rx, ry, total = (index(n) for n in ("i", "x", "y", "rx", "ry", "total"))
    one, c1 = constant(1)
    body = (arith.Binary(total, "addi", x, iv), affine.Yield((y, total)))  # the two change places
    f = function(
        (c1,),
        affine.For(iv, exprs(lower), exprs(upper), body, step, inits=(c1, c1), carried=(x, y), results=(rx, ry)),
        func.Return((rx, ry)),
    )
    a, b = 7, 7
    for i in range(lower, upper, step):
        a, b = b, a + i
    assert run(f, 7) == (a, b)
    assert one.result is c1


def test_bounds_are_the_largest_lower_and_the_smallest_upper_evaluated_once():
    N, n, s = index("N"), value("n", I32), value("s", I32)
    out = array("out", None, element=I32)
    iv = index("i")
    one, c1 = constant(1, I32)
    f = function(
        (N, out), one,
        affine.For(iv, exprs(2, Affine.of(N) - 6), exprs(N, 7), (
            affine.Load(n, out, exprs(iv)), arith.Binary(s, "addi", n, c1), affine.Store(s, out, exprs(iv)))),
    )  # fmt: skip
    for size in (1, 4, 9, 12):
        given = np.zeros(size, np.int32)
        run(f, size, given)
        expected = np.zeros(size, np.int32)
        expected[max(2, size - 6) : min(size, 7)] = 1
        np.testing.assert_array_equal(given, expected)


def test_affine_if_with_results_and_without():
    i, x, y, r = index("i"), value("x"), value("y"), value("r")
    out = array("out")
    condition = (Constraint(Affine.of(i) - 2), Constraint(Affine.of(i) % 2, equality=True))
    f = function(
        (i, x, y, out),
        affine.If(condition, (affine.Yield((x,)),), (affine.Yield((y,)),), (r,)),
        affine.If((Constraint(Affine.of(i) - 3),), (affine.Store(x, out, ()),)),
        func.Return((r,)),
    )
    for number in range(6):
        target = np.zeros((), "f4")
        assert run(f, number, 1.0, 2.0, target) == (1.0 if number >= 2 and number % 2 == 0 else 2.0,)
        assert target == (1.0 if number >= 3 else 0.0)


@pytest.mark.parametrize("order", ["forward", "reverse", "shuffled"])
def test_parallel_in_any_order(order):
    N, i, j = index("N"), index("i"), index("j")
    A = array("A", None, None, element=I32)
    a, total, last = value("a", I32), value("total", I32), index("last")
    p = affine.Parallel(
        (i, j), (exprs(0, 1), exprs(0)), (exprs(N), exprs(N, 3)), (2, 1),
        (affine.Load(a, A, exprs(i, j)), affine.Yield((a, i))), ("addi", "assign"), (total, last),
    )  # fmt: skip
    f = function((N, A), p, func.Return((total, last)))
    for n in (0, 1, 2, 5):
        given = np.arange(n * n, dtype=np.int32).reshape(n, n)
        expected = int(given[1:n:2, :3].sum()), max(range(1, n, 2), default=0)
        assert run(f, n, given, order=order, seed=3) == expected


def test_shuffled_order_follows_the_seed():
    i, out, n, c = index("i"), array("out", None, element=INDEX), array("n", element=INDEX), index("c")
    one, c1 = constant(1)
    count = index("count")
    body = (memref.Load(c, n, ()), memref.Store(i, out, (c,)), arith.Binary(count, "addi", c, c1))
    p = affine.Parallel((i,), (exprs(0),), (exprs(8),), (1,), (*body, memref.Store(count, n, ())))
    f = function((out, n), one, p)

    def visited(**options):
        seen = np.zeros(8, np.int64)
        run(f, seen, np.zeros((), np.int64), **options)
        return seen.tolist()

    assert visited() == list(range(8))
    assert visited(order="reverse") == list(range(7, -1, -1))
    assert visited(order="shuffled", seed=1) == visited(order="shuffled", seed=1)
    assert visited(order="shuffled", seed=1) != visited(order="shuffled", seed=2)
    assert sorted(visited(order="shuffled")) == list(range(8))


def test_band_without_loops_runs_once():
    x, r = value("x"), value("r")
    f = function((x,), affine.Parallel((), (), (), (), (affine.Yield((x,)),), ("mulf",), (r,)), func.Return((r,)))
    assert run(f, 3.0) == (3.0,)


def test_apply_min_max_and_semi_affine():
    i, n = index("i"), index("n")
    a, lo, hi = index("a"), index("lo"), index("hi")
    e = Affine.of(i)
    f = function(
        (i, n),
        affine.Apply(a, (e * n + 3) // n - e % 4 + (e * 2 + n * 3) // 5),
        affine.Min(lo, exprs(i, n, 4)),
        affine.Max(hi, exprs(i, e.ceildiv(2) + n)),
        func.Return((a, lo, hi)),
    )
    for x in range(-9, 9):
        for y in range(1, 5):
            expected = ((x * y + 3) // y - x % 4 + (2 * x + 3 * y) // 5, min(x, y, 4), max(x, -(-x // 2) + y))
            assert run(f, x, y) == expected
    with pytest.raises(
        InterpreterError, match=r"affine.apply: the divisor of a floordiv or mod must be positive, but is 0"
    ):
        run(f, 1, 0)


def test_index_results_fit_into_64_bits():
    i, a = index("i"), index("a")
    f = function((i,), affine.Apply(a, Affine.of(i) * 4), func.Return((a,)))
    assert run(f, 2**60) == (2**62,)
    with pytest.raises(InterpreterError, match=f"affine.apply: %a = {2**63} does not fit into 64 bits"):
        run(f, 2**61)


def test_scalars_in_and_out():
    b, x, h, q, u, n = value("b", I1), value("x", F64), value("h", F16), value("q", BF16), value("u", I8), index("n")
    args = (b, x, h, q, u, n)
    f = function(args, func.Return(args), unsigned=frozenset({4}), unsigned_results=frozenset({4}))
    results = run(f, True, 0.1, 0.1, 0.1, 200, -5)
    assert results == (True, 0.1, np.float16(0.1), np.float32(0.10009765625), 200, -5)
    assert [type(r) for r in results] == [bool, np.float64, np.float16, np.float32, int, int]
    for position, bad, text in (
        (0, 2, r"argument %b must lie between 0 and 1, got 2"),
        (1, "1", r"argument %x must be a number, got '1'"),
        (1, True, r"argument %x must be a number, got True"),
        (4, -1, r"argument %u must lie between 0 and 255, got -1"),
        (4, 1.0, r"argument %u must be an integer, got 1.0"),
        (5, 2**63, r"argument %n must lie between -9223372036854775808 and 9223372036854775807"),
    ):
        given = [True, 0.1, 0.1, 0.1, 200, -5]
        given[position] = bad
        with pytest.raises(InterpreterError, match=rf"^@f: {text}"):
            run(f, *given)
    with pytest.raises(InterpreterError, match=r"@f takes 6 arguments, got 1"):
        run(f, True)


@pytest.mark.parametrize(
    ("element", "dtype", "unsigned"),
    [(INDEX, "i8", False), (I1, "?", False), (I8, "i1", False), (I8, "u1", True), (IntegerType(12), "i2", False),
     (I32, "u4", True), (F16, "f2", False), (BF16, "u2", False), (F32, "f4", False), (F64, "f8", False)],
)  # fmt: skip
def test_every_element_type_is_copied_and_returned(element, dtype, unsigned):
    A, B, x, i = array("A", 4, element=element), array("B", 4, element=element), value("x", element), index("i")
    flags = frozenset({0} if unsigned else ())
    f = function(
        (A,), memref.Alloc(B), loop(i, 0, 4, affine.Load(x, A, exprs(i)), affine.Store(x, B, exprs(i))),
        func.Return((B,)), unsigned=flags, unsigned_results=flags,
    )  # fmt: skip
    given = np.array([1, 0, 1, 1], dtype) if dtype == "?" else (np.array([1, 2, 250, 7]) % 128 * 2).astype(dtype)
    (result,) = run(f, given)
    assert result.dtype == given.dtype
    np.testing.assert_array_equal(result, given)
    with pytest.raises(InterpreterError, match=r"argument %A must have dtype .* and rank 1, got complex64 and rank 1"):
        run(f, np.zeros(4, np.complex64))
    with pytest.raises(InterpreterError, match=r"argument %A must be a NumPy array, got \[1\]"):
        run(f, [1])


def test_arguments_keep_their_types_promises():
    A = array("A", 4, None)
    f = function((A,))
    run(f, np.zeros((4, 2), "f4"))
    with pytest.raises(
        InterpreterError, match=r"argument %A has size 3 along dimension 0, where memref<4x\?xf32> has 4"
    ):
        run(f, np.zeros((3, 2), "f4"))
    with pytest.raises(InterpreterError, match=r"argument %A has stride 1 along dimension 0, where .* has 2"):
        run(f, np.zeros((2, 4), "f4").T)
    strided = function((array("A", 4, layout=StridedLayout((None,), None)),))
    run(strided, np.zeros(8, "f4")[::2])


def test_arithmetic_reaches_the_tables():
    a, b, m = value("a", I8), value("b", I8), value("m", I1)
    low, carry, less, wide, pick = (
        value("low", I8),
        value("carry", I1),
        value("less", I1),
        value("wide", I32),
        value("p", I8),
    )
    x, y, z, w, t = (value(n) for n in "xyzwt")
    f = function(
        (a, b, x, m),
        arith.Extended(low, carry, "addui_extended", a, b), arith.Compare(less, "cmpi", "slt", a, b),
        arith.Cast(wide, "extui", a), arith.Select(pick, less, a, b), arith.Negate(y, x),
        math.Unary(z, "sqrt", x), math.Fma(w, x, y, z), math.Binary(t, "powf", x, x),
        func.Return((low, carry, less, wide, pick, y, z, w, t)),
    )  # fmt: skip
    assert run(f, -1, 2, 4.0, 0) == (1, True, True, 255, -1, -4.0, 2.0, -14.0, 256.0)


def test_float_trouble_is_silent():
    x, y, z = value("x"), value("y"), value("z")
    f = function((x, y), arith.Binary(z, "divf", x, y), func.Return((z,)))
    assert run(f, 1.0, 0.0) == (np.inf,)
    assert np.isnan(run(f, 0.0, 0.0)[0])
    h = value("h", F16)
    assert run(function((h,), func.Return((h,))), 1e9) == (np.inf,)


def test_out_of_bounds_names_everything():
    i, x, A = index("i"), value("x"), array("A", None, 8)
    location = Location("kernels.py", 12)
    text = r"A\[{}\] is out of bounds: %A has sizes \(4, 8\)$"
    given = np.zeros((4, 8), "f4")
    load = function((i, A), affine.Load(x, A, exprs(i, Affine.of(i) * 2), location=location))
    with pytest.raises(InterpreterError, match=r"^kernels.py:12: affine.load: %" + text.format("4, 8")):
        run(load, 4, given)
    with pytest.raises(InterpreterError, match=r"affine.load: %" + text.format("-1, -2")):
        run(load, -1, given)
    store = function((i, x, A), memref.Store(x, A, (i, i)))
    with pytest.raises(InterpreterError, match=r"^memref.store: %" + text.format("-1, -1")):
        run(store, -1, 1.0, given)
    assert issubclass(InterpreterError, AffdslError)


def test_use_after_dealloc_and_wrong_dealloc():
    x, A, B = value("x"), array("A", 4), array("B", 4)
    zero, c0 = constant(0)
    new = (zero, memref.Alloc(A), memref.Store(x, A, (c0,)), memref.Dealloc(A))
    dead = "%A must not be used any more: it was deallocated"
    for op in (memref.Store(x, A, (c0,)), memref.Load(value("y"), A, (c0,)), memref.Dealloc(A), memref.Copy(A, B)):
        with pytest.raises(InterpreterError, match=dead):
            run(function((x, B), *new, op), 1.0, np.zeros(4, "f4"))
    with pytest.raises(InterpreterError, match=r"result 0 is a buffer that cannot be used: it was deallocated"):
        run(function((x,), *new, func.Return((A,))), 1.0)
    with pytest.raises(
        InterpreterError,
        match=r"memref.dealloc: %B comes from an argument, and only what memref.alloc gives is given back",
    ):
        run(function((B,), memref.Dealloc(B)), np.zeros(4, "f4"))


def test_alloca_ends_with_its_block():
    i, x, A, r, m = index("i"), value("x"), array("A"), array("r"), array("m")
    init = array("init")
    carried = affine.For(
        i, exprs(0), exprs(2), (memref.Alloca(A), affine.Store(x, A, ()), affine.Yield((A,))),
        inits=(init,), carried=(m,), results=(r,),
    )  # fmt: skip
    y = value("y")
    f = function((x, init), carried, affine.Load(y, r, ()), func.Return((y,)))
    with pytest.raises(InterpreterError, match=r"affine.load: %r must not be used any more: its block has ended"):
        run(f, 1.0, np.zeros((), "f4"))


def test_uninitialised_elements():
    A, x, n = array("A", 2), value("x"), value("n", I8)
    zero, c0 = constant(0)
    one, c1 = constant(1)
    f = function(
        (x,), zero, one, memref.Alloc(A), memref.Store(x, A, (c0,)), memref.Load(value("y"), A, (c0,)),
        memref.Load(n_float := value("z"), A, (c1,)), func.Return((n_float,)),
    )  # fmt: skip
    with pytest.raises(InterpreterError, match=r"memref.load: %A\[1\] is read before anything was stored there"):
        run(f, 1.0)
    assert np.isnan(run(f, 1.0, uninitialised="poison")[0])
    B = array("B", 2, element=I8)
    g = function((), zero, memref.Alloc(B), memref.Load(n, B, (c0,)), func.Return((n,)))
    assert run(g, uninitialised="poison") == (np.int8(np.uint8(0xA5)),)


def test_alloc_sizes():
    n, A = index("n"), array("A", None, 3)
    f = function((n,), memref.Alloc(A, (n,)), func.Return((A,)))
    assert run(f, 0)[0].shape == (0, 3)
    with pytest.raises(InterpreterError, match=r"memref.alloc: %A would have a negative size: -1, 3"):
        run(f, -1)
    with pytest.raises(InterpreterError, match=rf"memref.alloc: %A of sizes {2**61}, 3 does not fit into memory"):
        run(f, 2**61)


def test_dim_copy_and_cast():
    A, B, C = array("A", None, None), array("B", 2, None), array("C", None, None)
    axis, d = index("axis"), index("d")
    f = function((A, axis, C), memref.Cast(B, A), memref.Copy(B, C), memref.Dim(d, B, axis), func.Return((d,)))
    given, target = np.ones((2, 3), "f4"), np.zeros((2, 3), "f4")
    assert run(f, given, 1, target) == (3,)
    np.testing.assert_array_equal(target, given)
    with pytest.raises(
        InterpreterError, match=r"memref.cast: %A has size 4 along dimension 0, where memref<2x\?xf32> has 2"
    ):
        run(f, np.ones((4, 3), "f4"), 1, target)
    with pytest.raises(InterpreterError, match=r"memref.dim: %B has 2 dimensions, and none with the number 2"):
        run(f, given, 2, target)
    with pytest.raises(InterpreterError, match=r"memref.copy: %B and %C differ in shape: \(2, 3\) and \(2, 4\)"):
        run(f, given, 1, np.zeros((2, 4), "f4"))
    with pytest.raises(InterpreterError, match=r"memref.copy: %B and %C overlap in memory"):
        run(f, given, 1, given)
    target.flags.writeable = False
    with pytest.raises(InterpreterError, match=r"memref.copy: %C is written, but its array is read-only"):
        run(f, given, 1, target)


def test_copy_carries_what_is_unwritten():
    A, B, C, x, y = array("A", 2), array("B", 2), array("C", 2), value("x"), value("y")
    zero, c0 = constant(0)
    half = (zero, memref.Alloc(A), memref.Store(x, A, (c0,)))
    fine = function((x,), *half, memref.Alloc(B), memref.Copy(A, B), memref.Load(y, B, (c0,)), func.Return((y,)))
    assert run(fine, 2.0) == (2.0,)
    with pytest.raises(InterpreterError, match=r"memref.copy: %A has elements in which nothing was stored"):
        run(function((x, C), *half, memref.Copy(A, C)), 2.0, np.zeros(2, "f4"))


def test_store_to_a_read_only_array():
    A, x = array("A"), value("x")
    given = np.zeros((), "f4")
    given.flags.writeable = False
    with pytest.raises(InterpreterError, match=r"affine.store: %A is written, but its array is read-only"):
        run(function((A, x), affine.Store(x, A, ())), given, 1.0)


def test_strided_buffers_and_their_casts():
    layout = StridedLayout((8, 2), 3)
    A, D, E, x, y = array("A", 2, 3, layout=layout), array("D", 2, 3, layout=StridedLayout((None, None), None)), array(
        "E", 2, 3, layout=StridedLayout((8, 1), 3)), value("x"), value("y")  # fmt: skip
    one, c1 = constant(1)
    f = function(
        (x,), one, memref.Alloc(A), memref.Cast(D, A), memref.Store(x, D, (c1, c1)), memref.Load(y, A, (c1, c1)),
        func.Return((y,)),
    )  # fmt: skip
    assert run(f, 5.0) == (5.0,)
    wrong = function((x,), memref.Alloc(A), memref.Cast(D, A), memref.Cast(E, D))
    with pytest.raises(InterpreterError, match=r"memref.cast: %D has stride 2 along dimension 1, where .* has 1"):
        run(wrong, 1.0)
    origin = array("O", 2, 3, layout=StridedLayout((8, 2), 0))
    with pytest.raises(InterpreterError, match=r"memref.cast: %D has offset 3, where .* has 0"):
        run(function((x,), memref.Alloc(A), memref.Cast(D, A), memref.Cast(origin, D)), 1.0)


def test_scf():
    n, i, acc, next_acc, r, even, zero_or_one = (index(k) for k in ("n", "i", "acc", "next", "r", "even", "z"))
    (zero, c0), (one, c1), (two, c2) = constant(0), constant(1), constant(2)
    test = value("test", I1)
    choose = scf.If(test, (scf.Yield((i,)),), (scf.Yield((c0,)),), (even,))
    body = (
        arith.Binary(zero_or_one, "remsi", i, c2), arith.Compare(test, "cmpi", "eq", zero_or_one, c0), choose,
        arith.Binary(next_acc, "addi", acc, even), scf.Yield((next_acc,)),
    )  # fmt: skip
    f = function((n,), zero, one, two, scf.For(i, c0, n, c1, body, (c0,), (acc,), (r,)), func.Return((r,)))
    for k in (-1, 0, 1, 7):
        assert run(f, k) == (sum(range(0, max(k, 0), 2)),)
    g = function((n,), zero, scf.For(i, c0, n, c0, ()))
    with pytest.raises(InterpreterError, match=r"scf.for: the step %c0 must be positive, got 0"):
        run(g, 1)


def test_steps_must_be_positive():
    i = index("i")
    with pytest.raises(InterpreterError, match=r"affine.for: the step must be positive, got 0"):
        run(function((), loop(i, 0, 4, step=0)))
    with pytest.raises(InterpreterError, match=r"affine.parallel: the steps must be positive, got -1"):
        run(function((), affine.Parallel((i,), (exprs(0),), (exprs(4),), (-1,), ())))
    with pytest.raises(InterpreterError, match=r"affine.for: needs at least one expression"):
        run(function((), affine.For(i, (), exprs(4), ())))


def test_calls():
    x, y, z = value("x"), value("y"), value("z")
    N, A, B = index("N"), array("A", None), array("B", None)
    callee = func.Func("g", (N, A, x), (arith.Binary(y, "addf", x, x), func.Return((y,))), (F32,),
                       shapes=(None, exprs(N), None))  # fmt: skip
    w, M = value("w"), index("M")
    caller = func.Func("f", (M, B, w), (func.Call((z,), "g", (M, B, w)), func.Return((z,))), (F32,))
    module = func.Module((caller, callee))
    assert run(caller, 3, np.zeros(3, "f4"), 2.0, module=module) == (4.0,)
    with pytest.raises(InterpreterError, match=r"@g: argument %A has sizes \(3\), but must have \(2\)"):
        run(caller, 2, np.zeros(3, "f4"), 2.0, module=module)
    with pytest.raises(
        InterpreterError, match=r"func.call: there is no function @g \(only @f\); pass the module that holds it"
    ):
        run(caller, 3, np.zeros(3, "f4"), 2.0)


def test_arrays_returned_by_calls():
    N, A, B, i, x = index("N"), array("A", None), array("B", None), index("i"), value("x")
    fill = func.Func("fill", (N, x), (memref.Alloc(A, (N,)), loop(i, 0, N, affine.Store(x, A, exprs(i))),
                                      func.Return((A,))), (A.type,))  # fmt: skip
    M, w = index("M"), value("w")
    f = func.Func("f", (M, w), (func.Call((B,), "fill", (M, w)), func.Return((B,))), (B.type,))
    (result,) = run(f, 3, 2.5, module=func.Module((f, fill)))
    np.testing.assert_array_equal(result, np.full(3, 2.5, "f4"))


def test_ir_that_the_verifier_refuses():
    x, y, z = value("x"), value("y"), value("z")
    with pytest.raises(InterpreterError, match=r"@f reads %y before it is defined; the verifier refuses this"):
        run(function((x,), arith.Binary(z, "addf", x, y)), 1.0)
    v = value("v", OpaqueType("tensor<4xf32>"))
    with pytest.raises(
        InterpreterError, match=r"arith.negf: the interpreter computes with scalars only, not with tensor<4xf32>"
    ):
        run(function((x,), arith.Negate(v, v)), 1.0)
    with pytest.raises(InterpreterError, match=r"affine.load: %x is no memref but has type f32"):
        run(function((x,), affine.Load(y, x, ())), 1.0)


def test_deep_nests():
    x, A = value("x"), array("A", element=I32)
    one, c1 = constant(1, I32)
    n, s = value("n", I32), value("s", I32)
    op = affine.For(index("i"), exprs(0), exprs(1), (
        affine.Load(n, A, ()), arith.Binary(s, "addi", n, c1), affine.Store(s, A, ())))  # fmt: skip
    for depth in range(250):
        op = affine.For(index("i"), exprs(0), exprs(2 if depth % 50 == 0 else 1), (op,))
    given = np.zeros((), np.int32)
    run(function((x, A), one, op), 1.0, given)
    assert given == 2**5


def test_a_program_that_is_run_again_is_as_at_first():
    """Its steps are kept; what a run left in a global buffer, or an error, is not, and so for the last few programs."""
    module = parse("""
        memref.global "private" @count : memref<1xi32> = dense<0>
        func.func @next(%by: i32, %at: index) -> i32 {
          %count = memref.get_global @count : memref<1xi32>
          %old = memref.load %count[%at] : memref<1xi32>
          %new = arith.addi %old, %by : i32
          memref.store %new, %count[%at] : memref<1xi32>
          return %new : i32
        }""")
    (of_module,) = module.functions
    others = [function((), func.Return(())) for _ in range(20)]
    for each in (None, *others):
        assert run(of_module, 3, 0, module=module) == (3,)
        with pytest.raises(InterpreterError, match="out of bounds"):
            run(of_module, 3, 1, module=module)
        assert run(of_module, 4, 0, module=module) == (4,)
        if each is not None:
            run(each)
    again = parse(str(module))
    assert run(again.functions[0], 5, 0, module=again) == (5,)
