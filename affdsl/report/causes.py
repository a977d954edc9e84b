"""What in a loop of the source makes it slow: found in its operations, with what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref
from affdsl.ir.expr import Affine, Atom, Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import definitions
from affdsl.ir.types import FloatType, IntegerType, MemRefType, VectorType
from affdsl.optimize.model.compiled import stride_of
from affdsl.passes.analysis.dependence import Dependence
from affdsl.passes.analysis.iterations import Iterations
from affdsl.passes.analysis.parallelism import Parallelism
from affdsl.passes.transforms.approximate import POLYNOMIALS
from affdsl.report.loops import SourceLoop, own_ops

FAR = 8
"""An access that goes on by so many elements each iteration takes another cache line for each."""
_FAST = ("absf", "sqrt", "copysign", "floor", "ceil", "trunc", "roundeven")
_QUOTIENTS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")


class Cause(FrozenValue):
    """One thing that makes a loop slow.

    Attributes
    ----------
    kind
        By which it is found again: the name of a function below.
    what
        It, in a few words.
    why
        What it costs, and why it has to be so as it is written.
    instead
        What to write instead, or to allow.
    array
        The array that it is about, if it is about one.
    """

    kind: str
    what: str
    why: str
    instead: str
    location: Location | None = None
    array: str = ""


class Looked(FrozenValue):
    """What a cause is looked for in: a loop with its own operations, what makes each value, and how often loops run."""

    loop: SourceLoop
    ops: tuple[Op, ...]
    makers: Mapping[Value, Op]
    iterations: Iterations
    parallelism: Parallelism | None

    def inside(self, value: Value) -> bool:
        """Whether a value may be another one in each iteration."""
        op = self.makers.get(value)
        if isinstance(op, arith.Constant):
            return False
        if (
            isinstance(op, affine.Load)
            and op in self.ops
            and not any(self.inside(v) for e in op.index for v in e.values())
        ):
            return any(isinstance(each, affine.Store) and each.memref is op.memref for each in self.ops)
        return value is self.loop.iv or (op is not None and (op in self.ops or op is self.loop.op))


def causes(loop: SourceLoop, iterations: Iterations, parallelism: Parallelism | None) -> tuple[Cause, ...]:
    """What is in the way in a loop, and in no loop inside of it."""
    ops = tuple(own_ops(loop.op))
    looked = Looked(loop, ops, definitions(loop.function), iterations, parallelism)
    return tuple(dict.fromkeys(cause for find in _FINDERS for cause in find(looked)))


def _sum(at: Looked) -> Iterator[Cause]:
    """A sum of floats in the order of the text."""
    if at.parallelism is not None and at.parallelism.needs_reassociation and not at.parallelism.prevented_by:
        yield Cause(
            "sum",
            "a sum in the order of the text",
            "Each addition waits for the one before it, since another order rounds in another way.",
            "If the last bits may differ, allow another order: optimize(reassociate=True).",
            at.loop.location,
        )


def in_words(of: Parallelism) -> str:
    """What makes iterations depend on each other, in sentences."""
    flows = [each for each in of.prevented_by if each.kind == "flow"]
    said = dict.fromkeys(_dependence(each) for each in flows or of.prevented_by)
    return " ".join([*said, *(f"{_upper(reason)}." for reason in of.reasons)][:2])


def _dependence(of: Dependence) -> str:
    array = of.source.buffer.name
    first, second = (access.op.location.line if access.op.location else "?" for access in (of.source, of.sink))
    words = {
        "flow": f"Line {first} writes elements of {array} that line {second} reads in a later iteration.",
        "anti": f"Line {first} reads elements of {array} that line {second} overwrites in a later iteration.",
        "output": f"Line {first} writes elements of {array} that line {second} overwrites in a later iteration.",
    }
    return words.get(of.kind, f"Iterations share elements of {array}.")


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _recurrence(at: Looked) -> Iterator[Cause]:
    """Each iteration needs what one before has made."""
    of = at.parallelism
    if of is not None and of.verdict == "sequential" and at.loop.is_innermost:
        yield Cause(
            "recurrence",
            "each iteration needs the one before",
            f"{in_words(of)} So its operations wait for each other.",
            "Shorten what lies between two iterations: compute what needs no earlier result in a loop before.",
            at.loop.location,
        )


def _extreme(at: Looked) -> Iterator[Cause]:
    """`af.min` and `af.max` of floats, which have to tell NaN and the signs of zeros apart."""
    for op in at.ops:
        if isinstance(op, arith.Binary) and op.kind in ("minimumf", "maximumf"):
            name = op.kind[:3]
            sign = "<" if name == "min" else ">"
            yield Cause(
                "extreme",
                f"af.{name} of floats",
                f"af.{name} gives NaN where either number is NaN, and tells -0 from 0: several instructions, not one.",
                f"Where neither matters, write af.f{name}(a, b), or af.select(a {sign} b, a, b).",
                op.location,
            )


def _clamp(at: Looked) -> Iterator[Cause]:
    """A clamp in a subscript."""
    for op in at.ops:
        if isinstance(op, affine.Min | affine.Max) and _leads_to_subscript(op.result, at):
            yield Cause(
                "clamp",
                "a clamp in a subscript",
                "Where the least or greatest of several subscripts counts, elements are no neighbours any more: they "
                "are loaded one after the other.",
                "Give the iterations at the edges loops of their own, so that the others need no clamp.",
                op.location,
            )


def _leads_to_subscript(value: Value, at: Looked) -> bool:
    return any(isinstance(op, affine.Access | memref.Load | memref.Store) and value in op.reads() for op in at.ops)


def _wrapped(at: Looked) -> Iterator[Cause]:
    """`%` or `//` of a counter in a subscript."""
    for op in at.ops:
        if isinstance(op, affine.Access) and any(_divides(e, at.loop.iv) for e in op.index):
            yield Cause(
                "wrapped",
                "% or // in a subscript",
                "Where a subscript jumps back, elements are no neighbours any more.",
                "Give the iterations before the jump, and those behind it, loops of their own.",
                op.location,
                op.memref.hint,
            )


def _divides(expr: Affine, iv: Value | None) -> bool:
    def holds(atom: Atom) -> bool:
        return not isinstance(atom, Value) and iv is not None and iv in Affine.of(atom).values()

    return any(holds(atom) for atom, _ in expr.terms)


def _gather(at: Looked) -> Iterator[Cause]:
    """A subscript that data gives."""
    for op in at.ops:
        if isinstance(op, memref.Load | memref.Store) and any(_is_data(v, at) for v in op.indices):
            what = "loaded from" if isinstance(op, memref.Load) else "stored to"
            yield Cause(
                "gather",
                f"a subscript of {op.memref.hint or 'an array'} that data gives",
                f"Elements are {what} places that only data tells: one after the other, wherever they lie.",
                "Sort the subscripts, so that neighbours are used together; a table that fits into the nearest cache "
                "costs least.",
                op.location,
                op.memref.hint,
            )


def _is_data(value: Value, at: Looked) -> bool:
    op = at.makers.get(value)
    while isinstance(op, arith.Cast):
        op = at.makers.get(op.operand)
    return isinstance(op, affine.Load | memref.Load | arith.Binary | arith.Select)


def _columns(at: Looked) -> Iterator[Cause]:
    """An access that goes down a column."""
    for op in at.ops:
        if not isinstance(op, affine.Load | affine.Store) or not isinstance(at.loop.op, affine.For):
            continue
        stride = stride_of(op, at.loop.op, at.iterations)
        if stride is not None and abs(stride) >= FAR and at.loop.is_innermost:
            name = op.memref.hint or "an array"
            yield Cause(
                "columns",
                f"{name} is used in the order of its columns",
                f"Each iteration of {at.loop.name} goes on by {abs(stride)} elements of {name}: another cache line "
                "each time, and no vector.",
                f"Let the loop over the last subscript of {name} be the innermost one, or keep {name} transposed.",
                op.location,
                op.memref.hint,
            )


def _mixed(at: Looked) -> Iterator[Cause]:
    """Numbers of two types in one computation."""
    for op in at.ops:
        if isinstance(op, arith.Cast) and op.kind in ("extf", "truncf", "sitofp", "uitofp", "fptosi", "fptoui"):
            before, after = _scalar(op.operand), _scalar(op.result)
            if op.kind in ("extf", "truncf") or isinstance(before, IntegerType):
                yield Cause(
                    "mixed",
                    f"{before} and {after} in one computation",
                    f"Each {before} is converted to {after}, and vectors have as few lanes as the wider type allows.",
                    "Give all arrays and numbers of it one type: the narrower one where it is exact enough.",
                    op.location,
                )


def _scalar(value: Value) -> object:
    type = value.type
    return type.element if isinstance(type, VectorType | MemRefType) else type


def _division(at: Looked) -> Iterator[Cause]:
    """A division: by what the loop does not change, or by another number each time."""
    for op in at.ops:
        if not isinstance(op, arith.Binary):
            continue
        if op.kind == "divf" and not at.inside(op.right):
            yield Cause(
                "division",
                "a division by what stays the same",
                "A division takes as long as four or more products, and each iteration divides by the same number.",
                "If the last bit may differ, multiply by its reciprocal: optimize(reciprocal=True).",
                op.location,
            )
        elif op.kind == "divf":
            yield Cause(
                "quotient",
                "a division",
                "A division takes as long as four or more products, and its divisor is another one each time.",
                "Divide once for several uses, or keep reciprocals in an array.",
                op.location,
            )
        elif op.kind in _QUOTIENTS and isinstance(_scalar(op.result), IntegerType):
            yield Cause(
                "whole",
                "a division of whole numbers",
                "No vector instruction divides whole numbers, and one division takes as long as ten sums or more.",
                "Divide by a constant, by a power of two, or floats instead.",
                op.location,
            )


def _function(at: Looked) -> Iterator[Cause]:
    """A function such as exp."""
    for op in at.ops:
        if isinstance(op, math.Unary | math.Binary) and op.kind not in _FAST:
            known = op.kind in POLYNOMIALS
            yield Cause(
                "function" if known else "library",
                f"the function {op.kind}",
                "It is a function of the C library, called for each element, or one as exact as that, and takes as "
                "long as ten products or more.",
                "If 1.5 units in the last place may be lost, let it be a polynomial: optimize(approximate=True)."
                if known
                else "Compute it once for several uses, or look it up in a table.",
                op.location,
            )


def _product(at: Looked) -> Iterator[Cause]:
    """A product that is added: two roundings."""
    for op in at.ops:
        if isinstance(op, arith.Binary) and op.kind in ("addf", "subf") and isinstance(_scalar(op.result), FloatType):
            made = [at.makers.get(v) for v in (op.left, op.right)]
            if any(isinstance(each, arith.Binary) and each.kind == "mulf" for each in made):
                yield Cause(
                    "product",
                    "a product and a sum that round apart",
                    "A processor with fused instructions does both at once, but rounds once, which is another result.",
                    "If the last bit may differ, allow it: optimize(contract=True).",
                    op.location,
                )
                return


_FINDERS: Sequence[Callable[[Looked], Iterator[Cause]]] = (
    _recurrence, _sum, _clamp, _wrapped, _gather, _columns, _mixed, _extreme, _function, _division, _product,
)  # fmt: skip
"""What is looked for, in the order in which it counts."""
