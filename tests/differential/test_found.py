"""What random programs have found: each bug as the smallest program that showed it."""

from __future__ import annotations

import re

import numpy as np

import affdsl as af
from affdsl.codegen.c.emit import emit
from affdsl.ir.dialects import affine, arith, func
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import F32, I1, I16, I32, I64, INDEX, MemRefType
from affdsl.ir.verifier import verify
from tests.codegen.c.build import Builder
from tests.differential.generator import Program
from tests.differential.judges import by_c
from tests.differential.outcome import difference, interpret
from tests.harness.batch import COMPILERS, GCC, C

CLANG = C("clang-22", ("-O2",))


def check(f: func.Func, *arguments: object, callees: tuple[func.Func, ...] = (), how: C = GCC) -> tuple[object, ...]:
    """Run a function by the interpreter and as C, and require the same; gives the results."""
    program = Program(0, func.Module((*callees, f)), f.symbol, 0, (arguments,), True)
    verify(program.module)
    outcome = interpret(program, arguments)
    ((verdict,),) = by_c([program], [[outcome]], how)
    assert not isinstance(verdict, str), verdict
    assert difference(outcome, verdict) == ""
    return tuple(r.tolist() for r in outcome.results)


def test_an_array_of_booleans_that_nobody_reads_includes_their_header():
    b = Builder()
    b.array("A", 3, type=I1)
    check(b.func(), np.zeros(3, np.bool_))


def test_a_carried_value_is_named_for_one_use_and_not_beyond_the_block():
    b = Builder()
    array = b.array("A", 1, type=I16)
    two = b.constant(2, I16)
    with b.loop("i", 0, 3, inits=(two, two)) as loop:
        first, second = loop.carried
        with b.loop("j", 0, 1):
            low, high = Value(I16, "low"), Value(I1, "high")
            b.add(arith.Extended(low, high, "addui_extended", second, two))
            b.store(low, array, 0)
        b.yield_(second, first)
    assert check(b.func(*loop.results), np.zeros(1, np.int16)) == (2, 2)


def test_a_reduction_that_nobody_reads_draws_no_warning():
    b = Builder()
    n = b.index("N")
    array = b.array("A", n)
    one = b.constant(1.0, F32)
    with b.loop("i", 0, n) as loop:
        b.store(b.binary("addf", one, one, name="total"), array, loop.iv)
        b.store(b.load(array, loop.iv, name="total"), array, loop.iv)
    with b.parallel("i", [0], [n], reductions=["mulf"], types=[F32]) as band:
        band.results[0].hint = "total"
        b.yield_(one)
    check(b.func(), 2, np.zeros(2, np.float32), how=CLANG)


def test_a_branch_whose_results_nobody_reads_does_not_read_them_either():
    """`bool t; (void)t;` loads a bool that may be neither true nor false."""
    b = Builder()
    n = b.index("N")
    yes = b.constant(True, I1)
    b.if_([Constraint(Affine.of(n) - 1)], (affine.Yield((yes,)),), (affine.Yield((yes,)),), [I1])
    f = b.func()
    check(f, 2, how=COMPILERS[-1])
    source = emit(func.Module((f,)), f.symbol).source
    (name,) = re.findall(r"    bool (\w+);\n", source)
    assert f"(void)&{name};" in source
    assert f"(void){name};" not in source


def test_a_difference_of_bits_of_two_numbers_is_not_taken_for_a_power():
    b = Builder()
    assert check(b.func(b.binary("xori", b.constant(2, I32), b.constant(7, I32))), how=CLANG) == (5,)


def test_values_that_trade_places_beside_one_that_waits_for_them():
    """The first target waits for the others, which wait for each other: the C output looked at it for ever."""
    b = Builder()
    n, x = b.index("N"), b.scalar("x", I32)
    with b.loop("i", 0, n, inits=[x, x, x], names=["a", "b", "c"]) as loop:
        one = b.constant(1, I32)
        first, second, third = loop.carried
        b.yield_(one, b.binary("addi", first, third), b.binary("addi", second, one))
    assert check(b.func(*loop.results), 3, 5) == (1, 12, 8)


def test_the_size_of_a_returned_array_depends_on_what_its_callee_makes_it_of_alone():
    callee = Builder("make")
    n = callee.index("N")
    callee.index("data")
    made = callee.alloc(MemRefType((None,), I64), n)
    with callee.loop("i", 0, n) as loop:
        callee.store(callee.constant(7, I64), made, loop.iv)
    make = callee.func(made)
    b = Builder()
    size, array = b.index("N"), b.array("A", 2, type=INDEX)
    (result,) = b.call(make, size, b.load(array, 0))
    assert check(b.func(result), 3, np.array([5, 6]), callees=(make,)) == ([7, 7, 7],)


N = af.symbols("N")


def test_a_signed_modulo_by_zero_is_zero():
    @af.kernel
    def modulo(A: af.i32[N], B: af.i32[N]):
        with af.for_(N) as i:
            A[i] = A[i] % B[i]

    a = np.array([7, -7, 5], np.int32)
    modulo.interpret(a, np.array([0, 0, 3], np.int32))
    assert a.tolist() == [0, 0, 2]
