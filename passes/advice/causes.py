"""What in a loop of the source makes it slow: found in its operations, with what to write instead, or to allow.

Reports say all of it, and `explain()` proposes what is left after all steps; both say it in these words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref
from affdsl.ir.expr import Affine, FloorDiv, Value, parts_of
from affdsl.ir.location import Location
from affdsl.ir.types import FloatType, IntegerType, MemRefType, VectorType
from affdsl.passes.analysis.dependence import Dependence
from affdsl.passes.analysis.parallelism import Parallelism
from affdsl.passes.legality.words import element_in_source
from affdsl.passes.transforms.approximate import POLYNOMIALS

LINE = 512
"""How many bits a line of the caches has: what moves on by more than half of one is in another line nearly always."""
EXTREMES = {
    "minimumf": ("af.min", "<"),
    "maximumf": ("af.max", ">"),
    "minnumf": ("af.fmin", "<"),
    "maxnumf": ("af.fmax", ">"),
}
"""What the lesser and the greater of two floats are called, and the comparison that can stand for them."""
_FAST = ("absf", "sqrt", "copysign", "floor", "ceil", "trunc", "roundeven")
_QUOTIENTS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
_CLAMPS = ("minsi", "maxsi", "minui", "maxui")


class Cause(FrozenValue):
    """One thing that makes a loop slow.

    Attributes
    ----------
    kind
        By which it is found again.
    what
        It, in a few words.
    why
        What it costs, and why it has to be so as it is written: a sentence without its full stop.
    instead
        What to write instead, or to allow: the same.
    array
        The array that it is about, if it is about one.
    ops
        The operations in which it was found.
    """

    kind: str
    what: str
    why: str
    instead: str
    location: Location | None = None
    array: str = ""
    ops: tuple[Op, ...] = field(default=(), compare=False, repr=False)


class Looked(Frozen):
    """What causes are looked for in: a loop, and how things in it move.

    Attributes
    ----------
    loop, name
        The operation, and what its counter is called.
    ops
        What stands in it, and in no loop inside of it.
    makers
        What makes each value of the function.
    stride
        How many elements an access goes on by with each iteration; None where that is not known.
    parallelism
        Whether iterations depend on each other; None where nobody asked.
    sums_up
        Whether it makes a sum of floats, each in the order of the text.
    is_innermost
        Whether it holds no other loop.
    """

    loop: Op
    name: str
    ops: tuple[Op, ...]
    makers: Mapping[Value, Op]
    stride: Callable[[affine.Access], int | None]
    parallelism: Parallelism | None
    sums_up: bool
    is_innermost: bool = True

    def changes(self, value: Value) -> bool:
        """Whether a value may be another one in each iteration."""
        op = self.makers.get(value)
        if op is None or op not in self.ops:
            return value in self.loop.binds()
        if isinstance(op, affine.Load) and not any(self.changes(v) for e in op.index for v in e.values()):
            return any(isinstance(each, affine.Store) and each.memref is op.memref for each in self.ops)
        return not isinstance(op, arith.Constant)

    def subscript(self, op: memref.Load | memref.Store) -> list[Op]:
        """What computes the subscripts of an access in the loop, up to what is loaded for them."""
        found, waiting = dict[Op, None](), [*op.indices]
        while waiting:
            made = self.makers.get(waiting.pop())
            if made is not None and made in self.ops and made not in found:
                found[made] = None
                waiting += [] if isinstance(made, affine.Load | memref.Load) else made.reads()
        return [*found]


def causes(at: Looked) -> tuple[Cause, ...]:
    """What is in the way in a loop, and in no loop inside of it."""
    return tuple(dict.fromkeys(cause for find in _FINDERS for cause in find(at)))


def _recurrence(at: Looked) -> Iterator[Cause]:
    """Each iteration needs what one before has made."""
    of = at.parallelism
    if of is not None and of.verdict == "sequential" and at.is_innermost:
        yield Cause(
            "recurrence",
            "each iteration needs the one before",
            f"{in_words(of)} So its operations wait for each other",
            "shorten what lies between two iterations: compute what needs no earlier result in a loop before",
            at.loop.location,
        )


def _sum(at: Looked) -> Iterator[Cause]:
    """A sum of floats in the order of the text."""
    if at.sums_up:
        yield Cause(
            "sum",
            "a sum in the order of the text",
            "each addition waits for the one before it, since another order rounds in another way",
            "reassociate=True, if its last bits may differ",
            at.loop.location,
            ops=tuple(op for op in at.ops if isinstance(op, arith.Binary) and op.kind in ("addf", "subf")),
        )


def in_words(of: Parallelism) -> str:
    """What makes iterations depend on each other, in sentences."""
    flows = [each for each in of.prevented_by if each.kind == "flow"]
    said = dict.fromkeys(_dependence(each) for each in flows or of.prevented_by)
    return " ".join([*said, *map(sentence, of.reasons)][:2])


def _dependence(of: Dependence) -> str:
    array = of.source.buffer.name
    first, second = (access.op.location.line if access.op.location else "?" for access in (of.source, of.sink))
    words = {
        "flow": f"Line {first} writes elements of {array} that line {second} reads in a later iteration.",
        "anti": f"Line {first} reads elements of {array} that line {second} overwrites in a later iteration.",
        "output": f"Line {first} writes elements of {array} that line {second} overwrites in a later iteration.",
    }
    return words.get(of.kind, f"Iterations share elements of {array}.")


def sentence(text: str) -> str:
    """A text as a sentence of its own, which begins with a word or with code.

    >>> sentence("it waits"), sentence("af.min waits")
    ('It waits.', 'af.min waits.')
    """
    return f"{text[:1].upper() if text.partition(' ')[0].isalpha() else text[:1]}{text[1:]}."


def _subscripts(at: Looked) -> Iterator[Cause]:
    """Subscripts that are clamped, or wrap around, or are data: elements are no neighbours any more."""
    for op in at.ops:
        if isinstance(op, affine.Load | affine.Store) and "%" in element_in_source(op):
            yield _edge("wrapped", "% in a subscript", f"{element_in_source(op)} wraps around", op, at)
        elif isinstance(op, affine.Access) and any(map(_divides, op.index)):
            yield _edge("wrapped", "// in a subscript", "it jumps", op, at)
        elif isinstance(op, memref.Load | memref.Store):
            made = at.subscript(op)
            if any(map(_is_data, made)):
                yield _table(op)
            elif any(isinstance(each, affine.Min | affine.Max) or _kind(each) in _CLAMPS for each in made):
                array = op.memref.hint or "an array"
                yield _edge("clamp", "a clamp in a subscript", f"the subscript of {array} is clamped", op, at)


def _divides(expr: Affine) -> bool:
    return any(isinstance(part, FloorDiv) for part in parts_of(expr))


def _is_data(op: Op) -> bool:
    """Whether an operation loads a number."""
    return isinstance(op, affine.Load | memref.Load)


def _edge(kind: str, what: str, where: str, op: affine.Access | memref.Load | memref.Store, at: Looked) -> Cause:
    return Cause(
        kind,
        what,
        "such a subscript is no row, so each lane is loaded by itself",
        f"a loop of its own for those {at.name} where {where}, or a copy of the array that goes on at its ends",
        op.location,
        op.memref.hint,
        (op,),
    )


def _table(op: memref.Load | memref.Store) -> Cause:
    """A subscript that data gives."""
    array = op.memref.hint or "an array"
    return Cause(
        "gather",
        f"a subscript of {array} that data gives",
        "data chooses its elements, so each lane is by itself",
        f"what {array} has looked up in a loop of its own, and kept in an array for this one"
        if isinstance(op, memref.Load)
        else "subscripts in order, so that neighbours are used together",
        op.location,
        op.memref.hint,
        (op,),
    )


def _columns(at: Looked) -> Iterator[Cause]:
    """An access that goes down a column."""
    for op in at.ops if at.is_innermost else ():
        if isinstance(op, affine.Load | affine.Store) and _is_far(op, at):
            name, element = op.memref.hint or "an array", element_in_source(op)
            yield Cause(
                "columns",
                f"{name} is used in the order of its columns",
                f"{element} is in another line of the cache for each {at.name}, and in no vector",
                f"the dimensions of {name} swapped, or another loop inside",
                op.location,
                op.memref.hint,
                (op,),
            )


def _is_far(op: affine.Load | affine.Store, at: Looked) -> bool:
    """Whether an access is in another line of the cache in each iteration, or nearly so."""
    stride, type = at.stride(op), element_of(op.memref)
    bits = type.width if isinstance(type, FloatType | IntegerType) else LINE
    return stride is not None and 2 * abs(stride) * bits > LINE


def _mixed(at: Looked) -> Iterator[Cause]:
    """Numbers of two types in one computation."""
    for op in at.ops:
        if isinstance(op, arith.Cast) and op.kind in ("extf", "truncf", "sitofp", "uitofp", "fptosi", "fptoui"):
            before, after = element_of(op.operand), element_of(op.result)
            if op.kind in ("extf", "truncf") or isinstance(before, IntegerType):
                yield Cause(
                    "mixed",
                    f"{before} and {after} in one computation",
                    f"each {before} is converted to {after}, and vectors have as few lanes as the wider type allows",
                    "one type for all arrays and numbers of it, the narrower one where it is exact enough",
                    op.location,
                    ops=(op,),
                )


def element_of(value: Value) -> object:
    """The type of a number, or of the lanes or elements of a value."""
    type = value.type
    return type.element if isinstance(type, VectorType | MemRefType) else type


def _extreme(at: Looked) -> Iterator[Cause]:
    """The lesser or the greater of two floats, for which NaN, and the signs of zeros, are told apart."""
    for op in at.ops:
        if isinstance(op, arith.Binary) and op.kind in EXTREMES:
            name, sign = EXTREMES[op.kind]
            yield Cause(
                "extreme",
                f"{name} of floats",
                f"{name} tells NaN and -0 from other numbers: several instructions, not one",
                f"af.select(a {sign} b, a, b), if neither occurs",
                op.location,
                ops=(op,),
            )


def _division(at: Looked) -> Iterator[Cause]:
    """A division: by what the loop does not change, or by another number each time."""
    for op in at.ops:
        if isinstance(op, arith.Binary) and op.kind == "divf" and not at.changes(op.right):
            yield Cause(
                "division",
                "a division by what stays the same",
                "a division takes as long as four or more products, and each iteration divides by the same number",
                "reciprocal=True, for products instead, if the last bit may differ",
                op.location,
                ops=(op,),
            )
        elif isinstance(op, arith.Binary) and op.kind == "divf":
            yield Cause(
                "quotient",
                "a division",
                "a division takes as long as four or more products, and its divisor is another one each time",
                "divide once for several uses, or keep reciprocals in an array",
                op.location,
            )
        elif _kind(op) in _QUOTIENTS and isinstance(element_of(next(iter(op.defines()))), IntegerType):
            yield Cause(
                "whole",
                "a division of whole numbers",
                "no vector instruction divides whole numbers, and one division takes as long as ten sums or more",
                "divide by a constant, by a power of two, or floats instead",
                op.location,
            )


def _kind(op: Op) -> str:
    return op.kind if isinstance(op, arith.Binary) else ""


def _function(at: Looked) -> Iterator[Cause]:
    """A function such as exp."""
    for op in at.ops:
        if isinstance(op, math.Unary | math.Binary) and op.kind not in _FAST:
            known = op.kind in POLYNOMIALS
            yield Cause(
                "function" if known else "library",
                f"the function {op.kind}",
                "it is a function of the C library, called for each element, or one as exact as that, and takes as "
                "long as ten products or more",
                f"approximate=True, for af.{op.kind} by a polynomial, if 1.5 units in the last place may be lost"
                if known
                else "compute it once for several uses, or look it up in a table",
                op.location,
                ops=(op,),
            )


def _product(at: Looked) -> Iterator[Cause]:
    """A product that is added: two roundings."""
    for op in at.ops:
        if _kind(op) in ("addf", "subf") and any(
            _kind(made) == "mulf" for made in map(at.makers.get, op.reads()) if made
        ):
            yield Cause(
                "product",
                "a product and a sum that round apart",
                "a processor with fused instructions does both at once, but rounds once, which is another result",
                "contract=True, if the last bit may differ",
                op.location,
            )
            return


_FINDERS: Sequence[Callable[[Looked], Iterator[Cause]]] = (
    _recurrence, _sum, _subscripts, _columns, _mixed, _extreme, _function, _division, _product,
)  # fmt: skip
"""What is looked for, in the order in which it counts."""
