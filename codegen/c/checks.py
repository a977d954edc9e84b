"""Checks before accesses, where a kernel is compiled with them: what fails is noted, not made, and ends the call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from affdsl.ir.core import Op
from affdsl.ir.expr import Affine, Value
from codegen.c.expressions import ADD, Code, number
from codegen.c.fallible import symbolic
from codegen.c.frame import Buffer, Frame
from codegen.c.sites import Access, Divisor, Misfit, Site
from codegen.c.words import Words

OUTSIDE = "3"
"""The status of a function in which a check failed."""


class Checks(Frame):
    """Writes the checks; where the file has none, each of these methods writes nothing.

    A check stands before the address is formed, so that nothing undefined happens. In a parallel loop, which no thread
    may leave, the status of the loop is set, and what is left of it does nothing.
    """

    @property
    def _checking(self) -> bool:
        return self.unit.sites is not None

    @cached_property
    def _words(self) -> Words:
        return Words(self.plan.func)

    def _fail(self, status: str = "2") -> None:
        """Leave the function, or this iteration of the parallel band."""
        raise NotImplementedError

    def _stop_if(self, tests: Sequence[str], site: Site, numbers: Sequence[Code], when: Code | None = None) -> None:
        """Note the failure and leave if one of the tests holds, where `when` does."""
        if not tests or self.unit.sites is None:
            return
        text = " || ".join(tests)
        if when is not None:
            text = f"{when.at(ADD)} && {f'({text})' if len(tests) > 1 else text}"
        self._open(f"if ({text})")
        listed = ", ".join(n.text for n in numbers)
        noted = self.unit.helper("affdsl_outside")
        at, count = self.unit.sites.add(site), len(numbers)
        self._line(f"{noted}({self.failure}, {at}, {count}, (const int64_t[{count}]){{{listed}}});")
        self._fail(OUTSIDE)
        self._close()

    def _steady(self, shown: Code) -> Code:
        """An index as an expression that may be written again and again."""
        if shown.text.lstrip("-").isdigit() or (shown.text.isidentifier() and not shown.variables):
            return shown
        name = self._declare("", "at", "int64_t", shown)
        self.used.add(name)
        return Code(name)

    def _steady_values(self, exprs: Iterable[Affine]) -> None:
        """Give names to what expressions read and nobody has named yet: they may be written again and again then."""
        for value in {v: None for e in exprs for v in e.values()}:
            if value in self._pending:
                self._name(value, self._pending.pop(value))

    # --- Elements

    def _index_of(self, op: Op, array: Value, index: Sequence[Affine], reach: Sequence[int] = ()) -> list[Code]:
        """The index of an access, which is checked; of the first element where a vector reaches further."""
        self._check_divisors(op, index)
        codes = [self._expression(e) for e in index]
        if not self._checking:
            return codes
        return self._checked(op, array, codes, index, reach=reach)

    def _checked(
        self,
        op: Op,
        array: Value,
        codes: Sequence[Code],
        index: Sequence[Affine],
        *,
        reach: Sequence[int] = (),
        lane: Code | None = None,
        when: Code | None = None,
        among: Sequence[int] | None = None,
    ) -> list[Code]:
        """codes under names, checked against the sizes of the array; `among` are the dimensions to look at."""
        codes = [self._steady(c) for c in codes]
        buffer, rank = self._buffers[array], len(codes)
        sizes = self._sizes_of(buffer)
        tests: list[str] = []
        for k in range(rank) if among is None else among:
            further = reach[k - rank] - 1 if k - rank >= -len(reach) else 0
            tests += _outside(codes[k], sizes[k], further)
        words = self._words
        site = Access(
            words.where(op), words.access(op, array, index), words.array(array), rank, tuple(reach), lane is not None
        )
        self._stop_if(tests, site, [*(() if lane is None else (lane,)), *codes, *sizes], when)
        return codes

    def _sizes_of(self, buffer: Buffer) -> list[Code]:
        return [self._expression(self._size(buffer, k)) for k in range(buffer.type.rank)]

    # --- Divisors

    def _check_divisors(self, op: Op, exprs: Sequence[Affine]) -> None:
        """The divisors in some expressions are positive, of those that only a run knows."""
        if not self._checking:
            return
        for divisor in symbolic([self._resolve(e) for e in exprs]):
            self._steady_values([divisor])
            shown = self._steady(self._expression(divisor))
            what = self._words.expression(divisor)
            self._stop_if([f"{shown} <= 0"], Divisor(self._words.where(op), what), [shown])

    # --- What moves or renames many elements

    def _misfit(self, op: Op, array: Value, words: str, tests: Sequence[str], numbers: Sequence[Code]) -> None:
        """Leave if something does not fit; `words` has a place for each number."""
        site = Misfit(self._words.where(op), words, self._words.array(array), len(numbers))
        self._stop_if(tests, site, numbers)

    def _same_size(self, op: Op, array: Value, has: Affine, wanted: Affine, words: str) -> None:
        """Leave if a size is not what it must be; `words` has places for both."""
        has, wanted = self._resolve(has), self._resolve(wanted)
        if not self._checking or has == wanted:
            return
        left, right = self._steady(self._expression(has)), self._steady(self._expression(wanted))
        self._misfit(op, array, words, [f"{left} != {right}"], [left, right])

    def _called(self, array: Value) -> str:
        """The name of an array as part of words with places."""
        return literally(self._words.array(array))


def literally(text: str) -> str:
    """text as a part of words with places."""
    return text.replace("{", "{{").replace("}", "}}")


def _outside(index: Code, size: Code, further: int) -> Iterator[str]:
    """The tests of which one holds if index, or index + further, is none of an array of that size."""
    at = int(index.text) if index.text.lstrip("-").isdigit() else None
    if at is None or at < 0:
        yield "1" if at is not None else f"{index} < 0"
    if index.text == size.text and further == 0:  # compilers warn of what is compared with itself
        yield "1"
    elif not size.text.isdigit():
        end = size.at(ADD) if further == 0 else f"{size.at(ADD)} - {further}"
        yield f"{index} >= {end}"
    elif at is None:
        yield f"{index} >= {number(int(size.text) - further)}"
    elif at >= int(size.text) - further:
        yield "1"
