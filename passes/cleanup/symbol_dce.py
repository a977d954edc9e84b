"""Removes functions, global buffers and modules that are private and that nothing refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from affdsl.ir.attributes import ArrayAttr, Attribute, DictAttr, StringAttr, SymbolAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import func, memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.traverse import map_blocks, walk

Path = tuple[str, ...]
_SYMBOL = re.compile(r'@(?:[\w$.-]+|"[^"]*")(?:::@(?:[\w$.-]+|"[^"]*"))*')


def symbol_dce(module: Module) -> Module:
    """The same program without private symbols that no live operation refers to, also in the modules inside.

        func.func private @a() { call @b() }      ->
        func.func private @b()                    ->

    What is public stays, and so does what it refers to, directly or through others.

    >>> from affdsl.mlir.readers import parse
    >>> text = "func.func private @a() { call @b() : () -> () return } func.func private @b() func.func @c() { return }"
    >>> print(symbol_dce(parse(text)))
    module {
      func.func @c() {
        return
      }
    }
    """
    live: set[Op] = set()
    _mark(module, (), live)
    return _swept(module, live)


def symbol_of(op: Op) -> str:
    """The name of a function, global buffer or module, or of an opaque operation that defines one; else nothing."""
    match op:
        case func.Func() | func.Module() | memref.Global():
            return op.symbol
        case Opaque():
            found = dict((*op.attributes, *op.properties)).get("sym_name")
            return found.value if isinstance(found, StringAttr) else ""
    return ""


def references(op: Op) -> Iterator[Path]:
    """The symbols that an operation itself refers to, each as a path: ("a",) for @a, ("a", "b") for @a::@b."""
    match op:
        case func.Call():
            yield (op.callee,)
        case memref.GetGlobal():
            yield (op.symbol,)
        case Opaque():
            for _, attribute in op.properties:
                yield from _paths(attribute)
            for name in _SYMBOL.findall("".join(map(str, op.text))):
                yield tuple(part.strip('@"') for part in name.split("::"))
    for _, attribute in op.attributes:
        yield from _paths(attribute)


def _paths(attribute: Attribute) -> Iterator[Path]:
    match attribute:
        case SymbolAttr():
            yield attribute.path
        case ArrayAttr():
            for item in attribute.items:
                yield from _paths(item)
        case DictAttr():
            for _, item in attribute.items:
                yield from _paths(item)


def _mark(table: Module, around: tuple[Module, ...], live: set[Op]) -> None:
    """Find what is live in a module, from what can be seen from outside."""
    tables = (*around, table)
    pending = [op for op in table.body if not is_discardable(op)]
    live.update(pending)
    while pending:
        root = pending.pop()
        if isinstance(root, Module):
            _mark(root, tables, live)
        for op in walk(root):
            for path in references(op):
                for found in _resolved(path, tables):
                    if found not in live:
                        live.add(found)
                        pending.append(found)


def is_discardable(op: Op) -> bool:
    """Whether a symbol may go where nothing refers to it: nobody outside of the whole can see it."""
    said = (*op.attributes, *op.properties) if isinstance(op, Opaque) else op.attributes
    hidden = dict(said).get("sym_visibility") in (StringAttr("private"), StringAttr("nested"))
    return bool(symbol_of(op)) and (hidden or (isinstance(op, func.Func | memref.Global) and op.private))


def _resolved(path: Path, tables: tuple[Module, ...]) -> Iterator[Op]:
    """What each step of a path names, in the nearest of the tables around that knows the first one."""
    for table in reversed(tables):
        found = next((op for op in table.body if symbol_of(op) == path[0]), None)
        if found is not None:
            yield found
            if len(path) > 1 and isinstance(found, Module):
                yield from _resolved(path[1:], (found,))
            return


def _swept(module: Module, live: set[Op]) -> Module:
    body: Block = tuple(
        _swept(op, live) if isinstance(op, Module) else op for op in module.body if op in live or not symbol_of(op)
    )
    return map_blocks(module, lambda _: body)
