"""Declarations for Rust: a module with `extern "C"`."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.codegen.aot.languages.described import Function, Parameter
from affdsl.codegen.aot.shipped import Library

TYPES = {
    "float": "f32", "double": "f64", "bool": "bool", "float _Complex": "Complex32", "double _Complex": "Complex64",
    **{f"{sign}int{bits}_t": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""By types of C."""
KEYWORDS = frozenset(
    """abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if
    impl in let loop macro match mod move mut override priv pub ref return self Self static struct super trait true try
    type typeof unsafe unsized use virtual where while yield""".split()
)
_COMPLEX = """
/// {about}: two of them side by side, as in C.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct {name} {{
    pub re: {part},
    pub im: {part},
}}
"""


def rust(library: Library, functions: Sequence[Function]) -> str:
    """The text of NAME.rs."""
    types = {t for f in functions for t in (f.returns, *(p.type for p in f.parameters))}
    parts = [
        f"//! {library.name} {library.version} for Rust, made by affdsl: `mod {library.name};`\n//!\n",
        "//! Comments have the types of C. It is for rustc 1.82 and newer; older ones do not\n",
        "//! know `unsafe` before `extern`: leave it out.\n",
        "#![allow(dead_code, non_snake_case, non_upper_case_globals, clippy::too_many_arguments)]\n",
    ]
    for type, part in (("float _Complex", "f32"), ("double _Complex", "f64")):
        if type in types:
            parts.append(_COMPLEX.format(about=f"A complex number of {part}", name=TYPES[type], part=part))
    parts.append(f'\n#[link(name = "{library.name}")]\nunsafe extern "C" {{\n')
    parts.append("\n".join(_declared(function) for function in functions))
    return "".join([*parts, "}\n"])


def _declared(function: Function) -> str:
    about = "".join(f"    /// {line}".rstrip() + "\n" for line in ("```text", *function.about, "```"))
    listed = "".join(f"        {_spelled(p.name)}: {_type(p)},\n" for p in function.parameters)
    returns = "" if function.returns == "void" else f" -> {TYPES[function.returns]}"
    name = function.symbol
    link = f'    #[link_name = "{name}"]\n' if name in KEYWORDS else ""
    return f"{about}{link}    pub fn {_spelled(name)}(\n{listed}    ){returns};\n"


def _type(p: Parameter) -> str:
    kind = TYPES[p.type]
    return kind if p.use == "value" else f"*const {kind}" if p.use == "read" else f"*mut {kind}"


def _spelled(name: str) -> str:
    """A name that is no word of the language."""
    return f"{name}_" if name in KEYWORDS else name
