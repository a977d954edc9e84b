"""What compilers of some versions do wrong, badly or not at all, and what C has instead: a row for each.

Who reads a C file is not known when it is written. So where the other form costs little, it `is_written` for all; where
it costs more, it stands behind a `condition` on the version. Versions that are newer or older than all that were tried
are taken for what the newest or the oldest one is. `tests/codegen/c/quirks` has a program for most rows, which shows
whether a compiler does so: tests try those of this machine, and `python -m tests.codegen.c.quirks` any others.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from affdsl.frozen import FrozenValue

Versions = tuple[int, int]
"""The first and the last one that does so, among those that were tried."""

TRIED: Mapping[str, tuple[int, ...]] = MappingProxyType({"gcc": (11, 12, 13, 14, 15, 16), "clang": (14, 19, 22)})
"""Of which versions the rows speak: gcc 11.5, 12.2, 13.5, 14.4, 15.3 and 16.2, clang 14.0, 19.1 and 22.1."""


class Quirk(FrozenValue):
    """What compilers do, and what is written instead."""

    kind: Literal["wrong", "slow", "refused", "warned", "long"]
    """The program computes something else, or is slow; no program is made, or with words; it takes long to be made."""
    bites: str
    """Where they do so."""
    instead: str
    where: str
    """The file that decides whether a program is concerned, and names the row."""
    decision: int | None = None
    """The number of the decision in `docs/decisions`."""
    gcc: Versions | None = None
    clang: Versions | None = None


IN_ORDER = (
    "stores_that_meet", "sums_in_order", "lookups_in_lanes", "integers_handed_on", "calls_for_one",
    "sums_under_conditions",
)  # fmt: skip
"""For which there are no vectors of the iterations of a loop: it begins with `affdsl_in_order()`."""


def is_written(name: str) -> bool:
    """Whether the other form is written for all compilers, since some of those that were tried need it."""
    row = QUIRKS[name]
    return row.gcc is not None or row.clang is not None


def condition(*names: str) -> str:
    """When the preprocessor takes what is written instead for some rows, as the operand of `&&`.

    >>> condition("narrowed_and_widened")
    'defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12'
    >>> condition("narrowed_and_widened", "stores_that_meet")
    'defined(__GNUC__) && !defined(__clang__)'
    >>> condition("vectors_handed_in")
    'defined(__GNUC__)'
    """
    rows = [QUIRKS[name] for name in names]
    assert all(row.gcc is not None for row in rows), "clang alone is asked for what it has, not for its version"
    if any(row.clang is not None for row in rows):
        return "defined(__GNUC__)"  # which clang defines, too, with a number that is none of its own
    return f"defined(__GNUC__) && !defined(__clang__){_between([row.gcc for row in rows if row.gcc is not None])}"


def _between(ranges: list[Versions]) -> str:
    """That the version of gcc is in the shortest range around some, which is open at an end of what was tried."""
    first, last = min(first for first, _ in ranges), max(last for _, last in ranges)
    oldest, *_, newest = TRIED["gcc"]
    if first == last and oldest < first < newest:
        return f" && __GNUC__ == {first}"
    above, below = f" && __GNUC__ >= {first}", f" && __GNUC__ <= {last}"
    return above * (first > oldest) + below * (last < newest)


QUIRKS: Mapping[str, Quirk] = MappingProxyType({
    # What is computed wrong
    "remainders_beside_quotients": Quirk(
        "wrong", "a % b beside a / b in two loops, at -O1: the remainder is whatever a register holds",
        "no helper has a remainder, nor a - a / b * b; indices are divided without a sign",
        "codegen/c/helpers.py", 15, gcc=(11, 15),
    ),
    "narrowed_and_widened": Quirk(
        "wrong", "b[0] = (double)(float)a[0]; b[1] = (double)(float)a[1]; as one statement on vectors is not rounded",
        "a pragma without the vectorizer of statements", "codegen/c/unit.py", 36, gcc=(12, 12),
    ),
    "products_contracted": Quirk(
        "wrong", "a * b + c is rounded once, with -std=c11, too", "a pragma of C11, which gcc does not know",
        "codegen/c/unit.py", clang=(14, 22),
    ),
    "products_beside_sums": Quirk(
        "wrong", "a * b - c beside d * e + f is rounded once, whatever -ffp-contract says",
        "the product in ROUNDED, which keeps it apart", "codegen/c/products.py", 41, gcc=(12, 12),
    ),
    "integers_handed_on": Quirk(
        "wrong", "a loop that loads and stores several elements of one array of integers, always the same ones",
        "affdsl_in_order(), with which there are no vectors of iterations", "codegen/c/loops.py", 60, gcc=(12, 12),
    ),
    "stores_that_meet": Quirk(
        "wrong", "for i: for j: C[i + j] = B[i] leaves what an earlier i stores: at -O3, from gcc 15 on at -O2, too",
        "affdsl_in_order()", "codegen/c/loops.py", 62, gcc=(11, 16),
    ),
    "sums_under_conditions": Quirk(
        "wrong", "if (c[i]) s += x[i]; leaves 0.0 where s was -0.0 and no condition holds: 0.0 is added for each",
        "affdsl_in_order(), where s may begin as -0.0", "codegen/c/loops.py", 142, gcc=(12, 12),
    ),
    "truths_added": Quirk(
        "wrong", "(t[0] != 0) + (t[1] != 0) + ... of a mask is taken for t[0] + t[1] + ...",
        "masks become numbers as whole vectors", "codegen/c/vector_casts.py", gcc=(12, 12),
    ),
    "forks": Quirk(
        "wrong", "a parallel loop in a child of a process that ran one waits without end: libgomp lost its threads",
        "the threads end before each fork", "codegen/c/forks.py", 72, gcc=(11, 16),
    ),
    # What is refused, or not without words
    "long_lanes_chosen": Quirk(
        "refused", "choices between lanes of 64 bits, with SSE2 and no SSE4.2: an internal error in a random program",
        "choices in lanes of 32 bits", "codegen/c/vector_helpers.py", 27, gcc=(12, 12),
    ),
    "attributes_on_threads": Quirk(
        "refused", "a parallel loop in a function with a target of its own: its body has the target of the file",
        "a file for each target", "codegen/aot/sources.py", 46, clang=(14, 22),
    ),
    "complex_macros": Quirk(
        "refused", "CMPLX, which glibc defines for gcc alone", "CMPLX by __builtin_complex, where it is not defined",
        "codegen/c/float_helpers.py", clang=(14, 22),
    ),
    "vectors_handed_in": Quirk(
        "warned", "functions on vectors that are longer than registers, though they are inlined",
        "vectors are handed in by address, and a pragma is silent about results",
        "codegen/c/vector_helpers.py", 27, gcc=(11, 16), clang=(14, 19),
    ),
    "exclusive_or_of_two": Quirk(
        "warned", "2 ^ 3 may have been meant as a power", "0x2 ^ 3", "codegen/c/tables.py",
        gcc=(13, 16), clang=(14, 22),
    ),
    "lanes_compared": Quirk(
        "wrong", "lanes of int8_t that are compared are of type char, which has no sign on some machines",
        "a cast of what is compared", "codegen/c/vector_comparisons.py", clang=(14, 22),
    ),
    # What is slow
    "lookups_in_lanes": Quirk(
        "slow", "out[i] = table[image[i]] of bytes: lanes are inserted one by one", "affdsl_in_order()",
        "codegen/c/loops.py", 61, gcc=(12, 13),
    ),
    "sums_in_order": Quirk(
        "slow", "sums of floats in order: products are made on vectors, and their lanes taken out to be added",
        "affdsl_in_order()", "codegen/c/loops.py", 64, gcc=(11, 16),
    ),
    "calls_for_one": Quirk(
        "slow", "a loop that runs once at most, as from max(1, n - 1) to n, calls memset or memcpy for one element",
        "affdsl_in_order()", "codegen/c/loops.py", 126, gcc=(11, 16),
    ),
    "restrict_on_threads": Quirk(
        "slow", "restrict is forgotten in parallel loops: what was stored is loaded again behind another store",
        "copies of a body hand on the vectors that they store", "passes/transforms/share.py", 63,
        gcc=(11, 16), clang=(14, 22),
    ),
    "vectors_read_again": Quirk(
        "slow", "a vector that was loaded is loaded again for each operation that may have an operand in memory",
        "a helper loads it, behind which it is in a register alone", "codegen/c/vector_memory.py", 67, gcc=(11, 13),
    ),
    "loads_behind_stores": Quirk(
        "slow", "what is loaded ahead is loaded behind the store: seen in a layer norm, and in no small program",
        "affdsl_loads_first(), which neither gcc nor clang moves accesses across", "codegen/c/vector_memory.py", 69,
        gcc=(12, 12),
    ),
    "vectors_wider_than_registers": Quirk(
        "slow", "vectors of several registers live in memory", "several vectors", "codegen/c/emit.py", 27, gcc=(11, 16),
    ),
    "integers_made_narrow": Quirk(
        "slow", "integers with a quarter of the bits are made one lane after the other", "halved twice",
        "codegen/c/vector_helpers.py", gcc=(11, 16),
    ),
    "integers_made_floats": Quirk(
        "slow", "integers of 8 and 16 bits become floats one lane after the other", "by way of 32 bits",
        "codegen/c/vector_casts.py", gcc=(11, 14),
    ),
    "many_rows": Quirk(
        "slow", "eight and more addresses of rows in a function that is inlined move to and fro between registers",
        "a function of its own", "codegen/c/emit.py", 65, gcc=(12, 12),
    ),
    "inlined_entry": Quirk(
        "slow", "lanes that are turned in registers are taken apart in a function that is inlined: 37 us for 16",
        "a function of its own", "codegen/c/emit.py", clang=(22, 22),
    ),
    "copies_of_short_bodies": Quirk(
        "slow", "short loops over vectors stay as they are at -O3, and count and jump for each vector",
        "-funroll-loops for gcc, four times at most, and of short bodies only; clang was no faster with it",
        "codegen/toolchain.py", gcc=(12, 12), clang=(22, 22),
    ),
    "masks_across_tiles": Quirk(
        "slow", "one of twelve sums in registers lies on the stack: what masks of edges are made of stays in registers",
        "whole tiles are said to be likely; AVX2 takes masks of first lanes out of a table",
        "codegen/c/branches.py", 160, gcc=(12, 12),
    ),
    "restarts_masked": Quirk(
        "slow", "a counter goes on or begins anew by a branch, which nobody can foresee where data decides",
        "a mask of the condition", "codegen/c/restarts.py", gcc=(12, 12),
    ),
    "sums_masked": Quirk(
        "slow", "what data chooses is added by a branch, which nobody can foresee",
        "a mask of the condition, between the number and one that changes no sum", "codegen/c/restarts.py",
        gcc=(12, 12), clang=(22, 22),
    ),
    "differences_masked": Quirk(
        "slow", "one of two integers that differ by a number is chosen by a branch, which nobody can foresee",
        "the other one, and the number under a mask of the condition", "codegen/c/restarts.py", 153, gcc=(12, 12),
    ),
    "counts_of_truths": Quirk(
        "slow", "if (p != q) ++n; where p and q are comparisons: a vector of bytes is widened three times",
        "n += p != q ? 1 : 0", "codegen/c/restarts.py", 165, gcc=(12, 12),
    ),
    "bits_moved": Quirk(
        "slow", "bits of two floats are combined in registers of integers: 6.2 for 2.4 ns of two minima that wait",
        "assembly, where there is AVX", "codegen/c/helpers.py", 161, gcc=(12, 12),
    ),
    "extremes_handed_on": Quirk(
        "slow", "extremes of integers that wait for the iteration before are branches, or two instructions each",
        "the first lane of a vector",
        "codegen/c/lone_lanes.py", 142, gcc=(12, 12), clang=(22, 22),
    ),
    "choices_by_chance": Quirk(
        "slow", "a choice beside such lanes is a branch; of several clang makes a vector, whose lanes it tests in turn",
        "for clang, which branches in long loops, too: an unpredictable condition, and what is chosen in a register",
        "codegen/c/lone_lanes.py", 148, gcc=(12, 12), clang=(22, 22),
    ),
    "masks_as_vectors": Quirk(
        "slow", "a comparison becomes a vector, and a mask of that, before its lanes are counted or choose others",
        "lanes are counted and chosen by comparisons: count_lt, lt_f64", "codegen/c/vector_comparisons.py", 160,
        gcc=(12, 12),
    ),
    # What takes long to be compiled; the versions are those of which it was measured
    "branches_in_lanes": Quirk(
        "long", "all ways through the branches of a conversion that is copied into each lane are followed",
        "conversions of narrow floats without branches, and functions of their own where there are many",
        "codegen/c/unit.py", 73, gcc=(12, 12),
    ),
    "header_of_x86": Quirk(
        "long", "immintrin.h is read for a tenth of a second", "macros for what most kernels call",
        "codegen/c/intrinsics.py", gcc=(12, 12),
    ),
    "loops_split": Quirk(
        "long", "a tenth of the time for loops to split, a quarter for what many addresses are counted by",
        "-fno-split-loops, --param=iv-max-considered-uses=50", "codegen/toolchain.py", gcc=(12, 12),
    ),
})  # fmt: skip
