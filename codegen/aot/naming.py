"""What a library, its version and its functions may be called: names that C, CMake, pkg-config and Python all take."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterable

from affdsl.codegen.c.names import CALLED, KEYWORDS, LIBRARY, LONGEST, MACROS, Scope, function_identifier
from affdsl.codegen.errors import BuildError
from affdsl.codegen.targets.target import Target

_HEADERS = """assert complex cpuid ctype errno fenv float inttypes iso646 limits locale math memory omp regex setjmp
    signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time
    uchar unistd wchar wctype""".split()
"""Files of these names would be read in the place of those of the C library."""
_LIBRARIES = """anl asan atomic c crypt dl gcc gomp iomp5 m mvec nsl omp pthread quadmath resolv rt stdc supc tsan ubsan
    util""".split()
"""Linkers would take a library of these names for the one of the system."""
_BUILD_RULES = """all clean depend edit_cache help install package package_source preinstall rebuild_cache test
    uninstall""".split()
"""Of CMake, which has targets of its own by these names."""
_TAKEN = frozenset([*_HEADERS, *_LIBRARIES, *_BUILD_RULES]) | KEYWORDS | MACROS | CALLED | LIBRARY


def library_name(name: str, *, python: bool) -> str:
    """name, which is that of files, of a target of CMake, of macros in C, and with `python` of a package.

    Raises
    ------
    BuildError
        For one that is no identifier in small letters, or that somebody else has.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name, re.ASCII) or len(name) > LONGEST:
        raise BuildError(
            f"a library cannot be called {name!r}: files, targets of CMake and macros are called so; take small "
            f"letters, digits and _, at first a letter, at most {LONGEST}, as in my_kernels"
        )
    if name in _TAKEN:
        raise BuildError(
            f"a library cannot be called {name!r}: C, its headers and libraries, or CMake have that name; "
            f"call it {name}_kernels"
        )
    if python and (keyword.iskeyword(name) or name in sys.stdlib_module_names or name in ("numpy", "affdsl")):
        raise BuildError(
            f"a Python package cannot be called {name!r}: Python has something of that name; call it {name}_kernels"
        )
    return name


def library_version(version: str) -> str:
    """version, which is one to three numbers with points between them.

    Raises BuildError for all else.
    """
    if not re.fullmatch(r"(0|[1-9]\d{0,5})(\.(0|[1-9]\d{0,5})){0,2}", version, re.ASCII):
        raise BuildError(f"the version of a library is one to three numbers, as in 1.2.0, not {version!r}")
    return version


def own_names(library: str) -> frozenset[str]:
    """What a library defines itself in C: macros, and the function that says for which target the CPU is."""
    words = "H API C64 C128 HIDDEN RESTRICT TARGETS_H VERSION VERSION_MAJOR VERSION_MINOR VERSION_PATCH".split()
    return frozenset([f"{library}_target", *(f"{library.upper()}_{word}" for word in words)])


def fits_name(library: str, target: Target) -> str:
    """What the function is called that says whether those for a target may run, as its vector registers are long."""
    return f"affdsl_fits_{library}_{plain(target.name)}"


def check_name(symbol: str) -> str:
    """What the function is called that says whether another one may run."""
    return f"{symbol}_check"


def symbols(prefix: str, kernels: Iterable[str], library: str, *, checked: bool = False) -> list[str]:
    """What functions of kernels are called in C: the prefix, and the kernel's name as an identifier.

    If `checked`, there is one more for each, which says whether it may run.

    Raises
    ------
    BuildError
        For a prefix that begins no identifier, and where two functions would have one name.

    >>> symbols("mk_", ["matmul", "exp"], "mk"), symbols("", ["exp"], "mk")
    (['mk_matmul', 'mk_exp'], ['exp_'])
    """
    if prefix and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix, re.ASCII):
        raise BuildError(f"prefix is {prefix!r}, with which no name of C begins: take letters, digits and _, as in mk_")
    found: dict[str, str] = {}
    for kernel in kernels:
        symbol = function_identifier(f"{prefix}{kernel}")
        if symbol in own_names(library):
            raise BuildError(f"the library defines {symbol} itself: give the kernel {kernel} another name")
        if symbol in found:
            both = f"two kernels are called {kernel}" if found[symbol] == kernel else f"{found[symbol]} and {kernel}"
            raise BuildError(f"{both}: a library has one function {symbol}; give one of them another name")
        found[symbol] = kernel
    for symbol, kernel in found.items():
        if checked and check_name(symbol) in found:
            other = found[check_name(symbol)]
            raise BuildError(f"{check_name(symbol)} checks the sizes of {kernel}: give the kernel {other} another name")
    return list(found)


def variants(names: Iterable[str], library: str, targets: Iterable[str]) -> dict[str, list[str]]:
    """What the versions of functions for each target are called, so that no two have one name.

    >>> variants(["matmul"], "mk", ["avx2", "sse4.2"])
    {'avx2': ['mk_avx2_matmul'], 'sse4.2': ['mk_sse4_2_matmul']}
    """
    scope, listed = Scope(), list(names)
    for name in listed:
        scope.reserve(name)
    return {target: [scope.reserve(f"{library}_{plain(target)}_{name}") for name in listed] for target in targets}


def plain(target: str) -> str:
    """The name of a target as a part of names.

    >>> plain("sse4.2")
    'sse4_2'
    """
    return target.replace(".", "_")
