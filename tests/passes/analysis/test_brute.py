"""The brute-force oracle beside the definition of dependences, pair by pair, and beside what arrays show of runs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from affdsl.ir.interpreter import Argument
from affdsl.ir.interpreter import run as interpret
from affdsl.ir.interpreter.externals import External
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests.effort import some
from tests.passes.analysis.brute import ROLES, Brute, Query
from tests.passes.analysis.programs import Program, generate
from tests.passes.analysis.traced import Trace, trace


def run(text: str, *args: Argument, **externals: External) -> Trace:
    """What @f of a module does."""
    module = parse(text)
    verify(module)
    function = next(f for f in module.functions if f.symbol == "f")
    return trace(function, *args, module=module, externals=externals)


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
    second = found.instances[1].op
    assert [w.op for w in Brute(found).last_writers.values() if w] == [second]


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
    brute = Brute(found)
    accessing = {op for op, _ in brute.accesses()}
    start, wait, load, before, at, copy = (op for op in walk(found.function) if op in accessing)
    assert {(q.source, q.sink, q.kind, q.depth) for q in brute.dependences if q.kind != "input"} == {
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
