"""A fault in place of the code of a function, in the running process."""

from __future__ import annotations

import gc
from types import CodeType, FunctionType

from tests.mutants.mutate import ROOT, Mutant


def plant(mutant: Mutant) -> int:
    """Give every function object of this name in its file the code with the fault; how many there were."""
    path = str(ROOT / mutant.file)
    code = _code(compile(mutant.source, path, "exec", dont_inherit=True), mutant.function)
    gc.unfreeze()  # what the suite hides from the collector would not be found
    found = [
        f
        for f in gc.get_objects()
        if isinstance(f, FunctionType) and f.__code__.co_filename == path and f.__qualname__ == mutant.function
    ]
    for function in found:
        function.__code__ = code
    return len(found)


def _code(module: CodeType, name: str) -> CodeType:
    """The code of a function by its qualified name."""
    for constant in module.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == name:
                return constant
            if name.startswith(f"{constant.co_qualname}."):
                return _code(constant, name)
    raise LookupError(name)
