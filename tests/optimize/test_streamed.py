"""Stencils whose results nobody reads: vectors begin at lines, and go past the caches where arrays are long."""

from __future__ import annotations

from functools import cache

import pytest

import affdsl as af
from tests.passes.transforms.placed import assert_same

M, N = af.symbols("M N")


@af.kernel
def blur(image: af.f32[N, M], out: af.f32[N, M]):
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        rows = [image[i + k, j - 1] + image[i + k, j] + image[i + k, j + 1] for k in (-1, 0, 1)]
        out[i, j] = (rows[0] + rows[1] + rows[2]) * (1 / 9)


@af.kernel
def again(image: af.f32[N, M], out: af.f32[N, M], edges: af.f32[N, M]):
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        rows = [image[i + k, j - 1] + image[i + k, j] + image[i + k, j + 1] for k in (-1, 0, 1)]
        out[i, j] = (rows[0] + rows[1] + rows[2]) * (1 / 9)
    with af.for_(1, N - 1) as i, af.for_(2, M - 1) as j:
        edges[i, j] = out[i, j] - out[i, j - 1]


def steps(kernel, target="avx512", threads=1):
    return str(kernel.optimize(target, threads=threads).schedule)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_the_result_go_past_the_caches(threads):
    found = steps(blur, threads=threads)
    for step in ('.align("out", "j", 16)', '.splice("j", ahead=True)', '.stream("out", "j", 8388608)', ", 4)"):
        assert step in found, step
    assert (".parallel(" in found) == (threads > 1)


def test_what_is_read_again_stays_in_the_caches():
    found = steps(again)
    assert '.stream("out"' not in found
    assert '.align("out"' not in found


@pytest.mark.parametrize("target", ["avx2", "neon"])
def test_machines_with_shorter_vectors_store_as_ever(target):
    assert ".stream(" not in steps(blur, target)


@pytest.mark.parametrize(("source", "result"), [("f64", "f32"), ("f32", "u8"), ("f32", "f16"), ("bf16", "bf16")])
def test_what_is_stored_in_parts_of_lines_is_stored_as_ever(source, result):
    given, made = getattr(af, source), getattr(af, result)

    @af.kernel
    def narrowed(image: given[N, M], out: made[N, M]):
        with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
            rows = [image[i + k, j - 1] + image[i + k, j] + image[i + k, j + 1] for k in (-1, 0, 1)]
            out[i, j] = made(rows[0] + rows[1] + rows[2])

    assert ".stream(" not in steps(narrowed)


def test_it_says_so():
    said = str(blur.optimize("avx512", threads=1).explain())
    assert (
        "begin where lines of out do, and go past the caches where it has 8 MiB or more; 4 iterations of i run" in said
    )


@cache
def streamed_everywhere():
    """What is made of blur, for which arrays of any length are long."""
    s = blur.optimize("avx512", threads=1).schedule
    everywhere = str(s).replace("8388608", "0")
    scope = {"blur": blur}
    exec(everywhere, scope)
    return next(value for value in scope.values() if isinstance(value, af.Schedule)).kernel()


@pytest.mark.parametrize("offset", [0, 4, 16, 60])
def test_results_are_those_of_the_loops_wherever_arrays_lie(offset):
    made = streamed_everywhere()
    assert "streamed_store" in made.c()
    assert_same(made, blur, offset, ((3, 300), (9, 275), (6, 320), (7, 64), (5, 19), (2, 400), (40, 0), (12, 290)))
