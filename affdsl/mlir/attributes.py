"""Attributes and locations, read from MLIR text."""

from __future__ import annotations

import re
from collections.abc import Callable

from affdsl.ir.attributes import (
    ArrayAttr,
    Attribute,
    Attributes,
    DenseArrayAttr,
    DenseAttr,
    DictAttr,
    FloatAttr,
    IntegerAttr,
    MapAttr,
    OpaqueAttr,
    StringAttr,
    SymbolAttr,
    TypeAttr,
    UnitAttr,
)
from affdsl.ir.location import Location
from affdsl.ir.maps import AffineMap
from affdsl.ir.opaque_types import scalar, shaped
from affdsl.ir.types import F64, I1, I64, FloatType, IndexType, IntegerType, OpaqueType, Type
from affdsl.mlir.elements import (
    NotNumbersError,
    check_array,
    check_elements,
    check_item,
    check_number,
    check_sparse,
    value_of,
)
from affdsl.mlir.enumerations import problem_of_attribute
from affdsl.mlir.names import function_symbol, string
from affdsl.mlir.scanner import Scanner, unescaped
from affdsl.mlir.types import Types

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*')
_BARE = re.compile(r"[A-Za-z_][\w$.]*", re.A)


class AttributeReader(Types):
    """Reads attributes at the scanner's place."""

    def __init__(self, scanner: Scanner) -> None:
        super().__init__(scanner, self.attribute_shown)
        self._named_attributes: dict[str, Attribute] = {}
        self._distinct: dict[int, str] = {}

    def attribute(self) -> Attribute:
        """An attribute of any kind."""
        return self.nested(self._attribute)

    def dictionary(self) -> Attributes:
        """`{name = attribute, name, ...}`; nothing at all is the empty one."""
        if self.scanner.token != "{":
            return ()
        place = self.scanner.start
        found = self.listed(self._entry, "{", "}")
        if len(dict(found)) != len(found):
            self.scanner.fail("an attribute stands twice in this dictionary", place)
        return found

    def symbol(self) -> str:
        """`@name` or `@"any name"`."""
        s = self.scanner
        if not s.token.startswith("@") or s.token == "@":
            s.fail(f"expected a symbol, like @name{f', not {s.token}' if s.token else ''}")
        text = s.advance()[1:]
        return unescaped(text) if text.startswith('"') else text

    def symbol_path(self) -> tuple[str, ...]:
        """`@a` or `@a::@b`"""
        path = [self.symbol()]
        while self.scanner.accept("::"):
            path.append(self.symbol())
        return tuple(path)

    def trailing_location(self) -> Location | None:
        """`loc(...)`, or nothing."""
        if self.scanner.token != "loc" or self.scanner.peek() != "(":
            return None
        self.scanner.advance()
        self.scanner.expect("(")
        name = self.scanner.token
        if name[:1] == "#" and name not in self._aliases:  # only here, and as the whole, it may be defined below
            before, self._ahead = self._ahead, True
            found = self.aliased(name, self._aliased_location, self.later(name))
            self._ahead = before
        else:
            found = self.nested(self._location)
        self.scanner.expect(")")
        return found

    def _entry(self) -> tuple[str, Attribute]:
        s = self.scanner
        if not s.is_string and not s.is_word:
            s.fail("expected the name of an attribute")
        name = s.string() if s.is_string else s.word()
        if not name:
            s.fail("the name of an attribute is empty")
        return name, self.attribute() if s.accept("=") else UnitAttr()

    def _attribute(self) -> Attribute:
        s = self.scanner
        token = s.token
        match token:
            case "[":
                return ArrayAttr(self.listed(self.attribute, "[", "]"))
            case "{":
                return DictAttr(self.dictionary())
            case "true" | "false":
                return IntegerAttr(int(s.advance() == "true"), I1)
            case "unit":
                s.advance()
                return UnitAttr()
            case "affine_map" | "affine_set":
                return MapAttr(self.map_or_set())
            case "(" if self._is_bare_map():
                return MapAttr(self.map_or_set())
            case "array" if s.peek() == "<":
                return self._dense_array()
            case "dense":
                return self._dense()
            case "sparse":
                return self._sparse()
            case "dense_resource":
                return self._resource()
            case "strided":
                return OpaqueAttr(str(self.strided()))
            case "distinct" if s.peek() == "[":
                return self._told_apart()
            case "loc" if s.peek() == "(":
                s.advance()
                s.advance()
                found = self.nested(self._location)
                s.expect(")")
                return OpaqueAttr(location_text(found))
            case "-":
                return self._number()
        if s.is_string:
            value = s.string()
            return StringAttr(value, self.type() if s.accept(":") else None)
        if token[:1] == "@":
            return SymbolAttr(self.symbol_path())
        if token[:1] == "#":
            return self._named()
        if token[:1].isdigit():
            return self._number()
        if self.is_type:
            return TypeAttr(self.type())
        return s.fail("expected an attribute")

    def _is_bare_map(self) -> bool:
        """Whether `(` begins a map or set of 2019, and no type of a function."""
        s = self.scanner
        here = s.place
        s.advance()
        found = s.is_word and not self.is_type
        if s.accept(")"):
            found = s.token in ("[", ":") or (s.accept("->") and s.accept("(") and s.token != ")" and not self.is_type)
        s.go_to(here)
        return found

    def _named(self) -> Attribute:
        """`#alias` or `#dialect.name<...>`"""
        s = self.scanner
        name = s.token
        if name in self._aliases:
            if name not in self._named_attributes:
                self._named_attributes[name] = self.aliased(name, self.attribute)
                return self._named_attributes[name]
            s.advance()
            return self._named_attributes[name]
        place = s.start
        s.advance()
        if s.token == "<":
            name += self.expanded()
        elif "." not in name:
            s.fail(f"{name} is not defined above", place)
        if (problem := problem_of_attribute(name)) is not None:
            s.fail(problem, place)
        if not s.accept(":"):
            return OpaqueAttr(name)
        type = self.type()
        return OpaqueAttr(f"{name} : {type}", type)

    def alias_text(self, name: str) -> str:
        """What an alias stands for, as text; the alias is passed."""
        return super().alias_text(name) if name.startswith("!") else self.attribute_shown()

    def attribute_shown(self) -> str:
        """An attribute of any kind, as MLIR writes it."""
        return attribute_text(self.attribute())

    def _number(self) -> Attribute:
        s = self.scanner
        sign = "-" if s.accept("-") else ""
        token, place = s.token, s.start
        if not token[:1].isdigit():
            s.fail("expected a number")
        if "." in token:
            s.advance()
            type = self.type() if s.accept(":") else F64
            if not isinstance(type, FloatType) and self._kind(type) != "float":
                s.fail(f"{token} is no number of type {type}, for that is no float: 1.0 : f32 is one", place)
            return FloatAttr(sign + token, type)
        s.advance()
        type = self.type() if s.accept(":") else I64
        if isinstance(type, FloatType) or self._kind(type) == "float":
            self._checked(lambda: check_number(sign + token, str(type)), place)
            return FloatAttr(sign + token, type)
        if not isinstance(type, IntegerType | IndexType) and self._kind(type) != "integer":
            s.fail(f"there are no numbers of type {type}", place)
        self._checked(lambda: check_number(sign + token, str(type)), place)
        return IntegerAttr(value_of(sign + token), type)

    def _kind(self, type: Type) -> str:
        """What the numbers of a type without a class are; empty if it has none."""
        found = scalar(str(type)) if isinstance(type, OpaqueType) else None
        return "" if found is None else found.kind

    def _checked(self, check: Callable[[], None], place: int) -> None:
        """Refuse at a place what a check refuses."""
        try:
            check()
        except NotNumbersError as problem:
            self.scanner.fail(str(problem), place)

    def _dense(self) -> DenseAttr:
        place, body, type = self._elements()
        try:
            check_elements(body, type)
        except NotNumbersError as problem:
            self.scanner.fail(f"{problem}; this is dense<...> of type {type}", place)
        return DenseAttr(body, type)

    def _sparse(self) -> OpaqueAttr:
        place, body, type = self._elements()
        self._checked(lambda: check_sparse(body, type), place)
        return OpaqueAttr(f"sparse<{body}> : {type}", type)

    def _elements(self) -> tuple[int, str, Type]:
        """`<...> : type` after a word: the place, what stands in the brackets, and the type."""
        s = self.scanner
        place = s.start
        s.advance()
        if s.token != "<":
            s.fail("expected '<'")
        body = _COMMENT.sub(lambda m: m[1] or "", s.balanced()[1:-1]).strip()
        s.expect(":")
        return place, body, self.type()

    def _resource(self) -> OpaqueAttr:
        """`dense_resource<name> : type`"""
        s = self.scanner
        s.advance()
        s.expect("<")
        if not s.is_string and not s.is_word:
            s.fail("expected the name of a resource")
        name = s.advance()
        s.expect(">")
        s.expect(":")
        place, type = s.start, self.type()
        if shaped(type) is None:
            s.fail(f"dense_resource<...> is for vectors, tensors and buffers, not for {type}", place)
        return OpaqueAttr(f"dense_resource<{name}> : {type}", type)

    def _told_apart(self) -> OpaqueAttr:
        """`distinct[0]<attribute>`: one number stands for one attribute in the whole text."""
        s = self.scanner
        place = s.start
        s.advance()
        s.expect("[")
        if not s.token.isdigit():
            s.fail("expected the number of a distinct attribute")
        number = s.natural()
        s.expect("]")
        s.expect("<")
        inner = "" if s.token == ">" else self.attribute_shown()
        s.expect(">")
        if self._distinct.setdefault(number, inner) != inner:
            s.fail(f"distinct[{number}] is {self._distinct[number] or 'unit'} above, and cannot be {inner}", place)
        return OpaqueAttr(f"distinct[{number}]<{inner}>")

    def _dense_array(self) -> DenseArrayAttr:
        s = self.scanner
        s.advance()
        s.expect("<")
        place, type = s.start, self.type()
        self._checked(lambda: check_array(type), place)
        items: list[str] = []
        if s.accept(":"):
            items.append(self._dense_item(type))
            while s.accept(","):
                items.append(self._dense_item(type))
        s.expect(">")
        return DenseArrayAttr(type, tuple(items))

    def _dense_item(self, type: Type) -> str:
        s = self.scanner
        place, sign = s.start, "-" if s.accept("-") else ""
        text = sign + s.advance()
        self._checked(lambda: check_item(text, type), place)
        found = scalar(str(type))
        whole = found is not None and found.kind == "integer" and text not in ("true", "false")
        return str(value_of(text)) if whole else text

    def _location(self) -> Location:
        s = self.scanner
        if s.token[:1] == "#":
            return self.aliased(s.token, self._aliased_location)
        if s.accept("unknown"):
            return Location("", 0, 0, "unknown")
        if s.is_string:
            return self._place_or_name()
        if s.accept("callsite"):
            s.expect("(")
            callee = self.nested(self._location)
            s.expect("at")
            caller = self.nested(self._location)
            s.expect(")")
            text = f"callsite({_inner(callee)} at {_inner(caller)})"
            return Location(callee.file, callee.line, callee.column, text)
        if s.accept("fused"):
            metadata = ""
            if s.accept("<"):
                metadata = f"<{attribute_text(self.attribute())}>"
                s.expect(">")
            parts = self.listed(lambda: self.nested(self._location), "[", "]")
            text = f"fused{metadata}[{', '.join(map(_inner, parts))}]"
            best = parts[0] if parts else Location("", 0)
            return Location(best.file, best.line, best.column, text)
        return s.fail("expected a location")

    def _aliased_location(self) -> Location:
        found = self.trailing_location()
        return found if found is not None else self._location()

    def _place_or_name(self) -> Location:
        s = self.scanner
        name = s.string()
        if s.accept(":"):
            line = self._line_number()
            s.expect(":")
            column = self._line_number()
            if not s.accept("to"):
                return Location(name, line, column)
            end = str(self._line_number()) if s.token.isdigit() else ""
            s.expect(":")
            return Location(name, line, column, f"{string(name)}:{line}:{column} to {end}:{self._line_number()}")
        if s.accept("("):
            child = self.nested(self._location)
            s.expect(")")
            return Location(child.file, child.line, child.column, f"{string(name)}({_inner(child)})")
        return Location("", 0, 0, string(name))

    def _line_number(self) -> int:
        place = self.scanner.start
        number = self.scanner.natural()
        if number >= 2**32:
            self.scanner.fail(f"lines and columns are numbers below 2^32, not {number}", place)
        return number


def attribute_text(attribute: Attribute) -> str:
    """An attribute as MLIR writes it."""
    match attribute:
        case IntegerAttr(value, type):
            return ("true" if value else "false") if type == I1 else f"{value} : {type}"
        case FloatAttr(text, type):
            return f"{text} : {type}"
        case StringAttr(value, of):
            return string(value) if of is None else f"{string(value)} : {of}"
        case SymbolAttr(path):
            return symbol_text(path)
        case UnitAttr():
            return "unit"
        case TypeAttr(type):
            return str(type)
        case MapAttr(map):
            return f"{'affine_map' if isinstance(map, AffineMap) else 'affine_set'}<{map}>"
        case ArrayAttr(items):
            return f"[{', '.join(map_text(items))}]"
        case DictAttr(entries):
            return dictionary_text(entries) or "{}"
        case DenseArrayAttr(type, numbers):
            return f"array<{type}: {', '.join(numbers)}>" if numbers else f"array<{type}>"
        case DenseAttr(text, type):
            return f"dense<{text}> : {type}"
        case OpaqueAttr(text, _):
            return text


def map_text(items: tuple[Attribute, ...]) -> list[str]:
    """Each of several attributes as MLIR writes it."""
    return [attribute_text(item) for item in items]


def dictionary_text(attributes: Attributes) -> str:
    """`{a = 1 : i64, b}`; nothing where there are none."""
    return f"{{{', '.join([_entry_text(n, a) for n, a in attributes])}}}" if attributes else ""


def symbol_text(path: tuple[str, ...]) -> str:
    """@a::@b"""
    return "::".join([function_symbol(name) for name in path])


def location_text(location: Location) -> str:
    """loc(...)"""
    return f"loc({_inner(location)})"


def _inner(location: Location) -> str:
    if location.text:
        return location.text
    return f"{string(location.file)}:{location.line}:{location.column}" if location.file else "unknown"


def _entry_text(name: str, attribute: Attribute) -> str:
    shown = name if _BARE.fullmatch(name) else string(name)
    return shown if isinstance(attribute, UnitAttr) else f"{shown} = {attribute_text(attribute)}"


def type_of(attribute: Attribute | None) -> Type | None:
    """The type that an attribute is; None if it is none."""
    return attribute.type if isinstance(attribute, TypeAttr) else None
