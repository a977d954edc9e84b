"""The frame of a function's body: its lines, its scopes, and what each value is called or folded into."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from affdsl.errors import UnsupportedError
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf, ub, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from codegen.c import tables
from codegen.c.expressions import (
    AffineWriter,
    Code,
)
from codegen.c.fallible import may_fail
from codegen.c.layout import indent_of, wrapped
from codegen.c.names import Scope
from codegen.c.plan import Plan, contract, root_of, strides_of
from codegen.c.types import scalar, value_type
from codegen.c.unit import Unit

LONGEST = 240
"""A folded expression longer than this gets a name instead."""

PURE = (
    arith.Constant, arith.Binary, arith.Extended, arith.Negate, arith.Compare, arith.Cast, arith.Select, math.Unary,
    math.Binary, math.Fma, memref.Load, memref.Dim, memref.Cast, affine.Load, affine.Apply, affine.Min, affine.Max,
    memref.Rank, memref.SubView, memref.ReinterpretCast, memref.ExpandShape, memref.CollapseShape, memref.View,
    memref.Reshape, memref.ExtractStridedMetadata, memref.GetGlobal, affine.DelinearizeIndex, affine.LinearizeIndex,
    affine.VectorLoad, ub.Poison,
    vector.TransferRead, vector.Load, vector.MaskedLoad, vector.Gather, vector.ExpandLoad, vector.Fma, vector.Reduction,
    vector.MultiReduction, vector.Contract, vector.OuterProduct, vector.Broadcast, vector.Extract, vector.Insert,
    vector.ExtractStridedSlice, vector.InsertStridedSlice, vector.Shuffle, vector.Transpose, vector.ShapeCast,
    vector.BitCast, vector.FromElements, vector.ToElements, vector.Step, vector.CreateMask, vector.ConstantMask,
)  # fmt: skip


@dataclass(frozen=True)
class Buffer:
    """Where a memref lies: its pointer, its shape, and its strides where it is not row-major and contiguous."""

    name: str
    type: MemRefType
    shape: tuple[Affine | None, ...]
    root: object
    unsigned: bool = False
    strides: tuple[int | Affine, ...] | None = None
    offset: int = 0
    base: str = ""
    """The pointer to the whole buffer, where it is another one."""
    start: Affine | None = field(default_factory=Affine)
    """The number of the element that `name` points at in the whole buffer, where that is known."""
    constant: bool = False
    """Whether its elements are const."""
    whole: tuple[Affine | None, ...] | None = None
    """The shape of the whole buffer, where this is a part or another shape of it."""


@dataclass
class Heap:
    """A buffer from malloc that the block which made it must free."""

    name: str
    root: object


class Frame:
    """What the writers of statements build on. `lines` holds what is written so far."""

    def __init__(
        self,
        plan: Plan,
        plans: Mapping[str, Plan],
        unit: Unit,
        scope: Scope,
        parameters: Mapping[Value, str],
        outputs: Sequence[str],
        comments: Mapping[Op, str],
        failure: str = "",
    ) -> None:
        self.plan, self.plans, self.unit = plan, plans, unit
        self.lines: list[str] = []
        self.used: set[str] = set()
        self._comments = comments
        self.failure = failure
        self._scope = scope
        self._indent = 1
        self._outputs = outputs
        self._codes: dict[Value, Code] = {}
        self._affine: dict[Value, Affine] = {}
        self._splats: dict[Value, Code] = {}
        self._buffers: dict[Value, Buffer] = {}
        self._pending: dict[Value, Code] = {}
        self._heap: list[list[Heap]] = []
        self._declared: list[tuple[str, int]] = []
        self._ranges = contract(plan)
        self._marks: list[int] = []  # what was known before each open block
        self._write_affine = AffineWriter(self._value, self._ranges, unit.helper).expression
        self._write_constraint = AffineWriter(self._value, self._ranges, unit.helper).constraint
        self._parallel: int | None = None  # how many blocks are open around the body of the parallel band
        self._depth = 0
        self._skip: str | None = None  # the label at the end of that body
        self._status = ""  # the variable that says that an iteration of it failed
        self._labels = 0
        self._targets: list[tuple[str, ...]] = []
        self._combiners: list[tuple[str, ...] | None] = []
        self._whiles: list[tuple[scf.While, tuple[str, ...]]] = []  # the open ones, with the names of their results
        self._uses, self._local, self._dead = _uses(plan.func, plan.is_checked)
        hints = {v.hint for op in walk(plan.func) for v in (*op.defines(), *op.binds())}
        self._temporary = next((name for name in ("t", "v", "u") if name not in hints), "tmp")
        self._counter = next((name for name in "ijklmnpqrs" if name not in hints), "i")
        self._result_pointers = {r.value: name for r, name in zip(plan.results, outputs, strict=True) if r.is_array}
        self._bind_arguments(parameters)

    def _line(self, text: str) -> None:
        self.lines.append(f"{'    ' * self._indent}{text}" if text else "")

    def _open(self, text: str = "") -> None:
        self._line(f"{text} {{" if text else "{")
        self._enter()

    def _close(self, text: str = "}") -> None:
        assert self._scope._parent is not None
        self._scope = self._scope._parent
        self._indent -= 1
        self._ranges.forget(self._marks.pop())
        self._line(text)

    def _reopen(self, text: str) -> None:
        """Close a block, and open the one that follows it in the same line."""
        self._close(f"}} {text} {{")
        self._enter()

    def _enter(self) -> None:
        self._indent += 1
        self._scope = Scope(self._scope)
        self._marks.append(self._ranges.mark())

    def _directive(self, *lines: str) -> None:
        """Lines for compilers that know OpenMP: others would warn of them."""
        self.lines += ["#if defined(_OPENMP)", *lines, "#endif"]

    def _declare(self, hint: str, otherwise: str, type: str, value: Code, *, const: bool = True) -> str:
        name = self._scope.declare(hint, otherwise)
        self._declared.append((name, len(self.lines)))
        self._line(f"{'const ' if const else ''}{type} {name} = {value};")
        return name

    def finish(self) -> list[str]:
        """The lines, with what nobody reads marked as such: some operations do not read all of their operands."""
        marks = {at: name for name, at in self._declared if name not in self.used or not _is_read(name, self.lines, at)}
        lines: list[str] = []
        for at, line in enumerate(self.lines):
            lines += wrapped(line)
            if at in marks:
                what = marks[at] if " = " in line else f"&{marks[at]}"  # what has no value yet must not be read
                lines.append(f"{' ' * indent_of(line)}(void){what};")
        return lines

    # --- Values

    def _bind_arguments(self, parameters: Mapping[Value, str]) -> None:
        f = self.plan.func
        for position, arg in enumerate(f.args):
            name = parameters[arg]
            if isinstance(arg.type, MemRefType):
                shape = f.shapes[position] if f.shapes else None
                what = f"array {arg.hint!r} of {f.symbol!r}"
                strides, offset = strides_of(arg.type, what)
                known: tuple[Affine | None, ...] = tuple(None if s is None else Affine.of(s) for s in arg.type.shape)
                known = known if shape is None else shape
                root = root_of(self.plan, arg)
                self._buffers[arg] = Buffer(
                    name, arg.type, known, root, position in f.unsigned, strides, offset,
                    constant=position not in self.plan.written,
                )  # fmt: skip
                continue
            kind = scalar(arg.type)
            stored = Code(name)
            value = tables.load(kind, stored, self.unit, unsigned=position in f.unsigned)
            if value is stored or self._uses[arg] == 0:
                self._codes[arg] = stored
            else:
                self.used.add(name)
                self._codes[arg] = Code(self._declare(f"{arg.hint}_value", "value", value_type(kind), value))

    def _value(self, value: Value) -> Code:
        if value in self._pending:
            return self._pending.pop(value)
        if value in self._affine:
            return self._expression(self._affine[value])
        found = self._codes[value]
        self.used.add(found.text)
        return found

    def _expression(self, expr: Affine) -> Code:
        return self._write_affine(self._resolve(expr))

    def _resolve(self, expr: Affine) -> Affine:
        while any(v in self._affine for v in expr.values()):
            expr = expr.substitute(self._affine)
        return expr

    def _define(self, value: Value, shown: Code) -> None:
        """value is now known as shown: folded into its one use, or under a name."""
        if not value.hint and value in self._local and len(shown.text) <= LONGEST:
            self._pending[value] = shown
        else:
            self._name(value, shown)

    def _name(self, value: Value, shown: Code) -> None:
        name = self._declare(value.hint, self._temporary, value_type(value.type), shown)
        self._codes[value] = Code(name)

    def _name_readers(self, written: Iterable[object]) -> None:
        """Give names to the pending values that read what is about to be written."""
        changed = frozenset(written)
        for value, shown in list(self._pending.items()):
            if shown.buffers & changed:
                del self._pending[value]
                self._name(value, shown)

    def _stable(self, value: Value) -> Code:
        """value as an expression that may be written twice."""
        shown = self._value(value)
        if shown.text.isidentifier() and not shown.variables:
            return shown
        name = self._declare(value.hint, self._temporary, value_type(value.type), shown)
        self.used.add(name)
        return Code(name)  # for this one use: the name may end with the block, the value need not

    def _size(self, buffer: Buffer, position: int) -> Affine:
        size = buffer.shape[position]
        if size is None:
            raise UnsupportedError(
                f"array {buffer.name!r} of {self.plan.func.symbol!r} has a size that no index argument gives; "
                "say its shape in the function's contract"
            )
        return size

    def _block(self, block: Block) -> None:
        """Write the statements of a block, in braces that are open already."""
        raise NotImplementedError


def _uses(f: func.Func, is_checked: bool) -> tuple[Counter[Value], set[Value], set[Op]]:
    """How often each value is read; which are read once, in the block that defines them; which operations are idle."""
    ops = list(walk(f))
    home: dict[Op, object] = {}
    for op in ops:
        for block in op.blocks():
            home.update((inner, block) for inner in block)
    uses = Counter(v for op in ops for v in op.reads())
    dead: set[Op] = set()
    for op in reversed(ops):
        if isinstance(op, PURE) and not any(uses[v] for v in op.defines()) and not (is_checked and may_fail(op)):
            dead.add(op)
            uses.subtract(op.reads())
    born: dict[Value, object] = dict.fromkeys(f.args, f.body)
    for op in ops:
        born.update((v, home.get(op)) for v in op.defines())
        for block in op.blocks():
            born.update((v, block) for v in op.binds())
    local = {
        v for op in ops if op not in dead for v in op.reads() if uses[v] == 1 and born[v] is home.get(op)
    }  # fmt: skip
    return uses, local, dead


def _is_read(name: str, lines: Sequence[str], declared: int) -> bool:
    """Whether name is read, not only assigned, between its declaration and the end of its block."""
    assignment = re.compile(rf"\s*{name}(\[[^=]*\])? [-+*/&|^]?= ")
    word = re.compile(rf"\b{name}\b")
    indent = indent_of(lines[declared])
    for line in lines[declared + 1 :]:
        if line.startswith("#"):
            continue  # a directive is there for some compilers only
        if indent_of(line) < indent:
            return False
        assigned = assignment.match(line)
        if word.search(line, assigned.end() if assigned else 0):
            return True
    return False
