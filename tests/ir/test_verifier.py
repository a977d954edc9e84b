import re

import pytest

from affdsl.errors import VerificationError
from affdsl.ir.applied import applied
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product
from affdsl.ir.location import Location
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.nesting import DEEPEST
from affdsl.ir.types import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    I8,
    I32,
    I64,
    INDEX,
    FunctionType,
    MemRefType,
    StridedLayout,
    VectorType,
)
from affdsl.ir.verifier import verify
from affdsl.ir.verifier.rules import RULES
from tests.ir.build import array, exprs, function, index, value
from tests.ir.operations import OPERATIONS


def constant(number, name, type=INDEX):
    return arith.Constant(value(name, type), number)


def loop(*body, iv=None, lower=0, upper=4, **more):
    return affine.For(iv or index("i"), exprs(lower), exprs(upper), body, **more)


def problems(op):
    with pytest.raises(VerificationError) as caught:
        verify(op)
    return str(caught.value).split("\n")


def refused(op, *lines):
    """op breaks exactly these rules."""
    assert problems(op) == list(lines)


def each(*ops):
    """Operations on values that nobody defines, as arguments of one function."""
    defined = {v for op in ops for v in op.defines()}
    read = dict.fromkeys(v for op in ops for v in op.reads() if v not in defined)
    return function(read, *ops)


N, M = index("N"), index("M")
i, j, k = index("i"), index("j"), index("k")
x, y, z, r = value("x"), value("y"), value("z"), value("r")
a, b, c = value("a", I32), value("b", I32), value("c", I32)
t = value("t", I1)
A = array("A", None)


def test_every_operation_has_a_rule():
    assert set(RULES) == set(OPERATIONS)


def test_a_whole_program_is_accepted():
    d, s, acc, nxt, total, lo = index("d"), value("s"), value("acc"), value("nxt"), value("total"), index("lo")
    zero, init = constant(0, "zero"), constant(0.0, "init", F32)
    body = (
        affine.Apply(d, Affine.of(i) * N + j // N),
        affine.Min(lo, exprs(d, N, 7)),
        affine.Load(s, A, exprs(Affine.of(i) % 4)),
        affine.Load(z, A, exprs(d)),
        arith.Binary(nxt, "addf", acc, s),
        affine.Yield((nxt,)),
    )
    inner = affine.For(j, exprs(i, 0), exprs(N, Affine.of(i) + 4), body, 2, (init.result,), (acc,), (total,))
    guard = affine.If((Constraint(Affine.of(i) - N + 3),), (affine.Store(total, A, exprs(i)),))
    whole = function(
        (N, A), zero, init, loop(inner, guard, iv=i, upper=N), func.Return((zero.result,)),
        shapes=(None, exprs(N)), assumes=(Constraint(Affine.of(N) - 1),),
    )  # fmt: skip
    verify(whole)
    verify(func.Module((whole,)))


def test_a_value_is_defined_once():
    refused(
        function((x, y), arith.Binary(x, "addf", y, y)),
        "arith.addf: %x is defined a second time",
    )
    f, g = func.Func("f", (x,), ()), func.Func("g", (x,), ())
    refused(func.Module((f, g)), "func.func: %x is defined a second time")


def test_a_value_is_read_where_it_is_visible():
    first, second = arith.Negate(y, x), arith.Negate(z, y)
    refused(function((x,), second, first), "arith.negf: %y is read before it is defined")
    refused(function((x,), loop(first), second), "arith.negf: %y is read outside the block that defines it")
    refused(
        function((N, A, x), loop(iv=i), affine.Store(x, A, exprs(i))),
        "affine.store: %i is read outside the block that defines it",
    )
    other = func.Func("g", (), (arith.Negate(r, x),))
    refused(func.Module((func.Func("f", (x,), ()), other)), "arith.negf: %x is read outside the block that defines it")
    verify(function((x,), loop(arith.Negate(y, x), loop(arith.Negate(z, y)))))


def test_an_operand_of_a_map_is_visible_even_where_the_map_makes_nothing_of_it():
    zero = {"upper": applied((0,), (i,), ())}
    verify(function((), loop(loop(iv=j, upper=0, written=zero), iv=i)))
    refused(
        function((), loop(iv=i), loop(iv=j, upper=0, written=zero)),
        "affine.for: %i is an operand of a map, as it was written, outside the block that defines it",
    )
    refused(
        function((), loop(iv=j, upper=0, written=zero), loop(iv=i)),
        "affine.for: %i is an operand of a map, as it was written, before it is defined",
        "affine.for: operand cannot be used as a dimension id: %i is no dimension and no symbol",
    )
    verify(function((), loop(iv=j, upper=1, written=zero), loop(iv=i)))  # the bound has changed: nobody wrote this one


def test_every_problem_is_listed_with_its_place():
    op = arith.Negate(y, a, location=Location("kernels.py", 7))
    refused(
        function((a,), op, arith.Negate(z, r)),
        "kernels.py:7: arith.negf: %a must be a float, but has type i32",
        "kernels.py:7: arith.negf: %y has type f32, but %a has type i32",
        "arith.negf: %r is read before it is defined",
    )


@pytest.mark.parametrize(
    ("parent", "terminator", "right"),
    [
        (lambda body: loop(*body), scf.Yield, "affine.yield"),
        (lambda body: loop(*body), func.Return, "affine.yield"),
        (lambda body: affine.If((), tuple(body)), scf.Yield, "affine.yield"),
        (lambda body: affine.If((), (), tuple(body)), func.Return, "affine.yield"),
        (lambda body: affine.Parallel((), (), (), (), tuple(body)), scf.Yield, "affine.yield"),
        (lambda body: scf.If(t, tuple(body)), affine.Yield, "scf.yield"),
        (lambda body: scf.For(i, N, N, N, tuple(body)), affine.Yield, "scf.yield"),
    ],
)
def test_terminators_fit_their_parents(parent, terminator, right):
    op = parent((terminator((x,)),))
    refused(
        function((x, t, N), op),
        f"{terminator.name}: cannot end a block of {op.name}; that takes {right}",
    )


def test_functions_end_with_return():
    refused(function((x,), affine.Yield((x,))), "affine.yield: cannot end a block of func.func; that takes func.return")
    f = func.Func("f", (x,), (), (F32,))
    refused(f, "func.func: a block must end with func.return of (f32)")
    refused(func.Func("f", (x,), (func.Return((x,)),)), "func.return: hands on (f32), but func.func gives ()")
    refused(
        func.Func("f", (x,), (func.Return((x,)), arith.Negate(y, x))),
        "func.return: ends a block, but operations of func.func follow it",
    )
    verify(func.Func("f", (), (func.Return(()),)))
    refused(func.Func("f", (), (func.Return(()),), (F32,)), "func.return: hands on (), but func.func gives (f32)")


def test_blocks_hand_on_what_their_operation_gives():
    give = (affine.Yield((x,)),)
    verify(function((x,), affine.If((), give, give, (r,))))
    refused(
        function((x,), affine.If((), give, (), (r,))), "affine.if: the else block must end with affine.yield of (f32)"
    )
    refused(
        function((x, t), scf.If(t, (), (scf.Yield((x,)),), (r,))), "scf.if: a block must end with scf.yield of (f32)"
    )
    refused(function((a,), affine.If((), (affine.Yield((a,)),), (affine.Yield((a,)),), (r,))),
            *["affine.yield: hands on (i32), but affine.if gives (f32)"] * 2)  # fmt: skip
    refused(function((x,), loop(affine.Yield((x,)))), "affine.yield: hands on (f32), but affine.for gives ()")


def misplaced(name):
    reason = "is computed inside a loop from something other than loop counters, sizes and constants"
    return f"operand cannot be used as a dimension id: %{name} {reason}"


def bound(by, *before, args=(N, A)):
    """A function whose inner loop goes to `by`, computed by the operations before it."""
    return function(args, loop(*before, loop(iv=j, upper=by), iv=i))


def test_dimensions_and_symbols():
    c4 = constant(4, "c4")
    e = Affine.of(i)
    B = array("B", None, 8)
    axis0, axis1 = constant(0, "a0"), constant(1, "a1")
    verify(bound(N))
    verify(bound(i))
    verify(bound(e + N))
    verify(bound(c4.result, c4))
    verify(bound(k, affine.Apply(k, e + 3)))
    verify(bound(k, arith.Binary(k, "addi", N, N)))
    verify(bound(k, affine.Max(k, exprs(N, 3))))
    verify(bound(k, math.Unary(k, "absi", N)))
    verify(bound(k, axis0, memref.Dim(k, A, axis0.result)))
    verify(bound(k, axis0, memref.Alloc(B, (N,)), memref.Dim(k, B, axis0.result)))
    C = array("C", None, None)
    verify(bound(k, axis1, memref.Alloc(B, (N,)), memref.Cast(C, B), memref.Dim(k, C, axis1.result)))
    verify(function((a,), arith.Cast(k, "index_cast", a), loop(loop(iv=j, upper=k), iv=i)))
    verify(function((N, A), affine.For(i, exprs(0), exprs(4), (affine.Yield((i,)),), 1, (N,), (j,), (k,)),
                    loop(upper=k)))  # fmt: skip
    for op in (
        arith.Binary(k, "addi", N, i),
        arith.Binary(k, "divsi", N, N),
        affine.Min(k, exprs(i, N)),
        arith.Cast(k, "index_cast", a),
        memref.Load(k, array_of_index := array("I", None, element=INDEX), (N,)),
    ):
        more = (a, array_of_index) if isinstance(op, memref.Load) else (a,)
        refused(bound(k, op, args=(N, *more)), f"affine.for: {misplaced('k')}")


def test_sizes_of_buffers_that_are_no_symbols():
    axis = constant(0, "axis")
    B = array("B", None)
    grows = (axis, arith.Binary(k, "addi", i, N), memref.Alloc(B, (k,)), memref.Dim(d := index("d"), B, axis.result))
    refused(bound(d, *grows), f"affine.for: {misplaced('d')}")
    local = (axis, memref.Alloca(B, (N,)), memref.Dim(d, B, axis.result))
    refused(bound(d, *local), f"affine.for: {misplaced('d')}")
    unknown = (memref.Alloc(B, (N,)), memref.Dim(d, B, N))
    refused(bound(d, *unknown), f"affine.for: {misplaced('d')}")


def test_counters_of_scf_and_carried_values_are_no_dimensions():
    refused(
        function((N, A, x), scf.For(i, N, N, N, (affine.Store(x, A, exprs(i)),))), f"affine.store: {misplaced('i')}"
    )
    carried = affine.For(i, exprs(0), exprs(4), (affine.Store(x, A, exprs(j)), affine.Yield((i,))), 1, (N,), (j,), (k,))
    refused(function((N, A, x), carried), f"affine.store: {misplaced('j')}")


def test_every_affine_position_is_checked():
    bad = arith.Binary(k, "addi", i, N)
    text = misplaced("k")
    for op in (
        loop(iv=j, lower=k),
        affine.If((Constraint(Affine.of(k) - 1),), ()),
        affine.Parallel((j,), (exprs(0),), (exprs(4, k),), (1,), ()),
        affine.Load(y, A, exprs(k)),
        affine.Store(x, A, exprs(Affine.of(k) // 3)),
    ):
        refused(function((N, A, x), loop(bad, op, iv=i)), f"{op.name}: {text}")
    for op in (affine.Apply(j, Affine.of(k) + 1), affine.Min(j, exprs(k, 3)), affine.Max(j, exprs(k))):
        verify(function((N, A, x), loop(bad, op, iv=i)))


def test_semi_affine_expressions():
    e = Affine.of(i)
    verify(function((N,), loop(affine.Apply(j, e * N + e // N + e % (Affine.of(N) + 1)), iv=i)))
    for expr, role in (
        (Affine.of(N) // e, "a divisor"),
        (e * e, "the second varying factor of a product"),
    ):
        refused(
            function((N,), loop(affine.Apply(j, expr), iv=i)),
            f"affine.apply: %i is {role}, which must be a symbol, but it is a dimension",
        )
    zero = Affine(((FloorDiv(e, 0), 1),))
    refused(function((), loop(affine.Apply(j, zero), iv=i)), "affine.apply: the divisor 0 is not positive")
    two = Affine(((Product((i, FloorDiv(Affine.of(N), 2))), 1),))
    verify(function((N,), loop(affine.Apply(j, two), iv=i)))


def test_affine_expressions_take_index_values():
    refused(
        function((a,), affine.Apply(j, Affine.of(a) + 1)),
        "affine.apply: %a of type i32 stands in an affine expression, which takes index",
    )


def test_loops():
    refused(function((), affine.For(i, (), exprs(4), ())), "affine.for: needs at least one lower and one upper bound")
    refused(function((), affine.For(i, exprs(4), (), ())), "affine.for: needs at least one lower and one upper bound")
    refused(function((), loop(step=0)), "affine.for: the step must be positive, but is 0")
    refused(function((), loop(iv=a)), "affine.for: %a must have type index, but has type i32")
    refused(
        function((x,), loop(inits=(x,), carried=(y,))),
        "affine.for: has 1 initial values, 1 carried values and 0 results, which must be equally many",
        "affine.for: a block must end with affine.yield of (f32)",
    )
    refused(
        function((x,), loop(affine.Yield((x,)), inits=(x,), carried=(y,), results=(a,))),
        "affine.for: %a has type i32, but %x has type f32",
    )


def test_scf_loops():
    verify(function((a,), scf.For(b, a, a, a, ())))
    refused(function((N, a), scf.For(i, N, a, N, ())), "scf.for: %a has type i32, but %i has type index")
    refused(function((x,), scf.For(y, x, x, x, ())), *[
        "scf.for: %y must be an integer or index, but has type f32", "scf.for: %y must be a scalar, but has type f32",
    ])  # fmt: skip
    step = constant(-1, "step")
    refused(function((N,), step, scf.For(i, N, N, step.result, ())), "scf.for: the step must be positive, but is -1")
    refused(
        function((N, x), scf.For(i, N, N, N, (), (x,), (y,))),
        "scf.for: has 1 initial values, 1 carried values and 0 results, which must be equally many",
        "scf.for: a block must end with scf.yield of (f32)",
    )


def test_scf_conditions():
    refused(function((a,), scf.If(a, ())), "scf.if: %a must have type i1, but has type i32")


def band(reductions=(), results=(), body=(), **changed):
    fields = {"ivs": (i, j), "lower": (exprs(0), exprs(0)), "upper": (exprs(4), exprs(N, 4)), "steps": (1, 2)}
    return affine.Parallel(**{**fields, **changed}, body=body, reductions=reductions, results=results)


def test_parallel():
    verify(function((N,), band()))
    refused(
        function((N,), band(steps=(1,))),
        "affine.parallel: has 2 counters, 2 lower bounds, 2 upper bounds and 1 steps, which must be equally many",
    )
    refused(
        function((N,), band(lower=(exprs(0), ()))),
        "affine.parallel: needs at least one lower and one upper bound for each counter",
    )
    refused(function((N,), band(steps=(1, 0))), "affine.parallel: the steps must be positive, but are 1, 0")
    refused(function((N,), band(ivs=(i, a))), "affine.parallel: %a must have type index, but has type i32")
    refused(
        function((N, x), band(("addf", "mulf"), (r,), (affine.Yield((x,)),))),
        "affine.parallel: has 2 reductions for 1 results",
    )
    refused(function((N, x), band(("addf",), (r,))), "affine.parallel: a block must end with affine.yield of (f32)")


@pytest.mark.parametrize(
    ("kind", "type", "text"),
    [
        ("addf", I32, "the reduction addf takes floats, which %r of type i32 is not"),
        ("addi", F32, "the reduction addi takes integers, which %r of type f32 is not"),
        ("andi", INDEX, "the reduction andi takes integers, which %r of type index is not"),
        ("maxs", I32, "the reduction maxs takes signed integers, which %r of type i32 is not"),
        ("minu", I32, "the reduction minu takes unsigned integers, which %r of type i32 is not"),
        (
            "assign",
            MemRefType((4,), F32),
            "the reduction assign takes scalars or vectors, which %r of type memref<4xf32> is not",
        ),
        ("xori", I32, f"unknown reduction 'xori'; known: {', '.join(affine.REDUCTIONS)}"),
    ],
)
def test_reductions_fit_their_types(kind, type, text):
    given, result = value("v", type), value("r", type)
    refused(function((N, given), band((kind,), (result,), (affine.Yield((given,)),))), f"affine.parallel: {text}")


@pytest.mark.parametrize(
    ("kind", "type"),
    [("addf", F32), ("maximumf", BF16), ("addi", I32), ("ori", I1), ("assign", INDEX), ("assign", F64)],
)
def test_reductions_of_the_right_type(kind, type):
    given, result = value("v", type), value("r", type)
    verify(function((N, given), band((kind,), (result,), (affine.Yield((given,)),))))


def test_apply_min_max():
    refused(function((N,), affine.Apply(a, Affine.of(N))), "affine.apply: %a must have type index, but has type i32")
    refused(function((N,), affine.Min(j, ())), "affine.min: needs at least one expression")
    refused(function((N,), affine.Max(a, exprs(N))), "affine.max: %a must have type index, but has type i32")


def test_accesses():
    B = array("B", 4, None)
    for op in (affine.Load(x, B, exprs(N)), affine.Store(x, B, exprs(N)), memref.Load(x, B, (N,)),
               memref.Store(x, B, (N,))):  # fmt: skip
        refused(each(op), f"{op.name}: %B has rank 2, but 1 subscripts are given")
    for op in (affine.Load(a, A, exprs(N)), affine.Store(a, A, exprs(N)), memref.Load(a, A, (N,)),
               memref.Store(a, A, (N,))):  # fmt: skip
        refused(each(op), f"{op.name}: %a must have type f32, but has type i32")
    refused(each(affine.Load(y, x, exprs(N))), "affine.load: %x must be a memref, but has type f32")
    refused(each(memref.Load(y, A, (a,))), "memref.load: %a must have type index, but has type i32")


def test_buffers():
    B = array("B", 4, None)
    verify(each(memref.Alloc(B, (N,), 64), memref.Dealloc(B)))
    for cls in (memref.Alloc, memref.Alloca):
        refused(each(cls(B)), f"{cls.name}: %B has 1 dynamic dimensions, but 0 sizes are given")
        refused(each(cls(B, (a,))), f"{cls.name}: %a must have type index, but has type i32")
        refused(each(cls(B, (N,), 3)), f"{cls.name}: the alignment must be a power of two, but is 3")
        refused(each(cls(x)), f"{cls.name}: %x must be a memref, but has type f32")
    negative = array("B", -4)
    refused(each(memref.Alloc(negative)), "memref.alloc: %B has a negative size: memref<-4xf32>")
    strided = array("B", 4, layout=StridedLayout((None,)))
    refused(
        each(memref.Alloc(strided)),
        "memref.alloc: %B has 1 numbers in its layout that its type leaves open, but 0 symbols are given",
    )
    strides = array("B", 4, layout=StridedLayout((1, 1)))
    refused(
        each(memref.Dealloc(strides)),
        *[f"{name}: %B has 2 strides for 1 dimensions: memref<4xf32, strided<[1, 1]>>"
          for name in ("func.func", "memref.dealloc")],
    )  # fmt: skip
    refused(each(memref.Dealloc(x)), "memref.dealloc: %x must be a memref, but has type f32")


def test_sizes_of_buffers():
    axis = constant(1, "axis")
    refused(each(axis, memref.Dim(j, A, axis.result)), "memref.dim: %A has 1 dimensions, and none with the number 1")
    refused(each(memref.Dim(a, A, N)), "memref.dim: %a must have type index, but has type i32")
    refused(each(memref.Dim(j, x, N)), "memref.dim: %x must be a memref, but has type f32")
    verify(each(memref.Dim(j, A, N)))


def test_copies():
    verify(each(memref.Copy(A, array("B", 4))))
    refused(
        each(memref.Copy(array("C", 5), array("B", 4))),
        "memref.copy: %C and %B differ in shape: memref<5xf32> and memref<4xf32>",
    )
    refused(
        each(memref.Copy(array("C", 5, 1), A)),
        "memref.copy: %C and %A differ in shape: memref<5x1xf32> and memref<?xf32>",
    )
    refused(
        each(memref.Copy(array("C", 4, element=F64), A)),
        "memref.copy: %C has elements of type f64, but %A of type f32",
    )
    refused(each(memref.Copy(x, A)), "memref.copy: %x must be a memref, but has type f32")


D = {"layout": StridedLayout((None,), None)}


@pytest.mark.parametrize(
    ("source", "target", "fits"),
    [
        (MemRefType((4,), F32), MemRefType((None,), F32), True),
        (MemRefType((None,), F32), MemRefType((4,), F32), True),
        (MemRefType((4,), F32), MemRefType((5,), F32), False),
        (MemRefType((4,), F32), MemRefType((4, 1), F32), False),
        (MemRefType((4,), F32), MemRefType((4,), F64), False),
        (MemRefType((4,), F32, None, 1), MemRefType((4,), F32), False),
        (MemRefType((4,), F32), MemRefType((4,), F32, **D), True),
        (MemRefType((4,), F32, **D), MemRefType((4,), F32), True),
        (MemRefType((4,), F32, StridedLayout((2,))), MemRefType((4,), F32), False),
        (MemRefType((4,), F32, StridedLayout((1,))), MemRefType((4,), F32), True),
        (MemRefType((4,), F32, StridedLayout((1,), 3)), MemRefType((4,), F32, **D), True),
        (MemRefType((4,), F32, StridedLayout((1,), 3)), MemRefType((4,), F32), False),
        (MemRefType((4, None), F32), MemRefType((4, 3), F32, StridedLayout((5, 1))), True),
        (MemRefType((4,), F32, AffineMap(1, 0, (dim(0) * 2,))), MemRefType((4,), F32), False),
    ],
)
def test_memref_casts(source, target, fits):
    op = memref.Cast(value("B", target), value("A", source))
    if fits:
        verify(each(op))
    else:
        refused(each(op), f"memref.cast: there is no cast from {source} to {target}")


@pytest.mark.parametrize(
    ("number", "type", "fits"),
    [(1, INDEX, True), (2**63, INDEX, False), (-(2**63), INDEX, True), (True, I1, True), (1, I1, True), (2, I1, False),
     (255, I8, True), (-128, I8, True), (256, I8, False), (-129, I8, False), (True, I8, False), (1.0, I8, False),
     (1.5, F32, True), (1, F32, True), (True, F32, False), (1.0, MemRefType((4,), F32), False),
     (1.0, VectorType((4,), F32), True)],
)  # fmt: skip
def test_constants(number, type, fits):
    op = constant(number, "c", type)
    if fits:
        verify(function((), op))
    else:
        refused(function((), op), f"arith.constant: {number} is no number of type {type}")


V, W = VectorType((4,), F32), VectorType((4,), I1)
v, w, m = value("v", V), value("w", V), value("m", W)


@pytest.mark.parametrize(
    "op",
    [
        arith.Binary(c, "addi", a, b),
        arith.Binary(i, "divsi", N, N),
        arith.Binary(z, "remf", x, y),
        arith.Binary(w, "addf", v, v),
        arith.Extended(c, t, "addui_extended", a, b),
        arith.Extended(c, value("h", I32), "mulsi_extended", a, b),
        arith.Compare(t, "cmpf", "uno", x, y),
        arith.Compare(t, "cmpi", "ult", a, b),
        arith.Compare(m, "cmpf", "oeq", v, w),
        arith.Select(z, t, x, y),
        arith.Select(w, m, v, v),
        arith.Select(w, t, v, v),
        arith.Negate(y, x),
        math.Unary(y, "exp", x),
        math.Unary(t, "isnan", x),
        math.Unary(b, "ctpop", a),
        math.Binary(z, "atan2", x, y),
        math.Binary(z, "fpowi", x, a),
        math.Binary(c, "ipowi", a, b),
        math.Fma(z, x, y, r),
    ],
)
def test_arithmetic_that_is_right(op):
    verify(each(op))


@pytest.mark.parametrize(
    ("op", "texts"),
    [
        (arith.Binary(c, "addf", a, b), ["%a must be a float, but has type i32"]),
        (arith.Binary(z, "addi", x, y), ["%x must be an integer or index, but has type f32"]),
        (arith.Binary(z, "addf", x, a), ["%a has type i32, but %x has type f32"]),
        (arith.Binary(c, "addf", x, y), ["%c has type i32, but %x has type f32"]),
        (arith.Extended(c, value("h", I32), "addui_extended", a, b), ["%h must have type i1, but has type i32"]),
        (arith.Extended(c, t, "mulsi_extended", a, b), ["%t must have type i32, but has type i1"]),
        (arith.Extended(x, y, "mulsi_extended", r, r), ["%r must be an integer or index, but has type f32"]),
        (arith.Compare(t, "cmpi", "eq", x, y), ["%x must be an integer or index, but has type f32"]),
        (arith.Compare(t, "cmpf", "oeq", a, b), ["%a must be a float, but has type i32"]),
        (arith.Compare(c, "cmpi", "eq", a, b), ["%c must have type i1, but has type i32"]),
        (arith.Compare(t, "cmpi", "eq", a, N), ["%N has type index, but %a has type i32"]),
        (arith.Select(z, a, x, y), ["%a of type i32 does not choose between values of f32"]),
        (arith.Select(z, t, x, a), ["%a has type i32, but %x has type f32"]),
        (math.Unary(b, "exp", a), ["%a must be a float, but has type i32"]),
        (math.Unary(y, "absi", x), ["%x must be an integer or index, but has type f32"]),
        (math.Unary(y, "isnan", x), ["%y must have type i1, but has type f32"]),
        (math.Unary(value("d", F64), "exp", x), ["%d must have type f32, but has type f64"]),
        (math.Binary(z, "atan2", x, a), ["%a has type i32, but %x has type f32"]),
        (math.Binary(z, "fpowi", x, y), ["%y must be an integer or index, but has type f32"]),
        (math.Binary(z, "ipowi", x, y), ["%x must be an integer or index, but has type f32"]),
        (math.Fma(z, x, y, a), ["%a has type i32, but %x has type f32"]),
    ],
)
def test_arithmetic_that_is_wrong(op, texts):
    name = f"{op.name}.{op.kind}" if hasattr(op, "kind") else op.name
    refused(each(op), *[f"{name}: {text}" for text in texts])


def test_unknown_kinds():
    for op in (
        arith.Binary(c, "add", a, b),
        arith.Extended(c, t, "add_extended", a, b),
        arith.Cast(c, "cast", a),
        arith.Compare(t, "cmp", "eq", a, b),
        math.Unary(y, "cosine", x),
        math.Binary(z, "power", x, y),
    ):
        (first, *_) = problems(each(op))
        assert re.match(rf"{op.name}.{op.kind}: unknown kind '{op.kind}'; known: ", first)
    (first,) = problems(each(arith.Compare(t, "cmpi", "lt", a, b)))
    assert first.startswith("arith.cmpi: unknown predicate 'lt'; known: eq, ne, slt")


CASTS = [
    ("extsi", I8, I32, True), ("extsi", I32, I32, False), ("extui", I1, I8, True), ("trunci", I32, I8, True),
    ("trunci", I8, I32, False), ("extf", F16, F32, True), ("extf", F16, BF16, False), ("truncf", F64, F32, True),
    ("truncf", F32, F64, False), ("sitofp", I32, F32, True), ("fptoui", F32, I64, True), ("bitcast", I32, F32, True),
    ("bitcast", I32, F64, False), ("index_cast", I32, INDEX, True), ("index_castui", INDEX, I64, True),
    ("index_cast", I32, I64, False), ("index_cast", INDEX, INDEX, False),
    ("extf", VectorType((4,), F16), VectorType((4,), F32), True),
    ("extf", VectorType((4,), F16), VectorType((8,), F32), False),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "source", "target", "fits"), CASTS)
def test_casts(kind, source, target, fits):
    op = arith.Cast(value("to", target), kind, value("from", source))
    if fits:
        verify(each(op))
    else:
        refused(each(op), f"arith.{kind}: there is no {kind} from {source} to {target}")


@pytest.mark.parametrize(
    ("kind", "source", "target", "text"),
    [
        ("extsi", F32, I32, "%from must be an integer, but has type f32"),
        ("sitofp", INDEX, F32, "%from must be an integer, but has type index"),
        ("fptosi", F32, INDEX, "%to must be an integer, but has type index"),
        ("bitcast", INDEX, I64, "%from must be an integer or float, but has type index"),
    ],
)
def test_casts_of_the_wrong_class(kind, source, target, text):
    refused(each(arith.Cast(value("to", target), kind, value("from", source))), f"arith.{kind}: {text}")


def test_calls():
    callee = func.Func("g", (x, N), (func.Return((x,)),), (F32,))

    def module(op, *args):
        return func.Module((callee, func.Func("f", args, (op,))))

    verify(module(func.Call((z,), "g", (y, M)), y, M))
    refused(
        module(func.Call((z,), "g", (y,)), y),
        "func.call: @g has type (f32, index) -> f32, but is called as (f32) -> f32",
    )
    refused(
        module(func.Call((), "g", (y, M)), y, M),
        "func.call: @g has type (f32, index) -> f32, but is called as (f32, index) -> ()",
    )
    refused(module(func.Call((), "h", ())), "func.call: there is no function @h in the module")
    verify(function((y,), func.Call((), "h", (y,))))


def test_modules():
    f, g = func.Func("f", (), ()), func.Func("f", (), ())
    refused(func.Module((f, g)), "func.func: there is more than one function @f")
    one, two = constant(1, "one"), constant(2, "two")
    verify(func.Module((arith.Binary(value("sum", INDEX), "addi", one.result, two.result), one, two)))
    refused(
        func.Module((function((), arith.Negate(y, x)), arith.Constant(x, 1.0))),
        "arith.negf: %x is read before it is defined",
    )
    buffer = value("A", MemRefType((4,), F32))
    refused(
        func.Module((memref.Alloca(buffer, ()),)),
        "memref.alloca: stands in no function, at whose end its buffer would go",
    )
    refused(
        func.Module((affine.Yield(()),)), "affine.yield: ends blocks of affine.for, affine.if, affine.parallel only"
    )
    refused(
        func.Func("f", (), (func.Func("g", (), ()),)), "func.func: @g stands in func.func, but belongs into a module"
    )


def test_contracts():
    B = array("B", 4, None)
    right = {"shapes": (None, exprs(4, Affine.of(N) * 2)), "assumes": (Constraint(Affine.of(N) - 1),)}
    verify(function((N, B), **right))
    refused(function((N, B), shapes=(None,)), "func.func: has 1 shapes for 2 arguments")
    refused(function((N, B), shapes=(exprs(N), None)), "func.func: %N has a shape, but its type is index")
    refused(function((N, B), shapes=(None, exprs(N))), "func.func: %B has rank 2, but its shape has 1 entries")
    refused(
        function((N, B), shapes=(None, exprs(5, N))),
        "func.func: %B has size 4 along dimension 0, but its shape says 5",
    )
    refused(
        function((N, B), shapes=(None, exprs(4, M))),
        "func.func: the shape of %B reads %M, which is no index argument of the function",
    )
    refused(
        function((N, a), assumes=(Constraint(Affine.of(a) - 1),)),
        "func.func: an assumption reads %a, which is no index argument of the function",
    )


def test_unsigned_positions():
    verify(function((a,), func.Return((a,)), unsigned=frozenset({0}), unsigned_results=frozenset({0})))
    refused(function((x,), unsigned=frozenset({0})), "func.func: argument 0 is unsigned, but has type f32")
    refused(function((x,), unsigned_results=frozenset({0})), "func.func: result 0 is unsigned, but there are only 0")


def test_functions_may_be_passed():
    verify(function((value("g", FunctionType((), ())),)))


def test_unknown_operations():
    class Strange(Op):
        name = "strange"

    refused(function((), Strange()), "strange: the verifier does not know this operation")


def test_deep_nests():
    op = loop()
    for _ in range(DEEPEST - 1):
        op = loop(op)
    verify(function((), op))
