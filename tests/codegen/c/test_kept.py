"""Memory that a library keeps between calls: what is given back is taken again, by one at once, if it fits."""

import ctypes
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.kept import ALIGNMENT, BLOCKS, LEAST, MOST, TEXT
from affdsl.codegen.cache import load_image
from affdsl.codegen.jit import jit_source
from affdsl.codegen.toolchain import Compiler, compile_shared, find_compiler, identify

N = af.symbols("N")
EXPORTED = """
__attribute__((visibility("default"))) void *take(size_t alignment, int64_t bytes)
{
    return affdsl_new(alignment, 1, 1, &bytes);
}
__attribute__((visibility("default"))) void give(void *block)
{
    affdsl_free(block);
}
"""


@af.kernel
def turned(x: af.f64[N], y: af.f64[N]):
    """The elements the other way round, by way of a buffer."""
    held = af.alloc(af.f64[N])
    with af.for_(N) as i:
        held[i] = x[i]
    with af.for_(N) as i:
        y[i] = held[N - 1 - i]


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return identify(find_compiler())


@pytest.fixture
def memory(compiler: Compiler):
    """The two functions, of a library that keeps nothing yet."""
    source = f"#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n{TEXT}{EXPORTED}"
    library = load_image(compile_shared(compiler, source, ("-std=c11", "-O2", "-Wall", "-Werror", "-shared", "-fPIC")))
    library.take.argtypes, library.take.restype = (ctypes.c_size_t, ctypes.c_int64), ctypes.c_size_t
    library.give.argtypes, library.give.restype = (ctypes.c_size_t,), None
    return library.take, library.give


@pytest.mark.parametrize("size", [0, 1, 100, LEAST - 1, LEAST, MOST, MOST + 1])
@pytest.mark.parametrize("alignment", [ALIGNMENT, 128, 4096])
def test_blocks_begin_where_they_should(memory, size, alignment):
    take, give = memory
    blocks = [take(alignment, size) for _ in range(3)]
    assert all(block and block % alignment == 0 for block in blocks)
    assert len({*blocks}) == 3
    for block in blocks:
        ctypes.memset(block, 1, size)
        give(block)


def test_what_is_given_back_is_taken_again(memory):
    take, give = memory
    first = take(ALIGNMENT, 3 * LEAST)
    give(first)
    assert take(ALIGNMENT, 3 * LEAST) == first
    assert take(ALIGNMENT, 3 * LEAST) != first, "it is in use"
    give(first)
    larger = take(ALIGNMENT, 4 * LEAST)
    assert larger != first
    assert take(ALIGNMENT, 2 * LEAST) == first, "it is large enough, and was there all the time"


def test_more_blocks_than_are_kept_are_freed(memory):
    take, give = memory
    blocks = [take(ALIGNMENT, LEAST) for _ in range(3 * BLOCKS)]
    for block in blocks:
        give(block)
    again = [take(ALIGNMENT, LEAST) for _ in range(3 * BLOCKS)]
    assert len({*again}) == 3 * BLOCKS
    assert len({*again} & {*blocks}) >= BLOCKS
    give(0)


def test_no_memory_for_what_cannot_be(memory):
    take, _ = memory
    assert not take(ALIGNMENT, -1)
    assert not take(ALIGNMENT, 1 << 62)


def test_threads_never_have_the_same_block(memory):
    take, give = memory

    def work(own: int) -> bool:
        for _ in range(200):
            block = take(ALIGNMENT, LEAST)
            ctypes.memset(block, own, LEAST)
            if ctypes.string_at(block, LEAST) != bytes([own]) * LEAST:
                return False
            give(block)
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))


def test_kernels_keep_buffers_and_printed_text_does_not(compiler):
    source, _ = jit_source(turned.program, turned.check(), compiler)
    assert "affdsl_new(64, sizeof(double), 1" in source
    assert re.search(r"\bfree\(held\)", turned.c())
    assert "affdsl_free" not in turned.c()
    for n in (3, LEAST, 9, 2 * LEAST, LEAST):
        x = np.random.default_rng(n).random(n)
        y = np.zeros(n)
        turned(x, y)
        assert np.array_equal(y, x[::-1])
