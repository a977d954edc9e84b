"""Grids: of random loops against every iteration; pairs of them, and how far apart, against sets of points and isl."""

import itertools
import random

import pytest

from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import INDEX
from affdsl.passes.analysis import relations
from affdsl.passes.analysis.grid import box_of, grid_of, overlap
from affdsl.passes.analysis.relations import (
    at_depth,
    distances,
    forget,
    iterator,
    local,
    meet,
    plain_distances,
    relation,
    remembered,
    same_element,
)

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


def random_pair(choose):
    """Two accesses below the same two loops, each in a loop of its own as well, and with a local."""
    shared = []
    for iv in (X, Y):
        low, count, step = choose.randint(-3, 3), choose.choice((1, 2, 5, 8)), choose.choice((1, 1, 2, 3))
        shared.append((within(iv, low, low + (count - 1) * step),))
        if step > 1:
            shared.append(((Constraint((iv - low) % step, equality=True),),))
    pair = []
    for _ in range(2):
        clauses = [*shared, (within(Z, 0, choose.choice((0, 4))),), (within(local(0), 0, choose.choice((0, 3))),)]
        if choose.random() < 0.1:
            clauses.append((within(X, choose.randint(-2, 2), 9),))
        index = [
            choose.choice((X, X, X, Y, Y, Y, Y, Z, local(0))) * choose.choice((0, 1, 1, 1, 1, -1, 2))
            + choose.randint(-2, 2)
            for _ in range(choose.choice((1, 2, 2, 3)))
        ]
        pair.append((clauses, index))
    (a, index), (b, other) = pair
    rank = min(len(index), len(other))
    other = [
        choose.choice((e, e, e, e, e, o)) + choose.choice((0, 0, 0, 1, -1, 2))
        for e, o in zip(index, other, strict=False)
    ]
    return relation(3, 1, (), tuple(a), tuple(index[:rank])), relation(3, 1, (), tuple(b), tuple(other))


def test_distances_in_boxes_are_those_of_isl():
    choose, plain, none, some = random.Random(4), 0, 0, 0
    for seed in range(500):
        a, b = random_pair(choose)
        for depth in (1, 2, 3):
            found = plain_distances(a, b, depth, 2)
            if found is None:
                continue
            plain += 1
            pairs = at_depth(same_element(a, b), depth, 2)
            assert found == (() if pairs.is_empty() else distances(pairs, 2)), (seed, depth, a, b)
            none += not found
            some += found != () and found != ((0, 0), (0, 0))
    assert plain > 900
    assert none > 200
    assert some > 100


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param((X + Y,), (Affine.of(X),), id="a sum"),
        pytest.param((Affine.of(X),), (Affine.of(Y),), id="one loop and another"),
        pytest.param((X * 2,), (Affine.of(X),), id="another stride"),
        pytest.param((Affine.of(X),), (Affine.of(3),), id="a loop and a number"),
        pytest.param((Affine.of(X),), (Affine.of(Z),), id="a loop around both and one around one"),
        pytest.param((Affine.of(Z), Affine.of(Z)), (Affine.of(Z), Affine.of(Z)), id="a loop of its own, twice"),
    ],
)
def test_distances_that_are_not_plain(first, second):
    clauses = (*BOX, (within(Z, 0, 9),))
    a, b = relation(3, 0, (), clauses, first), relation(3, 0, (), clauses, second)
    assert plain_distances(a, b, 1, 2) is None


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
    box = box_of((X, Y), clauses)
    assert box is None or grid_of(box, index) is None


def test_a_remainder_that_is_not_zero_is_a_step():
    clauses = (*BOX, ((Constraint(X % 4 - 3, equality=True),),))
    assert grid_of(box_of((X, Y), clauses), (Affine.of(X),)) == (range(3, 10, 4),)


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
