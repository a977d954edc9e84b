"""The JavaScript of a library: functions on numbers and typed arrays, and a page that runs them."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files

from affdsl.codegen.aot.checks import listed_conditions
from affdsl.codegen.aot.conditions import require_decided
from affdsl.codegen.aot.languages.described import Function, Parameter, functions
from affdsl.codegen.aot.naming import check_name
from affdsl.codegen.aot.python_contract import computed
from affdsl.codegen.aot.shipped import Library, ShippedKernel
from affdsl.codegen.aot.sources import Sources
from affdsl.codegen.c.library import Written
from affdsl.codegen.jit import signature_of
from affdsl.errors import UnsupportedError
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import IndexType

_TYPES = frozenset(
    ["float", "double", "float _Complex", "double _Complex", "bool"]
    + [f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
"""The types of C for which there are typed arrays."""


def script(library: Library, sources: Sources) -> str:
    """The text of NAME.mjs, a module of JavaScript.

    Raises
    ------
    UnsupportedError
        For a kernel that cannot be called on numbers and typed arrays.
    """
    described = functions(library, sources)
    parts = [
        _kernel(kernel, function, written, sources)
        for kernel, function, written in zip(library.kernels, described, sources.functions, strict=True)
    ]
    names = ", ".join(kernel.name for kernel in library.kernels)
    return "".join(
        [
            f"/* {library.name} {library.version}, made by affdsl: {names}.\n\n",
            f'   import {{ load }} from "./{library.name}.mjs";\n   const {library.name} = await load();\n\n',
            "   Arguments are those of the C functions, in their order; arrays are typed arrays of as many elements\n",
            "   as their shapes have. Those that are written are changed in place; results are returned. */\n\n",
            f"const MODULE = {json.dumps(f'{library.name}.wasm')};\n",
            f"const KERNELS = [\n{''.join(parts)}];\n\n",
            _file("runtime.mjs"),
        ]
    )


def page(library: Library, text: str, module: bytes) -> str:
    """The text of NAME.html, a page with the script and the module in it."""
    words = {
        "TITLE": escape(f"{library.name} {library.version}"),
        "MODULE_FILE": escape(f"{library.name}.mjs"),
        "SCRIPT": text.replace("</script", "<\\/script"),
        "BASE64": b64encode(module).decode(),
    }
    made = _file("page.html")
    before, _, after = made.partition("SCRIPT\n")
    for word in ("TITLE", "MODULE_FILE", "BASE64"):
        before, after = (part.replace(word, words[word]) for part in (before, after))
    return f"{before}{words['SCRIPT']}{after}"


def _file(name: str) -> str:
    return files("affdsl.codegen.aot.web").joinpath(name).read_text(encoding="utf-8")


def _kernel(kernel: ShippedKernel, function: Function, written: Written, sources: Sources) -> str:
    """What the script must know of a kernel, as JavaScript."""
    _require(kernel, function)
    listed = listed_conditions(kernel)
    numbers = [function.names[a] for a in written.plan.func.args if isinstance(a.type, IndexType)]
    status = written.plan.has_status
    rows = [
        ("name", json.dumps(kernel.name)),
        ("symbol", json.dumps(function.symbol)),
        ("returns", json.dumps("status" if status else "value" if written.plan.gives_value else "nothing")),
        ("type", json.dumps(function.returns)),
        ("results", json.dumps([*written.prototype.outputs])),
        ("about", json.dumps("\n".join(function.about))),
        ("check", json.dumps(check_name(function.symbol))),
        ("sizes", json.dumps(numbers)),
        ("conditions", json.dumps([condition.shown for condition in listed])),
        ("sites", json.dumps([site.listed for site in sources.sites.listed()] if written.plan.notes else [])),
    ]
    parameters = "".join(f"        {_parameter(p, function, written)},\n" for p in function.parameters)
    return "".join(
        [
            "    {\n",
            *(f"        {name}: {text},\n" for name, text in rows),
            "        parameters: [\n",
            parameters.replace("        {", "            {"),
            "        ],\n    },\n",
        ]
    )


def _parameter(p: Parameter, function: Function, written: Written) -> str:
    made = written.prototype
    use = {made.failure: "failure", made.threads: "threads"}.get(p.name, p.use)
    rows = [("name", json.dumps(p.name)), ("type", json.dumps(p.type)), ("use", json.dumps(use))]
    if p.use != "value":
        shape = ", ".join(_expression(e, function.names) for e in p.shape or () if e is not None)
        rows.append(("shape", f"(n) => [{shape}]"))
        rows += [("isNumber", "true")] if p.shape is None else []
    return f"{{ {', '.join(f'{name}: {text}' for name, text in rows)} }}"


def _require(kernel: ShippedKernel, function: Function) -> None:
    """Refuse what cannot be called."""
    require_decided(kernel, "page")
    for what in _not_possible(kernel, function):
        raise UnsupportedError(f"{kernel.name}: a page cannot pass {what} to C")


def _not_possible(kernel: ShippedKernel, function: Function) -> Iterator[str]:
    if any(getattr(p.type, "strided", False) for p in kernel.program.parameters):
        yield "an array with strides, which typed arrays do not have: leave out strided=True"
    signature = signature_of(kernel.program)
    for part in (*signature.arguments, *signature.results):
        if part.dtype.kind not in "biufc" or part.dtype == "f2":
            yield f"{part.dtype}, for which there are no typed arrays"
    for p in function.parameters:
        if p.type not in _TYPES:
            yield f"{p.name!r}, which is {p.type}"
        if p.use == "value" and "_Complex" in p.type:
            yield f"the complex number {p.name!r}: pass an array of one"
    if "_Complex" in function.returns:
        yield "back the complex number that it returns: write it into an array"


def _expression(expr: Affine, names: Mapping[Value, str]) -> str:
    """A size as JavaScript that computes it in BigInts, from the numbers `n` of a call."""
    return computed(expr, lambda value: f"n[{json.dumps(names[value])}]", "n")
