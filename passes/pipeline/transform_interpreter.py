"""Scripts of the transform dialect: those of their operations that match, run passes, and simplify minima."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.mlir.scanner import Scanner
from affdsl.passes.cleanup.affine_simplify_min_max import simplify_extremes
from affdsl.passes.pipeline.language import pass_step
from affdsl.passes.pipeline.manager import Pipeline
from affdsl.passes.simplify.context import Definition
from affdsl.passes.simplify.ranges import between

MAIN = "__transform_main"


def transform_interpreter(module: Module, *, entry_point: str = MAIN) -> Module:
    """The program after the script that stands in it: a transform.named_sequence with the name of `entry_point`.

    Known are transform.structured.match by names of operations with results, or of all functions,
    transform.apply_registered_pass on all functions, transform.affine.simplify_min_max_affine_ops and
    simplify_bounded_affine_ops, and transform.yield. Bounds are at least and below; as in mlir-opt, the script is
    believed. Any other operation is refused at its line. The script stays.

    Raises
    ------
    AffdslError
        If there is no such script, or it says what is not known, or what is wrong.
    """
    found = [op for op in walk(module) if isinstance(op, Opaque) and op.kind == "transform.named_sequence" and op.text]
    text = {name: op for op in found if (name := str(op.text[0]).partition("@")[2].partition("(")[0])}
    script = text.get(entry_point)
    if script is None:
        raise AffdslError(f"there is no transform.named_sequence @{entry_point} to run")
    return _Run(module, script).result()


_FUNCTIONS: Literal["functions"] = "functions"
_Payload: TypeAlias = "tuple[Value, ...] | Literal['functions'] | None"
"""What a handle stands for: what operations define, all functions, or all of the program."""
Read: TypeAlias = "Callable[[_Run, Sequence[str]], None]"
"""Reads an operation behind its name, and does what it says; it is given the names of its results."""


class _Run:
    """A script as it runs: the program, and the values of its operations that each handle stands for."""

    def __init__(self, module: Module, script: Opaque) -> None:
        at = script.location
        text = "".join(map(str, script.text))
        before = "" if at is None else "\n" * (at.line - 1) + " " * (at.column - 1)
        self.scanner = Scanner(before + text, "" if at is None else at.file)
        self.module = module
        self.handles: dict[str, _Payload] = {}

    def result(self) -> Module:
        """The program after the script."""
        s = self.scanner
        while s.token != "(":
            s.advance()
        s.advance()
        self.handles[self._name()] = None
        while s.token != "{" or s.peek() in ("transform.readonly", "transform.consumed"):
            _ = s.balanced() if s.token in "({<" else s.advance()
        s.expect("{")
        while s.token != "}":
            self._operation()
        return self.module

    def _operation(self) -> None:
        s = self.scanner
        results: tuple[str, ...] = ()
        if s.token.startswith("%"):
            results = self._names()
            s.expect("=")
        name, place = s.token, s.start
        read = _OPERATIONS.get(name)
        if read is None:
            s.fail(f"{name} is not known: a script may have {', '.join(_OPERATIONS)}", place)
        s.advance()
        read(self, results)

    def match(self, results: Sequence[str]) -> None:
        """`ops{["affine.min", ...]} in %root : (type) -> type`"""
        s, place = self.scanner, self.scanner.start
        s.expect("ops")
        for sign in "{[":
            s.expect(sign)
        wanted = [s.string()]
        while s.accept(","):
            wanted.append(s.string())
        for sign in "]}":
            s.expect(sign)
        s.expect("in")
        inside = self._handle()
        self._types()
        if wanted == ["func.func"] and inside is None:
            self.handles.update(dict.fromkeys(results, _FUNCTIONS))
            return
        found = [op for op in walk(self.module) if _kind(op) in wanted]
        if isinstance(inside, tuple):
            roots = {op for op in walk(self.module) if set(op.defines()) & set(inside)}
            found = [op for root in roots for op in walk(root) if op is not root and op in found]
        without = next((op for op in found if not tuple(op.defines())), None)
        if without is not None:
            what = "only operations with results, or all functions, are matched here"
            s.fail(f"{what}; {_kind(without)} has none", place)
        self.handles.update({name: tuple([v for op in found for v in op.defines()]) for name in results})

    def apply_pass(self, results: Sequence[str]) -> None:
        """`"canonicalize" with options = {"top-down" = false} to %functions : (type) -> type`"""
        s, place = self.scanner, self.scanner.start
        name, options = s.string(), ""
        if s.accept("with"):
            s.expect("options")
            s.expect("=")
            options = self._options()
        s.expect("to")
        if self._handle() != _FUNCTIONS:
            s.fail('passes run on all functions: give it what `match ops{["func.func"]}` gives', place)
        self._types()
        step = pass_step(name, options)
        self.handles = {handle: what for handle, what in self.handles.items() if not isinstance(what, tuple)}
        made = Pipeline("builtin.module", (Pipeline("func.func", (step,)),)).run(self.module)
        assert isinstance(made, Module), "a pipeline makes a module of a module"
        self.module = made
        self.handles.update(dict.fromkeys(results, _FUNCTIONS))

    def _options(self) -> str:
        """`{"top-down" = false, limit = 3}` as the text that pipelines have"""
        s = self.scanner
        s.expect("{")
        words: list[str] = []
        while s.token != "}":
            key = s.string() if s.is_string else s.word()
            s.expect("=")
            words.append(f"{key}={s.string() if s.is_string else s.advance()}")
            if s.accept(":"):
                self._type()
            s.accept(",")
        s.expect("}")
        return " ".join(words)

    def simplify(self, results: Sequence[str]) -> None:
        """`%targets : type`"""
        targets = self._handle()
        self._types()
        self._simplified(targets, {})

    def simplify_bounded(self, results: Sequence[str]) -> None:
        """`%targets with [%a, %b : type, type] within [0, 0] and [8, 8] : type`"""
        s, place = self.scanner, self.scanner.start
        targets = self._handle()
        s.expect("with")
        s.expect("[")
        groups = [] if s.token == "]" else [self._handle()]
        while s.accept(","):
            groups.append(self._handle())
        if groups:
            self._types()
            while s.accept(","):
                self._type()
        s.expect("]")
        s.expect("within")
        lower = self._numbers()
        s.expect("and")
        upper = self._numbers()
        self._types()
        for ends, which in ((lower, "lower"), (upper, "upper")):
            if len(ends) != len(groups):
                s.fail(f"incorrect number of {which} bounds, expected {len(groups)} but found {len(ends)}", place)
        known: dict[Value, Definition] = {}
        for group, low, end in zip(groups, lower, upper, strict=True):
            for value in group if isinstance(group, tuple) else ():
                facts = (Constraint(value - low), Constraint(end - 1 - Affine.of(value)))
                known[value] = Definition(facts, between(low, end - 1))
        self._simplified(targets, known)

    def end(self, results: Sequence[str]) -> None:
        """`transform.yield`, with nothing or with handles"""
        while self.scanner.token not in ("}", ""):
            self.scanner.advance()

    def _simplified(self, targets: _Payload, known: Mapping[Value, Definition]) -> None:
        chosen = frozenset(targets) if isinstance(targets, tuple) else None
        self.module = simplify_extremes(self.module, chosen, known)

    def _handle(self) -> _Payload:
        place = self.scanner.start
        name = self._name()
        if name not in self.handles:
            self.scanner.fail(f"{name} stands for nothing here: match it, also again after a pass", place)
        return self.handles[name]

    def _name(self) -> str:
        if not self.scanner.token.startswith("%"):
            self.scanner.fail("expected a handle, like %0")
        return self.scanner.advance()

    def _names(self) -> tuple[str, ...]:
        names = [self._name()]
        while self.scanner.accept(","):
            names.append(self._name())
        return tuple(names)

    def _numbers(self) -> list[int]:
        s = self.scanner
        s.expect("[")
        found = [] if s.token == "]" else [s.integer()]
        while s.accept(","):
            found.append(s.integer())
        s.expect("]")
        return found

    def _types(self) -> None:
        """`: type` or `: (types) -> types`"""
        s = self.scanner
        s.expect(":")
        self._type()
        if s.accept("->"):
            self._type()

    def _type(self) -> None:
        s = self.scanner
        if s.token == "(":
            s.balanced()
            return
        s.advance()
        if s.token == "<":
            s.balanced()


def _kind(op: Op) -> str:
    return op.kind if isinstance(op, Opaque) else op_name(op)


_OPERATIONS: Mapping[str, Read] = {
    "transform.structured.match": _Run.match,
    "transform.apply_registered_pass": _Run.apply_pass,
    "transform.affine.simplify_bounded_affine_ops": _Run.simplify_bounded,
    "transform.affine.simplify_min_max_affine_ops": _Run.simplify,
    "transform.yield": _Run.end,
}
