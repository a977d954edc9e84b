"""Arrays of other libraries: a kernel runs on their memory, or says why it cannot."""

import ctypes
import re
import sys
from array import array
from collections.abc import Callable
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import ArgumentError, LayoutError, OverlapError
from tests.oracles import call_by

N = af.symbols("N")


@af.kernel
def double(x: af.const(af.strided(af.f64[N])), y: af.strided(af.f64[N])):
    with af.for_(N) as i:
        y[i] = x[i] * 2.0


@pytest.fixture(params=["compiled", "ctypes", "interpret"])
def call(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """`double`, by each way in which it is called."""
    if request.param == "interpret":
        return double.interpret
    call_by(request.param, monkeypatch)
    return af.kernel(double._function)


class Lent:
    """What another library lends by DLPack, in the form of before its version 1 or of today."""

    def __init__(self, memory: np.ndarray, *, is_old: bool = False, error: str = "", device: int = 1) -> None:
        self._memory, self._is_old, self._error, self._device = memory, is_old, error, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0

    def __dlpack__(self, **asked: object) -> object:
        if self._error:
            raise BufferError(self._error)
        return self._memory.__dlpack__() if self._is_old else self._memory.__dlpack__(max_version=(1, 0))


class Interface:
    """What tells where its memory is."""

    def __init__(self, memory: np.ndarray) -> None:
        self._memory = memory
        self.__array_interface__ = memory.__array_interface__


class Seen:
    """What has `__array__` alone: a column of a table, or, with `copies`, a list of chunks, put together each time."""

    def __init__(self, memory: np.ndarray, *, copies: bool = False) -> None:
        self._memory, self._copies = memory, copies

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        return self._memory.copy() if self._copies else self._memory


LENT = {
    "a memoryview": memoryview,
    "an array of array": lambda x: array("d", x),
    "a ctypes array": lambda x: (ctypes.c_double * len(x))(*x),
    "DLPack": Lent,
    "the array interface": Interface,
    "__array__": Seen,
    "a reversed memoryview": lambda x: memoryview(x)[::-1],
    "a strided DLPack": lambda x: Lent(np.stack([x, x], 1)[:, 1]),
}


@pytest.mark.parametrize("name", LENT)
def test_memory_is_read_and_written_where_it_is(name: str, call):
    x, y = LENT[name](np.arange(5.0)), LENT[name](np.zeros(5))
    call(x, y)
    order = slice(None, None, -1 if name.startswith("a reversed") else 1)
    np.testing.assert_array_equal(_read(y), np.arange(5.0)[order] * 2)
    z = np.zeros(5)
    call(y=z, x=y)
    np.testing.assert_array_equal(z, _read(y) * 2)


def _read(lent: object) -> np.ndarray:
    return lent._memory if isinstance(lent, Lent | Interface | Seen) else np.asarray(memoryview(lent))


def test_what_may_not_be_written_is_only_read(call):
    x, y = np.arange(3.0), np.zeros(3)
    for lent in (memoryview(x).toreadonly(), memoryview(x.tobytes()).cast("d"), Lent(x, is_old=True)):
        y[:] = 0
        call(lent, y)
        np.testing.assert_array_equal(y, x * 2)
        with pytest.raises(LayoutError, match=r"^double: argument 'y' is written, but the array is read-only"):
            call(x, lent)


REFUSED = [
    (lambda x: memoryview(x.astype("f4")), "argument 'x' must be an array of float64, got float32; pass x.astype"),
    (lambda x: memoryview(x.tobytes()), "argument 'x' must be an array of float64, got uint8; pass x.astype"),
    (lambda x: x.tolist(), "argument 'x' must be a NumPy array of float64, got a list; pass np.asarray(x"),
    (lambda x: Seen(x, copies=True), "argument 'x' must be a NumPy array of float64, got a Seen; pass np.asarray(x"),
    (lambda x: Lent(x, error="it requires a gradient"), (
        "an array of another library cannot be read where it is; its DLPack says: it requires a gradient; "
        "pass a copy that is a NumPy array")),
]  # fmt: skip


@pytest.mark.parametrize("position", range(len(REFUSED)))
def test_what_cannot_be_taken_is_refused_with_the_reason(position: int, call):
    made, message = REFUSED[position]
    with pytest.raises(ArgumentError, match=f"^double: {re.escape(message)}"):
        call(made(np.arange(3.0)), np.zeros(3))


class Tensor(Lent):
    """As PyTorch lends it: bfloat16 by way of other elements, and it knows what is stored with the other sign."""

    def __init__(self, memory: np.ndarray, dtype: str, *, negated: bool = False) -> None:
        super().__init__(memory)
        self.dtype, self._negated = dtype, negated

    def is_neg(self) -> bool:
        return self._negated

    def view(self, dtype: object) -> Lent:
        assert dtype == "16 bits"
        return Lent(self._memory.view("i2"))

    def __dlpack__(self, **asked: object) -> object:
        if self.dtype == "torch.bfloat16":
            raise BufferError("Unsupported dtype in DLTensor.")
        return super().__dlpack__(**asked)


def test_bfloat16_of_pytorch(monkeypatch):
    @af.kernel
    def negate(x: af.strided(af.bf16[N])):
        with af.for_(N) as i:
            x[i] = -x[i]

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(int16="16 bits"))
    for run in (negate, negate.interpret):
        x = np.arange(6).astype(ml_dtypes.bfloat16)
        run(Tensor(x[::2], "torch.bfloat16"))
        assert x.tolist() == [0, 1, -2, 3, -4, 5]


class OfJax(Seen, Lent):
    """As JAX lends bfloat16: its DLPack has no such type, `__array__` gives its memory, which may not be written."""

    def __init__(self, memory: np.ndarray, device: int = 1) -> None:
        Lent.__init__(self, memory, error="bfloat16 is not supported", device=device)
        Seen.__init__(self, memory)


def test_bfloat16_of_jax():
    @af.kernel
    def copied(x: af.const(af.bf16[N]), y: af.bf16[N]):
        with af.for_(N) as i:
            y[i] = x[i]

    x = np.arange(4).astype(ml_dtypes.bfloat16)
    x.flags.writeable = False
    for run in (copied, copied.interpret):
        y = np.zeros_like(x)
        run(OfJax(x), y)
        assert y.tolist() == [0, 1, 2, 3]
        with pytest.raises(LayoutError, match="argument 'y' is written, but the array is read-only"):
            run(x, OfJax(x))
        with pytest.raises(ArgumentError, match="its DLPack says: bfloat16 is not supported; pass a copy"):
            run(OfJax(x, device=2), y)


def test_numbers_that_are_stored_with_the_other_sign_are_not_taken(call):
    x = np.arange(3.0)
    with pytest.raises(
        ArgumentError, match=r"are stored with the other sign, which resolve_neg\(\) settles; pass a copy"
    ):
        call(Tensor(x, "torch.float64", negated=True), np.zeros(3))
    y = np.zeros(3)
    call(Tensor(x, "torch.float64"), y)
    assert y.tolist() == [0, 2, 4]


def test_memory_that_is_shared_overlaps(call):
    x = np.arange(6.0)
    with pytest.raises(OverlapError, match=r"^double: 'x' and 'y' overlap in memory"):
        call(memoryview(x)[:4], Lent(x[2:]))
    call(memoryview(x)[::2], memoryview(x)[1::2])
    np.testing.assert_array_equal(x, [0, 0, 2, 4, 4, 8])
