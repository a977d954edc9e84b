"""The loops that visit the points of a set: exactly these, in their order, or none where affine.for cannot say them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Affine, Constraint
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import with_fields
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.polyhedral import UnknownError, set_of
from affdsl.passes.transforms.loops.scanning import scan

Claim = Callable[[Affine, Affine, Affine], Constraint]

CONDITIONS: dict[str, tuple[Claim, ...]] = {
    "at most": (lambda i, j, n: Constraint(5 - n),),
    "at least": (lambda i, j, n: Constraint(n - 3),),
    "even": (lambda i, j, n: Constraint(n % 2, equality=True),),
    "both": (lambda i, j, n: Constraint(6 - n), lambda i, j, n: Constraint(n % 3 - 1, equality=True)),
    "one number": (lambda i, j, n: Constraint(i - n // 2, equality=True),),
    "diagonal": (lambda i, j, n: Constraint(i + j - n, equality=True),),
    "steps": (lambda i, j, n: Constraint((i + j + n) % 3, equality=True),),
    "far apart": (lambda i, j, n: Constraint(i * 3 - j * 2 - 1, equality=True),),
}


def template() -> func.Func:
    return parse("""func.func @f(%A: memref<10x10xi64>, %c: memref<1xi64>, %n: index) {
      %one = arith.constant 1 : i64
      affine.for %i = 0 to 10 { affine.for %j = 0 to 10 {
        %a = affine.load %c[0] : memref<1xi64>
        %b = arith.addi %a, %one : i64
        affine.store %b, %c[0] : memref<1xi64>
        affine.store %b, %A[%i, %j] : memref<10x10xi64>
      } }
      return
    }""").functions[0]


@pytest.mark.parametrize("name", CONDITIONS)
def test_exactly_the_points_of_the_set(name):
    f = template()
    constant, outer, *rest = f.body
    assert isinstance(outer, affine.For)
    inner = outer.body[0]
    assert isinstance(inner, affine.For)
    i, j, n = Affine.of(outer.iv), Affine.of(inner.iv), Affine.of(f.args[2])
    box = [Constraint(e) for e in (i, j, 9 - i, 9 - j)]
    points = set_of([*box, *(c(i, j, n) for c in CONDITIONS[name])], (outer.iv, inner.iv), (f.args[2],))
    made = with_fields(f, body=(constant, *scan(points, (outer, inner), (f.args[2],), inner.body), *rest))
    verify(made)
    for size in range(10):
        wanted, found, count = np.zeros((10, 10), np.int64), np.zeros((10, 10), np.int64), 0
        for at in np.ndindex(10, 10):
            env = {outer.iv: at[0], inner.iv: at[1], f.args[2]: size}
            if all(c(i, j, n).holds(env) for c in CONDITIONS[name]):
                count += 1
                wanted[at] = count
        run(made, found, np.zeros(1, np.int64), size)
        assert np.array_equal(wanted, found), size


def test_no_points_are_loops_that_do_not_run():
    f = template()
    outer = f.body[1]
    assert isinstance(outer, affine.For)
    i = Affine.of(outer.iv)
    (made,) = scan(set_of([Constraint(i), Constraint(-i - 1)], (outer.iv,)), (outer,), (), outer.body)
    assert isinstance(made, affine.For)
    assert (made.iv, made.lower, made.upper, made.body) == (outer.iv, (Affine(),), (Affine(),), outer.body)


def test_what_affine_loops_cannot_say():
    f = template()
    outer = f.body[1]
    assert isinstance(outer, affine.For)
    i = Affine.of(outer.iv)
    apart = set_of([Constraint(i), Constraint(3 - i)], (outer.iv,)).union(
        set_of([Constraint(i - 100), Constraint(200 - i)], (outer.iv,))
    )
    with pytest.raises(UnknownError, match="several loops one after the other"):
        scan(apart, (outer,), (), outer.body)
