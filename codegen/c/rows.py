"""Functions on arrays whose strides callers pass, once more for arrays whose rows are contiguous."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from affdsl.codegen.c.plan import Plan
from affdsl.codegen.c.prototype import Prototype
from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import affine, scf, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType

_LOOPS = affine.For | affine.Parallel | scf.For | scf.Parallel | scf.While
_VECTORS = (
    affine.VectorLoad | affine.VectorStore | vector.TransferRead | vector.TransferWrite | vector.Load | vector.Store
    | vector.MaskedLoad | vector.MaskedStore
)  # fmt: skip


class Version(FrozenValue):
    """A plan that is better where some strides are what `strides` has for them: a number, or sizes multiplied."""

    plan: Plan
    strides: Mapping[Value, tuple[Affine, ...]]


def versions(plan: Plan, *, of_all: bool) -> list[Version]:
    """The better ones of a plan, of which the first that fits is the best.

    Where vectors lie on arrays whose last strides are 1, neighbours are loaded and stored at once. If `of_all`, there
    is also one for contiguous arrays, which is what it would be if no strides were passed, and without vectors one
    where all last strides are 1, for what compilers make of plain loops. Where accesses are checked there are none.
    """
    if plan.notes:
        return []
    arrays = {op.memref for op in walk(plan.func) if isinstance(op, _VECTORS)}
    roots = {plan.roots[a] for a in arrays if isinstance(a.type, MemRefType) and has_rows(a.type) is None}
    found = [_in_rows(plan, [arg for arg in plan.strides if arg in roots])]
    if of_all and any(isinstance(op, _LOOPS) for op in walk(plan.func)):
        found = [_contiguous(plan), found[0] if roots else _in_rows(plan, list(plan.strides))]
    distinct = {frozenset(version.strides.items()): version for version in reversed(found) if version is not None}
    return list(reversed(distinct.values()))


def _in_rows(plan: Plan, arguments: Sequence[Value]) -> Version | None:
    """Where the last strides of some arrays are 1."""
    ones = tuple(s for arg in arguments for s in plan.strides[arg][-1:] if isinstance(s, Value))
    strides = {arg: tuple(1 if s in ones else s for s in of) for arg, of in plan.strides.items()}
    made = replace(plan, name=f"{plan.name}_rows", strides=strides)
    return Version(made, dict.fromkeys(ones, (Affine.of(1),))) if ones else None


def _contiguous(plan: Plan) -> Version | None:
    """Where all arrays are contiguous; None where some size is no sum of arguments."""
    strides: dict[Value, tuple[Affine, ...]] = {}
    for arg, of in plan.strides.items():
        assert isinstance(arg.type, MemRefType)
        promised = plan.func.shapes[plan.func.args.index(arg)] if plan.func.shapes else None
        shape = [None if n is None else Affine.of(n) for n in arg.type.shape] if promised is None else promised
        if any(n is None or not all(isinstance(atom, Value) for atom, _ in n.terms) for n in shape[1:]):
            return None
        for k, stride in enumerate(of):
            if isinstance(stride, Value):
                strides[stride] = tuple(n for n in shape[k + 1 :] if n is not None) or (Affine.of(1),)
    return Version(replace(plan, name=f"{plan.name}_contiguous", strides={}), strides) if strides else None


def choice(plan: Plan, made: Prototype, other: Prototype, version: Version) -> list[str]:
    """The lines with which a function hands on to a version of it where strides are those of that one."""
    names = {made.parameters[s] for s in version.strides}
    given = ", ".join(p.name for p in made.all if p.name not in names)
    call = f"{other.name}({given})"
    tests = [f"{made.parameters[s]} == {_product(of, made)}" for s, of in version.strides.items()]
    test = "\n        && ".join(" && ".join(tests[k : k + 3]) for k in range(0, len(tests), 3))
    if plan.has_status or plan.gives_value:
        return [f"    if ({test})", f"        return {call};"]
    return [f"    if ({test}) {{", f"        {call};", "        return;", "    }"]


def _product(factors: Sequence[Affine], made: Prototype) -> str:
    texts = [_sum(f, made) for f in factors if f != Affine.of(1) or len(factors) == 1]
    return " * ".join(f"({t})" if len(texts) > 1 and " " in t else t for t in texts or ["1"])


def _sum(of: Affine, made: Prototype) -> str:
    parts = [made.parameters[atom] + (f" * {k}" if k != 1 else "") for atom, k in of.terms if isinstance(atom, Value)]
    return " + ".join([*parts, *([str(of.constant)] if of.constant or not parts else [])])
