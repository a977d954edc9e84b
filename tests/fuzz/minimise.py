"""Makes a random program that fails small: it tries one simplification after the other, and keeps those that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from tests.fuzz.affine import Expr, name
from tests.fuzz.program import (
    Apply,
    Binary,
    Carried,
    Cast,
    Condition,
    Constant,
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
    nodes,
    rebuilt,
)
from tests.fuzz.reference import UnusableError, evaluate, placed, races
from tests.harness.minimise import dropped, smallest


def minimise(program: Program, fails: Callable[[Program], bool], seconds: float = 60) -> Program:
    """A program that fails and none of whose simplifications does, or the best until the time is over."""
    return smallest(program, simpler, lambda each: is_valid(each) and fails(each), seconds=seconds)


def is_valid(program: Program) -> bool:
    """Whether names are defined where they are read, every run is in bounds and defined, and no parallel loop races."""
    try:
        _check_names(program.body, set(program.symbols))
        evaluate(program)
    except (UnusableError, KeyError):
        return False
    parallel = [node.iv for node in nodes(program.body) if isinstance(node, For) and node.is_parallel]
    is_racing = any(races(program, iv) for iv in parallel)
    return not is_racing and any(isinstance(node, Store) for node in nodes(program.body))


def _check_names(body: tuple[Statement, ...], known: set[str]) -> None:
    """Raise KeyError for a name that is read where nothing has defined it."""
    known = set(known)
    for statement in body:
        match statement:
            case For(iv, lower, upper, _, carried, inner):
                _check(known, lower, upper, tuple(c.init for c in carried))
                inside = known | {iv} | {c.name for c in carried}
                defined = inside | {result for s in inner if isinstance(s, For) for result in _results(s)}
                defined |= {s.name for s in inner if isinstance(s, Let | Apply)}
                _check_names(inner, inside)
                _check(defined, tuple(c.update for c in carried))
                known |= _results(statement)
            case If(conditions, then, orelse):
                _check(known, conditions)
                _check_names(then, known)
                _check_names(orelse, known)
            case Let(key) | Apply(key):
                _check(known, statement)
                known |= {key}
            case Outlined(_, inner):
                _check_names(inner, known)
            case Store():
                _check(known, statement)


def _results(loop: For) -> set[str]:
    return {c.result for c in loop.carried}


def _check(known: set[str], *trees: object) -> None:
    for node in nodes(trees):
        read = node.names() if isinstance(node, Expr) else (node.name,) if isinstance(node, Name) else ()
        for key in read:
            if key not in known:
                raise KeyError(key)


def simpler(program: Program) -> Iterator[Program]:
    """Programs that are a little smaller, the boldest first."""
    return (smaller for smaller in _smaller(program) if smaller != program)


def _smaller(program: Program) -> Iterator[Program]:
    found = list(nodes(program.body))
    for kinds in ((Statement,), (Value, Condition), (Expr,)):
        for node in found:
            if isinstance(node, kinds):
                for new in _simpler(node):
                    yield _exchanged(program, node, new)
    yield from _smaller_frame(program)


def _exchanged(program: Program, old: object, new: object) -> Program:
    return replace(program, body=rebuilt(program.body, _only(old, new)))


def _only(old: Any, new: Any) -> Callable[[Any], Any]:
    return lambda node: new if node == old else node


PLAIN = {"is_parallel": False, "is_affine": True, "is_equality": False, "step": 1, "orelse": ()}


def _simpler(node: Any) -> Iterator[Any]:
    """What may stand in place of a statement (several, as a tuple), a value, a condition or an expression."""
    match node:
        case For(iv, lower, body=body):
            yield ()
            yield rebuilt(body, lambda n: n.substitute(iv, lower[0].constant) if isinstance(n, Expr) else n)
        case If(_, then, orelse):
            yield from ((), then, orelse)
        case Outlined(_, body):
            yield from ((), body)
        case Let() | Apply() | Store():
            yield ()
        case Carried(key, _, update):
            yield Carried(key, Constant(1), update)
        case Binary(_, left, right):
            yield from (left, right, Constant(1))
        case Load() | Extreme() | Name() | Cast():
            yield Constant(1)
        case Expr(constant, terms):
            yield Expr(constant)
            yield from (name(key).plus(constant) for key, factor in terms if factor != 1)
    for key, part in ((field.name, getattr(node, field.name)) for field in fields(node)):
        for plainer in _plainer(key, part):
            yield replace(node, **{key: plainer})


def _plainer(key: str, part: Any) -> Iterator[Any]:
    """What may stand in place of one field of a node."""
    match key:
        case "lower" | "upper" | "conditions" if len(part) > 1:
            yield from ((each,) for each in part)
        case "carried" | "terms" | "divisions":
            yield from (dropped(part, k) for k in range(len(part)))
        case "exprs" if len(part) > 1:
            yield from (dropped(part, k) for k in range(len(part)))
        case "constant" if part:
            yield 0
            yield part - (1 if part > 0 else -1)
        case _ if key in PLAIN:
            yield PLAIN[key]


def _smaller_frame(program: Program) -> Iterator[Program]:
    """Programs with fewer or plainer buffers, sizes and runs."""
    if len(program.valuations) > 1:
        yield from (replace(program, valuations=(v,)) for v in program.valuations)
    read = {key for node in nodes(program.body) if isinstance(node, Expr) for key in node.names()}
    kept = [k for k, s in enumerate(program.symbols) if s in read]
    if len(kept) < len(program.symbols):
        valuations = tuple(tuple(v[k] for k in kept) for v in program.valuations)
        yield replace(program, symbols=tuple(program.symbols[k] for k in kept), valuations=valuations)
    used = {node.buffer for node in nodes(program.body) if isinstance(node, Load | Store)}
    yield replace(program, buffers=tuple(b for b in program.buffers if b.name in used))
    for k, b in enumerate(program.buffers):
        for plainer in (replace(b, dynamic=(False,) * b.rank), replace(b, is_local=False)):
            yield replace(program, buffers=(*program.buffers[:k], plainer, *program.buffers[k + 1 :]))
        if b.rank > 1:
            yield _flattened(program, b.name)
    if program.element == "i32":
        yield replace(program, element="i64")
    try:
        yield placed(program)
    except UnusableError:
        return


def _flattened(program: Program, buffer: str) -> Program:
    """The program with the first dimension of a buffer left out."""

    def last(node: Any) -> Any:
        is_access = isinstance(node, Load | Store) and node.buffer == buffer
        return replace(node, index=node.index[1:]) if is_access else node

    buffers = tuple(
        replace(b, shape=b.shape[1:], dynamic=b.dynamic[1:]) if b.name == buffer else b for b in program.buffers
    )
    return rebuilt(replace(program, buffers=buffers), last)
