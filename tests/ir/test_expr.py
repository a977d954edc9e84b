import re
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product, Value
from affdsl.ir.interpreter.evaluation import evaluator
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import INDEX
from tests.effort import TRIES_ALL, some

X, Y, N = Value(INDEX, "i"), Value(INDEX, "j"), Value(INDEX, "n")
BOX = [{X: i, Y: j} for i, j in product(range(-7, 8), repeat=2)]
LINEAR = list(product((-3, -2, -1, 0, 1, 2, 4), (-2, -1, 0, 1, 3), range(-4, 5)))


def linear(a, b, c):
    return X * a + Y * b + c


def test_linear_arithmetic():
    for a, b, c in LINEAR:
        expr = linear(a, b, c)
        for env in BOX[::7]:
            i, j = env[X], env[Y]
            assert expr.evaluate(env) == a * i + b * j + c
            assert (-expr).evaluate(env) == -(a * i + b * j + c)
            assert (7 - expr * 3).evaluate(env) == 7 - (a * i + b * j + c) * 3


@pytest.mark.parametrize("divisor", range(1, 7))
def test_division_of_every_linear_expression(divisor):
    for a, b, c in LINEAR:
        expr = linear(a, b, c)
        floor, rest, ceil = expr // divisor, expr % divisor, expr.ceildiv(divisor)
        for env in BOX[:: 2 if TRIES_ALL else 5]:
            number = a * env[X] + b * env[Y] + c
            assert floor.evaluate(env) == number // divisor
            assert rest.evaluate(env) == number % divisor
            assert ceil.evaluate(env) == -(-number // divisor)


def test_nested_divisions():
    steps = list(product(("//", "%", "ceil"), (1, 2, 3, 6)))
    for a, c, (first, d), k, (second, e) in product((1, -1, 2, 3), (0, 1, -2), steps, (-1, 0, 2), steps):
        expr = divided(second, divided(first, X * a + c, d) * 2 + k + Y, e)
        for i in range(-12, 13):
            for j in some((-5, 0, 1), 1):
                expected = divided(second, divided(first, a * i + c, d) * 2 + k + j, e)
                assert expr.evaluate({X: i, Y: j}) == expected
        alone = divided(second, divided(first, X * a + c, d) + k, e)  # where divisions merge
        for i in range(-12, 13):
            assert alone.evaluate({X: i}) == divided(second, divided(first, a * i + c, d) + k, e)


def test_a_multiple_that_a_common_factor_leaves_comes_out():
    assert (X * 3 - 4) // 6 == X // 2 - 1
    assert (X * -6 + 25) // 9 == (X * -2 + 2) // 3 + 2


def divided(operator, x, d):
    match operator:
        case "//":
            return x // d
        case "%":
            return x % d
        case _:
            return x.ceildiv(d) if isinstance(x, Affine) else -(-x // d)


# Trees of operators: each gives an expression and, computed beside it, the number that it must have.
NUMBERS = st.integers(-9, 9)
LEAVES = st.one_of(NUMBERS, st.sampled_from((X, Y, N)))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(("+", "-")), inner, inner),
        st.tuples(st.just("*"), inner, st.one_of(NUMBERS, st.just(N))),
        st.tuples(st.sampled_from(("//", "%", "ceil")), inner, st.one_of(st.integers(1, 9), st.just(N))),
    ),
    max_leaves=10,
)


def build(tree):
    match tree:
        case (operator, left, right):
            return combine(operator, build(left), build(right))
        case _:
            return Affine.of(tree)


def compute(tree, env):
    match tree:
        case (operator, left, right):
            return combine(operator, compute(left, env), compute(right, env))
        case Value():
            return env[tree]
        case _:
            return tree


def combine(operator, x, y):
    match operator:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*":
            return x * y
        case "//":
            return x // y
        case "%":
            return x % y
        case _:
            return x.ceildiv(y) if isinstance(x, Affine) else -(-x // y)


ENVS = [{X: i, Y: j, N: n} for i in (-8, -1, 0, 3, 7) for j in (-5, 0, 4) for n in (1, 2, 5)]


@settings(max_examples=300, deadline=None)
@given(TREES)
def test_trees_of_operators(tree):
    expr = build(tree)
    compiled = evaluator(expr)
    for env in ENVS:
        expected = compute(tree, env)
        assert expr.evaluate(env) == expected
        assert compiled(env) == expected


@settings(max_examples=200, deadline=None)
@given(TREES)
def test_spelled_text_means_the_same(tree):
    expr = build(tree)
    text = spell(expr)
    for env in ENVS[::4]:
        assert Reader(text, {v.hint: number for v, number in env.items()}).all() == expr.evaluate(env), text


def test_every_linear_division_is_spelled_as_it_is():
    for a, b, c in LINEAR[::3]:
        for divisor in (2, 3):
            for expr in (linear(a, b, c) // divisor, linear(a, b, c) % divisor, linear(a, b, c).ceildiv(divisor)):
                for i, j in ((-5, 2), (0, 0), (4, -3), (7, 7)):
                    assert Reader(spell(expr), {"i": i, "j": j}).all() == expr.evaluate({X: i, Y: j})


@settings(max_examples=200, deadline=None)
@given(TREES, TREES, TREES)
def test_substitution(tree, for_i, for_j):
    """Replacing values and then evaluating is evaluating with their numbers. (n stays positive: it divides.)"""
    expr = build(tree).substitute({X: build(for_i), Y: build(for_j)})
    for env in ENVS[::3]:
        inner = {X: compute(for_i, env), Y: compute(for_j, env), N: env[N]}
        assert expr.evaluate(env) == compute(tree, inner)


class Reader:
    """Computes the number that a spelled expression stands for, by MLIR's grammar."""

    def __init__(self, text, numbers):
        self.tokens = re.findall(r"\d+|\w+|[()+*-]", text)
        assert "".join(self.tokens) == text.replace(" ", "")
        self.numbers = numbers

    def all(self):
        number = self.sum()
        assert not self.tokens
        return number

    def sum(self):
        number = self.product()
        while self.tokens and self.tokens[0] in "+-":
            sign = self.tokens.pop(0)
            number = number + self.product() if sign == "+" else number - self.product()
        return number

    def product(self):
        number = self.primary()
        while self.tokens and self.tokens[0] in ("*", "floordiv", "ceildiv", "mod"):
            operator = self.tokens.pop(0)
            right = self.primary()
            if operator == "*":
                number *= right
            else:
                assert right > 0
                number = {"floordiv": number // right, "ceildiv": -(-number // right), "mod": number % right}[operator]
        return number

    def primary(self):
        token = self.tokens.pop(0)
        if token == "-":
            return -self.primary()
        if token == "(":
            number = self.sum()
            assert self.tokens.pop(0) == ")"
            return number
        return int(token) if token.isdigit() else self.numbers[token]


def test_equal_linear_functions_are_equal_objects():
    for a, b, c in LINEAR:
        one, other = X * a + Y * b + c, c - Y * -b - X * -a
        assert one == other
        assert hash(one) == hash(other)
        assert one == ((X + Y) * a + (b - a) * Y) + c
        assert (one == linear(a, b, c + 1)) is False
    assert Affine.of(X) - X == Affine()
    assert 5 - Affine.of(X) != Affine.of(X) - 5
    different = {linear(a, b, c) for a, b, c in LINEAR}
    assert len(different) == len(LINEAR)


def test_equal_divisions_are_equal_objects():
    i, j, n = Affine.of(X), Affine.of(Y), Affine.of(N)
    assert (i * 4 + 5) // 4 == i + 1
    assert (i * 4 + j + 9) // 4 == i + 2 + (j + 1) // 4
    assert (i * 6 + 2) // 4 == i + (i * 2 + 2) // 4 == i + (i + 1) // 2
    assert (i * 2 + 1) // 4 == i // 2
    assert (i // 2) // 3 == i // 6
    assert ((i - j) // 4).terms[0][0].dividend == i - j  # and not i + 3 * j, which overflows sooner
    assert ((i // 2 + 1) // 3).terms[0][0].dividend == i // 2 + 1  # i + 2 might overflow where this does not
    assert i % 1 == Affine()
    assert (i * 4) % 4 == Affine()
    assert (i + 8) % 4 == i % 4
    assert (i % 4) // 4 == Affine()
    assert i.ceildiv(2) == (i + 1) // 2
    assert i * n == n * i
    assert (i + 1) * n == i * n + n
    assert (i + j) * (n + 2) - i * 2 - j * 2 == j * n + i * n
    assert i % n == i - (i // n) * n


def test_value_operators():
    for left, right in (
        (X + 1, 1 + X), (X - Y, Affine.of(X) - Y), (3 - X, -X + 3), (X * 2, 2 * X), (X // 2, Affine.of(X) // 2),
        (X % 3, Affine.of(X) % 3), (-X, Affine.of(X) * -1),
    ):  # fmt: skip
        assert left == right
    assert Affine.of(X).value is X
    assert (X + 0).value is X
    assert (X * 2).value is None
    assert (X + 1).value is None
    assert Affine.of(True) == Affine((), 1)
    assert (X - X + 4).is_constant


@pytest.mark.parametrize("divisor", [0, -1])
def test_divisors_are_positive(divisor):
    message = rf"division of an index needs a positive divisor, got {divisor}"
    for divide in (lambda: X // divisor, lambda: X % divisor, lambda: Affine.of(X).ceildiv(divisor)):
        with pytest.raises(ZeroDivisionError, match=message):
            divide()
    with pytest.raises(ZeroDivisionError, match=message):
        (Affine.of(X) // N).substitute({N: divisor})


def test_symbolic_divisors_are_positive_when_evaluated():
    message = r"the divisor of a floordiv or mod must be positive, but is -2"
    with pytest.raises(ZeroDivisionError, match=message):
        (X // N).evaluate({X: 3, N: -2})
    with pytest.raises(ZeroDivisionError, match=message):
        evaluator(X // N)({X: 3, N: -2})


def test_values_and_substitution_keep_what_is_not_replaced():
    expr = (X * N + Y) // N + X % 4
    assert set(expr.values()) == {X, Y, N}
    assert expr.substitute({}) is expr
    assert expr.substitute({Value(INDEX): X}) is expr
    assert (X + Y).substitute({X: Y, Y: X}) == X + Y
    assert (X - Y).substitute({X: Y, Y: X}) == Y - X
    assert (X // N).substitute({N: 4}) == X // 4
    assert (X * N).substitute({N: 3}) == X * 3
    assert (X * N).substitute({N: Y + 1}) == Affine.of(X) * Y + X


def test_constraints():
    positive, even = Constraint(X - 1), Constraint(X % 2, equality=True)
    for number in range(-4, 5):
        assert positive.holds({X: number}) == (number >= 1)
        assert even.holds({X: number}) == (number % 2 == 0)
    assert positive.substitute({X: Y + 1}) == Constraint(Affine.of(Y))
    assert list(even.values()) == [X, X]
    assert spell_constraint(positive) == "i - 1 >= 0"
    assert spell_constraint(even) == "i mod 2 == 0"


def test_order_of_atoms_does_not_depend_on_how_they_came():
    @cache
    def atoms():
        return (Affine.of(X), Affine.of(Y), X // 2, Y // 3, X * N, (X // 2) * N, X // N, (X + Y) // 5)

    total = sum(atoms(), Affine())
    for shift in range(len(atoms())):
        turned = (*atoms()[shift:], *atoms()[:shift])
        assert sum(turned, Affine()) == total
        assert sum(reversed(turned), Affine()) == total
    kinds = [type(atom) for atom, _ in total.terms]
    assert kinds == [Value] * 2 + [FloorDiv] * 4 + [Product] * 2


def test_values_are_names():
    assert repr(Value(INDEX, "row")).startswith("%row.")
    assert repr(Value(INDEX)).startswith("%v.")
    assert Value(INDEX, "i") != Value(INDEX, "i")
