"""What is handed on means under MLIR's rules what it means here: all operations on corner values, lowered and run."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit_jit
from affdsl.ir.dialects.func import Module
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.lowering.handed_on import handed_on
from tests.codegen.c.compare import call, compile_silently
from tests.effort import TRIES_ALL, some
from tests.oracles import require, run_mlir
from tests.passes.lowering.corner_values import Table, differ, tables

N = af.symbols("N")
FEW = ("i32", "i1 lanes", "from f32")
"""What is tried unless all is."""
TABLES = [table for table in tables() if TRIES_ALL or table.name in FEW]


def by_c(module: Module, arguments: list[object], compiler: str, folder: Path) -> None:
    library = compile_silently(emit_jit(module, "f", sizes=0), folder, require(compiler), "-O2")
    assert call(ctypes.CDLL(str(library)), module, "f", arguments)[0] == 0


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_operation_on_corner_values(table: Table, tmp_path: Path) -> None:
    module = parse(table.text)
    verify(module)
    text = print_op(handed_on(module))
    given, wanted = table.arguments()
    run(module.functions[0], len(given[0]), *given, *wanted, module=module)
    for way in ("mlir", "interpreter", *(("gcc", "clang-22") if TRIES_ALL else ())):
        found = table.arguments()[1]
        arguments = [len(given[0]), *given, *found]
        if way == "mlir":
            run_mlir(text, "f", arguments)
        elif way == "interpreter":
            run(parse(text).functions[0], *arguments, module=parse(text))
        else:
            by_c(module, arguments, way, tmp_path / way)
        for (operation, type), a, b in zip(table.rows, wanted, found, strict=True):
            wrong = differ(type, a, b)
            assert not wrong.any(), (way, operation, [x[wrong][:3] for x in given], a[wrong][:3], b[wrong][:3])


def test_guards_are_put_once() -> None:
    """The operands that guards choose are known to be harmless."""
    for table in some([*tables()], 4):
        text = print_op(handed_on(parse(table.text)))
        assert print_op(handed_on(parse(text))) == text, table.name


HARMLESS = {
    "a divisor that is a number": "%c = arith.constant 7 : i32 %r = arith.floordivsi %a, %c : i32",
    "a divisor of lanes": "%c = arith.constant dense<[1, 2]> : vector<2xi32> %r = arith.remsi %v, %c : vector<2xi32>",
    "-1 for what is never the smallest": """%w = arith.extsi %a : i32 to i64 %c = arith.constant -1 : i64
        %r = arith.divsi %w, %c : i64""",
    "one more than a counter": """affine.for %i = 0 to %n { %c = arith.constant 1 : index
        %d = arith.addi %i, %c : index %r = arith.divui %n, %d : index }""",
    "a counter that starts behind 0": "affine.for %i = 1 to %n { %r = arith.remsi %n, %i : index }",
    "a bit that is set": """%c = arith.constant 15 : i32 %d = arith.andi %a, %c : i32 %one = arith.constant 1 : i32
        %e = arith.addi %d, %one : i32 %r = arith.remsi %a, %e : i32""",
    "a shift by a number": "%c = arith.constant 31 : i32 %r = arith.shli %a, %c : i32",
    "a shift by some bits": """%c = arith.constant 31 : i32 %d = arith.andi %a, %c : i32
        %r = arith.shrui %a, %d : i32""",
    "an integer that comes back": "%f = arith.sitofp %b : i8 to f32 %r = arith.fptosi %f : f32 to i16",
    "a float that is a number": "%f = arith.constant -2.5 : f32 %r = arith.fptosi %f : f32 to i8",
    "a number that is not 0": "%c = arith.constant 1.5 : f32 %r = arith.maxnumf %x, %c : f32",
    "a power by a number": "%c = arith.constant 3 : i32 %r = math.ipowi %a, %c : i32",
}
HEAD = "func.func @f(%a: i32, %b: i8, %x: f32, %n: index, %v: vector<2xi32>) {"


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_proved_to_be_harmless_stays(name: str) -> None:
    module = parse(f"{HEAD} {HARMLESS[name]} return }}")
    verify(module)
    assert handed_on(module) is module


HARMFUL = {
    "a divisor that may be 0": "%r = arith.divui %a, %a : i32",
    "a number among lanes that is 0": """%c = arith.constant dense<[1, 0]> : vector<2xi32>
        %r = arith.remui %v, %c : vector<2xi32>""",
    "-1 for what may be the smallest": "%c = arith.constant -1 : i32 %r = arith.divsi %a, %c : i32",
    "a sum that may wrap to 0": """%w = arith.extui %b : i8 to i32 %c = arith.constant 255 : i8
        %d = arith.addi %b, %c : i8 %r = arith.divui %b, %d : i8""",
    "a counter that starts at 0": "affine.for %i = 0 to %n { %r = arith.remsi %n, %i : index }",
    "a shift by the width": "%c = arith.constant 32 : i32 %r = arith.shrsi %a, %c : i32",
    "an integer that comes back to less": "%f = arith.sitofp %a : i32 to f32 %r = arith.fptosi %f : f32 to i32",
    "a negative one as unsigned": "%f = arith.sitofp %b : i8 to f32 %r = arith.fptoui %f : f32 to i16",
    "a number beyond the ends": "%f = arith.constant 128.0 : f32 %r = arith.fptosi %f : f32 to i8",
}


@pytest.mark.parametrize("name", HARMFUL)
def test_what_is_not_proved_to_be_harmless_is_guarded(name: str) -> None:
    module = parse(f"{HEAD} {HARMFUL[name]} return }}")
    verify(module)
    guarded = handed_on(module)
    verify(guarded)
    assert guarded is not module
    assert str(parse(str(guarded))) == str(guarded)


@af.kernel
def quotients(a: af.i32[N], b: af.i32[N], c: af.i32[N], d: af.i32[N]):
    with af.for_(N) as i, af.if_(b[i] != 7):
        c[i] = a[i] // b[i]
        d[i] = a[i] % b[i] + (a[i] << b[i])


@pytest.mark.parametrize("made", ["plain", "lanes", "optimized"])
def test_mlir_handed_on_does_not_trap_on_division_by_zero(made: str) -> None:
    kernel = {
        "plain": lambda: quotients,
        "lanes": lambda: af.Schedule(quotients).vectorize("i", 8, tail="masked").kernel(),
        "optimized": lambda: quotients.optimize(target="avx2", threads=1),
    }[made]()
    numbers = np.array([-(2**31), 2**31 - 1, -7, -1, 0, 1, 7, 31, 32, 33], np.int32)
    a, b = (np.ascontiguousarray(each.ravel()) for each in np.meshgrid(numbers, numbers))
    wanted, called, lowered = ([np.full(len(a), 9, np.int32) for _ in range(2)] for _ in range(3))
    quotients.interpret(a, b, *wanted)
    kernel(a, b, *called)
    run_mlir(kernel.mlir(), "quotients", [len(a), a, b, *lowered])
    np.testing.assert_array_equal(called, wanted)
    np.testing.assert_array_equal(lowered, wanted)
    assert str(af.parse(kernel.mlir())) == kernel.mlir()


@af.kernel
def either(a: af.bool_[N], b: af.bool_[N], c: af.bool_[N], d: af.i32[N]):
    with af.for_(N) as i:
        c[i] = a[i] ^ b[i]
        d[i] = af.select(a[i], af.i32(1), 2)


@pytest.mark.parametrize("tail", ["scalar", "masked"])
def test_lanes_of_bools_are_bytes_in_mlir_handed_on(tail: str) -> None:
    """A vector<8xi1> is one byte for LLVM, while an array of bools has a byte for each."""
    a, b = (np.random.default_rng(seed).random(13) < 0.5 for seed in (1, 2))
    c, d = np.zeros(13, bool), np.zeros(13, np.int32)
    lanes = af.Schedule(either).vectorize("i", 8, tail=tail).kernel()
    run_mlir(lanes.mlir(), "either", [13, a, b, c, d])
    np.testing.assert_array_equal(c, a ^ b)
    np.testing.assert_array_equal(d, np.where(a, 1, 2))
