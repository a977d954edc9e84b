"""Functions from text, and the loops in them."""

from __future__ import annotations

from pathlib import Path

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse

ARGUMENTS = "%A: memref<?x?xf32>, %B: memref<?xf32>, %n: index, %x: f32"


def function(text: str, name: str = "k.mlir") -> func.Func:
    """The only function of a text, which keeps the rules."""
    module = parse(text, name)
    verify(module)
    (found,) = module.functions
    return found


def read(body: str, arguments: str = ARGUMENTS) -> func.Func:
    """A function of a body that returns nothing."""
    return function(f"func.func @f({arguments}) {{\n{body}\nreturn }}")


def refusals(path: Path) -> dict[str, tuple[str, str]]:
    """By title, programs of a file and what is said of them: `// ----- title`, the program, `// REFUSED: message`."""
    found = {}
    for chunk in path.read_text(encoding="utf-8").split("// ----- ")[1:]:
        title, _, rest = chunk.partition("\n")
        text, _, message = rest.partition("// REFUSED: ")
        found[title] = text, message.rstrip()
    return found


def loops(root: Op) -> list[affine.For]:
    """The affine loops inside of an operation, from top to bottom."""
    return [op for op in walk(root) if isinstance(op, affine.For)]


def iv(root: Op, name: str) -> Value:
    """The induction variable of a name, the first there is."""
    return next(loop.iv for loop in loops(root) if loop.iv.hint == name)


def by_name(root: Op, name: str) -> Value:
    """The only induction variable of a name."""
    (found,) = [loop.iv for loop in loops(root) if loop.iv.hint == name]
    return found
