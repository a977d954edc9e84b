"""Operations of the vector dialect that the IR has no class for, read from their custom form and kept as they are."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import Attribute, OpaqueAttr, StringAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.mlir.generic.vector import COMBINE
from affdsl.mlir.irregular.vector import then
from affdsl.mlir.kinds import read_combine
from affdsl.mlir.parser import Head, Parser, Reader, Reading
from affdsl.mlir.reading.opaque import opaque, parted


def read_scan(p: Parser, head: Head) -> Op:
    """`vector.scan <add>, %v, %init {inclusive = true, reduction_dim = 0} : vector<...>, vector<...>`"""
    combine = COMBINE.to_attribute(read_combine(p))
    assert combine is not None, "a kind is never left out"
    uses = [then(p), then(p)]
    said = p.dictionary()
    types = [p.colon_type()]
    p.scanner.expect(",")
    types.append(p.type())
    operands = p.typed(uses, types)
    own, rest = parted(said, ("inclusive", "reduction_dim"))
    return opaque(p, head, operands, types, (*own, ("kind", combine)), rest)


def read_print(p: Parser, head: Head) -> Op:
    """`vector.print %v : vector<4xf32> punctuation <comma>`, or `vector.print str "text"`"""
    s = p.scanner
    p.no_results(head)
    use = p.use() if p.is_value else None
    operands = () if use is None else (p.resolve(use, p.colon_type()),)
    properties: list[tuple[str, Attribute]] = []
    mark = "newline"
    if s.accept("punctuation"):
        s.expect("<")
        mark = s.word()
        s.expect(">")
    properties.append(("punctuation", OpaqueAttr(f"#vector.punctuation<{mark}>")))
    if s.accept("str"):
        properties.append(("stringLiteral", StringAttr(s.string())))
    attributes = p.dictionary()
    return opaque(p, head, operands, (), properties, attributes)


def read_mask(p: Parser, head: Head) -> Reading:
    """`vector.mask %m, %pass { operation } : vector<...> -> type`"""
    s = p.scanner
    mask = p.use()
    passed = [p.use()] if s.accept(",") else []
    s.expect("{")
    before = p.enter()
    ops = yield
    p.leave(before)
    s.expect("}")
    attributes = p.dictionary()
    types = [p.colon_type()]
    results: tuple[Value, ...] = ()
    if s.accept("->"):
        place, found = s.start, p.types()
        results = p.results(head, found)
        types += found if passed else ()
        if len(passed) > len(found):
            s.fail("there is no result that values could be given for", place)
    operands = p.typed([mask, *passed], types)
    location = p.trailing_location() or head.location
    match ops:
        case (*_, Opaque(kind="vector.yield")):
            body = ops
        case _:
            given = tuple(ops[-1].defines()) if ops else ()
            body = (*ops, Opaque("vector.yield", given, (), location=location))
    region = OpaqueRegion((OpaqueBlock("", (), body),))
    return Opaque(head.name, operands, results, (), (region,), location=location, attributes=attributes)


def read_yield(p: Parser, head: Head) -> Op:
    """`vector.yield %x : f32`"""
    p.no_results(head)
    uses = p.uses_or_none()
    attributes = p.dictionary()
    types = p.type_list() if uses and p.scanner.accept(":") else []
    return opaque(p, head, p.typed(uses, types), (), said=attributes)


READERS: Mapping[str, Reader] = {
    "vector.scan": read_scan,
    "vector.print": read_print,
    "vector.mask": read_mask,
    "vector.yield": read_yield,
}
