"""Our dependences next to those that looking at all pairs of a run finds.

    python -m tests.passes.analysis.compare --count 2000 --seed 1

Where an access is exact, existence and both ends of every distance must be equal. Where something about it is not
known, ours must hold what there is.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences, Distance, dependences
from tests.harness.command import Watch, parser, seeds
from tests.passes.analysis.brute import ROLES, Brute, Query
from tests.passes.analysis.programs import Program, generate
from tests.passes.analysis.traced import Trace


@dataclass
class Report:
    """How many questions were asked, and every one that was answered wrongly."""

    queries: int = 0
    exact: int = 0
    existing: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))
        return (
            f"{self.queries} queries ({kinds}), {self.exact} of them about exact accesses, {self.existing} with a "
            f"dependence: {len(self.wrong)} wrong"
        )


def sizes_of(program: Program, found: Dependences, trace: Trace) -> dict[Value, int]:
    """The numbers that the symbols of a program have when it runs."""
    given = dict(zip(program.function.args, program.arguments(), strict=True))
    sizes = dict(trace.symbols)
    for (buffer, axis), value in found.accesses.scope.sizes.items():
        array = given[buffer]
        assert isinstance(array, np.ndarray)
        sizes[value] = array.shape[axis]
    return sizes


def compare(program: Program, report: Report) -> None:
    """Ask all questions about a program."""
    trace = program.trace()
    brute = Brute(trace)
    found = dependences(program.function, program.module)
    sizes = sizes_of(program, found, trace)
    by_op: Mapping[tuple[Op, str], list[Access]] = defaultdict(list)
    for access in found.compared:
        by_op[access.op, access.kind].append(access)
    for query in brute.queries():
        first, second = ROLES[query.kind]
        pairs = [
            (a, b)
            for a in by_op[query.source, first]
            for b in by_op[query.sink, second]
            if found.accesses.storage.may_alias(a.buffer, b.buffer)
        ]
        wanted = brute.distances(query)
        ours = _together([d for a, b in pairs if (d := _distances(found, a, b, query.depth, sizes)) is not None])
        is_exact = all(_is_exact(a, b, sizes) for a, b in pairs)
        report.queries += 1
        report.kinds[query.kind] += 1
        report.exact += is_exact
        report.existing += wanted is not None
        if not (ours == wanted if is_exact else _holds(ours, wanted)):
            report.wrong.append(f"seed {program.seed}: {_described(query)}: {ours} instead of {wanted}")


Ends = tuple[tuple[int | None, int | None], ...]


def _distances(
    found: Dependences, source: Access, sink: Access, depth: int, sizes: Mapping[Value, int]
) -> tuple[Distance, ...] | None:
    dependence = found.at(source, sink, depth)
    return None if dependence is None else dependence.at_sizes(sizes)


def _is_exact(source: Access, sink: Access, sizes: Mapping[Value, int]) -> bool:
    """Whether nothing is unknown; a symbol that the program loads is none whose number we have."""
    params = (*source.relation.params, *sink.relation.params)
    return source.is_exact and sink.is_exact and source.buffer is sink.buffer and all(v in sizes for v in params)


def _together(parts: list[tuple[Distance, ...]]) -> Ends | None:
    """The ends of several dependences taken as one."""
    if not parts:
        return None
    return tuple((_lowest([d.low for d in of]), _highest([d.high for d in of])) for of in zip(*parts, strict=True))


def _lowest(numbers: list[int | None]) -> int | None:
    known = [n for n in numbers if n is not None]
    return min(known) if len(known) == len(numbers) else None


def _highest(numbers: list[int | None]) -> int | None:
    known = [n for n in numbers if n is not None]
    return max(known) if len(known) == len(numbers) else None


def _holds(ours: Ends | None, wanted: tuple[tuple[int, int], ...] | None) -> bool:
    if wanted is None or ours is None:
        return wanted is None
    return all(
        (low is None or low <= a) and (high is None or b <= high)
        for (low, high), (a, b) in zip(ours, wanted, strict=True)
    )


def _described(query: Query) -> str:
    return f"{query.kind} of {query.source.location} and {query.sink.location} at depth {query.depth}"


def compare_seeds(of: range) -> Report:
    """Ask all questions about the programs of some seeds."""
    report, watch = Report(), Watch()
    for k, seed in enumerate(of, 1):
        compare(generate(seed), report)
        if k % 100 == 0:
            watch.say(k, "programs", len(report.wrong))
    return report


def main() -> None:
    """The command line."""
    report = compare_seeds(seeds(parser("tests.passes.analysis.compare", __doc__, 1000).parse_args()))
    print(report)
    print("\n".join(report.wrong[:50]))
    sys.exit(bool(report.wrong))


if __name__ == "__main__":
    main()
