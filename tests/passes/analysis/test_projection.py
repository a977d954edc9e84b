"""A domain without the loops that a question does not read, against all points of the domain with them."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.projection import projected

N = Value(INDEX, "n")
IVS = tuple(Value(INDEX, f"i{k}") for k in range(4))
SIZES = range(-1, 4)
NEAR = range(-3, 6)


def _bound(random: Random, outer: tuple[Value, ...]) -> Affine:
    read = random.choice([None, N, *outer])
    number = random.randint(-1, 2)
    return Affine.of(number) if read is None else read * random.choice([1, 1, 1, 2, -1]) + number


def _random(random: Random) -> Domain:
    clauses = []
    for k, iv in enumerate(IVS):
        lows = [_bound(random, IVS[:k]) for _ in range(random.choice([1, 1, 2]))]
        highs = [_bound(random, IVS[:k]) for _ in range(random.choice([1, 1, 2]))]
        clauses.append(((*(Constraint(iv - e) for e in lows), *(Constraint(e - iv) for e in highs)),))
        match random.randrange(8):
            case 0:
                clauses.append(((Constraint((iv - lows[0]) % 2, equality=True),),))
            case 1:
                clauses.append(((Constraint(iv - 1),), (Constraint(N - iv - 1),)))
            case 2:
                clauses.append(((Constraint(iv // 2 - 1),),))
    # The box makes the points of all domains few enough to list.
    inside = tuple(c for iv in IVS for c in (Constraint(iv - NEAR[0]), Constraint(NEAR[-1] - iv)))
    return Domain(IVS, (), (*clauses, (inside,)))


def _values(domain: Domain, exprs: list[Affine], n: int) -> set[tuple[int, ...]]:
    found = set()
    for point in product(NEAR, repeat=len(domain.ivs)):
        env = {N: n, **dict(zip(domain.ivs, point, strict=True))}
        if all(any(all(c.holds(env) for c in part) for part in clause) for clause in domain.clauses):
            found.add(tuple(e.evaluate(env) for e in exprs))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_expressions_have_the_same_values_without_the_loops_that_they_do_not_read(seed: int) -> None:
    random = Random(seed)
    domain = _random(random)
    exprs = [_bound(random, IVS) - _bound(random, IVS)]
    less = projected(domain, exprs)
    n = random.choice(SIZES)
    assert _values(less, exprs, n) == _values(domain, exprs, n)


def test_all_loops_of_a_triangle_go() -> None:
    outer: list[Affine | Value] = [Affine.of(N)]
    clauses = []
    for iv in IVS:
        clauses.append(((Constraint(iv * 1), Constraint(outer[-1] - iv - 1)),))
        outer.append(iv)
    less = projected(Domain(IVS, (), tuple(clauses)), [Affine.of(N)])
    assert not less.ivs
    assert [str(c.expr) for clause in less.clauses for part in clause for c in part] == [str(N - 4)]


def test_a_loop_that_never_runs_leaves_no_point() -> None:
    i, j = IVS[:2]
    never = Domain((i, j), (), (((Constraint(i * 1), Constraint(-1 - i), Constraint(j * 1), Constraint(N - j)),),))
    less = projected(never, [Affine.of(j)])
    assert less.ivs == (j,)
    assert not _values(less, [Affine.of(j)], 3)
