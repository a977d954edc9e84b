"""Kernels with linearized subscripts next to the same ones with dimensions: their analyses must be equal.

    python -m tests.linearized.run --count 300 --seed 1

Compared are all dependences (kind, depth, distances, whether they are exact), the verdicts on loops, which loops may be
made parallel or interchanged, and the bounds: of each access whether it is proved, and for which sizes it is not; the
regions that each iteration of each loop touches; where the array may be copied, and what such a kernel computes; what
the validator says of a split loop, and of a kernel that loads something else. Small runs are compared with looking at
all pairs of accesses, and witnesses with the subscripts.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import prod

import numpy as np

import affdsl as af
from affdsl.ir.dialects.affine import For, Load, Store
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.types import MemRefType
from affdsl.kernel import Kernel
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.bounds import Bounds
from affdsl.passes.analysis.bounds.size_conditions import holds
from affdsl.passes.analysis.dependence import Dependences, dependences
from affdsl.passes.analysis.parallelism import of_loops
from affdsl.passes.analysis.region import Region, footprints
from affdsl.passes.proof.polyhedral import Reference
from tests.harness.command import Watch, parser, seeds
from tests.linearized.kernels import Recipe, build, changed, recipe
from tests.passes.analysis.brute import ROLES, Brute
from tests.passes.analysis.points import numbers_in
from tests.passes.analysis.traced import Trace, trace

BOX = tuple(product((0, 1, 2, 3), repeat=3))
"""Sizes N, M and K with which conditions are compared."""
RUNS = ((3, 4, 2, 2), (2, 5, 3, 1))
"""Sizes, and repetitions, with which kernels run."""


@dataclass
class Report:
    """What was compared, what of it was not recovered, and what differs."""

    kernels: int = 0
    dependences: int = 0
    brute: int = 0
    witnesses: int = 0
    regions: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    proofs: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        steps = ", ".join(f"{n} {step}" for step, n in sorted(self.steps.items()))
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(self.verdicts.items()))
        proofs = ", ".join(f"{n} {verdict}" for verdict, n in sorted(self.proofs.items()))
        return (
            f"{self.kernels} kernels, each twice: {self.dependences} dependences, bounds of accesses: {verdicts}; "
            f"steps: {steps}; {self.regions} regions, validated: {proofs}; {self.witnesses} witnesses, "
            f"{self.brute} questions answered by looking at all pairs\n"
            f"{len(self.unknown)} linearized kernels with something unknown that has dimensions, {len(self.wrong)} "
            "differences"
        )


def compare(of: Recipe, report: Report) -> None:
    """Compare the two kernels that a recipe is."""
    (linear, body), (dimensions, other) = build(of, linear=True), build(of, linear=False)
    first, second = dependences(linear.func), dependences(dimensions.func)
    report.kernels += 1
    ours, theirs = dict(_shown(first)), dict(_shown(second))
    report.dependences += len(theirs)
    if any(not d.is_exact for d in first.all()) and all(d.is_exact for d in second.all()):
        report.unknown.append(f"seed {of.seed}: dependences")
    elif ours != theirs:
        different = {k: (ours.get(k), theirs.get(k)) for k in {**ours, **theirs} if ours.get(k) != theirs.get(k)}
        report.wrong.append(f"seed {of.seed}: dependences {different}")
    _compare_bounds(of, linear.func, dimensions.func, report)
    verdicts = [[loop.verdict for loop in of_loops(found)] for found in (first, second)]
    if verdicts[0] != verdicts[1]:
        report.wrong.append(f"seed {of.seed}: loops {verdicts[0]} and {verdicts[1]}")
    kernels = Kernel(body, {}, program=linear), Kernel(other, {}, program=dimensions)
    _compare_steps(of, *kernels, report)
    _compare_regions(of, first.accesses, second.accesses, report)
    _compare_copies(of, *kernels, report)
    _compare_proofs(of, *kernels, report)
    _compare_witnesses(of, first, report)
    for numbers in RUNS:
        _compare_with_pairs(of, linear.func, first, numbers, report)


def _shown(found: Dependences) -> Iterator[tuple[tuple[int, int, str, int], tuple[str, bool]]]:
    place = {access: k for k, access in enumerate(found.compared)}
    for each in found.all(inputs=True):
        key = (place[each.source], place[each.sink], each.kind, each.depth)
        yield key, ("".join(map(str, each.distances)), each.is_exact)


def _compare_bounds(of: Recipe, linear: Func, dimensions: Func, report: Report) -> None:
    ours, theirs = Bounds(linear), Bounds(dimensions)
    for one, other in zip(ours.findings, theirs.findings, strict=True):
        report.verdicts[other.verdict] += 1
        if one.verdict in ("unknown", "by numbers") and one.verdict != other.verdict:
            if of.shape == "larger" and other.verdict != "proved":
                continue  # an array that is larger than its dimensions may have what lies behind them
            report.unknown.append(f"seed {of.seed}: {one} instead of {other.verdict}")
            continue
        for n, m, k in BOX:
            at = [{v: {"N": n, "M": m, "K": k}.get(v.hint, 0) for v in b.sizes} for b in (ours, theirs)]
            allowed, wanted = (not holds(f.against, sizes) for f, sizes in zip((one, other), at, strict=True))
            if (one.verdict, allowed) != (other.verdict, wanted):
                report.wrong.append(f"seed {of.seed}: {one} instead of {other}, for {n, m, k}")
                break


def _compare_steps(of: Recipe, linear: Kernel, dimensions: Kernel, report: Report) -> None:
    """Ask for each loop whether it may be made parallel, and may change places with the one inside of it."""
    loops = list(af.Schedule(linear).loops())
    steps: list[tuple[str, ...]] = [("parallel", loop.names[0]) for loop in loops]
    steps += [
        ("interchange", outer.names[0], inner.names[0])
        for outer, inner in pairwise(loops)
        if inner.depth == outer.depth + 1
    ]
    for verb, *names in steps:
        ours, theirs = (_refusal(kernel, verb, names) for kernel in (linear, dimensions))
        report.steps[f"{verb} {'refused' if theirs else 'legal'}"] += 1
        if bool(ours) != bool(theirs):
            report.wrong.append(f"seed {of.seed}: {verb} {names}: {ours or 'legal'} instead of {theirs or 'legal'}")


def _compare_regions(of: Recipe, linear: Accesses, dimensions: Accesses, report: Report) -> None:
    """Compare what each loop touches of the array in each iteration of the loops around."""
    for one, other in zip(_loops(linear), _loops(dimensions), strict=True):
        for ours, theirs in zip(footprints(linear, one), footprints(dimensions, other), strict=True):
            report.regions += 1
            places = _places(of, linear, ours), _places(of, dimensions, theirs)
            if ours.is_exact != theirs.is_exact or places[0] != places[1]:
                report.wrong.append(f"seed {of.seed}: the region {ours} instead of {theirs}")


def _places(of: Recipe, accesses: Accesses, region: Region) -> list[tuple[int, ...]]:
    """Iterations, each with the place of an element that is touched in it, for the first sizes of runs."""
    extents = [f * n + h for n, f, h in zip(RUNS[0], of.factors, of.halos, strict=False)]
    given = dict(zip("NMKT", RUNS[0], strict=True)) | {"L": prod(extents)}
    sizes = {v: given[v.hint] for v in accesses.function.args if v.hint in given}
    found = set()
    for point in numbers_in(region.may.wrap(), sizes):
        iteration, element = point[: len(region.ivs)], map(Affine.of, point[len(region.ivs) :])
        index = [e.evaluate(sizes) for e in accesses.dimensions(region.buffer).written(tuple(element))]
        place = index[0]
        for subscript, extent in zip(index[1:], extents[1:], strict=False):
            place = place * extent + subscript
        found.add((*iteration, place))
    return sorted(found)


def _loops(of: Accesses) -> list[For]:
    return [op for op in of.domains if isinstance(op, For)]


def _compare_copies(of: Recipe, linear: Kernel, dimensions: Kernel, report: Report) -> None:
    """Copy the array for the first and for the last loop, if that is legal; the kernel computes what it did."""
    names = [loop.names[0] for loop in af.Schedule(linear).loops()]
    for k, name in enumerate((names[0], names[-1])):
        ours, theirs = (_copied(kernel, name) for kernel in (linear, dimensions))
        report.steps[f"copy {'refused' if isinstance(theirs, str) else 'legal'}"] += 1
        if isinstance(ours, str) != isinstance(theirs, str):
            if of.shape == "larger" and isinstance(ours, str):
                continue  # which elements there are beside those that are touched is not known
            report.wrong.append(f"seed {of.seed}: copy at {name}: {_said(ours)} instead of {_said(theirs)}")
        elif isinstance(ours, Kernel):
            numbers = RUNS[k % len(RUNS)]
            results = [_result(of, kernel.func, numbers) for kernel in (linear, ours)]
            if results[0] is not None and not np.array_equal(results[0], results[1]):
                report.wrong.append(f"seed {of.seed}: a copy at {name} computes something else for {numbers}")


def _compare_proofs(of: Recipe, linear: Kernel, dimensions: Kernel, report: Report) -> None:
    """What the validator says of a split loop, and of a kernel that loads something else."""
    first = next(iter(af.Schedule(linear).loops())).names[0]
    other = changed(of)
    verdicts = []
    for kernel in (linear, dimensions):
        program, body = build(other, linear=kernel is linear)
        after = af.Schedule(kernel).split(first, 3).kernel(), Kernel(body, {}, program=program)
        verdicts.append([_verdict(kernel, each) for each in after])
    report.proofs.update(verdicts[1])
    if verdicts[0] != verdicts[1]:
        report.wrong.append(f"seed {of.seed}: the validator says {verdicts[0]} instead of {verdicts[1]}")


def _verdict(before: Kernel, after: Kernel) -> str:
    reference = Reference(before.func, before.program.module)
    return reference.compared(after.func, after.program.module).verdict


def _copied(kernel: Kernel, loop: str) -> Kernel | str:
    try:
        return af.Schedule(kernel).copy("A", loop).kernel()
    except af.IllegalTransform as error:
        return str(error)


def _said(copied: Kernel | str) -> str:
    return copied if isinstance(copied, str) else "legal"


def _result(of: Recipe, function: Func, numbers: tuple[int, ...]) -> np.ndarray | None:
    """The array after a run; None where it leaves the array."""
    args = _arguments(of, function, numbers)
    try:
        run(function, *args)
    except (InterpreterError, KeyError):
        return None
    return next(a for a in args if isinstance(a, np.ndarray))


def _refusal(kernel: Kernel, verb: str, names: list[str]) -> str:
    try:
        getattr(af.Schedule(kernel), verb)(*names)
    except af.IllegalTransform as error:
        return str(error)
    return ""


def _compare_witnesses(of: Recipe, found: Dependences, report: Report) -> None:
    """Both iterations of a witness touch the element that it has, by the subscripts as they are written."""
    for each in found.all():
        witness = each.witness()
        if witness is None:
            if each.is_exact:
                report.wrong.append(f"seed {of.seed}: no witness of {each}")
            continue
        report.witnesses += 1
        for access, iteration in ((each.source, witness.source), (each.sink, witness.sink)):
            op = access.op
            assert isinstance(op, Load | Store)
            numbers = {v: witness.params.get(v.hint, 1) for v in found.accesses.function.args}
            numbers |= dict(zip(access.ivs, iteration, strict=True))
            if tuple(e.evaluate(numbers) for e in op.index) != witness.element:
                report.wrong.append(f"seed {of.seed}: {each}: {witness}")


def _compare_with_pairs(
    of: Recipe, function: Func, found: Dependences, numbers: tuple[int, ...], report: Report
) -> None:
    """Ask all questions about a run with these sizes, where it does not leave the array."""
    seen = _run(of, function, numbers)
    if seen is None:
        return
    brute = Brute(seen)
    by_op = {(access.op, access.kind): access for access in found.compared}
    for query in brute.queries():
        first, second = ROLES[query.kind]
        each = found.at(by_op[query.source, first], by_op[query.sink, second], query.depth)
        ours = None if each is None else each.at_sizes(seen.symbols)
        wanted = brute.distances(query)
        report.brute += 1
        if (None if ours is None else tuple((d.low, d.high) for d in ours)) != wanted:
            report.wrong.append(f"seed {of.seed}: {query} with {numbers}: {ours} instead of {wanted}")


def _run(of: Recipe, function: Func, numbers: tuple[int, ...]) -> Trace | None:
    try:
        return trace(function, *_arguments(of, function, numbers))
    except (InterpreterError, KeyError):  # it leaves the array
        return None


def _arguments(of: Recipe, function: Func, numbers: tuple[int, ...]) -> list[np.ndarray | int]:
    sizes = [f * n + h for n, f, h in zip(numbers, of.factors, of.halos, strict=False)]
    given = dict(zip("NMKT", numbers, strict=True)) | {"L": prod(sizes)}
    array = np.arange(1.0, 1.0 + prod(sizes))
    return [array.copy() if isinstance(v.type, MemRefType) else given[v.hint] for v in function.args]


def main() -> int:
    """The command line."""
    report, watch = Report(), Watch()
    for seed in seeds(parser("tests.linearized.run", __doc__, 300).parse_args()):
        compare(recipe(seed), report)
        if report.kernels % 10 == 0:
            watch.say(report.kernels, "kernels", len(report.unknown) + len(report.wrong))
    print(report)
    print("\n".join([*report.unknown[:30], *report.wrong[:30]]))
    return int(bool(report.unknown or report.wrong))


if __name__ == "__main__":
    sys.exit(main())
