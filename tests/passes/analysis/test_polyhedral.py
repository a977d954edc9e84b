import itertools
import re
import threading
from pathlib import Path

import islpy as isl
import pytest

import affdsl.passes
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.maps import dim, symbol
from affdsl.ir.spelling import spell
from affdsl.ir.types import INDEX
from affdsl.passes.analysis import polyhedral
from affdsl.passes.analysis.linearized import is_affine
from affdsl.passes.analysis.polyhedral import (
    DEEPEST_QUOTIENT,
    UnknownError,
    context,
    count_of,
    equal_everywhere,
    implies,
    is_empty,
    maximum,
    merged,
    minimum,
    numbers_of,
    sample_of,
    spending,
)
from affdsl.passes.analysis.relations import _end_of, ends, first_of, last_of

X, Y, Z, N = (Value(INDEX, name) for name in ("i", "j", "k", "n"))
BOX = [(a, b) for a in range(-7, 8) for b in range(-7, 8)]

EXPRS = [
    X + Y * 2 - 3,
    X // 3,
    (X - Y) // 4,
    (X * -5 + 7) % 6,
    (X + Y).ceildiv(3) - Y % 2,
    ((X // 2 + Y) % 5) // 2,
    X * 10**30 - Y,
]


def inside(low, value, high):
    return [Constraint(value - low), Constraint(high - value)]


def values_of(expr):
    """What expr is at each point of the box, by evaluation."""
    return {point: expr.evaluate(dict(zip((X, Y), point, strict=True))) for point in BOX}


@pytest.mark.parametrize("expr", EXPRS, ids=spell)
def test_maps_give_what_expressions_evaluate_to(expr):
    box = [*inside(-7, X, 7), *inside(-7, Y, 7)]
    image = polyhedral.map_of([expr, Affine.of(X)], box, [X, Y])
    found = {tuple(p[:2]): tuple(p[2:]) for p in points_of(image.wrap(), 4)}
    assert found == {point: (number, point[0]) for point, number in values_of(expr).items()}


def points_of(set_, dims):
    points = []
    set_.foreach_point(points.append)
    return [tuple(p.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(dims)) for p in points]


@pytest.mark.parametrize("equality", [False, True])
@pytest.mark.parametrize("expr", EXPRS, ids=spell)
def test_sets_have_the_points_where_constraints_hold(expr, equality):
    constraint = Constraint(expr, equality)
    found = points_of(polyhedral.set_of([*inside(-7, X, 7), *inside(-7, Y, 7), constraint], [X, Y]), 2)
    assert sorted(found) == [p for p in BOX if constraint.holds(dict(zip((X, Y), p, strict=True)))]


def test_dimensions_are_called_as_their_values():
    found = polyhedral.set_of([Constraint(N - X - 1), Constraint(Affine.of(X))], [X], [N])
    i, n = polyhedral.name_of(X), polyhedral.name_of(N)
    assert str(found) == f"[{n}] -> {{ [{i}] : 0 <= {i} < {n} }}"
    assert i == f"i_{X.id}"


def test_names_are_readable_by_isl_and_no_two_are_equal():
    values = [Value(INDEX, hint) for hint in ("i", "i", "", "a b]", "%x", "é", "and", "floor")] + [
        dim(0),
        symbol(0),
        dim(1),
    ]
    names = [polyhedral.name_of(v) for v in values]
    assert len(set(names)) == len(values)
    domain = polyhedral.set_of([Constraint(v - 1) for v in values], values)
    assert isl.Set.read_from_str(domain.get_ctx(), str(domain)).is_equal(domain)
    assert [domain.get_dim_name(isl.dim_type.set, k) for k in range(len(values))] == names


def test_emptiness():
    assert is_empty([]) is False
    assert is_empty([Constraint(X - Y), Constraint(Y - X - 1)]) is True
    assert is_empty([Constraint(X * 2 - Y * 4 - 1, equality=True)]) is True
    assert is_empty([Constraint(X * 2 - Y * 3 - 1, equality=True)]) is False
    assert is_empty([Constraint(X % 4 - 2, equality=True), Constraint(X % 2 - 1, equality=True)]) is True


@pytest.mark.parametrize(("a", "b", "c"), [*itertools.product((-2, 1, 3), (-1, 2), (-3, 0, 4))])
def test_implication_is_what_holds_at_all_points_of_the_box(a, b, c):
    box = [*inside(-7, X, 7), *inside(-7, Y, 7)]
    given, claim = Constraint(X * a + Y * b + c), Constraint(Y * b + X // 2 + c + 2)
    points = [dict(zip((X, Y), p, strict=True)) for p in BOX]
    assert implies([*box, given], claim) == all(claim.holds(p) for p in points if given.holds(p))
    exactly = Constraint(claim.expr, equality=True)
    assert implies([*box, given], exactly) == all(exactly.holds(p) for p in points if given.holds(p))


@pytest.mark.parametrize("expr", EXPRS, ids=spell)
def test_optima_are_those_of_the_box(expr):
    box = [*inside(-7, X, 7), *inside(-7, Y, 7), Constraint(X - Y * 2 - 1)]
    numbers = [n for p, n in values_of(expr).items() if p[0] - p[1] * 2 >= 1]
    assert (minimum(expr, box), maximum(expr, box)) == (min(numbers), max(numbers))


def test_there_is_no_optimum_without_an_end_or_without_a_point():
    assert minimum(Affine.of(X), [Constraint(X - 3)]) == 3
    assert maximum(Affine.of(X), [Constraint(X - 3)]) is None
    assert minimum(Affine.of(X), [Constraint(X - 3), Constraint(-X)]) is None
    assert minimum(X % 8) == 0
    assert maximum(X % 8) == 7
    assert maximum(Affine.of(X), [Constraint(10**40 - X)]) == 10**40


def test_equality():
    assert equal_everywhere((X + N).ceildiv(7), -((-X - N) // 7)) is True
    assert equal_everywhere(X // 2 * 2, Affine.of(X)) is False
    assert equal_everywhere(X // 2 * 2, Affine.of(X), [Constraint(X % 2, equality=True)]) is True


def test_semi_affine_atoms_may_be_anything_so_only_a_yes_counts():
    product = X * N
    assert implies([Constraint(product - 4)], Constraint(product - 3)) is True
    assert implies([Constraint(X - 4), Constraint(N - 1)], Constraint(product - 3)) is None  # true, but not for isl
    assert is_empty([Constraint(product), Constraint(-1 - product)]) is True
    assert is_empty([Constraint(product)]) is None
    assert equal_everywhere(X // N + Y, X // N + Y + 0) is True
    assert equal_everywhere(X // N, Y // N) is None
    assert minimum(product, [Constraint(product - 1)]) is None
    with pytest.raises(UnknownError, match=r"isl cannot express the semi-affine .*Product"):
        polyhedral.set_of([Constraint(product)], [X, N])
    with pytest.raises(UnknownError, match=r"%n\.\d+ is no dimension and no parameter of the set"):
        polyhedral.set_of([Constraint(X - N)], [X])


HARD = [Constraint((X * 7 + Y * 11 + Z * 13) % p - (X * 3 + Z) // (p + 2) % 3, equality=True) for p in (5, 7, 9, 11)]


def test_a_spent_budget_is_unknown_and_leaves_isl_usable():
    for ask in (
        lambda b: is_empty(HARD, budget=b),
        lambda b: implies(HARD, Constraint(X - 5), budget=b),
        lambda b: minimum(X % 16 + Y % 16, HARD, budget=b),
    ):
        assert ask(30) is None
        assert is_empty([Constraint(X - Y), Constraint(Y - X - 1)]) is True
    with pytest.raises(UnknownError, match="isl needs more than 10 operations"), polyhedral.spending(10):
        polyhedral.set_of(HARD, [X, Y, Z]).is_empty()
    assert is_empty(HARD, budget=10_000_000) is False


def test_isl_is_asked_each_question_once_and_again_where_it_had_no_answer(monkeypatch):
    facts, claim, other = inside(3, X * 5 + Y, 8), Constraint(X * 10 + Y * 2 - 5), Constraint(X - Y)
    asked = []
    monkeypatch.setattr(polyhedral, "_ask", lambda find, budget: asked.append(budget) or find())
    for _ in range(2):
        assert is_empty(facts) is False
        assert implies(facts, claim) is True
        assert implies(facts, other) is False
    assert len(asked) == 3
    monkeypatch.setattr(polyhedral, "_ask", lambda find, budget: asked.append(budget))
    assert (implies(facts, Constraint(X - 7)), implies(facts, Constraint(X - 7)), len(asked)) == (None, None, 5)
    assert implies(facts, claim) is True


def test_what_isl_fails_at_is_unknown():
    with pytest.raises(UnknownError, match="isl fails: "), polyhedral.spending():
        isl.Set.read_from_str(polyhedral.set_of([], [X]).get_ctx(), "{ [i] : ")


def test_threads_do_not_share_a_context():
    contexts, wrong = [], []

    def ask():
        contexts.append(polyhedral.set_of([], [X]).get_ctx())
        for k in range(40):
            if maximum(X * 3 + Y, [*inside(0, X, k), Constraint(Affine.of(Y)), Constraint(X - Y)]) != 4 * k:
                wrong.append(k)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(contexts) == 4
    assert not any(a == b for a, b in itertools.combinations(contexts, 2))


def test_what_is_affine_is_what_isl_is_asked_about():
    expr = Affine.of(X)
    for depth in range(1, DEEPEST_QUOTIENT + 3):
        expr = (expr + 1) // 3
        try:
            polyhedral.set_of([Constraint(expr)], [X])
        except UnknownError:
            assert depth > DEEPEST_QUOTIENT
            assert not is_affine(expr)
        else:
            assert depth <= DEEPEST_QUOTIENT
            assert is_affine(expr)


def points(text):
    return isl.Set(text, context=context())


def pairs(text):
    return isl.Map(text, context=context())


# What isl's count_val says of sets that it cannot count, without a word that it cannot.
MEANINGLESS = {
    "{ [i] : i >= 0 }": 0,
    "{ [i, j] : 0 <= i < 3 and j >= i }": 0,
    "[n] -> { [i] : 0 <= i < n }": 0,
    "[n] -> { [i] : 0 <= i < 4 }": 0,
    "[n] -> { [i] : 0 <= i < n <= 3 }": 6,
}


@pytest.mark.parametrize("text", MEANINGLESS)
def test_points_are_counted_of_sets_that_have_an_end_and_no_parameters(text):
    assert points(text).count_val().to_python() == MEANINGLESS[text]
    with pytest.raises(UnknownError, match="isl counts no points of a set that has no end, or parameters"):
        count_of(points(text))
    with pytest.raises(UnknownError, match="isl counts no points"):
        polyhedral.points_of(points(text))


def test_points_are_counted_as_they_are():
    for low, high, step in itertools.product(range(-3, 4), range(-3, 4), (1, 2, 5)):
        some = points(f"{{ [i, j] : {low} <= i < {high} and 0 <= j <= i and i mod {step} = 0 }}")
        wanted = {(i, j) for i in range(low, high) if not i % step for j in range(i + 1)}
        assert count_of(some) == len(wanted)
        assert {*polyhedral.points_of(some)} == wanted
    assert count_of(points("{ [] }")) == 1


def test_what_is_not_counted_within_the_budget_is_unknown():
    some = points("{ [i, j, k] : 0 <= i, j, k < 1000 and (i + 2j + 3k) mod 7 = 3 and (i - j) mod 5 = 0 }")
    with pytest.raises(UnknownError), spending(50):
        count_of(some)


def test_a_set_without_points_has_no_sample_and_no_ends():
    for text in ("{ [i] : 1 = 0 }", "[n] -> { [i] : n < i < n }"):
        with pytest.raises(UnknownError, match="isl finds no point of a set"):
            sample_of(points(text))
        assert ends(points(text), 0) == (None, None)
    assert sample_of(points("[n] -> { [i, j] : i = 3 and j = 2 and n > 7 }")) == (3, 2)
    assert ends(points("[n] -> { [i] : 2 <= i < n }"), 0) == (2, None)


def test_first_and_last_outputs_are_those_of_all_inputs():
    some = pairs("[n] -> { [i] -> [j] : 0 <= i < n and i <= 2j < 3n }")
    assert first_of(some).is_equal(pairs("[n] -> { [i] -> [j] : 0 <= i < n and i <= 2j < i + 2 and 2j < 3n }"))
    assert last_of(some).is_equal(pairs("[n] -> { [i] -> [j] : 0 <= i < n and i <= 2j and 3n - 2 <= 2j < 3n }"))

    def lost(found):
        return found.intersect_domain(points("[n] -> { [i] : i != 3 }"))

    with pytest.raises(UnknownError, match="isl finds no end of the outputs for an input that has some"):
        _end_of(some, lambda each: lost(each.lexmin()))
    with pytest.raises(UnknownError, match="isl finds no end for an input that has outputs"):
        numbers_of(some, some.dim_min(0).intersect_domain(points("[n] -> { [i] : i != 3 }")))
    for one in ("{ [i] -> [j] : j >= i }", "{ [i] -> [j] : j <= i }"):  # of one of them there is no end
        with pytest.raises(UnknownError), spending():
            (first_of(pairs(one)), last_of(pairs(one)))


def test_merged_points_are_the_same():
    parts = [points(f"{{ [i, j] : {k} <= i <= {k + 1} and i <= j < 9 }}") for k in range(6)]
    union = parts[0]
    for part in parts[1:]:
        union = union.union(part)
    assert merged(union).is_equal(union)
    assert merged(union).n_basic_set() == 1
    both = pairs("{ [i] -> [j] : 0 <= i < 5 and j = i or 5 <= i < 9 and j = i }")
    assert merged(both).is_equal(both)


# Where isl has an answer for what it was not asked: these questions are asked by the functions that see to it.
DOORS = {
    "coalesce": {"polyhedral.py"},
    "count_val": {"polyhedral.py"},
    "foreach_point": {"polyhedral.py"},
    "sample_point": {"polyhedral.py"},
    "lexmin": {"relations.py", "outside.py"},
    "lexmax": {"relations.py", "outside.py"},
    "dim_min": {"polyhedral.py", "boxes.py"},
    "dim_max": {"boxes.py"},
}


def test_isl_is_asked_what_it_answers_for_some_sets_alone_by_functions_that_see_to_it():
    found = {name: set() for name in DOORS}
    for path in Path(affdsl.passes.__path__[0]).rglob("*.py"):
        for name in re.findall(rf"\.({'|'.join(DOORS)})\(", path.read_text()):
            found[name].add(path.name)
    assert found == DOORS
