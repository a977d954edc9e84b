"""Names that stand for something else at the end of a with-block than before it, where that would not be what it says.

A block is built once. So `s = s + x[i]` in a loop adds to the s from outside in every iteration, and `src = b` in a
branch makes b of src whether the condition holds or not. What can be meant in no other way than it is done is let
through: a name that a loop binds before it reads it, and one that nobody reads after a branch.
"""

from __future__ import annotations

import cmath

import numpy as np

from affdsl.errors import ProgramError
from affdsl.lang.arrays import Array
from affdsl.lang.bindings import first_use
from affdsl.lang.builder import OpenBlock, current
from affdsl.lang.dtypes import NUMBERS
from affdsl.lang.indices import Index
from affdsl.lang.scalars import Scalar
from affdsl.lang.source import problem, user_frame
from affdsl.lang.variables import Variable

Meaning = Array | Scalar | Index | int | float | complex | np.generic


class Names:
    """What the names of the user's function stand for where a block begins, as far as it belongs to kernels."""

    def __init__(self) -> None:
        frame = user_frame()
        self.code, self.start = frame.f_code, frame.f_lasti
        self.meant, self.held = _meanings(), _held()

    def require_kept(self, opened: OpenBlock, *, repeats: bool) -> None:
        """Raise ProgramError, at the end of the block, where a name means something that it does not say."""
        block, now = opened.what, _meanings()
        moved = {name: x for name, x in self.meant.items() if now.get(name, x) is not x}
        _require_unexchanged(block, {name: x for name, x in moved.items() if isinstance(x, Array | Scalar)}, now)
        frame = user_frame()
        end = frame.f_lasti if frame.f_code is self.code else 0
        for name, x in moved.items():
            if isinstance(x, Variable):
                _require_variable(block, name, x)
            elif isinstance(x, Array | Scalar | Index) and not _is_usable(x):
                continue  # from a block that has ended
            elif repeats and isinstance(x, Array | Scalar | Index):
                if first_use(self.code, name, self.start, end) == "read":
                    raise _read_before(block, name, x)
            elif repeats and isinstance(now[name], Scalar | Index):
                if first_use(self.code, name, self.start, end) == "read":
                    raise _added_up(opened, name, x, now[name])
            elif not repeats and not isinstance(x, Scalar) and not isinstance(now[name], Scalar):
                inside, behind = (first_use(self.code, name, *ends) for ends in ((self.start, end), (end, None)))
                if inside == "bound" and behind == "read":
                    raise _bound_anyway(block, name, x)
            _remember(name, x, now[name])
        held = _held()
        for name, x in self.held.items():
            if held.get(name, x) is not x and isinstance(x, Variable):
                _require_variable(block, name, x)
            elif held.get(name, x) is not x and repeats and _is_usable(x):
                raise _read_before(block, name, x, f"{block} puts something else in the place of {name}")


def _held() -> dict[str, Array | Scalar | Index]:
    """What lists and dicts of the user's function hold of kernels, by how it is written: those whose first is such."""
    kinds = (Array, Scalar, Index)
    found: dict[str, Array | Scalar | Index] = {}
    for name, x in user_frame().f_locals.items():
        if isinstance(x, list) and x and isinstance(x[0], kinds):
            found |= {f"{name}[{k}]": e for k, e in enumerate(x) if isinstance(e, kinds)}
        elif isinstance(x, dict) and x and isinstance(next(iter(x.values())), kinds):
            found |= {f"{name}[{key!r}]": e for key, e in x.items() if isinstance(e, kinds)}
    return found


def _meanings() -> dict[str, Meaning]:
    return {name: x for name, x in user_frame().f_locals.items() if isinstance(x, Meaning)}


def _is_usable(x: Array | Scalar | Index) -> bool:
    values = x.expr.values() if isinstance(x, Index) else [x.value]
    return all(value in current().visible for value in values)


def _require_unexchanged(block: str, moved: dict[str, Array | Scalar], now: dict[str, Meaning]) -> None:
    """Raise ProgramError where names from outside have changed places, as for ping-pong buffers."""
    if moved and {id(x) for x in moved.values()} == {id(now[name]) for name in moved}:
        raise problem(
            ProgramError,
            f"{block} exchanges the names {', '.join(moved)}",
            "Python does this once, while the block is built, and not in each of its iterations",
            "write the loop over pairs of steps, from one array to the other and back; exchange numbers by iter_args",
        )


def _require_variable(block: str, name: str, x: Variable) -> None:
    """Raise ProgramError where the name of a variable from outside has become that of something else."""
    if x.array.value in current().visible:
        raise problem(
            ProgramError,
            f"{name} is a variable, and {block} gives its name to something else",
            f"`{name} = ...` does not change it: write {name}.set(...), {name} += ... and the like",
        )


def _read_before(block: str, name: str, x: Array | Scalar | Index, what: str = "") -> ProgramError:
    """The error for what looks as if a loop carried it."""
    carry = f"a variable changes: {name} = affdsl.var({name}) before the loop, and {name}.set(...) in it; or iter_args"
    copy = f"to change its elements write affdsl.copy(..., {name}), or let a dimension more take turns, u[t % 2, i]"
    return problem(
        ProgramError,
        what or f"{block} reads {name}, and then gives its name to something else",
        f"the block is built once, so every iteration reads the {name} from outside",
        f"{copy if isinstance(x, Array) else carry}; what has nothing to do with it needs another name",
    )


def _added_up(opened: OpenBlock, name: str, x: Meaning, now: Meaning) -> ProgramError:
    """The error for a number of Python to which every iteration is meant to add."""
    start, type = _first_value(name, x, now), _type(now)
    variable = f"{name} = {start} before {{}}, and {name} += ... or {name}.set(...) in it"
    change = f"write {variable.format('the loop')}"
    if opened.is_parallel:
        combine = f'combine what the iterations yield: affdsl.parallel(n, reduce=[("addf", affdsl.{type})])'
        change = f"{combine}; or take affdsl.for_, {variable.format('it')}"
    return problem(
        ProgramError,
        f"{opened.what} reads {name}, and then gives its name to something else",
        f"the block is built once, so {name} is {_plain(x)!r} in every iteration",
        f"{change}; what has nothing to do with it needs another name",
    )


def _remember(name: str, x: Meaning, now: Meaning) -> None:
    """Keep, for whoever reads the value after the block in which it was made, that its name was that of a number."""
    if isinstance(now, Scalar) and now.has_value and not isinstance(x, Array):
        current().renamed[now.value] = f"{name} = {_first_value(name, x, now)}"


def _first_value(name: str, x: Meaning, now: Meaning) -> str:
    """How a variable is made that begins as x and can become what the name stands for now."""
    if not isinstance(x, NUMBERS):
        return f"affdsl.var({name})"
    number = _plain(x)
    finite = isinstance(number, int) or cmath.isfinite(number)
    shown = repr(number) if finite else f"{type(number).__name__}('{number!r}')"
    return f"affdsl.var(affdsl.{_type(now)}({shown}))"


def _plain(number: Meaning) -> int | float | complex:
    """A number of NumPy as one of Python, which all versions of NumPy write alike."""
    assert isinstance(number, NUMBERS)
    return number.item() if isinstance(number, np.generic) else number


def _type(now: Meaning) -> str:
    return str(now.dtype) if isinstance(now, Scalar) else "index"


def _bound_anyway(block: str, name: str, x: Meaning) -> ProgramError:
    """The error for what looks as if a condition decided it."""
    return problem(
        ProgramError,
        f"{block} gives the name {name} to something else, and {name} is read after it",
        "the block is built once, whatever its condition: after it, the name stands for the new one in any case",
        "write what is done with the one array in the branch, and what is done with the other in affdsl.else_()"
        if isinstance(x, Array)
        else f"choose by affdsl.select(condition, a, b), or by a variable: {name} = affdsl.var(...) before the branch, "
        f"and {name}.set(...) in it",
    )
