"""Random programs as MLIR text, in the custom form that mlir-opt reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.fuzz.affine import Expr
from tests.fuzz.program import (
    Apply,
    Binary,
    Buffer,
    Cast,
    Constant,
    Element,
    Extreme,
    For,
    If,
    Let,
    Load,
    Name,
    Outlined,
    Program,
    Statement,
    Store,
    Value,
)


def entry_name(program: Program) -> str:
    """The function that the caller calls: its name differs for each seed."""
    return f"k{program.seed}"


def mlir(program: Program) -> str:
    """The functions of the program: those that it calls, then its entry, `@k<seed>`.

    The entry takes the buffers that are not local, then the symbols, then the sizes that types leave open.
    """
    return _Text(program, entry_name(program)).text(program.arguments, program.body, is_entry=True)


def memref_type(buffer: Buffer, element: Element) -> str:
    """The type of a buffer."""
    sizes = ("?" if is_open else str(n) for n, is_open in zip(buffer.shape, buffer.dynamic, strict=True))
    return f"memref<{''.join(f'{n}x' for n in sizes)}{element}>"


class _Text:
    """The lines of one function while they are written."""

    def __init__(self, program: Program, symbol: str) -> None:
        self.program = program
        self.symbol = symbol
        self.element = program.element
        self.types = {b.name: memref_type(b, program.element) for b in program.buffers}
        self.others: list[str] = []
        self.constants: dict[int, str] = {}
        self.values: dict[str, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0

    def text(self, buffers: Sequence[Buffer], body: Iterable[Statement], *, is_entry: bool) -> str:
        """This function with those that it calls before it."""
        for statement in body:
            self.statement(statement)
        arguments = [f"%{b.name}: {self.types[b.name]}{self.contract(b)}" for b in buffers]
        arguments += [f"%{key}: index" for key, _ in self.program.sizes]
        local = [b.name for b in self.program.buffers if b.is_local] if is_entry else []
        before = [f"{key} = arith.constant {self.number(n)} : {self.element}" for n, key in self.constants.items()]
        before += [f"%{key} = memref.alloc() : {self.types[key]}" for key in local]
        after = [*(f"memref.dealloc %{key} : {self.types[key]}" for key in local), "return"]
        head = f"func.func {'' if is_entry else 'private '}@{self.symbol}({', '.join(arguments)}) {{"
        own = [head, *(f"  {line}" for line in before), *self.lines, *(f"  {line}" for line in after), "}"]
        return "\n".join([*self.others, *own])

    def contract(self, buffer: Buffer) -> str:
        """The attribute that says which arguments are the open sizes of a buffer."""
        if not any(buffer.dynamic):
            return ""
        names = [key for key, _ in self.program.sizes]
        sizes = [
            f"s{names.index(buffer.size_name(k))}" if is_open else str(n)
            for k, (n, is_open) in enumerate(zip(buffer.shape, buffer.dynamic, strict=True))
        ]
        symbols = ", ".join(f"s{k}" for k in range(len(names)))
        return f" {{affdsl.shape = affine_map<()[{symbols}] -> ({', '.join(sizes)})>}}"

    def add(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def fresh(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def define(self, text: str) -> str:
        """A new value, computed by an operation."""
        key = self.fresh()
        self.add(f"{key} = {text}")
        return key

    def number(self, n: int) -> str:
        return f"{n}.0" if self.element == "f64" else str(n)

    # Statements

    def block(self, body: Iterable[Statement]) -> None:
        self.depth += 1
        for statement in body:
            self.statement(statement)
        self.depth -= 1

    def statement(self, statement: Statement) -> None:
        match statement:
            case For():
                self.loop(statement)
            case If(conditions, then, orelse):
                inputs, outputs, spelled = self.operands([c.expr for c in conditions])
                tests = [f"{e} {'==' if c.is_equality else '>='} 0" for e, c in zip(spelled, conditions, strict=True)]
                self.add(f"affine.if affine_set<{inputs} : ({', '.join(tests)})>{outputs} {{")
                self.block(then)
                if orelse:
                    self.add("} else {")
                    self.block(orelse)
                self.add("}")
            case Let(name, value):
                self.values[name] = self.value(value)
            case Apply(name, expr):
                self.add(f"%{name} = affine.apply {self.map([expr])}")
            case Store(buffer, index, value, is_affine):
                stored = self.value(value)
                dialect, indices = self.access(index, is_affine=is_affine)
                self.add(f"{dialect}.store {stored}, %{buffer}[{indices}] : {self.types[buffer]}")
            case Outlined(name, body):
                self.outlined(name, body)

    def loop(self, loop: For) -> None:
        if loop.is_parallel:
            self.parallel(loop)
            return
        inits = [self.value(c.init) for c in loop.carried]
        results, carried = "", ""
        if inits:
            results = f"%{loop.carried[0].result} = " if len(inits) == 1 else f"%R_{loop.iv}:{len(inits)} = "
            pairs = (f"%{c.name} = {init}" for c, init in zip(loop.carried, inits, strict=True))
            carried = f" iter_args({', '.join(pairs)}) -> ({', '.join([self.element] * len(inits))})"
        step = f" step {loop.step}" if loop.step != 1 else ""
        bounds = f"{self.bound('max', loop.lower)} to {self.bound('min', loop.upper)}"
        self.add(f"{results}affine.for %{loop.iv} = {bounds}{step}{carried} {{")
        self.block(loop.body)
        if inits:
            self.depth += 1
            updates = [self.value(c.update) for c in loop.carried]
            self.add(f"affine.yield {', '.join(updates)} : {', '.join([self.element] * len(updates))}")
            self.depth -= 1
        self.add("}")
        if len(inits) > 1:
            for k, c in enumerate(loop.carried):
                self.values[c.result] = f"%R_{loop.iv}#{k}"

    def parallel(self, loop: For) -> None:
        lower, upper = (
            f"{prefix}({', '.join(map(self.inline, exprs))})" if len(exprs) > 1 else self.inline(exprs[0])
            for prefix, exprs in (("max", loop.lower), ("min", loop.upper))
        )
        step = f" step ({loop.step})" if loop.step != 1 else ""
        self.add(f"affine.parallel (%{loop.iv}) = ({lower}) to ({upper}){step} {{")
        self.block(loop.body)
        self.add("}")

    def outlined(self, name: str, body: tuple[Statement, ...]) -> None:
        symbol = f"{self.symbol}_{name}"
        made = _Text(self.program, symbol)
        self.others.append(made.text(self.program.buffers, body, is_entry=False))
        sizes = [key for key, _ in self.program.sizes]
        names = [*(b.name for b in self.program.buffers), *sizes]
        types = [*(self.types[b.name] for b in self.program.buffers), *("index" for _ in sizes)]
        self.add(f"func.call @{symbol}({', '.join(f'%{n}' for n in names)}) : ({', '.join(types)}) -> ()")

    # Values

    def value(self, value: Value) -> str:
        match value:
            case Constant(n):
                return self.constants.setdefault(n, f"%c{'m' if n < 0 else ''}{abs(n)}")
            case Name(name):
                return self.values.get(name, f"%{name}")
            case Cast(Expr(constant=0, terms=((name, 1),), divisions=())):
                return self.cast(f"%{name}")
            case Cast(index):
                return self.cast(self.define(f"affine.apply {self.map([index])}"))
            case Extreme(kind, exprs):
                return self.cast(self.define(f"affine.{kind} {self.map(exprs)}"))
            case Load(buffer, index, is_affine):
                dialect, indices = self.access(index, is_affine=is_affine)
                return self.define(f"{dialect}.load %{buffer}[{indices}] : {self.types[buffer]}")
            case Binary(kind, left, right):
                operands = f"{self.value(left)}, {self.value(right)}"
                return self.define(f"arith.{kind} {operands} : {self.element}")

    def cast(self, index: str) -> str:
        if self.element == "f64":
            wide = self.define(f"arith.index_cast {index} : index to i64")
            return self.define(f"arith.sitofp {wide} : i64 to f64")
        return self.define(f"arith.index_cast {index} : index to {self.element}")

    # Affine expressions

    def access(self, index: tuple[Expr, ...], *, is_affine: bool) -> tuple[str, str]:
        """The dialect of an access, and its indices."""
        if is_affine:
            return "affine", ", ".join(map(self.inline, index))
        return "memref", ", ".join([self.define(f"affine.apply {self.map([e])}") for e in index])

    def inline(self, expr: Expr) -> str:
        """An expression over values, without a map."""
        return expr.mlir(self.subscript)

    def subscript(self, name: str) -> str:
        return f"symbol(%{name})" if name in self.program.symbols else f"%{name}"

    def bound(self, prefix: str, exprs: tuple[Expr, ...]) -> str:
        if len(exprs) == 1:
            return str(exprs[0].constant) if exprs[0].is_constant else self.map(exprs)
        return f"{prefix} {self.map(exprs)}"

    def map(self, exprs: Sequence[Expr]) -> str:
        """A map with its operands."""
        inputs, operands, spelled = self.operands(exprs)
        return f"affine_map<{inputs} -> ({', '.join(spelled)})>{operands}"

    def operands(self, exprs: Sequence[Expr]) -> tuple[str, str, list[str]]:
        """The parameters of a map or set, its operands, and the expressions over the parameters."""
        names = sorted({name for e in exprs for name in e.names()})
        dims = [n for n in names if n not in self.program.symbols]
        symbols = [n for n in names if n in self.program.symbols]
        spelled = {n: f"d{k}" for k, n in enumerate(dims)} | {n: f"s{k}" for k, n in enumerate(symbols)}
        inputs, operands = (
            f"({', '.join(show(n) for n in dims)})" + (f"[{', '.join(show(n) for n in symbols)}]" if symbols else "")
            for show in (spelled.__getitem__, "%{}".format)
        )
        return inputs, operands, [e.mlir(spelled.__getitem__) for e in exprs]
