"""What kernels allow to be rounded in another way, in all of their loops."""

import pickle

import numpy as np
import pytest

import affdsl as af
from affdsl.errors import ProgramTypeError
from affdsl.ir.dialects import arith, math
from affdsl.ir.traverse import walk
from tests.oracles import mlir_opt

N = af.symbols("N")


def kernel(**options):
    """A loop of each kind, with quotients, an exponential, and products in sums."""

    @af.kernel(**options)
    def f(x: af.f32[N], y: af.f32[N], t: af.f32):
        with af.parallel(N) as i:
            y[i] = x[i] * 2.0 + y[i]
            with af.for_(N) as j:
                y[i] += x[j] / t * af.exp(x[j])
        with af.for_(N) as i, af.if_(i > 2):
            y[i] = x[i] / 3.0

    return f


def counted(f):
    """How many operations of each kind there are inside of loops."""
    inside = [op for loop in f.func.body if list(loop.blocks()) for op in walk(loop)]
    return {
        "exp": sum(isinstance(op, math.Unary) and op.kind == "exp" for op in inside),
        "fma": sum(isinstance(op, math.Fma) for op in inside),
        "quotients": sum(isinstance(op, arith.Binary) and op.kind == "divf" for op in inside),
    }


def test_each_is_done_in_all_loops():
    assert counted(kernel()) == {"exp": 1, "fma": 0, "quotients": 2}
    assert counted(kernel(contract=True)) == {"exp": 1, "fma": 2, "quotients": 2}
    assert counted(kernel(reciprocal=True)) == {"exp": 1, "fma": 0, "quotients": 0}
    assert counted(kernel(approximate=True))["exp"] == 0
    everything = counted(kernel(contract=True, reciprocal=True, approximate=True))
    assert (everything["exp"], everything["quotients"]) == (0, 0)
    assert everything["fma"] > 2


def test_all_ways_to_run_it_round_alike():
    f = kernel(contract=True, reciprocal=True, approximate=True)
    mlir_opt(f.mlir())
    x = np.random.default_rng(0).random(99, "f4")
    found, again, exact = (np.ones(99, "f4") for _ in "abc")
    f(x, found, 3.0)
    f.interpret(x, again, 3.0)
    kernel()(x, exact, 3.0)
    assert found.tobytes() == again.tobytes()
    np.testing.assert_allclose(found, exact, rtol=1e-5)
    assert found.tobytes() != exact.tobytes()


def test_schedules_and_pickles_keep_it():
    f = kernel(contract=True)
    x = np.linspace(-2, 2, 9, dtype="f4")
    wanted, scheduled, unpickled = (np.ones(9, "f4") for _ in "abc")
    f(x, wanted, 3.0)
    af.Schedule(f).tile(("i#2",), (4,)).kernel()(x, scheduled, 3.0)
    pickle.loads(pickle.dumps(f))(x, unpickled, 3.0)  # noqa: S301
    assert wanted.tobytes() == scheduled.tobytes() == unpickled.tobytes()


def test_methods_have_it_too():
    class Scaled:
        @af.kernel(contract=True)
        def run(self, x: af.f32[N]):
            with af.for_(N) as i:
                x[i] = x[i] * 2.0 + 1.0

    assert counted(Scaled().run)["fma"] == 1


def test_nothing_to_do_is_no_error():
    @af.kernel(contract=True, reciprocal=True, approximate=True)
    def f(x: af.i32[N]):
        with af.for_(N) as i:
            x[i] += 1

    assert counted(f) == {"exp": 0, "fma": 0, "quotients": 0}


def test_options_are_true_or_false():
    with pytest.raises(ProgramTypeError, match=r"contract is 'yes'\n.*True or False"):
        kernel(contract="yes")


def test_steps_take_parallel_loops():
    f = af.Schedule(kernel()).contract("i#1").reciprocal("i#1").approximate("i#1").kernel()
    assert counted(f)["exp"] == 0
    assert counted(f)["quotients"] == 1
