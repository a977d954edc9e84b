"""Programs that transformations are tried on: random ones, as they are and mixed, with what they are run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

import numpy as np

from affdsl.errors import AffdslError
from affdsl.ir.dialects import func
from affdsl.ir.interpreter import Argument, Order, Prepared
from affdsl.ir.interpreter.externals import External
from affdsl.ir.numeric import dtype
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.types import FloatType, IndexType, IntegerType, MemRefType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests.fuzz import generator as of_fuzz
from tests.fuzz.minimise import is_valid
from tests.fuzz.mlir import entry_name, mlir
from tests.fuzz.program import Binary, Program, rebuilt
from tests.fuzz.reference import UnusableError, placed
from tests.harness.judges import externals, instead
from tests.passes.analysis import programs as of_analysis
from tests.passes.analysis.traced import Trace, trace
from tests.transformations.mixing import mixed, on_integers, shown, with_numbers

SOURCES = ("fuzz", "fuzz", "analysis")
"""Where the programs come from, by their seeds in turn."""
AS_INTEGERS = {"addf": "addi", "subf": "subi", "maximumf": "maxsi", "minimumf": "minsi"}
SIZES = (0, 1, 2, 3, 5, 7, 8)
ATTEMPTS, FURTHER = 50, 1_000_000
"""Programs with parallel bands that race are left out: so many others are tried, whose seeds are so far apart."""
OPEN = 5
"""Of so many programs of tests.passes.analysis, one keeps its symbols; in the others they are numbers."""
NEGATIVE = -2
"""A size that no loop should run for, and that products of sizes must not make positive."""
Outcome = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Subject:
    """A module, the function that is transformed and run, and its arguments: the numbers of each run, and shapes.

    Attributes
    ----------
    numbers
        For each run the index arguments by position.
    shapes
        The shapes of its memrefs by position.
    """

    name: str
    module: func.Module
    symbol: str
    numbers: Sequence[Mapping[int, int]]
    shapes: Mapping[int, tuple[int, ...]]

    @cached_property
    def function(self) -> func.Func:
        return next(f for f in self.module.functions if f.symbol == self.symbol)

    @cached_property
    def is_integer(self) -> bool:
        """Whether no number of it is rounded."""
        values = (v for op in walk(self.module) for v in (*op.defines(), *op.binds()))
        return not any(isinstance(getattr(v.type, "element", v.type), FloatType) for v in values)

    @property
    def externals(self) -> Mapping[str, External]:
        """What stands for functions without a body."""
        return externals(self.module)

    def with_function(self, made: func.Func) -> func.Module:
        """The module with another version of the function, which keeps the rules."""
        return instead(self.module, self.function, made)

    def arguments(self, number: int) -> list[Argument]:
        """New arguments for a run."""
        random = np.random.default_rng(1000 + number)
        return [self._argument(k, number, random) for k in range(len(self.function.args))]

    def _argument(self, k: int, number: int, random: np.random.Generator) -> Argument:
        match self.function.args[k].type:
            case IndexType():
                return self.numbers[number][k]
            case MemRefType(_, IndexType()):
                return random.integers(0, of_analysis.LARGEST + 1, self.shapes[k])
            case MemRefType(_, IntegerType() as element):
                return random.integers(-(10**6), 10**6, self.shapes[k]).astype(dtype(element))
            case MemRefType(_, element):
                return random.integers(-999, 999, self.shapes[k]).astype(dtype(element))
        raise TypeError(f"no argument {k} is made here")

    def prepared(self, module: func.Module) -> Prepared:
        """A version of the module, to be run."""
        function = next(f for f in module.functions if f.symbol == self.symbol)
        return Prepared(function, module=module, externals=self.externals, uninitialised="poison")

    def outcome(self, prepared: Prepared, number: int, order: Order = "forward") -> Outcome:
        """What a version of the module gives and leaves in its arguments, or what goes wrong."""
        given = self.arguments(number)
        try:
            made = prepared.run(*given, order=order)
        except AffdslError as problem:
            return (str(problem),)
        return tuple(np.asarray(a).tobytes() for a in (*made, *given))

    @cached_property
    def expected(self) -> tuple[Outcome, ...]:
        """What each run of it gives."""
        prepared = self.prepared(self.module)
        return tuple(self.outcome(prepared, n) for n in range(len(self.numbers)))

    def trace(self, number: int) -> Trace:
        """What a run of it accesses. Raises InterpreterError and NotImplementedError as `trace` does."""
        if number not in self._traces:
            given = self.arguments(number)
            self._traces[number] = trace(self.function, *given, module=self.module, externals=self.externals)
        return self._traces[number]

    @cached_property
    def _traces(self) -> dict[int, Trace]:
        return {}

    @cached_property
    def mixed(self) -> Subject:
        """The same program with arithmetic that lets orders show; its numbers must be of i64."""
        return self._mixed(remembers=False)

    @cached_property
    def remembering(self) -> Subject:
        """The same program where every order shows: by additional loads, and results that were local before."""
        return self._mixed(remembers=True)

    def _mixed(self, *, remembers: bool) -> Subject:
        functions = {f: mixed(f, remembers=remembers) for f in self.module.functions if not f.external}
        if remembers:
            functions[self.function] = shown(functions[self.function])
        module = with_fields(self.module, body=tuple(functions.get(op, op) for op in self.module.body))
        verify(module)
        return replace(self, module=module)


def subject(seed: int) -> Subject:
    """The program of a seed, from the generators in turn, run on several sizes where it has symbols.

    It is as it was generated, or, of every second one of each generator, with i64 in place of its floats and arithmetic
    that lets every order show.
    """
    if seed // len(SOURCES) % 2:
        return on_i64(seed).mixed
    return analysed(seed) if SOURCES[seed % len(SOURCES)] == "analysis" else fuzzed(program_of(seed))


def on_i64(seed: int) -> Subject:
    """The program of a seed with elements of i64."""
    if SOURCES[seed % len(SOURCES)] == "analysis":
        return analysed(seed, integers=True)
    return fuzzed(integral(program_of(seed)))


def program_of(seed: int) -> Program:
    """The random program of a seed, with more sizes than its generator chose if it may have them."""
    program = of_fuzz.generate(seed)
    random = Random(seed)
    if not program.symbols:
        return program
    more = [tuple(random.choice(SIZES) for _ in program.symbols) for _ in range(2)]
    below = tuple(NEGATIVE for _ in program.symbols)
    return sized(program, [*more, below]) or sized(program, more) or program


def sized(program: Program, more: Sequence[tuple[int, ...]]) -> Program | None:
    """A program that is also run on other sizes, in larger buffers; None if it has no meaning there."""
    valuations = tuple(dict.fromkeys((*program.valuations, *more)))
    if valuations == program.valuations:
        return None
    try:
        made = placed(replace(program, valuations=valuations))
    except UnusableError:
        return None
    return made if is_valid(made) else None


def integral(program: Program) -> Program:
    """A program with i64 in place of what elements it has."""
    if program.element == "i64":
        return program
    made = rebuilt(program, lambda n: replace(n, kind=AS_INTEGERS.get(n.kind, n.kind)) if isinstance(n, Binary) else n)
    return replace(made, element="i64")


def fuzzed(program: Program) -> Subject:
    """A program of tests.fuzz."""
    module = parse(mlir(program), f"fuzz {program.seed}")
    count = len(program.arguments)
    numbers = [dict(enumerate(program.given(n), count)) for n in range(len(program.valuations))]
    shapes = {k: b.shape for k, b in enumerate(program.arguments)}
    return Subject(f"fuzz {program.seed}", module, entry_name(program), numbers, shapes)


def analysed(seed: int, *, integers: bool = False) -> Subject:
    """A program of tests.passes.analysis, which has one run only, and parallel bands that do not race."""
    for attempt in range(ATTEMPTS):
        found = _analysed(seed + attempt * FURTHER, integers=True).mixed
        prepared = found.prepared(found.module)
        if found.expected == tuple(found.outcome(prepared, n, "reverse") for n in range(len(found.numbers))):
            return _analysed(seed + attempt * FURTHER, integers=integers)
    raise AssertionError(f"the bands of {ATTEMPTS} programs race")


def _analysed(seed: int, *, integers: bool) -> Subject:
    program = of_analysis.generate(seed)
    text = _with_global_shown(program.text)
    module = parse(on_integers(text) if integers else text, f"analysis {seed}")
    count = len(program.sizes)
    shapes = {**dict(enumerate(program.sizes)), count: (of_analysis.INDICES,)}
    made = Subject(f"analysis {seed}", module, "f", [dict(enumerate(program.symbols, count + 1))], shapes)
    if seed % OPEN == 0:
        return made
    # It is in bounds at these sizes only, so what would go wrong at others could not be seen.
    known = {made.function.args[k]: number for k, number in made.numbers[0].items()}
    return replace(made, module=made.with_function(with_numbers(made.function, known)))


def _with_global_shown(text: str) -> str:
    """A program that gives back its global buffer, if it has one: what stands there shows to others too."""
    if "memref.global" not in text:
        return text
    head, body = text.rsplit("func.func @f(", 1)
    body = body.replace(") {\n", ") -> memref<8xf32> {\n", 1)
    body, end, rest = body.rpartition("  return\n")
    assert end, "it ends with a return"
    return f"{head}func.func @f({body}  return %g : memref<8xf32>\n{rest}"
