"""What loops become whose iterations run as lanes: the same operations on vectors, in mlir-opt's order."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

from affdsl.ir.applied import Applied
from affdsl.ir.core import Lanewise, Op, roles
from affdsl.ir.dialects import affine, arith, ub, vector
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.renaming import renamed
from affdsl.ir.semantics import neutral
from affdsl.ir.traverse import like, rewrite, substitute, with_fields
from affdsl.ir.types import I1, INDEX, FloatType, IndexType, IntegerType, Type, VectorType
from affdsl.passes.affine.arithmetic import written
from affdsl.passes.analysis.reduction import DECLARED, Reduction
from affdsl.passes.mlir_opt.super_vectors.choice import Makers

_KINDS = {kind: name for name, kinds in vector.KINDS.items() for kind in kinds if kind is not None}
"""What a reduction of a vector is called that combines by a kind of arith."""
_NAN = {"minnumf": nan, "maxnumf": -nan}
"""What these kinds leave out, with the signs that mlir-opt gives to it."""
_DECLARED = {kind: declared for declared, kind in DECLARED.items()}


class UnfitError(Exception):
    """Loops that have no form as vectors here."""


@dataclass
class Vectors:
    """What stands in the place of a loop, what its results are then called, and what goes behind where values are made.

    `after` has operations to be put right behind what makes a value that comes from outside.
    """

    ops: list[Op]
    results: dict[Value, Value]
    after: dict[Value, list[Op]]


def vectors(
    root: affine.For,
    dims: Mapping[Value, int],
    sizes: Sequence[int],
    reductions: Sequence[Reduction],
    masked: Container[Op],
    makers: Makers,
) -> Vectors:
    """A loop whose iterations, with those of loops inside of it, run as lanes; UnfitError if it has no such form.

        affine.for %i = 0 to 64 { %a = load A[%i]; store %a, B[%i] }
        ->   affine.for %i = 0 to 64 step 8 { %a = vector.transfer_read A[%i]; vector.transfer_write %a, B[%i] }

    Whether that is right is for `lanes.are_right` to say. `dims` has for the induction variable of each loop that
    becomes lanes the dimension of the vectors, and `reductions` what the outermost one combines, which it then does in
    another order. The stores of `masked` leave out lanes behind the end of a loop, which other stores do by themselves.
    """
    emitter = _Emitter(tuple(sizes), dims, reductions, masked, makers)
    ops = emitter.loop(root)
    return Vectors(ops, emitter.results, emitter.after)


def placed(function: Func, made: Mapping[Value, Vectors]) -> Func:
    """A function with vectors for loops, which are given by their induction variables."""
    after: dict[Value, list[Op]] = {}
    results: dict[Value, Value] = {}
    for each in made.values():
        results |= each.results
        for value, ops in each.after.items():
            after[value] = [*ops, *after.pop(value, ())]
    latest = dict(reversed(after.items()))

    def rule(op: Op) -> Sequence[Op] | None:
        if isinstance(op, affine.For) and op.iv in made:
            return made[op.iv].ops
        bound = {*op.binds()}
        first = [new for v, ops in latest.items() if v in bound for new in ops]
        if first and isinstance(op, affine.For):
            op = with_fields(op, body=(*first, *op.body))
        behind = [new for v in op.defines() for new in after.get(v, ())]
        return (op, *behind) if first or behind else None

    first = [new for v, ops in latest.items() if v in function.args for new in ops]
    body = rewrite(function, rule)
    return renamed(with_fields(body, body=(*first, *body.body)), results)


@dataclass
class _Level:
    """A loop that is being made: its body so far, and what is known by a vector in it alone."""

    iv: Value
    is_lanes: bool
    heading: affine.For
    body: list[Op] = field(default_factory=list)
    own: list[Value] = field(default_factory=list)
    mask: Value | None = None


class _Emitter:
    def __init__(
        self,
        sizes: tuple[int, ...],
        dims: Mapping[Value, int],
        reductions: Sequence[Reduction],
        masked: Container[Op],
        makers: Makers,
    ) -> None:
        self._masked = masked
        self.results: dict[Value, Value] = {}
        self.after: dict[Value, list[Op]] = {}
        self._sizes, self._dims = sizes, dims
        self._reductions = {r.value: r for r in reductions if r.value is not None}
        self._makers, self._constants = makers, makers.constants
        self._vectors: dict[Value, Value] = {}
        self._scalars: dict[Value, Value] = {}
        self._levels: list[_Level] = []
        self._inside: set[Value] = set()

    def loop(self, loop: affine.For) -> list[Op]:
        """A loop, with what stands before and behind it."""
        is_lanes = loop.iv in self._dims
        combined = [self._combined(loop, k) for k in range(len(loop.carried))] if is_lanes else []
        before: list[Op] = []
        starts: list[arith.Constant] = []
        if is_lanes:
            starts = [self._start(kind, init) for (kind, _), init in zip(combined, loop.inits, strict=True)]
            before += starts
            inits = tuple(start.result for start in starts)
        else:
            inits = tuple(self._vector(v) for v in loop.inits)
        iv = like(loop.iv)
        carried, results = ([Value(self._type(v.type), v.hint) for v in vs] for vs in (loop.carried, loop.results))
        step = loop.step * (self._sizes[self._dims[loop.iv]] if is_lanes else 1)
        for value in loop.mentions():
            if value.type == INDEX and value not in loop.inits:
                self._scalar(value)
        heading = substitute(with_fields(loop, body=(), inits=()), dict(self._scalars))
        self._inside |= {loop.iv, *loop.carried, *(v for op in loop.body for v in op.defines())}
        self._scalars[loop.iv] = iv
        self._vectors.update(zip(loop.carried, carried, strict=True))
        level = _Level(loop.iv, is_lanes, heading)
        self._levels.append(level)
        if combined and not self._is_whole(heading):
            level.mask = self._mask([level], level.body)
        selected = {step: k for k, (_, step) in enumerate(combined)} if level.mask is not None else {}
        for op in loop.body:
            self._op(op, inits[selected[op]] if op in selected else None, loop)
        self._levels.pop()
        for value in level.own:
            self._vectors.pop(value, None)
        made = with_fields(
            heading, iv=iv, body=tuple(level.body), step=step, inits=inits, carried=tuple(carried),
            results=tuple(results),
        )  # fmt: skip
        if not is_lanes:
            self._vectors.update(zip(loop.results, results, strict=True))
            return [*before, made]
        parts = zip(loop.inits, loop.results, results, strict=True)
        behind = [
            op
            for (kind, _), start, ends in zip(combined, starts, parts, strict=True)
            for op in self._reduced(kind, start.value, *ends)
        ]
        return [*before, made, *behind]

    def _op(self, op: Op, chosen: Value | None, loop: affine.For) -> None:
        body = self._levels[-1].body
        match op:
            case affine.For():
                body += self.loop(op)
            case affine.Load():
                indices, map, mask = self._place(op)
                body.append(padding := ub.Poison(Value(op.result.type), location=op.location))
                result, stays = self._new(op.result), (False,) * len(self._sizes)
                body.append(
                    vector.TransferRead(
                        result, op.memref, indices, padding.result, map, stays, mask, location=op.location
                    )
                )
            case affine.Store():
                value = self._vector(op.value)
                indices, map, mask = self._place(op)
                stays = (False,) * len(self._sizes)
                body.append(vector.TransferWrite(value, op.memref, indices, map, stays, mask, location=op.location))
            case arith.Constant():
                self._constant(op)
            case affine.Apply():
                body.append(self._applied(written(op, "expr"), result := Value(INDEX, op.result.hint), op))
                self._scalars[op.result] = result
            case affine.Yield():
                body.append(with_fields(op, values=tuple(self._vector(v) for v in op.values)))
            case Lanewise():
                body += self._widened(op, chosen, loop)
            case _:
                raise UnfitError

    def _widened(self, op: Op, chosen: Value | None, loop: affine.For) -> list[Op]:
        """An operation on all lanes; `chosen` stands for what is combined in those behind the end of a loop."""
        role, new = roles(type(op)), dict[str, object]()
        for name in role.operands:
            value = getattr(op, name)
            if not isinstance(value, Value):
                raise UnfitError
            new[name] = self._vector(value)
        before: list[Op] = []
        if chosen is not None:
            (side,) = (name for name in ("left", "right") if getattr(op, name) not in loop.carried)
            masked, mask = new[side], self._levels[-1].mask
            assert isinstance(masked, Value), "operands are values"
            assert mask is not None, "what is chosen is chosen by a mask"
            select = arith.Select(Value(masked.type), mask, masked, chosen, location=op.location)
            new[side] = select.result
            before.append(select)
        for name in role.results:
            new[name] = self._new(getattr(op, name))
        return [*before, with_fields(op, **new)]

    def _place(self, op: affine.Load | affine.Store) -> tuple[tuple[Value, ...], AffineMap, tuple[Value, ...]]:
        """The subscripts of an access as values, the dimensions along which the vector lies, and the mask, if any."""
        map = written(op, "index")
        operands = [self._scalar(v) for v in map.operands]
        rank = len(map.trees)
        if map.trees == tuple(f"d{k}" for k in range(rank)) and not map.symbols and len(map.dims) == rank:
            indices = tuple(operands)
        else:
            if isinstance(op, affine.Load) and any(v in self._makers.applied for v in map.operands):
                raise UnfitError  # mlir-opt lets no map stand on another one, where it reads
            indices = tuple(Value(INDEX) for _ in map.trees)
            for tree, index in zip(map.trees, indices, strict=True):
                self._levels[-1].body.append(self._applied(Applied((tree,), map.dims, map.symbols), index, op))
        axes = [self._along(op, k) for k in range(len(self._sizes))]
        mask: tuple[Value, ...] = ()
        if op in self._masked:  # its dimensions are in the order of the array, those that lie along none left out
            order = sorted((axis, k) for k, axis in enumerate(axes) if axis is not None)
            mask = (self._mask([self._level(k) for _, k in order], self._levels[-1].body),)
        return indices, AffineMap(rank, 0, tuple(Affine.of(0 if a is None else dim(a)) for a in axes)), mask

    def _along(self, op: affine.Load | affine.Store, number: int) -> int | None:
        """The dimension of the array along which a dimension of a vector lies; None where lanes have one element."""
        exprs = [self._makers.resolved(e) for e in op.index]
        iv = self._level(number).iv
        axes = [axis for axis, expr in enumerate(exprs) if iv in expr.values()]
        if len(axes) > 1:
            raise UnfitError
        return axes[0] if axes else None

    def _applied(self, map: Applied, result: Value, like: Op) -> Op:
        """One tree over operands of before, as affine.apply over those of now."""
        new = map.with_values(self._scalar)
        (expr,) = new.means
        assert isinstance(expr, Affine), "it is a map"
        return affine.Apply(result, expr, location=like.location, written={"expr": new})

    def _scalar(self, value: Value) -> Value:
        """An index as it is called now."""
        if value in self._scalars:
            return self._scalars[value]
        if value in self._inside:
            raise UnfitError  # it is a vector now
        return value

    def _vector(self, value: Value) -> Value:
        """What stands for a value in all lanes."""
        if value in self._vectors:
            return self._vectors[value]
        if value in self._constants:
            return self._constant(self._constants[value])
        scalar = self._scalars.get(value, value)
        level = next((each for each in self._levels if each.iv is value), None)
        if value in self._inside if level is None else level.is_lanes:
            raise UnfitError
        made = vector.Broadcast(Value(self._type(value.type), value.hint), scalar, location=value.location)
        self._vectors[value] = made.result
        if level is None:
            self.after.setdefault(value, []).append(made)
        else:
            level.body.insert(0, made)
            level.own.append(value)
        return made.result

    def _constant(self, op: arith.Constant) -> Value:
        """A number in all lanes, at the start of the innermost loop that becomes lanes."""
        level = next(each for each in reversed(self._levels) if each.is_lanes)
        made = arith.Constant(self._new(op.result), op.value, location=op.location)
        level.body.insert(0, made)
        level.own.append(op.result)
        return made.result

    def _new(self, value: Value) -> Value:
        """A vector for a value, which stands for it from now on."""
        new = self._vectors[value] = Value(self._type(value.type), value.hint, value.location)
        return new

    def _type(self, type: Type) -> VectorType:
        if not isinstance(type, IntegerType | IndexType | FloatType):
            raise UnfitError
        return VectorType(self._sizes, type)

    # What a loop combines

    def _combined(self, loop: affine.For, number: int) -> tuple[str, arith.Binary]:
        """By which kind of arith a loop combines what it carries, and the one operation that does."""
        carried, end = loop.carried[number], loop.body[-1]
        reduction = self._reductions.get(carried)
        match reduction.steps if reduction is not None else ():
            case (arith.Binary(kind=kind, left=left, right=right) as step,) if (
                kind in _KINDS
                and (left is carried) != (right is carried)
                and isinstance(end, affine.Yield)
                and end.values[number] is step.result
                and loop.step == 1
            ):
                return kind, step
        raise UnfitError

    def _start(self, kind: str, init: Value) -> arith.Constant:
        """Numbers that change nothing with which they are combined."""
        assert isinstance(init.type, IntegerType | IndexType | FloatType), "a kind of arith combines numbers"
        given = self._constants.get(init)
        of_type = float if isinstance(init.type, FloatType) else int
        start = _NAN[kind] if kind in _NAN else of_type(neutral(_DECLARED[kind], init.type))
        if kind == "addf" and given is not None and not isinstance(given.value, tuple) and str(given.value) != "-0.0":
            start = 0.0  # the sign of a sum of zeros is then that of what is given
        return arith.Constant(Value(self._type(init.type)), start, location=init.location)

    def _is_whole(self, heading: affine.For) -> bool:
        """Whether a loop that combines certainly ends with a whole vector, as mlir-opt sees it."""
        bounds = [b.constant for b in (*heading.lower, *heading.upper) if b.is_constant]
        return len(heading.lower) == len(heading.upper) == 1 and len(bounds) == 2 and not (
            (bounds[1] - bounds[0]) % self._sizes[0]
        )  # fmt: skip

    def _mask(self, levels: Sequence[_Level], body: list[Op]) -> Value:
        """The lanes that lie before the ends of loops."""
        left = [self._left(level, body) for level in levels]
        shape = tuple(self._sizes[self._dims[level.iv]] for level in levels)
        mask = vector.CreateMask(Value(VectorType(shape, I1)), tuple(left), location=levels[0].heading.location)
        body.append(mask)
        return mask.result

    def _left(self, level: _Level, body: list[Op]) -> Value:
        """How many iterations of a loop are left."""
        heading = level.heading
        end = heading.upper[0]
        if len(heading.upper) > 1:
            upper = written(heading, "upper")
            least = affine.Min(Value(INDEX), heading.upper, location=heading.location, written={"exprs": upper})
            body.append(least)
            end = Affine.of(least.result)
        left = (end - self._scalars[level.iv]).ceildiv(heading.step)
        body.append(affine.Apply(result := Value(INDEX), left, location=heading.location))
        return result

    def _level(self, number: int) -> _Level:
        """The loop around whose iterations are a dimension of the vectors."""
        for level in self._levels:
            if self._dims.get(level.iv) == number:
                return level
        raise UnfitError

    def _reduced(self, kind: str, start: object, init: Value, old: Value, new: Value) -> list[Op]:
        """The number that all lanes and the one before the loop make, which `old` then stands for."""
        reduced = vector.Reduction(Value(old.type, old.hint), _KINDS[kind], new, location=old.location)
        given = self._constants.get(init)
        if given is not None and repr(given.value) == repr(start):
            self.results[old] = reduced.result
            return [reduced]
        both = arith.Binary(Value(old.type, old.hint), kind, reduced.result, init, location=old.location)
        self.results[old] = both.result
        return [reduced, both]
