"""What straight code takes of the units of a core: how many operations there are of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from affdsl.codegen.c.quotients import is_product
from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine, arith, math, memref, scf, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Affine, FloorDiv, Product, Value
from affdsl.ir.types import ComplexType, FloatType, IndexType, IntegerType, Type, VectorType
from affdsl.optimize.machine import LINE, Machine, bits_of, element_of, lanes_of, registers_of


@dataclass
class Units:
    """How many operations there are of each kind.

    Attributes
    ----------
    all
        Those of any kind.
    wide
        Those on registers of vectors, without loads and stores.
    busy
        Cycles in which a unit takes no other operation: it divides, or a function is computed.
    lost
        Cycles in which nothing else is done.
    lines
        How many lines of the nearest cache vectors are loaded from, and stored into.
    """

    all: float = 0.0
    floats: float = 0.0
    integers: float = 0.0
    loads: float = 0.0
    stores: float = 0.0
    moves: float = 0.0
    wide: float = 0.0
    busy: float = 0.0
    lost: float = 0.0
    lines: float = 0.0

    def add(self, other: Units, times: float = 1.0) -> None:
        """Some more of them."""
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + times * count)

    def cycles(self, machine: Machine) -> float:
        """How long they take, if none waits for another one."""
        of_each = (
            self.all / machine.issue,
            self.floats / machine.floats,
            self.integers / machine.integers,
            self.loads / machine.loads,
            self.stores / machine.stores,
            self.moves / machine.moves,
            self.wide / machine.wide,
            self.lines / machine.loads,
            self.busy,
        )
        return max(of_each) + self.lost


QUOTIENTS = {16: 3.5, 32: 3.5, 64: 4.5}
"""Cycles in which a quotient keeps its unit, by the bits of the numbers: of one number as long as of a register."""
GUARD, LONG_GUARD = 3.0, 5.0
"""Operations by which it is known that no number is so small that it has to be divided; with masks, and without."""
ROOTS = {16: 5.0, 32: 5.0, 64: 8.5}
"""The same for square roots."""
WHOLE_QUOTIENT = 10.0
"""Cycles in which a quotient of integers keeps its unit."""
BY_NUMBER = 5.0
"""Operations of a quotient of integers by a number: it is a product."""
LONG_BY_NUMBER = 12.0
"""The same of vectors of 32 bits and more: no instruction has the upper halves of their products."""
FUNCTIONS = {"exp": 12.0, "exp2": 12.0, "log": 12.0, "log2": 12.0, "sin": 16.0, "cos": 16.0, "powf": 40.0}
"""Cycles of a function for a number, or a lane of 64 bits; a quarter of that for one of 32 bits."""
EXTREME, EXTREME_BY_COMPILER = 4.0, 8.0
"""Operations of the lesser of two floats, of which one may be no number: in registers with masks, which have `vrangeps`
for it, or where one is a number that is known; and in vectors that compilers make of comparisons (7 by clang 22, 12 by
gcc 12), or of two instructions."""
TRUNCATED, TRUNCATED_BY_COMPILER = 2.0, 7.0
"""Operations beside the conversion of a float to an integer, which may be too large, or no number: two comparisons, and
in vectors that compilers make of branches six of them, with as many of masks."""
SHORT_BITS = 32
"""Shuffles of two registers whose lanes have fewer bits may be several operations."""
SHORTER = 2.0
"""Moves for integers that become shorter (`vpmovdb` is two operations)."""
TABLE = 4.0
"""Moves of a register of bytes that are looked up, in two halves of a table, of which each is two registers."""
COMPLEX = {"add": 2.0, "sub": 2.0, "mul": 6.0}
COMPLEX_FUNCTION = 30.0

_ROUNDED = ("ceil", "floor", "trunc", "round", "roundeven")
_SIMPLE = frozenset(("absf", "copysign", "sqrt", "rsqrt", *_ROUNDED, *math.FLOAT_TESTS, *math.INTEGER_UNARY))
_EXTREMES = frozenset(("minimumf", "maximumf", "minnumf", "maxnumf"))
_QUOTIENTS = frozenset(("divf", "sqrt", "rsqrt"))
_ONE_UNIT = frozenset(
    ("minsi", "maxsi", "minui", "maxui", "shli", "shrsi", "shrui", "fptosi", "fptoui", "sitofp", "uitofp")
)
"""Operations for which there is one unit of two in registers of 512 bits."""
_TRUNCATIONS = frozenset(("fptosi", "fptoui"))
_WHOLE_QUOTIENTS = frozenset(("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"))


Makers: TypeAlias = Callable[[Value], Op | None]
"""What makes a value."""


def units_of(op: Op, machine: Machine, maker: Makers = lambda _: None, lanes: int = 1) -> Units:
    """What an operation takes, without what is inside of it; an operation on numbers as if these had so many lanes.

    >>> from affdsl.codegen.c.vector_helpers import TARGETS
    >>> from affdsl.ir.expr import Value
    >>> from affdsl.ir.types import F32
    >>> from affdsl.optimize.machine import usual
    >>> avx2 = usual(next(target for target in TARGETS if target.name == "avx2"))
    >>> x = Value(VectorType((16,), F32))
    >>> units_of(arith.Binary(x, "addf", x, x), avx2).floats
    2.0
    """
    found = _memory(op, machine, maker, lanes) or _lanes(op, machine, maker) or _arithmetic(op, machine, maker, lanes)
    computed = found.floats + found.integers + found.moves
    found.all += computed + found.loads + found.stores
    if lanes > 1 or any(isinstance(v.type, VectorType) for v in (*op.defines(), *op.reads())):
        found.wide += computed * (2 if getattr(op, "kind", "") in _ONE_UNIT or isinstance(op, arith.Compare) else 1)
    return found


def _memory(op: Op, machine: Machine, maker: Makers, lanes: int) -> Units | None:
    """Of loads and stores."""
    match op:
        case memref.Load() | memref.Store() if lanes > 1:  # one lane after the other
            is_load = isinstance(op, memref.Load)
            return Units(loads=lanes * is_load, stores=2.0 * lanes * (not is_load), moves=lanes)
        case affine.Load() | affine.Store() if lanes > 1 and op.index:
            return _lines(at_once(element_of(op.memref.type), lanes), machine, is_store=isinstance(op, affine.Store))
        case affine.Load() | memref.Load():
            return Units(loads=registers_of(op.result.type, machine))
        case affine.Store() | memref.Store():
            return Units(stores=registers_of(op.value.type, machine))
        case affine.VectorLoad() | vector.Load() | vector.TransferRead():
            return _lines(op.result.type, machine, is_store=False)
        case affine.VectorStore() | vector.Store() | vector.TransferWrite():
            return _lines(op.value.type, machine, is_store=True)
        case vector.MaskedLoad():
            found = _lines(op.result.type, machine, is_store=False)
            return replace(found, integers=registers_of(op.result.type, machine))
        case vector.MaskedStore():
            count = registers_of(op.value.type, machine)
            if count > 1:
                return Units(stores=2.0 * lanes_of(op.value.type), moves=2.0 * lanes_of(op.value.type))
            known = maker(op.mask)
            if isinstance(known, arith.Constant) and isinstance(known.value, tuple):  # C has one store for each lane
                return Units(stores=min(float(sum(known.value)), machine.masked_store), moves=sum(known.value) / 2)
            found = _lines(op.value.type, machine, is_store=True)
            return replace(found, stores=found.stores * machine.masked_store, integers=1.0)
        case vector.Gather() if machine.target.has_tables and bits_of(op.result.type) == 8:
            return Units(moves=TABLE * registers_of(op.result.type, machine))
        case vector.Gather() | vector.ExpandLoad():
            return Units(loads=lanes_of(op.result.type), moves=lanes_of(op.result.type))
        case vector.Scatter() | vector.CompressStore():
            return Units(stores=lanes_of(op.value.type), moves=lanes_of(op.value.type))
    return None


def _lanes(op: Op, machine: Machine, maker: Makers) -> Units | None:
    """Of what moves lanes, or makes one number of them."""
    match op:
        case vector.Shuffle():
            count = registers_of(op.result.type, machine)
            return Units(moves=_of_two(op, machine) if count < 2 else lanes_of(op.result.type))
        case vector.FromElements():
            wide = machine.target.has_gathers and bits_of(element_of(op.result.type)) >= 32  # as they are gathered
            is_gathered = wide and all(isinstance(maker(v), memref.Load) for v in op.elements)
            return Units() if is_gathered else Units(moves=lanes_of(op.result.type))
        case vector.Broadcast() | vector.ExtractStridedSlice() if _is_number(op.source, maker):
            return Units()  # it is made before loops
        case vector.ExtractStridedSlice() if not any(op.offsets):
            return Units()
        case vector.Extract() | vector.Insert() | vector.ExtractStridedSlice() | vector.Broadcast():
            return Units(moves=0.5)
        case vector.Reduction() if isinstance(element_of(op.source.type), FloatType):
            return Units(floats=lanes_of(op.source.type), moves=lanes_of(op.source.type))
        case vector.Reduction():
            return Units(integers=2.0 * registers_of(op.source.type, machine) + 2.0)
        case arith.Constant() | vector.ShapeCast() | affine.Yield() | scf.Yield():
            return Units()
    return None


def _of_two(op: vector.Shuffle, machine: Machine) -> float:
    """The moves of a shuffle of one register: more on some machines where short lanes come from two others."""
    lanes = lanes_of(op.left.type)
    are_two = {k < lanes for k in op.mask if k >= 0} == {True, False}
    return machine.short if are_two and bits_of(op.result.type) < SHORT_BITS else 1.0


def _arithmetic(op: Op, machine: Machine, maker: Makers, lanes: int) -> Units:
    match op:
        case affine.Apply():
            return subscripts((op.expr,))
        case affine.Min() | affine.Max():
            found = subscripts(op.exprs)
            found.integers += len(op.exprs)
            return found
        case affine.If():
            return Units(integers=float(len(op.condition)))
        case scf.If():
            return Units(integers=1.0)
        case math.Unary() | math.Binary() if op.kind not in _SIMPLE:
            is_vector, type = isinstance(op.result.type, VectorType), op.result.type
            lanes_of_64 = lanes_of(type) * (bits_of(type) / 64) ** 2 if is_vector else 1.0
            handed_over = machine.handed_over if is_vector and bits_of(type) == 64 else 0.0
            return Units(busy=(FUNCTIONS.get(op.kind, machine.function) + handed_over) * lanes_of_64)
        case complex_.Binary():
            return Units(floats=COMPLEX.get(op.kind, COMPLEX_FUNCTION), moves=1.0)
        case complex_.Unary():
            return Units(floats=COMPLEX_FUNCTION)
        case arith.Cast() if _is_number(op.operand, maker):
            return Units()
        case arith.Cast() if _is_index(op.result.type) or _is_index(op.operand.type):
            return Units(integers=0.5)
        case arith.Cast() if isinstance(at_once(op.result.type, lanes), VectorType):
            old, new = (at_once(v.type, lanes) for v in (op.operand, op.result))
            found = _cast(old, new, machine)
            if op.kind in _TRUNCATIONS:
                more = TRUNCATED_BY_COMPILER if lanes > 1 else TRUNCATED
                found.floats += more * max(registers_of(each, machine) for each in (old, new))
            return found
        case arith.Cast() if op.kind in _TRUNCATIONS:
            return Units(floats=1 + TRUNCATED)
    return _lanewise(op, machine, maker, lanes) if isinstance(op, Lanewise) else Units()


def _cast(old: Type, new: Type, machine: Machine) -> Units:
    """Of vectors of another type: lanes of another size move, and twice where they become shorter integers."""
    count, bits = max(registers_of(each, machine) for each in (old, new)), (bits_of(old), bits_of(new))
    are_floats = [isinstance(element_of(each), FloatType) for each in (old, new)]
    moves = 0.0 if bits[0] == bits[1] or 1 in bits else 1.0 if bits[0] < bits[1] or any(are_floats) else SHORTER
    return Units(
        floats=count * any(are_floats), integers=count * (not any(are_floats) and not moves), moves=count * moves
    )


def at_once(type: Type, lanes: int) -> Type:
    """The type of so many numbers at once; of what has lanes already, or counts, that itself."""
    return VectorType((lanes,), type) if lanes > 1 and isinstance(type, FloatType | IntegerType) else type


def _lanewise(op: Lanewise, machine: Machine, maker: Makers, lanes: int) -> Units:
    """Of what does the same to each lane."""
    type, kind = at_once(next(iter(op.defines())).type, lanes), getattr(op, "kind", "")
    is_vector, count = isinstance(type, VectorType), registers_of(type, machine)
    if has_products(op, machine, maker, lanes_of(next(iter(op.defines())).type)):
        return Units(floats=2.0 * count, integers=(GUARD if machine.target.has_masks else LONG_GUARD) * count)
    if kind in _QUOTIENTS:
        busy = QUOTIENTS.get(bits_of(type), QUOTIENTS[64]) * (kind != "sqrt")
        busy += ROOTS.get(bits_of(type), ROOTS[64]) * (kind != "divf")
        return Units(floats=count, busy=count * busy * (machine.parts if isinstance(type, VectorType) else 1))
    if kind in _WHOLE_QUOTIENTS and isinstance(op, arith.Binary) and _is_number(op.right, maker):
        return Units(integers=(LONG_BY_NUMBER if is_vector and bits_of(type) > 16 else BY_NUMBER) * count)
    if kind in _WHOLE_QUOTIENTS:
        return Units(integers=4.0 * lanes_of(type), busy=WHOLE_QUOTIENT * lanes_of(type))
    if kind in _EXTREMES:
        is_made = lanes > 1 or (is_vector and not machine.target.has_masks)
        is_long = is_made and not any(_is_number(v, maker) for v in op.reads())
        return Units(floats=(EXTREME_BY_COMPILER if is_long else EXTREME) * count)
    if kind == "muli" and is_vector:
        return Units(integers=count * machine.products[bits_of(type) > 32])
    if isinstance(op, arith.Compare):
        count = registers_of(at_once(op.left.type, lanes), machine)
        return Units(floats=count) if isinstance(element_of(op.left.type), FloatType) else Units(integers=count)
    if isinstance(op, math.Fma | vector.Fma) and is_vector:
        return Units(floats=count * machine.halves)
    is_float = isinstance(element_of(type), FloatType | ComplexType)
    return Units(floats=count) if is_float else Units(integers=count)


def has_products(op: Op, machine: Machine, maker: Makers, lanes: int) -> bool:
    """Whether an operation, on vectors of so many lanes, is a quotient that C makes of products (decision 137)."""
    known = _number(op.right, maker) if isinstance(op, arith.Binary) and op.kind == "divf" else None
    if known is None or lanes < 2:
        return False
    numbers = {*known.value} if isinstance(known.value, tuple) else {known.value}
    divisor, *others = numbers
    return not others and is_product(float(divisor), element_of(known.result.type), lanes, machine.target)


def _is_number(v: Value, maker: Makers) -> bool:
    """Whether a value is a number, or one in all lanes."""
    return _number(v, maker) is not None


def _number(v: Value, maker: Makers) -> arith.Constant | None:
    """The number that a value is, or that is in all lanes."""
    op = maker(v)
    while isinstance(op, vector.Broadcast | vector.ExtractStridedSlice):
        op = maker(op.source)
    return op if isinstance(op, arith.Constant) else None


def subscripts(exprs: Iterable[Affine], iv: Value | None = None) -> Units:
    """Of what is no address by itself: quotients, by numbers or by sizes, and products; only those of a counter."""
    atoms = [atom for e in exprs for term, _ in e.terms for atom in (term, *getattr(term, "factors", ()))]
    found = Units(integers=float(sum(isinstance(atom, Product) for atom in atoms)))
    for atom in atoms:
        if isinstance(atom, FloorDiv) and (iv is None or iv in atom.reads):
            found.integers += 4.0
            found.busy += WHOLE_QUOTIENT * (not isinstance(atom.divisor, int))
    return found


def _is_index(type: Type) -> bool:
    return isinstance(element_of(type), IndexType)


def _lines(type: Type, machine: Machine, *, is_store: bool) -> Units:
    """Of vectors that may begin with any element: what lies in two lines is loaded, or stored, twice."""
    bytes = min(lanes_of(type) * bits_of(type), machine.target.width) / 8
    count, in_two = registers_of(type, machine), max(0.0, bytes - bits_of(type) / 8) / LINE
    lines, halves = count * (1 + in_two), machine.halves if bytes > LINE / 2 else 1.0  # one half may lie in two lines
    if is_store:
        return Units(stores=count * (halves + in_two * (machine.into_two - 1)), lines=lines)
    return Units(loads=count * (halves + in_two), lines=lines)
