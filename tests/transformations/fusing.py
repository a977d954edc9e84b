"""Random requests to fuse: `python -m tests.transformations.fusing --count 2000 --seed 1 --minutes 30`.

Each asks a random program for `fuse`, `compute_at`, `fold` or `inline`, several after each other. What is accepted must
leave the same results, with arithmetic that lets every order show; what is refused by a counterexample is made all the
same, and mostly gives other results.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import affdsl.passes.transforms.fold as folding
import affdsl.passes.transforms.fuse.inline as inlining
import affdsl.passes.transforms.fuse.loops as fusing
from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import AnalysisWarning
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.proof.claims import Answer
from affdsl.passes.proof.polyhedral import Reference
from affdsl.passes.transforms.fuse.compute_at import compute_at
from affdsl.passes.transforms.fuse.window import Window
from tests.fuzz.features import FUSING
from tests.fuzz.generator import generate
from tests.harness.command import Watch, parser
from tests.harness.limit import limited
from tests.passes.mlir_opt.fusion.short import mlir
from tests.passes.mlir_opt.fusion_programs import program as chain
from tests.transformations.check import difference
from tests.transformations.primitives import Setting, unasked
from tests.transformations.subjects import Subject, fuzzed, integral, sized

SECONDS = 60
STEPS = 3
"""So many requests are made of one program, each of what the one before made."""
TRIES = 12
SIZES = (0, 1, 5, 12)
SHOWN = 40
SAID = ("other values would be computed", "takes the place of an element")
"""How refusals begin that are no order of two iterations, but have found a difference."""
PROVED = Answer("proved")


def _proved(*_: object, **__: object) -> Answer:
    """Stands for a proof that finds nothing against it."""
    return PROVED


def _yes(*_: object, **__: object) -> None:
    """Stands for a check that everything passes."""


@dataclass(frozen=True)
class Request:
    """A verb with its arguments, which name loops and buffers by their numbers."""

    verb: str
    numbers: tuple[int, ...]

    def made(self, at: Setting) -> func.Func:
        """What becomes of a function. Raises IllegalTransform where that is refused."""
        function, module, numbers = at.function, at.module, self.numbers
        match self.verb:
            case "fuse":
                first, second, shift, guarded = numbers
                ivs = at.ivs((first, second))
                return fusing.fuse(function, *ivs, shift=shift, guarded=bool(guarded), module=module)
            case "compute_at":
                return compute_at(function, at.buffers[numbers[0]], at.loops[numbers[1]].iv, module=module)
            case "fold":
                return folding.fold(function, at.buffers[numbers[0]], numbers[1], numbers[2], module=module)
            case _:
                return inlining.inline(function, at.buffers[numbers[0]], module=module)

    def forced(self, at: Setting) -> func.Func:
        """The same where nothing asks whether it is legal."""
        with unasked(
            (fusing, "require_order", _yes), (Window, "compared", _proved), (Reference, "compared", _proved),
            (folding, "_require_kept", _yes),
        ):  # fmt: skip
            return self.made(at)

    def __str__(self) -> str:
        return f"{self.verb}{list(self.numbers)}"


VERBS = ("fuse", "fuse", "compute_at", "compute_at", "fold", "inline")


def request(at: Setting, random: Random) -> Request | None:
    """A random request; None where the function has no place for the verb that was drawn."""
    verb = random.choice(VERBS)
    local = [k for k, b in enumerate(at.buffers) if b not in at.function.args]
    if verb == "fuse":
        number = {loop: k for k, loop in enumerate(at.loops)}
        blocks = [[op for op in b if isinstance(op, affine.For)] for op in walk(at.function) for b in op.blocks()]
        found = [(a, b) for loops in blocks for k, a in enumerate(loops) for b in loops[k + 1 : k + 3]]
        if not found:
            return None
        first, second = random.choice(found)
        shift = random.choice((0, 0, 0, 1, 1, 2, -1))
        return Request(verb, (number[first], number[second], shift, random.randrange(2)))
    if not local or not at.loops:
        return None
    buffer = random.choice(local if random.random() < 0.8 else range(len(at.buffers)))
    if verb == "compute_at":
        reading = [k for k, loop in enumerate(at.loops) if any(_reads(op, at.buffers[buffer]) for op in walk(loop))]
        return Request(verb, (buffer, random.choice(reading or range(len(at.loops)))))
    if verb == "fold":
        rank = at.buffers[buffer].type.rank
        return Request(verb, (buffer, random.randrange(rank), random.choice((1, 1, 2, 2, 3, 4, 5))))
    return Request(verb, (buffer,))


def _reads(op: Op, buffer: Value) -> bool:
    return isinstance(op, affine.Load) and op.memref is buffer


def stencils(seed: int) -> str:
    """Sweeps over vectors of a size that is not known, in place or not, perhaps inside of a loop over time."""
    random = Random(seed)
    arrays = ["A", "B", "t", "u"]
    lines = ["A n, B n, t n local, u n local"]
    lines += [f"for z{k} 0 n\n  {array}[z{k}] = A[z{k}] * {k + 2}" for k, array in enumerate(("t", "u"))]
    indent = ""
    if random.random() < 0.5:
        lines.append("for s 0 3")
        indent = "  "
    for k in range(random.choice((2, 2, 3, 3, 4))):
        low = random.choice((2, 2, 2, 3))
        high = random.choice(("n-2", "n-2", "n-2", "n-3", "n//2+1" if low == 2 else "n-2"))
        high = "min(n//2+1,n-2)" if "n//2" in high else high
        stores = [_store(random, arrays, k) for _ in range(random.choice((1, 1, 1, 2)))]
        head, inner = f"{indent}for i{k} {low} {high}", f"{indent}  "
        kind = random.random()
        if kind < 0.15:
            lines += [head, f"{inner}if i{k} - {random.choice((3, 4, 6))} >= 0"]
            inner += "  "
        elif kind < 0.3:
            lines += [f"{head} carry s{k} = {k} as r{k}", f"{inner}s{k}_next = s{k} + A[i{k}]"]
            stores.append(f"{random.choice(arrays[1:])}[i{k}] = s{k}_next * 2")
        elif kind < 0.45 and "min" not in high:
            lines.append(f"{indent}parallel i{k} {low} {high}")
            source = random.choice("AB")
            stores = [f"{random.choice('tu')}[i{k} + 1] = {source}[i{k}] + {source}[i{k} - 1]"]
        else:
            lines.append(head)
        lines += [inner + store for store in stores]
    lines += ["for y 0 n", f"  B[y] = {random.choice('tu')}[y] + B[y]"]
    return mlir("\n".join(lines))


def subject(seed: int) -> Subject:
    """The program of a seed: of three generators in turn, with elements of i64."""
    if seed % 3 == 0:
        program = integral(generate(seed, FUSING[seed // 3 % len(FUSING)]))
        more = [tuple(Random(seed).choice(SIZES) for _ in program.symbols)] if program.symbols else []
        return fuzzed((sized(program, more) if more else None) or program)
    module = parse(chain(seed) if seed % 3 == 1 else stencils(seed))
    function = module.functions[0]
    sizes = [k for k, a in enumerate(function.args) if a.type == INDEX]
    shapes = {
        k: tuple(max(SIZES) if n is None else n for n in a.type.shape)
        for k, a in enumerate(function.args) if k not in sizes
    }  # fmt: skip
    numbers = [dict.fromkeys(sizes, n) for n in (SIZES if sizes else (0,))]
    return Subject(f"{seed}", module, function.symbol, numbers, shapes)


def _store(random: Random, arrays: Sequence[str], k: int) -> str:
    near = [f"{random.choice(arrays)}[i{k} + {random.randint(-2, 2)}]" for _ in range(random.choice((1, 2, 3)))]
    where = f"i{k} + {random.choice((0, 0, 0, 0, 1, -1))}"
    return f"{random.choice(arrays)}[{where}] = {' + '.join(near)} + {k}".replace("+ -", "- ")


@dataclass
class Counts:
    """What became of the requests, by verb."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    programs: range = range(0)

    def add(self, verb: str, *what: str) -> None:
        """Count a request."""
        self.counts.setdefault(verb, Counter()).update(("asked", *what))

    @property
    def asked(self) -> int:
        return sum(row["asked"] for row in self.counts.values())

    @property
    def share(self) -> float:
        """Of the forced ones, how many changed the result."""
        forced = sum(row["forced"] for row in self.counts.values())
        return sum(row["changed"] for row in self.counts.values()) / max(1, forced)

    def __str__(self) -> str:
        heads = ("asked", "accepted", "wrong", "counterexample", "forced", "changed", "refused")
        rows = [("", *heads)]
        rows += [(verb, *(str(self.counts[verb][head]) for head in heads)) for verb in sorted(self.counts)]
        share = f"{100 * self.share:.0f} % of those forced changed the result"
        last = f"{self.asked} requests of programs {self.programs.start} to {self.programs.stop - 1}, {share}"
        return "\n".join(row[0].ljust(12) + "".join(cell.rjust(16) for cell in row[1:]) for row in rows) + f"\n{last}"


def ask(seed: int, counts: Counts) -> None:
    """Make requests of the program of a seed."""
    program, random = subject(seed), Random(f"requests {seed}")
    given = program.mixed
    tried = set[tuple[tuple[Request, ...], Request]]()
    if any(len(outcome) == 1 and isinstance(outcome[0], str) for outcome in given.expected):
        return  # it has no meaning
    now, module, steps = given.function, given.module, list[Request]()
    for _ in range(TRIES):
        if len(steps) == STEPS:
            return
        asked = request(Setting(now, module), random)
        if asked is None or (tuple(steps), asked) in tried:
            continue
        tried.add((tuple(steps), asked))
        made = _answered(program, module, (*steps, asked), counts)
        if made is not None:
            module, steps = made, [*steps, asked]
            now = next(f for f in module.functions if f.symbol == given.symbol)


def _answered(program: Subject, module: func.Module, requests: Sequence[Request], counts: Counts) -> func.Module | None:
    """What the last of some requests makes, if it is accepted and right; counted."""
    given, asked = program.mixed, requests[-1]
    label = f"seed {program.name}: {', '.join(map(str, requests))}"
    try:
        with limited(SECONDS):
            made = _with(given, module, asked.made)
            wrong = difference(given, made)
    except IllegalTransform as refusal:
        if refusal.witness is None and not any(said in str(refusal) for said in SAID):
            counts.add(asked.verb, "refused")
        else:
            changed = _changed(program, requests)
            counts.add(asked.verb, "counterexample", *FORCED[changed])
            if changed is False:
                counts.unchanged.append(label)
        return None
    except Exception as problem:  # noqa: BLE001  whatever is raised is what was looked for
        counts.add(asked.verb, "wrong")
        counts.failures.append(f"{label}: {type(problem).__name__}: {problem}")
        return None
    counts.add(asked.verb, "accepted", *["wrong"] * bool(wrong))
    if wrong:
        counts.failures.append(f"{label}: {wrong}")
        return None
    return made


FORCED: dict[bool | None, tuple[str, ...]] = {None: (), False: ("forced",), True: ("forced", "changed")}


def _changed(program: Subject, requests: Sequence[Request]) -> bool | None:
    """Whether something else comes out after the last request, made all the same; None where it cannot be made."""
    for given in (program.mixed, program.remembering):
        module = given.module
        try:
            with limited(SECONDS):
                for each in requests[:-1]:
                    module = _with(given, module, each.made)
                module = _with(given, module, requests[-1].forced)
                if difference(given, module):
                    return True
        except (AffdslError, IndexError):  # with other operations it may have other loops, or be refused
            return None if given is program.mixed else False
    return False


def _with(given: Subject, module: func.Module, step: Callable[[Setting], func.Func]) -> func.Module:
    now = replace(given, module=module)
    return now.with_function(step(Setting(now.function, module)))


def requested(count: int, first: int, minutes: float = 1e9) -> Counts:
    """Make so many requests, of as many as the time allows, of the programs from one seed on."""
    watch, counts, seed = Watch(), Counts(), first
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalysisWarning)
        while counts.asked < count and watch.seconds < 60 * minutes:
            before = len(counts.failures)
            ask(seed, counts)
            for failure in counts.failures[before:]:
                print(failure, file=sys.stderr, flush=True)
            seed += 1
            if seed % 25 == 0:
                watch.say(counts.asked, "requests", len(counts.failures))
    counts.programs = range(first, seed)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """Make as many requests as asked for; the exit status says whether all that was accepted is right."""
    options = parser("tests.transformations.fusing", __doc__, 2000)
    options.add_argument("--minutes", type=float, default=1e9, help="stop after so long")
    chosen = options.parse_args(arguments)
    counts = requested(chosen.count, chosen.seed, chosen.minutes)
    print("\n".join([str(counts), *(f"changed nothing: {each}" for each in counts.unchanged[:SHOWN])]))
    return 1 if counts.failures else 0


if __name__ == "__main__":
    sys.exit(main())
