"""Where a kernel may be defined, and that building one leaves nothing behind, whatever happens meanwhile."""

import code
import doctest
import inspect
import linecache
import re
import textwrap
import threading
import traceback
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
import pytest

import affdsl as af
from tests.lang import postponed

M, N = af.symbols("M N")


def builds() -> bool:
    """Whether a kernel builds now and computes what it should: nothing is left of what went wrong before."""

    @af.kernel
    def probe(A: af.f64[N]):
        with af.for_(N) as i:
            with af.if_(i > 0):
                A[i] = 1.0
            with af.else_():
                A[i] = 2.0

    a = np.zeros(3)
    probe.interpret(a)
    return a.tolist() == [2.0, 1.0, 1.0]


def lines_of(thing: object, marker: str) -> list[int]:
    lines, first = inspect.getsourcelines(thing)
    return [n for n, text in enumerate(lines, first) if marker in text]


def test_annotations_may_be_text():
    a = np.arange(3.0)
    postponed.double.interpret(a)
    assert a.tolist() == [0, 2, 4]


@pytest.mark.parametrize(("dtype", "numpy"), [(af.f32, "f4"), (af.i64, "i8")])
def test_annotations_may_name_variables_of_the_enclosing_function(dtype, numpy):
    kernel = postponed.scaled(dtype, 2, 3)
    a, first = np.ones((2, 2), numpy), np.array([1, 2], numpy)
    kernel.interpret(a, first)
    assert a.tolist() == [[4, 5], [4, 5]]


def test_a_method_is_built_for_each_object_with_its_values():
    a, b = np.arange(5.0), np.zeros(5)
    shift, blur = postponed.Filter([1.0, 0.0, 0.0]), postponed.Filter([0.25, 0.5, 0.25])
    shift.apply.interpret(a, b)
    assert b.tolist() == [0, 0, 1, 2, 0]
    blur.apply.interpret(a**2, b)
    assert b.tolist() == [0, 1.5, 4.5, 9.5, 0]
    assert shift.apply is shift.apply
    assert shift.apply is not blur.apply


def test_a_method_without_its_object_says_so():
    with pytest.raises(af.ProgramError, match="kernel apply is a method: its first argument self has no annotation"):
        postponed.Filter.apply.mlir()


def test_a_static_method_is_a_kernel_like_any_other():
    a = np.arange(3.0)
    postponed.Filter.negate.interpret(a)
    postponed.Filter([]).negate.interpret(a)
    assert a.tolist() == [0, 1, 2]


def test_names_in_text_that_nothing_has_are_told_with_the_line_of_the_def():
    with pytest.raises(af.ProgramNameError) as caught:
        postponed.unknown()
    (line,) = lines_of(postponed.unknown, "def f(")
    assert re.match(
        rf"tests/lang/postponed.py:{line}: an annotation of f uses Unknown, which is not", str(caught.value)
    )


def test_mistakes_in_text_are_told_with_the_line_of_the_def():
    with pytest.raises(af.ProgramTypeError) as caught:
        postponed.wrong()
    (line,) = lines_of(postponed.wrong, "def f(")
    assert str(caught.value).startswith(f"tests/lang/postponed.py:{line}: affdsl.f64[...] takes sizes, got 2.5")


def test_a_class_body_has_its_own_names():
    class Thing:
        width = 4
        K = af.symbols("K")

        @af.kernel
        def fill(A: af.f64[K, width]):  # noqa: N805 - a class is only a place here
            with af.for_(A.shape[0]) as i:
                A[i, 3] = 1.0

    a = np.zeros((2, 4))
    Thing.fill.interpret(a)
    assert a.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1]]


def test_a_method_may_be_called_what_a_kernel_that_it_calls_is_called():
    class Thing:
        @af.kernel
        def twice(self, A: af.f64[N]):
            twice(A)
            twice(A)

    a = np.ones(1)
    Thing().twice.interpret(a)
    assert a[0] == 4.0


@af.kernel
def twice(A: af.f64[N]):
    with af.for_(N) as i:
        A[i] *= 2.0


SOURCE = """\
import affdsl as af
N = af.symbols("N")

@af.kernel
def ones(A: af.f64[N]):
    with af.for_(N) as i:
        A[i] = 1.0
"""


def test_code_without_a_source_can_define_a_kernel():
    names = {}
    exec(SOURCE, names)
    a = np.zeros(2)
    names["ones"].interpret(a)
    assert a.tolist() == [1, 1]
    assert "affine.for %i = 0 to %N" in names["ones"].mlir()


class Prompt(code.InteractiveConsole):
    """A plain Python prompt; what it shows is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = ""

    def write(self, data: str) -> None:
        self.shown += data

    def type(self, text: str) -> None:
        for line in [*text.splitlines(), ""]:
            self.push(line)


def test_a_kernel_can_be_typed_at_a_prompt():
    prompt = Prompt()
    prompt.type(SOURCE)
    prompt.type("text = ones.mlir()")
    assert "affine.for %i" in prompt.locals["text"]


def test_a_mistake_at_a_prompt_is_told_with_its_line():
    prompt = Prompt()
    prompt.type(SOURCE.replace("A[i] = 1.0", "A[i] = i"))
    assert "<console>:4: A holds f64 and cannot store the index i" in prompt.shown
    prompt.type(SOURCE)
    assert "ones" in prompt.locals


def test_a_return_in_a_loop_is_found_without_a_source():
    prompt = Prompt()
    prompt.type(SOURCE + "        if len('x') == 1: return\n        A[i] = 2.0\n")
    assert "a return, break or continue leaves the loop i" in prompt.shown


class Notebook:
    """Cells as IPython runs them: each is a file that only linecache has."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.count = 0

    def run(self, source: str) -> str:
        self.count += 1
        name = f"/tmp/ipykernel_1/{abs(hash(source))}.py"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), self.names)
        return name


def test_cells_define_kernels_again_and_again():
    notebook = Notebook()
    notebook.run(SOURCE)
    first = notebook.names["ones"]
    notebook.run(SOURCE)
    assert notebook.names["ones"] is not first
    with pytest.raises(af.ProgramError, match=r"^a cell, line 8: return inside of a with-block of for_"):
        notebook.run(SOURCE + "        return\n    A[0] = 0.0\n")


def test_a_cell_made_recursive_does_not_call_what_it_replaces():
    notebook = Notebook()
    notebook.run(SOURCE)
    with pytest.raises(af.ProgramError, match=r"^a cell, line 8: kernel ones calls itself"):
        notebook.run(SOURCE + "    ones(A)\n")


def test_a_wrapper_may_take_the_name_of_what_it_wraps():
    notebook = Notebook()
    notebook.run(SOURCE)
    notebook.run(
        "plain = ones\n@af.kernel\ndef ones(A: af.f64[N]):\n    plain(A)\n"
        "    with af.for_(N) as i:\n        A[i] += 1.0\n"
    )
    a = np.zeros(2)
    notebook.names["ones"].interpret(a)
    assert a.tolist() == [2, 2]


def test_a_doctest_can_define_a_kernel():
    text = """
    >>> import affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def ones(A: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         A[i] = 1.0
    >>> ones
    <affdsl kernel ones(A: f64[N])>
    >>> @af.kernel
    ... def wrong(A: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         return
    Traceback (most recent call last):
    affdsl.ProgramError: <doctest here[4]>:4: return inside of a with-block of for_
        the block runs once, while the kernel is built, for all of its iterations
        return after all with-blocks; to carry a value out of a loop use iter_args and yield_
    """
    test = doctest.DocTestParser().get_doctest(textwrap.dedent(text), {}, "here", "here", 0)
    shown = []
    outcome = doctest.DocTestRunner(verbose=False).run(test, out=shown.append)
    assert (outcome.attempted, outcome.failed) == (5, 0), "".join(shown)


class MineError(Exception):
    """An exception of the user's."""


@pytest.mark.parametrize("kind", [MineError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_in_nested_blocks_comes_out_as_it_is(kind):
    error = kind("from the body")

    def body(A: af.f64[M, N]):
        with af.for_(M) as i, af.parallel(N) as j:
            with af.if_(i > j, af.f64):
                with af.for_(N, iter_args=[af.f64(0)]) as (k, s):
                    A[i, k] = s
                    raise error  # here

    with pytest.raises(kind) as caught:
        af.kernel(body)
    assert caught.value is error
    assert error.__context__ is None
    assert error.__cause__ is None
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.name, [last.lineno]) == ("body", lines_of(body, "# here"))
    assert builds()


def test_an_exception_that_the_body_catches_drops_its_block_only():
    @af.kernel
    def f(A: af.f64[N]):
        with af.for_(N) as i:
            A[i] = 1.0
            try:
                with af.if_(i > 0), af.for_(N) as j:
                    A[j] = 5.0
                    raise MineError
            except MineError:
                A[i] += 2.0
            with suppress(af.ProgramError), af.for_(i) as j:
                A[j * j] = 5.0
            with suppress(af.ProgramError), af.if_(i > 0, af.f64):
                A[i] = 5.0
        with suppress(af.ProgramError):
            af.for_(2.5)
        A[0] = 4.0

    a = np.zeros(3)
    f.interpret(a)
    assert a.tolist() == [4, 3, 3]
    assert "if" not in str(f.func)


def test_a_failed_kernel_does_not_disturb_the_one_around():
    @af.kernel
    def outer(A: af.f64[N]):
        with af.for_(N) as i:
            with suppress(MineError):

                @af.kernel
                def inner(B: af.f64[N]):
                    with af.for_(N) as k:
                        B[k] = 5.0
                        raise MineError

            A[i] = 1.0

    a = np.zeros(2)
    outer.interpret(a)
    assert a.tolist() == [1, 1]


def test_blocks_may_be_entered_by_helpers_of_the_standard_library_and_the_user():
    @contextmanager
    def interior(A):
        with af.for_(1, A.shape[0] - 1) as i, af.for_(1, A.shape[1] - 1) as j:
            yield i, j

    @af.kernel
    def f(A: af.f64[M, N]):
        with interior(A) as (i, j):
            A[i, j] = 1.0
        with ExitStack() as stack:
            row = stack.enter_context(af.for_(M))
            column = stack.enter_context(af.for_(N))
            A[row, column] += 1.0

    a = np.zeros((3, 3))
    f.interpret(a)
    assert a.tolist() == [[1, 1, 1], [1, 2, 1], [1, 1, 1]]
    assert "affine.for %row = 0 to %M" in f.mlir()


def test_what_a_loop_carries_may_be_bound_to_anything():
    """To attributes, to elements, to a list of the rest: what is no name is not counted as one."""
    state = types.SimpleNamespace()

    @af.kernel
    def attribute(x: af.f64[N]):
        with af.for_(N, iter_args=(af.f64(1), af.f64(2))) as (i, a, state.b):
            x[i] = a
            af.yield_(state.b, a)

    @af.kernel
    def rest(x: af.f64[N]):
        with af.for_(N, iter_args=(af.f64(1), af.f64(2))) as (i, *both):
            x[i] = both[0]
            af.yield_(*reversed(both))

    for kernel in (attribute, rest):
        x = np.zeros(4)
        kernel.interpret(x)
        assert x.tolist() == [1, 2, 1, 2]


def test_a_kernel_may_be_built_while_another_is():
    @af.kernel
    def outer(A: af.f64[N]):
        with af.for_(N) as i:

            @af.kernel
            def inner(B: af.f64[M], x: af.f64):
                with af.for_(M) as k:
                    B[k] += x

            inner(A, 1.0)
            A[i] += 10.0

    a = np.zeros(2)
    outer.interpret(a)
    assert a.tolist() == [12, 12]


def test_a_kernel_may_run_on_numpy_arrays_while_another_is_built():
    @af.kernel
    def table(T: af.f64[3]):
        with af.for_(3) as i:
            T[i] = af.f64(i) * 2.0

    @af.kernel
    def f(A: af.f64[N]):
        numbers = np.zeros(3)
        table(numbers)
        A[0] = numbers[2]

    a = np.zeros(1)
    f.interpret(a)
    assert a[0] == 4.0


def test_threads_build_kernels_at_once():
    count = 8
    together = threading.Barrier(count)

    def build(number):
        @af.kernel
        def f(A: af.f64[N]):
            together.wait(timeout=30)
            with af.for_(N) as i:
                together.wait(timeout=30)
                A[i] = number
                with af.if_(i > number):
                    together.wait(timeout=30)
                    A[i] += 1.0
                if number == 3:
                    raise MineError

        return f.func

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(build, n) for n in range(count)]
    assert isinstance(futures[3].exception(), MineError)
    texts = [str(f.result()) for n, f in enumerate(futures) if n != 3]
    alike = {re.sub(r"arith\.constant .*|d0 - \d+", "", text) for text in texts}
    assert len(set(texts)) == count - 1
    assert len(alike) == 1
    assert builds()


def test_a_thread_does_not_build_into_the_kernel_of_another():
    def steal(A):
        A[0] = 1.0

    with pytest.raises(af.ProgramError, match="only while a kernel is built"):

        @af.kernel
        def f(A: af.f64[N]):
            with ThreadPoolExecutor(1) as pool:
                pool.submit(steal, A).result()

    assert builds()


def test_a_function_may_be_made_a_kernel_later_and_twice():
    def f(A: af.f64[N]):
        with af.for_(N) as i:
            A[i] = 1.0

    assert str(af.kernel(f)) == str(af.kernel(f))
    renamed = types.FunctionType(f.__code__, f.__globals__, "g")
    renamed.__annotations__ = f.__annotations__
    assert "@g(" in str(af.kernel(renamed))
