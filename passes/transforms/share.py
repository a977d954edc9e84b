"""What the copies of a body compute alike is computed once, and what one has stored the next one need not load.

C compilers keep whole vectors in registers where they know that arrays do not overlap, but not under masks, where
processors wait for a store until it is done; and gcc and clang forget what `restrict` says in a loop on threads: the
quirk `restrict_on_threads` of `affdsl.codegen.c.quirks`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import TypeAlias

from affdsl.ir.core import UNTOUCHED, Block, Op, roles
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import gathered, kept, map_blocks, substitute, walk
from affdsl.ir.types import Type
from affdsl.passes.analysis.effects import NONE, Effects, effects, may_do_anything
from affdsl.passes.analysis.storage import Storage, storage_of

_NO_PART = frozenset({"location", "written"})
_STORES = (vector.MaskedStore, affine.VectorStore)
Place: TypeAlias = tuple[Value, tuple[Value, ...] | tuple[Affine, ...], Value | Type]
"""A buffer, the indices of a first element, and a mask, or the type of a whole vector."""


def shared(function: Func, before: Func, module: Module | None = None) -> Func:
    """The function where the blocks that a step has made or changed compute and load nothing twice.

        a = A[i]; B[i] = a * x; b = A[i]; C[i] = b * y   ->   a = A[i]; B[i] = a * x; C[i] = a * y

    A load gives what an equal one before it in its block gave, if nothing between them may write to its buffer; and a
    load of a vector what was stored at its place before it:

        store A[i], mask, x; y = load A[i], mask; z = f(y); store A[i], mask, z   ->   z = f(x); store A[i], mask, z

    That is where both have the same mask, or none and the same lanes. Lanes that the mask leaves out are those that the
    load passes through. A store that another one replaces goes, if nothing between them may read the buffer. A distance
    from another index goes into the subscripts. What else stands in the function stays as it is.

    References
    ----------
    Briggs, Cooper, Simpson, "Value numbering", Software: Practice and Experience 27 (1997).

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
    ...     affine.for %i = 0 to 8 {
    ...       %a = affine.load %A[%i] : memref<9xf32>
    ...       affine.store %a, %B[%i] : memref<9xf32>
    ...       %b = affine.load %A[%i] : memref<9xf32>
    ...       %j = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    ...       affine.store %b, %B[%j] : memref<9xf32>
    ...     }
    ...     return
    ... }''').functions[0]
    >>> print(shared(f, Func("g", (), ())))
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      affine.for %i = 0 to 8 {
        %a = affine.load %A[%i] : memref<9xf32>
        affine.store %a, %B[%i] : memref<9xf32>
        affine.store %a, %B[%i + 1] : memref<9xf32>
      }
      return
    }
    """
    return _Sharing(function, before, module).function


@dataclass
class _Stored:
    """What a place holds, and where in the new block it was stored, as long as nothing may have read it."""

    value: Value
    at: int | None


class _Sharing:
    """One walk through the blocks of a function, with the values that are known at each place."""

    def __init__(self, function: Func, before: Func, module: Module | None) -> None:
        self._given = function, module
        self._storage: Storage | None = None
        self._old = {id(op) for op in walk(before)}
        self._plain = {*gathered(function, _plain_operands)}
        self._aliases: dict[tuple[Value, Value], bool] = {}
        self._new: dict[Value, Term] = {}
        self._pure: dict[Hashable, tuple[Value, ...]] = {}
        body = self._block(function.body, {})
        self.function = function if body is function.body else map_blocks(function, lambda _: body)

    def _block(self, block: Block, loads: dict[Hashable, Op]) -> Block:
        """A block where nothing is computed twice. `loads` are those whose values still stand, and changes."""
        outside = dict(self._pure)
        is_new = any(id(op) not in self._old for op in block)
        found: list[Op | None] = []
        stored: dict[Place, _Stored] = {}
        for op in block:
            made = substitute(op, self._new)
            place = _place_of(made) if is_new else None
            before = None if place is None else stored.get(place)
            if before is not None and isinstance(made, affine.VectorLoad):
                self._new[made.result] = before.value
                continue
            if before is not None and isinstance(made, vector.MaskedLoad):
                made = arith.Select(made.result, made.mask, before.value, made.pass_thru, location=made.location)
            if self._is_known(made, loads, is_new=is_new):
                continue
            made = made if id(made) in self._old else self._with_blocks(made, loads)
            self._forget(made, loads, stored)
            if place is not None and isinstance(made, _STORES):
                if before is not None and before.at is not None:
                    found[before.at] = None
                stored[place] = _Stored(made.value, len(found))
            found.append(made)
        self._pure = outside
        return kept(block, (op for op in found if op is not None))

    def _with_blocks(self, op: Op, loads: dict[Hashable, Op]) -> Op:
        """An operation with its blocks looked through; of a condition, they go on from what is known before it."""
        if not op.block_fields or may_do_anything(op):
            return op
        goes_on = isinstance(op, affine.If)
        return map_blocks(op, lambda block: self._block(block, dict(loads) if goes_on else {}))

    def _is_known(self, op: Op, loads: dict[Hashable, Op], *, is_new: bool) -> bool:
        """Whether an operation can be left out of a block that is new, as what it gives is known."""
        if op.block_fields or op.is_terminator:
            return False
        if is_new and isinstance(op, affine.Apply) and op.result not in self._plain and _is_distance(op.expr):
            self._new[op.result] = op.expr
            return True
        results, found = tuple(op.defines()), effects(op)
        if not results or not (found == NONE or _only_reads(found)):
            return False
        key = _key(op)
        if found == NONE:
            known = self._pure.setdefault(key, results)
        else:
            known = tuple(loads.setdefault(key, op).defines())
        if known == results or not is_new:
            return False
        self._new.update(zip(results, known, strict=True))
        return True

    def _forget(self, op: Op, loads: dict[Hashable, Op], stored: dict[Place, _Stored]) -> None:
        """Leave out what an operation, or what is inside of it, may write, and remember what it may have read."""
        for inner in walk(op) if loads or stored else ():
            if inner.memory is UNTOUCHED:
                continue
            found = effects(inner)
            if found.unknown and not inner.is_terminator:
                loads.clear()
                stored.clear()
            for written in (*found.writes, *found.frees):
                for key, load in list(loads.items()):
                    if any(self._may_alias(written, read) for read in effects(load).reads):
                        del loads[key]
                for place in [each for each in stored if self._may_alias(written, each[0])]:
                    del stored[place]
            for place, last in stored.items():
                if any(self._may_alias(read, place[0]) for read in found.reads):
                    last.at = None

    def _may_alias(self, a: Value, b: Value) -> bool:
        found = a is b or self._aliases.get((a, b))
        if found is None:
            if self._storage is None:
                self._storage = storage_of(*self._given)
            found = self._storage.may_share(a, b)
            self._aliases[a, b] = found
        return found


def _place_of(op: Op) -> Place | None:
    """The place of a vector that is loaded or stored."""
    match op:
        case vector.MaskedLoad() | vector.MaskedStore():
            return op.memref, op.indices, op.mask
        case affine.VectorLoad() | affine.VectorStore():
            return op.memref, op.index, (op.result if isinstance(op, affine.VectorLoad) else op.value).type
    return None


def _only_reads(found: Effects) -> bool:
    return bool(found.reads) and not (found.unknown or found.writes or found.allocates or found.frees)


def _is_distance(expr: Affine) -> bool:
    """Whether an expression is a number, or a value and a number."""
    return not expr.terms or (len(expr.terms) == 1 and isinstance(expr.terms[0][0], Value) and expr.terms[0][1] == 1)


def _plain_operands(op: Op) -> list[Value]:
    """What an operation reads where no expression may stand."""
    found: list[Value] = []
    for name in roles(type(op)).operands:
        part = getattr(op, name)
        found += [v for v in (part if isinstance(part, tuple) else (part,)) if isinstance(v, Value)]
    return found


def _key(op: Op) -> Hashable:
    """What operations have in common that compute the same; numbers by their text, since 0.0 == -0.0 and 1 == True."""
    role = roles(type(op))
    parts = [getattr(op, f.name) for f in fields(op) if f.name not in _NO_PART and f.name not in role.results]
    types = tuple(v.type for v in op.defines())
    return type(op), types, tuple(repr(p) if _is_number(p) else p for p in parts)


def _is_number(part: object) -> bool:
    return isinstance(part, int | float | complex) or (isinstance(part, tuple) and bool(part) and _is_number(part[0]))
