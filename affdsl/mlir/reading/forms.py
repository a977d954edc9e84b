"""The custom form of opaque operations: a table, and what reads by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from affdsl.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    SymbolAttr,
    TypeAttr,
    UnitAttr,
)
from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.ir.mixed import unmixed
from affdsl.ir.opaque_types import shaped
from affdsl.ir.types import I1, I64, INDEX, FunctionType, IntegerType, Type, VectorType
from affdsl.mlir.attributes import AttributeReader
from affdsl.mlir.parser import Head, Parser, Reader, Use
from affdsl.mlir.reading.devices import DEVICES
from affdsl.mlir.reading.form import Form, names
from affdsl.mlir.reading.opaque import by_name, opaque, parted
from affdsl.mlir.reading.views import mixed
from affdsl.mlir.scanner import Scanner

I32 = IntegerType(32)
OPEN = -(2**63)
"""What stands for a number that is a value among those that are known."""


def _integer(type: Type) -> Callable[[Parser], Attribute]:
    return lambda p: IntegerAttr(p.scanner.integer(), type)


def _typed(p: Parser) -> Attribute:
    return p.attribute()


def _numbers(p: Parser) -> Attribute:
    return DenseArrayAttr(I64, p.listed(lambda: str(p.scanner.integer()), "[", "]"))


def _groups(p: Parser) -> Attribute:
    def group() -> Attribute:
        return ArrayAttr(p.listed(lambda: IntegerAttr(p.scanner.integer(), I64), "[", "]"))

    return ArrayAttr(p.listed(group, "[", "]"))


def _truth(p: Parser) -> Attribute:
    if p.scanner.token not in ("true", "false"):
        p.scanner.fail("expected true or false")
    return OpaqueAttr(p.scanner.advance())


def _within(dialect: str) -> Callable[[Parser], Attribute]:
    """A word as `#dialect<... word>`"""
    return lambda p: OpaqueAttr(f"#{dialect} {p.scanner.word()}>")


def _flags(dialect: str) -> Callable[[Parser], Attribute]:
    """`<a, b>` as `#dialect<a, b>`"""
    return lambda p: OpaqueAttr(f"#{dialect}{p.scanner.balanced()}")


def _comparison(names: str) -> Callable[[Parser], Attribute]:
    """A string as the number of a predicate."""
    known = names.split()

    def read(p: Parser) -> Attribute:
        place, word = p.scanner.start, p.scanner.string()
        if word not in known:
            p.scanner.fail(f"expected one of {', '.join(known)}", place)
        return IntegerAttr(known.index(word), I64)

    return read


KINDS: Mapping[str, Callable[[Parser], Attribute]] = {
    "attr": _typed,
    "bool": _truth,
    "cmp": _within("index<cmp_predicate"),
    "dimension": _within("gpu<dim"),
    "fastmath": _flags("arith.fastmath"),
    "fcmp": _comparison("_false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno _true"),
    "groups": _groups,
    "i32": _integer(I32),
    "i64": _integer(I64),
    "icmp": _comparison("eq ne slt sle sgt sge ult ule ugt uge"),
    "index": _integer(INDEX),
    "llvmfast": _flags("llvm.fastmath"),
    "numbers": _numbers,
    "overflow": _flags("llvm.overflow"),
    "reduction": _within("gpu<all_reduce_op"),
    "shuffle": _within("gpu<shuffle_mode"),
    "string": lambda p: StringAttr(p.scanner.string()),
    "symbol": lambda p: SymbolAttr(p.symbol_path()),
    "type": lambda p: TypeAttr(p.type()),
}


_CAST = Form("%source {} : <source> to <result>")
_SLICE = "mixed:offsets mixed:sizes mixed:strides {} :"
_TILED = (
    "(? outer_dims_perm = outer_dims_perm:numbers ?) inner_dims_pos = inner_dims_pos:numbers "
    "inner_tiles = mixed:inner_tiles into"
)
_OF_RESULT = Form("{} : <result>")
_INDEX = {"lhs": "index", "rhs": "index", "result": "index"}
_FAST = "(? fastmath fastmath:fastmath ?)"

FORMS: Mapping[str, Form] = {
    # memref, vector, cf, ub: what has no class
    "memref.assume_alignment": Form("%memref , alignment:i32 {} : <memref>", {"result": "memref"}),
    "memref.atomic_yield": Form("%value {} : <value>"),
    "memref.extract_aligned_pointer_as_index": Form("%source {} : <source> -> <result>"),
    "memref.memory_space_cast": _CAST,
    "memref.realloc": Form(
        "%source (? ( %size ) ?) {} : <source> to <result>", {"size": "index"}, own="alignment"
    ),
    "vector.deinterleave": Form("%source {} : <source> -> <result,result2>"),
    "vector.interleave": Form("%lhs , %rhs {} : <lhs,rhs> -> <result>"),
    "vector.scalable.extract": Form("%source [ pos:i64 ] {} : <result> from <source>"),
    "vector.scalable.insert": Form("%source , %dest [ pos:i64 ] {} : <source> into <dest>", {"result": "dest"}),
    "vector.type_cast": _CAST,
    "vector.vscale": Form("{}", {"result": "index"}),
    "cf.assert": Form("%arg , msg:string {}", {"arg": "i1"}),
    "ub.unreachable": Form("{}"),
    # tensor
    "tensor.empty": Form("( %sizes* ) {} : <result>", {"sizes": "index"}),
    "tensor.extract": Form(
        "%tensor [ %indices* ] {} : <tensor>", {"indices": "index", "result": "element tensor"}
    ),
    "tensor.insert": Form(
        "%scalar into %dest [ %indices* ] {} : <dest>",
        {"scalar": "element dest", "indices": "index", "result": "dest"},
    ),
    "tensor.dim": Form("{} %source , %index : <source>", {"index": "index", "result": "index"}),
    "tensor.rank": Form("%tensor {} : <tensor>", {"result": "index"}),
    "tensor.cast": _CAST,
    "tensor.bitcast": _CAST,
    "tensor.from_elements": Form("%elements* {} : <result>", {"elements": "element result"}),
    "tensor.splat": Form(
        "%input (? [ %sizes* ] ?) {} : <result>", {"input": "element result", "sizes": "index"}
    ),
    "tensor.extract_slice": Form(f"%source {_SLICE} <source> to <result>", segments=True),
    "tensor.insert_slice": Form(f"%source into %dest {_SLICE} <source> into <dest>", {"result": "dest"}, segments=True),
    "tensor.parallel_insert_slice": Form(f"%source into %dest {_SLICE} <source> into <dest>", segments=True),
    "tensor.collapse_shape": Form("%source reassociation:groups {} : <source> into <result>"),
    "tensor.expand_shape": Form(
        "%source reassociation:groups output_shape mixed:output_shape {} : <source> into <result>"
    ),
    "tensor.reshape": Form("%source ( %shape ) {} : fn"),
    "tensor.concat": Form("dim ( dim:i64 ) %inputs* {} : fn"),
    "tensor.gather": Form("%source [ %indices ] gather_dims ( gather_dims:numbers ) unique:unit {} : fn"),
    "tensor.scatter": Form(
        "%source into %dest [ %indices ] scatter_dims ( scatter_dims:numbers ) unique:unit {} : fn"
    ),
    "tensor.yield": Form("%value {} : <value>"),
    # bufferization
    "bufferization.to_buffer": Form("%tensor read_only:unit {} : <tensor> to <result>", own="read_only"),
    "bufferization.to_tensor": Form(
        "%buffer restrict:unit writable:unit {} : <buffer> to <result>", own="restrict writable"
    ),
    "bufferization.alloc_tensor": Form(
        "( %sizes* ) (? copy ( %copy ) ?) (? size_hint = %hint ?) {} : <result>",
        {"sizes": "index", "copy": "result", "hint": "index"}, "sizes copy hint", segments=True, own="memory_space",
    ),
    "bufferization.clone": _CAST,
    "bufferization.dealloc_tensor": Form("%tensor {} : <tensor>"),
    "bufferization.materialize_in_destination": Form("%source in restrict:unit writable:unit %dest {} : fn"),
    "bufferization.dealloc": Form(
        "(? ( %memrefs* : <memrefs*> ) if ( %conditions* ) ?) (? retain ( %retained* : <retained*> ) ?) {}",
        {"conditions": "i1", "result": "i1 each retained"}, segments=True,
    ),
    # linalg
    "linalg.pack": Form(
        f"%source (? padding_value ( %padding_value : <padding_value> ) ?) {_TILED} %dest {{}} : <source> -> <dest>",
        {"result": "dest"}, "source dest padding_value", segments=True,
    ),
    "linalg.unpack": Form(f"%source {_TILED} %dest {{}} : <source> -> <dest>", {"result": "dest"}),
    "linalg.yield": Form("{} (? %values* : <values*> ?)"),
    "linalg.index": Form("dim:i64 {} : <result>"),
    # index
    "index.constant": Form("value:index {}", {"result": "index"}),
    "index.bool.constant": Form("value:bool {}", {"result": "i1"}),
    "index.cmp": Form("pred:cmp ( %lhs , %rhs ) {}", {"lhs": "index", "rhs": "index", "result": "i1"}),
    "index.casts": _CAST,
    "index.castu": _CAST,
    "index.sizeof": Form("{}", {"result": "index"}),
    **names(
        "index",
        "add sub mul divs divu ceildivs ceildivu floordivs rems remu maxs maxu mins minu shl shrs shru and or xor",
        Form("%lhs , %rhs {}", _INDEX),
    ),
    # gpu
    **names(
        "gpu",
        "thread_id block_id block_dim grid_dim global_id cluster_id cluster_dim cluster_block_id cluster_dim_blocks",
        Form("dimension:dimension (? upper_bound upper_bound:index ?) {}", {"result": "index"}),
    ),
    **names(
        "gpu", "lane_id subgroup_id num_subgroups subgroup_size",
        Form("(? upper_bound upper_bound:index ?) {} (? : <result> ?)", {"result": "index"}),
    ),
    "gpu.barrier": Form("{}"),
    "gpu.terminator": Form("{}"),
    "gpu.return": Form("{} (? %values* : <values*> ?)"),
    "gpu.shuffle": Form(
        "mode:shuffle %value , %offset , %width {} : <value>",
        {"offset": "i32", "width": "i32", "result": "value", "result2": "i1"},
    ),
    "gpu.subgroup_reduce": Form("op:reduction %value uniform:unit {} : fn"),
    "gpu.host_register": Form("%value {} : <value>"),
    "gpu.printf": Form("format:string (? , %args* : <args*> ?) {}"),
    # llvm
    "llvm.mlir.constant": Form("( value:attr ) {} : <result>"),
    **names("llvm", "mlir.undef mlir.zero mlir.poison", _OF_RESULT),
    "llvm.mlir.addressof": Form("global_name:symbol {} : <result>"),
    **names(
        "llvm", "add sub mul shl",
        Form("%lhs , %rhs (? overflow overflowFlags:overflow ?) {} : <lhs,rhs,result>"),
    ),
    **names("llvm", "sdiv udiv lshr ashr", Form("isExact=exact:unit %lhs , %rhs {} : <lhs,rhs,result>")),
    **names("llvm", "srem urem and xor", Form("%lhs , %rhs {} : <lhs,rhs,result>")),
    "llvm.or": Form("isDisjoint=disjoint:unit %lhs , %rhs {} : <lhs,rhs,result>"),
    **names("llvm", "fadd fsub fmul fdiv frem", Form("%lhs , %rhs {} : <lhs,rhs,result>", own="fastmathFlags")),
    "llvm.fneg": Form("%operand {} : <operand,result>", own="fastmathFlags"),
    "llvm.icmp": Form("predicate:icmp %lhs , %rhs {} : <lhs,rhs>", {"result": "i1 like lhs"}),
    "llvm.fcmp": Form("predicate:fcmp %lhs , %rhs {} : <lhs,rhs>", {"result": "i1 like lhs"}, own="fastmathFlags"),
    **names(
        "llvm",
        "bitcast sext trunc inttoptr ptrtoint sitofp fptosi fptoui fpext fptrunc addrspacecast",
        _CAST,
    ),
    **names("llvm", "zext uitofp", Form("nonNeg=nneg:unit %source {} : <source> to <result>")),
    "llvm.load": Form("volatile_=volatile:unit %address {} : <address> -> <result>", own="alignment nontemporal"),
    "llvm.store": Form(
        "volatile_=volatile:unit %value , %address {} : <value> , <address>", own="alignment nontemporal"
    ),
    "llvm.alloca": Form("inalloca:unit %size x elem_type:type {} : fn", own="alignment"),
    "llvm.select": Form("%condition , %first , %second {} : <condition> , <first,second,result>", own="fastmathFlags"),
    "llvm.freeze": Form("%value {} : <value,result>"),
    **names(
        "llvm.intr", "exp exp2 log log2 log10 sqrt pow sin cos fabs floor ceil round rint fma fmuladd maxnum minnum",
        Form("( %operands* ) {} : fn", own="fastmathFlags"),
    ),
    # complex
    "complex.create": Form(
        "%real , %imaginary {} : <result>", {"real": "element result", "imaginary": "element result"}
    ),
    "complex.constant": Form("value:attr {} : <result>"),
    **names("complex", "re im abs angle", Form(f"%x {_FAST} {{}} : <x>", {"result": "element x"})),
    **names(
        "complex", "neg exp log sqrt rsqrt sin cos tan tanh conj sign expm1 log1p",
        Form(f"%x {_FAST} {{}} : <x,result>"),
    ),
    **names("complex", "add sub mul div pow atan2", Form(f"%lhs , %rhs {_FAST} {{}} : <lhs,rhs,result>")),
    **names("complex", "eq neq", Form("%lhs , %rhs {} : <lhs,rhs>", {"result": "i1"})),
    "complex.bitcast": _CAST,
    # shape, async, omp
    "shape.shape_of": Form("%arg {} : <arg> -> <result>"),
    "async.await": Form("%token {} : <token>"),
    "async.create_group": Form("%size {} : <result>", {"size": "index"}),
    "async.add_to_group": Form("%token , %group {} : <token>", {"group": "!async.group", "result": "index"}),
    "async.await_all": Form("%group {}", {"group": "!async.group"}),
    **names("omp", "barrier terminator taskwait taskyield", Form("{}")),
    **DEVICES,
}  # fmt: skip
"""How each operation is written."""


def read_form(p: Parser, head: Head) -> Op:
    """An operation of the table."""
    return _Reading(p, head, FORMS[head.name]).read()


class _Reading:
    """One operation on its way."""

    def __init__(self, p: Parser, head: Head, form: Form) -> None:
        self.p, self.head, self.form = p, head, form
        self.operands: dict[str, tuple[Use, ...]] = {}  # those without a type
        self.numbers: dict[str, tuple[Value, ...]] = {}  # those that stand among numbers
        self.types: dict[str, tuple[Type, ...]] = {}
        self.properties: list[tuple[str, Attribute]] = []
        self.attributes: tuple[tuple[str, Attribute], ...] = ()

    def read(self) -> Op:
        """The operation."""
        p, form = self.p, self.form
        self._words(iter(form.text.split()))
        said = form.order.split() or [w.strip("%*") for w in form.text.split() if w[0] == "%"]
        said += [w.removeprefix("mixed:") for w in form.text.split() if w.startswith("mixed:")]
        groups = [self._values(name) for name in said]
        results = [t for name in ("result", "result2") for t in self._types(name, len(self.types.get(name, (1,))))]
        if form.segments:
            sizes = tuple([str(len(group)) for group in groups])
            self.properties.append(("operandSegmentSizes", DenseArrayAttr(I32, sizes)))
        own, rest = parted(self.attributes, form.own.split())
        operands = [v for group in groups for v in group]
        return opaque(p, self.head, operands, results, by_name((*self.properties, *own)), rest)

    def _words(self, words: Iterator[str]) -> None:
        for word in words:
            if word == "?)":
                return
            self._word(word, words)

    def _word(self, word: str, words: Iterator[str]) -> None:
        p, s = self.p, self.p.scanner
        name, _, kind = word.partition(":")
        if word == "(?":
            inside = self._inside(words)
            if self._begins(inside[0]):
                self._words(iter(inside))
        elif word == "{}":
            self.attributes += p.dictionary()
        elif word == "fn":
            type = p.type()
            if not isinstance(type, FunctionType):
                s.fail("expected the types of operands and results, like (f32) -> f32", self.head.offset)
            uses = [use for group in self.operands.values() for use in group]
            if len(uses) != len(type.inputs):
                s.fail(f"{len(uses)} operands, but {len(type.inputs)} types", self.head.offset)
            inputs = iter(type.inputs)
            self.types |= {name: tuple([next(inputs) for _ in group]) for name, group in self.operands.items()}
            self.types["result"] = type.results
        elif word[0] == "%":
            several = word[-1] == "*"
            self.operands[word.strip("%*")] = tuple(p.uses_or_none()) if several else (p.use(),)
        elif word[0] == "<" and len(word) > 1:
            types = tuple(p.type_list()) if word[-2] == "*" else (p.type(),)
            self.types |= dict.fromkeys(word.strip("<*>").split(","), types)
        elif name == "mixed":
            static, values = unmixed(mixed(p))
            self.numbers[kind] = values
            shown = tuple([str(OPEN if number is None else number) for number in static])
            self.properties.append((f"static_{kind}", DenseArrayAttr(I64, shown)))
        elif kind == "unit":
            name, _, keyword = name.partition("=")
            if s.accept(keyword or name):
                self.properties.append((name, UnitAttr()))
        elif kind:
            self.properties.append((name, KINDS[kind](p)))
        else:
            s.expect(word)

    def _inside(self, words: Iterator[str]) -> list[str]:
        found: list[str] = []
        for word in words:
            if word == "?)":
                break
            found.append(word)
        return found

    def _begins(self, word: str) -> bool:
        return self.p.is_value if word[0] == "%" else self.p.scanner.token == word

    def _values(self, name: str) -> tuple[Value, ...]:
        if name in self.numbers:
            return self.numbers[name]
        uses = self.operands.get(name, ())
        if not uses:
            return ()
        return self.p.typed(uses, self._types(name, len(uses)), self.head.offset)

    def _types(self, name: str, count: int) -> tuple[Type, ...]:
        """The types of operands or results: as they stand there, or as they follow."""
        if name in self.types:
            return self.types[name]
        match self.form.types.get(name, "").split():
            case []:
                return ()
            case ["index"]:
                type: Type = INDEX
            case ["i1"]:
                type = I1
            case ["i32"]:
                type = I32
            case ["i1", "like", other]:
                type = self._types(other, 1)[0]
                type = VectorType(type.shape, I1, type.scalable) if isinstance(type, VectorType) else I1
            case ["i1", "each", other]:
                return (I1,) * len(self.operands.get(other, ()))
            case ["element", other]:
                type = self._element(self.types[other][0])
            case [other] if other[0] == "!":
                type = _type_of(other)
            case [other]:
                return self._types(other, 1)
        return (type,) * count

    def _element(self, type: Type) -> Type:
        found = shaped(type)
        text = str(type)
        if found is not None:
            return _type_of(found.element)
        if text.startswith("complex<"):
            return _type_of(text[len("complex<") : -1])
        self.p.scanner.fail(f"{self.head.name} needs a tensor or a complex number, not {type}", self.head.offset)


def _type_of(text: str) -> Type:
    return AttributeReader(Scanner(text, "")).type()


READERS: Mapping[str, Reader] = dict.fromkeys(FORMS, read_form)
