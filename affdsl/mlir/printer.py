"""Operations as MLIR text that mlir-opt accepts, with the names that the user gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from affdsl.ir.core import Block, Op, set_printer
from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import I1, INDEX, MemRefType, Type
from affdsl.mlir.literals import constant_name, literal
from affdsl.mlir.names import Names, bare_names, function_symbol
from affdsl.mlir.positions import Positional, map_of, set_of, symbolic_values


def print_op(op: Op) -> str:
    """op and everything inside as MLIR text.

    A module is printed as mlir-opt prints it, maps and sets as aliases (`#map`) at the top. In a function or a
    single operation they stand where they are used, which is what a person wants to read. A function is a whole
    program for mlir-opt; a single operation is not: values that nothing in it defines are called by their hints,
    and taken for symbols.

    >>> i, A = Value(INDEX, "i"), Value(MemRefType((None,), INDEX), "A")
    >>> print_op(affine.Store(i, A, (Affine.of(i) * 2 + 1,)))
    'affine.store %i, %A[%i * 2 + 1] : memref<?xindex>'
    """
    return _Printer(aliases=isinstance(op, func.Module)).print(op)


class _Printer:
    """One run of print_op."""

    def __init__(self, *, aliases: bool) -> None:
        self._lines: list[str] = []
        self._depth = 0
        self._names = Names()
        self._dims: set[Value] = set()  # induction variables and what is computed from them
        self._in_function = -1  # the depth at which `func.` is understood
        self._aliases: dict[str, str] | None = {} if aliases else None  # by what they stand for
        self._counts = {"#map": 0, "#set": 0}
        self._types: dict[Type, str] = {}

    def print(self, root: Op) -> str:
        # Open operations and open blocks by turns: nests may be deeper than Python's stack.
        stack: list[Iterator[Op | Block]] = [iter((root,))]
        while stack:
            match next(stack[-1], None):
                case None:
                    stack.pop()
                case Op() as op:
                    if (blocks := self._op(op)) is not None:
                        stack.append(blocks)
                case block:
                    stack.append(self._block(block))
        aliases = self._aliases or {}
        return "\n".join([f"{alias} = {text}" for text, alias in aliases.items()] + self._lines)

    def _block(self, block: Block) -> Iterator[Op]:
        self._depth += 1
        yield from block
        self._depth -= 1

    def _line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def _op(self, op: Op) -> Iterator[Block] | None:
        """Print an operation at once, or as the blocks that it yields get printed."""
        match op:
            case affine.For():
                return self._affine_for(op)
            case affine.If():
                condition = self._filled(set_of(op.condition, self._dims), "#set")
                return self._if("affine.if", condition, op)
            case affine.Parallel():
                return self._parallel(op)
            case scf.For():
                return self._scf_for(op)
            case scf.If():
                return self._if("scf.if", self._names(op.condition), op)
            case func.Func():
                return self._func(op)
            case func.Module():
                return self._module(op)
            case func.Return() | affine.Yield() | scf.Yield():
                self._terminator(op)
            case arith.Constant():
                suffix = "" if op.result.type == I1 else f" : {self._type(op.result)}"
                text = f"arith.constant {literal(op.value, op.result.type)}{suffix}"
                name = self._names.define(op.result, lambda: constant_name(op.value, op.result.type))
                self._line(f"{name} = {text}")
            case _:
                text = self._text(op)
                self._line(self._results(tuple(op.defines())) + text)
        return None

    def _text(self, op: Op) -> str:
        """An operation without blocks, less its results."""
        name, type = self._names, self._type
        match op:
            case affine.Apply():
                self._dims.update((op.result,) if any(v in self._dims for v in op.expr.values()) else ())
                return f"affine.apply {self._map((op.expr,))}"
            case affine.Min() | affine.Max():
                return f"{op.name} {self._map(op.exprs)}"
            case affine.Load():
                return f"affine.load {name(op.memref)}[{self._subscripts(op.index)}] : {type(op.memref)}"
            case affine.Store():
                target = f"{name(op.memref)}[{self._subscripts(op.index)}]"
                return f"affine.store {name(op.value)}, {target} : {type(op.memref)}"
            case arith.Binary():
                return f"arith.{op.kind} {name(op.left)}, {name(op.right)} : {type(op.left)}"
            case arith.Extended():
                return self._extended(op)
            case arith.Compare():
                return f"arith.{op.kind} {op.predicate}, {name(op.left)}, {name(op.right)} : {type(op.left)}"
            case arith.Cast():
                return f"arith.{op.kind} {name(op.operand)} : {type(op.operand)} to {type(op.result)}"
            case arith.Negate():
                return f"arith.negf {name(op.operand)} : {type(op.operand)}"
            case arith.Select():
                return f"arith.select {self._list((op.condition, op.if_true, op.if_false))} : {type(op.result)}"
            case math.Unary():
                return f"math.{op.kind} {name(op.operand)} : {type(op.operand)}"
            case math.Binary():
                power = f", {type(op.right)}" if op.kind == "fpowi" else ""
                return f"math.{op.kind} {name(op.left)}, {name(op.right)} : {type(op.left)}{power}"
            case math.Fma():
                return f"math.fma {self._list((op.a, op.b, op.c))} : {type(op.a)}"
            case func.Call():
                return self._call(op)
            case memref.Alloc() | memref.Alloca():
                alignment = "" if op.alignment is None else f" {{alignment = {op.alignment} : i64}}"
                return f"{op.name}({self._list(op.sizes)}){alignment} : {type(op.result)}"
            case memref.Dealloc():
                return f"memref.dealloc {name(op.memref)} : {type(op.memref)}"
            case memref.Dim():
                return f"memref.dim {name(op.memref)}, {name(op.index)} : {type(op.memref)}"
            case memref.Load():
                return f"memref.load {name(op.memref)}[{self._list(op.indices)}] : {type(op.memref)}"
            case memref.Store():
                return f"memref.store {name(op.value)}, {name(op.memref)}[{self._list(op.indices)}] : {type(op.memref)}"
            case memref.Copy():
                return f"memref.copy {self._list((op.source, op.target))} : {type(op.source)} to {type(op.target)}"
            case memref.Cast():
                return f"memref.cast {name(op.source)} : {type(op.source)} to {type(op.result)}"
            case _:
                raise TypeError(f"no MLIR text is known for the operation {op.__class__.__name__} ({op.name})")

    def _extended(self, op: arith.Extended) -> str:
        carry = f", {self._type(op.high)}" if op.kind == "addui_extended" else ""
        return f"arith.{op.kind} {self._list((op.left, op.right))} : {self._type(op.low)}{carry}"

    def _call(self, op: func.Call) -> str:
        prefix = "" if self._depth == self._in_function else "func."
        inputs, results = ", ".join(map(self._type, op.args)), self._result_types(op.results)
        return f"{prefix}call {function_symbol(op.callee)}({self._list(op.args)}) : ({inputs}) -> {results or '()'}"

    def _terminator(self, op: func.Return | affine.Yield | scf.Yield) -> None:
        if op.values or isinstance(op, func.Return):
            name = "return" if isinstance(op, func.Return) else op.name
            types = ", ".join(map(self._type, op.values))
            self._line(f"{name} {self._list(op.values)} : {types}" if op.values else name)

    def _affine_for(self, op: affine.For) -> Iterator[Block]:
        lower, upper = self._bound(op.lower, "max"), self._bound(op.upper, "min")
        step = f" step {op.step}" if op.step != 1 else ""
        inits, results = [self._names(v) for v in op.inits], self._results(op.results)
        with self._names.scope():
            self._dims.add(op.iv)
            iv = self._names.define_argument(op.iv)
            carried = self._carried(op, inits)
            self._line(f"{results}affine.for {iv} = {lower} to {upper}{step}{carried} {{")
            yield op.body
        self._line("}")

    def _scf_for(self, op: scf.For) -> Iterator[Block]:
        lower, upper, step = self._names(op.lower), self._names(op.upper), self._names(op.step)
        inits, results = [self._names(v) for v in op.inits], self._results(op.results)
        type = "" if op.iv.type == INDEX else f" : {self._type(op.iv)}"
        with self._names.scope():
            iv = self._names.define_argument(op.iv)
            carried = self._carried(op, inits)
            self._line(f"{results}scf.for {iv} = {lower} to {upper} step {step}{carried}{type} {{")
            yield op.body
        self._line("}")

    def _carried(self, op: affine.For | scf.For, inits: Sequence[str]) -> str:
        if not op.carried:
            return ""
        pairs = [f"{self._names.define_argument(v)} = {i}" for v, i in zip(op.carried, inits, strict=True)]
        types = ", ".join(map(self._type, op.carried))
        return f" iter_args({', '.join(pairs)}) -> ({types})"

    def _if(self, name: str, condition: str, op: affine.If | scf.If) -> Iterator[Block]:
        types = self._result_types(op.results)
        if types and isinstance(op, scf.If) and len(op.results) == 1:
            types = f"({types})"
        self._line(f"{self._results(op.results)}{name} {condition}{f' -> {types}' if types else ''} {{")
        with self._names.scope():
            yield op.then
        if op.orelse or op.results:
            self._line("} else {")
            with self._names.scope():
                yield op.orelse
        self._line("}")

    def _parallel(self, op: affine.Parallel) -> Iterator[Block]:
        name = self._subscript_names([expr for group in (*op.lower, *op.upper) for expr in group])
        lower = ", ".join([_group(group, "max", name) for group in op.lower])
        upper = ", ".join([_group(group, "min", name) for group in op.upper])
        step = "" if all(s == 1 for s in op.steps) else f" step ({', '.join(map(str, op.steps))})"
        kinds = ", ".join([f'"{kind}"' for kind in op.reductions])
        types = ", ".join(map(self._type, op.results))
        reduce = f" reduce ({kinds}) -> ({types})" if op.reductions else ""
        results = self._results(op.results)
        with self._names.scope():
            self._dims.update(op.ivs)
            ivs = ", ".join(map(self._names.define_argument, op.ivs))
            self._line(f"{results}affine.parallel ({ivs}) = ({lower}) to ({upper}){step}{reduce} {{")
            yield op.body
        self._line("}")

    def _module(self, op: func.Module) -> Iterator[Block]:
        self._line("module {")
        yield op.body
        self._line("}")

    def _func(self, op: func.Func) -> Iterator[Block]:
        self._names = Names()
        self._in_function = self._depth + 1
        private = "private " if op.private else ""
        attributes = f" attributes {{affdsl.assume = {self._assumed(op)}}}" if op.assumes else ""
        declared = f"{private}{function_symbol(op.symbol)}"
        if op.result_types and not op.body:  # nothing returns the results: the body is elsewhere
            self._line(f"func.func {declared}({self._arguments(op, named=False)}){self._returned(op)}{attributes}")
            return
        self._line(f"func.func {declared}({self._arguments(op, named=True)}){self._returned(op)}{attributes} {{")
        returns = bool(op.body) and op.body[-1].is_terminator
        yield op.body if returns else (*op.body, func.Return(()))
        self._line("}")

    def _arguments(self, op: func.Func, *, named: bool) -> str:
        names = [self._names.define_argument(v) for v in op.args]
        shown = []
        for position, (v, name) in enumerate(zip(op.args, names, strict=True)):
            text = f"{name}: {self._type(v)}" if named else self._type(v)
            attributes = [self._shape(op, position)] if _promises(op, position) else []
            attributes += ["affdsl.unsigned"] if position in op.unsigned else []
            shown.append(f"{text} {{{', '.join(attributes)}}}" if attributes else text)
        return ", ".join(shown)

    def _returned(self, op: func.Func) -> str:
        shown = [
            f"{self._spelled(type)} {{affdsl.unsigned}}" if position in op.unsigned_results else self._spelled(type)
            for position, type in enumerate(op.result_types)
        ]
        if not shown:
            return ""
        return f" -> {shown[0]}" if len(shown) == 1 and not op.unsigned_results else f" -> ({', '.join(shown)})"

    def _shape(self, op: func.Func, position: int) -> str:
        heading, names = self._contract(op)
        sizes = ", ".join([spell(size, names.__getitem__) for size in op.shapes[position] or ()])
        return f"affdsl.shape = affine_map<{heading} -> ({sizes})>"

    def _assumed(self, op: func.Func) -> str:
        heading, names = self._contract(op)
        return f"affine_set<{heading} : ({', '.join([spell_constraint(c, names.__getitem__) for c in op.assumes])})>"

    def _contract(self, op: func.Func) -> tuple[str, dict[Value, str]]:
        """The index arguments, all of them, as the symbols of a map or set."""
        sizes = [v for v in op.args if v.type == INDEX]
        names = bare_names(self._names.define_argument(v) for v in sizes)
        heading = f"()[{', '.join(names)}]" if names else "()"
        return heading, dict(zip(sizes, names, strict=True))

    def _bound(self, exprs: Sequence[Affine], prefix: str) -> str:
        if len(exprs) == 1:
            if exprs[0].is_constant:
                return str(exprs[0].constant)
            if (v := exprs[0].value) is not None and v not in self._dims:
                return self._names(v)
            return self._map(exprs)
        return f"{prefix} {self._map(exprs)}"

    def _map(self, exprs: Sequence[Affine]) -> str:
        return self._filled(map_of(exprs, self._dims), "#map")

    def _filled(self, positional: Positional, prefix: str) -> str:
        text = positional.text
        if self._aliases is not None:
            if text not in self._aliases:
                self._aliases[text] = f"{prefix}{self._counts[prefix] or ''}"
                self._counts[prefix] += 1
            text = self._aliases[text]
        symbols = f"[{self._list(positional.symbols)}]" if positional.symbols else ""
        return f"{text}({self._list(positional.dims)}){symbols}"

    def _subscripts(self, exprs: Sequence[Affine]) -> str:
        name = self._subscript_names(exprs)
        return ", ".join([spell(expr, name) for expr in exprs])

    def _subscript_names(self, exprs: Sequence[Affine]) -> Callable[[Value], str]:
        """What values are called in expressions over SSA names.

        Any value may stand plainly as a dimension. One that is a divisor or a factor must be marked as a symbol, and
        then everywhere in the list: mlir-opt decides at the first place where it meets a value.
        """
        marked = symbolic_values(exprs, self._dims) - self._dims
        return (lambda v: f"symbol({self._names(v)})" if v in marked else self._names(v)) if marked else self._names

    def _results(self, values: Sequence[Value]) -> str:
        return f"{', '.join([self._names.define(v) for v in values])} = " if values else ""

    def _list(self, values: Sequence[Value]) -> str:
        return ", ".join([self._names(v) for v in values])

    def _result_types(self, values: Sequence[Value]) -> str:
        types = [self._type(v) for v in values]
        return types[0] if len(types) == 1 else f"({', '.join(types)})" if types else ""

    def _type(self, value: Value) -> str:
        return self._spelled(value.type)

    def _spelled(self, type: Type) -> str:
        text = self._types.get(type)
        if text is None:
            text = self._types[type] = str(type)
        return text


def _group(exprs: Sequence[Affine], prefix: str, name: Callable[[Value], str]) -> str:
    shown = ", ".join([spell(expr, name) for expr in exprs])
    return shown if len(exprs) == 1 else f"{prefix}({shown})"


def _promises(op: func.Func, position: int) -> bool:
    """Whether the contract has sizes for an argument that its type does not already tell."""
    sizes = op.shapes[position] if op.shapes else None
    type = op.args[position].type
    if sizes is None:
        return False
    known = type.shape if isinstance(type, MemRefType) else ()
    return None in known or tuple(s.constant if s.is_constant else None for s in sizes) != known


set_printer(print_op)
