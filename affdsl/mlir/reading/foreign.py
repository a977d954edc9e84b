"""The custom form of operations of other dialects that have blocks, or a form of their own: kept as they are."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from affdsl.ir.attributes import (
    ArrayAttr,
    Attribute,
    Attributes,
    DenseArrayAttr,
    DictAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    SymbolAttr,
    TypeAttr,
    UnitAttr,
)
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.mixed import unmixed
from affdsl.ir.types import I32, I64, INDEX, FunctionType, OpaqueType, Type
from affdsl.mlir.generic.rows import segments
from affdsl.mlir.generic.views import static_attribute
from affdsl.mlir.linalg import KEYWORDS, NAMED, NOT_SAID
from affdsl.mlir.parser import Head, Parser, Reader, Reading, Use
from affdsl.mlir.pieces import mixed_list
from affdsl.mlir.reading import regions
from affdsl.mlir.reading.aggregates import read_extractvalue, read_insertvalue, read_spirv_constant
from affdsl.mlir.reading.opaque import Properties, by_name, opaque, parted

Found = Generator[None, Block, OpaqueRegion]


def _region(p: Parser, head: Head, end: str = "", args: tuple[Value, ...] = ()) -> Found:
    """`{ blocks }`; `end` is put at the end of a single block that lacks it, `args` are those of the first block."""
    blocks = yield from regions.read_region(p, head)
    if len(blocks) <= 1 and (args or end):
        body = blocks[0].body if blocks else ()
        own = blocks[0].args if blocks else ()
        if end and not (body and isinstance(body[-1], Opaque) and body[-1].kind == end):
            body = (*body, Opaque(end, (), (), location=head.location))
        blocks = (OpaqueBlock("", args or own, body),)
    elif args:
        blocks = (OpaqueBlock(blocks[0].label, args, blocks[0].body), *blocks[1:])
    return OpaqueRegion(blocks)


def _typed_group(p: Parser, word: str) -> tuple[Value, ...]:
    """`ins(%a, %b : type, type)`, or nothing"""
    s = p.scanner
    if not s.accept(word):
        return ()
    s.expect("(")
    if s.accept(")"):
        return ()
    uses = p.uses()
    s.expect(":")
    values = p.typed(uses, p.type_list())
    s.expect(")")
    return values


def _results(p: Parser) -> tuple[Type, ...]:
    return p.types() if p.scanner.accept("->") else ()


def read_linalg_generic(p: Parser, head: Head) -> Reading:
    """`linalg.generic {indexing_maps = [...], iterator_types = [...]} ins(...) outs(...) attrs = {} {...} -> type`"""
    s = p.scanner
    said = _traits(p)
    own: Properties = [e for e in said if e[0] in ("indexing_maps", "iterator_types", "doc", "library_call")]
    own = [(name, _iterators(a) if name == "iterator_types" else a) for name, a in own]
    rest = [e for e in said if e[0] not in dict(own)]
    ins, outs = _typed_group(p, "ins"), _typed_group(p, "outs")
    if s.accept("attrs"):
        s.expect("=")
        rest += p.dictionary()
    region = yield from _region(p, head)
    own.append(segments(len(ins), len(outs)))
    return opaque(p, head, (*ins, *outs), _results(p), by_name(own), tuple(rest), (region,))


def _traits(p: Parser) -> Attributes:
    """`{indexing_maps = ...}`, or the alias `#traits` of such a dictionary"""
    s, place = p.scanner, p.scanner.start
    if not s.token.startswith("#"):
        return p.dictionary()
    match p.attribute():
        case DictAttr(items):
            return items
    s.fail("expected a dictionary of attributes with indexing_maps and iterator_types", place)


def _iterators(attribute: Attribute) -> Attribute:
    """["parallel"] as the generic form has it."""
    items = attribute.items if isinstance(attribute, ArrayAttr) else ()
    kinds = [OpaqueAttr(f"#linalg.iterator_type<{i.value}>") if isinstance(i, StringAttr) else i for i in items]
    return ArrayAttr(tuple(kinds)) if isinstance(attribute, ArrayAttr) else attribute


def read_linalg_named(p: Parser, head: Head) -> Op:
    """`linalg.matmul ins(%a, %b : type, type) outs(%c : type) -> type`: what it computes follows from its name"""
    s = p.scanner
    own: Properties = []
    while s.token in KEYWORDS and s.peek() == "=":
        name = s.advance()
        s.expect("=")
        own.append((name, p.attribute()))
    said = p.dictionary()
    ins, outs = _typed_group(p, "ins"), _typed_group(p, "outs")
    while s.token in KEYWORDS and s.peek() == "=":
        name = s.advance()
        s.expect("=")
        own.append((name, DenseArrayAttr(I64, p.listed(lambda: str(s.integer()), "[", "]"))))
    said += p.dictionary()
    types = _results(p)
    if head.name in NOT_SAID:
        types = tuple([v.type for v in outs if isinstance(v.type, OpaqueType)])
    else:
        own.append(segments(len(ins), len(outs)))
    return opaque(p, head, (*ins, *outs), types, by_name(own), said)


def read_linalg_map(p: Parser, head: Head) -> Reading:
    """`linalg.map ins(...) outs(...) (%x: f32) { ... }`, and reduce with `dimensions = [1]`"""
    s = p.scanner
    ins, outs = _typed_group(p, "ins"), _typed_group(p, "outs")
    own: Properties = []
    if s.accept("dimensions"):
        s.expect("=")
        own.append(("dimensions", DenseArrayAttr(I64, p.listed(lambda: str(s.integer()), "[", "]"))))
    said = p.dictionary()
    before = p.enter()
    args = tuple([p.define(a.use, a.type, a.location) for a in p.listed(p.block_parameter)])
    region = yield from _region(p, head, "", args)
    p.leave(before)
    if head.name == "linalg.reduce":
        own.append(segments(len(ins), len(outs)))
    types = tuple([v.type for v in outs if isinstance(v.type, OpaqueType)])
    return opaque(p, head, (*ins, *outs), types, by_name(own), said, (region,))


def read_generate(p: Parser, head: Head) -> Reading:
    """`tensor.generate %n { ^bb0(%i: index): ... } : tensor<?xf32>`"""
    uses = p.uses_or_none()
    sizes = p.typed(uses, (INDEX,) * len(uses))
    region = yield from _region(p, head)
    said = p.dictionary()
    return opaque(p, head, sizes, (p.colon_type(),), [], said, (region,))


def read_pad(p: Parser, head: Head) -> Reading:
    """`tensor.pad %t low[0, %n] high[1, 2] { ^bb0(...): tensor.yield ... } : type to type`"""
    s, use = p.scanner, p.use()
    own: Properties = [("nofold", UnitAttr())] if s.accept("nofold") else []
    found = []
    for name in ("low", "high"):
        s.expect(name)
        static, values = unmixed(mixed_list(p))
        own.append((f"static_{name}", static_attribute(static)))
        found.append(values)
    region = yield from _region(p, head)
    said = p.dictionary()
    source = p.resolve(use, p.colon_type())
    s.expect("to")
    type = p.type()
    own.append(segments(1, *map(len, found)))
    return opaque(p, head, (source, *found[0], *found[1]), (type,), by_name(own), said, (region,))


def _sizes(p: Parser) -> list[tuple[Use, Value]]:
    """`(%x = %n, %y = %m, %z = %k)`"""

    def pair() -> tuple[Use, Value]:
        use = p.use()
        p.scanner.expect("=")
        return use, p.operand(INDEX)

    return list(p.listed(pair))


def read_launch(p: Parser, head: Head) -> Reading:
    """`gpu.launch blocks(%a, %b, %c) in (%d = %n, ...) threads(...) in (...) { ... gpu.terminator }`"""
    s = p.scanner
    if s.token in ("async", "["):
        s.fail("gpu.launch async is read in generic form only: mlir-opt --mlir-print-op-generic writes it")
    names: list[Use] = []
    dims: list[list[tuple[Use, Value]]] = []
    for word in ("clusters", "blocks", "threads"):
        if word == "clusters" and s.token != word:
            continue
        s.expect(word)
        names += p.listed(p.use)
        s.expect("in")
        dims.append(_sizes(p))
    clusters = dims[0] if len(dims) == 3 else []
    blocks, threads = dims[-2:]
    memory: tuple[Value, ...] = ()
    if s.accept("dynamic_shared_memory_size"):
        memory = (p.operand(I32),)
    own: Properties = []
    for word in ("module", "function"):
        if s.accept(word):
            s.expect("(")
            own.append((word, SymbolAttr(p.symbol_path())))
            s.expect(")")
    before = p.enter()
    order = [*names, *[use for group in (*dims[-2:], *dims[:-2]) for use, _ in group]]
    # The arguments: ids of clusters come after those of blocks and threads, sizes alike.
    if clusters:
        order = [*names[3:], *[u for g in (blocks, threads) for u, _ in g], *names[:3], *[u for u, _ in clusters]]
    args = [p.define(use, INDEX) for use in order]
    local: list[int] = []
    for word in ("workgroup", "private"):
        count = 0
        if s.accept(word):
            found = p.listed(p.block_parameter)
            args += [p.define(a.use, a.type, a.location) for a in found]
            count = len(found)
        local.append(count)
    counted: Attributes = (("workgroup_attributions", IntegerAttr(local[0], I64)),)
    region = yield from _region(p, head, "", tuple(args))
    p.leave(before)
    said = (*p.dictionary(), *counted)
    operands = [v for group in (blocks, threads) for _, v in group] + [v for _, v in clusters]
    sizes = [0, *[1] * 6, *([1] * 3 if clusters else [0] * 3), len(memory)]
    own.append(segments(*sizes))
    return opaque(p, head, (*operands, *memory), (), by_name(own), said, (region,))


def _dependences(p: Parser) -> tuple[tuple[Value, ...], tuple[Type, ...]]:
    """`async [%a, %b]`: what is waited for, and the token that it gives"""
    s = p.scanner
    token = OpaqueType("!gpu.async.token")
    types: tuple[Type, ...] = (token,) if s.accept("async") else ()
    uses = p.listed(p.use, "[", "]") if s.token == "[" else ()
    return p.typed(uses, (token,) * len(uses)), types


def read_gpu_order(p: Parser, head: Head) -> Op:
    """`gpu.memcpy async [%t] %a, %b : type, type`, and what else waits for others and takes its operands alike"""
    waited, types = _dependences(p)
    if head.name == "gpu.wait":
        return opaque(p, head, waited, types, [], p.dictionary())
    uses = p.uses()
    said = p.dictionary()
    p.scanner.expect(":")
    return opaque(p, head, (*waited, *p.typed(uses, p.type_list())), types, [], said)


def read_gpu_alloc(p: Parser, head: Head) -> Op:
    """`gpu.alloc async [%t] host_shared (%n)[%s] : type`"""
    s = p.scanner
    waited, types = _dependences(p)
    own: Properties = [("hostShared", UnitAttr())] if s.accept("host_shared") else []
    groups = [p.listed(p.use)]
    groups.append(p.listed(p.use, "[", "]") if s.token == "[" else ())
    said = p.dictionary()
    sizes, symbols = [p.typed(uses, (INDEX,) * len(uses)) for uses in groups]
    own.append(segments(len(waited), len(sizes), len(symbols)))
    return opaque(p, head, (*waited, *sizes, *symbols), (p.colon_type(), *types), by_name(own), said)


def read_gpu_module(p: Parser, head: Head) -> Reading:
    """`gpu.module @name attributes {...} { ... }`"""
    own: Properties = [("sym_name", StringAttr(p.symbol()))]
    if p.scanner.token == "[":
        own.append(("targets", p.attribute()))
    said = p.dictionary() if p.scanner.accept("attributes") else ()
    p.enter_isolated()
    region = yield from _region(p, head)
    p.leave_isolated()
    if not region.blocks_inside:
        region = OpaqueRegion((OpaqueBlock("", (), ()),))
    return opaque(p, head, (), (), by_name(own), said, (region,))


def read_gpu_func(p: Parser, head: Head) -> Reading:
    """`gpu.func @f(%a: type) -> type workgroup(%w: type) private(%p: type) kernel attributes {...} { ... }`"""
    s = p.scanner
    said: Properties = [("sym_name", StringAttr(p.symbol()))]
    own: Properties = []
    p.enter_isolated()
    parameters = p.listed(p.parameter)
    args = [p.define(a.use, a.type, a.location) for a in parameters]
    results: tuple[tuple[Type, Attributes], ...] = ()
    if s.accept("->"):
        results = p.listed(lambda: (p.type(), p.dictionary())) if s.token == "(" else ((p.type(), ()),)
    type = FunctionType(tuple([a.type for a in args]), tuple([t for t, _ in results]))
    own.append(("function_type", TypeAttr(type)))
    if any(a.attributes for a in parameters):
        own.append(("arg_attrs", ArrayAttr(tuple([DictAttr(a.attributes) for a in parameters]))))
    shared = 0
    for word in ("workgroup", "private"):
        if s.accept(word):
            found = p.listed(p.parameter)
            args += [p.define(a.use, a.type, a.location) for a in found]
            shared += len(found) if word == "workgroup" else 0
    said.append(("workgroup_attributions", IntegerAttr(shared, I64)))
    if s.accept("kernel"):
        said.append(("gpu.kernel", UnitAttr()))
    if s.accept("attributes"):
        said += p.dictionary()
    inherent = ("known_block_size", "known_grid_size", "known_cluster_size")
    given, rest = parted(said, inherent)
    own += given
    region = yield from _region(p, head, "", tuple(args))
    p.leave_isolated()
    return opaque(p, head, (), (), by_name(own), rest, (region,))


def read_launch_func(p: Parser, head: Head) -> Op:
    """`gpu.launch_func @m::@f blocks in (%a, %b, %c) threads in (...) args(%x : type, ...)`"""
    s = p.scanner
    if s.token in ("async", "[", "<"):
        s.fail("gpu.launch_func async is read in generic form only: mlir-opt --mlir-print-op-generic writes it")
    own: Properties = [("kernel", SymbolAttr(p.symbol_path()))]
    uses: dict[str, tuple[Use, ...]] = {}
    for word in ("clusters", "blocks", "threads"):
        if s.accept(word):
            s.expect("in")
            uses[word] = p.listed(p.use)
    type: Type = p.colon_type() if s.token == ":" else INDEX
    groups = {word: p.typed(found, (type,) * len(found)) for word, found in uses.items()}
    memory = (p.operand(I32),) if s.accept("dynamic_shared_memory_size") else ()
    handed: tuple[Value, ...] = ()
    if s.accept("args"):

        def argument() -> Value:
            use = p.use()
            return p.resolve(use, p.colon_type())

        handed = p.listed(argument)
    clusters = groups.get("clusters", ())
    sizes = [0, *[1] * 6, *([1] * 3 if clusters else [0] * 3), len(memory), len(handed), 0]
    own.append(segments(*sizes))
    operands = (*groups.get("blocks", ()), *groups.get("threads", ()), *clusters, *memory, *handed)
    return opaque(p, head, operands, (), by_name(own), p.dictionary())


def read_getelementptr(p: Parser, head: Head) -> Op:
    """`llvm.getelementptr inbounds %p[%i, 0] : (!llvm.ptr, i64) -> !llvm.ptr, f32`"""
    s = p.scanner
    flags = 3 if s.accept("inbounds") else 0
    base = p.use()
    constants: list[str] = []
    uses = [base]

    def index() -> None:
        if p.is_value:
            uses.append(p.use())
            constants.append(str(-(2**31)))
        else:
            constants.append(str(s.integer()))

    p.listed(index, "[", "]")
    said = p.dictionary()
    type = p.colon_function()
    s.expect(",")
    own: Properties = [("elem_type", TypeAttr(p.type())), ("rawConstantIndices", DenseArrayAttr(I32, tuple(constants)))]
    if flags:
        own.append(("noWrapFlags", OpaqueAttr(f"{flags} : i32")))
    return opaque(p, head, p.typed(uses, type.inputs, head.offset), type.results, by_name(own), said)


def read_llvm_call(p: Parser, head: Head) -> Op:
    """`llvm.call @f(%a) : (i32) -> i32`"""
    callee = SymbolAttr(p.symbol_path())
    uses = p.listed(p.use)
    said = p.dictionary()
    type = p.colon_function()
    operands = p.typed(uses, type.inputs, head.offset)
    own: Properties = [("callee", callee), segments(len(operands), 0)]
    own.append(("op_bundle_sizes", DenseArrayAttr(I32, ())))
    return opaque(p, head, operands, type.results, by_name(own), said)


def read_region(p: Parser, head: Head) -> Reading:
    """`omp.parallel { ... }`, and what else is a region alone"""
    region = yield from _region(p, head)
    own: Properties = []
    if head.name == "omp.parallel":
        own.append(segments(*[0] * 6))
    return opaque(p, head, (), (), by_name(own), p.dictionary(), (region,))


READERS: Mapping[str, Reader] = {
    "linalg.generic": read_linalg_generic,
    "linalg.map": read_linalg_map,
    "linalg.reduce": read_linalg_map,
    **dict.fromkeys(NAMED, read_linalg_named),
    "tensor.generate": read_generate,
    "tensor.pad": read_pad,
    "gpu.launch": read_launch,
    "gpu.alloc": read_gpu_alloc,
    **dict.fromkeys(("gpu.dealloc", "gpu.memcpy", "gpu.memset", "gpu.wait"), read_gpu_order),
    "gpu.module": read_gpu_module,
    "gpu.func": read_gpu_func,
    "gpu.launch_func": read_launch_func,
    "llvm.getelementptr": read_getelementptr,
    "llvm.call": read_llvm_call,
    "llvm.extractvalue": read_extractvalue,
    "llvm.insertvalue": read_insertvalue,
    "spirv.Constant": read_spirv_constant,
    "omp.master": read_region,
    "omp.parallel": read_region,
    "test.isolated_graph_region": read_region,
}
