"""What a kernel is in MLIR and in C."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from affdsl.codegen.c.emit import REGISTER_BITS, CSource, emit
from affdsl.errors import ProgramTypeError
from affdsl.frames import plain_tracebacks
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.verifier import verify
from affdsl.lang.source import problem
from affdsl.mlir.known_versions import FIRST, KNOWN, LAST, NEXT, Version
from affdsl.passes.lowering.expanded_math import expanded_math
from affdsl.passes.lowering.handed_on import handed_on
from affdsl.shown import Text

if TYPE_CHECKING:
    from affdsl.lang.trace import Program


@plain_tracebacks("mlir", "c", "save_c")
class Printed:
    """Each of these methods gives text for other tools, and changes nothing."""

    __slots__ = ()

    if TYPE_CHECKING:  # what a kernel has

        @property
        def program(self) -> Program: ...
        @property
        def func(self) -> Func: ...
        @property
        def module(self) -> Module: ...
        @property
        def boundscheck(self) -> bool: ...

    def mlir(self, *, version: Version = LAST, numbered: bool = False, expand_math: bool = False) -> str:
        """MLIR text of the affine dialect that mlir-opt accepts, and that means there what the kernel means.

        Where MLIR leaves a result open, as that of a division by 0, and the operands are not proved to be harmless, it
        has guards; vectors of arrays with any strides are transfers; variables (`af.var`) are values that loops and
        branches hand on. A loop that may end early (`break_`) is an `scf.while`, which is none of affine.

        Parameters
        ----------
        version
            The version of MLIR that is to read it, from 14 on, or "xdsl", which is given the generic form. What a
            version does not have is said in others of its operations, with the same results.
        numbered
            Values are called as mlir-opt 22 calls them, `%0`, `%arg0` and `%c0`, instead of by the names of the kernel.
        expand_math
            Functions such as `exp` as C evaluates them: those of floats on doubles, with the result rounded, and those
            of vectors of floats by the same polynomials. Then what is lowered gives the same bits as C, and takes about
            as long, while `math.exp` of f32 is lowered to another function.
        """
        verify(self.module)
        made = handed_on(expanded_math(self.module) if expand_math else self.module)
        return text_for(made, version, numbered=numbered)

    def c(self, *, width: int = 512) -> str:
        """Standalone C11: one file, which needs no other, to compile with any project. `header()` declares it.

        Vectors of more than `width` bits are several: give 128 or 256 for machines whose registers are so wide. The
        text serves other machines, too, with vectors of several registers or parts of them.

        Of a kernel with `boundscheck=True` it is C with the checks, as it runs here: the function takes one more
        pointer, to where a check that fails is noted, and gives a status, as the header says. What the environment says
        changes nothing of it: what is shipped does not depend on where it was printed.
        """
        return Text(self._c_source(width).whole)

    def header(self) -> str:
        """The header that goes with `c()`, for C and C++."""
        return self._c_source().header

    def save_c(self, folder: str | Path, *, width: int = 512) -> tuple[Path, Path]:
        """Write <name>.c, which includes its header, and <name>.h into a folder that exists, and give their paths.

        `width` as in `c()`.
        """
        made = self._c_source(width)
        paths = Path(folder, f"{made.name}.c"), Path(folder, f"{made.name}.h")
        for path, text in zip(paths, (made.source, made.header), strict=True):
            path.write_text(text, encoding="utf-8")
        return paths

    def _c_source(self, width: int = REGISTER_BITS[-1]) -> CSource:
        if width not in REGISTER_BITS:
            raise problem(ProgramTypeError, f"width is {width!r}", "it is one of the bits of a register: 128, 256, 512")
        verify(self.module)
        sizes = len(self.program.sizes)
        return emit(
            self.module, self.func.symbol, sizes=sizes, checked=self.boundscheck, register_bits=width,
            results=self.program.result_names,
        )  # fmt: skip


def text_for(module: Module, version: Version, *, numbered: bool) -> Text:
    """The MLIR text of a module for a version. Raises ProgramTypeError where that is none of the known ones."""
    if type(version) not in (int, str) or version not in KNOWN:
        known = f'the known versions of MLIR are {FIRST} to {NEXT}, and "xdsl"'
        raise problem(ProgramTypeError, f"version is {version!r}", known)
    made: Callable[..., str] = import_module("affdsl.passes.lowering.for_version").text_for
    return Text(made(module, version, numbered=numbered))
