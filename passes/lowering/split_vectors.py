"""Vectors that are wider than a register, as several that are not: the same lanes, in the same order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar

from affdsl.ir.core import Block, Lanewise, Nested, Op, roles
from affdsl.ir.dialects import affine, arith, scf, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import definitions, like, map_blocks, walk, with_fields
from affdsl.ir.types import INDEX, FloatType, IndexType, VectorType
from affdsl.passes.lowering.shuffles import Lane, shuffled_together

OpT = TypeVar("OpT", bound=Op)
NARROWEST_FLOAT = 32
"""Narrower floats are computed with in so many bits."""
BYTE = 8
"""So many bits a truth value has, and a narrower integer."""
PERMUTED = 512
"""Registers of so many bits have instructions for any lanes of two; narrower ones permute each half by itself."""


def split_vectors(module: Module, width: int) -> Module:
    """module with each vector of one dimension and more than `width` bits as several, of equally many lanes each.

    Vectors of equally many lanes have equally many parts, whatever their elements, so that masks and conversions go
    from part to part; but what is loaded, shuffled and stored, and fits into one register, stays whole where registers
    can be permuted: parts are cut out of it where it is computed with, and put together behind that. What is added up
    over all lanes is added up in their order, as before. A function with an operation on wide vectors that has no form
    in parts (a transposition, say) stays as it is.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<16xf32>) {
    ...   %v = affine.vector_load %A[0] : memref<16xf32>, vector<16xf32>
    ...   %w = arith.addf %v, %v : vector<16xf32>
    ...   affine.vector_store %w, %A[0] : memref<16xf32>, vector<16xf32>
    ...   return
    ... }''')
    >>> print(split_vectors(module, 256).functions[0])
    func.func @f(%A: memref<16xf32>) {
      %v = affine.vector_load %A[0] : memref<16xf32>, vector<8xf32>
      %v_0 = affine.vector_load %A[8] : memref<16xf32>, vector<8xf32>
      %w = arith.addf %v, %v : vector<8xf32>
      %w_0 = arith.addf %v_0, %v_0 : vector<8xf32>
      affine.vector_store %w, %A[0] : memref<16xf32>, vector<8xf32>
      affine.vector_store %w_0, %A[8] : memref<16xf32>, vector<8xf32>
      return
    }
    """
    return with_fields(module, body=tuple(_split(op, width) if isinstance(op, Func) else op for op in module.body))


def _split(function: Func, width: int) -> Func:
    counts: dict[int, int] = {}
    between, read = _between(function), {v for op in walk(function) for v in op.reads()}
    for op in walk(function):
        if isinstance(op, Lanewise) and read.isdisjoint(op.defines()):
            continue  # what nobody reads takes no registers
        for value in (*op.defines(), *op.binds()):
            lanes = 0 if value in between else _lanes(value)
            if lanes and (parts := lanes * _bits(value) // width) > 1 and lanes % parts == 0:
                counts[lanes] = max(counts.get(lanes, 1), parts)
    if not counts:
        return function
    try:
        whole = _whole(function, width, counts) if width >= PERMUTED else frozenset[Value]()
        return map_blocks(function, Splitter(counts, between, whole).block)
    except WholeError:
        return function


def _between(function: Func) -> dict[Value, Op]:
    """What is made only to be added up, in rows, to a vector, and is as wide as that asks for: the factors."""
    made, read = definitions(function), Counter(v for op in walk(function) for v in op.reads())
    found: dict[Value, Op] = {}

    def follow(value: Value) -> None:
        op = made.get(value)
        if read[value] == 1 and isinstance(op, Lanewise | arith.Constant):
            found[value] = op
            for v in () if isinstance(op, arith.Cast) else op.reads():
                follow(v)

    for op in walk(function):
        if isinstance(op, vector.Contract) and _is_in_rows(op):
            for factor in dict.fromkeys((op.left, op.right)):
                rows = made.get(factor)
                if isinstance(rows, vector.ShapeCast) and _lanes(rows.source) and read[factor] == 1:
                    found[factor] = rows
                    follow(rows.source)
    return found


_MAKE_WHOLE = (affine.VectorLoad, vector.Load, Lanewise)
_TAKE_WHOLE = (affine.VectorStore, vector.Store, Lanewise)


def _whole(function: Func, width: int, counts: Collection[int]) -> frozenset[Value]:
    """The vectors that are shuffled as a whole: they fit into a register, and all that they meet has such a form."""
    made, readers = definitions(function), defaultdict[Value, list[Op]](list)
    for op in walk(function):
        for value in op.reads():
            readers[value].append(op)
    halved = {lanes for lanes in counts if lanes.bit_count() == 1}
    found = {v for v in made if _lanes(v) in halved and _lanes(v) * _bits(v) <= width}
    while True:
        shuffles = {op for op in made.values() if isinstance(op, vector.Shuffle) and {*op.reads(), op.result} <= found}
        met = {v for op in shuffles for v in (*op.reads(), op.result)}
        left = {v for v in met if isinstance(made[v], _MAKE_WHOLE) or made[v] in shuffles}
        left = {v for v in left if all(isinstance(op, _TAKE_WHOLE) or op in shuffles for op in readers[v])}
        if left == met:
            return frozenset(met)
        found = left


def _is_in_rows(op: vector.Contract) -> bool:
    """Whether products of the lanes of a row are added to one lane of a vector."""
    row = tuple(map(vector.map_dims, op.maps)) == ((0, 1), (0, 1), (0,))
    return row and op.iterators == ("parallel", "reduction") and op.combine == "add"


class WholeError(Exception):
    """An operation takes a vector as a whole."""


@dataclass
class Splitter:
    """Rewrites blocks in the order of the text."""

    counts: dict[int, int]
    """How many parts vectors have, by the number of their lanes."""
    between: Mapping[Value, Op]
    """What is between narrow integers and the sums of their products, which is as wide as it has to be."""
    whole: Set[Value] = frozenset()
    """What stays as it is; of what is read in parts, too, these are made."""
    parts: dict[Value, tuple[Value, ...]] = field(default_factory=dict)
    """What became of the vectors that are split."""

    def block(self, block: Block) -> Block:
        out: list[Op] = []
        for op in block:
            if any(v in self.between for v in op.defines()):
                continue
            if isinstance(op, vector.Contract) and op.left in self.between and op.right in self.between:
                out += self.added(op)
            elif any(self.is_wide(v) for v in (*op.reads(), *op.defines(), *op.binds())):
                out += self.rewritten(op)
            else:
                out.append(map_blocks(op, self.block) if op.block_fields else op)
            for value in op.defines():
                if value in self.whole:
                    out += self.joined(value) if value in self.parts else self.cut_up(value)
        return tuple(out)

    def is_wide(self, value: Value) -> bool:
        return _lanes(value) in self.counts and value not in self.whole

    def joined(self, value: Value) -> Iterator[Op]:
        """A vector of its parts: of two at a time one that is twice as long."""
        parts = self.parts[value]
        while len(parts) > 1:
            lanes = 2 * _lanes(parts[0])
            made = [self.long(value, lanes) for _ in parts[::2]]
            for new, left, right in zip(made, parts[::2], parts[1::2], strict=True):
                yield vector.Shuffle(new, left, right, tuple(range(lanes)))
            parts = tuple(made)

    def cut_up(self, value: Value) -> Iterator[Op]:
        """The parts of a vector: halves of halves."""
        parts: tuple[Value, ...] = (value,)
        lanes = _lanes(value)
        while len(parts) < self.count(value):
            lanes //= 2
            made = [(of, start, self.long(value, lanes)) for of in parts for start in (0, lanes)]
            yield from (vector.ExtractStridedSlice(new, of, (start,), (lanes,), (1,)) for of, start, new in made)
            parts = tuple(new for _, _, new in made)
        self.parts[value] = parts

    def long(self, value: Value, lanes: int) -> Value:
        """The vector itself, or another one of fewer lanes."""
        assert isinstance(value.type, VectorType)
        return value if lanes == _lanes(value) else Value(VectorType((lanes,), value.type.element), value.hint)

    def rewritten(self, op: Op) -> Iterator[Op]:
        """The operations in the place of one that reads, defines or binds wide vectors."""
        match op:
            case Lanewise() | vector.Fma() | vector.Gather():
                yield from self.copies(op)
            case arith.Constant(value=number):
                yield from self.copies(
                    op, value=number if not isinstance(number, tuple) else self.sliced(op.result, number)
                )
            case vector.FromElements(elements=elements):
                yield from self.copies(op, elements=self.sliced(op.result, elements))
            case vector.Broadcast() if not isinstance(op.source.type, VectorType):
                made = with_fields(op, result=self.fresh(op.result))
                self.parts[op.result] = (made.result,) * self.count(op.result)
                yield made
            case affine.VectorLoad() | affine.VectorStore():
                value = op.result if isinstance(op, affine.VectorLoad) else op.value
                at = [(*op.index[:-1], op.index[-1] + start) for start in self.starts(value)]
                yield from self.copies(op, index=at)
            case vector.Load() | vector.MaskedLoad() | vector.Store() | vector.MaskedStore():
                yield from self.moved(op, op.result if isinstance(op, vector.Load | vector.MaskedLoad) else op.value)
            case vector.CreateMask(bounds=(bound,)):
                left = [self.shifted(bound, -start) for start in self.starts(op.result)]
                yield from (made for made, _ in left if made)
                yield from self.copies(op, bounds=[(value,) for _, value in left])
            case vector.Reduction():
                yield from self.reduced(op)
            case vector.Extract(static_position=(int() as position,)) if (
                self.is_wide(op.source) and position != vector.POISON
            ):
                lanes = _lanes(op.source) // self.count(op.source)
                of = self.parts[op.source][position // lanes]
                yield with_fields(op, source=of, static_position=(position % lanes,))
            case vector.ExtractStridedSlice():
                yield from self.cut(op)
            case vector.Shuffle():
                yield from self.shuffled(op)
            case Nested() | affine.Yield() | scf.Yield():
                yield self.around(op)
            case _:
                raise WholeError

    def copies(self, op: OpT, **fields: object) -> Iterator[OpT]:
        """The operation on each part; a field may be given for all of them, or as a list with one for each."""
        role = roles(type(op))
        wide = next(v for v in (*op.defines(), *op.reads()) if self.is_wide(v))
        results = {name: getattr(op, name) for name in role.results}
        made = [{name: self.fresh(value) for name, value in results.items()} for _ in range(self.count(wide))]
        for k, new in enumerate(made):
            given = {name: each[k] if isinstance(each, list) else each for name, each in fields.items()}
            operands = {name: getattr(op, name) for name in role.operands}
            split = {
                name: self.parts[v][k]
                for name, v in operands.items()
                if isinstance(v, Value) and (v in self.whole or self.is_wide(v))
            }
            yield with_fields(op, **new, **{**split, **given})
        self.parts |= {value: tuple(new[name] for new in made) for name, value in results.items()}

    def moved(
        self, op: vector.Load | vector.MaskedLoad | vector.Store | vector.MaskedStore, value: Value
    ) -> Iterator[Op]:
        """An access to consecutive elements, whose parts begin further on."""
        if not op.indices:
            raise WholeError
        last = [self.shifted(op.indices[-1], start) for start in self.starts(value)]
        yield from (made for made, _ in last if made)
        yield from self.copies(op, indices=[(*op.indices[:-1], index) for _, index in last])

    def reduced(self, op: vector.Reduction) -> Iterator[Op]:
        """All lanes combined, part after part."""
        acc = op.acc
        parts = self.parts[op.source]
        for k, part in enumerate(parts):
            result = op.result if k == len(parts) - 1 else like(op.result)
            yield with_fields(op, result=result, source=part, acc=acc)
            acc = (result,)

    def cut(self, op: vector.ExtractStridedSlice) -> Iterator[Op]:
        """Lanes next to one another: whole parts, or cut out of a vector that is none."""
        if not self.is_wide(op.source):
            (start,) = op.offsets
            each = self.starts(op.result).step
            yield from self.copies(op, offsets=[(start + k,) for k in self.starts(op.result)], sizes=(each,))
            return
        parts = self.parts[op.source]
        each = _lanes(op.source) // len(parts)
        (start,), (lanes,) = op.offsets, op.sizes
        count = self.count(op.result) if self.is_wide(op.result) else 1
        if start % each or lanes != each * count:
            yield from self.gathered(op.result, [(parts[k // each], k % each) for k in range(start, start + lanes)])
            return
        taken = parts[start // each : start // each + count]
        if count > 1:
            self.parts[op.result] = taken
        else:
            yield vector.ShapeCast(op.result, taken[0], location=op.location)

    def gathered(self, result: Value, lanes: Sequence[tuple[Value, int]]) -> Iterator[Op]:
        """A vector, or its parts, from lanes of vectors that have another number of them: one after the other."""
        made = [Value(part.type.element) for part, _ in lanes if isinstance(part.type, VectorType)]
        for value, (part, lane) in zip(made, lanes, strict=True):
            yield vector.Extract(value, part, (), (lane,))
        count = self.count(result) if self.is_wide(result) else 1
        each = len(lanes) // count
        new = (result,) if count == 1 else tuple(self.fresh(result) for _ in range(count))
        yield from (vector.FromElements(v, tuple(made[k * each : (k + 1) * each])) for k, v in enumerate(new))
        if count > 1:
            self.parts[result] = new

    def shuffled(self, op: vector.Shuffle) -> Iterator[Op]:
        """Lanes of two vectors: each part takes its own from those parts of them that have any."""
        if not (self.is_wide(op.left) and self.is_wide(op.right) and self.is_wide(op.result)):
            raise WholeError
        sources = self.parts[op.left] + self.parts[op.right]
        each = _lanes(op.left) // self.count(op.left)
        if each != _lanes(op.result) // self.count(op.result):
            raise WholeError
        wanted: list[list[Lane | None]] = []
        for rows in self.sliced(op.result, op.mask):
            places = [divmod(row, each) for row in rows if isinstance(row, int)]
            wanted.append([None if part < 0 else (sources[part], lane) for part, lane in places])
        some = [lanes for lanes in wanted if any(lanes)]
        made, taken = shuffled_together(some, [op.result.hint] * len(some))
        parts = iter(taken)
        found = [next(parts) if any(lanes) else sources[0] for lanes in wanted]
        yield from (with_fields(each, location=op.location) for each in made)
        self.parts[op.result] = tuple(found)

    def added(self, op: vector.Contract) -> Iterator[Op]:
        """Products added to a vector in rows: so many rows for each part of it, with all that is made for them."""
        count = self.count(op.acc) if self.is_wide(op.acc) else 1
        found: list[Value] = []
        for k in range(count):
            made: list[Op] = []
            left, right = (self.part(v, k, count, made) for v in (op.left, op.right))
            acc = self.parts[op.acc][k] if count > 1 else op.acc
            found.append(op.result if count == 1 else Value(acc.type, op.result.hint))
            yield from (*made, with_fields(op, result=found[-1], left=left, right=right, acc=acc))
        if count > 1:
            self.parts[op.result] = tuple(found)

    def part(self, value: Value, k: int, count: int, made: list[Op]) -> Value:
        """Part k of a vector; for one that is made in between, the operations that make it are added to `made`."""
        op = self.between.get(value)
        if op is None:
            if (self.count(value) if self.is_wide(value) else 1) != count:
                raise WholeError
            return self.parts[value][k] if count > 1 else value
        assert isinstance(value.type, VectorType)
        size = value.type.shape[0] // count
        new: dict[str, object] = {"result": Value(VectorType((size, *value.type.shape[1:]), value.type.element))}
        if isinstance(op, arith.Constant):
            new["value"] = op.value[k * size : (k + 1) * size] if isinstance(op.value, tuple) else op.value
        names = {name: getattr(op, name) for name in roles(type(op)).operands}
        new |= {name: self.part(v, k, count, made) for name, v in names.items()}
        made.append(with_fields(op, **new))
        (result,) = made[-1].defines()
        return result

    def around(self, op: Op) -> Op:
        """An operation that hands on values, with the parts in the places of the vectors."""
        role = roles(type(op))
        new: dict[str, object] = {}
        for name in (*role.arguments, *role.results, *role.operands):
            values = getattr(op, name)
            if isinstance(values, tuple) and any(isinstance(v, Value) and self.is_wide(v) for v in values):
                if name not in role.operands:
                    self.parts |= {
                        v: tuple(self.fresh(v) for _ in range(self.count(v))) for v in values if self.is_wide(v)
                    }
                new[name] = tuple(part for v in values for part in self.parts.get(v, (v,)))
        return map_blocks(with_fields(op, **new), self.block)

    def fresh(self, value: Value) -> Value:
        """A part of a vector that has no name yet."""
        assert isinstance(value.type, VectorType)
        lanes = _lanes(value) // self.count(value)
        return Value(VectorType((lanes,), value.type.element), value.hint, value.location)

    def count(self, value: Value) -> int:
        return self.counts[_lanes(value)]

    def starts(self, value: Value) -> range:
        """The lanes with which the parts begin."""
        return range(0, _lanes(value), _lanes(value) // self.count(value))

    def sliced(self, value: Value, items: tuple[object, ...]) -> list[tuple[object, ...]]:
        """What belongs to each part, of one item for each lane."""
        step = _lanes(value) // self.count(value)
        return [items[start : start + step] for start in self.starts(value)]

    def shifted(self, index: Value, by: int) -> tuple[Op | None, Value]:
        """An index further on, and the operation that computes it."""
        if by == 0:
            return None, index
        made = affine.Apply(Value(INDEX, "", index.location), Affine.of(index) + by, location=index.location)
        return made, made.result


def _lanes(value: Value) -> int:
    """How many lanes a vector has that may be split; 0 for all else."""
    type = value.type
    return type.shape[0] if isinstance(type, VectorType) and type.rank == 1 and not any(type.scalable) else 0


def _bits(value: Value) -> int:
    """The bits of a lane; those of masks are as wide as what they go with, which is at least as wide as a byte."""
    assert isinstance(value.type, VectorType)
    element = value.type.element
    if isinstance(element, FloatType):
        return max(element.width, NARROWEST_FLOAT)
    return 64 if isinstance(element, IndexType) else max(getattr(element, "width", 0), BYTE)
