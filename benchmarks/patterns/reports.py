"""What becomes of a pattern: ours, and what gcc and clang say of the plain C."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from affdsl.errors import AffdslError
from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, Type, VectorType
from benchmarks.patterns.pattern import Pattern

VECTORIZED, IN_PART, IN_ORDER = "yes", "in part", "in order"
STRICT = ("-std=c11", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
FAST = ("-std=c11", "-O3", "-march=native", "-ffast-math")


def verdict(pattern: Pattern, *, reassociate: bool = False) -> str:
    """How much of a pattern is vectorized, or why nothing is, in a few words.

    In order means that vectors are loaded or stored, and all that is computed is computed lane after lane; in part,
    that there is something of both.
    """
    try:
        made = pattern.vectorized(reassociate=reassociate)
    except AffdslError as error:
        return " ".join(str(error).splitlines()[1].split())
    loops = [op for op in walk(made.func) if isinstance(op, affine.For) and _holds_vectors(op)]
    if not loops:
        return "optimize() makes no vectors of it"
    inside = [op for loop in loops for op in walk(loop) if _computes(op)]
    wide = [op for op in inside if _is_vector(op)]
    if len(inside) - len(wide) < pattern.width:  # what is the same in all iterations is computed once for all lanes
        return VECTORIZED
    return IN_PART if wide else IN_ORDER


def _holds_vectors(loop: affine.For) -> bool:
    return any(isinstance(v.type, VectorType) for op in loop.body for v in (*op.reads(), *op.defines()))


def _computes(op: Op) -> bool:
    """Whether an operation makes numbers of numbers, other than indices."""
    types = [_element(value.type) for value in op.defines()]
    is_index = isinstance(op, arith.Cast) and op.kind in ("index_cast", "index_castui")
    return isinstance(op, Lanewise) and not is_index and not any(isinstance(type, IndexType) for type in types)


def _is_vector(op: Op) -> bool:
    return any(isinstance(value.type, VectorType) for value in op.defines())


def _element(type: Type) -> Type:
    return type.element if isinstance(type, VectorType) else type


@dataclass(frozen=True)
class Compiler:
    """A C compiler that says which loops it vectorizes."""

    name: str
    command: str
    ask: str
    answer: str

    def vectorizes(self, source: str, flags: tuple[str, ...]) -> bool:
        """Whether it says of plain C that it vectorizes a loop in it."""
        command = (self.command, *flags, self.ask, "-x", "c", "-c", "-o", os.devnull, "-")
        done = subprocess.run(command, check=True, input=source, capture_output=True, text=True)
        return self.answer in done.stderr


def compilers(environment: Mapping[str, str] = os.environ) -> tuple[Compiler, ...]:
    """Those of gcc and clang that are on PATH."""
    known = (
        ("gcc", ("gcc",), "-fopt-info-vec-optimized", "loop vectorized"),
        ("clang", ("clang-22", "clang"), "-Rpass=loop-vectorize", "vectorized loop"),
    )
    found = []
    for name, commands, ask, answer in known:
        paths = (shutil.which(each, path=environment.get("PATH")) for each in commands)
        if path := next(filter(None, paths), None):
            found.append(Compiler(name, path, ask, answer))
    return tuple(found)
