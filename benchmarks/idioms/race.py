"""One idiom beside its peers: NumPy, gcc, clang, and numba where it is installed."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time, sleep

import numpy as np

import affdsl as af
from affdsl.lang.annotations import ArrayType
from benchmarks.idioms.idiom import Idiom
from benchmarks.polybench.race import FLAGS, PEERS, compilers

ALLOWED = dict.fromkeys(("contract", "reassociate", "reciprocal", "approximate", "no_nans", "no_signed_zeros"), True)
OPTIONS = {"strict": {}, "fast": ALLOWED}
SECONDS, LEAST, MOST = 0.5, 7, 1001
"""How long the rounds of one row take, and how many there are."""

Call = Callable[[], object]


@dataclass(frozen=True)
class Result:
    """How an idiom did: microseconds of all who are right, the best peer, and how many times longer that takes.

    Those who are wrong are named, and those who refused to compile it, with the kind of error.
    """

    idiom: Idiom
    row: str
    times: dict[str, float]
    wrong: tuple[str, ...]
    refused: tuple[str, ...]
    best: str
    ratio: float
    kernel: af.Kernel


def measured(idiom: Idiom, row: str, seconds: float = SECONDS) -> Result:
    """A row of an idiom, by all in turns. Raises AssertionError where ours computes something else."""
    given, arguments = idiom.arguments(idiom.sizes), idiom.arguments(idiom.sizes)
    wanted, written = idiom.arguments(idiom.sizes), idiom.arguments(idiom.sizes)
    idiom.reference(*wanted)
    idiom.kernel(*written)
    made = idiom.kernel.optimize(threads=1, **OPTIONS[row])
    wrong, refused = [], []
    with tempfile.TemporaryDirectory() as folder:
        calls: dict[str, Call] = {"ours": partial(made, *arguments)}
        calls |= dict(compiled(idiom, arguments, PEERS[row], Path(folder)))
        if idiom.reference is not idiom.kernel:
            calls["numpy"] = partial(idiom.reference, *arguments)
            try:
                calls |= dict(jitted(idiom.reference, arguments, fast=row == "fast"))
            except RefusedError as error:
                refused.append(f"numba, {error}")
        for name, call in calls.items():
            refill(arguments, given)
            call()
            if not is_right(arguments, wanted, idiom.tolerance):
                wrong.append(name)
            if name == "ours" and row == "strict":
                assert is_right(arguments, written, 0.0), f"{idiom.name}: not the same as its loops, to the bit"
        assert "ours" not in wrong, f"{idiom.name}, {row}: what optimize() made computes something else"
        taken = in_turns({name: call for name, call in calls.items() if name not in wrong}, arguments, given, seconds)
    times = {name: 1e6 * median(each) for name, each in taken.items()}
    best = min((name for name in times if name != "ours"), key=lambda name: times[name])
    ratio = median(theirs / ours for theirs, ours in zip(taken[best], taken["ours"], strict=True))
    return Result(idiom, row, times, tuple(wrong), tuple(refused), best, ratio, made)


def in_turns(
    calls: dict[str, Call],
    arguments: Sequence[object],
    given: Sequence[object],
    seconds: float,
    clock: Callable[[], float] = process_time,
    pause: float = 0.0,
) -> dict[str, list[float]]:
    """How long calls take, in time of the processor, on the same arrays, which each call finds as they were given.

    What no call changes is not copied anew: it would lie in the cache of the core that copies it.
    Each round has another order: what comes after a call on threads finds half of the arrays in the other core's cache,
    which took a tenth to a third longer where it was the same call each time.
    """
    taken: dict[str, list[float]] = {name: [] for name in calls}
    order, shuffle = [*calls.items()], Random(0).shuffle
    refill(arguments, given)
    calls["ours"]()
    changed = [k for k, (a, b) in enumerate(zip(arguments, given, strict=True)) if _differ(a, b)]
    given, arguments = [given[k] for k in changed], [arguments[k] for k in changed]
    began = perf_counter()
    while len(taken["ours"]) < LEAST or (perf_counter() - began < seconds and len(taken["ours"]) < MOST):
        shuffle(order)
        for name, call in order:
            sleep(pause)
            refill(arguments, given)
            start = clock()
            call()
            taken[name].append(clock() - start)
    return taken


def _differ(found: object, given: object) -> bool:
    return isinstance(found, np.ndarray) and isinstance(given, np.ndarray) and found.tobytes() != given.tobytes()


def compiled(
    idiom: Idiom, arguments: Sequence[object], flags: Sequence[str], folder: Path
) -> Iterator[tuple[str, Call]]:
    """The C by each compiler that is there, on the arguments."""
    source = folder / "peer.c"
    source.write_text(idiom.text(), encoding="utf-8")
    width = f"-mprefer-vector-width={af.native_target().width}"
    for name, command in compilers(1).items():
        if name == "Polly":
            continue
        library = folder / f"{name}.so"
        subprocess.run([*command, *FLAGS, width, *flags, str(source), "-o", str(library), "-lm"], check=True)
        yield name, passed_to(library, arguments, idiom)


def passed_to(library: Path, arguments: Sequence[object], idiom: Idiom) -> Call:
    """A call of the function `peer` of a library, which knows all sizes, with the arguments of an idiom."""
    parameters = zip(arguments, idiom.kernel.program.parameters, strict=True)
    passed = [_passed(value, p.type) for value, p in parameters if p.symbol is None]
    return partial(ctypes.CDLL(str(library)).peer, *passed)


class RefusedError(Exception):
    """A peer cannot compile an idiom: with the kind of its own error."""


def jitted(reference: Callable[..., object], arguments: Sequence[object], *, fast: bool) -> Iterator[tuple[str, Call]]:
    """What numba makes of the expression of NumPy, where it is there. Raises RefusedError where it cannot."""
    if importlib.util.find_spec("numba") is None:
        return
    numba = importlib.import_module("numba")
    function = numba.njit(fastmath=fast)(reference)
    try:
        function(*arguments)
    except (numba.core.errors.NumbaError, NotImplementedError, ValueError) as error:
        # It cannot, or its integers are wider than NumPy's, and a view of them has another shape.
        raise RefusedError(type(error).__name__) from error
    yield "numba", partial(function, *arguments)


def refill(arguments: Sequence[object], given: Sequence[object]) -> None:
    """Give arrays the elements that they had."""
    for into, of in zip(arguments, given, strict=True):
        if isinstance(into, np.ndarray):
            np.copyto(into, of)


def is_right(found: Sequence[object], wanted: Sequence[object], tolerance: float) -> bool:
    """Whether arrays are the same but for what rounding may make of them; to the bit for a tolerance of 0."""
    for a, b in zip(found, wanted, strict=True):
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            continue
        if tolerance == 0.0 and a.tobytes() != b.tobytes():
            return False
        far = tolerance * float(np.abs(b[np.isfinite(b)]).max(initial=0))
        if not np.allclose(a, b, rtol=0, atol=far, equal_nan=True):
            return False
    return True


def _passed(value: object, type: object) -> object:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if type == af.index:
        return ctypes.c_int64(int(str(value)))
    assert not isinstance(type, ArrayType)
    return np.ctypeslib.as_ctypes_type(np.asarray(value).dtype)(value)
