"""Types, read from MLIR text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, cast

from affdsl.ir.maps import AffineMap
from affdsl.ir.opaque_types import scalar
from affdsl.ir.types import (
    FLOAT_WIDTHS,
    INDEX,
    ComplexType,
    FloatName,
    FloatType,
    FunctionType,
    IntegerType,
    MemRefType,
    NumberType,
    OpaqueType,
    ScalarType,
    StridedLayout,
    Type,
    UnrankedMemRefType,
    VectorType,
)
from affdsl.mlir.enumerations import problem_of_type
from affdsl.mlir.maps import Maps
from affdsl.mlir.registry import is_registered
from affdsl.mlir.scanner import Scanner

_PLAIN_SHAPED = re.compile(r"[^<>\n]*>")
_INTEGER = re.compile(r"[su]?i\d+")
_WIDEST_INTEGER = 16_777_215
_MOST_DIGITS = 100  # of the width of an integer, zeros before it among them
_OTHER_FLOATS = frozenset(
    "f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3 f8E4M3B11FNUZ f8E4M3FN f8E4M3FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU f80 f128 "
    "tf32".split()
)


class Types(Maps):
    """Reads types, and maps and sets, at the scanner's place.

    `attribute_shown` reads an attribute of any kind there, and gives it as MLIR writes it.
    """

    def __init__(self, scanner: Scanner, attribute_shown: Callable[[], str]) -> None:
        super().__init__(scanner)
        self._attribute_shown = attribute_shown
        self._scalars: dict[str, Type] = {"index": INDEX}  # by name
        # By the text of memref and vector types without inner brackets, with the number of tokens.
        self._shaped: dict[str, tuple[Type, int]] = {}
        self._named_types: dict[str, Type] = {}

    @property
    def is_type(self) -> bool:
        """Whether the current token begins a type."""
        token = self.scanner.token
        return token in _TYPE_WORDS or token[:1] in ("!", "(") or bool(_INTEGER.fullmatch(token) or _is_float(token))

    def type(self) -> Type:
        """A type."""
        s = self.scanner
        known = self._scalars.get(s.token)
        if known is not None:
            s.advance()
            return known
        match s.token:
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

    def _cached(self) -> Type:
        s = self.scanner
        plain = _PLAIN_SHAPED.match(s.text, s.end + 1) if s.peek() == "<" else None
        text, before = s.text[s.start : plain.end()] if plain is not None else "", s.place
        known = self._shaped.get(text)
        if known is None:
            found = self.nested(self._memref if s.token == "memref" else self._vector)
            if text and not any(sign in text for sign in "#!("):
                self._shaped[text] = found, s.place - before
            return found
        found, tokens = known
        if s.tokens[before + tokens - 1] == ">":
            s.go_to(before + tokens)
        else:  # the bracket is the beginning of a longer token
            s.jump(s.start + len(text))
        return found

    def _scalar(self) -> Type:
        s = self.scanner
        if s.token in FLOAT_WIDTHS:
            type: Type = FloatType(cast("FloatName", s.token))
        elif _INTEGER.fullmatch(s.token):
            sign, digits = s.token.partition("i")[::2]
            width = int(digits) if len(digits) < _MOST_DIGITS else _WIDEST_INTEGER + 1
            if width > _WIDEST_INTEGER:
                s.fail(f"the widest integers have {_WIDEST_INTEGER} bits, so there is no {s.token}")
            known = 1 <= width <= 64
            type = IntegerType(width, cast("Literal['', 's', 'u']", sign)) if known else OpaqueType(f"{sign}i{width}")
        elif s.token in _OTHER_FLOATS:
            type = OpaqueType(s.token)
        else:
            given = f", not {s.token}" if s.token else ""
            s.fail(f"expected a type: index, i32, f32, vector<...>, memref<...> ...{given}")
        self._scalars[s.advance()] = type
        return type

    def _opaque(self) -> OpaqueType | ComplexType:
        """tensor, complex and tuple types, aliases inside replaced by what they stand for."""
        s = self.scanner
        word = s.advance()
        if s.token != "<":
            s.fail("expected '<'")
        place = s.place
        match word:
            case "tensor":
                self._tensor()
            case "complex":
                part = self._complex()
                if isinstance(part, FloatType) and part.name in ("f32", "f64"):
                    return ComplexType(part)
            case _:
                self.listed(self.type, "<", ">")
        s.go_to(place)
        return OpaqueType(word + self.expanded())

    def _tensor(self) -> None:
        """`<4x?xf32, encoding>` or `<*xf32>`"""
        s = self.scanner
        ranked = s.peek() != "*"
        if ranked:
            s.dimensions()
        else:
            self._star()
        place, element = s.start, self.type()
        if isinstance(element, FunctionType | MemRefType | UnrankedMemRefType) or _is_aggregate(element):
            s.fail(f"the elements of a tensor are numbers, vectors or types of other dialects, not {element}", place)
        place = s.start
        if s.accept(","):
            self._attribute_shown()
            if not ranked:
                s.fail("a tensor without a rank has no encoding", place)
        s.expect(">")

    def _complex(self) -> Type:
        """`<f32>`: the type of both parts"""
        s = self.scanner
        s.expect("<")
        place, element = s.start, self.type()
        found = scalar(str(element))
        if found is None or found.kind not in ("integer", "float"):
            s.fail(f"the parts of a complex number are integers or floats, not {element}", place)
        s.expect(">")
        return element

    def _star(self) -> None:
        """`<*x`; the element type becomes the current token."""
        s = self.scanner
        s.advance()
        s.jump(s.end)
        if s.token[:1] != "x":
            s.fail("expected 'x' after '*'")
        s.jump(s.start + 1)

    def _dialect_type(self) -> Type:
        s = self.scanner
        name = s.token
        if name in self._named_types:
            s.advance()
            return self._named_types[name]
        if "." not in name and name in self._aliases:
            self._named_types[name] = found = self.aliased(name, self.type)
            return found
        place = s.start
        s.advance()
        if s.token == "<":
            name += self.expanded()
        elif "." not in name:
            s.fail(f"{name} is not defined above", place)
        if (problem := problem_of_type(name)) is not None:
            s.fail(problem, place)
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
            s.fail("the sizes of a vector must be positive, not 0")
        place = s.start
        element = self.type()
        s.expect(">")
        if isinstance(element, ScalarType):
            return VectorType(shape, element, scalable if any(scalable) else ())
        found = scalar(str(element))
        if found is None or found.kind == "complex":
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
            self._star()
        else:
            shape = s.dimensions()
        place = s.start
        element = self.type()
        if not isinstance(element, NumberType | VectorType | OpaqueType | MemRefType | UnrankedMemRefType):
            s.fail("a memref cannot have such elements", place)
        if isinstance(element, OpaqueType) and (_is_aggregate(element) or _is_foreign(element)):
            s.fail(f"the elements of a memref are numbers, vectors or memrefs, not {element}", place)
        layout: StridedLayout | AffineMap | None = None
        space: int | str = 0
        spaces = layouts = 0
        while s.accept(","):
            if spaces:
                s.fail("nothing may follow the memory space")
            if s.token == "strided":
                layout, layouts = self.strided(), layouts + 1
            elif s.token == "affine_map" or (s.token in self._aliases and self._stands_for_map(s.token)):
                layout, layouts = self.map(), layouts + 1
            elif s.token in ("(", "offset"):
                layout, layouts = self._old_layout(), layouts + 1
            else:
                space, spaces = self._space(), 1
            if layouts > 1:
                s.fail("a memref has one layout")
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
            s.fail(f"{layout} has {len(layout.strides)} strides, but the memref has {len(shape)} dimensions", first)
        return MemRefType(shape, element, layout, space)

    def _space(self) -> int | str:
        """A memory space: a number, or the text of an attribute."""
        s = self.scanner
        place, first = s.start, s.token
        if not (first[:1] in "-#{" or first in ("true", "false") or first[:1].isdigit() or s.is_string):
            s.fail("expected a layout or a memory space")
        text = self._attribute_shown()
        if text.startswith("#") and _is_foreign(OpaqueType(text)):
            s.fail(f"{text} is no memory space", place)
        number, _, type = text.partition(" : ")
        if number in ("0", "false") or text == "{}":
            return 0
        return int(number) if type == "i64" else text

    def _stands_for_map(self, name: str) -> bool:
        place = self._aliases[name]
        return self.scanner.tokens[place] in ("affine_map", "(")

    def _old_layout(self) -> StridedLayout | AffineMap:
        """`(d0, d1) -> (d1, d0)` or `offset: 2, strides: [4, 1]`, spellings of 2019"""
        s = self.scanner
        if s.token == "(":
            return self.map()
        s.advance()
        s.expect(":")
        offset = self._size()
        for token in (",", "strides", ":"):
            s.expect(token)
        return StridedLayout(self.listed(self._size, "[", "]"), offset)

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
        s = self.scanner
        if s.accept("?"):
            return None
        place, number = s.start, s.integer()
        if number == -(2**63):
            s.fail(f"a stride or offset cannot be {number}, which stands for one that is not known", place)
        return number


_TYPE_WORDS = {"index", "memref", "vector", "tensor", "complex", "tuple", "none"}


def _is_float(token: str) -> bool:
    return token in FLOAT_WIDTHS or token in _OTHER_FLOATS


def _is_aggregate(type: Type) -> bool:
    return isinstance(type, OpaqueType) and type.text.startswith(("tensor<", "tuple<", "none"))


def _is_foreign(type: OpaqueType) -> bool:
    """Whether a type or attribute belongs to a dialect that MLIR does not know."""
    return type.text[0] in "!#" and not is_registered(re.split(r"[.<]", type.text[1:], maxsplit=1)[0])


def _is_identity(map: AffineMap) -> bool:
    return map.written == tuple(f"d{n}" for n in range(map.dims))
