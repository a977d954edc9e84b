"""Buffers of the heap: long ones begin with a line of the cache."""

import ctypes

import pytest

from affdsl.codegen.c.helpers import helper
from affdsl.codegen.cache import load_image
from affdsl.codegen.toolchain import compile_shared, find_compiler, identify

EXPORTED = """
__attribute__((visibility("default"))) void *take(int64_t bytes)
{
    return new_buffer(1, 1, &bytes);
}
"""


@pytest.fixture(scope="module")
def take():
    source = f"#include <stdint.h>\n#include <stdlib.h>\n{helper('new_buffer').text}{EXPORTED}"
    compiler = identify(find_compiler())
    library = load_image(compile_shared(compiler, source, ("-std=c11", "-O2", "-Wall", "-Werror", "-shared", "-fPIC")))
    library.take.argtypes, library.take.restype = (ctypes.c_int64,), ctypes.c_void_p
    return library.take


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1025, 5_000, 1 << 20, (9 << 20) + 8])
def test_long_buffers_begin_with_a_line(take, size):
    blocks = [take(size) for _ in range(5)]
    assert all(blocks)
    assert len({*blocks}) == 5
    for block in blocks:
        ctypes.memset(block, 1, size)
        assert size < 1024 or block % 64 == 0


def test_no_memory_for_what_cannot_be(take):
    assert not take(-1)
    assert not take(1 << 62)
