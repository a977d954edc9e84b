"""Which affine accesses of a module leave their memref, in the words of mlir-opt's test pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal

from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType, VectorType
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.polyhedral import UnknownError, spending
from affdsl.passes.analysis.relations import BUDGET, Relation, domain_of, remembered
from affdsl.passes.mlir_opt.remarks import Remarks

End = Literal["upper", "lower"]


def memref_bound_check(module: func.Module, context: func.Module | None = None) -> Iterator[Remarks]:
    """An error for each dimension and end at which an affine load or store, of a vector too, leaves its memref.

    A static size is left where some iteration does so, for some values of the symbols, as mlir-opt has it. A size that
    is known only at run time is left where the access is outside for all sizes with which it runs at all; mlir-opt
    says so of every such access. All lanes of a vector count, of which mlir-opt looks at the first. An index that is
    not affine is an error in the words of mlir-opt, with the reason. What else cannot be decided is a warning that
    says why.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<100xf32>, %B: memref<?xf32>) {
    ...   affine.for %i = 0 to 100 {
    ...     %a = affine.load %A[%i + 1] : memref<100xf32>
    ...     affine.store %a, %B[%i - 1] : memref<?xf32>
    ...   }
    ...   return
    ... }''')
    >>> for remarks in memref_bound_check(module):
    ...     print(*remarks.messages)
    'affine.load' op memref out of upper bound access along dimension #1
    'affine.store' op memref out of lower bound access along dimension #1
    """
    functions = (op for op in walk(module) if isinstance(op, func.Func) and not op.external)
    for function in functions:
        accesses = Accesses(function, module if context is None else context)
        for op, domain in accesses.domains.items():
            if isinstance(op, affine.Access):
                yield from _of(op, domain, accesses)


def _of(op: affine.Access, domain: Domain, accesses: Accesses) -> Iterator[Remarks]:
    """What is wrong with one access, dimension by dimension, the upper end first."""
    is_affine = True
    for axis, (lanes, written) in enumerate(zip(_lanes(op), op.index, strict=True)):
        expr, inside = accesses.scope.expr(written, domain)
        size = accesses.scope.size_of(op.memref, axis)
        within: tuple[tuple[End, Constraint | None], ...] = (
            ("upper", None if size is None else Constraint(expr + (lanes - 1) - size)),
            ("lower", Constraint(-expr - 1)),
        )
        is_static = isinstance(op.memref.type, MemRefType) and op.memref.type.shape[axis] is not None
        for end, outside in within:
            what = f"'{op_name(op)}' op memref out of {end} bound access along dimension #{axis + 1}"
            if outside is None:
                yield Remarks(op, "warning", (f"{what} is not excluded: the size varies",))
                continue
            why = _unknown_or_outside(inside, outside, any_sizes=is_static or end == "lower")
            if why == "":
                yield Remarks(op, "error", (what,))
            elif why and inside.unknown != domain.unknown:  # that is said once of an access
                if is_affine:
                    yield Remarks(op, "error", (f"getMemRefRegion: compose affine map failed: {why}",))
                is_affine = False
            elif why is not None:
                yield Remarks(op, "warning", (f"{what} is not excluded: {why}",))


def _unknown_or_outside(domain: Domain, outside: Constraint, *, any_sizes: bool) -> str | None:
    """None where no iteration is outside, "" where one certainly is, and else why that is not known."""
    whole = domain.relation(())
    part = domain.where(((outside,),)).relation(())
    try:
        with spending(BUDGET):
            found = remembered(("outside", whole, part, any_sizes), partial(_outside, whole, part, any_sizes))
    except UnknownError as error:
        return str(error)
    return "; ".join(domain.unknown) if found else None


def _outside(whole: Relation, part: Relation, any_sizes: bool) -> bool:
    """Whether a part of some iterations is left with some sizes; or else with all sizes of the whole."""
    if any_sizes or domain_of(part).is_empty():
        return not domain_of(part).is_empty()
    return domain_of(whole).params().is_subset(domain_of(part).params())


def _lanes(op: affine.Access) -> tuple[int, ...]:
    """How many elements it accesses along each dimension: at least so many, where the vector is scalable."""
    rank = len(op.index)
    match op:
        case affine.VectorLoad(result=Value(type=VectorType(shape=shape))):
            found = shape
        case affine.VectorStore(value=Value(type=VectorType(shape=shape))):
            found = shape
        case _:
            return (1,) * rank
    of_vectors = isinstance(op.memref.type, MemRefType) and isinstance(op.memref.type.element, VectorType)
    return (1,) * rank if of_vectors else (*(1,) * (rank - len(found)), *found)
