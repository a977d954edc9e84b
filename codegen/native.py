"""The vector registers of this machine, as the compiler at hand knows them."""

from __future__ import annotations

from codegen.c.vector_helpers import TARGETS
from codegen.cache import default_cache
from codegen.errors import ToolchainError
from codegen.targets.baseline import BASELINE
from codegen.targets.target import Target
from codegen.toolchain import macros


def native_target() -> Target:
    """The best instruction set that kernels compiled here may use: how wide its registers are, and how many.

    The baseline of 128 bits where none is known, or where there is no compiler to ask.

    >>> import affdsl as af
    >>> af.native_target().lanes(32) >= 4
    True
    """
    try:
        compiler = default_cache().compiler()
        known = macros(compiler, ("-march=native",)) if compiler.has_native else frozenset[str]()
    except ToolchainError:
        return BASELINE
    return next((target for target in TARGETS if known.issuperset(target.macros)), BASELINE)
