"""What a report is about: a kernel, a call of it, and the part of the kernel that such a call runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from affdsl.codegen.arguments import Array
from affdsl.codegen.jit import has_vectors
from affdsl.codegen.native import native_target
from affdsl.codegen.needed import needed_by
from affdsl.frozen import Frozen
from affdsl.kernel import Kernel
from affdsl.lang.annotations import ArrayType
from affdsl.optimize.trial import arguments_of, fixed_numbers, numbers_of, usual_numbers
from affdsl.seeing.nests import Nests, nests_of
from affdsl.seeing.profile import Call

SIZE = 1000
"""What a size is that nobody gives."""


class Subject(Frozen):
    """A kernel with a call of it.

    Attributes
    ----------
    kernel
        The kernel as it was given.
    call
        Its arguments: those that were given, or arrays of zeros of the sizes that were.
    is_measured
        Whether arguments were given: then it runs, and times are measured.
    assumed
        The sizes that nobody gave.
    """

    kernel: Kernel
    call: Call
    is_measured: bool
    assumed: tuple[str, ...] = ()

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes and index arguments of the call, by name."""
        return self.call.sizes

    @cached_property
    def running(self) -> Kernel:
        """The kernel without the versions that calls with other sizes choose."""
        needed = needed_by(self.kernel.program, tuple(self.call.values), {})
        return self.kernel if needed is None else self.kernel.with_module(needed.module)

    @cached_property
    def nests(self) -> Nests:
        """The loop nests of what runs."""
        module = self.running.module
        return nests_of(module, width=native_target().width if has_vectors(module) else None)


def subject(kernel: Kernel, arguments: Sequence[object], keywords: Mapping[str, object]) -> Subject:
    """A kernel with a call: arguments as a call takes them; or sizes by their names, those that are left out are 1000.

    Raises as a call does for arguments that do not fit, and ProgramError for a size that there is not.
    """
    arrays = {p.name for p in kernel.program.parameters if isinstance(p.type, ArrayType)}
    if arguments or not arrays.isdisjoint(keywords):
        return Subject(kernel, Call(kernel.program, kernel.guarding, tuple(arguments), keywords), is_measured=True)
    names = numbers_of(kernel.program, {**usual_numbers(kernel.program, SIZE), **keywords}, "report on")
    assumed = tuple(name for name in names if name not in {*keywords, *fixed_numbers(kernel.program)})
    call = Call(kernel.program, kernel.guarding, arguments_of(kernel, names, "report on", _zeros), {})
    return Subject(kernel, call, is_measured=False, assumed=assumed)


def _zeros(shape: list[int], dtype: np.dtype[np.generic]) -> Array:
    """An array whose memory is taken when it is written, which it never is."""
    return np.zeros(shape, dtype)
