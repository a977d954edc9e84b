"""Which kernel of several types a call means, what is made of all of them, and what is said where that cannot be."""

import copy
import gc
import pickle
import re
import traceback
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.cli import main as cli

N, M = af.symbols("N M")
T = af.dtypes("T", af.f32, af.f64)
U = af.dtypes("U", af.i32, af.u8)
PROGRAM = """import affdsl as af
N, T = af.symbols("N"), af.dtypes("T", af.f32, af.f64)
@af.kernel
def twice(x: T[N]):
    with af.for_(N) as i:
        x[i] = 2 * x[i]
"""


@af.kernel
def axpy(a: T, x: T[N], y: T[N]):
    """Add a * x to y."""
    with af.for_(N) as i:
        y[i] += a * x[i]


@af.kernel
def scale(x: af.f64[...], by: af.f64 = 2):
    with af.elements(x) as e:
        x[e] *= by


@af.kernel
def total(a: T, b: T = 2):
    return a + b


@af.kernel
def take(x: T[N], k: U[N]):
    with af.for_(N) as i:
        x[i] += T(k[i])


def said(error: type[Exception], call: Callable[[], object]) -> str:
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    return str(caught.value)


def pickled(kernel: af.Kernel) -> af.Kernel:
    return pickle.loads(pickle.dumps(kernel))  # noqa: S301 - our own


def ones(dtype: str, *shape: int) -> np.ndarray:
    return np.ones(shape or 3, dtype)


def test_each_type_is_a_kernel_of_its_own():
    assert [repr(kernel) for kernel in axpy.kernels] == [
        "<affdsl kernel axpy_f32(a: f32, x: f32[N], y: f32[N])>",
        "<affdsl kernel axpy_f64(a: f64, x: f64[N], y: f64[N])>",
    ]
    assert axpy[af.f32] is axpy["f32"] is axpy["axpy_f32"] is axpy.kernels[0]
    assert axpy[np.float32] is axpy[np.dtype("f4")] is axpy.kernels[0]
    assert take[af.f64, af.u8] is take["f64, u8"] is take["take_f64_u8"]
    assert scale[2] is scale["2"] is scale["2d"] is scale["scale_2d"] is scale.kernels[1]
    assert scale[7].program.parameters[0].type.memref.shape == (None,) * 7
    assert type(axpy) is af.Family
    assert isinstance(axpy, af.Kernel)
    assert axpy[af.f64].kernels == (axpy[af.f64],)
    assert copy.copy(axpy) is copy.deepcopy(axpy) is axpy


def test_a_type_that_nobody_asked_for_is_not_made():
    made = []

    @af.kernel
    def watched(x: T[N]):
        made.append(T.dtype)
        x[0] = 0

    assert made == [af.f32]
    watched[af.f64]
    watched[af.f64]
    assert made == [af.f32, af.f64]


def test_a_union_is_one_variable_whatever_its_order():
    @af.kernel
    def f(x: af.f32[N] | af.f64[N], y: af.const(af.f64[M] | af.f32[M]), a: af.f64 | af.f32, z: "af.i8[N] | af.u8[N]"):
        x[0] = a

    assert [v.types for v in f.variables] == [(af.f32, af.f64), (af.i8, af.u8)]
    assert repr(f) == "<affdsl kernel f(x: f32[N] | f64[N], y: const(f32[M] | f64[M]), a: f32 | f64, z: i8[N] | u8[N])>"
    assert repr(f["f64, u8"]) == "<affdsl kernel f_f64_u8(x: f64[N], y: const(f64[M]), a: f64, z: u8[N])>"


def test_numbers_decide_where_no_array_does():
    """Those of NumPy before those of Python, which are what Python has where that is possible."""
    assert [type(total(x)) for x in (1.0, 1, np.float32(1), np.float64(1))] == [
        np.float64,
        np.float32,
        np.float32,
        np.float64,
    ]
    assert type(total(1, np.float64(3))) is type(total(b=np.float64(3), a=1)) is np.float64
    assert total._choice((1e300,), {})[0].name == "total_f64"

    @af.kernel
    def any_(x: af.bool_ | af.u8 | af.i64 | af.f32 | af.f64 | af.c64 | af.c128):
        return x

    given = (True, 3, 3.0, 3j, np.uint8(3), np.complex64(3), 2**40)
    assert [any_._choice((x,), {})[0].name[5:] for x in given] == ["bool", "i64", "f64", "c128", "u8", "c64", "i64"]
    y = ones("f4")
    axpy(np.float64(2), ones("f4"), y)  # arrays decide, and numbers become what they are
    assert y.tolist() == [3, 3, 3]


class Lent:
    """An array of another library."""

    def __init__(self, array: np.ndarray) -> None:
        self.__array_interface__ = array.__array_interface__
        self.array = array


def test_calls_by_name_and_with_arrays_of_others():
    for dtype in ("f8", "f4", "f8"):
        y = ones(dtype)
        axpy(2, y=y, x=ones(dtype))
        axpy(x=Lent(ones(dtype)), a=1.0, y=Lent(y))
        axpy(1, ones(dtype), Lent(y))
        assert y.tolist() == [5, 5, 5]
    assert axpy.interpret(1, y=y, x=ones("f8")) is None
    assert y.tolist() == [6, 6, 6]


def test_of_any_rank():
    for shape in ((), (3,), (2, 3), (2, 0), (2, 1, 2, 1)):
        x = np.ones(shape)
        scale(x)
        scale(x, by=3.0)
        np.testing.assert_array_equal(x, np.full(shape, 6.0))
    assert [loop.iv.hint for loop in scale[3].loops()] == ["e0", "e1", "e2"]
    assert not [f for f in scale[3].check().findings if f.verdict != "proved"]


def test_continue_ends_one_element_whatever_the_rank():
    """Also of an array without dimensions, in another loop, which goes on."""

    @af.kernel
    def roots(x: af.f64[...], y: af.f64[...], rounds: af.i64[1]):
        with af.for_(3):
            with af.elements(x) as e:
                with af.if_(x[e] < 0):
                    af.continue_()
                y[e] += af.sqrt(x[e])
            rounds[0] += 1

    for shape in ((), (4,), (3, 2), (2, 0, 1)):
        x = np.arange(-1.0, np.prod(shape) - 1).reshape(shape)
        for run in (roots, roots.interpret):
            y, rounds = np.zeros(shape), np.zeros(1, "i8")
            run(x, y, rounds)
            wanted = np.zeros(shape)
            for _ in range(3):
                wanted[x >= 0] += np.sqrt(x[x >= 0])
            np.testing.assert_array_equal(y, wanted)
            assert rounds[0] == 3


def test_calls_that_cannot_be():
    """The errors name the family where it is at fault, both arguments where two disagree, and all types."""
    axpy(1.0, ones("f8"), ones("f8"))
    error = af.ArgumentError
    assert said(error, lambda: axpy(1.0, ones("f8"), ones("f4"))) == (
        "axpy: argument 'x' is float64, and 'y' is float32, but both are T, one type; convert one of them, or let the "
        "kernel take two: annotate it with another affdsl.dtypes"
    )
    for _ in range(2):
        assert said(error, lambda: axpy(1.0, ones("i4"), ones("f8"))) == (
            "axpy: argument 'x' must be an array of float32 or float64, got int32: these are what T may be"
        )
    assert "must be an array of float32 or float64, got >f8" in said(error, lambda: axpy(1, ones("f8"), ones(">f8")))
    assert said(error, lambda: axpy(1.0, ones("f8"))).startswith("axpy_f64: takes 3 arguments (a, x, y), got 2")
    assert said(error, lambda: axpy()).startswith("axpy: takes 3 arguments (a, x, y), got 0")
    assert said(error, lambda: axpy(1.0, [1.0], [2.0])).startswith(
        "axpy: argument 'x' must be an array of float32 or float64, got a list"
    )
    assert said(error, lambda: axpy(1.0, ones("f4"), ones("f4"), c=1)).startswith("axpy_f32: there is no argument 'c'")
    assert said(error, lambda: total()).startswith("total_f32: takes 1 to 2 arguments (a, b), got 0")
    assert said(error, lambda: total("x")).startswith("total_f32: argument 'a' must be a number")
    assert said(error, lambda: total(1j)) == "total: none of float32 or float64 holds a = 1j and b = 2"
    assert said(error, lambda: total(np.float32(1), np.float64(1))).startswith(
        "total: argument 'a' is float32, and 'b'"
    )
    assert said(af.SizeError, lambda: axpy(1.0, ones("f4"), ones("f4", 4))).startswith("axpy_f32: dimension 0 of")
    assert said(af.SizeError, lambda: scale[2](ones("f8"))).startswith("scale_2d: argument 'x' must have rank 2")

    @af.kernel
    def both(x: af.f64[...], y: af.f64[...]):
        with af.elements(x) as e:
            y[e] = x[e]

    for _ in range(2):
        assert said(error, lambda: both(ones("f8"), ones("f8", 3, 1))) == (
            "both: argument 'x' has 1 dimensions, and 'y' has 2: all arrays of any rank have the same shape"
        )
        both(ones("f8"), ones("f8"))
    assert "'x' has 40 dimensions, and kernels take at most 32" in said(error, lambda: scale(ones("f8", *[1] * 40)))
    assert said(af.SizeError, lambda: both(ones("f8", 2, 3), ones("f8", 2, 4))).startswith("both_2d: dimension 1 of")


def test_tracebacks_are_the_users():
    for call in (lambda: axpy(1.0, ones("f8"), ones("f4")), lambda: axpy["f16"], lambda: axpy.loops()):
        with pytest.raises((af.ArgumentError, af.ProgramError)) as caught:
            call()
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert {Path(frame.filename) for frame in frames} == {Path(__file__)}


def test_what_is_asked_of_one_kernel():
    for ask in (
        lambda: af.Schedule(axpy), axpy.loops, axpy.check, axpy.dependences, axpy.graph, axpy.asm, axpy.halo,
        lambda: axpy.func, lambda: axpy.module, lambda: axpy.program, lambda: axpy.schedule, lambda: axpy.report("x"),
        lambda: axpy.picture("i", "j", {}),
    ):  # fmt: skip
        assert "axpy is a kernel for several types, and this is asked of one" in said(af.ProgramError, ask)
    assert "scale is a kernel for several ranks" in said(af.ProgramError, scale.loops)
    assert (
        said(af.ProgramTypeError, lambda: axpy[af.f32][af.f64]).partition(": ")[2].startswith("kernel axpy_f32 has one")
    )
    assert "axpy is not made for T = f16; did you mean 'f64'?" in said(af.ProgramTypeError, lambda: axpy[af.f16])
    assert "take[...] takes 2, got 1: f32\n    write take[affdsl.f32, affdsl.i32]" in said(
        af.ProgramTypeError, lambda: take[af.f32]
    )
    assert "scale is not made for the rank -1" in said(af.ProgramTypeError, lambda: scale[-1])
    assert "is not iterable" in said(TypeError, lambda: list(axpy))


def test_very_many_are_not_made_together():
    V, W = af.dtypes("V", af.f32, af.f64, af.i8, af.i16), af.dtypes("W", af.u8, af.u16, af.i8, af.i16)
    X = af.dtypes("X", af.u8, af.u16, af.i8, af.i16, af.i32)

    @af.kernel
    def f(x: V[N], y: W[N], z: X[N]):
        x[0] = V(z[0]) + V(y[0])

    assert "f is 80 kernels, which are not made all together" in said(af.ProgramError, f.c)
    assert f["i8 u8 i32"].name == "f_i8_u8_i32"


def test_schedules_of_one_print_as_python_that_replays_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "kernels_of_types.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    twice = __import__("kernels_of_types").twice
    text = str(af.Schedule(twice[af.f64]).vectorize("i", 4))
    assert text.startswith('import affdsl as af\nfrom kernels_of_types import twice\n\ns = af.Schedule(twice["f64"])\n')
    names: dict[str, af.Schedule] = {}
    exec(text, names)
    assert "vector<4xf64>" in names["s"].kernel().mlir()


def test_families_of_families():
    special = axpy.specialize(N=3)
    assert repr(special) == repr(axpy)
    assert repr(special[af.f64]) == "<affdsl kernel axpy_f64(a: f64, x: f64[3], y: f64[3])>"
    assert "cannot specialize axpy_f32: it has no size K" in said(af.ProgramError, lambda: axpy.specialize(K=3))
    assert special.is_derived
    assert special.written is axpy
    assert "i_tile" in axpy.apply("affine-loop-tile{tile-size=32}").mlir()
    assert "there is no target 'avx9'" in said(af.ScheduleError, lambda: axpy.optimize("avx9"))
    for wrong in ({"threads": 0}, {"threads": 2.0}, {"contract": "no"}, {"sizes": {"N": 3}, "tune": True}):
        with pytest.raises(af.ProgramError, match=r"test_families.py:\d+: "):
            axpy.optimize(**wrong)
    fast = axpy.optimize("avx2", threads=1)
    explained = fast.explain()
    assert re.findall(r"vectors of \d+", explained) == ["vectors of 8", "vectors of 4"]
    assert len(explained.notes) == 2
    assert fast[af.f32].schedule is not None
    y = ones("f8")
    fast.interpret(2.0, ones("f8"), y)
    assert y.tolist() == [3, 3, 3]
    assert axpy.fuse()[af.f32].schedule.steps == ()
    checked = af.kernel(boundscheck=True)(axpy.__wrapped__)
    assert checked.boundscheck
    assert checked[af.f64].boundscheck

    @af.kernel
    def calls_it(x: T[N], y: T[N]):
        checked(1, x, y)

    assert calls_it.boundscheck
    assert calls_it.optimize().boundscheck
    contracted = af.kernel(contract=True)(axpy.__wrapped__)
    assert contracted.mlir().count("math.fma") == 2


def test_a_kernel_calls_the_one_for_its_types():
    @af.kernel
    def twice(x: T[N], y: T[N], z: af.f32[N]):
        axpy(2.0, x, y=y)
        axpy(z[0], z, y) if af.f32 == T else axpy(T(1), x, y)
        axpy[T.dtype](1, x, y)

    assert [*twice[af.f32].program.callees] == ["axpy_f32"]
    y = ones("f8")
    twice.interpret(ones("f8"), y, ones("f4"))
    assert y.tolist() == [5, 5, 5]
    text = twice.mlir()
    assert text.count("func.func @axpy_f64") == text.count("func.func @axpy_f32") == 1

    def wrong() -> None:
        @af.kernel
        def f(x: af.f64[N], y: af.f32[N]):
            axpy(1.0, x, y)

    assert "axpy: argument 'x' is f64, and 'y' is f32" in said(af.ProgramTypeError, wrong)

    def integers() -> None:
        @af.kernel
        def f(x: af.i32[N], y: af.i32[N]):
            axpy(1, x, y)

    assert "axpy: argument 'x' must be an array of float32 or float64, got i32" in said(af.ProgramTypeError, integers)

    def number() -> None:
        @af.kernel
        def f(k: af.i32):
            return total(k)

    assert "total: argument 'a' must be float32 or float64, got i32; convert it" in said(af.ProgramTypeError, number)


def test_a_kernel_is_made_while_another_one_is():
    """Each has its own types meanwhile, also in what is looked up of its source."""

    @af.kernel
    def inner(x: T[N]):
        with af.for_(N) as i:
            x[i] = x[i] + T.dtype(1) if T.kind == "float" else x[i]

    @af.kernel
    def outer(x: af.f64[N], k: U[N]):
        inner(x)
        k[0] = U(x[0])

    assert [*outer[af.u8].program.callees] == ["inner_f64"]


class Filter:
    def __init__(self, by: float) -> None:
        self.by = by

    @af.kernel
    def run(self, x: T[N]):
        with af.for_(N) as i:
            x[i] *= self.by


class Early:
    """Its method's types are said after it."""

    traced = 0

    @af.kernel
    def run(self, x: "Later[N]", y: "af.f64[...]"):
        Early.traced += 1
        with af.for_(N) as i:
            x[i] += 1


Later = af.dtypes("Later", af.f32, af.i8)


def test_a_method_whose_types_are_said_later():
    x, early = ones("i1"), Early()
    early.run.interpret(x, ones("f8", 2, 2))
    early.run.interpret(x, ones("f8", 2, 2))
    assert x.tolist() == [3, 3, 3]
    assert Early.traced == 1
    assert early.run["i8, 2"].name == "run_i8_2d"
    gone = weakref.ref(early)
    del early
    gc.collect()
    assert gone() is None


def test_methods_are_made_for_each_object():
    a, b = Filter(2.0), Filter(3.0)
    x = ones("f8")
    a.run.interpret(x)
    b.run.interpret(x)
    assert x.tolist() == [6, 6, 6]
    assert a.run[af.f64] is a.run[af.f64] is not b.run[af.f64]
    assert repr(a.run) == "<affdsl kernel run(x: T[N]) for T = f32, f64>"
    assert repr(Filter.run) == "<affdsl kernel Filter.run, a method>"
    assert "kernel run is a method" in said(af.ProgramError, Filter.run.c)
    assert "kernel run is a method" in said(af.ProgramError, lambda: Filter.run(x))
    for ask in (
        lambda: Filter.run[af.f32], Filter.run.optimize, lambda: Filter.run.specialize(N=3), lambda: Filter.run.kernels,
        lambda: Filter.run.apply("cse"), Filter.run.fuse,
    ):  # fmt: skip
        assert "reach it through an object, as in thing.run(...)" in said(af.ProgramError, ask)
    assert pickled(Filter.run) is Filter.run
    gone = weakref.ref(b)
    del b
    gc.collect()
    assert gone() is None


@dataclass(frozen=True)
class Named:
    """Objects of one name are equal, whatever else they have."""

    name: str
    by: float = field(compare=False)

    @af.kernel
    def of_one_type(self, x: af.f64[N]):
        with af.for_(N) as i:
            x[i] *= self.by

    @af.kernel
    def of_several(self, x: T[N]):
        with af.for_(N) as i:
            x[i] *= self.by


def test_objects_that_are_equal_have_their_own_kernels():
    for name in ("of_one_type", "of_several"):
        x = ones("f8")
        for thing in (Named("a", 2.0), Named("a", 3.0), Named("a", 2.0)):
            getattr(thing, name).interpret(x)
        assert x.tolist() == [12, 12, 12]
    a, b = Named("a", 2.0), Named("a", 3.0)
    assert a.of_one_type is a.of_one_type is not b.of_one_type


def test_an_object_that_may_change_is_asked_each_time():
    """It says so by having no hash, as dataclasses do."""

    @dataclass
    class Changing:
        by: float

        @af.kernel
        def run(self, x: T[N]):
            with af.for_(N) as i:
                x[i] *= self.by

    thing, x = Changing(2.0), ones("f8")
    thing.run.interpret(x)
    thing.by = 3.0
    thing.run.interpret(x)
    assert x.tolist() == [6, 6, 6]


def test_pickles():
    assert pickled(axpy) is axpy

    @af.kernel
    def local(x: T[N], r: af.f64[...]):
        with af.for_(N) as i:
            x[i] = 2 * x[i]

    again = pickled(local.specialize(N=3))
    assert repr(again) == repr(local)
    x = ones("f4")
    again.interpret(x, ones("f8", 2, 2))
    assert x.tolist() == [2, 2, 2]
    assert [kernel.name for kernel in again.kernels] == [kernel.name for kernel in local.kernels]
    assert "local was pickled with the kernels that it had" in said(af.ProgramError, lambda: again[af.f32, 5])
    assert again.mlir() == local.specialize(N=3).mlir()


def test_notebooks_and_help():
    shown = axpy._repr_html_()
    assert shown is not None
    assert axpy.optimize()._repr_html_().startswith("<pre")
    assert "affdsl kernel axpy(a: T, x: T[N], y: T[N]) for T = f32, f64" in shown
    assert "for i" in shown or "i = 0 to N" in shown
    assert axpy.__doc__ == axpy[af.f64].__doc__ == "Add a * x to y."
    assert str(axpy) == axpy.mlir()


def test_in_several_threads():
    @af.kernel
    def f(x: T[N]):
        axpy(1.0, x, af.alloc(T[N]))

    with ThreadPoolExecutor(4) as pool:
        assert len({*pool.map(lambda _: f[af.f64], range(8))}) == 1


def test_libraries_and_the_command_line_have_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "types_here.py").write_text(PROGRAM)
    assert cli(["build", "types_here:twice", "-o", "out"]) == 0
    assert re.findall(r"^void (\w+)\(", (tmp_path / "out" / "twice.c").read_text(), re.M) == ["twice_f32", "twice_f64"]
    assert cli(["report", "types_here:twice"]) == 1
    assert "take one of its kernels: twice[affdsl.f32]" in capsys.readouterr().err
    assert cli(["graph", "types_here:twice[f64]"]) == 0
    with pytest.raises(af.BuildError, match="a library of 2 kernels needs a name"):
        af.build([axpy, take], tmp_path)


def test_saved_c_runs_with_what_it_checks(tmp_path: Path):
    checked = af.kernel(boundscheck=True)(axpy.__wrapped__)
    assert checked.c().count("return 3;") == 6
    paths = axpy.save_c(tmp_path)
    assert [path.name for path in paths] == ["axpy.c", "axpy.h"]
