"""What belongs to one kernel of PolyBench: sizes, input, live-out arrays, and a NumPy form to check it against."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

import affdsl as af

Array = NDArray[Any]
Sizes = Mapping[str, int]
Arguments = dict[str, Array | float | int]

SIZE_NAMES = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")

UNSET = -858_993_460
"""What an integer array holds that PolyBench leaves uninitialised; a floating-point one holds NaN."""


@dataclass(frozen=True)
class Benchmark:
    """One kernel of PolyBench.

    arrays
        From sizes to the arguments by name, in the kernel's order and freshly made, as PolyBench initialises them.
    live_out
        The arguments that PolyBench dumps, in its order and under its names.
    reference
        From arguments, which it leaves alone, to the live-out arrays, by NumPy and not by the kernel's loops. It may
        need what only random arguments have, as independent columns.
    tolerance
        How far the kernel may be from the reference: the largest difference over the largest magnitude, per array.
    random
        From sizes and a generator to other arguments. Without it, every floating-point array is uniform in -1 to 1,
        except where it is uninitialised; numbers stay as they are.
    triangle
        The part of a live-out matrix that is dumped, row by row, with the diagonal; all of it without this.
    least
        The smallest value that a size may have, where that is not 1.
    """

    name: str
    kernel: af.Kernel
    sizes: Mapping[str, Sizes]
    arrays: Callable[[Sizes], Arguments]
    live_out: tuple[str, ...]
    reference: Callable[[Arguments], dict[str, Array]]
    tolerance: float = 1e-12
    random: Callable[[Sizes, np.random.Generator], Arguments] | None = None
    triangle: Literal["lower", "upper"] | None = None
    least: Sizes = field(default_factory=dict)

    def random_arguments(self, sizes: Sizes, rng: np.random.Generator) -> Arguments:
        """Arguments of these sizes that are not PolyBench's.

        Raises
        ------
        TypeError
            If an array holds integers, for which no distribution is right for all kernels, and `random` is not given.
        """
        if self.random is not None:
            return self.random(sizes, rng)
        arguments = self.arrays(sizes)
        for name, value in arguments.items():
            if isinstance(value, np.ndarray):
                if value.dtype.kind != "f":
                    raise TypeError(f"{self.name}: {name} holds {value.dtype}; give the benchmark a `random`")
                drawn = rng.uniform(-1, 1, value.shape).astype(value.dtype)
                arguments[name] = np.where(np.isnan(value), value, drawn)
        return arguments

    def run(self, arguments: Arguments, how: Literal["interpreter", "c"] = "c") -> None:
        """Run the kernel on the arguments' arrays, in place."""
        call: Callable[..., object] = self.kernel if how == "c" else self.kernel.interpret
        call(*arguments.values())

    def dump(self, arguments: Arguments) -> dict[str, Array]:
        """The live-out arrays as PolyBench dumps them: float64 or int32, a triangle as one row."""
        return {name: self._dumped(np.asarray(arguments[name])) for name in self.live_out}

    def _dumped(self, array: Array) -> Array:
        wide = array.astype(np.float64 if array.dtype.kind == "f" else np.int32)
        match self.triangle:
            case "lower":
                return wide[np.tril_indices(len(wide))]
            case "upper":
                return wide[np.triu_indices(len(wide))]
            case None:
                return wide


def table(parameters: str, *columns: tuple[int, ...]) -> dict[str, Sizes]:
    """The sizes of a kernel: the parameters' names, then their values for MINI, SMALL, MEDIUM, LARGE, EXTRALARGE.

    >>> table("N", (1,), (2,), (3,), (4,), (5,))["LARGE"]
    {'N': 4}
    """
    names = parameters.split()
    return {size: dict(zip(names, values, strict=True)) for size, values in zip(SIZE_NAMES, columns, strict=True)}


def unset(*shape: int, dtype: DTypeLike = np.float64) -> Array:
    """An array that the kernel must write before it reads: full of NaN, or of a number that no kernel computes."""
    kind = np.dtype(dtype)
    return np.full(shape, np.nan if kind.kind == "f" else UNSET, kind)


def indices(*shape: int) -> tuple[Array, ...]:
    """The int64 index arrays i, j, ... of a shape, which broadcast to it.

    >>> i, j = indices(2, 3)
    >>> (10 * i + j).tolist()
    [[0, 1, 2], [10, 11, 12]]
    """
    return np.ogrid[tuple(slice(n) for n in shape)]
