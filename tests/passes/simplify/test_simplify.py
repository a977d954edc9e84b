import itertools
from collections import Counter
from random import Random

import islpy as isl
import pytest

from affdsl.errors import InternalError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Value
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import F32, INDEX, MemRefType
from affdsl.passes.analysis import polyhedral
from affdsl.passes.simplify import (
    NEVER,
    NOTHING,
    Context,
    domain_of,
    places,
    rewrite_within,
    simplify,
    simplify_bounds,
    simplify_constraints,
)
from affdsl.passes.simplify.context import Definition, _ends_of_terms
from affdsl.passes.simplify.ranges import ANY, Range, between, point, range_of
from tests.effort import some
from tests.mlir.build import loop
from tests.passes.simplify import random_expressions
from tests.passes.simplify.random_expressions import build, compute

X, Y, Z, N, M = (Value(INDEX, name) for name in "ijknm")
INDEX_MIN, INDEX_MAX = -(1 << 63), (1 << 63) - 1


def within(low, value, high):
    """low <= value < high"""
    return (Constraint(value - low), Constraint(high - value - 1))


def where(*facts):
    return Context().knowing(facts)


def isl_text(node):
    match node:
        case int():
            return str(node)
        case Value():
            return node.hint
        case ("/", a, b):
            return f"floor(({isl_text(a)})/{b})"
        case ("c", a, b):
            return f"ceil(({isl_text(a)})/{b})"
        case ("%", a, b):
            return f"(({isl_text(a)}) mod {b})"
        case (kind, a, b):
            return f"({isl_text(a)} {kind} {isl_text(b)})"


def linear(a, b, c):
    return ("+", ("+", ("*", X, a), ("*", Y, b)), c)


LINEAR = [linear(a, b, c) for a, b, c in itertools.product((-3, -1, 2, 6), (-4, 0, 1, 8), (-5, 0, 3, 11))]
DIVIDED = [(kind, line, d) for line in LINEAR for kind in "/%c" for d in (1, 2, 3, 4, 8)]
NESTED = [
    (outer, ("+", ("*", (inner, line, d), k), c), e)
    for line in LINEAR[::5]
    for (outer, inner), (d, e), k, c in itertools.product(
        [(o, i) for o in "/%c" for i in "/%c"], ((2, 4), (4, 2), (3, 6), (5, 3)), (1, -2), (0, 3)
    )
]
CANCELLED = [("-", line, ("*", ("/", line, d), k)) for line in LINEAR[::3] for d in (2, 3, 8) for k in (d, -d, 1)]


@pytest.mark.parametrize("trees", [LINEAR, DIVIDED, NESTED, CANCELLED], ids="linear divided nested cancelled".split())
def test_constructors_are_proved(trees):
    for node in trees:
        kept = polyhedral.map_of([build(node)], [], [X, Y])
        meant = isl.Map.read_from_str(kept.get_ctx(), f"{{ [i, j] -> [{isl_text(node)}] }}")
        assert kept.is_equal(meant), f"{isl_text(node)} is kept as {spell(build(node))}"


def test_semi_affine_constructors_are_right_on_a_full_box():
    shapes = [
        ("/", ("+", ("*", X, N), Y), N), ("%", ("+", ("*", X, N), Y), N), ("c", ("-", X, Y), N),
        ("*", ("/", ("+", X, 3), N), N), ("*", ("%", X, N), ("+", N, Y)), ("/", ("/", X, N), ("+", N, 1)),
        ("c", ("*", ("+", X, 1), N), ("*", N, 2)), ("%", ("%", X, ("*", N, N)), N), ("/", ("c", X, N), 3),
    ]  # fmt: skip
    for node, *numbers in itertools.product(shapes, range(-6, 7), range(-4, 5), range(1, 6)):
        env = dict(zip((X, Y, N), numbers, strict=True))
        assert build(node).evaluate(env) == compute(node, env)


RULES = [
    ("i floordiv 8", within(0, X, 8), X // 8, "0"),
    ("i mod 8", within(0, X, 8), X % 8, "i"),
    ("i ceildiv 8", within(-7, X, 1), Affine.of(X).ceildiv(8), "0"),
    ("the quotient is not zero", within(-8, X, 0), X // 8 + X % 8, "i + 7"),
    ("small terms fall away", within(0, Y, 8), (X * 8 + Y) // 8, "i"),
    ("and leave the remainder", within(0, Y, 8), (X * 8 + Y) % 8, "j"),
    ("with a minus", within(0, Y, 8), (X * 8 - Y + 7) // 8, "i"),
    ("a factor of the divisor", within(0, Y, 64), (X * 64 + Y) // 128, "i floordiv 2"),
    ("with a rest", within(0, Y, 64), (X * 64 + Y) % 128, "(i mod 2) * 64 + j"),
    ("several small terms", (*within(0, Y, 4), *within(0, Z, 8)), (X * 32 + Y * 8 + Z) // 32, "i"),
    ("two digits", (*within(0, Y, 4), *within(0, Z, 8)), ((X * 32 + Y * 8 + Z) // 8) % 4, "j"),
    ("an exact division", (Constraint(X % 4, equality=True),), X // 4 * 4, "i"),
    ("with a known remainder", (Constraint(X % 4 - 1, equality=True),), X // 4 * 8, "i * 2 - 2"),
    ("rounded up", (Constraint(X % 4, equality=True), *within(0, X, 99)), (X + 3) // 4, "i floordiv 4"),
    ("a loop with a step", (*within(0, X, N), Constraint(X % 4, equality=True)), X % 2 + X // 2 * 2, "i"),
    ("rounding down stays", (Constraint(N % 6 - 1, equality=True),), N // 100, "n floordiv 100"),
    ("one value", within(3, X, 4), X * 2 + Y, "j + 6"),
    ("a triangle", (Constraint(X - Y), Constraint(Y + 7 - X)), (X - Y) // 8, "0"),
    ("a symbolic triangle", (Constraint(X - N), Constraint(N * 2 - 1 - X), *within(0, N, 9)), (X - N) // 8, "0"),
    ("through another value", (*within(0, X, N), Constraint(8 - N)), X % 8, "i"),
    ("a nested division", within(0, X, 16), (X % 8 + X // 8 * 8) // 16, "0"),
    ("a remainder has its range", (), (X % 8) // 8 + ((X % 8) // 4) // 2, "0"),
    ("nothing is known", (), (X * 8 + Y) // 8, "i + j floordiv 8"),
    ("almost", within(0, X, 9), X // 8, "i floordiv 8"),
]


@pytest.mark.parametrize(("facts", "expr", "expected"), [r[1:] for r in RULES], ids=[r[0] for r in RULES])
def test_rules(facts, expr, expected):
    simple = simplify(expr, where(*facts))
    assert spell(simple) == expected
    assert polyhedral.equal_everywhere(expr, simple, facts) is True
    assert simplify(simple, where(*facts)) is simple


FAMILIES = [
    (divisor, (X * (divisor * k) + Y * b + c), (low, high))
    for divisor, k, b, c, (low, high) in itertools.product(
        (2, 3, 4, 6, 8), (1, -1, 3), (-2, -1, 1, 2, 3), (-3, 0, 1, 5), ((0, 2), (-1, 3), (0, 8), (-4, 1))
    )
]


def test_divisions_are_proved_and_all_that_one_number_allows():
    """What is small falls away exactly where its quotient is one number: isl and counting agree with the rules."""
    found = Counter()
    for divisor, expr, (low, high) in FAMILIES:
        facts = within(low, Y, high)
        simple = simplify(expr // divisor, where(*facts))
        assert polyhedral.equal_everywhere(expr // divisor, simple, facts) is True, spell(expr)
        small = expr.substitute({X: 0})
        quotients = {small.evaluate({Y: j}) // divisor for j in range(low, high)}
        if len(quotients) == 1:
            assert not any(isinstance(atom, FloorDiv) for atom, _ in simple.terms), spell(expr)
        found[len(quotients) == 1] += 1
    assert min(found.values()) > 200


@pytest.mark.parametrize("modulus", [2, 3, 4, 6])
def test_remainders_are_proved(modulus):
    for residue, divisor, shift, factor in itertools.product(range(modulus), (2, 3, 4, 12), (-1, 0, 1, 3), (1, 4, 12)):
        facts = (Constraint(X % modulus - residue, equality=True), Constraint(Affine.of(X)))
        expr = (X + shift) // divisor * factor
        simple = simplify(expr, where(*facts))
        assert polyhedral.equal_everywhere(expr, simple, facts) is True
        if modulus % divisor == 0 and factor % divisor == 0:
            assert all(isinstance(atom, Value) for atom, _ in simple.terms)


SYMBOLIC = [
    ("i floordiv n", within(0, X, N), X // N, "0"),
    ("i mod n", within(0, X, N), X % N, "i"),
    ("i ceildiv n", (*within(0, X, N), Constraint(X - 1)), Affine.of(X).ceildiv(N), "i ceildiv n"),
    ("flattened", within(0, Y, N), (X * N + Y) // N, "i"),
    ("its remainder", within(0, Y, N), (X * N + Y) % N, "j"),
    ("two symbols", within(0, Y, M), (X * N * M + Y) // M, "i * n"),
    ("a scaled symbol", within(0, Y, N * 4), (X * N * 8 + Y) // (N * 4), "i * 2"),
    ("a sum divides", within(0, X, N + 2), X // (N + 2), "0"),
    ("the symbol is a number", within(4, N, 5), X // N, "i floordiv 4"),
    ("a product with a number", within(4, N, 5), X * N + Y, "i * 4 + j"),
    ("nothing is known", (), (X * N + Y) // N, "(j + i * n) floordiv n"),
    ("it may be zero", (Constraint(Affine.of(N)), *within(0, X, 4)), X // N, "i floordiv n"),
    ("an error stays one", within(0, N, 1), X // N, "i floordiv n"),
    ("that only isl sees", (Constraint(N - M), Constraint(M - N)), X // (N - M + N % 2 - M % 2 - 1), None),
]


@pytest.mark.parametrize(("facts", "expr", "expected"), [r[1:] for r in SYMBOLIC], ids=[r[0] for r in SYMBOLIC])
def test_divisions_by_symbols_are_right_on_a_full_box(facts, expr, expected):
    context = where(*facts)
    simple = simplify(expr, context)
    assert simple == expr if expected is None else spell(simple) == expected
    assert simplify(simple, context) == simple
    for numbers in itertools.product(range(-3, 13), range(-3, 13), range(5), range(1, 4)):
        env = dict(zip((X, Y, N, M), numbers, strict=True))
        if all(f.holds(env) for f in facts):
            assert outcome(expr, env) == outcome(simple, env)


def outcome(expr, env):
    try:
        return expr.evaluate(env)
    except ZeroDivisionError as error:
        return str(error)


def test_what_stays_is_the_same_object():
    expr = X * 3 + (Y + 1) // 8
    assert simplify(expr) is expr
    assert simplify(expr, where(*within(0, X, 99))) is expr


@pytest.mark.parametrize(
    ("claim", "is_proved"),
    [
        (Constraint(Y - X - 3), True),
        (Constraint(Y - X + 9), True),
        (Constraint(Y - X + Z // 4), True),  # 3 more than a fact, and a quotient that is at least 0
        (Constraint((Y - X) * 2 - 6), False),  # it holds, but is no fact and something more
        (Constraint(Y - X - 4), False),
        (Constraint(X - Y), False),
        (Constraint(Y - X - 3, equality=True), False),
    ],
)
def test_what_is_a_fact_and_more_is_proved_without_isl(claim, is_proved, monkeypatch):
    context = where(Constraint(Y - X - 3), Constraint(Z * 1), Constraint(X + Y - N, equality=True))
    monkeypatch.setattr(polyhedral, "implies", lambda *_: None)
    assert context.proves(claim) is is_proved


def test_questions_about_different_values_are_about_one_list_of_facts(monkeypatch):
    asked = []
    monkeypatch.setattr(polyhedral, "implies", lambda facts, claim: asked.append([*facts]))
    n, i, j, k = (Value(INDEX, hint) for hint in "nijk")
    facts = [Constraint(i - j), Constraint(n - i - k), Constraint(Affine.of(n) - 3), Constraint(k * 2 - j)]
    context = Context().knowing(facts)
    for value in (i, j, k):
        assert not context.proves(Constraint(Affine.of(value) - n - 7))
    assert asked == [facts] * 3


def test_ends_of_values_are_those_that_the_others_leave():
    random = Random(4)
    values = [Value(INDEX, hint) for hint in "abc"]
    for _ in range(300):
        ranges = {v: between(*random.choice([(0, 9), (-5, None), (None, 7), (None, None), (4, 4)])) for v in values}
        factors = {v: random.choice([-3, -1, 1, 2]) for v in values}
        expr = sum((v * c for v, c in factors.items()), Affine((), random.randint(-20, 20)))
        found = dict(_ends_of_terms(expr, ranges.__getitem__))
        for value, factor in factors.items():
            most = range_of(expr - value * factor, ranges.__getitem__).high
            if most is None:
                assert value not in found
            else:
                points = [x for x in range(-100, 101) if factor * x + most >= 0]
                assert points == [x for x in range(-100, 101) if x in found[value]]


def test_nothing_follows_from_facts_that_exclude_each_other():
    never = where(Constraint(X - 1), Constraint(-X))
    assert never.is_contradictory
    assert simplify(X // 4, never) == X // 4
    assert simplify_constraints([Constraint(X - 5)], never) == (Constraint(X - 5),)
    assert simplify_bounds([X + 1, X + 0], "min", never) == (X + 1, X + 0)


def test_the_ends_of_the_index_range():
    """Ceiling division is not made of a negation, and a remainder is not taken away where that would overflow."""
    ceil = Affine.of(X).ceildiv(7)
    assert simplify(ceil) is ceil
    assert [ceil.evaluate({X: x}) for x in (INDEX_MIN, INDEX_MAX)] == [-(-INDEX_MIN // 7), -(-INDEX_MAX // 7)]
    assert "-" not in spell(ceil)


def test_a_remainder_is_taken_away_only_where_that_leaves_an_index():
    sixes = (Constraint(X % 6, equality=True), Constraint(Y % 6, equality=True))
    expr = (X + Y + 5) // 12
    assert simplify(expr, where(*sixes)) == expr  # i + j + 5 may be the second smallest index, and i + j is none then
    natural = where(*sixes, Constraint(Affine.of(X)), Constraint(Affine.of(Y)))
    assert simplify(expr, natural) == (X + Y) // 12
    fours = where(Constraint(X % 4, equality=True), Constraint(Y % 4, equality=True))
    assert simplify((X + Y + 3) // 8, fours) == (X + Y) // 8  # the smallest index is a multiple of 4


# Sums of a value and multiples of a quotient that look like remainders and are none, with their numbers for a = 13 and
# b = 7. Turning the last but one into `a mod 4` is wrong by as much as b and a differ.
LOOKALIKES = [
    (X + Y + (Y + 1) // 4 * -4, 12),
    (X * 2 + Y - X // 3 * 3 * 2, 9),
    (X + Y // 4 * -4, 9),
    (X + Y + (X + Y) // 5 * -5 + X, 13),
]


@pytest.mark.parametrize(("expr", "expected"), LOOKALIKES, ids=[spell(e) for e, _ in LOOKALIKES])
@pytest.mark.parametrize("facts", [(), (*within(0, X, 99), *within(0, Y, 99)), (Constraint(X - Y),)])
def test_a_remainder_of_something_else_is_none(expr, expected, facts):
    simple = simplify(expr, where(*facts))
    assert simple.evaluate({X: 13, Y: 7}) == expected
    assert polyhedral.equal_everywhere(expr, simple, facts) is True


def numbers_of(found):
    return {n for n in range(-40, 41) if n in found}


RANGES = [
    between(low, high, m, r)
    for low, high in ((None, 3), (-5, None), (-4, 6), (1, 9), (None, None))
    for m, r in ((1, 0), (2, 1), (3, 2))
] + [point(-2), point(3)]


def test_ranges_are_as_tight_as_they_say():
    for found in RANGES:
        numbers = numbers_of(found)
        assert found.low is None or found.low == min(numbers)
        assert found.high is None or found.high == max(numbers)
    assert between(1, 3, 4, 0).is_empty
    assert between(2, None, 0, 1).is_empty


def test_arithmetic_of_ranges_misses_no_number():
    for a, b in itertools.product(RANGES, RANGES):
        for x, y in itertools.product(numbers_of(a), numbers_of(b)):
            assert x + y in a + b
            assert x * y in a * b
            assert y <= 0 or x // y in a.floordiv_by(b.both(between(1, None)))
        both = a.both(b)
        assert numbers_of(both) == numbers_of(a) & numbers_of(b)
    for a, k in itertools.product(RANGES, (-6, -1, 0, 1, 2, 3, 4)):
        for x in numbers_of(a):
            assert k * x in a.scaled(k)
            assert k <= 0 or x // k in a.floordiv(k)


def test_nothing_is_known_of_a_division_by_what_may_not_be_positive():
    assert between(0, 9).floordiv_by(between(0, 3)) == ANY
    assert between(-9, -1).floordiv_by(between(1, None)) == Range(-9, -1)


def test_ranges_see_remainders_of_divisions_by_symbols():
    """Next to all values of small ranges."""
    x, s, y = (Value(INDEX, name) for name in "xsy")
    ranges = {x: between(-7, 9), s: between(2, 5), y: between(0, 1)}
    for expr in (Affine.of(x) % Affine.of(s), Affine.of(x) % Affine.of(s) * 3 + y, (x + y) % (s * 2) - y):
        found = range_of(expr, ranges.__getitem__)
        numbers = [expr.evaluate({x: a, s: b, y: c}) for a in range(-7, 10) for b in range(2, 6) for c in (0, 1)]
        assert found.low is not None
        assert found.high is not None
        assert found.low <= min(numbers)
        assert found.high >= max(numbers)
    assert range_of(Affine.of(x) % Affine.of(s), ranges.__getitem__) == between(0, 4)
    assert range_of(Affine.of(x) % Affine.of(s), {**ranges, s: between(0, 5)}.__getitem__).low != 0


def test_ranges_see_that_divisions_cancel():
    assert range_of(X % 8, lambda v: ANY) == between(0, 7)
    assert range_of(X // 4 - X // 8 * 2, lambda v: ANY) == between(0, 1)
    assert range_of((X * 4) % 8, lambda v: ANY) == between(0, 4, 4, 0)


def condition(*constraints):
    return tuple(spell_constraint(c) for c in constraints)


EQUAL = {"equality": True}
CONDITIONS = [
    ("common factor", (), [Constraint(X * 2 - 5)], ["i - 3 >= 0"]),
    ("common factor, negative", (), [Constraint(7 - X * 4)], ["1 - i >= 0"]),
    ("the tighter one", (), [Constraint(X - 2), Constraint(Affine.of(X))], ["i - 2 >= 0"]),
    ("both ends meet", (), [Constraint(X - N), Constraint(N - X)], ["i - n == 0"]),
    ("ends that cross", (), [Constraint(X - N - 1), Constraint(N - X)], None),
    ("no such integer", (), [Constraint(X * 4 - N * 2 - 1, **EQUAL)], None),
    ("none between", (), [Constraint(X * 2 - 5), Constraint(5 - X * 2)], None),
    ("known from around", within(0, X, N), [Constraint(X + 1), Constraint(N - X - 1), Constraint(N - 3)],
     ["n - 3 >= 0"]),
    ("implied by the others", (), [Constraint(X - Y), Constraint(Y - Z), Constraint(X - Z)],
     ["i - j >= 0", "j - k >= 0"]),
    ("never, all together", (), [Constraint(X - Y - 1), Constraint(Y - Z), Constraint(Z - X)], None),
    ("a remainder that cannot be", (Constraint(X % 4, **EQUAL),), [Constraint(X % 2 - 1, **EQUAL)], None),
    ("a remainder that must be", (Constraint(X % 4, **EQUAL),), [Constraint(X % 2, **EQUAL)], []),
    ("a matter of course", (), [Constraint(X % 8), Constraint(7 - X % 8), Constraint(X - X + 0)], []),
    ("in the light of another", (), [*within(0, X, 8), Constraint(X % 8 - Y)], None),
    ("equality makes a number", (), [Constraint(X - 3, **EQUAL), Constraint(X + Y - 4)], ["i - 3 == 0", "j - 1 >= 0"]),
    ("nothing to do", (), [Constraint(X - N), Constraint(N * 2 - X)], ["i - n >= 0", "n * 2 - i >= 0"]),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "given", "expected"), [c[1:] for c in CONDITIONS], ids=[c[0] for c in CONDITIONS])
def test_conditions(facts, given, expected):
    context = where(*facts)
    simple = simplify_constraints(given, context)
    if expected is None and simple == NEVER:
        assert polyhedral.is_empty([*facts, *given]) is True
    elif expected is not None:
        assert list(condition(*simple)) == expected
    for one, others in ((simple, given), (given, simple)):
        assert all(polyhedral.implies([*facts, *one], c) for c in others)
    assert simplify_constraints(simple, context) == simple


def test_conditions_with_symbols_that_multiply():
    size = Constraint(X * N - 4)
    assert simplify_constraints([size, Constraint(X * N - 3)]) == (size,)
    assert simplify_constraints([size, Constraint(2 - X * N)]) == NEVER
    assert simplify_constraints([Constraint(X % N - Y)], where(*within(0, X, N))) == (Constraint(X - Y),)


BOUNDS = [
    ("a constant apart", (), "min", [N + 4, N + 0], ["n"]),
    ("a constant apart, max", (), "max", [N + 0, N + 4], ["n + 4"]),
    ("equal", (), "min", [N + 0, N * 2 - N], ["n"]),
    ("known from around", within(0, X, N), "min", [X + 1, N + 0], ["i + 1"]),
    ("max", within(0, X, N), "max", [X + 1, N + 0], ["n"]),
    ("a whole tile", (*within(0, X, N), Constraint(X % 8, equality=True), Constraint(N % 8, equality=True)), "min",
     [X + 8, N + 0], ["i + 8"]),
    ("a tile that may be cut", (*within(0, X, N), Constraint(X % 8, equality=True)), "min",
     [X + 8, N + 0], ["i + 8", "n"]),
    ("together", (), "min", [X + 0, -X, (X * 3) // 4 + 0 * Y], ["i", "-i"]),
    ("numbers", (), "max", [Affine.of(3), Affine.of(9), Affine.of(-1)], ["9"]),
    ("nothing is known", (), "max", [X + 0, N + 0], ["i", "n"]),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "kind", "given", "expected"), [b[1:] for b in BOUNDS], ids=[b[0] for b in BOUNDS])
def test_bounds(facts, kind, given, expected):
    context = where(*facts)
    simple = simplify_bounds(given, kind, context)
    assert [spell(e) for e in simple] == expected
    assert simplify_bounds(simple, kind, context) == simple
    for expr in given:  # isl: nowhere does a bound that went win against all that stayed
        wins = [Constraint((other - expr) * (1 if kind == "min" else -1) - 1) for other in simple]
        assert polyhedral.is_empty([*facts, *wins]) is True


def test_long_groups_lose_only_what_is_equal():
    many = [X + k for k in range(100)]
    assert len(simplify_bounds(many[:60], "min")) == 1
    assert len(simplify_bounds([*many, *many], "min")) == 100


def leaf(expr=X + 0):
    return affine.Apply(Value(INDEX), expr)


def path_to(op: Op, target: Op):
    """The operations around target, outermost first."""
    if op is target:
        return [op]
    for block in op.blocks():
        for inner in block:
            if found := path_to(inner, target):
                return [op, *found]
    return []


def known(root, target):
    """The facts at target, from both doors: the path, and the walk."""
    (context,) = (c for op, c in places(root) if op is target)
    facts = condition(*domain_of(path_to(root, target)).facts)
    assert condition(*context.facts) == facts
    return list(facts)


def test_loops():
    inner = leaf()
    nest = loop(X, 0, N, loop(Y, (Affine.of(X), Affine.of(2)), (N + 0, X + 8), inner), step=4)
    assert known(nest, inner) == [
        "i >= 0", "n - i - 1 >= 0", "i mod 4 == 0", "j - i >= 0", "j - 2 >= 0", "n - j - 1 >= 0", "i - j + 7 >= 0",
    ]  # fmt: skip
    assert known(nest, nest) == []


def test_steps_count_from_the_lower_bound_if_there_is_one():
    inner = leaf()
    for low, on_steps in ((X + 1, True), ((X + 1, Affine.of(2)), False)):
        nest = loop(Y, low, 99, inner, step=3)
        domain = [*domain_of([nest, inner]).facts, Constraint(X - 3, equality=True)]
        values = {
            j for j in range(-9, 120) if polyhedral.is_empty([*domain, Constraint(Y - j, equality=True)]) is False
        }
        assert values == set(range(4, 99, 3 if on_steps else 1))


def test_bands():
    inner = leaf()
    lower, upper = ((Affine.of(0),), (Affine.of(M), Affine.of(3))), ((Affine.of(N),), (N + 1,))
    band = affine.Parallel((X, Y), lower, upper, (2, 5), (inner,))
    assert known(band, inner) == [
        "i >= 0", "n - i - 1 >= 0", "i mod 2 == 0", "j - m >= 0", "j - 3 >= 0", "n - j >= 0",
    ]  # fmt: skip


def test_branches():
    a, b, c, d, e = (leaf() for _ in range(5))
    nest = loop(
        X, 0, 9,
        affine.If((Constraint(X - 4),), (a,), (b,)),
        affine.If((Constraint(X - 4), Constraint(7 - X)), (), (c,)),
        affine.If((Constraint(X % 4, equality=True),), (), (d,)),
        affine.If((Constraint(X - 3, equality=True),), (), (e,)),
    )  # fmt: skip
    assert known(nest, a)[2:] == ["i - 4 >= 0"]
    assert known(nest, b)[2:] == ["3 - i >= 0"]
    assert known(nest, c)[2:] == []  # what fails is one of two
    assert known(nest, d)[2:] == ["i mod 4 - 1 >= 0"]
    assert known(nest, e)[2:] == []  # above or below


def test_the_contract():
    A, B = (Value(MemRefType((None, None), F32), name) for name in "AB")
    inner = leaf()
    f = func.Func(
        "f", (N, M, A, B), (inner,), shapes=(None, None, (N + 0, M * 2 + 4), None), assumes=(Constraint(M - 3),)
    )
    assert known(f, inner) == ["m - 3 >= 0", "n >= 0", "m * 2 + 4 >= 0"]


def test_values_know_their_definitions():
    a, b, c, d, e, f = (Value(INDEX, name) for name in "abcdef")
    A = Value(MemRefType((None, 5), F32), "A")
    last = leaf()
    body = (
        arith.Constant(c, 1),
        affine.Apply(a, X * 4 + 1),
        affine.Min(b, (X + 3, Affine.of(N), Affine.of(7))),
        affine.Max(d, (X + 3, Affine.of(9))),
        memref.Dim(e, A, c),
        memref.Dim(f, A, Value(INDEX)),
        last,
    )
    (inside,) = (context for op, context in places(loop(X, 0, 8, *body)) if op is last)
    assert inside.range_of(a + 0) == between(1, 29, 4, 1)
    assert inside.range_of(b + 0) == between(None, 7)
    assert inside.range_of(d + 0) == between(9, 10)
    assert inside.range_of(c + e) == point(6)
    assert inside.range_of(f + 0) == between(0, None)
    assert simplify((a + 3) // 4 - X, inside) == Affine.of(1)
    assert inside.proves(Constraint(X + 3 - b))
    assert inside.proves(Constraint(d - X - 3))
    assert not inside.proves(Constraint(b - X - 3))
    assert simplify_bounds([b + 0, N + 0], "min", inside) == (b + 0,)


@pytest.mark.parametrize("outer", [(), (7,)], ids=["two numbers for three digits", "three"])
def test_digits_know_their_basis(outer):
    a, b, c = (Value(INDEX, name) for name in "abc")
    last = leaf()
    digits = affine.DelinearizeIndex((a, b, c), X, (N,), (*outer, None, 16))
    (inside,) = (context for op, context in places(func.Func("f", (X, N), (digits, last))) if op is last)
    assert inside.range_of(a + 0) == ANY
    assert simplify((b + c // 16) // N * N + c % 16, inside) == c + 0
    assert inside.range_of(b + 0) == between(0, None)


def test_the_same_facts_say_more_where_more_is_defined():
    """What is kept of facts is kept for what their values were defined to be."""
    facts = within(0, X - Y, 8)

    def known(low, high):
        definitions = {Y: Definition((Constraint(Y - low), Constraint(high - Y)), between(low, high))}
        return Context(definitions=definitions).knowing(facts)

    for low, high in ((0, 3), (0, 5), (16, 16), (0, 3)):
        assert known(low, high).range_of_value(X) == between(low, high + 7)
        assert known(low, high).knowing(within(2, X, 100)).range_of_value(X) == between(max(low, 2), high + 7)
    assert where(*facts).range_of_value(X) == ANY


def test_facts_go_from_value_to_value():
    inside = where(*within(0, X, N), Constraint(M - N * 2), Constraint(Y // 4 - 2), Constraint(11 - Y))
    assert inside.range_of(N + 0) == between(1, None)
    assert inside.range_of(M + 0) == between(2, None)
    assert inside.range_of(Y + 0) == between(8, 11)
    assert inside.knowing(inside.facts) is inside


def test_a_broken_path():
    nest, other = loop(X, 0, 9, leaf()), leaf()
    with pytest.raises(ValueError, match=r"the path is broken: affine.apply does not stand in a block of affine.for"):
        domain_of([nest, other])


def test_rewriting_within():
    """Bounds change first; what is inside is rewritten knowing them; what nothing changes stays the same object."""

    def rule(op, context):
        match op:
            case affine.For():
                upper = simplify_bounds(op.upper, "min", context)
                return None if upper == op.upper else affine.For(op.iv, op.lower, upper, op.body, op.step)
            case affine.If():
                held = simplify_constraints(op.condition, context)
                return op.then if held == () else op.orelse if held == NEVER else None
            case affine.Apply():
                expr = simplify(op.expr, context)
                return None if expr is op.expr else affine.Apply(op.result, expr)

    same = loop(Y, 0, 4, leaf(Y + 1))
    root = func.Func(
        "f",
        (N,),
        (
            loop(
                X, 0, (Affine.of(8), Affine.of(20)),
                affine.If((Constraint(9 - X),), (leaf(X % 8),), (leaf(),)),
                affine.If((Constraint(X - 3),), (leaf((X - 3) // 8),), (leaf(X // 3),)),
            ),
            same,
        ),
    )  # fmt: skip
    new = rewrite_within(root, rule)
    outer, unchanged = new.body
    assert unchanged is same
    assert [spell(e) for e in outer.upper] == ["8"]
    first, second = outer.body
    assert spell(first.expr) == "i"
    assert [spell(op.expr) for op in (*second.then, *second.orelse)] == ["0", "0"]
    assert rewrite_within(new, rule) is new


def test_a_rule_that_never_ends():
    with pytest.raises(InternalError, match=r"a rule rewrites affine.apply for ever: it must give None where nothing"):
        rewrite_within(loop(X, 0, 9, leaf()), lambda op, context: leaf() if isinstance(op, affine.Apply) else None)


def test_deep_nests():
    ivs = [Value(INDEX, f"i{k}") for k in range(200)]
    inner = leaf(ivs[-1] // 8 + ivs[0] % 4)
    nest = inner
    for k, iv in reversed([*enumerate(ivs)]):
        nest = loop(iv, 0 if k == 0 else ivs[k - 1] + 0, N, nest)
    (inside,) = (context for op, context in places(nest) if op is inner)
    assert inside.proves(Constraint(ivs[-1] - ivs[-3]))
    assert inside.range_of(ivs[-1] + N).low == 1
    assert simplify(inner.expr, inside) == inner.expr


def test_random_programs():
    count = len(some(range(1500), 150))
    seen = check_many(count)
    assert seen["expressions simplified"] > count / 8
    assert seen["bounds simplified"] > count / 15
    assert seen["conditions simplified"] > count / 15


def towards_zero(self, divisor):
    return between(*(None if end is None else int(end / divisor) for end in (self.low, self.high)))


def one_too_low(self, factor):
    low, high = (None if end is None else end * factor for end in (self.low, self.high)[:: 1 if factor > 0 else -1])
    return between(low, None if high is None else high - 1)


@pytest.mark.parametrize(("method", "fault"), [("floordiv", towards_zero), ("scaled", one_too_low)])
def test_the_judge_finds_planted_faults(method, fault, monkeypatch):
    monkeypatch.setattr(Range, method, fault)
    with pytest.raises(random_expressions.WrongError):
        check_many(1500)


def check_many(count):
    seen = Counter()
    for case in range(count):
        random_expressions.check(case, seen)
    return seen


def test_unknown_is_not_proved(monkeypatch):
    """Without isl, whatever is asked of it, less is simplified and nothing wrongly."""
    for name in ("is_empty", "implies", "minimum"):
        monkeypatch.setattr(polyhedral, name, lambda *_: None)
    check_many(150)
    assert NOTHING.proves(Constraint(X - Y)) is False
