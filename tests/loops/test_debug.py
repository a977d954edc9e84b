"""`print_` and `assert_`: what the user sees, in the interpreter, compiled, shipped, and as MLIR."""

# ruff: noqa: PT009 - it is no assertion of unittest

import ctypes
import pickle
import re

import numpy as np
import pytest

import affdsl as af
from affdsl.cli.execute import compile_and_call, interpret
from affdsl.codegen.c.emit import emit
from affdsl.ir.interpreter import InterpreterError
from affdsl.mlir.readers import parse
from tests.loops.ways import WAYS, lowered
from tests.oracles import compile_c, mlir_opt, run_mlir

N = af.symbols("N")
STRICT = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")


@af.kernel
def running(x: af.f64[N], y: af.f32[N], k: af.u8):
    s = af.var(af.f64(0))
    with af.for_(N) as i:
        s += x[i]
        af.print_("x[", i, "] gives", s, y[i], s > 2)
    af.print_()
    af.print_("100% of", k, 'done: "ä"')


PRINTED = """\
x[ 0 ] gives 1.5 0.1 0
x[ 1 ] gives 3.5 inf 1
x[ 2 ] gives nan 1e-30 0

100% of 200 done: "ä"
"""
GIVEN = np.array([1.5, 2, np.nan]), np.array([0.1, np.inf, 1e-30], "f4"), 200


@pytest.mark.parametrize("way", WAYS[:2], ids=["interpreted", "compiled"])
def test_what_is_printed(way, capfd):
    print("before")
    way(running)(*GIVEN)
    print("after")
    assert capfd.readouterr().out == f"before\n{PRINTED}after\n"


def test_numbers_have_as_few_digits_as_tell_them_apart(capfd):
    @af.kernel
    def both(x: af.f64[N], y: af.f32[N]):
        with af.for_(N) as i:
            af.print_(x[i], y[i])

    random = np.random.default_rng(1)
    x = random.normal(size=200) * 10.0 ** random.integers(-300, 300, 200)
    x[:6] = 0.0, -0.0, np.inf, -np.inf, 5e-324, 1e22
    with np.errstate(over="ignore"):
        y = x.astype("f4")
    for way in (both.interpret, both):
        way(x, y)
        lines = [line.split() for line in capfd.readouterr().out.splitlines()]
        assert [float(a) for a, _ in lines] == x.tolist()
        assert [np.float32(b) for _, b in lines] == y.tolist()
        assert lines[0] == ["0", "0"]
        assert lines[1] == ["-0", "-0"]


def test_as_mlir_it_is_printed_too(capfd):
    shown = mlir_opt(running.mlir())
    assert 'vector.print str "x[ "' in shown
    assert str(af.parse(running.mlir())) == running.mlir()
    lowered(running)(np.array([1.5]), np.array([0.25], "f4"), 7)
    assert capfd.readouterr().out == 'x[ 0 ] gives 1.5 0.25 0\n\n100% of 7 done: "ä"\n'


def test_loops_that_run_down_are_spoken_of_with_their_variables():
    @af.kernel
    def falling(x: af.f64[N], first: af.index):
        with af.for_(N - 1, -1, -1) as i:
            with af.for_(i, first - 1, -2) as j:
                af.assert_(x[j] < 5, "too large", i, j, x[j], x[i])

    for call in (falling, falling.interpret):
        with pytest.raises(af.FailedAssertionError, match=re.escape("too large (i = 4, j = 2, x[j] = 7, x[i] = 3)")):
            call(np.array([1.0, 2, 7, 4, 3]), 0)


@af.kernel
def roots(x: af.f64[N], by: af.i32):
    with af.for_(N) as i:
        af.assert_(x[i] >= 0, "no root of a negative number", x[i], i, by, twice=2 * x[i])
        x[i] = af.sqrt(x[i])
    af.assert_(N < 4, "few of them")


LINE = roots.func.location.line + 2
TOLD = "no root of a negative number (x[i] = -2.5, i = 1, by = 7, twice = -5)"


def through(kernel):
    return pickle.loads(pickle.dumps(kernel))  # noqa: S301


@pytest.mark.parametrize(
    "call",
    [roots, roots.interpret, af.Schedule(roots, validate=True).strip_mine("i", 2).kernel(),
     through(af.Schedule(roots).unroll("i", 2).kernel()), roots.apply("canonicalize,cse,lower-affine")],
    ids=["compiled", "interpreted", "scheduled", "pickled", "lowered"],
)  # fmt: skip
def test_what_does_not_hold_is_raised_with_the_line_the_text_and_the_values(call):
    x = np.array([4, -2.5, 9])
    with pytest.raises(af.FailedAssertionError) as caught:
        call(x, 7)
    assert re.search(rf"test_debug.py:{LINE}: {re.escape(TOLD)}$", str(caught.value))
    assert isinstance(caught.value, AssertionError)
    assert x.tolist() == [2, -2.5, 9], "what came before it is written"
    with pytest.raises(AssertionError, match=rf"test_debug.py:{LINE + 2}: few of them$"):
        call(np.ones(5), 7)
    x = np.array([4.0, 9])
    call(x, 7)
    assert x.tolist() == [2, 3]


def test_in_a_kernel_that_is_called_in_parallel_loops_and_in_while_loops():
    @af.kernel
    def outer(x: af.f64[N]):
        with af.parallel(N) as i:
            af.assert_(x[i] < 100, "small", i)
            x[i] += 0
        with af.while_(lambda k: k < N, iter_args=af.index(0)) as k:
            af.assert_(x[k] > -100, "large", k)
            af.yield_(k + 1)
        roots(x, 1)

    for call in (outer, outer.interpret):
        for wrong, text in (
            (200, r"small \(i = 2\)"),
            (-200, r"large \(k = 2\)"),
            (-1, r"no root.*x\[i\] = -1, i = 2"),
        ):
            with pytest.raises(af.FailedAssertionError, match=text):
                call(np.array([4.0, 4.0, wrong]))
        call(np.array([4.0, 4.0, 4.0]))


def test_beside_the_checks_of_accesses():
    @af.kernel(boundscheck=True)
    def both(x: af.f64[N], k: af.i32):
        af.assert_(k < 5, "small", k)
        x[k] = 1.0

    both(np.zeros(4), 3)
    with pytest.raises(af.OutOfBoundsError, match=r"index 4 is out of bounds"):
        both(np.zeros(4), 4)
    with pytest.raises(af.FailedAssertionError, match=r"small \(k = 5\)"):
        both(np.zeros(4), 5)


def test_shipped_it_says_so_by_its_status():
    header = roots.header()
    assert "or 3 where an assertion does not hold:" in header
    assert "int64_t[5], for what fails: the first is 0 before the call" in header
    assert f"1  test_debug.py:{LINE}: no root of a negative number" in roots.c()
    library = ctypes.CDLL(str(compile_c({"roots.c": roots.c()}, flags=STRICT)))
    failure, x = (ctypes.c_int64 * 5)(), np.array([4, -2.5])
    given = x.ctypes.data_as(ctypes.c_void_p)
    assert library.roots(ctypes.c_int64(2), given, 7, failure) == 3
    assert list(failure[:1]) + list(failure[2:4]) == [1, 1, 7]
    assert np.array(failure[1]).view("f8") == -2.5
    x[:] = 4
    assert library.roots(ctypes.c_int64(2), given, 7, (ctypes.c_int64 * 5)()) == 0
    compile_c({"running.c": running.c()}, flags=STRICT)


def test_as_mlir_it_ends_the_program(capfd):
    assert re.search(r'cf.assert %\w+, "few of them"', mlir_opt(roots.mlir()))
    assert str(af.parse(roots.mlir())) == roots.mlir()
    x = np.array([4.0, 9])
    lowered(roots)(x, 7)
    assert x.tolist() == [2, 3]
    with pytest.raises(AssertionError, match="SIGABRT"):
        lowered(roots)(np.array([-2.5]), 7)
    assert "no root of a negative number" in "".join(capfd.readouterr())


def test_the_interpreter_tells_its_own_errors():
    with pytest.raises(InterpreterError):
        roots.interpret(np.array([-1.0]), 7)


def test_nothing_moves_past_them():
    @af.kernel
    def told(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            y[i] = 2 * x[i]
            af.print_("y", y[i])
        with af.for_(N) as j:
            af.assert_(y[j] > 0, "positive", j)
            x[j] = y[j]

    s = af.Schedule(told)
    for step in (lambda: s.reverse("i"), lambda: s.parallel("i"), lambda: s.reverse("j"), lambda: s.fuse("i", "j")):
        with pytest.raises(af.IllegalTransform, match=r"affdsl\.(print_ at line 200 prints|assert_ at line 202 ends)"):
            step()
    assert not told.check().unknown, "they touch no array"
    assert [loop.verdict for loop in told.loops()] == ["unknown", "unknown"]
    s.unroll("i", 2).strip_mine("j", 2)
    assert s.kernel().c().count("affdsl_print_f64(") > told.c().count("affdsl_print_f64(")


def test_a_validation_prints_nothing(capfd):
    @af.kernel
    def told(x: af.f64[N], place: af.i32[N]):
        with af.for_(N) as i:
            af.print_("at", i, x[place[i]])
            x[i] += 1

    af.Schedule(told, validate=True).strip_mine("i", 2).kernel(validate=True)
    assert capfd.readouterr().out == ""


def test_the_traceback_ends_at_the_call():
    try:
        running(np.ones(2), np.ones(3, "f4"), 1)
    except ValueError as error:
        files = []
        trace = error.__traceback__
        while trace is not None:
            files.append(trace.tb_frame.f_code.co_filename)
            trace = trace.tb_next
        assert files == [__file__]


MISTAKES = {
    "array": (lambda x: af.print_(x), r"print_ takes texts and numbers, got x: f64\[N\]\n    take elements of it: x"),
    "unsigned": (lambda x: af.print_(af.u64(af.i64(x[0]))), r"print_ cannot print a number of type u64\n    convert"),
    "condition": (lambda x: af.assert_(x[0]), r"assert_ needs a condition, got a number of type f64\n    compare it"),
    "text": (lambda x: af.assert_(x[0] > 0, x[0]), r"the text of assert_ is .*\n    values come after the text"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    make, message = MISTAKES[name]
    with pytest.raises(af.ProgramTypeError, match=rf"test_debug.py:\d+: {message}"):

        @af.kernel
        def wrong(x: af.f64[N]):
            af.assume(N >= 1)
            make(x)


def test_vectors_are_printed_as_mlir_prints_them(capfd):
    text = """func.func @f() {
      %a = arith.constant dense<[1.5, -2.0]> : vector<2xf32>
      vector.print %a : vector<2xf32>
      %b = arith.constant dense<[[1, 2, 3], [-4, 5, 6]]> : vector<2x3xi32>
      vector.print str "b = "
      vector.print %b : vector<2x3xi32> punctuation <no_punctuation>
      vector.print punctuation <newline>
      %c = arith.constant dense<7> : vector<i64>
      vector.print %c : vector<i64>
      %d = arith.constant dense<[true, false]> : vector<2xi1>
      vector.print %d : vector<2xi1> punctuation <comma>
      %e = arith.constant dense<0.1> : vector<33xf64>
      vector.print %e : vector<33xf64>
      return
    }"""
    run_mlir(text, "f", [])
    said = capfd.readouterr().out
    assert said.startswith("( 1.5, -2 )\nb = ( ( 1, 2, 3 ), ( -4, 5, 6 ) )\n( 7 )\n( 1, 0 ), ( 0.1, 0.1,")
    module = parse(text)
    for run in (interpret, compile_and_call):
        run(module, module.functions[0], [])
        assert capfd.readouterr().out == said
    assert "affdsl_print_f32" in emit(module, "f").whole
