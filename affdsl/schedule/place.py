"""What the arguments of a schedule's step mean at the place where it is taken: loops, sizes, arrays, new names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from difflib import get_close_matches
from keyword import iskeyword

from affdsl.frozen import Frozen
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.types import IndexType, MemRefType
from affdsl.lang.indices import Condition, Index
from affdsl.lang.source import problem
from affdsl.mlir.naming import numbered
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.polyhedral import set_of
from affdsl.passes.legality.refusal import refusal
from affdsl.schedule.loops import ScheduleError, arrays_made, counters, find, loop_by, unused
from affdsl.schedule.spelling import literal

MOST = 2**31
"""Numbers of steps are smaller, and sizes of tiles that are arguments: see `affdsl.passes.legality.magnitude`."""
UNNAMED_ARRAY = "array"
"""What an array is called that the user gave no name."""


class Place(Frozen):
    """Where a step is taken: a function, the module that it is the last function of, and what its loops are called.

    `call` is the step as the user wrote it, for messages. `gone` says of names what became of their loops.
    """

    function: Func
    module: Module
    names: Mapping[Value, str]
    call: str
    gone: Mapping[str, str] = field(default_factory=dict)

    def loop(self, name: object, *, parallel: str | None = "", data: bool = False, any: bool = False) -> Value:
        """The counter of a loop that steps can change.

        `parallel` says what is wrong with a loop that is parallel; None, that nothing is.
        `data` is whether its bounds may come from data, since the step does not touch them; `any` is whether it may be
        parallel too, since the step leaves the order of its iterations alone. Raises ScheduleError if there is no such
        loop, IllegalTransform if it is parallel already, or bounded by data where that matters.
        """
        iv = find(self.function, self.names, name, self.call, self.gone)
        loop = loop_by(self.function, iv)
        if any:
            return iv
        if isinstance(loop, affine.Parallel) and parallel is None:
            return iv
        if isinstance(loop, affine.Parallel):
            changes = "its iterations have no order that a step could change; "
            advice = f"{changes}take other steps first, and make it parallel last"
            raise refusal(loop, self.call, f"the loop {name} is parallel already: {parallel or advice}")
        if isinstance(loop, scf.Parallel) or not (data or isinstance(loop, affine.For)):
            able = (
                "demote, distribute, hoist, interchange, parallel, scalar_replace, strip_mine, and unroll by a factor "
                "do not need to know them"
            )
            raise refusal(loop, self.call, f"the bounds of the loop {name} come from data; {able}")
        return iv

    def listed(self, ivs: Iterable[Value]) -> str:
        """What some loops are called."""
        return ", ".join(self.names[iv] for iv in ivs)

    def loops(self, names: object, *, data: bool = False) -> tuple[Value, ...]:
        """The counters of several loops; `data` as for one."""
        if isinstance(names, str) or not isinstance(names, Sequence) or not names:
            raise problem(
                ScheduleError, f'cannot {self.call}: it takes the names of loops, as ("i", "j"), got {literal(names)}'
            )
        found = tuple(self.loop(name, data=data) for name in names)
        twice = next((name for k, name in enumerate(names) if found[k] in found[:k]), None)
        if twice is not None:
            raise problem(ScheduleError, f"cannot {self.call}: {twice} is given twice")
        return found

    def number(self, number: object, what: str, least: int | None = None) -> int:
        """A whole number. Raises ScheduleError for anything else, below the least one, and where it is too large."""
        if not isinstance(number, int) or isinstance(number, bool) or (least is not None and number < least):
            wanted = "a whole number" if least is None else f"a whole number of at least {least}"
            raise problem(ScheduleError, f"cannot {self.call}: {what} is {wanted}, got {literal(number)}")
        if abs(number) >= MOST:
            raise problem(
                ScheduleError,
                f"cannot {self.call}: {what} is below 2**31, got {number}",
                "sums and products with it must fit into 64 bits, as all indices must",
            )
        return number

    def size(self, size: object) -> int | Value:
        """How many iterations: a number, or an argument of the kernel that its contract promises to be in the range."""
        if not isinstance(size, str | Index):
            return self.number(size, "a size", 1)
        expr = self.expr(size)
        if expr.is_constant:
            return self.number(expr.constant, "a size", 1)
        if expr.value is None or expr.value not in self.function.args:
            raise problem(
                ScheduleError,
                f"cannot {self.call}: a size is a number or an argument of the kernel, got {literal(size)}",
                "give the kernel an argument for it: `T: affdsl.index`",
            )
        name = expr.value.hint
        needed = {
            f"{name} >= 1": (expr - 1, "0 or negative, and a tile has an iteration at least"),
            f"{name} < 2**31": (MOST - 1 - expr, "so large that what is computed with it does not fit into 64 bits"),
        }
        missing = {text: why for text, (least, why) in needed.items() if not _implies(self.function, least)}
        if missing:
            raise problem(
                ScheduleError,
                f"cannot {self.call}: {name} may be {next(iter(missing.values()))}",
                f"write affdsl.assume({', '.join(missing)}) in the kernel: each call checks it",
            )
        return expr.value

    def expr(self, expr: object, what: str = "a place") -> Affine:
        """An expression of symbols, or a name, with the arguments and loops of that name."""
        if isinstance(expr, str):
            return Affine.of(self._value(expr))
        if not isinstance(expr, Index):
            return Affine.of(self.number(expr, what))
        new: dict[Value, Term] = {value: self._value(value.hint) for value in expr.expr.values()}
        return expr.expr.substitute(new)

    def condition(self, condition: object) -> tuple[Constraint, ...]:
        """The constraints of a condition, with the arguments and loops of its names."""
        if not isinstance(condition, Condition) or condition.negated:
            raise problem(
                ScheduleError,
                f"cannot {self.call}: it takes comparisons of sizes, as N >= 64, several of them joined by &",
            )
        values = {value for c in condition.constraints for value in c.values()}
        new: dict[Value, Term] = {value: self._value(value.hint) for value in values}
        return tuple(c.substitute(new) for c in condition.constraints)

    def _value(self, name: str) -> Value:
        """The index argument, or else the loop, of a name."""
        sizes = {a.hint: a for a in self.function.args if isinstance(a.type, IndexType)}
        loops = {self.names[value]: value for value in counters(self.function)}
        found = sizes.get(name, loops.get(name))
        if found is None:
            raise problem(
                ScheduleError,
                f"cannot {self.call}: {self.function.symbol} has no size or loop {name}"
                f"{self._what_of(name) or _closest(name, [*sizes, *loops])}",
                f"its sizes are {', '.join(sizes) or 'numbers only'}"
                + ('; expressions are made of symbols: affdsl.symbols("N") // 2' if not name.isidentifier() else ""),
            )
        return found

    def _what_of(self, name: str) -> str:
        """What became of the loop of a name, to follow a message; empty if there never was one."""
        return f" any more: {self.gone[name]}" if name in self.gone else ""

    def array(self, name: object) -> Value:
        """An array by its name: an argument, or one that the kernel allocates.

        Raises ScheduleError if there is none, or several.
        """
        arrays = arrays_of(self.function)
        if not isinstance(name, str):
            raise problem(
                ScheduleError,
                f"cannot {self.call}: an array is given by its name",
                f"its arrays are {', '.join(arrays) or 'none'}",
            )
        if name in arrays:
            return arrays[name]
        several = [known for known in arrays if known.startswith(f"{name}#")]
        if several:
            raise problem(
                ScheduleError,
                f"cannot {self.call}: {len(several)} arrays of {self.function.symbol} are called {name}",
                "write " + " or ".join(f'"{each}"' for each in several) + ", in the order of the text",
            )
        raise problem(
            ScheduleError,
            f"cannot {self.call}: {self.function.symbol} has no array {name}{_closest(name, arrays)}",
            f"its arrays are {', '.join(arrays) or 'none'}",
        )

    def new_array(self, wanted: object, array: object, suffix: str) -> str:
        """The name of a new array: one that is wanted, or that of another one with something behind it."""
        hint = self.array(array).hint
        if not wanted:
            return unused(f"{hint}{suffix}", set(self._known()))
        self._require_new(wanted, "A_fast")
        return str(wanted)

    def new(self, wanted: object, bases: Iterable[str], suffix: str) -> tuple[str, ...]:
        """Names for new loops: those that are wanted, or the old ones with something behind them."""
        bases = list(bases)
        if wanted:
            given = (wanted,) if isinstance(wanted, str) else wanted
            if not isinstance(given, Sequence):
                raise problem(ScheduleError, f"cannot {self.call}: names are texts like i_tile, got {literal(wanted)}")
            for k, name in enumerate(given):
                self._require_new(name, "i_tile", given[:k])
            if len(given) != len(bases):
                raise problem(ScheduleError, f"cannot {self.call}: each new loop has one name, got {literal(given)}")
            return tuple(given)
        made: list[str] = []
        for base in bases:
            made.append(unused(f"{base.partition('#')[0]}{suffix}", {*self._known(), *made}))
        return tuple(made)

    def _known(self) -> dict[str, str]:
        """What there is already, by its name: loops, sizes, arrays, numbers."""
        known = {name.partition("#")[0]: "an array" for name in arrays_of(self.function)}
        for argument in self.function.args:
            is_size, is_array = isinstance(argument.type, IndexType), isinstance(argument.type, MemRefType)
            known[argument.hint] = "a size" if is_size else "an array" if is_array else "an argument"
        return {**known, **{name.partition("#")[0]: "a loop" for name in self.names.values()}}

    def _require_new(self, name: object, like: str, before: Sequence[object] = ()) -> None:
        """Refuse what is no name of something new."""
        if not isinstance(name, str) or not name.isidentifier():
            raise problem(ScheduleError, f"cannot {self.call}: a name is a text like {like}, got {literal(name)}")
        if iskeyword(name):
            raise problem(ScheduleError, f"cannot {self.call}: {name} is a word of Python, and no name")
        known = {**self._known(), **{str(each): "a loop" for each in before}}
        if name in known:
            raise problem(ScheduleError, f"cannot {self.call}: there is {known[name]} {name} already")

    @property
    def dependences(self) -> Dependences:
        """Those of the function."""
        return Dependences(self.function, self.module)


def arrays_of(function: Func) -> dict[str, Value]:
    """The arrays by name; those of one name, or of none, are numbered in the order of the text."""
    arrays = [*(v for v in function.args if isinstance(v.type, MemRefType)), *arrays_made(function)]
    return dict(zip(numbered([v.hint or UNNAMED_ARRAY for v in arrays]), arrays, strict=True))


def _implies(function: Func, expr: Affine) -> bool:
    """Whether the contract of a function promises that an expression over its arguments is not negative."""
    constraints = [*function.assumes, Constraint(-expr - 1)]
    affine_ones = [c for c in constraints if all(isinstance(atom, Value) for atom, _ in c.expr.terms)]
    values = tuple(dict.fromkeys(v for c in affine_ones for v in c.values()))
    return set_of(affine_ones, (), values).is_empty()


def _closest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, [each for each in known if each], 1, 0.6)
    return f"; did you mean {close[0]}?" if close else ""
