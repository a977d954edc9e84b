"""Types and affine expressions, read from MLIR text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar, cast

from affdsl.ir.applied import meaning
from affdsl.ir.expr import Constraint
from affdsl.ir.maps import AffineMap, IntegerSet, dim, symbol
from affdsl.ir.types import (
    FLOAT_WIDTHS,
    INDEX,
    FloatName,
    FloatType,
    FunctionType,
    IntegerType,
    MemRefType,
    OpaqueType,
    ScalarType,
    StridedLayout,
    Type,
    UnrankedMemRefType,
    VectorType,
)
from affdsl.ir.written import MAKE, Tree, add, is_symbolic, mul
from affdsl.mlir.scanner import Scanner

T = TypeVar("T")
_PLAIN_SHAPED = re.compile(r"[^<>\n]*>")
_INTEGER = re.compile(r"[su]?i[1-9]\d{0,7}")
_OTHER_FLOAT = re.compile(r"f\d+E\d+M\d+\w*|tf32|f80|f128")
_DEEPEST = 100  # brackets inside each other
Atoms = Callable[[], Tree]
"""Reads the name or operand at the scanner's place, inside an affine expression."""


class Types:
    """Reads types, maps and sets at the scanner's place."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self._shaped: dict[str, Type] = {}  # by the text of memref and vector types without inner brackets
        self._depth = 0
        self._aliases = _alias_places(scanner.tokens)
        self._maps: dict[str, AffineMap | IntegerSet] = {}
        self._named_types: dict[str, Type] = {}

    def listed(self, item: Callable[[], T], opening: str = "(", closing: str = ")") -> tuple[T, ...]:
        """Items between brackets, separated by commas."""
        s = self.scanner
        s.expect(opening)
        if s.accept(closing):
            return ()
        items = [item()]
        while s.accept(","):
            items.append(item())
        s.expect(closing)
        return tuple(items)

    def aliased(self, name: str, read: Callable[[], T]) -> T:
        """What an alias stands for: read where the text defines it, above or below."""
        s = self.scanner
        place = self._aliases.get(name)
        if place is None:
            s.fail(f"{name} is not defined")
        here = s.place
        if self._depth > _DEEPEST:
            s.fail(f"{name} is defined by itself")
        self._depth += 1
        s.go_to(place)
        found = read()
        s.go_to(here)
        self._depth -= 1
        s.advance()
        return found

    # Types

    @property
    def is_type(self) -> bool:
        """Whether the current token begins a type."""
        token = self.scanner.token
        return token in _TYPE_WORDS or token[:1] in ("!", "(") or bool(_INTEGER.fullmatch(token) or _is_float(token))

    def type(self) -> Type:
        """A type."""
        s = self.scanner
        match s.token:
            case "index":
                s.advance()
                return INDEX
            case "memref" | "vector":
                return self._cached()
            case "(":
                inputs = self.nested(lambda: self.listed(self.type))
                s.expect("->")
                return FunctionType(inputs, self.types())
            case "tensor" | "complex" | "tuple":
                return self.nested(self._opaque)
            case "none":
                s.advance()
                return OpaqueType("none")
        if s.token[:1] == "!":
            return self._dialect_type()
        return self._scalar()

    def types(self) -> tuple[Type, ...]:
        """One type, or several in parentheses."""
        return self.listed(self.type) if self.scanner.token == "(" else (self.type(),)

    def nested(self, read: Callable[[], T]) -> T:
        """What `read` reads, one level deeper; text that is nested without end is refused."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self.scanner.fail("this is nested too deeply")
        found = read()
        self._depth -= 1
        return found

    def _cached(self) -> Type:
        s = self.scanner
        plain = _PLAIN_SHAPED.match(s.text, s.end + 1) if s.peek() == "<" else None
        if plain is None or "#" in plain[0] or "!" in plain[0]:
            return self.nested(self._memref if s.token == "memref" else self._vector)
        text = s.text[s.start : plain.end()]
        found = self._shaped.get(text)
        if found is None:
            found = self._shaped[text] = self.nested(self._memref if s.token == "memref" else self._vector)
        else:
            s.jump(plain.end())
        return found

    def _scalar(self) -> Type:
        s = self.scanner
        if s.token in FLOAT_WIDTHS:
            return FloatType(cast("FloatName", s.advance()))
        if _INTEGER.fullmatch(s.token):
            token = s.advance()
            sign, width = token.partition("i")[::2]
            return IntegerType(int(width), cast("object", sign)) if int(width) <= 64 else OpaqueType(token)  # type: ignore[arg-type]
        if _OTHER_FLOAT.fullmatch(s.token):
            return OpaqueType(s.advance())
        return s.fail("expected a type: index, i32, f32, vector<...>, memref<...> ...")

    def _opaque(self) -> OpaqueType:
        """tensor, complex and tuple types, aliases inside replaced by what they stand for."""
        s = self.scanner
        first = s.start
        word = s.advance()
        if s.token != "<":
            s.fail("expected '<'")
        body = self.expanded()
        text = s.text[first : first + len(word)] + body
        return OpaqueType(text)

    def _dialect_type(self) -> Type:
        s = self.scanner
        name = s.token
        if name in self._named_types:
            s.advance()
            return self._named_types[name]
        if "." not in name and name in self._aliases:
            self._named_types[name] = found = self.aliased(name, self.type)
            return found
        s.advance()
        if s.token == "<" and s.start == s.end - 1:
            return OpaqueType(name + self.expanded())
        if "." not in name:
            s.fail(f"{name} is not defined", s.start)
        return OpaqueType(name)

    def expanded(self) -> str:
        """The text of a group in brackets, with aliases of maps and types replaced by what they stand for."""
        s = self.scanner
        place, text, start = s.place, s.balanced(), 0
        end = s.place
        if "#" not in text and "!" not in text:
            return text
        s.go_to(place)
        base, pieces = s.start, []
        while s.place < end:
            token = s.token
            if token in self._aliases and s.peek() != "=":
                pieces.append(text[start : s.start - base])
                start = s.end - base
                pieces.append(self.alias_text(token))
            else:
                s.advance()
        return "".join([*pieces, text[start:]])

    def alias_text(self, name: str) -> str:
        """What an alias stands for, as text; the alias is passed."""
        if name.startswith("!"):
            return str(self._dialect_type())
        found = self.map_or_set()
        return f"{'affine_map' if isinstance(found, AffineMap) else 'affine_set'}<{found}>"

    def _vector(self) -> VectorType | OpaqueType:
        s = self.scanner
        first = s.start
        s.advance()
        if s.token != "<":
            s.fail("expected '<'")
        shape, scalable = s.scalable_dimensions()
        if s.token == "?":
            s.fail("a vector has fixed sizes")
        if 0 in shape:
            s.fail("the sizes of a vector must be positive")
        place = s.start
        element = self.type()
        s.expect(">")
        if isinstance(element, ScalarType):
            return VectorType(shape, element, scalable if any(scalable) else ())
        if not isinstance(element, OpaqueType) or element.text.startswith(("tensor", "tuple", "complex", "none")):
            s.fail("the elements of a vector must be integers, index or floats", place)
        return OpaqueType(s.text[first:place] + f"{element}>")

    def _memref(self) -> Type:
        s = self.scanner
        first = s.start
        s.advance()
        if s.token != "<":
            s.fail("expected '<'")
        shape: tuple[int | None, ...] | None = None
        if s.peek() == "*":
            s.advance()
            s.jump(s.end)
            if s.token[:1] != "x":
                s.fail("expected 'x' after '*'")
            s.jump(s.start + 1)
        else:
            shape = s.dimensions()
        place = s.start
        element = self.type()
        if not isinstance(element, ScalarType | VectorType | OpaqueType | MemRefType | UnrankedMemRefType):
            s.fail("a memref cannot have such elements", place)
        if isinstance(element, OpaqueType) and element.text.startswith(("tensor", "tuple", "none")):
            s.fail("a memref cannot have such elements", place)
        layout: StridedLayout | AffineMap | None = None
        space: int | str = 0
        opaque = False
        while s.accept(","):
            if s.token == "strided":
                layout = self.strided()
            elif s.token == "affine_map" or (s.token in self._aliases and self._stands_for_map(s.token)):
                layout = self.map()
            else:
                space, other = self._space()
                opaque = opaque or other
        s.expect(">")
        if shape is None:
            if layout is not None:
                s.fail("a memref without a rank has no layout", first)
            return UnrankedMemRefType(element, space)
        if isinstance(layout, AffineMap):
            if layout.dims != len(shape):
                s.fail(f"the layout takes {layout.dims} dimensions, but the memref has {len(shape)}", first)
            if _is_identity(layout):
                layout = None
        if isinstance(layout, StridedLayout) and len(layout.strides) != len(shape):
            s.fail(f"the layout has {len(layout.strides)} strides, but the memref has {len(shape)} dimensions", first)
        return MemRefType(shape, element, layout, space)

    def _space(self) -> tuple[int | str, bool]:
        """A memory space: a number, or the text of an attribute."""
        s = self.scanner
        if s.token.isdigit() or s.token == "-":
            number = s.integer()
            if s.accept(":"):
                type = self.type()
                return f"{number} : {type}", True
            return number, False
        if s.is_string:
            return s.advance(), True
        if s.token[:1] == "#":
            name = s.advance()
            return (name + self.expanded() if s.token == "<" else name), True
        return s.fail("expected a layout or a memory space")

    def _stands_for_map(self, name: str) -> bool:
        place = self._aliases[name]
        return self.scanner.tokens[place] == "affine_map"

    def strided(self) -> StridedLayout:
        """`strided<[4, ?], offset: 2>`"""
        s = self.scanner
        s.expect("strided")
        s.expect("<")
        strides = self.listed(self._size, "[", "]")
        offset: int | None = 0
        if s.accept(","):
            s.expect("offset")
            s.expect(":")
            offset = self._size()
        s.expect(">")
        return StridedLayout(strides, offset)

    def _size(self) -> int | None:
        return None if self.scanner.accept("?") else self.scanner.integer()

    # Maps and sets

    def map(self) -> AffineMap:
        """`affine_map<(d0)[s0] -> (...)>`, or an alias of one."""
        place, found = self.scanner.start, self.map_or_set()
        if isinstance(found, IntegerSet):
            self.scanner.fail("expected an affine map, but this is a set", place)
        return found

    def set(self) -> IntegerSet:
        """`affine_set<(d0)[s0] : (...)>`, or an alias of one."""
        place, found = self.scanner.start, self.map_or_set()
        if isinstance(found, AffineMap):
            self.scanner.fail("expected an integer set, but this is a map", place)
        return found

    def map_or_set(self) -> AffineMap | IntegerSet:
        """A map or a set, or an alias of one."""
        s = self.scanner
        if s.token.startswith("#"):
            name = s.token
            if name in self._maps:
                s.advance()
                return self._maps[name]
            self._maps[name] = found = self.aliased(name, self.map_or_set)
            return found
        if s.token == "(":
            return self.bare_map_or_set()
        if s.token not in ("affine_map", "affine_set"):
            s.fail("expected an affine map or set")
        word = s.advance()
        s.expect("<")
        place, made = s.start, self.bare_map_or_set()
        if isinstance(made, AffineMap) != (word == "affine_map"):
            s.fail(f"this is no {word}", place)
        s.expect(">")
        return made

    def bare_map_or_set(self) -> AffineMap | IntegerSet:
        """`(d0)[s0] -> (...)` or `(d0)[s0] : (...)`"""
        s = self.scanner
        place = s.start
        dims, symbols, atom = self._heading()
        d, n = tuple(map(dim, range(dims))), tuple(map(symbol, range(symbols)))
        try:
            if s.accept("->"):
                trees = self.listed(lambda: self.expression(atom))
                return AffineMap(dims, symbols, tuple([meaning(t, d, n) for t in trees]), trees)
            s.expect(":")
            written = self.listed(lambda: self._constraint(atom))
            means = tuple([Constraint(meaning(tree, d, n), equality) for tree, equality in written])
            return IntegerSet(dims, symbols, means, written)
        except ZeroDivisionError as error:
            s.fail(str(error), place)

    def _heading(self) -> tuple[int, int, Atoms]:
        s = self.scanner
        dims = self.listed(s.word)
        symbols = self.listed(s.word, "[", "]") if s.token == "[" else ()
        names = {name: f"d{n}" for n, name in enumerate(dims)} | {name: f"s{n}" for n, name in enumerate(symbols)}
        if len(names) != len(dims) + len(symbols):
            s.fail("a name stands twice in the list of dimensions and symbols")

        def atom() -> Tree:
            if s.token not in names:
                s.fail(f"'{s.token}' is neither a dimension nor a symbol here")
            return names[s.advance()]

        return len(dims), len(symbols), atom

    def _constraint(self, atom: Atoms) -> tuple[Tree, bool]:
        s = self.scanner
        left = self.expression(atom)
        if s.token not in ("==", ">=", "<="):
            s.fail("expected '==', '>=' or '<='")
        relation = s.advance()
        right = self.expression(atom)
        if relation == "<=":
            left, right = right, left
        return add(left, mul(right, -1)), relation == "=="

    def expression(self, atom: Atoms) -> Tree:
        """An affine expression; `atom` reads its names."""
        s = self.scanner
        result = self._term(atom)
        while s.token in ("+", "-"):
            sign = s.advance()
            right = self._term(atom)
            result = add(result, right if sign == "+" else mul(right, -1))
        return result

    def _term(self, atom: Atoms) -> Tree:
        s = self.scanner
        result = self._factor(atom)
        while s.token in ("*", "floordiv", "ceildiv", "mod"):
            place, operator = s.start, s.advance()
            right = self._factor(atom)
            result = self._made(operator, result, right, place)
        return result

    def _factor(self, atom: Atoms) -> Tree:
        s = self.scanner
        if s.accept("-"):
            return mul(self.nested(lambda: self._factor(atom)), -1)
        if s.accept("("):
            result = self.nested(lambda: self.expression(atom))
            s.expect(")")
            return result
        if s.token in ("floordiv", "ceildiv", "mod") and s.peek() == "(":  # a spelling of 2019
            return self._called(atom)
        if s.token.isdigit():
            place, number = s.start, s.natural()
            if number >= 2**63:
                s.fail("this number does not fit into 64 bits", place)
            return number
        return atom()

    def _called(self, atom: Atoms) -> Tree:
        """`floordiv(a, b)`"""
        s = self.scanner
        operator = s.advance()
        s.expect("(")
        left = self.nested(lambda: self.expression(atom))
        s.expect(",")
        place, right = s.start, self.nested(lambda: self.expression(atom))
        s.expect(")")
        return self._made(operator, left, right, place)

    def _made(self, operator: str, left: Tree, right: Tree, place: int) -> Tree:
        """An inner node; one that is not affine is refused."""
        s = self.scanner
        if operator == "*":
            if not is_symbolic(left) and not is_symbolic(right):
                s.fail("this is not affine: one factor of a product must be a number or a symbol", place)
        elif not is_symbolic(right):
            s.fail(f"this is not affine: the right side of {operator} must be a number or a symbol", place)
        elif isinstance(right, int) and right <= 0:
            s.fail(f"the right side of {operator} must be positive", place)
        return MAKE[operator](left, right)


_TYPE_WORDS = {"index", "memref", "vector", "tensor", "complex", "tuple", "none"}


def _is_float(token: str) -> bool:
    return token in FLOAT_WIDTHS or bool(_OTHER_FLOAT.fullmatch(token))


def _is_identity(map: AffineMap) -> bool:
    return map.symbols == 0 and map.written == tuple(f"d{n}" for n in range(map.dims))


def _alias_places(tokens: list[str]) -> dict[str, int]:
    """Where the text of each alias begins: `#name = ...` and `!name = ...`."""
    return {name: place + 2 for place, (name, sign) in enumerate(pairwise(tokens)) if sign == "=" and name[0] in "#!"}
