"""Random functions on integers and floats, and arguments and inputs at which arithmetic goes wrong."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import takewhile
from random import Random

import numpy as np

from affdsl.ir.dialects import func, scf
from affdsl.ir.numeric import dtype
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IndexType, IntegerType, MemRefType, Type, VectorType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.harness.judges import meaningful_runs, same_but_nan

INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
FLOATS = {"f16": 16, "f32": 32, "f64": 64}
_INFINITE = {"f16": "0x7C00", "f32": "0x7F800000", "f64": "0x7FF0000000000000"}
_NAN = {"f16": "0x7E00", "f32": "0x7FC00000", "f64": "0x7FF8000000000000"}
INTEGER_BINARY = (
    "addi subi muli divsi divui remsi remui ceildivsi ceildivui floordivsi andi ori xori shli shrsi shrui "
    "maxsi maxui minsi minui"
).split()
FLOAT_BINARY = "addf subf mulf divf remf maximumf maxnumf minimumf minnumf".split()
INTEGER_TESTS = "eq ne slt sle sgt sge ult ule ugt uge".split()
FLOAT_TESTS = "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split()


def random_function(seed: int, *, lanes: int = 0) -> str:
    """A function @f of a few operations of arith, on scalars or on vectors of so many lanes."""
    return _Function(Random(seed), lanes).text()


class _Function:
    def __init__(self, random: Random, lanes: int) -> None:
        self.random = random
        self.lanes = lanes
        self.lines: list[str] = []
        self.values = {t: [f"%a_{t}", f"%b_{t}"] for t in (*INTEGERS, *FLOATS)}
        self.read: set[str] = set()

    def text(self) -> str:
        random = self.random
        types = [*random.sample(list(INTEGERS), 2), random.choice(list(FLOATS))]
        for _ in range(random.randint(3, 9)):
            self.operation(random.choice(types), types)
        args = ", ".join(f"{v}: {self.type(t)}" for t in self.values for v in (f"%a_{t}", f"%b_{t}"))
        results = [(v, t) for t, vs in self.values.items() for v in vs if v[1] == "v" and v not in self.read][:8]
        names = ", ".join(v for v, _ in results)
        shown = ", ".join(self.type(t) for _, t in results)
        end = f"  return {names} : {shown}" if results else "  return"
        return f"func.func @f({args}) -> ({shown}) {{\n" + "\n".join([*self.lines, end]) + "\n}\n"

    def type(self, t: str) -> str:
        return f"vector<{self.lanes}x{t}>" if self.lanes else t

    def new(self, t: str, text: str) -> str:
        value = f"%v{len(self.lines)}"
        self.lines.append(f"  {value} = {text}")
        self.values[t].append(value)
        return value

    def constant(self, t: str) -> str:
        if t == "i1":
            number = self.random.choice(["true", "false"])
        elif t in FLOATS:
            number = self.random.choice(["0.0", "-0.0", "1.0", "-1.0", "2.5", "3.0", "1.0e4", _INFINITE[t], _NAN[t]])
        else:
            width = INTEGERS[t]
            ends = (width - 1, width, (1 << (width - 1)) - 1, -(1 << (width - 1)))
            number = str(self.random.choice([0, 0, 1, 1, -1, -2, 2, 3, 5, 7, *ends]))
        if self.lanes:
            return self.new(t, f"arith.constant dense<{number}> : {self.type(t)}")
        return self.new(t, f"arith.constant {number}{'' if t == 'i1' else f' : {t}'}")

    def operand(self, t: str) -> str:
        chance = self.random.random()
        if chance < 0.35:
            value = self.constant(t)
        else:
            value = self.random.choice(self.values[t][-4:] if chance < 0.85 else self.values[t])
        self.read.add(value)
        return value

    def operation(self, t: str, types: list[str]) -> None:
        random, chance = self.random, self.random.random()
        if chance < 0.5:
            kind = random.choice(INTEGER_BINARY if t in INTEGERS else FLOAT_BINARY)
            left = self.operand(t)
            right = left if random.random() < 0.15 else self.operand(t)
            self.new(t, f"arith.{kind} {left}, {right} : {self.type(t)}")
        elif chance < 0.55 and t in FLOATS:
            self.new(t, f"arith.negf {self.operand(t)} : {self.type(t)}")
        elif chance < 0.65:
            kind, tests = ("cmpi", INTEGER_TESTS) if t in INTEGERS else ("cmpf", FLOAT_TESTS)
            operands = f"{self.operand(t)}, {self.operand(t)}"
            self.new("i1", f"arith.{kind} {random.choice(tests)}, {operands} : {self.type(t)}")
        elif chance < 0.75:
            operands = f"{self.operand('i1')}, {self.operand(t)}, {self.operand(t)}"
            condition = f"{self.type('i1')}, " if self.lanes else ""
            self.new(t, f"arith.select {operands} : {condition}{self.type(t)}")
        else:
            target = random.choice([*INTEGERS, *FLOATS]) if random.random() < 0.5 else random.choice(types)
            self.cast(t, target)

    def cast(self, source: str, target: str) -> None:
        kinds = self.casts(source, target)
        if kinds:
            kind = self.random.choice(kinds)
            self.new(target, f"arith.{kind} {self.operand(source)} : {self.type(source)} to {self.type(target)}")

    def casts(self, source: str, target: str) -> list[str]:
        if source == target:
            return []
        if "index" in (source, target):
            return ["index_cast", "index_castui"] if source in INTEGERS and target in INTEGERS else []
        widths = INTEGERS | FLOATS
        same = ["bitcast"] if widths[source] == widths[target] else []
        wider = widths[target] > widths[source]
        match source in INTEGERS, target in INTEGERS:
            case True, True:
                return ["extsi", "extui"] if wider else ["trunci"]
            case True, False:
                return ["sitofp", "uitofp", *same]
            case False, True:
                return ["fptosi", "fptoui", *same]
            case _:
                return ["extf"] if wider else ["truncf"]


def assert_same_at_the_ends(
    before: func.Module, after: func.Module, *, runs: int = 6, seed: int = 0, but: Collection[str] = ()
) -> int:
    """Run each function with a body before and after on numbers at which arithmetic goes wrong; how many runs counted.

    A run of the program before that breaks a rule, as with an index out of bounds, says nothing. Vectors come from
    buffers and go to buffers, since the interpreter takes and gives none. Functions of the names in `but` do not run:
    those numbers would break what they promise.
    """
    verify(after)
    random, counted = Random(seed), 0
    are_small = any(isinstance(op, scf.While) for op in walk(before))  # such loops may count up to any number
    first, second = _on_buffers(before), _on_buffers(after)
    for old in first.functions:
        if old.symbol in but or old.external or any(f.external for f in first.functions):
            continue
        (new,) = [f for f in second.functions if f.symbol == old.symbol]
        if any(isinstance(a.type, VectorType) for a in old.args):
            continue
        inputs = ([_argument(a.type, random, are_small=are_small) for a in old.args] for _ in range(runs))
        made = takewhile(lambda given: all(g is not None for g in given), inputs)
        counted += meaningful_runs(((old, first), (new, second)), made, same_but_nan, uninitialised="poison")
    return counted


def _on_buffers(module: func.Module) -> func.Module:
    """The module, and for each function @f with vectors a function @f_on_buffers."""
    callers = [_caller(f) for f in module.functions if not f.external and _has_vectors(f)]
    if not callers:
        return module
    return parse("\n".join([*(print_op(op) for op in module.body), *callers]))


def _has_vectors(function: func.Func) -> bool:
    return any(isinstance(t, VectorType) for t in (*function.type.inputs, *function.type.results))


def _caller(function: func.Func) -> str:
    inputs, results = function.type.inputs, function.type.results
    args = [f"%a{k}: {_buffer(t)}" for k, t in enumerate(inputs)]
    args += [f"%r{k}: memref<{'x'.join(map(str, t.shape))}x{t.element}>" for k, t in _vectors(results)]
    zeros = {k: ", ".join(["%c0"] * t.rank) for k, t in (*_vectors(inputs),)}
    lines = ["  %c0 = arith.constant 0 : index"]
    lines += [f"  %v{k} = vector.load %a{k}[{zeros[k]}] : {_buffer(t)}, {t}" for k, t in _vectors(inputs)]
    given = ", ".join(f"%v{k}" if isinstance(t, VectorType) else f"%a{k}" for k, t in enumerate(inputs))
    names = ", ".join(f"%o{k}" for k in range(len(results)))
    call = f"func.call @{function.symbol}({given}) : {function.type}"
    lines.append(f"  {names} = {call}" if names else f"  {call}")
    for k, t in _vectors(results):
        lines.append(f"  vector.store %o{k}, %r{k}[{', '.join(['%c0'] * t.rank)}] : {_buffer(t)}, {t}")
    scalars = [(k, t) for k, t in enumerate(results) if not isinstance(t, VectorType)]
    shown = ", ".join(str(t) for _, t in scalars)
    handed = ", ".join(f"%o{k}" for k, _ in scalars)
    lines.append(f"  return {handed} : {shown}" if scalars else "  return")
    head = f"func.func @{function.symbol}_on_buffers({', '.join(args)}) -> ({shown})"
    return f"{head} {{\n" + "\n".join(lines) + "\n}"


def _vectors(types: tuple[Type, ...]) -> list[tuple[int, VectorType]]:
    return [(k, t) for k, t in enumerate(types) if isinstance(t, VectorType)]


def _buffer(type: Type) -> str:
    if isinstance(type, VectorType):
        return f"memref<{'x'.join(map(str, type.shape))}x{type.element}>"
    return str(type)


def _argument(type: Type, random: Random, *, are_small: bool) -> object:
    """A number or an array for an argument; None where none is made."""
    match type:
        case IndexType():
            return random.choice((0, 1, 2, 3, 4, 7, 8, 9, 16))
        case IntegerType() | FloatType():
            return random.randint(0, 1) if are_small else _number(type, random)
        case MemRefType(shape=shape, element=element, layout=None) if isinstance(
            element, IndexType | IntegerType | FloatType
        ):
            open_sizes = (0, 1, 9, 400, 400) if len(shape) == 1 else (1, 9, 24, 24)
            sizes = tuple(random.choice(open_sizes) if n is None else n for n in shape)
            some = [_argument(element, random, are_small=are_small) for _ in range(16)]
            return np.array(random.choices(some, k=math.prod(sizes)), dtype(element)).reshape(sizes)
    return None


def _number(type: IntegerType | FloatType, random: Random) -> object:
    if isinstance(type, FloatType):
        special = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, 65504.0, 1e-7)
        return dtype(type).type(random.choice(special) if random.random() < 0.5 else random.randint(-99, 99) / 8)
    if type.width == 1:
        return random.randrange(2)
    low, high = -(1 << (type.width - 1)), (1 << (type.width - 1)) - 1
    return random.choice((low, low + 1, -7, -2, -1, 0, 1, 2, 3, 5, type.width, high - 1, high))
