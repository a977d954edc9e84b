"""Kernels for several types: NumPy, the interpreter, C and MLIR agree for each of them, at sizes 0, 1 and odd ones."""

import numpy as np
import pytest

import affdsl as af
from tests import oracles
from tests.effort import TRIES_ALL, some
from tests.generic.kernels import CASES, Case
from tests.loops.ways import WAYS, agree

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic")
IDS = [str(case) for case in CASES]


def keys(case: Case) -> list[tuple[object, ...]]:
    return list(case.family._keys())


@pytest.mark.parametrize("position", range(len(CASES)), ids=IDS)
def test_they_do_what_numpy_does(position: int):
    """The interpreter runs all of them; each day one of each family is compiled, and one of some is lowered."""
    case = CASES[position]
    for number, key in enumerate(keys(case)):
        compiled = TRIES_ALL or number == position % len(keys(case))
        lowered = TRIES_ALL or (compiled and position % 9 == 0)
        if any(x in key for x in (af.c64, af.c128)):
            lowered = False  # tests/complex_numbers does that: nothing passes a complex number to what mlir-opt made
        ways = WAYS[: 1 + compiled + lowered]
        for size in (0, 1, 5) if compiled else (3,):
            agree(case.family[key], case.wanted, *case.drawn(size, size, key), ways=ways)


@pytest.mark.parametrize("position", range(len(CASES)), ids=IDS)
def test_a_call_takes_the_kernel_for_its_arrays(position: int):
    """Also large ones, by position and by name, one type after the other; the kernel is the one that is asked for."""
    case = CASES[position]
    names = [p.name for p in case.family._parameters]
    for key in (keys(case)[position % len(keys(case))], *some(keys(case), 0)):
        for size in (1000, 3):
            given, expected = case.drawn(1, size, key), case.drawn(1, size, key)
            found = case.family(*given) if size == 3 else case.family(**dict(zip(names, given, strict=False)))
            wanted = case.wanted(*expected)
            for a, b in zip((*given, found), (*expected, wanted), strict=True):
                np.testing.assert_array_equal(a, b)
        assert case.family._choice(given, {})[0] is case.family[key]


@pytest.mark.parametrize("position", range(len(CASES)), ids=IDS)
def test_c_has_all_of_them(position: int):
    family = CASES[position].family
    text = family.c()
    members = some(family.kernels, 3)
    for member in members:
        assert f" {member.name}(" in text
        assert member.c().split("*/\n", 1)[1].partition("\nvoid ")[2].split("\n}")[0] in text
    if TRIES_ALL:
        oracles.compile_c({"f.c": text}, "clang-22", STRICT)
    oracles.compile_c({"f.c": text}, "gcc", (*STRICT, "-fsyntax-only"))
    if TRIES_ALL or position % 5 == 0:
        header = {f"{family.name}.h": family.header(), "f.cpp": f'#include "{family.name}.h"\n'}
        oracles.compile_c(header, "g++", ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"))


@pytest.mark.parametrize("position", range(0, len(CASES), 1 if TRIES_ALL else 5))
def test_mlir_has_all_of_them(position: int):
    family = CASES[position].family
    text = family.mlir()
    oracles.mlir_opt(text)
    assert [name for name in (k.name for k in family.kernels) if f"@{name}(" not in text] == []
    assert str(af.parse(text)) == text


@pytest.mark.parametrize("position", range(len(CASES)), ids=IDS)
def test_optimized_ones_do_the_same(position: int):
    case = CASES[position]
    fast = case.family.optimize(threads=2)
    for key in case.family._keys()[position % 2 :: 2]:
        for size in (0, 1, 37):
            given, expected = case.drawn(size, size, key), case.drawn(size, size, key)
            found, wanted = fast(*given), case.family[key](*expected)
            for a, b in zip((*given, found), (*expected, wanted), strict=True):
                np.testing.assert_array_equal(a, b)
