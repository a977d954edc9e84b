"""Times without isl: against all iterations, and legality with it against legality by isl alone."""

import itertools
import random

from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.order import runs_later
from affdsl.passes.analysis.relations import outer_distances
from affdsl.passes.legality import order as orders
from affdsl.passes.legality.order import new_order
from tests.passes.analysis.guarded import guarded

X, Y, N = (Value(INDEX, name) for name in ("i", "j", "n"))
STARTS = range(-3, 6)


def random_expr(choose):
    """A sum of two loops, or the number of a tile of it."""
    expr = X * choose.choice((0, 1, 1, -1, 2)) + Y * choose.choice((0, 0, 1, -2)) + choose.randint(-3, 3)
    if choose.random() < 0.4:
        expr = expr // choose.choice((2, 3, 4)) * choose.choice((1, 1, 2, -1)) + Y * choose.choice((0, 0, 1))
    return expr


def later_everywhere(first, second, apart):
    """By trying all iterations."""
    (low_i, high_i), (low_j, high_j) = apart[X], apart[Y]
    return all(
        tuple(e.evaluate({X: i, Y: j}) for e in first) < tuple(e.evaluate({X: i + di, Y: j + dj}) for e in second)
        for i, j in itertools.product(STARTS, repeat=2)
        for di in range(low_i, high_i + 1)
        for dj in range(low_j, high_j + 1)
    )


def test_what_is_said_to_run_later_does():
    choose, certain, missed = random.Random(1), 0, 0
    for seed in range(1_500):
        first = [random_expr(choose) for _ in range(choose.randint(1, 3))]
        second = [e + choose.choice((0, 0, 0, 1, -1)) for e in first]
        low_i, low_j = choose.randint(-1, 2), choose.randint(-2, 1)
        apart = {X: (low_i, low_i + choose.randint(0, 2)), Y: (low_j, low_j + choose.randint(0, 2))}
        said = runs_later(first, second, apart)
        truth = later_everywhere(first, second, apart)
        assert truth or not said, (seed, first, second, apart)
        certain += said
        missed += truth and not said
    assert certain > 250
    assert missed < certain / 10


def test_what_is_not_plain_is_not_said():
    both = {X: (1, 1), Y: (1, 1)}
    for first, second in (
        ((Affine.of(N),), (N + 1,)),
        ((Affine.of(X),), (Affine.of(Y),)),
        ((Affine.of(X),), (X * 2,)),
        ((Affine.of(X),), (X + Y,)),
        ((X // 2,), (X // 3 + 9,)),
        ((X * N,), (X * N + 1,)),
        ((), ()),
    ):
        assert not runs_later(first, second, both)
    assert runs_later((Affine.of(N),), (N + 1,), both, lambda value: value is N)
    assert runs_later((X - N,), (X - N,), {X: (1, None)}, lambda value: value is N)
    assert runs_later((-X // 2,), (-X // 2,), {X: (None, -2)})
    assert not runs_later((X // 2,), (X // 2,), {X: (1, None)})
    assert not runs_later((Affine.of(X),), (Affine.of(X),), {X: (None, 5)})
    assert runs_later((Affine.of(X),), (Affine.of(X), Affine.of(1)), {X: (0, 0)})
    assert not runs_later((Affine.of(X), Affine.of(1)), (Affine.of(X),), {X: (0, 0)})


def random_nest(choose):
    """Two loops, one way or another, and a loop of its own for one of three statements."""
    places = [
        "%i", "%j", "%i - 1", "%j + 1", "%i * 2", "%j - 2", "%i + 2", "3", "%i + symbol(%n)", "%j + symbol(%n)",
        "symbol(%n)", "%i floordiv 2", "%i + %j",
    ]  # fmt: skip
    first, second, third, fourth = (f"{choose.choice(places)}, {choose.choice(places)}" for _ in range(4))
    inner = choose.choice(("2 to 12", "2 to 12 step 2", "0 to %n", "2 to %i", "%i to %n"))
    own = choose.choice(("%j", "%k", "%k + 1"))
    row = choose.choice((own, choose.choice(places)))
    return parse(f"""
        func.func @f(%A: memref<50x50xf32>, %n: index) {{
          affine.for %i = 2 to {choose.choice(("14", "%n"))} {{
            affine.for %j = {inner} {{
              %a = affine.load %A[{first}] : memref<50x50xf32>
              affine.store %a, %A[{choose.choice((first, second))}] : memref<50x50xf32>
              affine.for %k = 0 to 4 {{ affine.store %a, %A[{row}, {own}] : memref<50x50xf32> }}
              %b = affine.load %A[{third}] : memref<50x50xf32>
              affine.store %b, %A[{choose.choice((third, fourth))}] : memref<50x50xf32>
            }}
          }}
          return
        }}""").functions[0]


def test_accesses_under_conditions_are_asked_together_as_one_by_one(monkeypatch):
    choose, answers, spared = random.Random(3), [], 0
    of_class = orders._Order.is_kept_anywhere

    def counted(*given):
        nonlocal spared
        answer = of_class(*given)
        spared += answer
        return answer

    monkeypatch.setattr(orders._Order, "is_kept_anywhere", counted)
    for _ in range(9):
        function = guarded(choose)
        dependences = Dependences(function)
        outer, inner = (op.iv for op in walk(function) if isinstance(op, affine.For))
        times = [
            lambda a, i=outer, j=inner: (j, i, a.order),
            lambda a, i=outer, j=inner: (i // 4, j // 4, i, j, a.order),
            lambda a, i=outer, j=inner: (i, -j, a.order),
            lambda a, i=outer, j=inner: (i, j // 4, a.order, j),
        ]
        for time in times:
            together = new_order(dependences, function.body[0], time)
            with monkeypatch.context() as apart:
                apart.setattr(orders._Order, "sinks", lambda self, some, *given: ((access, some) for access in some))
                one_by_one = new_order(dependences, function.body[0], time)
            assert (together is None) == (one_by_one is None), function
            if together is not None and one_by_one is not None:
                assert str(together.dependence) == str(one_by_one.dependence)
                assert together.dependence.source is one_by_one.dependence.source
                assert together.dependence.sink is one_by_one.dependence.sink
            answers.append(together is None)
    assert 4 < sum(answers) < 32
    assert spared > 200


def test_distances_lie_between_the_outer_ones():
    choose, tight, none = random.Random(5), 0, 0
    for _ in range(60):
        dependences = Dependences(random_nest(choose))
        pairs = list(itertools.product(dependences.compared, repeat=2))
        for source, sink in choose.sample(pairs, 6):
            common = dependences.common(source, sink)
            for depth in range(1, common + 2):
                ends = outer_distances(source.relation, sink.relation, depth, common)
                found = dependences.at(source, sink, depth)
                if found is None:
                    none += not ends
                    continue
                assert len(ends) == common
                for (low, high), exact in zip(ends, found.distances, strict=True):
                    assert low is None or (exact.low is not None and low <= exact.low)
                    assert high is None or (exact.high is not None and exact.high <= high)
                    tight += low == high == exact.low
    assert tight > 100
    assert none > 50
