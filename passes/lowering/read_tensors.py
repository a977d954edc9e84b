"""Turns tensors that are only read element by element into buffers: arguments, and constants as global buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.ir.attributes import DenseAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, vector
from affdsl.ir.dialects.func import Call, Func, Module
from affdsl.ir.dialects.opaque import Opaque, symbol_of
from affdsl.ir.expr import Term, Value
from affdsl.ir.opaque_types import shaped
from affdsl.ir.traverse import rewrite, substitute, users, walk, with_fields
from affdsl.ir.types import MemRefType, OpaqueType, Type
from affdsl.mlir.attributes import AttributeReader
from affdsl.mlir.constants import numbers_of
from affdsl.mlir.elements import NotNumbersError
from affdsl.mlir.scanner import ParseError, Scanner

_READS = (
    affine.Load, affine.VectorLoad, memref.Load, memref.Dim, memref.Rank, vector.Load, vector.TransferRead,
)  # fmt: skip
"""What may be done with the buffer of a tensor, which nobody may write."""


def read_tensors_as_buffers(module: Module) -> Module:
    """The same program with a buffer for each tensor that is an argument or a constant, and of which elements are read.

        func.func @f(%t: tensor<8xf32>)               ->  func.func @f(%t: memref<8xf32>)
        tensor.extract %t[%i]                         ->  memref.load %t[%i]
        arith.constant dense<[1, 2]> : tensor<2xi32>  ->  memref.get_global of a constant buffer

    A function of which a tensor argument is used in another way stays, and so does one that the module calls.

    >>> from affdsl.mlir.readers import parse
    >>> print(read_tensors_as_buffers(parse('''func.func @f(%t: tensor<8xf32>, %i: index) -> f32 {
    ...     %x = tensor.extract %t[%i] : tensor<8xf32>
    ...     return %x : f32
    ... }''')).functions[0])
    func.func @f(%t: memref<8xf32>, %i: index) -> f32 {
      %x = memref.load %t[%i] : memref<8xf32>
      return %x : f32
    }
    """
    called = {op.callee for op in walk(module) if isinstance(op, Call)}
    used = users(module)
    names = {symbol_of(op) if isinstance(op, Opaque) else getattr(op, "symbol", "") for op in module.body}
    made: list[memref.Global] = []
    body = []
    for op in module.body:
        new = op
        if isinstance(op, Func) and not op.external:
            new = _with_constants(op, used, names, made)
            if op.symbol not in called:
                new = _with_arguments(new, used)
        body.append(new)
    same = all(a is b for a, b in zip(body, module.body, strict=True))
    return module if same else with_fields(module, body=(*made, *body))


def _buffer_of(type: Type) -> MemRefType | None:
    """The type of a buffer with the elements of a tensor."""
    of = shaped(type) if isinstance(type, OpaqueType) and type.text.startswith("tensor<") else None
    if of is None or of.shape is None:
        return None
    sizes = "".join("?x" if size is None else f"{size}x" for size in of.shape)
    if type != OpaqueType(f"tensor<{sizes}{of.element}>"):
        return None  # it has an encoding
    try:
        found = AttributeReader(Scanner(f"memref<{sizes}{of.element}>", "")).type()
    except ParseError:
        return None
    return found if isinstance(found, MemRefType) else None


def _is_read(tensor: Value, used: Mapping[Value, Sequence[Op]]) -> bool:
    """Whether nothing is done with a tensor but to read it."""
    for op in used.get(tensor, ()):
        match op:
            case Opaque(kind="tensor.extract" | "tensor.dim" | "tensor.rank"):
                continue
            case Opaque(kind="bufferization.to_buffer", results=(buffer,)) if isinstance(buffer.type, MemRefType):
                if all(isinstance(reader, _READS) for reader in used.get(buffer, ())):
                    continue
        return False
    return True


def _with_arguments(function: Func, used: Mapping[Value, Sequence[Op]]) -> Func:
    """The function with buffers for its tensors; itself where one of them cannot be a buffer."""
    new: dict[Value, Term] = {}
    for arg in function.args:
        type = _buffer_of(arg.type)
        if type is not None and _is_read(arg, used):
            new[arg] = Value(type, arg.hint, arg.location)
        elif str(arg.type).startswith("tensor<"):
            return function
    if not new or any(str(type).startswith("tensor<") for type in function.result_types):
        return function
    args = tuple(new.get(arg, arg) for arg in function.args)
    return rewrite(with_fields(substitute(function, new), args=args), _of_buffer)


def _with_constants(
    function: Func, used: Mapping[Value, Sequence[Op]], names: set[str], made: list[memref.Global]
) -> Func:
    """The function with global buffers, which `made` gets, for constants that are only read."""

    def rule(op: Op) -> Op | None:
        match op:
            case Opaque(kind="arith.constant", results=(tensor,), properties=(("value", DenseAttr(text)),)):
                type = _buffer_of(tensor.type)
                if type is None or None in type.shape or not _is_read(tensor, used):
                    return None
                try:
                    numbers = numbers_of(DenseAttr(text, type), type)
                except NotNumbersError:
                    return None
                symbol = next(n for k in range(len(names) + 1) if (n := f"constant_{k}") not in names)
                names.add(symbol)
                made.append(memref.Global(symbol, type, numbers, constant=True, private=True, location=op.location))
                new[tensor] = Value(type, tensor.hint, tensor.location)
                return memref.GetGlobal(new[tensor], symbol, location=op.location)
        return None

    new: dict[Value, Value] = {}
    found = rewrite(function, rule)
    return rewrite(substitute(found, dict(new)), _of_buffer) if new else function


def _of_buffer(op: Op) -> Op | None:
    """What reads a tensor, where that is a buffer."""
    match op:
        case Opaque(operands=(buffer, *rest), results=(result,)) if isinstance(buffer.type, MemRefType):
            match op.kind:
                case "tensor.extract":
                    return memref.Load(result, buffer, tuple(rest), location=op.location)
                case "tensor.dim":
                    return memref.Dim(result, buffer, rest[0], location=op.location)
                case "tensor.rank":
                    return memref.Rank(result, buffer, location=op.location)
                case "bufferization.to_buffer":
                    return memref.Cast(result, buffer, location=op.location)
    return None
