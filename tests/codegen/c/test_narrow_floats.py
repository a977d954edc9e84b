"""bf16 and f16: every conversion is right, none has ways to go for each lane, and the code of them stays short."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.helpers import helper
from affdsl.codegen.c.vector_helpers import vector_helper
from tests.codegen.c.compare import compile_silently
from tests.effort import TRIES_ALL
from tests.oracles import require

N = af.symbols("N")
NARROW = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
COMPILERS = {"native": "gcc", "portable": "gcc -mno-sse3", "clang": "clang-22", "longer": "gcc"}
LANES = {"native": 8, "longer": 16}
IN_TURN = [(t, c) for c in COMPILERS for n, t in enumerate(NARROW) if TRIES_ALL or n == (c == "portable")]
"""Each compiler with one of the types, or with both."""


def kernel_of(name: str) -> af.Kernel:
    """All that is done to narrow floats on vectors: loaded, computed with, compared, converted, stored under masks."""
    T = getattr(af, name)

    @af.kernel
    def kernel(x: af.f32[N], a: T[N], b: T[N], rounded: T[N], wide: af.f32[N], found: T[N, 8], some: T[N]):
        with af.for_(N) as i:
            rounded[i] = af.cast(x[i], T)
            wide[i] = af.cast(a[i], af.f32)
            results = (a[i] + b[i], a[i] - b[i], a[i] * b[i], a[i] / b[i], af.min(a[i], b[i]), -a[i])
            for k, result in enumerate((*results, af.select(a[i] < b[i], b[i], a[i]), a[i] * 0.3 + 2.0)):
                found[i, k] = result
            with af.if_(i % 3 != 0):
                some[i] = some[i] + a[i]

    return kernel


def arguments(name: str) -> list[np.ndarray]:
    """Every narrow float beside others, and floats next to them and in the middle between two."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    every = bits.view(NARROW[name])
    with np.errstate(all="ignore"):
        exact = every.astype(np.float32).view(np.uint32)
        half = np.uint32(0x1000 if name == "f16" else 0x8000)
        x = (exact + np.resize(np.array([0, half, half - 1, half + 1], np.uint32), exact.size)).view(np.float32)
    other = (bits * 40503 % 65521).astype(np.uint16).view(NARROW[name])
    results = [np.zeros(every.size, NARROW[name]), np.zeros(every.size, "f4"), np.zeros((every.size, 8), NARROW[name])]
    return [x, every.copy(), other, *results, other.copy()]


def are_equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether all numbers have the same bits; each NaN is as good as another one."""
    with np.errstate(invalid="ignore"):
        none = np.isnan(a.astype(np.float32)) & np.isnan(b.astype(np.float32))
    bits = f"u{a.itemsize}"
    return bool(((a.view(bits) == b.view(bits)) | none).all())


@pytest.fixture(scope="module")
def one_by_one(request) -> tuple[str, list[np.ndarray]]:
    """What numbers become one by one, of which the interpreter says the same where it has been asked."""
    name, kernel = request.param, kernel_of(request.param)
    given = arguments(name)
    few = [a[::211].copy() for a in given]
    kernel(*given)
    kernel.interpret(*few)
    for k in (3, 4, 5):
        assert are_equal(np.ascontiguousarray(given[k][::211]), few[k]), k
    return name, given


@pytest.mark.parametrize(("one_by_one", "compiler"), IN_TURN, indirect=["one_by_one"])
def test_every_narrow_float_on_vectors(one_by_one, compiler, monkeypatch):
    monkeypatch.setenv("AFFDSL_CC", COMPILERS[compiler].replace("clang-22", require("clang-22")))
    name, wanted = one_by_one
    fast = af.Schedule(kernel_of(name)).vectorize("i", LANES.get(compiler, 4), tail="masked").kernel()
    found = arguments(name)
    fast(*found)
    for k, (a, b) in enumerate(zip(wanted, found, strict=True)):
        assert are_equal(a, b), k


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
def test_what_an_instruction_stands_for_is_no_unused_function(compiler, tmp_path):
    """With AVX-512, nothing calls what the portable bodies of stores, and of accesses under masks, call."""
    made = af.Schedule(kernel_of("f16")).vectorize("i", 16, tail="masked").kernel()
    compile_silently(made.c(), tmp_path, require(compiler), "-march=skylake-avx512", kind=("-c",))


def test_no_conversion_has_a_branch():
    """gcc 12 took 75 s and 1 GB for two dozen of lanes of a stencil in bf16: it follows all ways through branches."""
    scalar = [f"{name}_{stem}" for name in NARROW for stem in ("bits", "value")] + ["odd_f32", "round_f16"]
    lanes = [f"{stem}_{name}" for name in NARROW for stem in ("round", "of", "to", "masked_of", "masked_to")]
    texts = [helper(name).text for name in scalar] + [vector_helper(stem, "f32", 8).text for stem in lanes]
    for text in texts:
        assert not re.search(r"\bif\b|\?|&&|\|\|", re.sub(r"/\*.*?\*/|#if.*|#endif", "", text)), text
    assert "noinline" in vector_helper("copied", "f32", 8).text


@pytest.mark.parametrize("target", ["avx512", "avx2", "neon"])
def test_bf16_and_f16_explode(target):
    """A stencil with a condition was 18 kB of C, of which gcc -O3 made code for 75 s: it is little more than of f32."""
    sizes = {}
    for T in (af.f32, af.bf16, af.f16):

        @af.kernel
        def kernel(A: T[N], B: T[N]):
            with af.for_(2, N - 2) as i, af.if_(i % 2 == 0):
                A[i] += af.min(B[i + 2], (B[i + 2] + 0.5 * B[i - 2] + B[i]) * 0.25)

        text = kernel.optimize(target, threads=1).c()
        sizes[T] = len(text[text.index("void kernel") :].splitlines())
    assert sizes[af.f16] <= 2 * sizes[af.f32]
    assert sizes[af.bf16] <= 2 * sizes[af.f32]


def test_many_conversions_are_calls():
    """Of 400 steps in a row, each rounded twice: gcc takes 3 s, and 8 s where each is a copy of the conversion."""

    def chain(steps: int) -> str:
        @af.kernel
        def kernel(A: af.bf16[N], B: af.bf16[N]):
            with af.for_(1, N) as i:
                x = A[i - 1]
                for _ in range(steps):
                    x = x * 0.5 + B[i]
                A[i] = x

        return kernel.c()

    short, long = chain(40), chain(400)
    alone = "__attribute__((noinline))\n#endif\nstatic float round_bf16("
    assert alone not in short
    assert alone in long
    assert len(long) < 11 * len(short)
