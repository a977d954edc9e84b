"""What the model says of schedules whose sizes are not known: of some sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

from affdsl.codegen.c.emit import in_registers
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import holders, walk, with_fields
from affdsl.ir.types import IndexType, MemRefType
from affdsl.optimize.machine import Machine, bits_of
from affdsl.optimize.model.cost import Model
from affdsl.schedule.schedule import Schedule

SIZE = 300
"""What each size is, and each index argument: no powers of two, of which rows fall onto the same lines of a cache."""
LONG = 4000
"""The same for loops that hold no others, of which there seldom are so few iterations."""
FLOAT = 4
"""Bytes of the elements for which `SIZE` is. Of narrower ones there are so many more that a row has as many bytes."""


def lines_begin(module: Module) -> dict[Value, int]:
    """Where arrays lie, for loops that begin with their lines (`align`): as if each were at the start of one."""
    return {op.result: 0 for op in walk(module) if isinstance(op, memref.ExtractAlignedPointerAsIndex)}


def standing_in(s: Schedule, *, but_not_in: Schedule | None = None) -> list[Op]:
    """The nests of a schedule, without those that stand in another one as well."""
    others = set() if but_not_in is None else {id(op) for op in but_not_in.function.body}
    return [op for op in s.function.body if any(op.blocks()) and id(op) not in others]


def sizes_that_run(s: Schedule, *, but_not_in: Schedule) -> dict[Value, int]:
    """Numbers for sizes with which what stands in a schedule alone, and not in another one, runs.

    They are the usual ones, but larger where that stands in the version of a loop for large sizes, or in a loop from
    one size to another, and one of them smaller where it stands in the other version: it would not run, whatever it is,
    with others.
    """
    others = {*walk(but_not_in.function)}
    nests = standing_in(s, but_not_in=but_not_in)
    is_flat = max(map(_depth, nests), default=0) == 1
    arrays = [bits_of(v.type.element) for v in s.function.args if isinstance(v.type, MemRefType)]
    widest = max(1, max(arrays, default=0) // 8)
    sizes = _all_sizes(s, LONG if is_flat else SIZE * max(1, FLOAT // widest))

    def is_changed(block: Block) -> bool:
        return any(op not in others for op in block)

    def enter(block: Block) -> None:
        for op in block:
            if op in others:
                continue
            if isinstance(op, affine.If) and is_changed(op.then) and not is_changed(op.orelse):
                for constraint in op.condition:
                    _enlarge(sizes, constraint.expr)
            elif isinstance(op, affine.If) and is_changed(op.orelse) and not is_changed(op.then):
                _make_fail(sizes, op.condition)
            for inside in op.blocks():
                enter(inside)

    enter(s.function.body)
    for op in (each for nest in nests for each in holders(nest) if isinstance(each, affine.For)):
        for trips in (upper - lower for lower in op.lower for upper in op.upper):
            if sizes.keys() >= {*trips.values()} and trips.evaluate(sizes) <= 0:
                _enlarge(sizes, trips - SIZE)
    return sizes


def sizes_of_version(s: Schedule, before: Schedule, sizes: Mapping[Value, int]) -> dict[Value, int]:
    """Sizes that are larger where a schedule has a version of a nest for larger ones, beside the nest as it was before.

    With others it would be as it was, whatever the version is.
    """
    was = [type(op) for nest in standing_in(before, but_not_in=s) for op in walk(nest)]
    found = dict(sizes)
    for op in standing_in(s, but_not_in=before):
        if isinstance(op, affine.If) and [type(inner) for each in op.orelse for inner in walk(each)] == was:
            for constraint in op.condition:
                _enlarge(found, constraint.expr)
    return found


def _enlarge(sizes: dict[Value, int], expr: Affine) -> None:
    """Make the sizes larger of which there are so many in an expression, until it is not negative."""
    if not sizes.keys() >= {*expr.values()}:
        return
    for atom, factor in expr.terms:
        missing = -expr.evaluate(sizes)
        if isinstance(atom, Value) and factor > 0 and missing > 0:
            sizes[atom] -= -missing // factor


def _make_fail(sizes: dict[Value, int], condition: Sequence[Constraint]) -> None:
    """Make the size smaller that is asked for last in a condition, alone, until it does not hold."""
    for expr in (c.expr for c in reversed(condition) if not c.equality):
        if len(expr.terms) == 1 and sizes.keys() >= {*expr.values()}:
            ((size, factor),) = expr.terms
            if isinstance(size, Value) and factor > 0 and (most := -(expr.constant + 1) // factor) > 0:
                sizes[size] = min(most, sizes[size])
                return


def _all_sizes(s: Schedule, size: int = SIZE) -> dict[Value, int]:
    return {v: size for v in s.function.args if isinstance(v.type, IndexType)}


def _depth(op: Op) -> int:
    """How many loops there are around each other."""
    inside = max((_depth(each) for block in op.blocks() for each in block), default=0)
    return inside + isinstance(op, affine.For | affine.Parallel | scf.For | scf.Parallel | scf.While)


def cycles_of(
    s: Schedule,
    nests: Collection[Op],
    machine: Machine,
    sizes: Mapping[Value, int] | None = None,
    *,
    near: bool = False,
) -> float:
    """How many cycles some nests of a schedule take, for sizes that are all the same unless they are given.

    Raises UncountedError where data decides how often loops run.

    Parameters
    ----------
    near
        Whether all that they touch is in the nearest cache.

    >>> import affdsl as af
    >>> from affdsl.optimize.machine import usual
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def sums(x: af.f64[N, N], y: af.f64[N]):
    ...     with af.for_(N) as i, af.for_(N) as j:
    ...         y[i] += x[i, j]
    >>> machine = usual(af.native_target())
    >>> before, jammed = af.Schedule(sums).scalar_replace("j"), af.Schedule(sums).unroll_jam("i", 4).scalar_replace("j")
    >>> cycles_of(jammed, standing_in(jammed), machine) < cycles_of(before, standing_in(before), machine) / 2
    True
    """
    known = _all_sizes(s) if sizes is None else dict(sizes)
    key, kept = (*nests, *known.items()), _asked.setdefault(s.module, {})
    if key not in kept or kept[key][0].machine != machine:
        kept[key] = (*_modelled(s.module, nests, machine, known), {})
    model, asked, cycles = kept[key]
    if near not in cycles:
        cycles[near] = sum(model.computing(op) if near else model.of(op).cycles for op in asked)
    return cycles[near]


_asked: WeakKeyDictionary[Module, dict[tuple[object, ...], tuple[Model, list[Op], dict[bool, float]]]]
_asked = WeakKeyDictionary()
"""What was found, as long as a program lives: of a candidate it is asked beside several schedules before it."""


def _modelled(
    whole: Module, nests: Collection[Op], machine: Machine, known: dict[Value, int]
) -> tuple[Model, list[Op]]:
    """The model of a program with some nests alone, and these as they are there."""
    function = whole.functions[-1]
    body = tuple(_without_other_nests(function.body, nests))
    others = [op for op in whole.body if op is not function]
    module = in_registers(Module((*others, with_fields(function, body=body))), machine.target.width)
    function = module.functions[-1]
    shapes = {
        v: [e.evaluate(known) for e in shape]
        for v, shape in zip(function.args, function.shapes, strict=False)
        if isinstance(v.type, MemRefType) and shape is not None
    }
    model = Model(module, known | lines_begin(module), shapes, machine)
    pairs = zip((op for op in body if any(op.blocks())), (op for op in function.body if any(op.blocks())), strict=True)
    asked = [split for op, split in pairs if op in nests]  # vectors in it are split, and it stands where it stood
    return model, asked


def _without_other_nests(block: Block, nests: Collection[Op]) -> Iterator[Op]:
    """Some nests of a block, all that they read, and what stands beside them and is made of no other nest.

    What puts together the lanes that another nest leaves stands behind that one, and is left out with it.
    """
    needed, wanted = set[Op](), set[Value]()
    for op in reversed(block):
        if op in nests or not wanted.isdisjoint(op.defines()):
            needed.add(op)
            wanted.update(v for each in walk(op) for v in each.reads())
    gone = set[Value]()
    for op in block:
        if op in needed or not (any(op.blocks()) or gone.intersection(op.reads())):
            yield op
        else:
            gone.update(op.defines())
