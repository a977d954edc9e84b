"""Both callers check every argument, say the same words, and leave no reference behind."""

import gc
import resource
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affdsl.codegen import caller as module
from affdsl.codegen.arguments import (
    ArrayArgument,
    ArrayResult,
    ScalarArgument,
    ScalarResult,
    Scalars,
    Shapes,
    Signature,
)
from affdsl.codegen.cache import Cache, default_cache
from affdsl.codegen.caller import Caller, caller_kind, load
from affdsl.codegen.errors import (
    ArgumentError,
    LayoutError,
    OverlapError,
    RangeError,
    SizeError,
    ToolchainError,
)
from affdsl.codegen.toolchain import jit_flags
from affdsl.errors import InternalError
from tests.oracles import call_by, require_headers

f32, f64, i64 = np.dtype("float32"), np.dtype("float64"), np.dtype("int64")

ENTRY = """#include <stdint.h>
#include <string.h>
#define EXPORT __attribute__((visibility("default")))
EXPORT int32_t affdsl_entry(void *const *pointers, const int64_t *sizes);
EXPORT int32_t affdsl_results(const int64_t *sizes, void *const *pointers, int64_t *result_sizes);
EXPORT int32_t affdsl_entry(void *const *pointers, const int64_t *sizes)
{
    (void)pointers;
    (void)sizes;
"""
RESULTS = """}
EXPORT int32_t affdsl_results(const int64_t *sizes, void *const *pointers, int64_t *result_sizes)
{
    (void)pointers;
    (void)sizes;
    (void)result_sizes;
"""

ADD = """
    const double *a = pointers[0], *b = pointers[1];
    double *c = pointers[2];
    if (sizes[0] != sizes[1] || sizes[0] != sizes[2])
        return 1;
    for (int64_t i = 0; i < sizes[0]; i++)
        c[i] = a[i] + b[i];
    return 0;
"""

# result = alpha * sum(A) + n, with an array of rank 2 between two scalars
SCALE = """
    float alpha = *(const float *)pointers[0];
    const float *a = pointers[1];
    int64_t n = *(const int64_t *)pointers[2];
    double sum = 0.0;
    for (int64_t i = 0; i < sizes[0] * sizes[1]; i++)
        sum += (double)a[i];
    *(double *)pointers[3] = (double)alpha * sum + (double)n;
    return 0;
"""

# prefix sums (N + 1 of them) and their last
PREFIX = """
    const int64_t *a = pointers[0];
    int64_t *sums = pointers[1];
    sums[0] = 0;
    for (int64_t i = 0; i < sizes[0]; i++)
        sums[i + 1] = sums[i] + a[i];
    *(int64_t *)pointers[2] = sums[sizes[0]];
    return 0;
"""
PREFIX_RESULTS = "    if (sizes[0] == 13)\n        return 1;\n    result_sizes[0] = sizes[0] + 1;\n    return 0;\n"

add_signature = Signature(
    "add", (ArrayArgument("a", f64, 1, False), ArrayArgument("b", f64, 1, False), ArrayArgument("c", f64, 1, True))
)
scale_signature = Signature(
    "scale",
    (ScalarArgument("alpha", f32), ArrayArgument("A", f32, 2, False), ScalarArgument("n", i64)),
    (ScalarResult(f64),),
)
prefix_signature = Signature("prefix", (ArrayArgument("a", i64, 1, False),), (ArrayResult(i64, 1), ScalarResult(i64)))

Build = Callable[..., Caller]


class DisagreementError(ValueError):
    """What the facade would raise."""


def disagree(shapes: Shapes, scalars: Scalars) -> None:
    raise DisagreementError(f"{shapes} {scalars}")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("caller") / "cache")


@pytest.fixture(scope="module", autouse=True)
def _own_folder(cache: Cache) -> Iterator[None]:
    """Nothing of a test run reaches the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AFFDSL_CACHE_DIR", str(cache.folder))
        yield


@pytest.fixture(scope="module")
def headers() -> None:
    require_headers()


@pytest.fixture(params=["compiled", "ctypes"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    call_by(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture
def build(cache: Cache, kind: str) -> Build:
    return builder(cache)


def builder(cache: Cache) -> Build:
    """From the body of affdsl_entry (and of affdsl_results) and a signature to a caller."""

    def make(
        signature: Signature, body: str, results: str = "    return 0;\n", explain: module.ExplainSizes = disagree
    ) -> Caller:
        compiler = cache.compiler()
        text = ENTRY + body + RESULTS + results + "}\n"
        return load(cache.library(compiler, text, jit_flags(compiler)), signature, explain)

    return make


@pytest.fixture
def add(build: Build) -> Caller:
    return build(add_signature, ADD)


@pytest.fixture
def scale(build: Build) -> Caller:
    return build(scale_signature, SCALE)


@pytest.fixture
def prefix(build: Build) -> Caller:
    return build(prefix_signature, PREFIX, PREFIX_RESULTS)


def arrays(count: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(float(count)), np.full(count, 10.0), np.zeros(count)


# Calls that work


def test_it_is_the_caller_that_was_asked_for(add: Caller, kind: str) -> None:
    assert type(add).__name__ == {"compiled": "Caller", "ctypes": "_CtypesCaller"}[kind]
    assert caller_kind()[0] == kind


@pytest.mark.parametrize("count", [0, 1, 4, 1000])
def test_arrays_are_read_and_written_in_place(add: Caller, count: int) -> None:
    a, b, c = arrays(count)
    assert add(a, b, c) is None
    assert np.array_equal(c, a + b)


def test_arguments_by_name_in_any_order(add: Caller) -> None:
    a, b, c = arrays()
    names = {"".join(["b"]): b, "c": c}  # a name that is not interned, too
    add(a, **names)
    assert np.array_equal(c, a + b)
    add(c=b, b=a, a=a)
    assert np.array_equal(b, a + a)


def test_scalars_in_and_a_scalar_out(scale: Caller) -> None:
    result = scale(0.5, np.ones((2, 3), f32), n=7)
    assert type(result) is np.float64
    assert result == 10.0


@pytest.mark.parametrize("count", [0, 1, 5])
def test_an_array_result_and_a_tuple(prefix: Caller, count: int) -> None:
    given = np.arange(count)
    result = prefix(given)
    assert isinstance(result, tuple)
    sums, last = result
    assert isinstance(sums, np.ndarray)
    assert sums.tolist() == [0, *np.cumsum(given).tolist()]
    assert type(last) is np.int64
    assert last == given.sum()


def test_no_arguments_at_all(build: Build) -> None:
    assert build(Signature("nothing", ()), "    return 0;\n")() is None
    answer = build(Signature("answer", (), (ScalarResult(np.dtype("bool")),)), "*(char *)pointers[0] = 1; return 0;")()
    assert type(answer) is np.bool_
    assert answer


def sums(build: Build, count: int) -> Caller:
    """A kernel with many arguments and as many results."""
    body = f"""
    for (int k = 0; k < {count}; k++) {{
        double sum = 0.0;
        for (int64_t i = 0; i < sizes[k]; i++)
            sum += ((const double *)pointers[k])[i];
        *(double *)pointers[{count} + k] = sum;
    }}
    return 0;
    """
    arguments = tuple(ArrayArgument(f"x{k}", f64, 1, False) for k in range(count))
    return build(Signature("many", arguments, tuple(ScalarResult(f64) for _ in arguments)), body)


def test_more_arguments_than_the_stack_holds(build: Build) -> None:
    count = 40
    many = sums(build, count)
    names = [f"x{k}" for k in range(count)]
    given = [np.ones(k) for k in range(count)]
    assert many(*given) == tuple(float(k) for k in range(count))
    assert many(**dict(reversed(list(zip(names, given, strict=True))))) == tuple(float(k) for k in range(count))
    with pytest.raises(ArgumentError, match="many: takes 40 arguments"):
        many(*given[:-1])
    with pytest.raises(ArgumentError, match="there is no argument 'y'"):
        many(*given[:-1], y=given[-1])


def test_subclasses_empty_arrays_and_the_other_64_bit_integer(add: Caller, prefix: Caller, tmp_path: Path) -> None:
    a, b, _ = arrays()
    c = np.memmap(tmp_path / "c", f64, "w+", shape=4)
    add(a, b, c)
    assert np.array_equal(c, a + b)
    del c
    nothing = np.zeros(0)
    add(nothing, nothing, nothing)  # no element is shared
    other = np.arange(3, dtype=np.longlong if np.dtype("int64").char == "l" else np.int_)
    assert other.dtype.num != i64.num
    assert prefix(other)[1] == 3


def test_read_only_inputs_and_the_same_input_twice(add: Caller) -> None:
    a, _, c = arrays()
    a.flags.writeable = False
    add(a, a, c)
    assert np.array_equal(c, a + a)


def test_rank_0(build: Build) -> None:
    signature = Signature("increment", (ArrayArgument("x", f64, 0, True),))
    x = np.array(1.0)
    build(signature, "*(double *)pointers[0] += 1.0; return 0;")(x)
    assert x == 2.0


# Scalars of every type


def echo(build: Build, dtype: np.dtype[np.generic]) -> Caller:
    body = f"    memcpy(pointers[1], pointers[0], {dtype.itemsize});\n    return 0;\n"
    return build(Signature("echo", (ScalarArgument("x", dtype),), (ScalarResult(dtype),)), body)


INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype(f"float{bits}") for bits in (16, 32, 64)]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_to_the_ends_of_their_range(build: Build, dtype: np.dtype[np.generic]) -> None:
    call = echo(build, dtype)
    limits = np.iinfo(dtype)
    for value in (limits.min, limits.max, 0, True, np.int64(5), np.uint8(200) if limits.max > 127 else np.int8(3)):
        result = call(value)
        assert result == value
        assert type(result) is dtype.type
    for value in (limits.min - 1, limits.max + 1, -(2**70), 2**70):
        with pytest.raises(
            RangeError,
            match=rf"echo: argument 'x' must be between {limits.min} and {limits.max} \({dtype}\), got {value}",
        ):
            call(value)
    for value in (1.0, np.float64(1), "1", None, np.timedelta64(1), np.bool_(1), np.array(1), 1j):
        with pytest.raises(
            ArgumentError,
            match=r"echo: argument 'x' must be an integer for .*, got .*; (pass int\(x\)|pass a number|it has two)",
        ):
            call(value)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats_are_rounded_and_integers_are_not(build: Build, dtype: np.dtype[np.generic]) -> None:
    call = echo(build, dtype)
    for value in (0.1, -0.0, np.inf, -np.inf, np.float64(0.3), np.float32(0.7), np.float16(1.1), 3, True, np.int32(-2)):
        result = call(value)
        assert type(result) is dtype.type
        assert result.tobytes() == dtype.type(value).tobytes()
    assert np.isnan(call(np.nan))
    exact = 2 ** (np.finfo(dtype).nmant + 1)
    assert call(exact) == exact
    for value in (exact + 1, -exact - 1, 2**256 - 1, np.uint64(2**64 - 1)):
        with pytest.raises(
            RangeError, match=rf"echo: argument 'x' must be exact as {dtype}, got the integer {value}; pass fl"
        ):
            call(value)
    if dtype.itemsize < 8:
        with pytest.raises(RangeError, match=rf"'x' must be in the range of {dtype}, got 1e\+200; pass np.inf"):
            call(1e200)
    for value in ("1.0", None, 1j, np.timedelta64(1), np.bool_(1), np.array(1.0), np.longdouble(1)):
        with pytest.raises(
            ArgumentError,
            match=r"echo: argument 'x' must be a number for .*, got .*; (pass float\(x\)|pass a number|it has two)",
        ):
            call(value)


@pytest.mark.parametrize("dtype", [np.dtype("complex64"), np.dtype("complex128")], ids=str)
def test_complex_numbers_are_rounded_and_real_ones_are_taken(build: Build, dtype: np.dtype[np.generic]) -> None:
    call = echo(build, dtype)
    parts = (0.1, -0.0, np.inf, -np.inf, 1e-3)
    for value in (*(complex(a, b) for a in parts for b in parts), np.complex64(0.1 - 2j), np.complex128(3j), -0.5, 3):
        result = call(value)
        assert type(result) is dtype.type
        assert result.tobytes() == dtype.type(value).tobytes()
    assert np.isnan(call(complex("nan")))
    for value in (np.float32(0.7), np.float16(1.1), np.int32(-2), True):
        assert call(value) == dtype.type(value)
    with pytest.raises(RangeError, match=rf"'x' must be exact as float{4 * dtype.itemsize}, got the integer"):
        call(2**70 + 1)
    if dtype.itemsize < 16:
        for value in (1e200j, 1e200 + 0j, np.complex128(1 - 1e200j)):
            with pytest.raises(
                RangeError, match=r"'x' must be in the range of complex64, got .*; pass np.inf as a part"
            ):
                call(value)
    for value in ("1j", None, np.timedelta64(1), np.bool_(1), np.array(1j), np.clongdouble(1j)):
        with pytest.raises(
            ArgumentError,
            match=r"echo: argument 'x' must be a complex number for .*, got .*; (pass complex\(x\)|pass a number)",
        ):
            call(value)


def test_bools_are_bools(build: Build) -> None:
    call = echo(build, np.dtype("bool"))
    for value in (True, False, np.True_, np.False_):
        result = call(value)
        assert type(result) is np.bool_
        assert result == value
    for wrong in (1, 0.0, None, np.int8(1)):
        with pytest.raises(
            ArgumentError,
            match=r"echo: argument 'x' must be a bool for bool, got .*; (pass bool\(x\)|pass a number|it has two)",
        ):
            call(wrong)


numbers = st.one_of(
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-300, 300),
    st.floats(),
    st.floats(width=16),
    st.floats().map(np.float64),
    st.floats(width=32).map(np.float32),
    st.integers(-(2**63), 2**63 - 1).map(np.int64),
    st.integers(0, 255).map(np.uint8),
    st.none(),
)


@pytest.mark.usefixtures("headers")
@settings(max_examples=300, deadline=None)
@given(value=numbers)
def test_the_two_callers_agree_on_every_scalar(pairs: list[tuple[Caller, Caller]], value: object) -> None:
    for compiled, by_ctypes in pairs:
        assert outcome(compiled, value) == outcome(by_ctypes, value)


@pytest.fixture(scope="module")
def pairs(cache: Cache, _own_folder: None, headers: None) -> list[tuple[Caller, Caller]]:
    made = []
    for dtype in (*INTEGERS, *FLOATS, np.dtype("bool")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AFFDSL_CALLER", "compiled")
            compiled = echo(builder(cache), dtype)
            patch.setenv("AFFDSL_CALLER", "ctypes")
            made.append((compiled, echo(builder(cache), dtype)))
    return made


def outcome(call: Caller, value: object) -> tuple[type, object]:
    try:
        result = call(value)
    except (ArgumentError, RangeError) as error:
        return type(error), str(error)
    assert isinstance(result, np.generic)
    return type(result), "nan" if np.isnan(result) else result.tobytes()


def test_a_huge_integer_beyond_every_float_is_refused(build: Build) -> None:
    for dtype in FLOATS:
        with pytest.raises(RangeError, match=f"exact as {dtype}, got the integer one of 1101 bits; pass float"):
            echo(build, dtype)(2**1100)


def test_a_long_value_is_cut_in_the_message(build: Build) -> None:
    with pytest.raises(ArgumentError, match=r"got 'x{79}\.\.\. \(str\); pass a number"):
        echo(build, f64)("x" * 1000)


def test_an_integer_of_thousands_of_digits_is_not_written_out(build: Build) -> None:
    huge = 10**5000
    for dtype in (np.dtype("int8"), f64):
        with pytest.raises(RangeError, match=r"got (the integer )?one of 16610 bits"):
            echo(build, dtype)(huge)
    with pytest.raises(ArgumentError, match=r"a bool for bool, got one of 16610 bits \(int\)"):
        echo(build, np.dtype("bool"))(huge)


# Refusals


def strided() -> np.ndarray:
    return np.zeros(8)[::2]


def misaligned() -> np.ndarray:
    return np.zeros(33, np.uint8)[1:].view(f64)


def read_only() -> np.ndarray:
    array = np.zeros(4)
    array.flags.writeable = False
    return array


REFUSALS = [
    ("a", np.zeros(4, f32), ArgumentError,
     r"add: argument 'a' must be an array of float64, got float32; pass a.astype(np.float64)"),
    ("a", np.zeros(4, ">f8"), ArgumentError,
     r"add: argument 'a' must be an array of float64, got >f8; pass a.astype(np.float64)"),
    ("c", np.zeros(4, np.int64), ArgumentError,
     ("add: argument 'c' must be an array of float64, got int64; "
      "it is written in place, where a copy would be lost, so make it with dtype=np.float64")),
    ("a", np.zeros((4, 1)), SizeError, "add: argument 'a' must have rank 1, got shape (4, 1); reshape it"),
    ("a", np.array(1.0), SizeError, "add: argument 'a' must have rank 1, got shape (); reshape it"),
    ("a", strided(), LayoutError,
     ("add: argument 'a' must be C-contiguous, with strides (8,), got strides (16,); pass np.ascontiguousarray(a), "
      "or let the kernel take any strides: annotate it with affdsl.strided(...)")),
    ("c", strided(), LayoutError,
     ("add: argument 'c' must be C-contiguous, with strides (8,), got strides (16,); it is written in place, "
      "where a copy would be lost, so pass work = np.ascontiguousarray(c), then set c[...] = work, "
      "or let the kernel take any strides: annotate it with affdsl.strided(...)")),
    ("a", np.zeros(4)[::-1], LayoutError, "got strides (-8,)"),
    ("a", misaligned(), LayoutError, "add: argument 'a' must be aligned to 8 bytes, got address 0x"),
    ("a", misaligned(), LayoutError, "; pass a.copy()"),
    ("c", misaligned(), LayoutError, "so pass work = np.array(c), then set c[...] = work"),
    ("c", read_only(), LayoutError,
     "add: argument 'c' is written, but the array is read-only; pass one that can be written"),
    ("a", [1.0, 2.0], ArgumentError,
     "add: argument 'a' must be a NumPy array of float64, got a list; pass np.asarray(a, dtype=np.float64)"),
    ("a", None, ArgumentError, "got None; pass np.asarray(a"),
    ("c", [1.0], ArgumentError, "got a list; it is written in place, so make an array first and pass that"),
    ("a", np.ma.MaskedArray(np.zeros(4), [0, 1, 0, 0]), ArgumentError,
     "got a masked array, whose mask would be ignored; pass a.filled(...), a plain array"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "error", "message"), REFUSALS)
def test_a_wrong_array_is_refused_with_its_name_and_the_fix(
    add: Caller, name: str, value: object, error: type[Exception], message: str
) -> None:
    given = dict(zip("abc", arrays(), strict=True)) | {name: value}
    for call in (lambda: add(*given.values()), lambda: add(**given)):
        before = sys.getrefcount(value)
        with pytest.raises(error) as caught:
            call()
        assert message in str(caught.value)
        caught = None
        gc.collect()
        if value is not None:
            assert sys.getrefcount(value) == before


def test_an_array_of_bools_is_told_of_bool_(build: Build) -> None:
    call = build(Signature("flags", (ArrayArgument("m", np.dtype("bool"), 1, False),)), "    return 0;\n")
    with pytest.raises(
        ArgumentError, match=r"flags: argument 'm' must be an array of bool, got int64; pass m.astype\(np.bool_\)"
    ):
        call(np.zeros(3, np.int64))


@pytest.mark.parametrize(
    ("given", "names", "message"),
    [
        (2, "", "add: takes 3 arguments (a, b, c), got 2; pass also 'c'"),
        (0, "", "add: takes 3 arguments (a, b, c), got 0; pass also 'a', 'b', 'c'"),
        (4, "", "add: takes 3 arguments (a, b, c), got 4"),
        (3, "c", "add: takes 3 arguments (a, b, c), got 4"),
        (4, "c", "add: takes 3 arguments (a, b, c), got 5"),
        (2, "d", "add: there is no argument 'd'; its arguments are a, b, c"),
        (2, "b", "add: argument 'b' is given twice, by position and by name; leave one out"),
        (1, "b", "add: takes 3 arguments (a, b, c), got 2; pass also 'c'"),
        (0, "ac", "add: takes 3 arguments (a, b, c), got 2; pass also 'b'"),
    ],
)
def test_wrong_numbers_and_names(add: Caller, given: int, names: str, message: str) -> None:
    value = np.zeros(1)
    before = sys.getrefcount(value)
    with pytest.raises(ArgumentError) as caught:
        add(*[value] * given, **dict.fromkeys(names, value))
    if (given, names) == (3, "c"):
        message = "add: argument 'c' is given twice, by position and by name; leave one out"
    assert str(caught.value) == message
    caught = None
    gc.collect()
    assert sys.getrefcount(value) == before


def test_a_kernel_without_arguments_takes_none(build: Build) -> None:
    call = build(Signature("nothing", ()), "    return 0;\n")
    with pytest.raises(ArgumentError, match=r"^nothing: takes 0 arguments, got 1$"):
        call(1)
    with pytest.raises(ArgumentError, match=r"^nothing: there is no argument 'x'; it takes none$"):
        call(x=1)


def test_overlap_with_what_is_written(add: Caller, build: Build) -> None:
    a, b, _ = arrays()
    with pytest.raises(OverlapError, match=r"add: 'a' and 'c' overlap in memory and 'c' is written; pass a copy"):
        add(a, b, a)
    long = np.zeros(9)
    with pytest.raises(OverlapError, match="'b' and 'c' overlap in memory and 'c' is written"):
        add(a, long[1:5], long[4:8])
    add(a, long[:4], long[4:8])  # neighbours
    add(a, long[4:8], long[:4])
    empty = long.reshape(3, 3)[1, :0]  # inside `long`, but it has no element to share
    with pytest.raises(DisagreementError):
        add(empty, empty, long)
    both = Signature("swap", (ArrayArgument("x", f64, 1, True), ArrayArgument("y", f64, 1, True)))
    with pytest.raises(OverlapError, match="swap: 'x' and 'y' overlap in memory and both are written"):
        build(both, "    return 0;\n")(a, a)
    first = Signature("first", (ArrayArgument("x", f64, 1, True), ArrayArgument("y", f64, 1, False)))
    with pytest.raises(OverlapError, match="first: 'x' and 'y' overlap in memory and 'x' is written"):
        build(first, "    return 0;\n")(a, a)


# Statuses


def test_sizes_that_disagree_are_explained_by_the_facade(add: Caller, prefix: Caller) -> None:
    with pytest.raises(DisagreementError, match=r"\(\(2,\), \(3,\), \(2,\)\) \(\)"):
        add(np.zeros(2), c=np.zeros(2), b=np.zeros(3))
    with pytest.raises(DisagreementError, match=r"\(\(13,\),\) \(\)"):
        prefix(np.zeros(13, np.int64))


def test_the_facade_sees_shapes_and_converted_scalars(build: Build) -> None:
    seen: list[tuple[Shapes, Scalars]] = []
    call = build(scale_signature, "    return 1;\n", explain=lambda shapes, scalars: seen.append((shapes, scalars)))
    with pytest.raises(
        InternalError, match="scale: the library says that sizes disagree, but no disagreement was found"
    ):
        call(1, np.zeros((2, 3), f32), 4)
    assert seen == [(((2, 3),), (np.float32(1), np.int64(4)))]
    assert [type(value) for value in seen[0][1]] == [np.float32, np.int64]


def test_out_of_memory_names_the_kernel(build: Build) -> None:
    with pytest.raises(MemoryError, match="nothing: there is no memory for the arrays that the kernel allocates"):
        build(Signature("nothing", ()), "    return 2;\n")()
    with pytest.raises(MemoryError, match="prefix: there is no memory"):
        build(prefix_signature, "    return 0;\n", "    return 2;\n")(np.zeros(1, np.int64))


def test_an_unknown_status_is_our_bug(build: Build) -> None:
    with pytest.raises(
        InternalError, match="nothing: the library returned the unknown status 77; this is a bug of affdsl"
    ):
        build(Signature("nothing", ()), "    return 77;\n")()


@pytest.mark.usefixtures("headers")
def test_a_refusal_without_a_reason_is_our_bug(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFFDSL_CALLER", "compiled")
    call = builder(cache)(add_signature, ADD)
    monkeypatch.setattr(module, "check", lambda signature, arguments, keywords: [])
    with pytest.raises(InternalError, match=r"add: entry\.c refused arguments in which arguments\.py finds no mistake"):
        call()
    monkeypatch.setattr(module, "_explain", lambda *arguments: None)
    with pytest.raises(SystemError, match="the explanation raised nothing"):
        call()


def test_a_library_without_the_abi_is_our_bug(cache: Cache) -> None:
    compiler = cache.compiler()
    flags = jit_flags(compiler)
    empty = cache.library(compiler, "typedef int nothing;\n", flags)
    with pytest.raises(InternalError, match="add: the library does not export affdsl_entry"):
        load(empty, add_signature, disagree)
    text = '__attribute__((visibility("default"))) int affdsl_entry(void);\nint affdsl_entry(void) { return 0; }\n'
    with pytest.raises(InternalError, match="prefix: the library gives arrays but does not export affdsl_results"):
        load(cache.library(compiler, text, flags), prefix_signature, disagree)


def test_a_signature_is_checked() -> None:
    with pytest.raises(InternalError, match="twice: two arguments have the same name, among x, x"):
        Signature("twice", (ScalarArgument("x", f64), ScalarArgument("x", f64)))
    for dtype in (np.dtype(">f8"), np.dtype("clongdouble"), np.dtype(object)):
        with pytest.raises(InternalError, match=f"odd: a kernel cannot take or give the dtype {dtype}"):
            Signature("odd", (), (ScalarResult(dtype),))
    for rank in (-1, 33):
        with pytest.raises(InternalError, match=f"deep: an array cannot have rank {rank}, only 0 to 32"):
            Signature("deep", (), (ArrayResult(f64, rank),))


# References, memory, threads


def test_no_reference_is_left_or_lost(add: Caller, scale: Caller, prefix: Caller) -> None:
    a, b, c = arrays()
    matrix, integers = np.ones((2, 2), f32), np.arange(1000, 1005)
    number, alpha = 10**12, 0.123
    things = (a, b, c, matrix, integers, number, alpha, f32, f64, i64, add, scale, prefix)
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(50):
        add(a, b, c)
        add(c=c, a=a, b=b)
        scale(alpha, matrix, number)
        prefix(integers)
        prefix(a=integers)
        for call in (
            lambda: add(a, b),
            lambda: add(a, b, a),
            lambda: add(a, b, c[:2]),
            lambda: add(a, b, d=c),
            lambda: scale(number, matrix, alpha),
            lambda: scale(2**25 + 1, matrix, number),
            lambda: prefix(a),
        ):
            with pytest.raises((TypeError, ValueError)):
                call()
    del call
    gc.collect()
    assert [sys.getrefcount(thing) for thing in things] == before


def test_results_belong_to_the_caller_alone(prefix: Caller) -> None:
    result = prefix(np.arange(5))
    assert isinstance(result, tuple)
    counts = [sys.getrefcount(result), sys.getrefcount(result[0])]  # each held once, and once by the call that asks
    assert counts == [2, 2]
    assert result[0].flags.owndata


def test_memory_does_not_grow(build: Build, add: Caller, scale: Caller, prefix: Caller, kind: str) -> None:
    a, b, c = arrays()
    matrix, integers = np.ones((2, 2), f32), np.arange(1000)
    many = sums(build, 40)
    count = 100_000 if kind == "compiled" else 10_000

    def work(rounds: int) -> None:
        for _ in range(rounds):
            add(a, b, c)
            scale(2**30, matrix, 2**40)
            prefix(integers)  # 8 kB: forgetting these would take 800 MB
        for _ in range(rounds // 10):
            many(*[a] * 40)
        for _ in range(rounds // 100):
            with pytest.raises(ArgumentError):
                add(a, b)

    work(count // 10)
    before, blocks = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, sys.getallocatedblocks()
    work(count)
    gc.collect()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 * 1024  # kilobytes
    assert sys.getallocatedblocks() - blocks < 2000


def test_a_dropped_caller_is_collected(build: Build) -> None:
    class Facade:
        def explain(self, shapes: Shapes, scalars: Scalars) -> None:
            raise DisagreementError

    facade = Facade()
    facade.call = build(add_signature, ADD, explain=facade.explain)
    alive = weakref.ref(facade)
    del facade
    gc.collect()
    assert alive() is None


def test_the_gil_is_released(build: Build) -> None:
    # The kernel waits for the other thread, which needs the GIL to answer; it gives up after some seconds.
    body = """
    volatile int64_t *flag = pointers[0];
    *flag = 1;
    for (int64_t i = 0; i < 10000000000 && *flag != 2; i++)
        continue;
    return *flag == 2 ? 0 : 1;
    """
    flag = np.zeros(1, np.int64)

    def answer() -> None:
        while flag[0] != 1:
            time.sleep(0.001)
        flag[0] = 2

    wait = build(Signature("wait", (ArrayArgument("flag", i64, 1, True),)), body)
    thread = threading.Thread(target=answer)
    thread.start()
    wait(flag)
    thread.join()


def test_threads_call_at_once(add: Caller, prefix: Caller) -> None:
    def work(seed: int) -> bool:
        a, b, c = np.full(50, float(seed)), np.arange(50.0), np.zeros(50)
        for _ in range(300):
            add(a, b, c)
            sums, last = prefix(np.full(20, seed))
            with pytest.raises(OverlapError):
                add(a, b, b)
            if not (np.array_equal(c, a + b) and last == 20 * seed and sums[1] == seed):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


# Which caller


def test_an_unknown_caller_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFFDSL_CALLER", "fast")
    with pytest.raises(ValueError, match="AFFDSL_CALLER is 'fast'; set it to compiled or ctypes, or unset it"):
        caller_kind()


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> module._Extension:
    """As in a process that has no extension yet."""
    extension = module._Extension()
    monkeypatch.setattr(module, "_extension", extension)
    monkeypatch.delenv("AFFDSL_CALLER", raising=False)
    return extension


def test_without_headers_ctypes_is_used(
    cache: Cache, fresh: module._Extension, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module.sysconfig, "get_path", lambda name: str(tmp_path))
    call = builder(cache)(add_signature, ADD)
    assert type(call).__name__ == "_CtypesCaller"
    assert caller_kind() == (
        "ctypes",
        f"there is no {tmp_path}/Python.h; install the development files of Python and NumPy",
    )
    monkeypatch.setenv("AFFDSL_CALLER", "compiled")
    with pytest.raises(ToolchainError, match=r"AFFDSL_CALLER asks for the compiled caller, but there is no .*Python.h"):
        caller_kind()


def test_broken_headers_are_reported_once(
    cache: Cache, fresh: module._Extension, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "Python.h").write_text("#error broken\n")
    monkeypatch.setattr(module.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.warns(
        UserWarning, match=r"kernels are called by ctypes, which takes microseconds longer.*(?s:.*)#error broken"
    ):
        assert caller_kind()[0] == "ctypes"
    assert caller_kind()[1].startswith("it could not be built: the compiler failed")


@pytest.mark.usefixtures("headers")
def test_the_extension_comes_from_the_cache(fresh: module._Extension) -> None:
    assert caller_kind() == ("compiled", "it was built for this Python and NumPy")
    default = default_cache()
    names = set(default.folder.iterdir())
    fresh.make = None
    assert caller_kind()[0] == "compiled"
    assert set(default.folder.iterdir()) == names
