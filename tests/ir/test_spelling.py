"""Spelled expressions read as a person writes them, and mean what they meant."""

import random
import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.location import Location
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import INDEX
from tests.effort import some

N, T = Value(INDEX, "N"), Value(INDEX, "T")  # sizes
i, j = Value(INDEX, "i"), Value(INDEX, "j")


def e(term: Term) -> Affine:
    return Affine.of(term)


READS = [
    # sums: canonical order, a positive term leads
    (e(0), "0"),
    (e(-3), "-3"),
    (e(i), "i"),
    (-i, "-i"),
    (i * 4, "i * 4"),
    (i * -4, "i * -4"),
    (i - j, "i - j"),
    (j - i, "j - i"),
    (N - 1 - i, "N - i - 1"),
    (i - N, "i - N"),
    (i * 2 - N * 3 + 5, "i * 2 - N * 3 + 5"),
    (5 - i, "5 - i"),
    (-i - 5, "-i - 5"),
    (7 - i - N, "7 - N - i"),
    (i * -2 - j, "i * -2 - j"),
    (5 - i * 2, "5 - i * 2"),
    # division and remainder by numbers
    (i // 4, "i floordiv 4"),
    ((i + j) // 4, "(i + j) floordiv 4"),
    (e(i).ceildiv(4), "i ceildiv 4"),
    (e(i).ceildiv(2), "i ceildiv 2"),
    (i % 4, "i mod 4"),
    ((i + 3) % 8, "(i + 3) mod 8"),
    (i % 4 + i, "i + i mod 4"),
    (i * 8 + i % 8, "i * 8 + i mod 8"),
    ((i // 8) * 8, "(i floordiv 8) * 8"),
    (N - (i // 8) * 8, "N - (i floordiv 8) * 8"),
    (i % 6 // 2, "(i floordiv 2) mod 3"),
    ((i // 4) % 5, "(i floordiv 4) mod 5"),
    ((i + 3) // 4 % 5, "(i ceildiv 4) mod 5"),
    ((i // 4 + 2) % 5, "(i floordiv 4 + 2) mod 5"),
    (i // 20 * 20 + i // 4 % 5 * 4 + i % 4, "i"),
    (i // 20 - i // 4 % 5, "(i floordiv 20) * 6 - i floordiv 4"),
    (-(i // 4), "-(i floordiv 4)"),
    ((i // 4) * -3, "(i floordiv 4) * -3"),
    (i % 8 * 3, "(i mod 8) * 3"),
    (1 - i % 2, "1 - i mod 2"),
    (i - 8 * (j // 8), "i - (j floordiv 8) * 8"),
    # by symbols
    (i // T, "i floordiv T"),
    (i % T, "i mod T"),
    ((i + j) % T, "(i + j) mod T"),
    (i % (T + 1), "i mod (T + 1)"),
    (i % (T * 2), "i mod (T * 2)"),
    (i % T * 3 + 1, "(i mod T) * 3 + 1"),
    (i + i % T, "i + i mod T"),
    (N - 1 - i % T, "N - i mod T - 1"),
    (e(5) % T, "5 mod T"),
    (e(N).ceildiv(T), "N ceildiv T"),
    ((N + T - 1) // T, "N ceildiv T"),
    ((N + i + T * 2 - 1) // (T * 2), "(N + i) ceildiv (T * 2)"),
    (e(N).ceildiv(T) * T, "T * (N ceildiv T)"),
    ((i // T) * T, "T * (i floordiv T)"),
    (e(5) // T, "5 floordiv T"),
    ((3 - i) // T, "(3 - i) floordiv T"),
    (i * N, "N * i"),
    (i * N * 2 - j, "N * i * 2 - j"),
    (-(i * N), "-(N * i)"),
    (-(i // T), "-(i floordiv T)"),
    ((-5 - e(T) * 0) // e(T), "-(5 ceildiv T)"),
]


@pytest.mark.parametrize(("expr", "text"), READS, ids=[text for _, text in READS])
def test_reads_as_a_person_writes_it(expr: Affine, text: str) -> None:
    assert spell(expr) == text
    assert_same(expr, text)


def test_constraints() -> None:
    assert spell_constraint(Constraint(N - 1 - i)) == "N - i - 1 >= 0"
    assert spell_constraint(Constraint(i % 2, equality=True)) == "i mod 2 == 0"


def test_values_are_called_as_the_caller_says() -> None:
    names = {N: "%n", T: "symbol(%t)", i: "%i"}
    assert spell((i + N) % T, names.__getitem__) == "(%n + %i) mod symbol(%t)"


def test_a_value_without_a_name_is_called_by_its_type() -> None:
    assert spell(N + Value(INDEX)) == "N + a value of type index"


@pytest.mark.parametrize("seed", some(range(400), 100))
def test_the_text_means_the_expression(seed: int) -> None:
    expr = random_expression(random.Random(seed), 4)
    assert_same(expr, spell(expr))


def random_expression(choose: random.Random, depth: int, leaves: tuple[Value, ...] = (N, T, i, j)) -> Affine:
    if depth == 0:
        terms: list[Term] = [*leaves, choose.randint(-9, 9)]
        return Affine.of(choose.choice(terms))
    left = random_expression(choose, choose.randrange(depth), leaves)
    size = choose.randint(1, 8)
    divisors: list[Term] = [size, size, size, N, T, N + T, T * 2, T + 1]
    divisor = choose.choice(divisors)
    match choose.choice(["+", "+", "-", "-", "*", "*s", "//", "%", "ceildiv"]):
        case "+":
            return left + random_expression(choose, depth - 1, leaves)
        case "-":
            return left - random_expression(choose, depth - 1, leaves)
        case "*":
            return left * choose.randint(-4, 4)
        case "*s":
            return left * random_expression(choose, choose.randrange(2), (N, T))
        case "//":
            return left // divisor
        case "%":
            return left % divisor
        case _:
            return left.ceildiv(divisor)


def assert_same(expr: Affine, text: str) -> None:
    """text, read by the rules of MLIR's syntax, gives what the expression gives on a box."""
    for n, t, x, y in product((1, 2, 5), (1, 3, 4), (-7, -1, 0, 2, 12), (-4, 0, 5)):
        try:
            expected = expr.evaluate({N: n, T: t, i: x, j: y})
        except ZeroDivisionError:
            continue
        assert _Reader(text, {"N": n, "T": t, "i": x, "j": y}).whole() == expected, text


class _Reader:
    """A calculator for MLIR's affine expressions: + and - bind less than * floordiv ceildiv mod, all to the left."""

    def __init__(self, text: str, env: Mapping[str, int]) -> None:
        self.tokens = [*re.findall(r"\w+|[-+*()]", text), ""]
        assert "".join(self.tokens) == text.replace(" ", "")
        self.env = env

    def whole(self) -> int:
        number = self.sum()
        assert self.tokens == [""]
        return number

    def sum(self) -> int:
        number = self.product()
        while self.tokens[0] in {"+", "-"}:
            sign = 1 if self.tokens.pop(0) == "+" else -1
            number += sign * self.product()
        return number

    def product(self) -> int:
        number = self.operand()
        while self.tokens[0] in {"*", "floordiv", "ceildiv", "mod"}:
            kind, right = self.tokens.pop(0), self.operand()
            if kind == "*":
                number *= right
            elif kind == "floordiv":
                number //= right
            elif kind == "ceildiv":
                number = -(-number // right)
            else:
                number %= right
        return number

    def operand(self) -> int:
        token = self.tokens.pop(0)
        if token == "-":
            return -self.operand()
        if token == "(":
            number = self.sum()
            assert self.tokens.pop(0) == ")"
            return number
        return self.env[token] if token in self.env else int(token)


def test_places_are_said_from_the_working_directory_on(tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    assert str(Location(str(tmp_path / "inside" / "k.py"), 3)) == "k.py:3"
    assert str(Location(str(tmp_path / "k.py"), 3)) == f"{tmp_path / 'k.py'}:3"
    assert str(Location("k.mlir", 3, 7)) == "k.mlir:3"


def test_a_call_with_wrong_sizes_says_where_as_other_errors_do(monkeypatch):
    monkeypatch.chdir(Path(__file__).parent)
    M, N = af.symbols("M N")

    @af.kernel
    def copied(A: af.f32[M], B: af.f32[N]):
        with af.for_(M) as i:
            B[i] = A[i]

    with pytest.raises(ValueError, match=r"^copied: B\[i\] \(test_spelling\.py:\d+\) is in bounds only where N >= M"):
        copied(np.zeros(5, "f4"), np.zeros(4, "f4"))
