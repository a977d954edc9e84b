"""The C of functions that say whether sizes are as other functions require them."""

from __future__ import annotations

from affdsl.codegen.aot.conditions import Condition, conditions, place
from affdsl.codegen.aot.naming import check_name, own_names
from affdsl.codegen.aot.shipped import Library, ShippedKernel
from affdsl.codegen.c.entry import checked_expression
from affdsl.codegen.c.expressions import Code, number
from affdsl.codegen.c.header import as_comment
from affdsl.codegen.c.names import Scope, comment
from affdsl.codegen.c.unit import Unit
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.types import IndexType


def checks(library: Library) -> tuple[str, str]:
    """The text of the C file but for what it includes of the library, and that of the prototypes for the header."""
    unit, bodies, prototypes = Unit(), [], []
    for kernel, symbol in zip(library.kernels, library.symbols, strict=True):
        names = _names(kernel, library)
        listed = listed_conditions(kernel)
        taken = ", ".join(f"int64_t {names[a]}" for a in _numbers(kernel)) or "void"
        head = f"int32_t {check_name(symbol)}({taken})"
        bodies.append(f"{head}\n{{\n{_body(listed, names, [names[a] for a in _numbers(kernel)], unit)}}}\n")
        prototypes.append(f"{_about(kernel, symbol, listed)}{library.name.upper()}_API {head};\n\n")
    return unit.file("\n".join(bodies)), "".join(prototypes)


def listed_conditions(kernel: ShippedKernel) -> list[Condition]:
    """What sizes must satisfy, in the order of the numbers that the function of a kernel gives, from 1."""
    return [*_at_least_zero(kernel), *conditions(kernel)]


def _numbers(kernel: ShippedKernel) -> list[Value]:
    """The arguments of the function that are sizes or indices, in its order."""
    return [argument for argument in kernel.program.func.args if isinstance(argument.type, IndexType)]


def _names(kernel: ShippedKernel, library: Library) -> dict[Value, Code]:
    """The parameters, by the arguments of the function as it is and as it was written."""
    scope = Scope()
    for name in ("failed", *own_names(library.name), *library.symbols, *map(check_name, library.symbols)):
        scope.reserve(name)
    names: dict[Value, Code] = {}
    for own, written in zip(kernel.program.func.args, kernel.bounds.function.args, strict=True):
        if isinstance(own.type, IndexType):
            names[own] = names[written] = Code(scope.declare(own.hint, "x"))
    return names


def _at_least_zero(kernel: ShippedKernel) -> list[Condition]:
    """That sizes are no negative numbers."""
    f = kernel.program.func
    sizes = {*f.args[: len(kernel.program.sizes)], *(s.value for shape in f.shapes for s in shape or ())}
    return [Condition(f"{v.hint} is at least 0", ((Constraint(-v - 1),),)) for v in _numbers(kernel) if v in sizes]


def _body(listed: list[Condition], names: dict[Value, Code], parameters: list[Code], unit: Unit) -> str:
    """The statements: each condition is computed so that what no int64_t holds is noticed."""
    lines: list[str] = []
    for found, condition in enumerate(listed, 1):
        parts = [" && ".join(_test(c, names, unit) for c in constraints) or "1" for constraints in condition.against]
        test = parts[0] if len(parts) == 1 else " ||\n        ".join(f"({part})" for part in parts)
        lines += [f"if ({test})", f"    return failed != 0 ? -1 : {found};"]
    used = {str(names[value]) for condition in listed for value in condition.values}
    before = [f"(void){name};" for name in parameters if str(name) not in used]
    text = "\n".join([*before, *lines, "return failed != 0 ? -1 : 0;"])
    text = f"int32_t failed = 0;\n{text}" if "&failed" in text else text.replace("failed != 0 ? -1 : ", "")
    return "".join(f"    {line}\n" for line in text.split("\n"))


def _test(constraint: Constraint, names: dict[Value, Code], unit: Unit) -> str:
    """Whether a constraint holds; one that bounds a size needs no arithmetic."""
    match constraint.expr.terms:
        case ((Value() as value, 1 | -1 as factor),) if abs(constraint.expr.constant) < 2**63:
            sign = "==" if constraint.equality else ">=" if factor == 1 else "<="
            return f"{names[value]} {sign} {number(-factor * constraint.expr.constant)}"
    return f"{checked_expression(constraint.expr, names, unit)} {'==' if constraint.equality else '>='} 0"


def _about(kernel: ShippedKernel, symbol: str, listed: list[Condition]) -> str:
    """What stands above the prototype."""
    lines = [
        check_name(symbol),
        "",
        f"Whether {symbol} may run with these sizes: 0 if so, or else the number of the first",
        "of these that does not hold, or -1 where the sizes are too large to find out.",
        "",
        *(f"{count:4}  {comment(condition.shown)}" for count, condition in enumerate(listed, 1)),
    ]
    hidden = [] if kernel.program.checked else [*kernel.bounds.by_numbers, *kernel.bounds.unknown]
    lines += [""] * bool(hidden)
    lines += [f"It does not find out whether {comment(f.access + place(f))} stays in its array." for f in hidden]
    return as_comment(lines)
