"""Programs of loop nests in a short notation, as MLIR.

A 10, t 10 local        arrays of i64: arguments, or made by the function; a letter is a size
for i 0 10              a loop, with `step 2` or `carry s = 0 as r` for a value; bounds may be `max(..)` or `min(..)`
  if i - 3 >= 0         a condition
    t[i] = A[i] * 2     a store of sums, differences, products and maxima of elements, values and numbers
  x = A[i] + 1          a value
parallel j 0 10         a loop whose iterations may run in any order
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

WORDS = {"floordiv", "ceildiv", "mod"}
KINDS = {ast.Add: "addi", ast.Sub: "subi", ast.Mult: "muli"}


@dataclass
class Writer:
    """What is written so far, and the types of arrays."""

    types: dict[str, str] = field(default_factory=dict)
    values: int = 0
    lines: list[str] = field(default_factory=list)

    def fresh(self) -> str:
        """A name for a value."""
        self.values += 1
        return f"%v{self.values}"

    def value(self, node: ast.expr) -> str:
        """Write what makes a value, and give its name."""
        match node:
            case ast.Name(key):
                return f"%{key}"
            case ast.Subscript(ast.Name(key), index):
                made = self.fresh()
                self.lines.append(f"{made} = affine.load %{key}[{_operands(ast.unparse(index))}] : {self.types[key]}")
                return made
            case ast.Constant(int() as number):
                made = self.fresh()
                self.lines.append(f"{made} = arith.constant {number} : i64")
                return made
            case ast.BinOp(left, op, right):
                return self._binary(KINDS[type(op)], left, right)
            case ast.Call(ast.Name("max"), [left, right]):
                return self._binary("maxsi", left, right)
        raise ValueError(f"no value: {ast.unparse(node)}")

    def _binary(self, kind: str, left: ast.expr, right: ast.expr) -> str:
        operands = f"{self.value(left)}, {self.value(right)}"
        made = self.fresh()
        self.lines.append(f"{made} = arith.{kind} {operands} : i64")
        return made

    def statement(self, text: str) -> tuple[str, str]:
        """Write a line; how its block ends and what stands in front of that, if it opens one."""
        word, _, rest = text.partition(" ")
        match word:
            case "for":
                return self._loop(rest)
            case "parallel":
                iv, lower, upper = rest.split()
                self.lines.append(f"affine.parallel (%{iv}) = ({lower}) to ({_operands(upper.replace('-', ' - '))}) {{")
                return "", "}"
            case "if":
                names = _names(rest)
                operands = _operands(", ".join(names))
                self.lines.append(f"affine.if affine_set<({', '.join(names)}) : ({rest})>({operands}) {{")
                return "", "}"
            case _:
                self._assignment(text)
        return "", ""

    def _loop(self, rest: str) -> tuple[str, str]:
        rest, _, carried = rest.partition(" carry ")
        rest, _, step = rest.partition(" step ")
        iv, *bounds = re.findall(r"(?:max|min)\([^)]*\)|\S+", rest)
        lower, upper = map(_bound, bounds)
        head = f"affine.for %{iv} = {lower} to {upper}{f' step {step}' if step else ''}"
        if not carried:
            self.lines.append(f"{head} {{")
            return "", "}"
        start, _, result = carried.partition(" as ")
        key, _, init = start.partition(" = ")
        first = self.value(ast.parse(init, mode="eval").body)
        self.lines.append(f"%{result} = {head} iter_args(%{key} = {first}) -> (i64) {{")
        return f"affine.yield %{key}_next : i64", "}"

    def _assignment(self, text: str) -> None:
        made = ast.parse(text).body[0]
        assert isinstance(made, ast.Assign)
        value = self.value(made.value)
        match made.targets[0]:
            case ast.Name(key):
                zero = self.value(ast.Constant(0))
                self.lines.append(f"%{key} = arith.addi {value}, {zero} : i64")
            case ast.Subscript(ast.Name(key), index):
                where = _operands(ast.unparse(index))
                self.lines.append(f"affine.store {value}, %{key}[{where}] : {self.types[key]}")


def mlir(text: str) -> str:
    """A function in the short notation, as MLIR."""
    head, *body = text.strip("\n").splitlines()
    writer, args, made = Writer(), [], []
    arrays = [each.split() for each in head.split(",")]
    sizes = sorted({n for _, shape, *_ in arrays for n in shape.split("x") if not n.isdigit()})
    for key, shape, *how in arrays:
        extents = shape.split("x")
        type = f"memref<{'x'.join(n if n.isdigit() else '?' for n in extents)}xi64>"
        writer.types[key] = type
        if how:
            known = ", ".join(f"%{n}" for n in extents if not n.isdigit())
            made.append(f"%{key} = memref.alloc({known}) : {type}")
        else:
            args.append(f"%{key}: {type}")
    writer.lines += made
    _write(writer, [(len(line) - len(line.lstrip()), line.strip()) for line in body if line.strip()])
    lines = [*writer.lines, "return"]
    head = ", ".join([*args, *(f"%{n}: index" for n in sizes)])
    return f"func.func @f({head}) {{\n" + "\n".join(f"  {line}" for line in lines) + "\n}\n"


def _write(writer: Writer, lines: list[tuple[int, str]]) -> None:
    opened: list[tuple[int, str, str]] = []

    def close(depth: int) -> None:
        while opened and opened[-1][0] >= depth:
            _, last, end = opened.pop()
            writer.lines += [last, end] if last else [end]

    for depth, text in lines:
        close(depth)
        last, end = writer.statement(text)
        if end:
            opened.append((depth, last, end))
    close(0)


def _names(text: str) -> list[str]:
    found = re.findall(r"[a-zA-Z_]\w*", text)
    return list(dict.fromkeys(name for name in found if name not in WORDS))


def _operands(text: str) -> str:
    text = text.removeprefix("(").removesuffix(")") if text.startswith("(") and text.endswith(")") else text
    text = text.replace("//", "floordiv").replace("%", "mod")
    return re.sub(r"[a-zA-Z_]\w*", lambda m: m[0] if m[0] in WORDS else f"%{m[0]}", text)


def _bound(text: str) -> str:
    if text.lstrip("-").isdigit():
        return text
    which, text = (text[:3] + " ", text[4:-1]) if text.startswith(("max(", "min(")) else ("", text)
    names = _names(text)
    results = text.replace(",", ", ").replace("//", " floordiv ").replace("%", " mod ")
    return f"{which}affine_map<({', '.join(names)}) -> ({results})>({_operands(', '.join(names))})"


@dataclass(frozen=True)
class Program:
    """A program with its title, and why our result is another one than that of mlir-opt, where it is."""

    title: str
    mlir: str
    why: str = ""


def programs(text: str) -> Iterator[Program]:
    """The programs of a text, in which each begins with `# title`, and perhaps `> why`."""
    for part in re.split(r"^# ", text, flags=re.M)[1:]:
        title, _, program = part.partition("\n")
        why = ""
        if program.startswith("> "):
            why, _, program = program[2:].partition("\n")
        yield Program(title.strip(), mlir(program), why)
