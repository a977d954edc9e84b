"""The custom form of the operations of memref, scf, cf and ub that the IR has no class for, and keeps as they are."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import Attribute, DenseArrayAttr, DenseAttr, MapAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion, must_end
from affdsl.ir.expr import Value
from affdsl.ir.maps import AffineMap
from affdsl.ir.mixed import Mixed, unmixed
from affdsl.ir.types import I32, INDEX, IndexType, IntegerType, Type, VectorType
from affdsl.mlir.generic.rows import segments
from affdsl.mlir.generic.views import static_attribute
from affdsl.mlir.parser import Head, Parser, Reader, Reading, Use
from affdsl.mlir.pieces import mixed_list
from affdsl.mlir.reading.opaque import opaque
from affdsl.mlir.reading.regions import read_target


def read_transpose(p: Parser, head: Head) -> Op:
    """`memref.transpose %A (i, j) -> (j, i) : memref<...> to memref<...>`"""
    use, place, map = p.use(), p.scanner.start, p.bare_map_or_set()
    if not isinstance(map, AffineMap):
        p.scanner.fail("expected a permutation, like (i, j) -> (j, i)", place)
    said = p.dictionary()
    source = p.resolve(use, p.colon_type())
    p.scanner.expect("to")
    return opaque(p, head, (source,), (p.type(),), (("permutation", MapAttr(map)),), said)


def read_distinct_objects(p: Parser, head: Head) -> Op:
    """`memref.distinct_objects %A, %B : memref<...>, memref<...>`"""
    uses, said = p.uses(), p.dictionary()
    p.scanner.expect(":")
    types = tuple(p.type_list())
    return opaque(p, head, p.typed(uses, types), types, said=said)


def read_generic_atomic(p: Parser, head: Head) -> Reading:
    """`memref.generic_atomic_rmw %A[%i] : memref<...> { ^bb0(%old: f32): ... }`"""
    s = p.scanner
    use = p.use()
    indices = p.listed(lambda: p.operand(INDEX), "[", "]")
    type = p.colon_memref(head)
    buffer = p.resolve(use, type)
    s.expect("{")
    around = p.enter()
    args: tuple[Value, ...] = ()
    if s.token[:1] == "^":
        s.advance()
        args = tuple([p.define(a.use, a.type, a.location) for a in p.listed(p.block_parameter)])
        s.expect(":")
    ops = yield
    s.expect("}")
    p.leave(around)
    said = p.dictionary()
    region = OpaqueRegion((OpaqueBlock("", args, ops),))
    return opaque(p, head, (buffer, *indices), (type.element,), said=said, regions=(region,))


def read_scope(p: Parser, head: Head) -> Reading:
    """`memref.alloca_scope -> (f32) { ... }`"""
    s = p.scanner
    types = p.types() if s.accept("->") else ()
    s.expect("{")
    around = p.enter()
    ops = yield
    s.expect("}")
    p.leave(around)
    said = p.dictionary()
    body = _ended(ops, Opaque("memref.alloca_scope.return", (), (), location=head.location))
    return opaque(p, head, (), types, said=said, regions=(OpaqueRegion((OpaqueBlock("", (), body),)),))


def _ended(ops: Block, terminator: Op) -> Block:
    return ops if ops and must_end(ops[-1]) else (*ops, terminator)


def read_forall(p: Parser, head: Head) -> Reading:
    """`scf.forall (%i, %j) in (4, %n) shared_outs(%a = %b) -> (type) { ... }`, or `= (0) to (%n) step (2)`"""
    s = p.scanner
    ivs = p.listed(p.use)
    if s.accept("in"):
        upper = mixed_list(p, "(", ")")
        lower: Mixed = (0,) * len(upper)
        step: Mixed = (1,) * len(upper)
    else:
        s.expect("=")
        lower = mixed_list(p, "(", ")")
        s.expect("to")
        upper = mixed_list(p, "(", ")")
        s.expect("step")
        step = mixed_list(p, "(", ")")
    p.same_numbers(head, ivs, lower, upper, step)
    pairs: tuple[tuple[Use, Use], ...] = ()
    types: tuple[Type, ...] = ()
    if s.accept("shared_outs"):
        pairs = p.listed(p.assignment)
        s.expect("->")
        types = p.types()
    outs = p.typed([init for _, init in pairs], types, head.offset)
    around = p.enter()
    args = tuple([p.define(iv, INDEX) for iv in ivs])
    args += tuple([p.define(name, type) for (name, _), type in zip(pairs, types, strict=True)])
    s.expect("{")
    ops = yield
    s.expect("}")
    p.leave(around)
    said = p.dictionary()
    parts = [unmixed(part) for part in (lower, upper, step)]
    sizes = (*[len(values) for _, values in parts], len(outs))
    names = ("staticLowerBound", "staticUpperBound", "staticStep")
    own: list[tuple[str, Attribute]] = [entry for entry in said if entry[0] == "mapping"]
    own.append(segments(*sizes))
    for name, (static, _) in zip(names, parts, strict=True):
        own.append((name, static_attribute(static)))
    inner = OpaqueRegion((OpaqueBlock("", (), ()),))
    end = Opaque("scf.forall.in_parallel", (), (), (), (inner,), location=head.location)
    region = OpaqueRegion((OpaqueBlock("", args, _ended(ops, end)),))
    operands = (*[value for _, values in parts for value in values], *outs)
    return opaque(p, head, operands, types, own, tuple([e for e in said if e not in own]), (region,))


def read_in_parallel(p: Parser, head: Head) -> Reading:
    """`scf.forall.in_parallel { ... }`"""
    s = p.scanner
    s.expect("{")
    around = p.enter()
    ops = yield
    s.expect("}")
    p.leave(around)
    return opaque(p, head, (), (), said=p.dictionary(), regions=(OpaqueRegion((OpaqueBlock("", (), ops),)),))


def read_switch(p: Parser, head: Head) -> Op:
    """`cf.switch %x : i32, [default: ^bb1(%a : f32), 42: ^bb2]`"""
    s = p.scanner
    use = p.use()
    place, type = s.start, p.colon_type()
    if not isinstance(type, IntegerType | IndexType):
        s.fail(f"cf.switch chooses by an integer, not by {type}", place)
    flag = p.resolve(use, type)
    s.expect(",")
    s.expect("[")
    s.expect("default")
    s.expect(":")
    labels: list[str] = []
    handed: list[tuple[Value, ...]] = []
    label, values = read_target(p)
    labels.append(label)
    numbers: list[int] = []
    while s.accept(","):
        numbers.append(s.integer())
        s.expect(":")
        label, given = read_target(p)
        labels.append(label)
        handed.append(given)
    s.expect("]")
    count = sum(map(len, handed))
    own: list[tuple[str, Attribute]] = [
        ("case_operand_segments", DenseArrayAttr(I32, tuple([str(len(given)) for given in handed]))),
        segments(1, len(values), count),
    ]
    if numbers:
        text = ", ".join(map(str, numbers))
        own.insert(1, ("case_values", DenseAttr(f"[{text}]", VectorType((len(numbers),), type))))
    operands = (flag, *values, *[value for given in handed for value in given])
    return opaque(p, head, operands, (), own, p.dictionary(), successors=tuple(labels))


READERS: Mapping[str, Reader] = {
    "cf.switch": read_switch,
    "memref.alloca_scope": read_scope,
    "memref.distinct_objects": read_distinct_objects,
    "memref.generic_atomic_rmw": read_generic_atomic,
    "memref.transpose": read_transpose,
    "scf.forall": read_forall,
    "scf.forall.in_parallel": read_in_parallel,
}
