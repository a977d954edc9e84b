"""One call of an example: the kernel, its arguments, and what must come out."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import affdsl as af

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """A call and its outcome: the arrays that it changes, by name, and what it returns. All other arrays must stay."""

    kernel: af.Kernel
    arguments: tuple[object, ...]
    changes: Mapping[str, Array] = field(default_factory=dict)
    returns: tuple[object, ...] = ()
    rtol: float = 0.0
    atol: float = 0.0

    def check(self, run: Callable[..., object] | None = None) -> None:
        """Call the kernel, or `run` in its place, on copies of the arguments. Raises AssertionError if it is wrong."""
        given = {
            p.name: np.copy(x) if isinstance(x, np.ndarray) else x
            for p, x in zip(self.kernel.program.parameters, self.arguments, strict=True)
        }
        arrays = {name: np.copy(x) for name, x in given.items() if isinstance(x, np.ndarray)}
        returned = (run or self.kernel)(*given.values())
        results = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
        if len(results) != len(self.returns):
            raise AssertionError(f"{self} returned {len(results)} results instead of {len(self.returns)}")
        for name, wanted in (arrays | dict(self.changes)).items():
            self._compare(name, given[name], wanted)
        for n, (result, value) in enumerate(zip(results, self.returns, strict=True)):
            self._compare(f"result {n}", result, np.asarray(value))

    def _compare(self, name: str, got: object, wanted: Array) -> None:
        found = np.asarray(got)
        if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
            raise AssertionError(f"{self}: {name} is {found.dtype}{found.shape}, not {wanted.dtype}{wanted.shape}")
        np.testing.assert_allclose(found, wanted, self.rtol, self.atol, err_msg=f"{self}: {name}", strict=True)

    def __str__(self) -> str:
        shown = [
            f"{p.name}: {'x'.join(map(str, x.shape))}" if isinstance(x, np.ndarray) else f"{p.name}={x}"
            for p, x in zip(self.kernel.program.parameters, self.arguments, strict=True)
        ]
        return f"{self.kernel.name}({', '.join(shown)})"


def report(cases: Iterable[Case]) -> None:
    """Check each case on the compiled kernel, and say so."""
    for case in cases:
        case.check()
        exact = not (case.rtol or case.atol)
        print(f"{case}: {'equal' if exact else f'equal to {case.rtol or case.atol:g}'}")
