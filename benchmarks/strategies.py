"""Which strategies of `optimize()` are taken by how many kernels of all suites, and what each of them costs to have.

    python -m benchmarks.strategies
    python -m benchmarks.strategies everyday idioms --rows strict-avx2-1 --against before.jsonl --only chains
    python -m benchmarks.strategies --save before.jsonl
    python -m benchmarks.strategies --against before.jsonl

A strategy is a file in a room of `affdsl/optimize`. A kernel takes it where a step of its schedule is taken by that
file, or by what it calls. Each kernel is optimized in the order of the text and with everything allowed, for AVX2,
AVX-512 and this machine, whose caches some strategies ask for, on one thread and on two. Printed are, for each
strategy, the kernels that take it in some row, with their names where these are few; its lines of code, its named
numbers, and its look-ups of loops by name.

`--save` keeps the steps and the words of each schedule; `--against` says which are other ones than those kept. Both go
on where a file was cut short.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import pkgutil
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from typing import Self

import affdsl as af
import examples
from affdsl.optimize.optimizer import chosen
from affdsl.optimize.options import Options, targets
from affdsl.schedule.schedule import Schedule, verified_last
from benchmarks import layers
from benchmarks.ratchet.programs import SUITES, programs
from benchmarks.ratchet.worker import PERMISSIONS
from benchmarks.reductions import ROWS as REDUCTIONS

ROOT = Path(__file__).resolve().parents[1]
OPTIMIZE = ROOT / "affdsl" / "optimize"
ROOMS = ("fuse", "order", "vector", "registers", "memory", "threads")
ALLOWED: Mapping[str, Sequence[str]] = {"strict": (), "all": PERMISSIONS}
TARGETS = ("avx2", "avx512", "native")
ROWS = tuple("-".join(each) for each in product(ALLOWED, TARGETS, ("1", "2")))
FEW = 4
"""The names of so many kernels are printed."""
LOOK_UPS = re.compile(r"\b(?:s|made|self)\.loops\(\)|names_in\(|nest_called\(|now_called\(|nests_in\(|\.name\(")
"""What finds loops by their names, or the names of loops."""


@dataclass(frozen=True)
class Taken:
    """What was chosen for a kernel: its steps as text, what is said, and the strategies that took steps."""

    kernel: str
    row: str
    steps: Sequence[str]
    notes: Sequence[str]
    strategies: Sequence[str]


class Traced(Schedule):
    """A schedule that knows which strategies were at work when each of its steps was taken."""

    _by: tuple[frozenset[str], ...] = ()

    def _take(self, verb: str, *arguments: object, **options: object) -> Self:
        known = len(self._steps)
        super()._take(verb, *arguments, **options)
        new = len(self._steps) - known
        self._by = (*self._by[:known], *[frozenset(_at_work())] * new)
        return self

    def strategies(self) -> list[str]:
        """Those that took a step which still is one."""
        return sorted(set().union(*self._by[: len(self._steps)]))


def _at_work() -> Iterator[str]:
    """The strategies that call what is running now."""
    frame = sys._getframe(2)
    while frame is not None:
        parts = str(frame.f_globals.get("__name__", "")).split(".")
        if parts[:2] == ["affdsl", "optimize"] and len(parts) == 4 and parts[2] in ROOMS:
            yield f"{parts[2]}/{parts[3]}"
        frame = frame.f_back


def kernels(suites: Iterable[str]) -> dict[str, af.Kernel]:
    """The kernels of suites, by suite and name."""
    found: dict[str, af.Kernel] = {}
    for suite in suites:
        for name, kernel in _kernels(suite):
            found[f"{suite}/{name}"] = kernel
    return found


def _kernels(suite: str) -> Iterator[tuple[str, af.Kernel]]:
    match suite:
        case "reductions":
            yield from ((each.name, each.kernel) for each in REDUCTIONS)
        case "layers":
            yield from ((name, each) for name, each in vars(layers).items() if isinstance(each, af.Kernel))
        case "examples":
            for name in sorted(each.name for each in pkgutil.iter_modules(examples.__path__)):
                module = importlib.import_module(f"examples.{name}")
                cases = module.cases() if name not in ("case", "demo") and hasattr(module, "cases") else ()
                yield from ((f"{name}.{case.kernel.name}", case.kernel) for case in cases)
        case _:
            yield from ((each.name, each.kernel) for each in programs(suite))


ALL = (*SUITES, "reductions", "layers", "examples")


def options(row: str) -> Options:
    """The options of a row, as "strict-avx2-1"."""
    allowed, target, threads = row.split("-")
    return Options(targets()[target], int(threads), **dict.fromkeys(ALLOWED[allowed], True))


def taken(kernel: af.Kernel, name: str, row: str) -> Taken:
    """What is chosen for a kernel."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            s, notes = chosen(verified_last(Traced(kernel, inline=True)), options(row))
        except Exception as error:  # noqa: BLE001 - a fault of the optimizer is told as a row of its own
            return Taken(name, row, (), (f"{type(error).__name__}: {str(error)[:200]}",), ())
    assert isinstance(s, Traced)
    return Taken(name, row, [step.call.text for step in s.steps], [*map(str, notes)], s.strategies())


def _worker(job: tuple[str, str]) -> Taken:
    name, row = job
    if name not in _known:
        _known.update(kernels([name.partition("/")[0]]))
    return taken(_known[name], name, row)


_known: dict[str, af.Kernel] = {}


@dataclass(frozen=True)
class Cost:
    """What a strategy costs to have: lines, numbers that have a name, look-ups of loops by name."""

    lines: int
    numbers: int
    look_ups: int


def costs() -> dict[str, Cost]:
    """What each file of the optimizer costs, by room and name."""
    return {
        str(path.relative_to(OPTIMIZE).with_suffix("")): cost(path.read_text(encoding="utf-8"))
        for path in sorted(OPTIMIZE.rglob("*.py"))
        if path.name != "__init__.py"
    }


def cost(text: str) -> Cost:
    """What the text of a file costs.

    >>> cost("FEW = 4\\nFAR, NEAR = 2, 1.5\\nNAME = 'x'\\ndef f(s):\\n    return s.loops()")
    Cost(lines=5, numbers=3, look_ups=1)
    """
    named = (node.value for node in ast.parse(text).body if isinstance(node, ast.Assign | ast.AnnAssign))
    numbers = sum(_numbers(value) for value in named if value is not None)
    return Cost(len(text.splitlines()), numbers, len(LOOK_UPS.findall(text)))


def _numbers(value: ast.expr) -> int:
    """How many numbers a constant is: of a tuple all of them, of a formula or a table one."""
    if isinstance(value, ast.Tuple):
        return sum(map(_numbers, value.elts))
    found = [each.value for each in ast.walk(value) if isinstance(each, ast.Constant)]
    is_number = bool(found) and all(isinstance(each, int | float) and not isinstance(each, bool) for each in found)
    return int(is_number)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; 1 where a schedule is another one than what was kept."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.strategies",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suites", nargs="*", help=f"only these of {', '.join(ALL)}")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS, help="only these rows")
    parser.add_argument("--only", nargs="+", default=(), help="kernels, or those that took a strategy in --against")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--save", type=Path, help="a file for the schedules")
    parser.add_argument("--against", type=Path, help="a file with schedules from before")
    line = parser.parse_args(words)
    before = {(each.kernel, each.row): each for each in _read(line.against)}
    now = {(each.kernel, each.row): each for each in _read(line.save)}
    wanted = [
        (name, row) for name in kernels(line.suites or ALL) for row in line.rows if _is_wanted(name, before, line.only)
    ]
    if not wanted:
        parser.error(f"no kernel is called {' or '.join(line.only)}, nor took such a strategy in --against")
    differ = 0
    with Pool(line.processes) as pool, open(line.save or "/dev/null", "a", encoding="utf-8") as file:
        for each in pool.imap(_worker, [job for job in wanted if job not in now], chunksize=len(line.rows)):
            now[each.kernel, each.row] = each
            file.write(json.dumps(vars(each)) + "\n")
            file.flush()
            old = before.get((each.kernel, each.row))
            if old is not None and (old.steps, old.notes) != (each.steps, each.notes):
                differ += 1
                print(_difference(old, each), flush=True)
    if before:
        print(f"{differ} of {len(wanted)} schedules are other ones")
    print(table([now[job] for job in wanted]))
    return int(differ > 0)


def _is_wanted(name: str, before: Mapping[tuple[str, str], Taken], only: Sequence[str]) -> bool:
    took = (each for (kernel, _), taken in before.items() if kernel == name for each in taken.strategies)
    return not only or name.partition("/")[2] in only or not {*only}.isdisjoint(each.partition("/")[2] for each in took)


def _read(path: Path | None) -> Iterator[Taken]:
    if path is not None and path.exists():
        yield from (Taken(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())


def _difference(old: Taken, new: Taken) -> str:
    """What differs between two schedules of one kernel."""
    lines = [f"{new.kernel}, {new.row}: {'other steps' if old.steps != new.steps else 'other words'}"]
    pairs = (old.steps, new.steps) if old.steps != new.steps else (old.notes, new.notes)
    lines += [f"    - {each}" for each in pairs[0] if each not in pairs[1]]
    lines += [f"    + {each}" for each in pairs[1] if each not in pairs[0]]
    return "\n".join(lines)


def table(found: Sequence[Taken]) -> str:
    """A line for each strategy: kernels and rows that take it, and what it costs."""
    took: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for each in found:
        for strategy in each.strategies:
            took[strategy][each.kernel] += 1
    lines = [f"{'strategy':32}{'kernels':>8}{'rows':>6}{'lines':>7}{'numbers':>9}{'look-ups':>10}"]
    known, all = costs(), {each.kernel for each in found}
    strategies = [name for name in known if name.partition("/")[0] in ROOMS]
    for name in sorted(strategies, key=lambda name: -len(took[name])):
        cost, names = known[name], sorted(took[name])
        few = f"  {', '.join(names)}" if len(names) <= FEW else ""
        rows = sum(took[name].values())
        lines.append(f"{name:32}{len(names):8}{rows:6}{cost.lines:7}{cost.numbers:9}{cost.look_ups:10}{few}")
    sums = [sum(getattr(known[name], field) for name in known) for field in ("lines", "numbers", "look_ups")]
    lines.append(
        f"{f'all {len(known)} files of optimize':32}{len(all):8}{len(found):6}{sums[0]:7}{sums[1]:9}{sums[2]:10}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
