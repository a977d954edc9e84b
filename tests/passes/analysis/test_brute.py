"""The brute-force oracle on programs whose dependences are known."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.interpreter import Argument
from affdsl.ir.interpreter import run as interpret
from affdsl.ir.interpreter.externals import External
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests.effort import some
from tests.passes.analysis.brute import ROLES, Brute, Distances, Query
from tests.passes.analysis.programs import Program, generate
from tests.passes.analysis.traced import Trace, trace


def run(text: str, *args: Argument, **externals: External) -> Trace:
    """What @f of a module does."""
    module = parse(text)
    verify(module)
    function = next(f for f in module.functions if f.symbol == "f")
    return trace(function, *args, module=module, externals=externals)


def numbered(trace: Trace) -> list[Op]:
    """The operations that access memory, in the order of the text."""
    accessing = {op for op, _ in Brute(trace).accesses()}
    return [op for op in walk(trace.function) if op in accessing]


def table(trace: Trace, *, inputs: bool = False) -> dict[tuple[int, int, str, int], Distances]:
    """All dependences: (number of the source, number of the sink, kind, depth) -> distances."""
    number = {op: k for k, op in enumerate(numbered(trace))}
    return {
        (number[q.source], number[q.sink], q.kind, q.depth): distances
        for q, distances in Brute(trace).dependences.items()
        if inputs or q.kind != "input"
    }


def test_a_row_stored_two_iterations_ago_is_loaded() -> None:
    found = run("""
        func.func @f() {
          %0 = memref.alloc() : memref<11x9xf32>
          %cst = arith.constant 7.0 : f32
          affine.for %i = 0 to 9 {
            affine.for %j = 0 to 9 {
              affine.store %cst, %0[%i + 2, %j] : memref<11x9xf32>
              %5 = affine.load %0[%i, %j] : memref<11x9xf32>
            }
          }
          return
        }""")
    assert table(found) == {(0, 1, "flow", 1): ((2, 2), (0, 0))}
    outer, inner = (op for op in walk(found.function) if isinstance(op, affine.For))
    assert [q.depth for q in Brute(found).carried(outer.iv)] == [1]
    assert Brute(found).carried(inner.iv) == []


def test_a_skewed_store_and_load() -> None:
    found = run("""
        func.func @f() {
          %0 = memref.alloc() : memref<28x67xf32>
          %cst = arith.constant 7.0 : f32
          affine.for %i0 = 0 to 10 {
            affine.for %i1 = 0 to 7 {
              affine.store %cst, %0[%i0 + 3 * %i1, 4 * %i0 + 5 * %i1] : memref<28x67xf32>
              %a = affine.load %0[%i0 + %i1, %i0 + 2 * %i1 + 3] : memref<28x67xf32>
            }
          }
          return
        }""")
    (store, load) = numbered(found)
    brute = Brute(found)
    assert brute.distances(Query(store, load, "flow", 1)) == ((1, 7), (-1, 3))
    assert brute.distances(Query(store, load, "flow", 2)) is None
    # All that depends, from the two subscripts alone: pairs of iterations that touch the same element.
    points = list(product(range(10), range(7)))
    meet = [(p, q) for p in points for q in points if subscripts(*p)[0] == subscripts(*q)[1]]
    depth = {(p, q): 1 if p[0] != q[0] else 2 if p[1] != q[1] else 3 for p, q in meet}
    assert {(k[0], k[3]) for k in table(found) if k[0] != k[1]} == (
        {(0, depth[p, q]) for p, q in meet if p <= q} | {(1, depth[p, q]) for p, q in meet if p > q}
    )


def subscripts(i: int, j: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """What the skewed store and load touch."""
    return (i + 3 * j, 4 * i + 5 * j), (i + j, i + 2 * j + 3)


def test_distances_count_values_of_the_iv_and_not_iterations() -> None:
    found = run(
        """
        func.func @f(%A: memref<16xf32>) {
          %c = arith.constant 0.0 : f32
          affine.for %i = 0 to 12 step 3 {
            affine.store %c, %A[%i + 3] : memref<16xf32>
            %x = affine.load %A[%i] : memref<16xf32>
          }
          return
        }""",
        np.zeros(16, np.float32),
    )
    assert table(found) == {(0, 1, "flow", 1): ((3, 3),)}


def test_every_kind_and_depth_of_an_accumulation() -> None:
    found = run(
        """
        func.func @f(%A: memref<2xf32>) {
          affine.for %i = 0 to 2 {
            affine.for %j = 0 to 3 {
              %x = affine.load %A[%i] : memref<2xf32>
              affine.store %x, %A[%i] : memref<2xf32>
            }
          }
          return
        }""",
        np.zeros(2, np.float32),
    )
    assert table(found, inputs=True) == {
        (0, 0, "input", 2): ((0, 0), (1, 2)),
        (0, 1, "anti", 2): ((0, 0), (1, 2)),
        (0, 1, "anti", 3): ((0, 0), (0, 0)),
        (1, 0, "flow", 2): ((0, 0), (1, 2)),
        (1, 1, "output", 2): ((0, 0), (1, 2)),
    }
    outer, inner = (op for op in walk(found.function) if isinstance(op, affine.For))
    brute = Brute(found)
    assert brute.carried(outer.iv) == []
    assert len(brute.carried(inner.iv)) == 3
    load, store = numbered(found)
    writers = {i.ivs: w.ivs if w else None for (i, _), w in brute.last_writers.items()}
    assert writers == {(i, j): (i, j - 1) if j else None for i in range(2) for j in range(3)}
    assert all(i.op is load for i, _ in brute.last_writers)
    assert {w.op for w in brute.last_writers.values() if w} == {store}


def test_nests_in_sequence_depend_at_depth_1_with_no_distance() -> None:
    found = run(
        """
        func.func @f(%A: memref<4xf32>) {
          %c = arith.constant 0.0 : f32
          affine.for %i = 0 to 4 {
            affine.store %c, %A[%i] : memref<4xf32>
          }
          affine.for %i = 2 to 2 {
            affine.store %c, %A[%i] : memref<4xf32>
          }
          affine.for %i = 0 to 4 {
            %x = affine.load %A[%i] : memref<4xf32>
          }
          return
        }""",
        np.zeros(4, np.float32),
    )
    assert table(found) == {(0, 2, "flow", 1): ()}
    asked = {(q.kind, q.depth) for q in Brute(found).queries() if q.sink is numbered(found)[1]}
    assert asked == {("output", 1), ("output", 2), ("anti", 1)}  # the loop that never runs is asked about, too


def test_a_write_between_ends_the_flow_of_values_only() -> None:
    found = run(
        """
        func.func @f(%A: memref<1xf32>) {
          %c = arith.constant 0.0 : f32
          affine.store %c, %A[0] : memref<1xf32>
          affine.store %c, %A[0] : memref<1xf32>
          %x = affine.load %A[0] : memref<1xf32>
          return
        }""",
        np.zeros(1, np.float32),
    )
    assert set(table(found)) == {(0, 1, "output", 1), (0, 2, "flow", 1), (1, 2, "flow", 1)}
    assert [w.op for w in Brute(found).last_writers.values() if w] == [numbered(found)[1]]


def test_each_execution_of_an_alloc_is_a_buffer_of_its_own() -> None:
    text = """
        func.func @f() {
          %c = arith.constant 0.0 : f32
          {outside}
          affine.for %i = 0 to 3 {
            {inside}
            affine.store %c, %A[0] : memref<1xf32>
            %x = affine.load %A[0] : memref<1xf32>
          }
          return
        }"""
    alloc = "%A = memref.alloc() : memref<1xf32>"
    inside = run(text.replace("{inside}", alloc).replace("{outside}", ""))
    outside = run(text.replace("{outside}", alloc).replace("{inside}", ""))
    assert table(inside) == {(0, 1, "flow", 2): ((0, 0),)}
    assert table(outside) == {
        (0, 1, "flow", 1): ((1, 2),), (0, 1, "flow", 2): ((0, 0),),
        (1, 0, "anti", 1): ((1, 2),), (0, 0, "output", 1): ((1, 2),),
    }  # fmt: skip
    assert sorted({i.buffer.number for i in inside.instances}) == [0, 1, 2]


def test_a_parallel_band_is_one_loop_for_each_of_its_ivs() -> None:
    found = run(
        """
        func.func @f(%A: memref<8xf32>) {
          %c = arith.constant 0.0 : f32
          affine.parallel (%i, %j) = (0, 0) to (3, 4) step (1, 2) {
            affine.store %c, %A[%i + %j] : memref<8xf32>
          }
          return
        }""",
        np.zeros(8, np.float32),
    )
    assert table(found) == {(0, 0, "output", 1): ((2, 2), (-2, -2))}
    assert [i.ivs for i in found.instances] == [(i, j) for i in range(3) for j in (0, 2)]


def test_views_are_traced_to_the_elements_of_their_buffer() -> None:
    found = run(
        """
        memref.global "private" @g : memref<8xf32> = uninitialized
        func.func @f(%A: memref<4x6xf32>) {
          %c = arith.constant 0.0 : f32
          %s = memref.subview %A[1, 2] [2, 2] [2, 2] : memref<4x6xf32> to memref<2x2xf32, strided<[12, 2], offset: 8>>
          %row = memref.subview %A[3, 0] [1, 6] [1, 1] : memref<4x6xf32> to memref<6xf32, strided<[1], offset: 18>>
          %flat = memref.collapse_shape %A [[0, 1]] : memref<4x6xf32> into memref<24xf32>
          %deep = memref.expand_shape %flat [[0, 1, 2]] output_shape [2, 3, 4] : memref<24xf32> into memref<2x3x4xf32>
          %cast = memref.cast %A : memref<4x6xf32> to memref<?x6xf32>
          %re = memref.reinterpret_cast %A to offset: [3], sizes: [2], strides: [5]
            : memref<4x6xf32> to memref<2xf32, strided<[5], offset: 3>>
          %g = memref.get_global @g : memref<8xf32>
          %h = memref.get_global @g : memref<8xf32>
          affine.store %c, %s[1, 1] : memref<2x2xf32, strided<[12, 2], offset: 8>>
          affine.store %c, %row[4] : memref<6xf32, strided<[1], offset: 18>>
          affine.store %c, %flat[22] : memref<24xf32>
          affine.store %c, %deep[1, 2, 2] : memref<2x3x4xf32>
          affine.store %c, %cast[3, 4] : memref<?x6xf32>
          affine.store %c, %re[1] : memref<2xf32, strided<[5], offset: 3>>
          affine.store %c, %g[5] : memref<8xf32>
          affine.store %c, %h[5] : memref<8xf32>
          return
        }""",
        np.zeros((4, 6), np.float32),
    )
    (argument,) = found.function.args
    places = [(i.buffer.origin, *i.elements) for i in found.instances]
    assert places == [(argument, (3, 4))] * 5 + [(argument, (1, 2))] + [("g", (5,))] * 2
    pairs = {(a, b) for a, b, kind, depth in table(found) if (kind, depth) == ("output", 1)}
    assert pairs == {(a, b) for b in range(5) for a in range(b)} | {(6, 7)}


def test_vectors_touch_all_their_lanes_and_transfers_those_that_exist() -> None:
    found = run(
        """
        func.func @f(%A: memref<4x6xf32>) {
          %c = arith.constant 0.0 : f32
          %i = arith.constant 3 : index
          %j = arith.constant 4 : index
          %v = affine.vector_load %A[1, 2] : memref<4x6xf32>, vector<4xf32>
          %w = affine.vector_load %A[2, 1] : memref<4x6xf32>, vector<2x3xf32>
          %far = arith.constant 6 : index
          %x = vector.transfer_read %A[%i, %j], %c {in_bounds = [false]} : memref<4x6xf32>, vector<4xf32>
          vector.transfer_write %v, %A[%i, %j] {in_bounds = [false], permutation_map = affine_map<(d0, d1) -> (d0)>}
            : vector<4xf32>, memref<4x6xf32>
          %outside = vector.transfer_read %A[%i, %far], %c {in_bounds = [false]} : memref<4x6xf32>, vector<4xf32>
          return
        }""",
        np.zeros((4, 6), np.float32),
    )
    assert [sorted(i.elements) for i in found.instances] == [
        [(1, 2), (1, 3), (1, 4), (1, 5)],
        [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3)],
        [(3, 4), (3, 5)],
        [(3, 4)],
    ]


CALLS = """
    func.func private @outside(memref<4xf32>)
    func.func private @inside(%X: memref<4xf32>, %Y: memref<4xf32>) {
      affine.for %k = 0 to 2 {
        %x = affine.load %X[%k] : memref<4xf32>
        affine.store %x, %Y[%k + 1] : memref<4xf32>
      }
      return
    }
    func.func @f(%A: memref<4xf32>, %B: memref<4xf32>) {
      affine.for %i = 0 to 2 {
        func.call @inside(%A, %B) : (memref<4xf32>, memref<4xf32>) -> ()
      }
      func.call @outside(%A) : (memref<4xf32>) -> ()
      return
    }"""


def test_a_call_does_what_the_called_function_does() -> None:
    found = run(CALLS, np.zeros(4, np.float32), np.zeros(4, np.float32), outside=lambda a: None)
    a, b = found.function.args
    made = [(i.op.callee, i.role, i.ivs, i.buffer.origin, len(i.elements), i.execution) for i in found.instances]
    assert made[:4] == [
        ("inside", "read", (0,), a, 1, 1), ("inside", "write", (0,), b, 1, 1),
        ("inside", "read", (0,), a, 1, 1), ("inside", "write", (0,), b, 1, 1),
    ]  # fmt: skip
    assert made[8:] == [("outside", "read", (), a, 4, 3), ("outside", "write", (), a, 4, 3)]
    # What one execution of a call does is no dependence: the only one here is between iterations.
    assert table(found) == {(0, 0, "output", 1): ((1, 1),), (0, 1, "anti", 1): ()}


def test_a_copy_by_dma_takes_until_it_is_waited_for() -> None:
    found = run(
        """
        func.func @f(%A: memref<4xf32>) {
          %L = memref.alloc() : memref<4xf32, 1>
          %M = memref.alloc() : memref<4xf32>
          %tag = memref.alloc() : memref<1xi32>
          %n = arith.constant 2 : index
          affine.dma_start %A[1], %L[2], %tag[0], %n : memref<4xf32>, memref<4xf32, 1>, memref<1xi32>
          affine.dma_wait %tag[0], %n : memref<1xi32>
          %x = affine.load %L[2] : memref<4xf32, 1>
          affine.store %x, %A[0] : memref<4xf32>
          affine.store %x, %A[1] : memref<4xf32>
          memref.copy %A, %M : memref<4xf32> to memref<4xf32>
          return
        }""",
        np.zeros(4, np.float32),
    )
    start, wait, load, before, at, copy = range(6)
    assert set(table(found)) == {
        (start, wait, "flow", 1), (start, wait, "output", 1), (start, load, "flow", 1), (wait, load, "flow", 1),
        (start, at, "anti", 1), (wait, at, "anti", 1), (before, copy, "flow", 1), (at, copy, "flow", 1),
    }  # fmt: skip


def test_a_view_of_bytes_touches_all_bytes_of_an_element() -> None:
    found = run(
        """
        func.func @f(%A: memref<16xi8>) {
          %c = arith.constant 0.0 : f32
          %four = arith.constant 4 : index
          %V = memref.view %A[%four][] : memref<16xi8> to memref<3xf32>
          affine.store %c, %V[1] : memref<3xf32>
          return
        }""",
        np.zeros(16, np.int8),
    )
    assert [sorted(i.elements) for i in found.instances] == [[(8,), (9,), (10,), (11,)]]


def test_masks_leave_out_and_an_atomic_update_reads_and_writes() -> None:
    found = run(
        """
        func.func @f(%A: memref<2x4xf32>) {
          %c = arith.constant 0.0 : f32
          %z = arith.constant 0 : index
          %i = arith.constant 1 : index
          %m = arith.constant dense<[true, false, true]> : vector<3xi1>
          %p = arith.constant dense<0.0> : vector<3xf32>
          %v = vector.maskedload %A[%i, %i], %m, %p : memref<2x4xf32>, vector<3xi1>, vector<3xf32> into vector<3xf32>
          vector.maskedstore %A[%z, %i], %m, %v : memref<2x4xf32>, vector<3xi1>, vector<3xf32>
          %w = vector.transfer_read %A[%i, %z], %c, %m {in_bounds = [true]} : memref<2x4xf32>, vector<3xf32>
          vector.store %v, %A[%i, %i] : memref<2x4xf32>, vector<3xf32>
          %r = memref.atomic_rmw addf %c, %A[%i, %i] : (f32, memref<2x4xf32>) -> f32
          return
        }""",
        np.zeros((2, 4), np.float32),
    )
    assert [(i.role, sorted(i.elements)) for i in found.instances] == [
        ("read", [(1, 1), (1, 3)]),
        ("write", [(0, 1), (0, 3)]),
        ("read", [(1, 0), (1, 2)]),
        ("write", [(1, 1), (1, 2), (1, 3)]),
        ("read", [(1, 1)]),
        ("write", [(1, 1)]),
    ]
    assert [i.execution for i in found.instances] == [1, 2, 3, 4, 5, 5]


def test_the_symbols_are_the_indices_at_the_top() -> None:
    found = run(
        """
        func.func @f(%I: memref<4xindex>, %n: index) {
          %two = arith.constant 2 : index
          %m = affine.max affine_map<()[s0] -> (s0, 3)>()[%n]
          %l = affine.load %I[symbol(%m)] : memref<4xindex>
          affine.for %i = 0 to %l {
            %a = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
          }
          return
        }""",
        np.array([7, 7, 7, 5]),
        1,
    )
    assert list(found.symbols.values()) == [1, 2, 3, 5]


def test_an_operation_that_is_not_known_is_refused() -> None:
    text = """
        func.func @f(%A: memref<8xf32>, %s: memref<1xindex>) {
          %c = memref.reshape %A(%s) : (memref<8xf32>, memref<1xindex>) -> memref<8xf32>
          return
        }"""
    with pytest.raises(NotImplementedError, match=r"what memref\.reshape touches is not known here"):
        run(text, np.zeros(8, np.float32), np.array([8]))


@pytest.mark.parametrize("seed", some(range(40), 15))
def test_dependences_are_those_of_the_definition(seed: int) -> None:
    """One pair of instances after the other, by the words of `Query`."""
    found = generate(seed).trace()
    brute = Brute(found)
    some = [i for i in found.instances if len(i.elements) < 20][:150]
    distances: dict[Query, list[tuple[int, ...]]] = defaultdict(list)
    for a, b in product(some, some):
        if a.buffer != b.buffer or not a.elements & b.elements:
            continue
        common = len(brute.common(a.op, b.op))
        difference = tuple(q - p for p, q in zip(a.ivs[:common], b.ivs[:common], strict=True))
        depth = next((k + 1 for k, d in enumerate(difference) if d), common + 1)
        first = a.execution < b.execution if depth == common + 1 else difference[depth - 1] > 0
        if first:
            distances[Query(a.op, b.op, KINDS[a.role, b.role], depth)].append(difference)
    part = Brute(replace(found, instances=tuple(some)))
    assert part.dependences == {
        query: tuple((min(ends), max(ends)) for ends in zip(*of, strict=True)) for query, of in distances.items()
    }


KINDS = {roles: kind for kind, roles in ROLES.items()}


@pytest.mark.parametrize("seed", some(range(60), 20))
def test_what_is_read_and_written_is_what_counts(seed: int) -> None:
    """Only elements that are written change, and only those that are read before they are written matter."""
    program = generate(seed)
    found = program.trace()
    before, after, others, others_after = (program.arguments() for _ in range(4))
    written = {(i.buffer.origin, element) for i in found.instances if i.role == "write" for element in i.elements}
    read = {(i.buffer.origin, element) for (i, element), writer in Brute(found).last_writers.items() if writer is None}
    random = np.random.default_rng(seed)
    for value, array, same in zip(program.function.args, others, others_after, strict=True):
        if isinstance(array, np.ndarray) and array.dtype == np.float32:
            for element in np.ndindex(*array.shape):
                if (value, element) not in read:
                    array[element] = same[element] = random.standard_normal()
    run_function(program, after)
    run_function(program, others_after)
    for value, *arrays in zip(program.function.args, before, after, others, others_after, strict=True):
        if isinstance(arrays[0], np.ndarray):
            for element in np.ndindex(*arrays[0].shape):
                first, second, third, fourth = (array[element] for array in arrays)
                if (value, element) in written:
                    np.testing.assert_equal(fourth, second)
                else:
                    assert (first, third) == (second, fourth)


def run_function(program: Program, given: tuple[Argument, ...]) -> None:
    """Change the arguments as the program does."""
    interpret(program.function, *given, module=program.module, externals=program.externals, uninitialised="poison")
