"""Calls random kernels compiled and interpreted, with their arrays between pages that nobody can touch.

For a process that may die: what it is about to do is written before it does it, a line of JSON each.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import warnings
from collections.abc import Iterator

import numpy as np

import affdsl as af
import codegen.jit
from affdsl.errors import AffdslError
from affdsl.ir.interpreter import InterpreterError, run
from codegen.errors import RangeError, SizeError
from codegen.toolchain import Compiler, jit_flags
from passes.analysis.dependence import AnalysisWarning
from tests.fuzz.limit import limited
from tests.semi_affine.guarded import Guarded
from tests.semi_affine.kernels import Call, build, calls

SECONDS = 2.0
"""How long the interpreter may take for one call: huge bounds of loops that touch nothing take longer."""
MEMORY = 4 << 30
LEVELS = ("-O0", "-O1", "-O2", "-O0")


def truth(kernel: af.Kernel, call: Call) -> tuple[str, list[np.ndarray]]:
    """What a call does that nobody guards: "fine", "wrong" or "endless", and the arrays after it."""
    arrays = call.arrays()
    program = kernel.program
    own = [call.n if v.hint == "N" else call.m for v in program.sizes]
    try:
        with limited(SECONDS):
            run(kernel.func, *own, *arrays, call.p, call.q, module=program.module)
    except (TimeoutError, MemoryError):
        return "endless", arrays
    except (InterpreterError, ZeroDivisionError):
        return "wrong", arrays
    return "fine", arrays


def verdict(kernel: af.Kernel, call: Call, places: list[Guarded] | None, *, at_end: bool = True) -> tuple[str, str]:
    """What the interpreter (without places) or the compiled kernel says: "accepted", "refused"; and words, or why not.

    An accepted call must leave in the arrays what the unguarded interpreter leaves there.
    """
    arrays = call.arrays()
    if places is not None:
        arrays = [place.copy(array, at_end=at_end) for place, array in zip(places, arrays, strict=True)]
    try:
        (kernel.interpret if places is None else kernel)(*arrays, call.p, call.q)
    except (SizeError, RangeError) as error:
        if not all(np.array_equal(a, b) for a, b in zip(arrays, call.arrays(), strict=True)):
            return "refused", "an array was changed by a call that was refused"
        return "refused", str(error)
    expected = truth(kernel, call)[1]
    if not all(np.array_equal(a, b) for a, b in zip(arrays, expected, strict=True)):
        return "accepted", "the arrays differ"
    if places is not None and not all(place.is_clean() for place in places):
        return "accepted", "something was written beside an array"
    return "accepted", ""


def checked(seed: int, places: list[Guarded]) -> Iterator[dict[str, object]]:
    """What there is to tell of the kernel of a seed."""
    yield {"seed": seed, "doing": "building"}
    try:
        kernel = build(seed)
    except af.ProgramError:
        yield {"seed": seed, "count": "not built"}
        return
    kinds = {f.verdict for f in kernel.check().findings}
    yield {"seed": seed, "count": "kernels"}
    yield from ({"seed": seed, "count": f"kernels with findings {kind}"} for kind in sorted(kinds))
    for number, call in enumerate(calls(seed)):
        yield from ({"seed": seed, **told} for told in _called(kernel, call, number, places))


def _called(kernel: af.Kernel, call: Call, number: int, places: list[Guarded]) -> Iterator[dict[str, object]]:
    yield {"doing": str(call)}
    really, _ = truth(kernel, call)
    if really == "endless":
        shapes = tuple(array.shape for array in call.arrays())
        try:
            codegen.jit.check_sizes(kernel.program, shapes, (np.int64(call.p), np.int64(call.q)), kernel.check())
        except SizeError:
            yield {"count": "calls refused, of those too long to run"}
        else:
            yield {"count": "calls too long to run"}
        return
    if really == "wrong" and kernel.check().unknown:
        yield {"count": "calls that check() says are unknown, and that are wrong: not run"}
        return
    interpreted, first = verdict(kernel, call, None)
    if interpreted == "accepted" and really == "wrong":
        yield {"failure": f"{call}: accepted, and wrong"}
        return
    compiled, second = verdict(kernel, call, places, at_end=number % 2 == 0)
    if compiled != interpreted or (compiled == "accepted" and (first or second)) or first != second:
        yield {"failure": f"{call}: interpreted {interpreted} {first}, compiled {compiled} {second}"}
        return
    if compiled == "accepted":
        yield {"count": "calls accepted, with equal arrays"}
        if sum(array.size for array in call.arrays()) == 0:
            yield {"count": "    of these with empty arrays"}
    elif really == "wrong":
        yield {"count": "calls refused, rightly"}
    elif any(words in second for words in ("must lie between", "64 bits", "cannot be checked for")):
        yield {"count": "calls refused because of 64 bits, that would be fine"}
    else:
        yield {"count": "calls refused, that would be fine"}
        yield {"needless": f"{call}: {second}"}


def main(arguments: list[str] | None = None) -> int:
    """Check the seeds and tell of each."""
    parser = argparse.ArgumentParser(prog="python -m tests.semi_affine.check", description=__doc__)
    parser.add_argument("start", type=int)
    parser.add_argument("stop", type=int)
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore", AnalysisWarning)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    places = [Guarded() for _ in range(3)]

    def flags(compiler: Compiler) -> tuple[str, ...]:
        level = LEVELS[seed % len(LEVELS)]
        return tuple(level if flag == "-O3" else flag for flag in jit_flags(compiler) if flag != "-fopenmp")

    codegen.jit.jit_flags = flags
    for seed in range(chosen.start, chosen.stop):
        try:
            for told in checked(seed, places):
                print(json.dumps(told), flush=True)
        except (AffdslError, ArithmeticError, LookupError, TypeError, AssertionError) as error:
            print(json.dumps({"seed": seed, "failure": f"{type(error).__name__}: {error}"}), flush=True)
        print(json.dumps({"seed": seed, "done": True}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
