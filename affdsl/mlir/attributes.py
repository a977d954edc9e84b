"""Types, affine expressions, maps and sets, read from MLIR text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from affdsl.ir.expr import Affine, Constraint
from affdsl.ir.maps import AffineMap, IntegerSet, dim, symbol
from affdsl.ir.types import (
    FLOAT_WIDTHS,
    INDEX,
    FloatName,
    FloatType,
    FunctionType,
    IntegerType,
    MemRefType,
    ScalarType,
    StridedLayout,
    Type,
    VectorType,
)
from affdsl.mlir.scanner import Scanner

T = TypeVar("T")
_LARGEST_PRODUCT = 1000
Atoms = Callable[[], Affine]
"""Reads the name or operand at the scanner's place, inside an affine expression."""


class Attributes:
    """Reads types and affine attributes at the scanner's place; `aliases` are the `#map = ...` of the text."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.aliases: dict[str, AffineMap | IntegerSet] = {}

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

    def type(self) -> Type:
        """A type."""
        match self.scanner.token:
            case "(":
                inputs = self.listed(self.type)
                self.scanner.expect("->")
                return FunctionType(inputs, self.types())
            case "memref":
                return self._memref()
            case "vector":
                return self._vector()
            case _:
                return self._scalar()

    def types(self) -> tuple[Type, ...]:
        """One type, or several in parentheses."""
        return self.listed(self.type) if self.scanner.token == "(" else (self.type(),)

    def map(self) -> AffineMap:
        """`affine_map<(d0)[s0] -> (...)>`, or an alias of one."""
        found = self._alias_or("affine_map")
        if isinstance(found, IntegerSet):
            self.scanner.fail("expected an affine map, but this is a set")
        return found

    def set(self) -> IntegerSet:
        """`affine_set<(d0)[s0] : (...)>`, or an alias of one."""
        found = self._alias_or("affine_set")
        if isinstance(found, AffineMap):
            self.scanner.fail("expected an integer set, but this is a map")
        return found

    def expression(self, atom: Atoms) -> Affine:
        """An affine expression; `atom` reads its names."""
        s = self.scanner
        result = self._term(atom)
        while s.token in ("+", "-"):
            result = result + self._term(atom) if s.advance() == "+" else result - self._term(atom)
        return result

    def _alias_or(self, keyword: str) -> AffineMap | IntegerSet:
        s = self.scanner
        if s.token.startswith("#"):
            if s.token not in self.aliases:
                s.fail(f"{s.token} is not defined above")
            return self.aliases[s.advance()]
        s.expect(keyword)
        s.expect("<")
        found = self.map_body() if keyword == "affine_map" else self.set_body()
        s.expect(">")
        return found

    def map_body(self) -> AffineMap:
        """`(d0)[s0] -> (...)`"""
        dims, symbols, atom = self._heading()
        self.scanner.expect("->")
        return AffineMap(dims, symbols, self.listed(lambda: self.expression(atom)))

    def set_body(self) -> IntegerSet:
        """`(d0)[s0] : (...)`"""
        dims, symbols, atom = self._heading()
        self.scanner.expect(":")
        return IntegerSet(dims, symbols, self.listed(lambda: self._constraint(atom)))

    def _heading(self) -> tuple[int, int, Atoms]:
        s = self.scanner
        dims = self.listed(s.word)
        symbols = self.listed(s.word, "[", "]") if s.token == "[" else ()
        names = {name: Affine.of(dim(n)) for n, name in enumerate(dims)}
        names |= {name: Affine.of(symbol(n)) for n, name in enumerate(symbols)}
        if len(names) != len(dims) + len(symbols):
            s.fail("a name stands twice in the list of dimensions and symbols")

        def atom() -> Affine:
            if s.token not in names:
                s.fail(f"'{s.token}' is neither a dimension nor a symbol here")
            return names[s.advance()]

        return len(dims), len(symbols), atom

    def _constraint(self, atom: Atoms) -> Constraint:
        s = self.scanner
        left = self.expression(atom)
        if s.token not in ("==", ">=", "<="):
            s.fail("expected '==', '>=' or '<='")
        relation = s.advance()
        right = self.expression(atom)
        return Constraint(right - left if relation == "<=" else left - right, equality=relation == "==")

    def _term(self, atom: Atoms) -> Affine:
        s = self.scanner
        result = self._factor(atom)
        while s.token in ("*", "floordiv", "ceildiv", "mod"):
            place, word = s.start, s.advance()
            right = self._factor(atom)
            if word != "*" and right.is_constant and right.constant <= 0:
                s.fail(f"the right side of {word} must be positive", place)
            if len(result.terms) * len(right.terms) > _LARGEST_PRODUCT:
                s.fail("a product of too many terms", place)
            match word:
                case "*":
                    result = result * right
                case "floordiv":
                    result = result // right
                case "ceildiv":
                    result = result.ceildiv(right)
                case _:
                    result = result % right
        return result

    def _factor(self, atom: Atoms) -> Affine:
        s = self.scanner
        if s.accept("-"):
            return -self._factor(atom)
        if s.accept("("):
            result = self.expression(atom)
            s.expect(")")
            return result
        if s.token.isdigit():
            return Affine((), int(s.advance()))
        return atom()

    def _scalar(self) -> ScalarType:
        s = self.scanner
        if s.accept("index"):
            return INDEX
        if s.token in FLOAT_WIDTHS:
            return FloatType(cast("FloatName", s.advance()))
        if s.token[:1] == "i" and s.token[1:].isdigit():
            if not 1 <= int(s.token[1:]) <= 64:
                s.fail("integers have 1 to 64 bits here")
            return IntegerType(int(s.advance()[1:]))
        return s.fail("expected a type: index, i32, f32, vector<...>, memref<...> ...")

    def _vector(self) -> VectorType:
        s = self.scanner
        s.expect("vector")
        shape = self._shape()
        if None in shape:
            s.fail("a vector has fixed sizes")
        element = self._scalar()
        s.expect(">")
        return VectorType(tuple(size for size in shape if size is not None), element)

    def _memref(self) -> MemRefType:
        s = self.scanner
        s.expect("memref")
        shape = self._shape()
        element = self._vector() if s.token == "vector" else self._scalar()
        layout: StridedLayout | AffineMap | None = None
        space = 0
        while s.accept(","):
            if s.token == "strided":
                layout = self._strided()
            elif s.token == "affine_map" or s.token.startswith("#"):
                layout = self.map()
            else:
                space = s.integer()
        s.expect(">")
        return MemRefType(shape, element, layout, space)

    def _shape(self) -> tuple[int | None, ...]:
        """The sizes after `<`, which are no tokens of their own."""
        s = self.scanner
        if s.token != "<":
            s.fail("expected '<'")
        return s.dimensions()

    def _strided(self) -> StridedLayout:
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
