"""What buffers of their own make of a program holds outside too: mlir-opt reads it, and compiled it runs the same."""

from __future__ import annotations

from affdsl.ir.dialects import affine, func
from affdsl.ir.dialects.func import Module
from affdsl.ir.interpreter import InterpreterError
from affdsl.ir.traverse import with_fields
from affdsl.mlir.writers import print_op
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.expand import expand
from affdsl.passes.transforms.normalize import normalize
from affdsl.passes.transforms.privatize import privatize
from affdsl.passes.transforms.sink import make_perfect, sink
from tests.effort import some
from tests.harness.reading import loops
from tests.oracles import mlir_opt, run_mlir
from tests.passes.transforms.own_buffer_programs import arguments, buffers, generate, result


def transformed(function: func.Func) -> list[func.Func]:
    """What each primitive makes of a function, wherever it is legal."""
    requests = []
    for loop in loops(function):
        for buffer in buffers(function):
            requests += [lambda b=buffer, i=loop.iv: privatize(function, b, i)]
            requests += [lambda b=buffer, i=loop.iv: expand(function, b, i)]
        requests += [lambda i=loop.iv: sink(function, i), lambda i=loop.iv: normalize(function, i)]
        inside = [op for op in loop.body if isinstance(op, affine.For)]
        requests += [lambda i=loop.iv, j=inner.iv: make_perfect(function, i, j) for inner in inside]
    made = []
    for request in requests:
        try:
            made.append(request())
        except IllegalTransform:
            continue
    return made


def test_mlir_opt_reads_it():
    made = [f for seed in range(8000, 8020) for f in transformed(generate(seed))]
    assert len(made) > 40
    named = tuple(with_fields(f, symbol=f"f{k}") for k, f in enumerate(made))
    assert mlir_opt(print_op(Module(named))).count("func.func") == len(made)


def test_compiled_by_llvm_it_runs_the_same():
    functions = {seed: generate(seed) for seed in some(range(8020, 8032), 7)}
    made = {
        seed: [with_fields(f, symbol=f"s{seed}_{k}") for k, f in enumerate(transformed(function))]
        for seed, function in functions.items()
    }
    text = print_op(Module(tuple(f for each in made.values() for f in each)))
    compared = 0
    for seed, function in functions.items():
        for n in (0, 1, 5):
            try:
                wanted = result(function, n)
            except InterpreterError:
                continue
            for each in made[seed]:
                given = arguments(n)
                run_mlir(text, each.symbol, given)
                assert [a.tobytes() for a in given[:2]] == wanted, f"seed {seed}, n = {n}\n{each}"
                compared += 1
    assert compared > 30
