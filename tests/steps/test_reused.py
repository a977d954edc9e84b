"""Values that are used more than once: what is done to them is done once, whatever the number of uses.

Each kernel here has so many uses inside each other that what walks along all of them never ends.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.fallible import divisors, symbolic
from affdsl.codegen.c.words import Words
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import operands_first, walk
from affdsl.ir.types import F32, I1, INDEX
from affdsl.mlir.readers import parse
from affdsl.optimize.model.moving import Moving
from affdsl.passes.analysis.bounds.claims import divisions
from affdsl.passes.analysis.conditions import alternatives, is_computed
from affdsl.passes.analysis.iterations import Iterations, Lanes
from affdsl.passes.analysis.scope import Scope
from affdsl.passes.legality.order import _Order
from affdsl.passes.proof.symbols import Symbols
from affdsl.passes.transforms.vectorize.counted import counts
from affdsl.passes.transforms.vectorize.statements import _circles
from tests.steps import kernels
from tests.steps.shapes import SHAPES
from tests.steps.tasks import VERBS

N = af.symbols("N")


@pytest.mark.parametrize("shape", ["newton", "mandelbrot", "logistic", "squarings"])
def test_optimize_ends_where_values_are_used_again(shape):
    written = kernels.nest(SHAPES[shape], 40)
    fast = written.optimize("avx2", threads=1)
    assert "vectors" in fast.explain()


def test_an_inlined_value_is_computed_once_where_it_is_read():
    made = af.Schedule(kernels.mapped(SHAPES["logistic"], 60)).inline("t").function
    kinds = [op.kind for op in walk(made) if isinstance(op, arith.Binary)]
    assert kinds.count("mulf") == 2 * 60  # read at two places


# Indices that are computed -------------------------------------------------------------------------------------------


def doubled(kind: str, n: int) -> tuple[Value, Value, dict[Value, Op]]:
    """An index, what is made of it in n steps each of which uses the last value twice, and what makes each value."""
    first = last = Value(INDEX, "i")
    makers: dict[Value, Op] = {}
    for _ in range(n):
        result = Value(INDEX)
        if kind == "apply":
            makers[result] = affine.Apply(result, last + (last + 1) // 2 - Affine.of(last) + 1)
        else:
            makers[result] = arith.Binary(result, kind, last, last)
        last = result
    return first, last, makers


def test_operands_come_first_and_once():
    first, last, makers = doubled("addi", 5000)
    found = operands_first(last, lambda v: makers[v].reads() if v in makers else ())
    assert found == [first, *makers]


def test_a_condition_that_is_used_again_is_asked_once():
    i = Value(INDEX, "i")
    makers: dict[Value, Op] = {}
    last = Value(I1)
    makers[last] = arith.Compare(last, "cmpi", "sge", i, Value(INDEX, "n"))
    (wanted,) = alternatives(last, makers) or ((),)
    for kind in ("andi", "ori") * 200:
        result = Value(I1)
        makers[result] = arith.Binary(result, kind, last, last)
        last = result
    assert alternatives(last, makers) == (wanted,)


def test_an_index_that_is_used_again_is_looked_at_once():
    first, last, makers = doubled("apply", 400)
    assert is_computed(last, makers, lambda v: v is first)
    assert not is_computed(last, makers, lambda v: False)


INDEX_CHAIN = """
func.func @f(%A: memref<?xf64>, %n: index) {{
  affine.for %i = 0 to 10 {{
{lines}
    %t = affine.load %A[%i] : memref<?xf64>
    {use}
  }}
  return
}}
"""


def of_chain(line: str, use: str, n: int = 300) -> Func:
    """A function with n operations that read the one before twice, and what is done with the last one."""
    lines = ["    %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)"]
    lines += [f"    %{k} = {line.format(f'%{k - 1}')}" for k in range(1, n)]
    (found,) = parse(INDEX_CHAIN.format(lines="\n".join(lines), use=use.format(f"%{n - 1}"))).functions
    return found


STORED = "memref.store %t, %A[{0}] : memref<?xf64>"
APPLIED = "affine.apply affine_map<(d0) -> (d0 - d0 floordiv 1000000)>({0})"
LARGER = "arith.maxsi {0}, {0} : index"


def counter_and_last(f: Func) -> tuple[Value, Value]:
    """The counter of the first loop of a function, and the first subscript of the first memref.store."""
    loop = f.body[0]
    assert isinstance(loop, affine.For)
    return loop.iv, next(op for op in walk(f) if isinstance(op, memref.Store)).indices[0]


def test_numbers_of_an_index_that_is_used_again_are_computed_once():
    f = of_chain(LARGER, STORED)
    iv, last = counter_and_last(f)
    lanes = Lanes({iv: np.arange(10)}, np.ones(10, np.int64))
    assert [*Iterations(Module((f,))).value(last, lanes)] == [*range(1, 11)]


def test_ends_of_an_index_that_is_used_again_are_computed_once():
    f = of_chain(APPLIED, STORED)
    iv, last = counter_and_last(f)
    low, high = Moving(Iterations(Module((f,)))).interval(Affine.of(last), {iv: (0, 9)})
    assert (low, high) == (1, 10)


def test_an_index_that_is_used_again_is_resolved_once():
    f = of_chain("affine.apply affine_map<(d0) -> (d0 * 2 - d0 + d0 floordiv 4096)>({0})", STORED, 30)
    iv, last = counter_and_last(f)
    found = Iterations(Module((f,))).resolved(Affine.of(last))
    assert found.evaluate({iv: 7}) == 8


def test_a_size_that_is_used_again_has_no_endless_name():
    f = of_chain(LARGER, STORED)
    _, last = counter_and_last(f)
    scope = Scope(f)
    assert Symbols(f, scope, "a").key(last) is None
    outside = parse("func.func @f(%n: index) {\n%a = arith.maxsi %n, %n : index\nreturn }").functions[0]
    (op,) = (op for op in outside.body if isinstance(op, arith.Binary))
    assert Symbols(outside, Scope(outside), "a").key(op.result) is not None


def test_an_index_of_data_that_is_used_again_is_left_out_of_messages():
    f = of_chain("arith.muli {0}, {0} : index", STORED)
    (store,) = (op for op in walk(f) if isinstance(op, memref.Store))
    assert Words(f).access(store, store.memref, [Affine.of(store.indices[0])]) == "A[...] = ..."


def test_sums_of_sums_are_no_endless_lists():
    written = kernels.nest(SHAPES["i64 doublings"], 400)
    af.Schedule(written).tile(("i", "j"), 4).kernel(validate=True)


def test_what_counts_by_choices_that_are_used_again_is_seen_to_an_end():
    lines = ["%n0 = arith.addi %s, %one : i64"]
    lines += [f"%n{k} = arith.select %c, %n{k - 1}, %n{k - 1} : i64" for k in range(1, 100)]
    text = f"""func.func @f(%A: memref<?xf64>, %x: f64, %n: index) -> i64 {{
      %zero = arith.constant 0 : i64
      %r = affine.for %i = 0 to %n iter_args(%s = %zero) -> (i64) {{
        %one = arith.constant 1 : i64
        %a = affine.load %A[%i] : memref<?xf64>
        %c = arith.cmpf olt, %a, %x : f64
        {"".join(f"{line}{chr(10)}" for line in lines)}
        affine.yield %n99 : i64
      }}
      return %r : i64 }}"""
    f = parse(text).functions[0]
    loop = next(op for op in walk(f) if isinstance(op, affine.For))
    assert not counts(loop, 8)


def test_divisors_inside_quotients_that_are_used_again_are_found_once():
    i, n, m = (Value(INDEX, name) for name in "inm")
    expr = i // (n + 1) + i // m
    for _ in range(60):
        expr = expr // 3 + (expr // 3) // 5
    assert symbolic([expr]) == [n + 1, Affine.of(m)] or symbolic([expr]) == [Affine.of(m), n + 1]
    assert {d.divisor for d in divisions([expr])} == {n + 1, Affine.of(m)}
    assert not [*divisors(i // 2)]


@pytest.mark.parametrize(("shape", "why"), [("subscripts", "101 quotients inside each other"), ("reductions", "20000")])
def test_an_index_too_long_to_write_down_is_refused_where_it_is_written(shape, why):
    with pytest.raises(af.ProgramError, match=why) as error:
        kernels.nest(SHAPES[shape], 400)
    assert all(part in str(error.value) for part in ("shapes.py", "affdsl.i64(i)"))


@pytest.mark.parametrize("step", ["tile", "permute"])
def test_accesses_to_a_variable_are_not_compared_in_all_pairs(step, monkeypatch):
    asked = Counter[str]()
    kind = _Order.kind

    def counted(self, source, sink):
        asked[step] += 1
        return kind(self, source, sink)

    monkeypatch.setattr(_Order, "kind", counted)
    for n in (20, 80):
        VERBS[step].run(af.Schedule(kernels.nest(SHAPES["ifs"], n)))
        assert 0 < asked[step] < 200


def test_operations_in_a_circle_are_those_that_reach_each_other():
    for seed in range(100):
        random = Random(seed)
        body = tuple(arith.Constant(Value(F32), float(k)) for k in range(9))
        loop = affine.For(iv=Value(INDEX, "i"), lower=(), upper=(), body=body)
        edges = [(random.choice(body), random.choice(body)) for _ in range(random.randint(0, 14))]
        reached = {op: {sink for source, sink in edges if source is op} for op in body}
        for _ in body:
            reached = {op: found.union(*(reached[each] for each in found)) for op, found in reached.items()}
        wanted = {
            frozenset(x for x in body if x in reached[op] and op in reached[x]) for op in body if op in reached[op]
        }
        found = _circles(loop, edges)
        assert {frozenset(circle) for circle in found} == wanted
        assert [body.index(op) for op, *_ in found] == sorted(body.index(op) for op, *_ in found)
