"""The packed entry points that the just-in-time compiler calls, and the signature that goes with them.

The C of `affdsl_entry` finds the sizes in the shapes of the arrays, checks every dimension and assumption, and only
then calls the kernel. Arithmetic on sizes is checked for overflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from affdsl.codegen.arguments import ArrayArgument, ArrayResult, ScalarArgument, ScalarResult, Signature
from affdsl.codegen.c.allowed import allowed
from affdsl.codegen.c.expressions import Code, call, number
from affdsl.codegen.c.instruments import BEGIN, END
from affdsl.codegen.c.names import Scope
from affdsl.codegen.c.plan import Plan, plans
from affdsl.codegen.c.prototype import Prototype
from affdsl.codegen.c.strides import passed_strides, strides_of
from affdsl.codegen.c.threads import EXPORT, SETTER
from affdsl.codegen.c.types import element, number_type, stored_type
from affdsl.codegen.c.unit import Unit
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value
from affdsl.ir.numeric import dtype
from affdsl.ir.types import IndexType, MemRefType, NumberType, Type

LOCALS = ("pointers", "sizes", "symbols", "failed", "failure", "status")
"""The variables of the entry points beside numbered ones: the function that they call is not called so."""

_FAILURE = f"""/* What the last call of this thread noted of the check that failed. */
static _Thread_local int64_t affdsl_failed[ROOM];

{EXPORT}void affdsl_failure(int64_t *numbers);

void affdsl_failure(int64_t *numbers)
{{
    memcpy(numbers, affdsl_failed, sizeof affdsl_failed);
}}
"""


def signature(module: Module, entry: str, *, sizes: int = 0, names: Sequence[str] = ()) -> Signature:
    """What a caller from Python passes to the function `entry` and gets from it.

    The first `sizes` index arguments are no arguments of the caller. `names` replaces the arguments' own names.
    """
    plan = plans(module, entry)[entry]
    f = plan.func
    passed = list(enumerate(f.args))[sizes:]
    arguments: list[ArrayArgument | ScalarArgument] = []
    for k, (position, arg) in enumerate(passed):
        name = names[k] if names else arg.hint or f"argument{k}"
        unsigned = position in f.unsigned
        if isinstance(arg.type, MemRefType):
            kind = dtype(element(arg.type), unsigned=unsigned)
            strided = arg in plan.strides
            arguments.append(ArrayArgument(name, kind, arg.type.rank, position in plan.written, strided))
        else:
            arguments.append(ScalarArgument(name, _scalar_dtype(number_type(arg.type), unsigned)))
    results: list[ArrayResult | ScalarResult] = []
    for result in plan.results:
        if isinstance(result.type, MemRefType):
            results.append(ArrayResult(dtype(element(result.type), unsigned=result.unsigned), result.type.rank))
        else:
            results.append(ScalarResult(_scalar_dtype(number_type(result.type), result.unsigned)))
    return Signature(f.symbol, tuple(arguments), tuple(results))


def entry_points(
    plan: Plan,
    made: Prototype,
    sizes: int,
    unit: Unit,
    against: Sequence[Sequence[Constraint]] = (),
    *,
    asks: bool = False,
    is_timed: bool = False,
    has_turned: bool = False,
) -> str:
    """The text of the entry points of a planned function; they refuse sizes for which all of one of `against` holds.

    Where it `asks`, a call with index arguments that were not allowed before gives 4, with nothing touched; where it
    `has_turned` form, one of which all strided arrays lie in Fortran order gives 5. The call of the function is timed
    by clock 0 if it `is_timed`.
    """
    f = plan.func
    _refuse(f, sizes)
    indices = [a for a in f.args if isinstance(a.type, IndexType)]
    parts = [_binder(f, sizes, indices, unit, against)]
    lines = _bind_lines(indices)
    if asks:
        parts.append(allowed(len(indices), EXPORT))
        lines += ["    if (affdsl_is_allowed(symbols) == 0)", "        return 4;"]
    arguments: list[str] = []
    pointer, places = 0, _places(f)
    if has_turned:
        lines += _refused_in_fortran_order(plan, places, unit)
    for position, arg in enumerate(f.args):
        if position < sizes:
            arguments.append(f"symbols[{position}]")
            continue
        arguments.append(_argument(arg.type, position in f.unsigned, pointer, unit))
        rank = len(plan.strides.get(arg, ()))
        arguments += [f"sizes[{places[arg] + rank + k}]" for k in range(rank)]
        pointer += 1
    after: list[str] = []
    value, value_end = "", ""
    for result in plan.results:
        place = f"pointers[{pointer}]"
        kind = stored_type(element(result.type) if result.is_array else result.type, result.unsigned)
        is_bfloat = not result.is_array and str(result.type) == "bf16"
        if not result.is_array and plan.gives_value:
            value = f"*(float *){place} = {unit.helper('bf16_value')}(" if is_bfloat else f"*({kind} *){place} = "
            value_end = ")" if is_bfloat else ""
        elif is_bfloat:
            lines.append(f"    uint16_t affdsl_result{pointer};")
            arguments.append(f"&affdsl_result{pointer}")
            after.append(f"    *(float *){place} = {unit.helper('bf16_value')}(affdsl_result{pointer});")
        else:
            arguments.append(place)
        pointer += 1
    if unit.sites is not None:
        parts.append(_FAILURE.replace("ROOM", str(unit.sites.room)))
        arguments.append("failure")
        lines += [f"    int64_t failure[{unit.sites.room}] = {{0}};"]
    text = f"{made.name}({', '.join(arguments)})"
    if is_timed:
        lines.append(f"    {BEGIN}(0);")
        after.insert(0, f"    {END}(0);")
    if unit.sites is not None:
        unit.header("string.h")
        lines += [f"    const int32_t status = {text};", "    if (status != 0) {"]
        lines += ["        memcpy(affdsl_failed, failure, sizeof failure);", "        return status;", "    }"]
    elif value:
        lines.append(f"    {value}{text}{value_end};")
    elif plan.has_status:
        lines += [f"    if ({text} != 0)", "        return 2;"]
    else:
        lines.append(f"    {text};")
    lines += [*after, "    return 0;"]
    head = "int32_t affdsl_entry(void *const *pointers, const int64_t *sizes)"
    parts.append(f"{EXPORT}{head};\n\n{head}\n{{\n" + "".join(f"{line}\n" for line in lines) + "}\n")
    if any(r.is_array for r in plan.results):
        parts.append(_results(plan, indices, unit))
    if unit.has_threads:
        parts.append(SETTER)
    return "\n".join(parts)


def _refused_in_fortran_order(plan: Plan, places: Mapping[Value, int], unit: Unit) -> list[str]:
    """Lines that leave with 5 where all strided arrays have smaller strides in their first dimension than the last."""
    unit.header("stdlib.h")
    tests = []
    for arg, strides in plan.strides.items():
        if len(strides) > 1:
            first, last = places[arg] + len(strides), places[arg] + 2 * len(strides) - 1
            tests.append(f"llabs(sizes[{first}]) < llabs(sizes[{last}])")
    return [f"    if ({' && '.join(tests)})", "        return 5;"]


def _refuse(f: Func, sizes: int) -> None:
    for k, arg in enumerate(f.args):
        if k < sizes and not isinstance(arg.type, IndexType):
            raise UnsupportedError(f"argument {k} of {f.symbol!r} is said to be a size, but is {arg.type}")
        if isinstance(arg.type, MemRefType):
            strides, offset = strides_of(arg.type, f"array {arg.hint!r}")
            if (offset is not None and strides is not None) or any(s is not None for s in strides or ()):
                raise UnsupportedError(
                    f"array {arg.hint!r} of {f.symbol!r} has the layout {arg.type.layout}; "
                    "a call from Python passes contiguous arrays, or ones of which no stride and no offset is known"
                )


def _bind_lines(indices: Sequence[Value]) -> list[str]:
    count = max(len(indices), 1)
    return [
        f"    int64_t symbols[{count}];",
        "    if (affdsl_bind(pointers, sizes, symbols) != 0)",
        "        return 1;",
    ]


def _binder(
    f: Func, sizes: int, indices: Sequence[Value], unit: Unit, against: Sequence[Sequence[Constraint]] = ()
) -> str:
    """The function that fills in the index arguments, and checks all that the kernel's contract says."""
    scope = Scope()
    for name in LOCALS:
        scope.reserve(name)
    known: dict[Value, Code] = {}
    lines: list[str] = []
    dimensions = _dimensions(f)
    for position, arg in enumerate(f.args[sizes:]):
        if isinstance(arg.type, IndexType):
            known[arg] = Code(scope.declare(arg.hint, "x"))
            lines.append(f"const int64_t {known[arg]} = *(const int64_t *)pointers[{position}];")
    left = list(f.args[:sizes])
    while left:
        value, line = _solve(left, dimensions, known, scope, unit, f)
        left.remove(value)
        lines += line
    checks: list[str] = [f"{known[v]} < 0" for v in f.args[:sizes]]
    for place, expr in dimensions:
        shown = checked_expression(expr, known, unit)
        if f"const int64_t {shown} = {place};" not in lines:
            checks.append(f"{place} != {shown}")
    for constraint in f.assumes:
        shown = checked_expression(constraint.expr, known, unit)
        checks.append(f"{shown} {'!=' if constraint.equality else '<'} 0")
    for constraints in against:
        tests = [f"{checked_expression(c.expr, known, unit)} {'==' if c.equality else '>='} 0" for c in constraints]
        checks.append(tests[0] if len(tests) == 1 else f"({' && '.join(tests)})" if tests else "1")
    stores = [f"symbols[{k}] = {known[v]};" for k, v in enumerate(indices)]
    if not stores:
        stores = ["symbols[0] = 0;"]
    test = [
        f"if ({' || '.join(checks[:1])}" + ("".join(f" ||\n        {c}" for c in checks[1:])) + ")",
        "    return 1;",
    ]
    text = "\n".join([*lines, *(test if checks else ())])
    flag = ["int32_t failed = 0;"] if "&failed" in text else []
    end = ["if (failed != 0)", "    return 1;"] if flag else []
    unused = [f"(void){name};" for name in ("pointers", "sizes") if f"{name}[" not in text]
    body = "\n".join([*unused, *flag, text, *end, *stores, "return 0;"])
    body = "".join(f"    {line}\n" for line in body.split("\n") if line)
    head = "static int32_t affdsl_bind(void *const *pointers, const int64_t *sizes, int64_t *symbols)"
    about = "/* Finds the sizes that the arrays have, and checks them; 0, or 1 where they disagree. */\n"
    return f"{about}{head}\n{{\n{body}}}\n"


def _dimensions(f: Func) -> list[tuple[str, Affine]]:
    """Each dimension of each array argument: where it is in `sizes`, and what it must be."""
    found: list[tuple[str, Affine]] = []
    places = _places(f)
    for position, arg in enumerate(f.args):
        if not isinstance(arg.type, MemRefType):
            continue
        promised = f.shapes[position] if f.shapes else None
        for k, size in enumerate(arg.type.shape):
            if promised is not None:
                found.append((f"sizes[{places[arg] + k}]", promised[k]))
            if size is not None:
                found.append((f"sizes[{places[arg] + k}]", Affine.of(size)))
    return list(dict.fromkeys(found))


def _places(f: Func) -> dict[Value, int]:
    """Where the dimensions of each array argument begin in `sizes`; its strides follow them, if it has some."""
    places: dict[Value, int] = {}
    strides, at = passed_strides(f), 0
    for arg in f.args:
        if isinstance(arg.type, MemRefType):
            places[arg] = at
            at += arg.type.rank + len(strides.get(arg, ()))
    return places


def _solve(
    left: Sequence[Value],
    dimensions: Sequence[tuple[str, Affine]],
    known: dict[Value, Code],
    scope: Scope,
    unit: Unit,
    f: Func,
) -> tuple[Value, list[str]]:
    """The next size that one dimension determines, and the lines that compute it."""
    best: tuple[int, str, Value, int, Affine] | None = None
    for place, expr in dimensions:
        unknown = {v for v in expr.values() if v not in known}
        if len(unknown) != 1:
            continue
        (value,) = unknown
        factor = dict(expr.terms).get(value)
        if factor is None or value not in left or sum(v is value for v in expr.values()) != 1:
            continue
        rest = expr - Affine(((value, factor),))
        simple = 0 if factor == 1 and rest == Affine() else 1 if abs(factor) == 1 else 2
        if best is None or simple < best[0]:
            best = simple, place, value, factor, rest
    if best is None:
        names = ", ".join(v.hint or "?" for v in left)
        raise UnsupportedError(
            f"no array of {f.symbol!r} has a dimension that determines the size {names}; "
            "use it as a dimension of an array, or pass it as an index argument"
        )
    _, place, value, factor, rest = best
    name = scope.declare(value.hint, "n")
    known[value] = Code(name)
    if factor == 1 and rest == Affine():
        return value, [f"const int64_t {name} = {place};"]
    shown = call(unit.helper("checked_add"), Code(place), checked_expression(-rest, known, unit), Code("&failed"))
    if factor == 1:
        return value, [f"const int64_t {name} = {shown};"]
    part = scope.declare(f"{value.hint}_multiple", "multiple")
    return value, [
        f"const int64_t {part} = {shown};",
        f"const int64_t {name} = {part} / {number(factor)};",
        f"if ({part} % {number(factor)} != 0)",
        "    return 1;",
    ]


def checked_expression(expr: Affine, known: dict[Value, Code], unit: Unit) -> Code:
    """expr, computed so that what no int64_t holds is noticed."""
    failed = Code("&failed")
    parts: list[Code] = []
    for atom, factor in expr.terms:
        part = _checked_atom(atom, known, unit)
        parts.append(part if factor == 1 else call(unit.helper("checked_mul"), part, number(factor), failed))
    if expr.constant or not parts:
        parts.append(number(expr.constant))
    total = parts[0]
    for part in parts[1:]:
        total = call(unit.helper("checked_add"), total, part, failed)
    return total


def _checked_atom(atom: Atom, known: dict[Value, Code], unit: Unit) -> Code:
    match atom:
        case Value():
            return known[atom]
        case Product(factors):
            total = _checked_atom(factors[0], known, unit)
            for factor in factors[1:]:
                total = call(unit.helper("checked_mul"), total, _checked_atom(factor, known, unit), Code("&failed"))
            return total
        case FloorDiv(dividend, divisor):
            by = checked_expression(Affine.of(divisor), known, unit)
            if not by.text.isdigit():
                by = call(unit.helper("checked_divisor"), by, Code("&failed"))
            return call(unit.helper("floordiv_i64"), checked_expression(dividend, known, unit), by)


def _argument(type: Type, unsigned: bool, pointer: int, unit: Unit) -> str:
    if isinstance(type, MemRefType):
        return f"pointers[{pointer}]"
    if str(type) == "bf16":
        return f"{unit.helper('bf16_bits')}(*(const float *)pointers[{pointer}])"
    return f"*(const {stored_type(type, unsigned)} *)pointers[{pointer}]"


def _results(plan: Plan, indices: Sequence[Value], unit: Unit) -> str:
    known = {v: Code(f"symbols[{k}]") for k, v in enumerate(indices)}
    lines = _bind_lines(indices)
    shapes = [checked_expression(s, known, unit).text for r in plan.results for s in r.shape]
    if any("&failed" in s for s in shapes):
        lines.append("    int32_t failed = 0;")
    places = [f"result_sizes[{k}]" for k in range(len(shapes))]
    lines += [f"    {place} = {shape};" for place, shape in zip(places, shapes, strict=True)]
    checks = ["failed != 0"] if any("&failed" in s for s in shapes) else []
    checks += [f"{p} < 0" for p, s in zip(places, shapes, strict=True) if not s.isdigit()]
    if not places:
        lines.append("    (void)result_sizes;")
    lines.append(f"    return {' || '.join(checks)} ? 1 : 0;" if checks else "    return 0;")
    head = "int32_t affdsl_results(const int64_t *sizes, void *const *pointers, int64_t *result_sizes)"
    return f"{EXPORT}{head};\n\n{head}\n{{\n" + "".join(f"{line}\n" for line in lines) + "}\n"


def _scalar_dtype(type: NumberType, unsigned: bool) -> np.dtype[np.generic]:
    return np.dtype(np.float32) if str(type) == "bf16" else dtype(type, unsigned=unsigned)
