"""Sines and cosines of one number, which the C library makes together in two thirds of the time.

Compilers pair them by themselves, but only where they know both functions, and then they compute those of constants,
rounded otherwise (`library_functions`). `sincos` of glibc rounds as `sin` and `cos` do; other libraries are not asked.
It writes through pointers, so it is called in a function without other effects, which a compiler calls once for one
number. Whether the numbers are one is the compiler's to prove: if not, each call takes a little longer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from affdsl.codegen.c.helper import Helper, inline_function
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, math, memref
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import subscripts, walk
from affdsl.ir.types import FloatType

_CONDITION = "#if defined(__GNUC__) && defined(__GLIBC__)"


def paired(f: Func) -> frozenset[Op]:
    """The sines and cosines of scalars in f that are beside the other one of what is likely the same number."""
    return frozenset(op for each in walk(f) for block in each.blocks() for op in _in_block(block))


def _in_block(block: Iterable[Op]) -> Iterator[Op]:
    loads = dict[Value, object]()
    stores = Counter[Value]()
    found = defaultdict[object, list[math.Unary]](list)
    for op in block:
        match op:
            case affine.Load(result=result, memref=buffer):
                loads[result] = buffer, subscripts(op), stores[buffer]
            case math.Unary(kind="sin" | "cos", operand=operand) if isinstance(operand.type, FloatType):
                found[loads.get(operand, operand)].append(op)
            case _:
                stores.update(each.memref for each in walk(op) if isinstance(each, affine.Store | memref.Store))
    for of_one in found.values():
        if len({op.kind for op in of_one}) == 2:
            yield from of_one


def _of_pair(name: str, lane: int) -> Helper:
    body = f"{_CONDITION}\nreturn sin_and_cos(a)[{lane}];\n#else\nreturn {name}(a);\n#endif"
    return Helper(inline_function("double", f"paired_{name}", "double a", body), ("sin_and_cos",), headers=("math.h",))


PAIRED: Mapping[str, Helper] = {
    "sin_and_cos": Helper(
        f"""\
{_CONDITION}
/* under a name that no compiler knows: it would compute those of constants */
void affdsl_sincos(double, double *, double *) __asm__("sincos");

typedef double affdsl_two_f64 __attribute__((vector_size(16)));

static __attribute__((const, noinline)) affdsl_two_f64 sin_and_cos(double a)
{{
    double made[3]; /* apart: no vector is loaded of what was just stored in halves */
    affdsl_sincos(a, &made[0], &made[2]);
    return (affdsl_two_f64){{made[0], made[2]}};
}}
#endif""",
        headers=("math.h",),
    ),
    "paired_sin": _of_pair("sin", 0),
    "paired_cos": _of_pair("cos", 1),
}
"""Helpers by their names."""
