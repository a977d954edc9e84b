"""A loop as users of NumPy write it: as a kernel, as an expression of NumPy, and as C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import affdsl as af
from affdsl.ir.expr import Affine
from affdsl.lang.annotations import ArrayType
from affdsl.lang.dtypes import DType
from benchmarks.polybench.race import text_for

N, M, K, L = af.symbols("N M K L")
SYMBOLS = {"N": N, "M": M, "K": K, "L": L}
Sizes = Mapping[str, int]
Given = Callable[[np.random.Generator, Sizes], object] | float
"""A number, or what makes an argument of a source of random numbers and the sizes."""

C_TYPES = {
    "bool": "_Bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float32": "float", "float64": "double",
    "complex64": "float _Complex", "complex128": "double _Complex",
}  # fmt: skip
INCLUDES = "#include <complex.h>\n#include <math.h>\n#include <stdint.h>\n"


@dataclass(frozen=True, eq=False)
class Idiom:
    """A kernel beside what others have for it.

    Attributes
    ----------
    reference
        The same by NumPy, into the same arguments: what is right, and a peer. The kernel itself, where there is none.
        Where a function of NumPy stores, that is its last argument, since numba takes no `out=` there.
    sizes
        Those of a usual day, by the names of the kernel's symbols.
    given
        Arguments by their names. Without, an array of numbers is random, and a number is 0.7.
    c
        What stands in a function of C that knows the sizes, as one would write it by hand; what the kernel's own C has,
        if that is empty.
    tolerance
        How far apart results may be, relative to the largest of an array, where sums may have another order.
    """

    group: str
    kernel: af.Kernel
    reference: Callable[..., object]
    sizes: Sizes
    given: Mapping[str, Given]
    c: str
    tolerance: float

    @property
    def name(self) -> str:
        """What the loop does, in words."""
        return self.kernel.name.replace("_", " ")

    def arguments(self, sizes: Sizes) -> tuple[object, ...]:
        """Arguments of these sizes, always the same ones, each time in new arrays."""
        random = np.random.default_rng(0)
        return tuple(self._argument(p.name, p.type, random, sizes) for p in self.kernel.program.parameters)

    def _argument(self, name: str, type: object, random: np.random.Generator, sizes: Sizes) -> object:
        made = self.given.get(name, 0.7)
        if callable(made):
            return made(random, sizes)
        if isinstance(type, ArrayType):
            known = {SYMBOLS[size].expr.value: Affine.of(number) for size, number in sizes.items()}
            return numbers(random, [e.substitute(known).constant for e in type.shape], type.dtype.numpy)
        assert isinstance(type, DType), "a number"
        return made if type == af.index else type.numpy.type(made)

    def text(self) -> str:
        """C with a function `peer`, for the sizes of a usual day."""
        if not self.c:
            return text_for(self.kernel, self.sizes)
        known = "".join(f"enum {{ {name} = {size} }};\n" for name, size in self.sizes.items())
        parameters = ", ".join(_declared(p.name, p.type) for p in self.kernel.program.parameters)
        return f"{INCLUDES}{known}void peer({parameters})\n{{\n{self.c}\n}}\n"


def numbers(random: np.random.Generator, shape: list[int], dtype: np.dtype) -> np.ndarray:
    """An array of random numbers: about one half of them negative, or true, or large, as the type has it."""
    match dtype.kind:
        case "b":
            return random.random(shape) < 0.5
        case "f":
            return random.normal(size=shape).astype(dtype)
        case "c":
            return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
        case "u":
            return random.integers(0, min(np.iinfo(dtype).max, 1000) + 1, shape).astype(dtype)
        case _:
            return random.integers(-100, 101, shape).astype(dtype)


def _declared(name: str, type: object) -> str:
    if isinstance(type, ArrayType):
        return f"{C_TYPES[type.dtype.numpy.name]} *restrict {name}"
    assert isinstance(type, DType), "a number"
    return f"{'int64_t' if type == af.index else C_TYPES[type.numpy.name]} {name}"


class Group(list[Idiom]):
    """Idioms of one kind, each of which a decorator adds."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def beside(
        self,
        kernel: af.Kernel,
        *,
        c: str = "",
        tolerance: float = 1e-12,
        given: Mapping[str, Given] | None = None,
        **sizes: int,
    ) -> Callable[[Callable[..., object]], Callable[..., object]]:
        """Say that the function below does by NumPy what a kernel does."""

        def added(function: Callable[..., object]) -> Callable[..., object]:
            self.append(Idiom(self.name, kernel, function, sizes, given or {}, c, tolerance))
            return function

        return added

    def written(
        self, *, tolerance: float = 1e-4, given: Mapping[str, Given] | None = None, **sizes: int
    ) -> Callable[[Callable[..., object]], af.Kernel]:
        """Make a kernel of a function of which NumPy has no short form: what its loops compute is right."""

        def added(function: Callable[..., object]) -> af.Kernel:
            kernel = af.kernel(function)
            self.append(Idiom(self.name, kernel, kernel, sizes, given or {}, "", tolerance))
            return kernel

        return added
