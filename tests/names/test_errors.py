"""Errors are caught as affdsl.X, and called so in tracebacks and pickles; a list has the others, with the reason."""

import importlib
import pickle
import pkgutil
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl import errors
from affdsl.codegen.cache import Cache
from affdsl.codegen.toolchain import find_compiler
from affdsl.ir.dialects import func
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.traverse import rewrite
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.passes.advice.verbs import VERBS
from affdsl.passes.analysis import polyhedral
from affdsl.passes.mlir_opt.affine_loop_tile import affine_loop_tile

NOT_PUBLIC = {
    "UsageError": "the command line catches it, and prints it",
    "UnfollowedError": "`Kernel.halo` catches it, and says it in words of the user",
    "NoHaloError": "so it does with this one",
    "UncountedError": "`Kernel.profile` catches it, and leaves the count open",
    "NoArgumentsError": "validation catches it: there it means 'not run'",
    "TooLongError": "validation catches it: there it means 'not run to the end'",
}
"""Errors that leave affdsl nowhere, and who catches them."""

N = af.symbols("N")
FIRST, SECOND = Value(INDEX, "a"), Value(INDEX, "b")


@af.kernel
def copy(A: af.f64[N], B: af.f64[N]):
    with af.for_(N) as i:
        B[i] = A[i]


@af.kernel
def chain(A: af.f64[N], x: af.i8):
    with af.for_(1, N) as i:
        A[i] = A[i - 1]


@af.kernel(boundscheck=True)
def scatter(A: af.f64[N], at: af.i64[N]):
    with af.for_(N) as i:
        A[at[i]] = 1.0


@af.kernel(boundscheck=True)
def divide(A: af.f64[N], by: af.index):
    with af.for_(N) as i, af.if_(A[i] > 0), af.if_(i % by == 0):
        A[i] = 2.0


@af.kernel
def positive(A: af.f64[N]):
    with af.for_(N) as i:
        af.assert_(A[i] > 0, "positive", i)  # noqa: PT009 - not of unittest


def body(write: Callable[[af.Array, af.Index], object]) -> af.Kernel:
    """A kernel that does something with its array and the counter of a loop."""

    def made(A: af.f64[N]):
        with af.for_(N) as i:
            write(A, i)
        if write is out_of_scope:
            A[i] = 1.0

    return af.kernel(made)


def out_of_scope(A: af.Array, i: af.Index) -> None:
    """The counter is used after its loop."""


def store(index: Callable[[af.Index], af.Index], what: object = 1.0) -> Callable[[af.Array, af.Index], None]:
    return lambda A, i: A.__setitem__(index(i), what)


def copied(error: Exception) -> Exception:
    """What another process gets of an error."""
    again: Exception = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    return again


def without(function: func.Func, iv: Value, **_: object) -> func.Func:
    """A faulty transformation: the loop is gone."""
    return rewrite(function, lambda op: () if getattr(op, "iv", None) is iv else None)


def three() -> np.ndarray:
    return np.ones(3)


MISTAKES: dict[str, Callable[[], object]] = {
    "ProgramTypeError": lambda: body(store(lambda i: i, "x")),
    "ProgramIndexError": lambda: body(store(lambda i: i + 1)),
    "ProgramNameError": lambda: body(out_of_scope),
    "ProgramAttributeError": lambda: body(lambda A, i: A.missing),
    "ProgramError": lambda: body(lambda A, i: af.yield_(i)),
    "ScheduleError": lambda: af.Schedule(copy).tile("k", 4),
    "ArgumentError": lambda: copy(three()),
    "SizeError": lambda: copy(three(), np.ones(4)),
    "RangeError": lambda: chain(three(), 1000),
    "LayoutError": lambda: copy(three(), np.ones(6)[::2]),
    "OverlapError": lambda: copy(*[three()] * 2),
    "OutOfBoundsError": lambda: scatter(three(), np.full(3, 7)),
    "DivisorError": lambda: divide(three(), 0),
    "FailedAssertionError": lambda: positive(-three()),
    "InterpreterError": lambda: scatter.interpret(three(), np.full(3, 7)),
    "InterpretedAssertionError": lambda: positive.interpret(-three()),
    "IllegalTransform": lambda: af.Schedule(chain).reverse("i"),
    "PipelineError": lambda: copy.apply("nonsense"),
    "OptionError": lambda: affine_loop_tile(copy.module, tile_sizes=("x",)),
    "PassError": lambda: copy.apply("affine-loop-tile{tile-sizes=x}"),
    "GraphError": lambda: copy.graph().node(7),
    "DrawingError": lambda: copy.picture("i", "j", {"N": 4}),
    "ParseError": lambda: af.parse("func.func @f("),
    "UnknownError": lambda: polyhedral.set_of([Constraint(FIRST * SECOND)], [FIRST, SECOND]),
    "VerificationError": lambda: verify(af.parse("func.func @f() -> f32 { func.return }")),
    "UnsupportedError": lambda: copy.with_module(chain.module),
    "BuildError": lambda: af.build(copy, "/", name="not a name"),
    "ToolchainError": lambda: find_compiler({"PATH": ""}),
}


def classes(kind: type[Exception] = af.AffdslError) -> Iterator[type[Exception]]:
    yield kind
    for below in kind.__subclasses__():
        yield from classes(below)


@pytest.fixture(scope="module")
def all_errors() -> set[type[Exception]]:
    for module in pkgutil.walk_packages(af.__path__, "affdsl."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {kind for kind in classes() if kind.__module__.split(".")[0] == "affdsl"}


def test_every_error_is_public_or_listed(all_errors: set[type[Exception]]) -> None:
    others = {kind for kind in all_errors if kind.__name__ not in af.__all__}
    assert {kind.__name__ for kind in others} == set(NOT_PUBLIC), "export it in __init__.pyi, or say who catches it"
    for kind in all_errors - others:
        assert getattr(af, kind.__name__) is kind
        assert f"{kind.__module__}.{kind.__qualname__}" == f"affdsl.{kind.__name__}", "decorate it with errors.public"


def test_warnings_are_public(all_errors: set[type[Exception]]) -> None:
    assert all_errors
    found = {kind for kind in classes(Warning) if kind.__module__.split(".")[0] == "affdsl"}
    assert found == {af.AnalysisWarning, af.BuildTimeWarning, af.RecipeWarning}


def test_the_tree_of_errors_is_drawn(all_errors: set[type[Exception]]) -> None:
    """With every public error below that of which it is the case."""
    drawn, above = {}, [""]
    for line in re.findall(r"^((?:│   )?(?:├── |└── )?)(\w+)(?=  |$)", errors.__doc__ or "", re.M):
        depth = len(line[0]) // 4
        above[depth:] = [line[1]]
        drawn[line[1]] = above[depth - 1] if depth else "Exception"
    public = {kind for kind in all_errors if kind.__name__ in af.__all__}
    assert set(drawn) == {kind.__name__ for kind in public}
    for kind in public:
        assert drawn[kind.__name__] in [base.__name__ for base in kind.__mro__[1:]]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_caught_by_its_name(name: str) -> None:
    with pytest.raises(getattr(af, name)) as caught:
        MISTAKES[name]()
    error = caught.value
    assert type(error) is getattr(af, name)
    assert traceback.format_exception_only(error)[0].startswith(f"affdsl.{name}: ")
    again = copied(error)
    assert type(again) is type(error)
    assert (str(again), again.args) == (str(error), error.args)
    assert vars(again).keys() == vars(error).keys()
    plain = {k: v for k, v in vars(again).items() if isinstance(v, str | int | tuple) and k != "candidates"}
    assert plain.items() <= vars(error).items()  # what may help instead has been tried, and is in the words


def test_a_cache_that_others_may_write_is_caught_by_its_name(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(af.CacheError, match="has mode 0777") as caught:
        Cache(tmp_path)
    assert type(copied(caught.value)) is af.CacheError


def test_a_fault_of_ours_is_caught_by_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(
        VERBS,
        "reverse",
        lambda function, iv, **_: rewrite(function, lambda op: () if getattr(op, "iv", 0) is iv else None),
    )
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(af.ValidationError) as caught:
        af.Schedule(copy, validate=True).reverse("i")
    again = copied(caught.value)
    assert (type(again), str(again), again.folder) == (af.ValidationError, str(caught.value), caught.value.folder)


def test_all_are_tried() -> None:
    public = {
        name for name in af.__all__ if isinstance(kind := getattr(af, name), type) and issubclass(kind, Exception)
    }
    others = {"AffdslError", "InternalError", "CacheError", "ValidationError"}
    others |= {"AnalysisWarning", "BuildTimeWarning", "RecipeWarning"}
    assert public == {*MISTAKES, *others}
