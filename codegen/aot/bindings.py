"""The Python of a wheel: a function for each kernel, with documentation, types, and what a call must satisfy."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from affdsl.codegen.aot.python_contract import contract
from affdsl.codegen.aot.shipped import Library, ShippedKernel
from affdsl.codegen.aot.sources import Sources
from affdsl.codegen.arguments import ArrayArgument, ArrayResult, ScalarArgument, ScalarResult, Signature
from affdsl.codegen.c.library import Written
from affdsl.codegen.c.sites import Site
from affdsl.codegen.errors import BuildError
from affdsl.codegen.jit import signature_of
from affdsl.errors import UnsupportedError
from affdsl.ir.debugging import printed
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import walk
from affdsl.lang.annotations import ArrayType, Parameter

MADE = "Made by affdsl; an edit is lost when the library is built again."


THREADS = "threads"
"""The keyword that says how many threads run the loops of a function."""


def package(library: Library, sources: Sources, file: str) -> dict[str, str]:
    """The files of a package that calls the library in a file beside them.

    Raises
    ------
    BuildError
        For a kernel whose name no function of a package can have.
    UnsupportedError
        For a kernel that cannot be called from Python without affdsl.
    """
    told = {
        kernel.name for kernel, made in zip(library.kernels, sources.functions, strict=True) if made.plan.takes_threads
    }
    for kernel in library.kernels:
        if kernel.name in told and any(p.name == THREADS for p in kernel.program.parameters):
            raise BuildError(
                f"{kernel.name} has an argument called {THREADS}, which is also that of its function in Python with "
                "threads_parameter=True: give it another name"
            )
        if kernel.name.startswith("_") or (library.is_dispatched and kernel.name == "target"):
            raise BuildError(f"a function of a Python package cannot be called {kernel.name}: give it another name")
    signatures = [signature_of(kernel.program) for kernel in library.kernels]
    for signature in signatures:
        for part in (*signature.arguments, *signature.results):
            if part.dtype.kind not in "biufc":
                why = "NumPy alone has no such type"
                raise UnsupportedError(f"{signature.name}: a wheel cannot pass {part.dtype} to C: {why}")
    return {
        "__init__.py": _functions(library, told),
        "__init__.pyi": _stub(library, signatures, told),
        "_kernels.py": _kernels(library, sources, signatures, file),
        "py.typed": "",
    }


def _functions(library: Library, told: Collection[str]) -> str:
    """The module that is imported: a function for each kernel."""
    names = [kernel.name for kernel in library.kernels] + ["target"] * library.is_dispatched
    parts = [
        f'"""{library.name} {library.version}: {", ".join(names)}.\n\n{MADE}\n"""\n\n',
        f"__version__ = {library.version!r}\n__all__ = {names!r}\n",
    ]
    imports = [_ERRORS]
    for kernel in library.kernels:
        handle = _handle(kernel)
        imports.append(f"from ._kernels import _{kernel.name} as {handle}\n")
        taken = ", ".join(p.name for p in kernel.program.parameters)
        listed = ", ".join(p.name + _default(p) for p in kernel.program.parameters)
        if kernel.name in told:
            taken += f", {THREADS}={THREADS}"
            listed += f", *, {THREADS}=0"
        documented = _quoted(_documentation(kernel, kernel.name in told))
        parts.append(f"\n\ndef {kernel.name}({listed}):\n{documented}\n    return {handle}({taken})\n")
    if library.is_dispatched:
        imports.append("from ._kernels import target as _target\n")
        upper = library.name.upper()
        about = (
            f"The instruction set for which the kernels run here: of {', '.join(t.name for t in library.targets)}.\n\n"
            f"It is found out at the first call. {upper}_TARGET in the environment names another one, which is taken "
            "where the CPU has it."
        )
        parts.append(f"\n\ndef target():\n{_quoted(about)}\n    return _target()\n")
    return "".join([parts[0], *imports, "\n", *parts[1:]])


_ERRORS = """\
from ._affdsl.call_errors import ArgumentError, LayoutError, OverlapError, RangeError, SizeError
from ._affdsl.errors import AffdslError, DivisorError, FailedAssertionError, OutOfBoundsError
"""
"""What a call can raise, under names of the package."""


def _default(p: Parameter) -> str:
    """The default of a parameter, which may be a number that Python has no literal for."""
    if p.default is None:
        return ""
    is_odd = isinstance(p.default, float) and not math.isfinite(p.default)
    return f"=float({str(p.default)!r})" if is_odd else f"={p.default!r}"


def _handle(kernel: ShippedKernel) -> str:
    """A name for what calls a kernel, which no parameter of it hides."""
    handle = f"_{kernel.name}"
    while any(p.name == handle for p in kernel.program.parameters):
        handle = f"_{handle}"
    return handle


def _documentation(kernel: ShippedKernel, is_told: bool) -> str:
    """What `help` says."""
    lines = [kernel.about.strip() or f"{kernel.name}, a compiled kernel.", "", "Parameters", "----------"]
    for position, p in enumerate(kernel.program.parameters):
        lines += [f"{p.name} : {_shown_type(p)}", f"    {_use(kernel, position, p)}"]
    if is_told:
        lines += [f"{THREADS} : int", "    How many threads run its parallel loops; 0 leaves it to OMP_NUM_THREADS."]
    if kernel.program.results:
        lines += ["", "Returns", "-------"]
        lines += [f"{t!r}" for t in kernel.program.results]
    lines += [
        "",
        "Raises",
        "------",
        "TypeError, ValueError",
        "    For arguments that do not fit: what, and what to do.",
    ]
    return "\n".join(lines)


def _shown_type(p: Parameter) -> str:
    if not isinstance(p.type, ArrayType):
        return "int" if p.symbol is not None else str(p.type)
    sizes = ", ".join(map(spell, p.type.shape)) + ("," if len(p.type.shape) == 1 else "")
    layout = "any strides" if p.type.strided else "contiguous"
    return f"{p.type.dtype} array of shape ({sizes}), {layout}"


def _use(kernel: ShippedKernel, position: int, p: Parameter) -> str:
    if isinstance(p.type, ArrayType):
        return "Written in place." if position in kernel.program.written else "Read."
    return f"The size {p.symbol.hint}." if p.symbol is not None else "A number."


def _quoted(text: str) -> str:
    """A text as the docstring of a function."""
    safe = text.replace("\\", "\\\\").replace('"', '\\"')
    indented = "\n".join(f"    {line}".rstrip() for line in safe.split("\n"))
    return f'    """{indented.lstrip()}\n    """'


def _stub(library: Library, signatures: Sequence[Signature], told: Collection[str]) -> str:
    """The types of the functions."""
    parts = [
        "from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str\n",
        "from builtins import tuple as _tuple\n",
        "from typing import Any as _Any\n\nimport numpy as _np\nimport numpy.typing as _npt\n\n",
        re.sub(r"\b([A-Z]\w+)", r"\1 as \1", _ERRORS),
        "\n__version__: _str\n",
    ]
    for signature in signatures:
        listed = [f"{a.name}: {_argument_type(a)}" + " = ..." * _has_default(a) for a in signature.arguments]
        listed += ["*", f"{THREADS}: _int = ..."] if signature.name in told else []
        results = [_result_type(r) for r in signature.results]
        returned = results[0] if len(results) == 1 else f"_tuple[{', '.join(results)}]" if results else "None"
        parts.append(f"\ndef {signature.name}({', '.join(listed)}) -> {returned}: ...\n")
    if library.is_dispatched:
        parts.append("\ndef target() -> _str: ...\n")
    return "".join(parts)


def _has_default(argument: ArrayArgument | ScalarArgument) -> bool:
    return isinstance(argument, ScalarArgument) and argument.has_default


def _argument_type(argument: ArrayArgument | ScalarArgument) -> str:
    if isinstance(argument, ArrayArgument):
        return _array_type(argument.dtype)
    real = "_float | _np.floating[_Any] | _np.integer[_Any]"
    kinds = {"b": "_bool | _np.bool_", "f": real, "c": f"_complex | _np.complexfloating[_Any] | {real}"}
    return kinds.get(argument.dtype.kind, "_int | _np.integer[_Any]")


def _result_type(result: ArrayResult | ScalarResult) -> str:
    return _array_type(result.dtype) if isinstance(result, ArrayResult) else f"_np.{_numpy_name(result.dtype)}"


def _array_type(dtype: np.dtype[np.generic]) -> str:
    return f"_npt.NDArray[_np.{_numpy_name(dtype)}]"


def _numpy_name(dtype: np.dtype[np.generic]) -> str:
    return "bool_" if dtype.kind == "b" else dtype.name


def _kernels(library: Library, sources: Sources, signatures: Sequence[Signature], file: str) -> str:
    """The module that knows of each kernel how it is called in C."""
    parts = [
        f'"""The kernels of {library.name}, as C has them.\n\n{MADE}\n"""\n\n',
        "import ctypes\nfrom pathlib import Path\n\nfrom numpy import dtype\n\n",
        "from ._affdsl.arguments import ArrayArgument, ArrayResult, ScalarArgument, ScalarResult, Signature\n",
        "from ._affdsl.calling import Condition, Contract, Dimension, Function, Size, loaded, quotient\n",
        "from ._affdsl.sites import Access, Assertion, Divisor, Misfit\n\n",
        f"LIBRARY = loaded(Path(__file__).with_name({file!r}))\n",
        f"SITES = ({''.join(f'{_site(site)!r}, ' for site in sources.sites.listed())})\n",
    ]
    for kernel, signature, symbol, function in zip(
        library.kernels, signatures, library.symbols, sources.functions, strict=True
    ):
        lines = [f"_{kernel.name} = Function(", "    LIBRARY,", f"    {symbol!r},"]
        lines += [f"    {_signature(signature)},"]
        found = [*contract(kernel)]
        lines += [f"    {line}" for line in found[:-1]] + [f"    {found[-1]},"]
        lines += [f"    {tuple(_places(function))!r},", f"    {_returns(function)!r},"]
        if function.plan.notes:
            lines += [f"    SITES, {sources.sites.room},"]
        if any(printed(op) is not None for module in kernel.modules.values() for op in walk(module)):
            lines += ["    prints=True,"]
        parts.append("\n" + "\n".join([*lines, ")"]) + "\n")
    if library.is_dispatched:
        parts.append(
            f"\n_target = LIBRARY.{library.name}_target\n_target.restype = ctypes.c_char_p\n\n\n"
            "def target():\n    return _target().decode()\n"
        )
    return "".join(parts)


def _signature(signature: Signature) -> str:
    def shown(part: ArrayArgument | ScalarArgument | ArrayResult | ScalarResult) -> str:
        kind = f"dtype({part.dtype.name!r})"
        match part:
            case ArrayArgument(name, _, rank, written, strided):
                return f"ArrayArgument({name!r}, {kind}, {rank}, {written}, {strided})"
            case ScalarArgument(name, _, has_default):
                return f"ScalarArgument({name!r}, {kind}, {has_default})"
            case ArrayResult(_, rank):
                return f"ArrayResult({kind}, {rank})"
            case ScalarResult():
                return f"ScalarResult({kind})"

    arguments, results = ("".join(f"{shown(p)}, " for p in of) for of in (signature.arguments, signature.results))
    return f"Signature({signature.name!r}, ({arguments}), ({results}))"


def _places(function: Written) -> Iterator[tuple[str, int, int]]:
    """What each argument in C is, see `affdsl.codegen.aot.calling.Place`."""
    plan = function.plan
    for position, arg in enumerate(plan.func.args):
        if position < plan.sizes:
            yield "size", position, 0
            continue
        yield "argument", position - plan.sizes, 0
        for dimension, stride in enumerate(plan.strides.get(arg, ())):
            if isinstance(stride, Value):
                yield "stride", position - plan.sizes, dimension
    for position, output in enumerate(function.prototype.outputs):
        if output:
            yield "result", position, 0
    if function.prototype.threads:
        yield "threads", 0, 0
    if function.prototype.failure:
        yield "failure", 0, 0


def _returns(function: Written) -> str:
    return "status" if function.plan.has_status else "value" if function.plan.gives_value else "nothing"


def _site(site: Site) -> Site:
    """A check without the folder of its file."""
    where = site.where
    return replace(site, where=where.brief) if isinstance(where, Location) else site
