"""Vectors of what a loop carries side by side: sums of several rows become lanes, and rows turn in registers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import pairwise

from affdsl.ir.core import UNTOUCHED, Lanewise, Op, roles
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.messages import op_name, shown
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import rewrite, substitute, with_fields
from affdsl.ir.types import FloatType, IntegerType, MemRefType, VectorType
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import name
from affdsl.passes.lowering.shuffles import turned
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.scalar_replace.carried import Index, Load, Store, written_out

Pack = tuple[Value, ...]
"""Values that become the lanes of a vector."""


def slp(function: Func, iv: Value, lanes: int, *, module: Module | None = None) -> Func:
    """The function with values that a loop carries, and makes alike, in the lanes of vectors.

        for j by 2, (a, b): { a' = (a + A[i, j] * x[j]) + A[i, j + 1] * x[j + 1]
                              b' = (b + A[i + 1, j] * x[j]) + A[i + 1, j + 1] * x[j + 1]; yield a', b' }
            ->   for j by 2, v: { p = A[i, j :+ 2]; q = A[i + 1, j :+ 2]
                                  v' = (v + (p[0], q[0]) * x[j]) + (p[1], q[1]) * x[j + 1]; yield v' }

    Each number is computed as it was, in the same order. `unroll_jam` of a loop around makes such values side by side,
    and `scalar_replace` keeps them. What a vector is made of lies in a row already, or is the same in all lanes, or it
    is one column of as many rows: then a square of rows and columns is loaded by rows and turned in registers, which
    takes as many iterations at once as there are lanes (`unroll`). A loop that stores nothing is taken.

    Parameters
    ----------
    iv
        The induction variable of an affine.for that carries values.
    lanes
        How many values each vector has: a power of two, 2 at least.
    module
        What the function stands in, which is not looked at.

    Raises
    ------
    ValueError
        If `lanes` is no such number.
    IllegalTransform
        If the loop carries no values that are made alike, or they are no vectors: with the reason.

    References
    ----------
    Larsen and Amarasinghe, "Exploiting superword level parallelism with multimedia instruction sets", PLDI 2000;
    Eklundh, "A fast computer method for matrix transposing", IEEE Transactions on Computers 1972, for the turn.

    >>> from affdsl.mlir.readers import parse
    >>> function = parse('''func.func @f(%A: memref<2x8xf32>, %x: memref<8xf32>, %a: f32, %b: f32) -> (f32, f32) {
    ...     %s, %t = affine.for %j = 0 to 8 iter_args(%p = %a, %q = %b) -> (f32, f32) {
    ...       %c = affine.load %x[%j] : memref<8xf32>
    ...       %d = arith.mulf %p, %c : f32
    ...       %e = arith.mulf %q, %c : f32
    ...       affine.yield %d, %e : f32, f32
    ...     }
    ...     return %s, %t : f32, f32
    ... }''').functions[0]
    >>> print(slp(function, function.body[0].iv, 2))
    func.func @f(%A: memref<2x8xf32>, %x: memref<8xf32>, %a: f32, %b: f32) -> (f32, f32) {
      %a_0 = vector.from_elements %a, %b : vector<2xf32>
      %0 = affine.for %j = 0 to 8 iter_args(%p = %a_0) -> (vector<2xf32>) {
        %c = affine.load %x[%j] : memref<8xf32>
        %c_0 = vector.broadcast %c : f32 to vector<2xf32>
        %d = arith.mulf %p, %c_0 : vector<2xf32>
        affine.yield %d : vector<2xf32>
      }
      %s = vector.extract %0[0] : f32 from vector<2xf32>
      %t = vector.extract %0[1] : f32 from vector<2xf32>
      return %s, %t : f32, f32
    }
    """
    if lanes < 2 or lanes & (lanes - 1):
        raise ValueError(f"lanes is a power of two, and 2 at least, not {lanes}")
    what = f"make vectors of {lanes} of what loop {name(iv)} carries"
    loop = loop_of(function, iv, what)
    new, values = _Packing(loop, lanes, what).made()
    return renamed(rewrite(function, lambda op: new if op is loop else None), values)


class _Packing:
    """Makes a loop on vectors of one that carries values."""

    def __init__(self, loop: affine.For, lanes: int, what: str) -> None:
        self.loop = loop
        self.lanes = lanes
        self.what = what
        self.index = written_out(loop)
        self.makers = {v: op for op in loop.body for v in op.defines()}
        self.one = _done_again(loop, self.index)
        """Of what is made again what it was the first time."""
        self.before: list[Op] = []
        self.body: list[Op] = []
        self.known: dict[Pack, Value] = {}
        """The vectors, and the scalars of before, each as a pack of one: those that are in `body`, or need not be."""
        self.squares: dict[Pack, tuple[Pack, ...]] = {}
        """Of each column of a square, all of them in their order."""

    def made(self) -> tuple[tuple[Op, ...], dict[Value, Value]]:
        """What stands in place of the loop, and the values that stand for its results. Raises IllegalTransform."""
        loop = self.loop
        if not loop.results:
            raise self.refuse("it carries no values", Proposal((Step("scalar_replace", (loop.iv,)),)))
        for op in loop.body:
            is_quiet = op.memory is UNTOUCHED or isinstance(op, affine.Load) or op.is_terminator
            if not is_quiet or any(True for _ in op.blocks()):
                raise self.refuse(f"{op_name(op)} in it is no load, and does not only compute", op=op)
        (*_, end) = loop.body
        assert isinstance(end, affine.Yield), "a loop with results ends with a yield"
        chunks = self._chunks(end.values)
        inits = [self._outside(tuple(loop.inits[k] for k in chunk)) for chunk in chunks]
        carried = [self._vector(loop.carried[chunk[0]]) for chunk in chunks]
        packs = [tuple(loop.carried[k] for k in chunk) for chunk in chunks]
        self.known |= dict(zip(packs, carried, strict=True))
        in_lanes = {k for chunk in chunks for k in chunk}
        rest = [k for k in range(len(loop.results)) if k not in in_lanes]
        self.known |= {(loop.carried[k],): loop.carried[k] for k in rest}
        last = [self.one.get(v, v) for v in end.values]
        ends = [tuple(last[k] for k in chunk) for chunk in chunks]
        nodes = self._in_order([*ends, *((last[k],) for k in rest)])
        self._find_squares(nodes)
        for node in nodes:
            if node not in self.known:  # another column of its square has made it
                self._emit(node)
        yielded = [*(self.known[each] for each in ends), *(self.known[last[k],] for k in rest)]
        results = [Value(v.type) for v in carried]
        made = with_fields(
            loop,
            body=(*self.body, with_fields(end, values=tuple(yielded))),
            inits=(*inits, *(loop.inits[k] for k in rest)),
            carried=(*carried, *(loop.carried[k] for k in rest)),
            results=(*results, *(loop.results[k] for k in rest)),
            ends=(),
        )
        after: list[Op] = []
        values: dict[Value, Value] = {}
        for chunk, result in zip(chunks, results, strict=True):
            for lane, k in enumerate(chunk):
                values[loop.results[k]] = one = Value(loop.results[k].type, loop.results[k].hint)
                after.append(vector.Extract(one, result, (), (lane,), location=loop.location))
        return (*self.before, made, *after), values

    def refuse(self, reason: str, *legal: Proposal, op: Op | None = None) -> IllegalTransform:
        """That it cannot be done, and why."""
        return refusal(op or self.loop, self.what, reason, *legal)

    # What becomes a vector --------------------------------------------------------------------------------------------

    def _chunks(self, yielded: Sequence[Value]) -> list[list[int]]:
        """The positions of values that are carried, and made alike, as many together as a vector has."""
        alike: dict[int, list[int]] = defaultdict(list)
        numbers: dict[Hashable, int] = {}
        shape: dict[Value, int] = {}
        for v in self.loop.carried:
            shape[v] = numbers.setdefault(("carried", v.type), len(numbers))
        for op in self.loop.body:
            for v in op.defines():
                shape[v] = numbers.setdefault(self._key(op, v, shape), len(numbers))
        for k, v in enumerate(yielded):
            if v in self.makers and isinstance(v.type, FloatType | IntegerType):
                alike[shape[v]].append(k)
        chunks = [
            each[first : first + self.lanes]
            for each in alike.values()
            for first in range(0, len(each) - self.lanes + 1, self.lanes)
        ]
        if not chunks:
            most = max(map(len, alike.values()), default=0)
            raise self.refuse(f"at most {most} of the values that it carries are made alike: unroll_jam makes more")
        return sorted(chunks)

    def _key(self, op: Op, value: Value, shape: dict[Value, int]) -> Hashable:
        """What an operation has in common with others of which a vector may be."""
        match op:
            case affine.Load():
                return "load", op.memref
            case Lanewise():
                operands = (shape.get(getattr(op, each)) for each in roles(type(op)).operands)
                return type(op), _attributes(op), value.type, *operands
        return "one", value

    def _in_order(self, wanted: Sequence[Pack]) -> list[Pack]:
        """Packs and single values, each behind what it is made of."""
        found: dict[Pack, None] = {}
        pending = [(pack, False) for pack in reversed(wanted)]
        while pending:
            pack, is_ready = pending.pop()
            if pack in found or pack in self.known:
                continue
            if is_ready:
                found[pack] = None
                continue
            pending.append((pack, True))
            pending += [(each, False) for each in reversed([*self._needs(pack)])]
        return list(found)

    def _needs(self, pack: Pack) -> Iterator[Pack]:
        """What a pack is made of. Raises IllegalTransform where it is no vector."""
        first, makers = pack[0], [self.makers.get(v) for v in pack]
        if len(pack) == 1:
            if first in self.loop.carried:
                raise self.refuse(f"{shown(first)}, which is a lane, is used in another one, too")
            op = makers[0]
            reads = [self.one.get(v, v) for v in op.reads()] if op else []
            yield from ((v,) for v in reads if v in self.makers or v in self.loop.carried)
        elif not all(isinstance(v.type, FloatType | IntegerType) for v in pack):
            raise self.refuse(f"{shown(first)} is no number that may be a lane")
        elif len({*pack}) == 1:
            yield (first,)
        elif all(op is None for op in makers) and not any(v in self.loop.carried for v in pack):
            return  # they are known before the loop
        elif all(isinstance(op, affine.Load) for op in makers):
            if any(v in self.makers for index in self._places(pack) for e in index for v in e.values()):
                raise self.refuse(f"the place of {shown(first)} is computed in the loop", op=makers[0])
        elif all(isinstance(op, Lanewise) for op in makers):
            ops = [op for op in makers if op is not None]
            if len({(type(op), _attributes(op), *(v.type for v in (*op.defines(), *op.reads()))) for op in ops}) > 1:
                raise self.refuse(f"{shown(first)} is made in another way than its neighbours", op=ops[0])
            for part in roles(type(ops[0])).operands:
                yield self._operand(part, ops)
        else:
            raise self.refuse(f"{', '.join(map(shown, pack))} would be no vector: they are made in different ways")

    def _operand(self, part: str, ops: Sequence[Op]) -> Pack:
        """One operand of operations that become one."""
        values = (getattr(op, part) for op in ops)
        return tuple(self.one.get(v, v) for v in values)

    # Vectors ----------------------------------------------------------------------------------------------------------

    def _emit(self, pack: Pack) -> None:
        """Make a pack, of which all that it needs is known."""
        first = pack[0]
        op = self.makers.get(first)
        if len(pack) == 1:
            if op is not None:
                self.body.append(substitute(op, self.one))
            self.known[pack] = first
        elif len({*pack}) == 1:
            self.known[pack] = made = self._vector(first)
            self.body.append(vector.Broadcast(made, first, location=first.location))
        elif op is None:
            self.known[pack] = self._outside(pack)
        elif isinstance(op, affine.Load):
            self._load(pack)
        else:
            role = roles(type(op))
            made = self._vector(first)
            changed: dict[str, object] = {role.results[0]: made}
            for part in role.operands:
                changed[part] = self.known[self._operand(part, [self.makers[v] for v in pack])]
            self.body.append(with_fields(op, **changed, written=None))
            self.known[pack] = made

    def _load(self, pack: Pack) -> None:
        """Load a vector from a row, or a square of which it is a column."""
        at = self._places(pack)
        first = self.makers[pack[0]]
        assert isinstance(first, affine.Load)
        if all(_apart(at[0], each) == k for k, each in enumerate(at)):
            self.known[pack] = self._row(first, at[0])
        else:
            columns = self.squares[pack]
            rows = [self._row(first, each) for each in self._places(columns[0])]
            shuffles, turned_rows = turned(rows)
            self.body += shuffles
            self.known |= dict(zip(columns, turned_rows, strict=True))

    def _places(self, pack: Pack) -> list[tuple[Affine, ...]]:
        """The subscripts of loads."""
        return [self.index[op] for v in pack if isinstance(op := self.makers[v], affine.Load)]

    def _row(self, like: affine.Load, index: tuple[Affine, ...]) -> Value:
        """A vector from a place on."""
        made = self._vector(like.result)
        self.body.append(affine.VectorLoad(made, like.memref, index, location=like.location))
        return made

    def _outside(self, pack: Pack) -> Value:
        """A vector of values from before the loop."""
        made = self._vector(pack[0])
        self.before.append(vector.FromElements(made, pack, location=self.loop.location))
        return made

    def _vector(self, like: Value) -> Value:
        assert isinstance(like.type, FloatType | IntegerType), "others are no lanes"
        return Value(VectorType((self.lanes,), like.type), like.hint, like.location)

    def _find_squares(self, nodes: Sequence[Pack]) -> None:
        """Find for loads that are columns the square they are in. Raises IllegalTransform where there is none."""
        columns: dict[Hashable, dict[int, Pack]] = defaultdict(dict)
        for pack in nodes:
            op = self.makers.get(pack[0])
            if len(pack) == 1 or len({*pack}) == 1 or not isinstance(op, affine.Load):
                continue
            at, type = self._places(pack), op.memref.type
            memrefs = {each.memref for v in pack if isinstance(each := self.makers[v], affine.Load)}
            if len(memrefs) > 1 or not isinstance(type, MemRefType) or not has_rows(type) or not at[0]:
                raise self.refuse(f"lanes of {shown(pack[0])} are not loaded along rows of one array", op=op)
            if all(_apart(at[0], each) == k for k, each in enumerate(at)):
                continue
            start = at[0][-1].constant
            rows = tuple((*each[:-1], each[-1] - start) for each in at)
            columns[op.memref, rows][start] = pack
        for square in columns.values():
            waiting = sorted(square)
            while waiting:
                some = waiting[: self.lanes]
                if len(some) < self.lanes or any(b - a != 1 for a, b in pairwise(some)):
                    op = self.makers[square[some[0]][0]]
                    reason = f"no square of {self.lanes} rows and as many columns is loaded: unroll makes more columns"
                    raise self.refuse(reason, op=op)
                packs = tuple(square[k] for k in some)
                self.squares |= dict.fromkeys(packs, packs)
                waiting = waiting[self.lanes :]


def _done_again(loop: affine.For, index: Mapping[Load | Store, Index]) -> dict[Value, Value]:
    """Of what a loop that stores nothing loads or computes again, the value of the first time."""
    first: dict[Hashable, Value] = {}
    found: dict[Value, Value] = {}
    for op in loop.body:
        match op:
            case affine.Load():
                key: Hashable = op.memref, index[op]
            case Lanewise() | arith.Constant():
                key = (
                    type(op),
                    _attributes(op),
                    tuple(found.get(v, v) for v in op.reads()),
                    *(v.type for v in op.defines()),
                )
            case _:
                continue
        for v in op.defines():
            known = first.setdefault(key, v)
            if known is not v:
                found[v] = known
    return found


def _attributes(op: Op) -> Hashable:
    """What an operation does, beside its operands."""
    role = roles(type(op))
    others = {*role.operands, *role.results, "location"}
    return tuple((each.name, repr(getattr(op, each.name))) for each in fields(op) if each.name not in others)


def _apart(first: Sequence[Affine], other: Sequence[Affine]) -> int | None:
    """How many elements along a row a place lies behind another one; None where it is another row, or not known."""
    far = [b - a for a, b in zip(first, other, strict=True)]
    if not all(each.is_constant for each in far) or any(each.constant for each in far[:-1]):
        return None
    return far[-1].constant
