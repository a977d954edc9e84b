"""The C prototype of a function: what its parameters are called and of which types they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from affdsl.codegen.c.names import Scope
from affdsl.codegen.c.plan import Plan
from affdsl.codegen.c.types import element, is_memref, number_type, stored_type
from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Value
from affdsl.ir.types import MemRefType, UnrankedMemRefType


class Parameter(FrozenValue):
    """One parameter: `type` ends before the name, with the star of a pointer."""

    type: str
    name: str
    is_restrict: bool = False


class Prototype(FrozenValue):
    """A function's C name, what it returns, and its parameters: those of the arguments, then those of results."""

    name: str
    returns: str
    all: tuple[Parameter, ...]
    parameters: Mapping[Value, str]
    outputs: tuple[str, ...]
    """The pointers for the results; an empty text for one that the function returns."""
    scope: Scope
    """The names that the body must not take."""
    failure: str = ""
    """The pointer to where a check that fails is noted, the last parameter; empty where nothing is."""
    threads: str = ""
    """The number of threads, behind the results; empty where none is passed."""

    def renamed(self, name: str) -> Prototype:
        """The same function under another name."""
        return replace(self, name=name)

    def text(self, restrict: str, *, static: bool = False, before: str = "") -> str:
        """The prototype, with `restrict` spelled as given, after a word; broken into lines where it is long."""
        start = f"{f'{before} ' if before else ''}{'static ' if static else ''}{self.returns} {self.name}("
        shown = [_shown(p, restrict) for p in self.all] or ["void"]
        lines = [start]
        for k, part in enumerate(shown):
            part += "," if k < len(shown) - 1 else ")"
            if len(lines[-1]) + len(part) + 1 > 100 and not lines[-1].endswith("("):
                lines.append(" " * len(start) + part)
            else:
                lines[-1] += part if lines[-1].endswith("(") else f" {part}"
        return "\n".join(lines)


def prototype(plan: Plan, scope: Scope) -> Prototype:
    """The prototype of a planned function, its names declared in scope."""
    f = plan.func
    names: dict[Value, str] = {}
    parameters: list[Parameter] = []
    for k, arg in enumerate(f.args):
        unsigned = k in f.unsigned
        is_unranked = isinstance(arg.type, UnrankedMemRefType)
        if is_unranked or (plan.has_descriptors and isinstance(arg.type, MemRefType)):
            name = scope.declare(arg.hint, "a")
            if not plan.has_descriptors:
                parameters.append(Parameter("int64_t", scope.declare(f"{name}_rank")))
            parameters.append(Parameter("void *", name))
        elif isinstance(arg.type, MemRefType):
            const = "" if k in plan.written else "const "
            name = scope.declare(arg.hint, "a")
            pointer = f"{const}{stored_type(element(arg.type), unsigned)} *"
            parameters.append(Parameter(pointer, name, k not in plan.aliased))
            for stride in plan.strides.get(arg, ()):
                if isinstance(stride, Value):
                    names[stride] = scope.declare(stride.hint)
                    parameters.append(Parameter("int64_t", names[stride]))
        else:
            name = scope.declare(arg.hint, "x")
            parameters.append(Parameter(stored_type(arg.type, unsigned), name))
        names[arg] = name
    outputs: list[str] = []
    for result in plan.results:
        if not result.is_array and plan.gives_value:
            outputs.append("")
            continue
        kind = element(result.type) if is_memref(result.type) else number_type(result.type)
        name = scope.declare(result.hint, "out" if result.is_array else "result")
        parameters.append(Parameter(f"{stored_type(kind, result.unsigned)} *", name, True))
        outputs.append(name)
    threads = scope.declare("threads") if plan.takes_threads else ""
    if threads:
        parameters.append(Parameter("int32_t", threads))
    failure = scope.declare("failure") if plan.notes else ""
    if failure:
        parameters.append(Parameter("int64_t *", failure, True))
    returns = "int32_t" if plan.has_status else "void"
    if plan.gives_value:
        returns = stored_type(plan.scalars[0].type, plan.scalars[0].unsigned)
    return Prototype(plan.name, returns, tuple(parameters), names, tuple(outputs), scope, failure, threads)


def _shown(parameter: Parameter, restrict: str) -> str:
    if parameter.is_restrict and restrict:
        return f"{parameter.type}{restrict} {parameter.name}"
    return f"{parameter.type}{'' if parameter.type.endswith('*') else ' '}{parameter.name}"
