"""The languages for which declarations can be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.codegen.aot.languages.described import Write, functions
from affdsl.codegen.aot.languages.fortran import fortran
from affdsl.codegen.aot.languages.julia import julia
from affdsl.codegen.aot.languages.rust import rust
from affdsl.codegen.aot.shipped import Library
from affdsl.codegen.aot.sources import Sources
from affdsl.codegen.errors import BuildError

LANGUAGES: Mapping[str, tuple[str, Write]] = {
    "fortran": ("f90", fortran),
    "rust": ("rs", rust),
    "julia": ("jl", julia),
}
"""By their names, how files end, and what writes them."""


def languages(names: Sequence[str]) -> tuple[str, ...]:
    """The names of languages, each once. Raises BuildError for one that is not known.

    >>> languages(["rust", "fortran", "rust"])
    ('rust', 'fortran')
    """
    for name in names:
        if name not in LANGUAGES:
            known = ", ".join(LANGUAGES)
            raise BuildError(f"there are no declarations for {name!r}: they are for {known}; C and C++ take the header")
    return tuple(dict.fromkeys(names))


def declarations(library: Library, sources: Sources, names: Sequence[str]) -> dict[str, str]:
    """The files with the functions of a library, by their names."""
    described = functions(library, sources) if names else []
    chosen = (LANGUAGES[name] for name in names)
    return {f"{library.name}.{end}": write(library, described) for end, write in chosen}
