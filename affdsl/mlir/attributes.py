"""Attributes and locations, read from MLIR text."""

from __future__ import annotations

import re

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
from affdsl.ir.types import F64, I1, I64, FloatType, IndexType, IntegerType, OpaqueType, Type
from affdsl.mlir.names import function_symbol, string
from affdsl.mlir.scanner import unescaped
from affdsl.mlir.types import Types

_BARE = re.compile(r"[A-Za-z_][\w$.]*", re.A)


class AttributeReader(Types):
    """Reads attributes at the scanner's place."""

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
            s.fail("expected a symbol, like @name")
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
        found = self.nested(self._location)
        self.scanner.expect(")")
        return found

    def _entry(self) -> tuple[str, Attribute]:
        s = self.scanner
        name = s.string() if s.is_string else s.word()
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
            case "array" if s.peek() == "<":
                return self._dense_array()
            case "dense":
                return self._dense()
            case "sparse" | "dense_resource":
                word = s.advance()
                body = self.expanded()
                s.expect(":")
                type = self.type()
                return OpaqueAttr(f"{word}{body} : {type}", type)
            case "strided":
                return OpaqueAttr(str(self.strided()))
            case "distinct" if s.peek() == "[":
                first = s.start
                s.advance()
                s.balanced()
                s.balanced()
                return OpaqueAttr(s.text[first : s.start].rstrip())
            case "loc" if s.peek() == "(":
                found = self.trailing_location()
                assert found is not None, "the token was seen"
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

    def _named(self) -> Attribute:
        """`#alias` or `#dialect.name<...>`"""
        s = self.scanner
        name = s.token
        if name in self._aliases:
            return self.aliased(name, self.attribute)
        place = s.start
        s.advance()
        if s.token == "<":
            name += self.expanded()
        elif "." not in name:
            s.fail(f"{name} is not defined", place)
        if not s.accept(":"):
            return OpaqueAttr(name)
        type = self.type()
        return OpaqueAttr(f"{name} : {type}", type)

    def alias_text(self, name: str) -> str:
        """What an alias stands for, as text; the alias is passed."""
        return super().alias_text(name) if name.startswith("!") else attribute_text(self.attribute())

    def _number(self) -> Attribute:
        s = self.scanner
        sign = "-" if s.accept("-") else ""
        token, place = s.token, s.start
        if not token[:1].isdigit():
            s.fail("expected a number")
        if "." in token:
            s.advance()
            type = self.type() if s.accept(":") else F64
            if not isinstance(type, FloatType | OpaqueType):
                s.fail(f"{token} is no number of type {type}", place)
            return FloatAttr(sign + token, type)
        number = s.natural()
        type = self.type() if s.accept(":") else I64
        if isinstance(type, OpaqueType) and token[:2] == "0x":
            return FloatAttr(sign + token, type)
        if isinstance(type, FloatType):
            if token[:2] != "0x":
                s.fail(f"a number of type {type} needs a decimal point", place)
            return FloatAttr(sign + token, type)
        if not isinstance(type, IntegerType | IndexType | OpaqueType):
            s.fail(f"there are no numbers of type {type}", place)
        value = -number if sign else number
        if not isinstance(type, OpaqueType) and not fits(value, type):
            s.fail(f"{value} does not fit into {type}", place)
        return IntegerAttr(value, type)

    def _dense(self) -> DenseAttr:
        s = self.scanner
        s.advance()
        if s.token != "<":
            s.fail("expected '<'")
        body = s.balanced()[1:-1].strip()
        s.expect(":")
        return DenseAttr(body, self.type())

    def _dense_array(self) -> DenseArrayAttr:
        s = self.scanner
        s.advance()
        s.expect("<")
        type = self.type()
        items: list[str] = []
        if s.accept(":") and s.token != ">":
            items.append(self._dense_item())
            while s.accept(","):
                items.append(self._dense_item())
        s.expect(">")
        return DenseArrayAttr(type, tuple(items))

    def _dense_item(self) -> str:
        s = self.scanner
        sign = "-" if s.accept("-") else ""
        if not (s.token[:1].isdigit() or s.token in ("true", "false")):
            s.fail("expected a number")
        return sign + s.advance()

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
            line = s.natural()
            s.expect(":")
            column = s.natural()
            if not s.accept("to"):
                return Location(name, line, column)
            end = str(s.natural()) if s.token.isdigit() else ""
            s.expect(":")
            return Location(name, line, column, f"{string(name)}:{line}:{column} to {end}:{s.natural()}")
        if s.accept("("):
            child = self.nested(self._location)
            s.expect(")")
            return Location(child.file, child.line, child.column, f"{string(name)}({_inner(child)})")
        return Location("", 0, 0, string(name))


def fits(value: int, type: IntegerType | IndexType) -> bool:
    """Whether an integer type holds a number, read as signed or as unsigned where the type leaves that open."""
    if isinstance(type, IndexType):
        return -(2**63) <= value < 2**63
    low = 0 if type.sign == "u" else -(1 << type.width - 1)
    high = 1 << (type.width - 1 if type.sign == "s" else type.width)
    return low <= value < high


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


def integer_of(attribute: Attribute | None) -> int | None:
    """The number that an attribute is; None if it is none."""
    return attribute.value if isinstance(attribute, IntegerAttr) else None


def type_of(attribute: Attribute | None) -> Type | None:
    """The type that an attribute is; None if it is none."""
    return attribute.type if isinstance(attribute, TypeAttr) else None
