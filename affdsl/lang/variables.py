"""Variables: numbers that loops and branches change, as `s += x` says."""

from __future__ import annotations

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Value
from affdsl.ir.types import MemRefType
from affdsl.lang.annotations import ArrayType
from affdsl.lang.arrays import Array
from affdsl.lang.builder import current
from affdsl.lang.scalars import Scalar
from affdsl.lang.source import assigned_name, here, problem, user_frame
from affdsl.lang.traced import Operand, Traced


class Variable(Scalar):
    """A number that can be changed, as `var` makes it: read like any other, changed by `s += x`, `s.set(x)` and so on.

    It is a buffer of one element, so what changes it in a loop or a branch is seen after that.

    Attributes
    ----------
    dtype
        The type.
    array
        The buffer.

    >>> import affdsl as af
    >>> @af.kernel
    ... def count(n: af.index):
    ...     s = af.var(af.i64(0))
    ...     with af.for_(n) as i, af.if_(i % 3 == 0):
    ...         s += 1
    ...     return s
    >>> print(count.interpret(10))
    4
    """

    __slots__ = ("array", "made_in")

    def __init__(self, array: Array) -> None:
        super().__init__(None, array.type.dtype)
        self.array = array
        self.made_in = current().block

    @property
    def value(self) -> Value:
        """What it is here and now: a load."""
        return self.array[()].value

    def scalar(self) -> Scalar:
        """The number that it is here and now."""
        return self.array[()]

    def describe(self) -> str:
        """What messages call it."""
        return f"{self.array.name} ({self.dtype})"

    def set(self, x: Operand) -> None:
        """Give it another number. Raises ProgramTypeError for one of another type."""
        self._require_one_writer()
        self._require_one_name()
        self.array[()] = x

    def _require_one_name(self) -> None:
        """Raise ProgramError where a second name for it would change with it."""
        names = [name for name, x in user_frame().f_locals.items() if x is self]
        if len(names) > 1:
            names.sort(key=lambda name: name != self.array.name)
            raise problem(
                ProgramError,
                f"{names[1]} is one more name for the variable {names[0]}, and would change with it",
                f"to keep the number that it is now write {names[1]} = +{names[0]}",
            )

    def _require_one_writer(self) -> None:
        """Raise ProgramError where iterations that may run at once would share it."""
        blocks = current().blocks
        inside = blocks[blocks.index(self.made_in) + 1 :] if self.made_in in blocks else []
        shared = next((block for block in inside if block.is_parallel), None)
        if shared is not None:
            name = self.array.name
            raise problem(
                ProgramError,
                f"{name} is one variable for all iterations of {shared.what}, which may run at once",
                f"make it inside of the loop, {name} = affdsl.var(...), or combine what the iterations yield: "
                f'affdsl.parallel(n, reduce=[("addf", affdsl.{self.dtype})])',
            )

    def __iadd__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() + x)

    def __isub__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() - x)

    def __imul__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() * x)

    def __itruediv__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() / x)

    def __ifloordiv__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() // x)

    def __imod__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() % x)

    def __ipow__(self, x: Operand, modulo: object = None) -> Variable:
        return self._changed(self.scalar().__pow__(x, modulo))

    def __iand__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() & x)

    def __ior__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() | x)

    def __ixor__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() ^ x)

    def __ilshift__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() << x)

    def __irshift__(self, x: Operand) -> Variable:
        return self._changed(self.scalar() >> x)

    def _changed(self, x: Scalar) -> Variable:
        self.set(x)
        return self


def var(start: Operand) -> Variable:
    """A variable: `s = var(f64(0))`, then `s += x[i]` in loops and branches.

    It lives until the with-block around ends. `s = s + x` would give the name s to another number: `s += x` and
    `s.set(x)` change the variable itself.

    Parameters
    ----------
    start
        What it is at first: a number of the kernel, or a Python number with a type. Its type is that of the variable.

    Raises
    ------
    ProgramTypeError
        For a number without a type, and for what is no number.

    Examples
    --------
    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def positive(x: af.f64[N]):
    ...     s = af.var(af.f64(0))
    ...     with af.for_(N) as i, af.if_(x[i] > 0):
    ...         s += x[i]
    ...     return s
    >>> print(positive(np.array([1.0, -2.0, 3.0])))
    4.0
    """
    if not isinstance(start, Traced):
        what = f"var takes the number that it is at first, got {start!r}"
        wanted = {bool: "bool_", int: "i64"}.get(type(start), "f64")
        raise problem(ProgramTypeError, what, f"give it a type: affdsl.{wanted}({start!r})")
    number = start.scalar()
    location = here()
    value = Value(MemRefType((), number.dtype.type), assigned_name(), location)
    current().emit(memref.Alloca(value))
    made = Variable(Array(value, ArrayType(number.dtype, ())))
    made.set(number)
    return made
