"""Checks before accesses, where a kernel is compiled with them: what fails is noted, not made, and ends the call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.codegen.c.buffers import Buffer
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import ADD, Code, number
from affdsl.codegen.c.fallible import symbolic
from affdsl.codegen.c.sites import Access, Divisor, Misfit, Site
from affdsl.ir.core import Op
from affdsl.ir.expr import Affine, Value

OUTSIDE = "3"
"""The status of a function in which a check failed."""


def stop_if(c: Context, tests: Sequence[str], site: Site, numbers: Sequence[Code], when: Code | None = None) -> None:
    """Note the failure and leave if one of the tests holds, where `when` does."""
    if not tests or not c.is_checked:
        return
    text = " || ".join(tests)
    if when is not None:
        text = f"{when.at(ADD)} && {f'({text})' if len(tests) > 1 else text}"
    with c.lines.block(f"if ({text})"):
        note(c, site, numbers)


def note(c: Context, site: Site, numbers: Sequence[Code]) -> None:
    """Note that a check fails, with its numbers, and leave."""
    assert c.unit.sites is not None, "there are sites where anything is noted"
    noted = c.unit.helper("affdsl_outside")
    at, count = c.unit.sites.add(site), len(numbers)
    given = f"(const int64_t[{count}]){{{', '.join(n.text for n in numbers)}}}" if numbers else c.failure
    c.lines.add(f"{noted}({c.lines.read(c.failure)}, {at}, {count}, {given});")
    c.fail(OUTSIDE)


def index_of(c: Context, op: Op, array: Value, index: Sequence[Affine], reach: Sequence[int] = ()) -> list[Code]:
    """The index of an access, which is checked; of the first element where a vector reaches further."""
    check_divisors(c, op, index)
    codes = [c.values.expression(e) for e in index]
    if not c.is_checked:
        return codes
    return checked(c, op, array, codes, index, reach=reach)


def checked(
    c: Context,
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
    codes = [c.values.steady(code) for code in codes]
    buffer, rank = c.buffers[array], len(codes)
    sizes = sizes_of(c, buffer)
    tests: list[str] = []
    for k in range(rank) if among is None else among:
        further = reach[k - rank] - 1 if k - rank >= -len(reach) else 0
        tests += _outside(codes[k], sizes[k], further)
    if not tests:
        c.lines.drop(*sizes)
    words = c.words
    site = Access(
        words.where(op), words.access(op, array, index), words.array(array), rank, tuple(reach), lane is not None
    )
    stop_if(c, tests, site, [*(() if lane is None else (lane,)), *codes, *sizes], when)
    return codes


def sizes_of(c: Context, buffer: Buffer) -> list[Code]:
    """The sizes of an array in C."""
    return [c.values.expression(size) for size in c.buffers.sizes(buffer)]


def check_divisors(c: Context, op: Op, exprs: Sequence[Affine]) -> None:
    """The divisors in some expressions are positive, of those that only a run knows."""
    if not c.is_checked:
        return
    for divisor in symbolic([c.values.resolve(e) for e in exprs]):
        c.values.steady_all([divisor])
        shown = c.values.steady(c.values.expression(divisor))
        what = c.words.expression(divisor)
        stop_if(c, [f"{shown} <= 0"], Divisor(c.words.where(op), what), [shown])


def misfit(c: Context, op: Op, array: Value, words: str, tests: Sequence[str], numbers: Sequence[Code]) -> None:
    """Leave if something does not fit; `words` has a place for each number."""
    site = Misfit(c.words.where(op), words, c.words.array(array), len(numbers))
    stop_if(c, tests, site, numbers)


def same_size(c: Context, op: Op, array: Value, has: Affine, wanted: Affine, words: str) -> None:
    """Leave if a size is not what it must be; `words` has places for both."""
    has, wanted = c.values.resolve(has), c.values.resolve(wanted)
    if not c.is_checked or has == wanted:
        return
    left, right = c.values.steady(c.values.expression(has)), c.values.steady(c.values.expression(wanted))
    misfit(c, op, array, words, [f"{left} != {right}"], [left, right])


def called(c: Context, array: Value) -> str:
    """The name of an array as part of words with places."""
    return literally(c.words.array(array))


def literally(text: str) -> str:
    """text as a part of words with places."""
    return text.replace("{", "{{").replace("}", "}}")


def _outside(index: Code, size: Code, further: int) -> Iterator[str]:
    """The tests of which one holds if index, or index + further, is none of an array of that size."""
    at = index.number
    if at is None or at < 0:
        yield "1" if at is not None else f"{index} < 0"
    if index.text == size.text and further == 0:  # compilers warn of what is compared with itself
        yield "1"
    elif size.number is None:
        end = size.at(ADD) if further == 0 else f"{size.at(ADD)} - {further}"
        yield f"{index} >= {end}"
    elif at is None:
        yield f"{index} >= {number(size.number - further)}"
    elif at >= size.number - further:
        yield "1"
