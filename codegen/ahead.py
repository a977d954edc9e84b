"""What the first compiled call needs besides its kernel, begun in threads while Python imports and optimizes.

A process that finds nothing in its cache asks the compiler what it can do, and builds the extension module that calls
kernels. Neither waits for Python, which is busy for longer before there is a kernel to compile.
"""

from __future__ import annotations

from functools import cache

from affdsl.codegen import background
from affdsl.codegen.cache import default_cache
from affdsl.codegen.caller import prepare
from affdsl.codegen.native import native_target


@cache
def begin() -> None:
    """Ask the compiler about this machine, and build what calls kernels, once in a process.

    What goes wrong there is said where the results are needed.

    Raises
    ------
    CacheError
        If the folder of the cache cannot be trusted or created.
    """
    default_cache()  # whose warnings are for whoever calls
    prepare()
    background.submit("affdsl-target", native_target)
