"""What a cell of a notebook shows of a kernel and of a schedule: how it is called, its loops, and a picture of them.

It never takes long and never fails: where a picture would be too large, or need too much time, there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Call, Func, Return
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.types import INDEX, IndexType
from affdsl.mlir.naming import names_of as mlir_names_of
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.drawing.iteration_space import iteration_space
from affdsl.schedule.loops import counters, names_of, tree_of
from affdsl.shown import preformatted

if TYPE_CHECKING:
    from affdsl.family import Family
    from affdsl.kernel import Kernel
    from affdsl.schedule.schedule import Schedule

MOST_LOOPS, MOST_ACCESSES, DEEPEST = 4, 8, 3
"""Larger kernels have no picture by themselves."""
SIZES = ((6, 4), (8, 4), (10, 4), (4, 2), (16, 8))
"""The sizes of arrays, and other numbers, of a picture: the first that the kernel allows and that show something."""
MOST_POINTS, FEWEST_POINTS = 100, 2

_drawn: WeakKeyDictionary[Func, str | None] = WeakKeyDictionary()


def of_kernel(kernel: Kernel) -> str:
    """The HTML of a kernel: its signature, its loops, and a picture of their iterations."""
    names = names_of(kernel.func)
    return "".join(
        (preformatted(repr(kernel).strip("<>")), preformatted(str(tree_of(kernel.func, names))), _picture(kernel.func))
    )


def of_family(family: Family) -> str:
    """The HTML of a kernel for several types: how it is called, and the loops and picture of one that is made."""
    kernel = next(iter(family._known.values()), None)
    if kernel is None:
        return preformatted(repr(family).strip("<>"))
    loops = str(tree_of(kernel.func, names_of(kernel.func)))
    return "".join((preformatted(repr(family).strip("<>")), preformatted(loops), _picture(kernel.func)))


def of_schedule(schedule: Schedule) -> str:
    """The HTML of a schedule: the Python that replays it, its loops now, and a picture of their iterations."""
    return "".join((preformatted(str(schedule)), preformatted(str(schedule.loops())), _picture(schedule.function)))


def _picture(function: Func) -> str:
    """The drawing of the iterations of the outermost loops of a function that is small enough, else nothing."""
    if function not in _drawn:
        _drawn[function] = next(_pictures(function), None)
    return _drawn[function] or ""


def _pictures(function: Func) -> Iterator[str]:
    """The drawings that are possible, the best first."""
    first = next((op for op in function.body if isinstance(op, affine.For | affine.Parallel)), None)
    if first is None or not _is_small(function):
        return
    ivs = [iv for op in (first, *_inside(first)) for iv in _ivs(op)]
    drawn = function if len(ivs) > 1 else _once(function)
    outer, inner = (ivs[0], ivs[1]) if len(ivs) > 1 else (counters(drawn)[0], ivs[0])
    for size, number in SIZES:
        given = _sizes(function, size, number)
        if given is None:
            continue
        try:
            space = iteration_space(Dependences(drawn), outer, inner, given)
            if FEWEST_POINTS <= len(space.points) <= MOST_POINTS:
                yield f"<div>{space.to_svg(colour=space.axes[len(ivs) == 1])}</div>"
        except (AffdslError, UnknownError):  # nobody could read it, or isl would need too long
            continue


def _is_small(function: Func) -> bool:
    """Whether the dependences of a function are found, and drawn, at once."""
    ops = [*walk(function)]
    accesses = [op for op in ops if op.memory is not None and (op.memory.reads or op.memory.writes)]
    depth = max((_depth(op) for op in function.body), default=0)
    return (
        sum(len(_ivs(op)) for op in ops) <= MOST_LOOPS
        and len(accesses) <= MOST_ACCESSES
        and depth <= DEEPEST
        and not any(isinstance(op, Call) for op in ops)
    )


def _depth(op: Op) -> int:
    """How many loops are inside of each other in an operation."""
    inside = max((_depth(inner) for block in op.blocks() for inner in block), default=0)
    return inside + len(_ivs(op))


def _inside(op: Op) -> Iterator[Op]:
    """The first loop inside of a loop, and the first one inside of that."""
    found = next((inner for block in op.blocks() for inner in block if _ivs(inner)), None)
    if found is not None:
        yield found
        yield from _inside(found)


def _ivs(op: Op) -> tuple[Value, ...]:
    if isinstance(op, affine.For | scf.For):
        return (op.iv,)
    return op.ivs if isinstance(op, affine.Parallel | scf.Parallel) else ()


def _once(function: Func) -> Func:
    """A function that does the same in one iteration of a loop: a picture has two loops."""
    zero, one = Affine.of(0), Affine.of(1)
    body = tuple(op for op in function.body if not isinstance(op, Return))
    around = affine.For(Value(INDEX, "call"), (zero,), (one,), (*body, affine.Yield(())))
    return with_fields(function, body=(around, *(op for op in function.body if isinstance(op, Return))))


def _sizes(function: Func, size: int, number: int) -> dict[str, int] | None:
    """Numbers for the index arguments of a function; None where it does not allow them."""
    lengths = {v for shape in function.shapes for expr in shape or () for v in expr.values()}
    given = {v: size if v in lengths else number for v in function.args if isinstance(v.type, IndexType)}
    names = mlir_names_of(function)
    allowed = all(fact.holds(given) for fact in function.assumes)
    return {names[v]: n for v, n in given.items()} if allowed else None
