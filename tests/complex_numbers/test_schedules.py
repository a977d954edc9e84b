"""Schedules, passes and optimize() on complex numbers: the same to the bit, or a refusal that says why."""

from collections.abc import Callable

import numpy as np
import pytest

import affdsl as af
from affdsl.lang.dtypes import DType
from affdsl.passes.transforms.vectorize import AGAIN, TAILS, Tail, vectorize
from affdsl.passes.validation import validate
from tests.complex_numbers import kernels
from tests.complex_numbers.kernels import CASES, Case
from tests.complex_numbers.same import same_bits
from tests.harness.judges import copied

BY_NAME = {str(case): case for case in CASES}


def agree(case: Case, call: Callable[..., object], size: int = 7) -> None:
    """Fail unless a call leaves and gives what the interpreter makes of the kernel as it was."""
    given = case.drawn(np.random.default_rng(size), size)
    expected = copied(given)
    wanted, found = case.kernel.interpret(*expected), call(*given)
    for a, b in zip((*expected, wanted), (*given, found), strict=True):
        if isinstance(a, np.ndarray | np.generic):
            same_bits(a, b)


STEPS: dict[str, tuple[str, Callable[[af.Schedule], object]]] = {
    "tile, permute": ("gemm", lambda s: s.distribute("j").distribute("i")
        .tile(("i_2", "j_2", "k"), (2, 3, 2), names=("it", "jt", "kt")).permute(("kt", "jt", "it"))),
    "interchange": ("gemm", lambda s: s.interchange("i", "j")),
    "scalar_replace, unroll": ("gemm", lambda s: s.scalar_replace("k").unroll("k", 2)),
    "unroll_jam": ("gemm", lambda s: s.unroll_jam("i", 2)),
    "copy": ("gemm", lambda s: s.copy("B", "i")),
    "parallel": ("lu", lambda s: s.parallel("i")),
    "demote": ("hermitian", lambda s: s.demote("i")),
    "reverse, strip_mine": ("butterfly", lambda s: s.reverse("i").strip_mine("i", 3)),
    "tile, parallel": ("exchange", lambda s: s.tile(("i", "j"), (2, 2)).parallel("i_tile")),
    "unroll": ("tridiagonal", lambda s: s.unroll("i#2", 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_steps_leave_every_bit(name: str):
    kernel, steps = STEPS[name]
    s = af.Schedule(BY_NAME[kernel].kernel)
    steps(s)
    made = s.kernel(validate=True)
    for size in (0, 1, 7):
        agree(BY_NAME[kernel], made.interpret, size)


def test_loops_that_make_and_read_complex_numbers_are_fused():
    N = kernels.N

    @af.kernel
    def filtered(x: af.const(af.c128[N]), y: af.c128[N]):
        t = af.alloc(af.c128[N])
        with af.for_(N) as i:
            t[i] = x[i] * x[i].conj()
        with af.for_(N) as j:
            y[j] = t[j] - 1j

    case = Case(filtered, lambda x, y: None, lambda rng, n: [*kernels.c128(rng, 2, n)])
    fused = filtered.fuse()
    assert len([*af.Schedule(fused).loops()]) == 1
    agree(case, fused.interpret)
    agree(case, fused)


REFUSED: dict[str, tuple[str, Callable[[af.Schedule], object], str]] = {
    "vectors": ("spectrum", lambda s: s.vectorize("i", 4), "is a complex<f64>, and lanes are real numbers"),
    "vectors of constants": ("gemm", lambda s: s.distribute("j").vectorize("j", 4),
                             "the result of complex.constant at line 71 is a complex<f32>, and lanes are real numbers"),
    "vectors of parts": ("exchange", lambda s: s.vectorize("j", 4),
                         "complex.create computes with complex numbers, and lanes are real ones"),
    "a sum": ("hermitian", lambda s: s.parallel("i", reassociate=True),
              "s of one iteration is used in the next, and reductions combine no complex numbers: sum up both parts"),
    "a sum in lanes": ("hermitian", lambda s: s.vectorize("i", 4, reassociate=True), "complex"),
    "an order": ("lu", lambda s: s.interchange("i", "j"), "the loop i does not hold the loop j and nothing else"),
    "contract": ("fir", lambda s: s.contract("k"), "no sum in it takes a product"),
    "approximate": ("elementary", lambda s: s.approximate("i"), "no exp, exp2, log, log2, log10, erf, tanh, sin"),
    "reciprocal": ("helmholtz", lambda s: s.reciprocal("j"), "nothing in it is divided by a constant"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(name: str):
    kernel, step, message = REFUSED[name]
    with pytest.raises(af.IllegalTransform) as caught:
        step(af.Schedule(BY_NAME[kernel].kernel))
    assert message in str(caught.value)
    instead = (
        "legal: the loop as it is, of which the compiler of C makes vectors; or one on arrays of real and imaginary"
    )
    assert (instead in str(caught.value)) == ("lanes are real" in message)


def test_a_loop_on_vectors_may_read_a_complex_number_that_stays():
    @af.kernel
    def scaled(x: af.f64[kernels.N], z: af.c128):
        with af.for_(kernels.N) as i:
            x[i] *= (z * 2j).real

    s = af.Schedule(scaled)
    s.vectorize("i", 4)
    case = Case(scaled, lambda x, z: None, lambda rng, n: [rng.random(n), 1 - 2j])
    for call in (s.kernel().interpret, s.kernel()):
        agree(case, call, 11)


OPTIMIZED = {
    "gemm": "runs innermost; on vectors of complex numbers that the compiler of C makes",
    "horner": "8 iterations of i run at once",
    "dft": "its functions of the C library take longer than one addition waits for another",
    "spectrum": "as written: its numbers are complex, and lanes of vectors are real: the compiler of C makes",
    "hermitian": "as written: its sum is made in the order of the text, one addition after the other",
}


@pytest.mark.parametrize("name", OPTIMIZED)
def test_optimize_leaves_every_bit_and_says_what_it_did(name: str):
    fast = BY_NAME[name].kernel.optimize()
    assert OPTIMIZED[name] in str(fast.explain())
    for size in (0, 1, 19):
        agree(BY_NAME[name], fast, size)


PASSES = "affine-loop-tile{tile-size=2},affine-scalrep,affine-loop-invariant-code-motion,canonicalize,cse"


@pytest.mark.parametrize("name", ["butterfly", "fir", "inverses", "larger"])
def test_passes_leave_every_bit(name: str):
    case = BY_NAME[name]
    made = case.kernel.apply(PASSES, validate=True)
    agree(case, made.interpret)


PROGRAM = """
func.func @f(%x: memref<?xcomplex<f32>>, %a: complex<f32>, %n: index) -> complex<f32> {
  %t = memref.alloc(%n) : memref<?xcomplex<f32>>
  affine.for %i = 0 to %n {
    %0 = memref.load %x[%i] : memref<?xcomplex<f32>>
    %1 = complex.mul %0, %a : complex<f32>
    memref.store %1, %x[%i] : memref<?xcomplex<f32>>
  }
  %2 = complex.conj %a : complex<f32>
  memref.dealloc %t : memref<?xcomplex<f32>>
  return %2 : complex<f32>
}
"""
FAULTS = {
    "complex.mul %0, %a": "complex.add %0, %a",
    "complex.conj %a": "complex.neg %a",
    "memref.store %1, %x[%i]": "memref.store %a, %x[%i]",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_validation_finds_what_changes_a_part(fault: str):
    assert validate(af.parse(PROGRAM), af.parse(PROGRAM.replace("%t", "%u"))).failure is None
    assert validate(af.parse(PROGRAM), af.parse(PROGRAM.replace(fault, FAULTS[fault]))).failure is not None


def test_lowered_loops_are_compiled_too():
    lowered = kernels.lu.apply("lower-affine")
    agree(BY_NAME["lu"], lowered)


def test_zeros_of_other_signs_are_other_constants():
    N = kernels.N

    @af.kernel
    def twice(x: af.c128[N]):
        with af.for_(N) as i:
            x[i] = (x[i] * 2j) * (x[i] * 2j) + complex(0.0, -0.0) - complex(-0.0, 0.0)

    made = twice.apply("cse,canonicalize")
    text = str(made.mlir())
    assert text.count("complex.mul") == 2
    assert text.count("complex.constant") == 3
    z = np.array([1 - 1j, 0j])
    expected = z.copy()
    twice.interpret(expected)
    made.interpret(z)
    same_bits(expected, z)


def test_dependences_and_bounds_are_those_of_any_element():
    assert "parallel" in str(kernels.butterfly.loops())
    assert "sequential" in str(kernels.tridiagonal.loops())
    with pytest.raises(af.ProgramIndexError, match=r"reads x\[N\] when i = N - 1"):

        @af.kernel
        def beyond(x: af.c64[kernels.N]):
            with af.for_(kernels.N) as i:
                x[i] = x[i + 1]


def moved(dtype: DType) -> af.Kernel:
    """Elements that vectors cannot have, or not at once: at halves of an index, as data say, and of a recurrence."""
    N = kernels.N

    @af.kernel
    def made(A: af.const(dtype[N, 2]), B: dtype[N, 3], D: dtype[N], where: af.const(af.i64[N]), c: af.f64[N]):
        with af.for_(N) as i:
            with af.for_(1) as j:
                B[i, j] = A[i // 2, 1]
            with af.if_(i > 2):
                B[i, 1] = A[where[i], 0]
            B[where[i], 2] = A[i, 0]
            D[i] = D[(i + 1) // 2]
            c[i] = c[i] * 2 + 1

    return made


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("dtype", [af.c64, af.c128, af.f16, af.bool_], ids=str)
def test_lanes_that_do_not_run_load_a_number_of_any_type(dtype: DType, tail: Tail):
    """What is loaded lane by lane, each where it runs, is 0 elsewhere: 0 of the type that it has."""
    kernel = moved(dtype)
    s = af.Schedule(kernel)
    if tail in AGAIN:
        with pytest.raises(af.IllegalTransform, match="would run twice"):
            s.vectorize("i", 2, tail=tail)
        return
    wide = s.vectorize("i", 2, tail=tail).kernel()
    for n in (0, 1, 2, 5):
        rng = np.random.default_rng(n)
        numbers = kernels.c128(rng, 6, n) if dtype in (af.c64, af.c128) else rng.integers(0, 2, (6, n))
        A, B, D = numbers[:2].T, numbers[2:5].T, numbers[5]
        given = [*(np.ascontiguousarray(x.astype(dtype.numpy)) for x in (A, B, D)), rng.permutation(n), rng.random(n)]
        expected = copied(given)
        kernel.interpret(*expected)
        wide.interpret(*given)
        for a, b in zip(expected, given, strict=True):
            assert a.tobytes() == b.tobytes()


def test_refusals_call_what_has_no_name_by_what_makes_it():
    N = kernels.N

    @af.kernel
    def halved(A: af.const(af.c128[N, 2]), B: af.c128[N, 2]):
        with af.for_(N) as i:
            B[i, 0] = A[i // 2, 1]

    why = r"\n    the load A\[i floordiv 2, 1\] at line \d+ is a complex<f64>, and lanes are real numbers\n"
    with pytest.raises(af.IllegalTransform, match=why):
        af.Schedule(halved).vectorize("i", 4)
    with pytest.raises(af.IllegalTransform, match=why):
        vectorize(halved.func, halved.func.body[0].iv, 4)
