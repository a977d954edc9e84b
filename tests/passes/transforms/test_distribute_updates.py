"""Updates of elements that come to the same in any order change places in `distribute`; all else keeps its order."""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.transforms.distribute import _edges, _groups
from tests.passes.analysis.guarded import guarded

N = af.symbols("N")


def same(kernel: af.Kernel, made: af.Kernel, *arrays: np.ndarray) -> None:
    wanted, found = [a.copy() for a in arrays], [a.copy() for a in arrays]
    kernel.interpret(*wanted)
    made.interpret(*found)
    for a, b in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(a, b)


STATEMENTS = {
    "left": lambda A, B, i: A.__setitem__(i, af.max(A[i], A[i - 1] + 1)),
    "here": lambda A, B, i: A.__setitem__(i, af.max(A[i], B[i])),
    "ahead": lambda A, B, i: A.__setitem__(i + 1, af.max(A[i + 1], B[i] - 2)),
    "least": lambda A, B, i: A.__setitem__(i, af.min(A[i], B[i])),
    "noted": lambda A, B, i: B.__setitem__(i, A[i]),
    "noted before": lambda A, B, i: B.__setitem__(i - 1, A[i - 1]),
    "overwritten": lambda A, B, i: A.__setitem__(i, B[i]),
    "twice": lambda A, B, i: A.__setitem__(i, A[i] + A[i]),
}


@pytest.mark.parametrize("names", [*itertools.product(STATEMENTS, repeat=2)], ids="-".join)
def test_all_pairs_of_statements_beside_a_maximum(names):
    @af.kernel
    def kernel(A: af.i32[N], B: af.i32[N]):
        with af.for_(1, N - 1) as i:
            for name in (names[0], "here", names[1]):
                STATEMENTS[name](A, B, i)

    s = af.Schedule(kernel)
    try:
        s.distribute("i")
    except af.IllegalTransform:
        return
    made = s.kernel()
    for seed in range(2):
        random = np.random.default_rng(seed)
        same(kernel, made, *random.integers(-9, 9, (2, 7)).astype("i4"))


def test_pieces_stay_behind_others_as_all_pairs_of_accesses_say():
    choose = Random(4)
    groups = Counter()
    for _ in range(25):
        function = guarded(choose, statements=8)
        inner = next(op for op in walk(function.body[0]) if isinstance(op, affine.For) and op is not function.body[0])
        found = Dependences(function)
        pieces = [(op,) for op in inner.body if isinstance(op, affine.If)]
        edges = [set() for _ in pieces]
        for (k, (first,)), (m, (second,)) in itertools.product(enumerate(pieces), repeat=2):
            pairs = itertools.product(found.accesses.inside(first), found.accesses.inside(second))
            depths = ((a, b, d) for a, b in pairs for d in range(2, found.common(a, b) + 2))
            if k != m and any("write" in (a.kind, b.kind) and found.at(a, b, d) is not None for a, b, d in depths):
                edges[k].add(m)
        made = _groups(pieces, _edges(found, inner, pieces))
        assert made == _groups(pieces, edges)
        groups[len(made)] += 1
    assert len(groups) > 3
