"""Grids: of random loops against every iteration, pairs of them against sets of points and isl."""

import itertools
import random

import pytest

from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import INDEX
from passes.analysis import relations
from passes.analysis.grid import grid_of, overlap
from passes.analysis.relations import forget, iterator, meet, relation, remembered

X, Y, Z = (iterator(k) for k in range(3))
N = Value(INDEX, "n")
REACH = range(-30, 31)


def within(value, low, high):
    """low <= value <= high."""
    return Constraint(value - low), Constraint(high - value)


def random_relation(choose):
    """Three loops with numbers for bounds, written in odd ways, and subscripts that are mostly a grid."""
    clauses = []
    for iv in (X, Y, Z):
        low = choose.randint(-4, 2)
        high = low + choose.choice((-1, 0, 3, 5, 7, 9, 9, 9, 12, 14))
        factor = choose.choice((1, 1, 2, 3))
        clauses.append(((Constraint(iv * factor - factor * low), Constraint(factor * high - iv * factor)),))
        if choose.random() < 0.3:
            least, most = choose.randint(-25, 5), choose.randint(10, 50)
            clauses.append(((Constraint(iv * 2 - least), Constraint(most - iv * 3)),))
        if choose.random() < 0.4:
            clauses.append(((Constraint((iv - choose.randint(-9, 9)) % choose.randint(2, 5), equality=True),),))
    ivs = choose.sample((X, Y, Z), 2) if choose.random() < 0.9 else [X, X]
    index = [iv * choose.choice((1, 1, 1, -1, 2, -3)) + choose.randint(-3, 3) for iv in ivs]
    if choose.random() < 0.3:
        index[choose.randrange(2)] = Affine.of(choose.randint(-5, 5))
    return relation(3, 0, (), tuple(clauses), tuple(index))


def points(of):
    """The elements, by trying all iterations."""
    found = set()
    for numbers in itertools.product(REACH, repeat=3):
        env = dict(zip((X, Y, Z), numbers, strict=True))
        if all(any(all(c.holds(env) for c in part) for part in clause) for clause in of.clauses):
            found.add(tuple(e.evaluate(env) for e in of.index))
    return found


def trimmed(of):
    """The same relation for `points`, whose loops are tried one by one first."""
    ranges = []
    for iv in (X, Y, Z):
        mine = [c for clause in of.clauses for c in clause[0] if set(c.values()) == {iv}]
        ranges.append([n for n in REACH if all(c.holds({iv: n}) for c in mine)])
    return {
        tuple(e.evaluate(dict(zip((X, Y, Z), numbers, strict=True))) for e in of.index)
        for numbers in itertools.product(*ranges)
    }


def test_random_grids_are_what_all_iterations_touch():
    choose, grids = random.Random(1), 0
    for seed in range(1_500):
        of = random_relation(choose)
        wanted = trimmed(of)
        if of.grid is not None:
            grids += 1
            assert set(itertools.product(*of.grid)) == wanted, (seed, of)
            assert all(r and r.step > 0 for r in of.grid)
    assert grids > 800


def test_loops_tried_one_by_one_are_loops_tried_together():
    of = random_relation(random.Random(2))
    assert trimmed(of) == points(of)


def test_two_grids_meet_where_they_have_a_point_in_common():
    ranges = [
        range(low, low + length, step) for low in range(-3, 4) for length in (1, 2, 6, 13) for step in (1, 2, 3, 4, 6)
    ]
    for a, b in itertools.product(ranges, repeat=2):
        assert overlap((a,), (b,)) == bool(set(a) & set(b)), (a, b)
    assert overlap((range(3), range(3)), (range(2, 5), range(2, 5)))
    assert not overlap((range(3), range(3)), (range(2, 5), range(3, 5)))
    assert overlap((), ())


def test_random_grids_meet_where_isl_says_so():
    choose = random.Random(3)
    found = [of for of in (random_relation(choose) for _ in range(120)) if of.grid is not None]
    answers = [(overlap(a.grid, b.grid), meet(a, b)) for a, b in itertools.combinations(found[:60], 2)]
    assert all(ours == theirs for ours, theirs in answers)
    assert 200 < sum(ours for ours, _ in answers) < len(answers) - 200


BOX = ((within(X, 0, 9),), (within(Y, 0, 9),))


@pytest.mark.parametrize(
    ("clauses", "index"),
    [
        pytest.param(BOX, (X + Y, Affine.of(Y)), id="a sum of two loops"),
        pytest.param(BOX, (Affine.of(X), X + 1), id="one loop in two subscripts"),
        pytest.param(BOX, (X // 2,), id="a quotient"),
        pytest.param(BOX, (Affine.of(N),), id="a size"),
        pytest.param((BOX[0], (within(Y, 0, X),)), (Affine.of(Y),), id="a triangle"),
        pytest.param((BOX[0], (within(Y, 0, N),)), (Affine.of(Y),), id="a bound that is a size"),
        pytest.param((*BOX, (within(N, 0, 9),)), (Affine.of(X),), id="a size with bounds"),
        pytest.param((BOX[0], (within(Y, 0, 3), within(Y, 6, 9))), (Affine.of(Y),), id="alternatives"),
        pytest.param((*BOX, ()), (Affine.of(X),), id="no alternative"),
        pytest.param((BOX[0],), (Affine.of(X),), id="no bounds"),
        pytest.param((BOX[0], ((Constraint(Affine.of(Y)),),)), (Affine.of(X),), id="no upper bound"),
        pytest.param((BOX[0], (within(Y, 5, 4),)), (Affine.of(X),), id="a loop that never runs"),
        pytest.param((*BOX, ((Constraint(X - 3, equality=True),),)), (Affine.of(X),), id="a point"),
        pytest.param((*BOX, ((Constraint(X % 2 - 2, equality=True),),)), (Affine.of(X),), id="no remainder"),
        pytest.param(
            (*BOX, ((Constraint(X % 2, equality=True), Constraint(X % 3, equality=True)),)),
            (Affine.of(X),),
            id="two steps",
        ),
        pytest.param((*BOX, ((Constraint((X * 2) % 5, equality=True),),)), (Affine.of(X),), id="a multiple"),
        pytest.param((*BOX, ((Constraint(X % 4 - 1),),)), (Affine.of(X),), id="a remainder with a bound"),
    ],
)  # fmt: skip
def test_what_is_not_plainly_a_grid_is_none(clauses, index):
    assert grid_of((X, Y), clauses, index) is None


def test_a_remainder_that_is_not_zero_is_a_step():
    clauses = (*BOX, ((Constraint(X % 4 - 3, equality=True),),))
    assert grid_of((X, Y), clauses, (Affine.of(X),)) == (range(3, 10, 4),)


def test_a_relation_with_sizes_is_no_grid():
    assert relation(1, 0, (N,), (BOX[0],), (Affine.of(X),)).grid is None
    assert relation(1, 0, (), (BOX[0],), (Affine.of(X),)).grid == (range(10),)


def test_answers_that_are_asked_for_again_stay(monkeypatch):
    monkeypatch.setattr(relations, "MOST_ANSWERS", 3)
    forget()
    asked = []
    for k in range(10):
        remembered("often", lambda: asked.append("often"))
        remembered(k, lambda k=k: asked.append(k))
    assert asked == ["often", *range(10)]
    remembered(8, lambda: asked.append("again"))
    remembered(0, lambda: asked.append("again"))
    assert asked[11:] == ["again"]
    forget()
