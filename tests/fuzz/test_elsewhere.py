"""What is right with the data and sizes of a program is tried with others."""

from __future__ import annotations

from dataclasses import replace

from affdsl.mlir.readers import parse
from tests.fuzz import judges
from tests.fuzz.affine import Expr, name
from tests.fuzz.elsewhere import probes
from tests.fuzz.judges import Item
from tests.fuzz.mlir import mlir
from tests.fuzz.program import Binary, Buffer, Constant, For, Load, Program, Statement, Store, Value
from tests.fuzz.reference import evaluate

A = Buffer("A", (9,), (False,), is_local=False)
B = Buffer("B", (6, 6), (False, False), is_local=False)
SIZE, ROW, COLUMN = (name(key) for key in "Nij")


def small(*body: Statement, symbols: tuple[str, ...] = ()) -> Program:
    return Program(0, "i64", (A, B), symbols, (tuple(4 for _ in symbols),), body)


def loop(iv: str, upper: Expr, *body: Statement) -> For:
    return For(iv, (Expr(0),), (upper,), 1, (), body)


def item(program: Program, changed: str) -> Item:
    """A program, and what should be the same one, as text."""
    return Item(program, parse(changed), evaluate(program))


SIZED = small(loop("i", SIZE, Store("A", (ROW,), Constant(2))), symbols=("N",))


def test_a_wrong_bound_is_noticed_with_other_sizes() -> None:
    bounded = mlir(SIZED).replace("0 to affine_map<()[s0] -> (s0)>()[%N]", "0 to 4")
    wrong = item(SIZED, bounded)
    assert bounded != mlir(SIZED)
    assert judges.by_interpreter([wrong]) == [""]
    assert judges.elsewhere([item(SIZED, mlir(SIZED)), wrong])[0] == ""
    assert judges.elsewhere([wrong])[0].startswith("mismatch: A[")


def test_an_access_outside_of_a_buffer_is_noticed_with_other_sizes() -> None:
    text = mlir(SIZED).replace("  return", "  %last = affine.load %A[symbol(%N)] : memref<9xi64>\n  return")
    assert judges.by_interpreter([item(SIZED, text)]) == [""]
    said = judges.elsewhere([item(SIZED, text)])[0]
    assert said.startswith("refused: InterpreterError: ")
    assert "out of bounds" in said


def test_what_depends_on_the_data_is_noticed() -> None:
    copied = small(loop("i", Expr(3), Store("A", (ROW,), Load("A", (ROW.plus(4),)))))
    known = small(*(Store("A", (Expr(k),), Constant(n)) for k, n in enumerate(evaluate(copied)[0]["A"][:3])))
    wrong = item(copied, mlir(known))
    assert judges.by_interpreter([wrong]) == [""]
    assert judges.elsewhere([wrong])[0].startswith("mismatch: A[0] is ")


def test_no_run_leaves_the_bounds() -> None:
    sizes = [probe.program.valuations[0][0] for probe in probes(SIZED)]
    assert sizes[:4] == [4, -1, 0, 1]
    assert all(n <= 9 for n in sizes)


def test_floats_are_small_enough_to_be_exact() -> None:
    def doubled(value: Value) -> Value:
        return Binary("addf", value, value)

    for times, some in ((4, True), (28, False)):
        body = loop("j", Expr(times), loop("i", Expr(9), Store("A", (ROW,), doubled(doubled(Load("A", (ROW,)))))))
        assert bool(probes(replace(small(body), element="f64"))) is some
