"""Cholesky, LU and trmm with a symbolic size: interchanged, tiled and jammed, right at every size from 0 to 40.

Small sizes by the interpreter, refusals, and texts are in tests/passes/transforms/test_tile.py,
test_affine_loop_unroll_jam.py and test_reordering.py.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache, partial
from itertools import permutations

import numpy as np
import pytest

from affdsl.codegen.c.emit import emit_jit
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import clone, rewrite, walk, with_fields
from affdsl.ir.types import F64, INDEX, MemRefType
from affdsl.ir.verifier import verify
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.interchange import permute
from affdsl.passes.transforms.tile import tile
from affdsl.passes.transforms.unroll_jam import unroll_jam
from tests.codegen.c.compare import compile_silently
from tests.harness.reading import loops as every_loop
from tests.oracles import require
from tests.passes.transforms.tile_programs import TRIANGLES, band, loops, triangle

SIZES = range(41)
TILES = ((3, 5, 2), (8, 1, 7))
FACTORS = (2, 3)
MATRIX = MemRefType((None, None), F64)

INTERCHANGED = {
    "cholesky": "", "lu": "k2 j2", "lu_kij": "i k", "trmm": "j i",
    "cholesky_update": "k j i, i k j, i j k, j k i, j i k, j i",
}  # fmt: skip
"""The orders of perfect bands that are legal: of Cholesky itself, no band has more than one loop."""
JAMMED = {"cholesky": "k k2", "lu": "k j2 k2", "lu_kij": "i j", "cholesky_update": "k i j", "trmm": "i j k"}
"""The loops that may be unrolled and jammed."""


def bands(function: func.Func) -> list[list[Value]]:
    return [band(op) for op in walk(function) if isinstance(op, affine.For)]


@cache
def variants(name: str) -> dict[str, func.Func]:
    """A kernel as it is, and after each step that is legal."""
    before = triangle(name)
    dependences = Dependences(before)
    made = {"as it is": before}
    for ivs in bands(before):
        for order in permutations(ivs):
            if list(order) != ivs:
                try:
                    made[f"order {' '.join(v.hint for v in order)}"] = permute(before, order)
                except IllegalTransform:
                    continue
        for sizes, separate in zip(TILES, (True, False), strict=True):
            said = f"tile {' '.join(v.hint for v in ivs)} {sizes[: len(ivs)]}{' separate' if separate else ''}"
            made[said] = tile(before, ivs, sizes[: len(ivs)], separate=separate, module=dependences.accesses.module)
    for hint, iv in loops(before).items():
        for factor in FACTORS:
            try:
                made[f"jam {hint} {factor}"] = unroll_jam(before, iv, factor, module=dependences.accesses.module)
            except IllegalTransform:
                continue
    for said, function in list(made.items()):
        if said.startswith("order"):
            for ivs in (b for b in bands(function) if len(b) > 1):
                made[f"{said}, tile {len(ivs)} of them"] = tile(function, ivs, TILES[0][: len(ivs)], separate=True)
    return made


def test_which_steps_are_legal():
    for name in TRIANGLES:
        said = [s.removeprefix("order ") for s in variants(name) if s.startswith("order") and "tile" not in s]
        assert sorted(said) == sorted(filter(None, INTERCHANGED[name].split(", "))), name
        jams = [s for s in variants(name) if s.startswith("jam")]
        assert jams == [f"jam {hint} {factor}" for hint in JAMMED[name].split() for factor in FACTORS], name
    assert sum(len(variants(name)) for name in TRIANGLES) > 60


def choice(name: str) -> func.Module:
    """A function @every(number, A, B, n, alpha) that runs one of the variants of a kernel, with these."""
    functions: list[Op] = []
    number, a, b, n, alpha = (
        Value(type, hint)
        for type, hint in ((INDEX, "number"), (MATRIX, "A"), (MATRIX, "B"), (INDEX, "n"), (F64, "alpha"))
    )
    calls: list[Op] = []
    for k, variant in enumerate(variants(name).values()):
        symbol = f"variant{k}"
        functions.append(_sized(with_fields(clone(variant, {}), symbol=symbol, private=True)))
        given = (a, b, n, alpha) if len(variant.args) == 4 else (a, n)
        chosen = Constraint(Affine.of(number) - k, equality=True)
        calls.append(affine.If((chosen,), (func.Call((), symbol, given),)))
    every = _sized(func.Func("every", (number, a, b, n, alpha), (*calls, func.Return(()))))
    module = func.Module((*functions, every))
    verify(module)
    return module


def _sized(function: func.Func) -> func.Func:
    """A function whose contract says that its matrices have n rows and columns."""
    (n,) = (a for a in function.args if a.hint == "n")
    sizes = tuple((Affine.of(n), Affine.of(n)) if isinstance(a.type, MemRefType) else None for a in function.args)
    return with_fields(function, shapes=sizes)


def given(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two matrices, the first of which has all factorisations and small elements."""
    random = np.random.default_rng(n)
    half = random.random((n, n))
    return (half @ half.T + n * np.eye(n)) / (20 * n + 1), random.random((n, n))


def called(library: ctypes.CDLL, number: int, a: np.ndarray, b: np.ndarray, n: int) -> int:
    """Run a compiled variant; gives the status."""
    held = [np.array(number), a, b, np.array(n), np.array(1.5)]
    pointers = (ctypes.c_void_p * len(held))(*(each.ctypes.data for each in held))
    status: int = library.affdsl_entry(pointers, (ctypes.c_int64 * 4)(n, n, n, n))
    return status


def expected(name: str, a: np.ndarray, b: np.ndarray, alpha: float) -> np.ndarray:
    """What a kernel computes, by NumPy: the part of its result that it defines."""
    unit = np.eye(len(a))
    match name:
        case "cholesky":
            return np.linalg.cholesky(a)
        case "trmm":
            return alpha * (np.tril(a, -1).T + unit) @ b
        case "lu" | "lu_kij":
            left = a.copy()
            for k in range(len(a)):
                left[k + 1 :, k] /= left[k, k]
                left[k + 1 :, k + 1 :] -= np.outer(left[k + 1 :, k], left[k, k + 1 :])
            return left
        case _:
            left = a.copy()
            for k in range(len(a)):
                left[k + 1 :, k + 1 :] -= np.tril(np.outer(left[k + 1 :, k], left[k + 1 :, k]))
            return np.tril(left)


@pytest.mark.parametrize("name", TRIANGLES)
def test_each_variant_is_right_at_every_size(name, tmp_path):
    module = choice(name)
    library = ctypes.CDLL(str(compile_silently(emit_jit(module, "every"), tmp_path, require("gcc"), "-O0")))
    for n in SIZES:
        wanted: list[bytes] = []
        for number, said in enumerate(variants(name)):
            a, b = given(n)
            assert called(library, number, a, b, n) == 0
            if number == 0:
                result = b if name == "trmm" else a if name.startswith("lu") else np.tril(a)
                np.testing.assert_allclose(result, expected(name, *given(n), 1.5), rtol=1e-8, atol=1e-8)
                wanted = [a.tobytes(), b.tobytes()]
            assert [a.tobytes(), b.tobytes()] == wanted, f"{said}, n = {n}"


def separated(name: str) -> Iterator[tuple[str, func.Func, int]]:
    """A kernel in tiles with full ones apart, each of its bands, and how many loops that has."""
    before = triangle(name)
    dependences = Dependences(before)
    for ivs in bands(before):
        made = tile(before, ivs, (4,) * len(ivs), separate=True, module=dependences.accesses.module)
        yield " ".join(v.hint for v in ivs), made, len(ivs)


def full_tiles(function: func.Func) -> list[affine.If]:
    """The conditions that ask whether a tile is full."""
    return [op for op in walk(function) if isinstance(op, affine.If)]


@pytest.mark.parametrize("name", TRIANGLES)
def test_full_tiles_have_no_minimum_and_no_condition(name):
    for said, function, depth in separated(name):
        (choice,) = full_tiles(function)
        ops = [op for each in choice.then for op in walk(each)]
        assert not any(isinstance(op, affine.If | affine.Min | affine.Max) for op in ops), said
        own = [op for op in ops if isinstance(op, affine.For)][:depth]
        assert len(own) == depth
        for loop in own:
            (low,), (high,) = loop.lower, loop.upper
            assert high - low == Affine.of(4), said


def counting(function: func.Func) -> tuple[func.Module, dict[str, int]]:
    """A module where each test of a tile is counted, and each turn of the innermost loop of a full one."""
    counts = {"tests": 0, "full": 0, "points": 0}

    def rule(op: Op) -> tuple[Op, ...] | None:
        if isinstance(op, affine.If):
            inner: Op = op.then[0]
            innermost = [o for o in walk(inner) if isinstance(o, affine.For)]
            chain = [innermost[0]]
            while len(chain[-1].body) == 1 and isinstance(chain[-1].body[0], affine.For):
                chain.append(chain[-1].body[0])
            last = chain[-1]
            counted = rewrite(
                op, lambda o: with_fields(o, body=(func.Call((), "points", ()), *o.body)) if o is last else None
            )
            return (func.Call((), "tests", ()), with_fields(counted, then=(func.Call((), "full", ()), *counted.then)))
        return None

    made = rewrite(function, rule)
    externals = [func.Func(name, (), (), private=True, external=True) for name in counts]
    return func.Module((*externals, made)), counts


@pytest.mark.parametrize("name", TRIANGLES)
def test_tests_are_counted_for_tiles_and_not_for_points(name):
    n = 23
    a, b = given(n)
    for said, function, depth in separated(name):
        module, counts = counting(function)
        verify(module)
        args = (a.copy(), b.copy(), n, 1.5) if len(function.args) == 4 else (a.copy(), n)
        run(module.functions[-1], *args, module=module, externals={key: partial(_count, counts, key) for key in counts})
        assert counts["points"] == 4**depth * counts["full"], said
        assert 0 < counts["full"] <= counts["tests"], said
        # One test for each tile, in each turn of the loops around the band.
        assert counts["tests"] <= (-(-n // 4)) ** depth * n ** _around(function), said


def _count(counts: dict[str, int], key: str) -> None:
    counts[key] += 1


def _around(function: func.Func) -> int:
    """How many loops are around the loops over tiles."""

    def depth(op: Op, so_far: int) -> int | None:
        if isinstance(op, affine.If):
            return so_far
        own = isinstance(op, affine.For) and not op.iv.hint.endswith("_tile")
        found = [depth(inner, so_far + own) for block in op.blocks() for inner in block]
        return next((d for d in found if d is not None), None)

    found = depth(function, 0)
    assert found is not None
    return found


@pytest.mark.parametrize("name", TRIANGLES)
def test_jammed_loops_have_no_minimum_and_nothing_has_a_condition(name):
    """Where all copies run together, a loop has one lower and one upper bound; tails are loops of their own."""
    own = {loop.iv: _accesses(loop) for loop in every_loop(variants(name)["as it is"])}
    for said, made in variants(name).items():
        if not said.startswith("jam"):
            continue
        factor = int(said.split()[-1])
        assert not any(isinstance(op, affine.If | affine.Min | affine.Max) for op in walk(made)), said
        together = [loop for loop in every_loop(made) if 0 < own.get(loop.iv, 0) * factor == _accesses(loop)]
        assert together, said
        for loop in together:
            assert len(loop.lower) == len(loop.upper) == 1, said


def _accesses(loop: affine.For) -> int:
    """How many loads and stores stand right in the body of a loop."""
    return sum(isinstance(op, affine.Load | affine.Store) for op in loop.body)
