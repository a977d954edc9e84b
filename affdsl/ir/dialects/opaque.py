"""Operations that the IR has no class for: kept as they are, and a barrier to every analysis."""

from __future__ import annotations

from affdsl.ir.attributes import Attribute, StringAttr
from affdsl.ir.core import Arguments, Op, Operands, Region, Results
from affdsl.ir.types import OpaqueType

DIALECTS = frozenset(("affine", "arith", "builtin", "cf", "func", "math", "memref", "scf", "ub", "vector"))
"""The dialects of which every operation is known."""
TERMINATORS = frozenset(
    (
        "affine.yield", "cf.br", "cf.cond_br", "cf.switch", "func.return", "memref.alloca_scope.return",
        "memref.atomic_yield", "scf.condition", "scf.forall.in_parallel", "scf.reduce", "scf.reduce.return",
        "scf.yield", "ub.unreachable", "vector.yield",
    )
)  # fmt: skip
"""The operations of DIALECTS that end a block."""


AFFINE_SCOPES = frozenset(("func.func", "gpu.func", "gpu.launch", "llvm.func", "test.affine_scope"))
"""The operations in whose own blocks every index is a symbol, and so is each that is visible from outside."""

MAKE_SYMBOLS_OF_SYMBOLS = frozenset(
    f"{dialect}.{name}"
    for dialect, names in {
        "builtin": "unrealized_conversion_cast",
        "gpu": "block_dim block_id cluster_block_id cluster_dim cluster_id global_id grid_dim lane_id num_subgroups "
        "subgroup_id subgroup_size thread_id",
        "index": "add and constant maxs maxu mins minu mul or shl shrs shru sizeof sub xor",
        "vector": "vscale",
    }.items()
    for name in names.split()
)
"""What mlir-opt 22 takes for pure (index.rems it does not): an index made of nothing but symbols is one."""


class Opaque(Op):
    """results = kind(operands): any operation of MLIR in its generic form.

    `properties` are the attributes that belong to the operation itself, `attributes` the others. `regions` holds an
    `OpaqueRegion` for each region, and `successors` names blocks of the region that holds the operation. Where nothing
    but its custom form is known, `text` is that, and it has no regions: every second piece is a name, a number that of
    an operand, and what begins with % a name that means something in this text alone.
    """

    kind: str
    operands: Operands
    results: Results
    properties: tuple[tuple[str, Attribute], ...] = ()
    regions: Region = ()
    successors: tuple[str, ...] = ()
    text: tuple[str | int, ...] = ()


UNTYPED = OpaqueType("a type that is not known")
"""Of a result whose type nothing says: its operation is text, and no other than such operations reads it."""


class OpaqueRegion(Op):
    """A region of an opaque operation: its blocks, each an `OpaqueBlock`."""

    name = "region"
    blocks_inside: Region


class OpaqueBlock(Op):
    """A block of an opaque operation: its label, its arguments, and all of its operations, terminator included."""

    name = "block"
    label: str
    args: Arguments
    body: Region


def symbol_of(op: Opaque) -> str:
    """The symbol that an operation defines; empty if it has none."""
    name = dict((*op.properties, *op.attributes)).get("sym_name")
    return name.value if isinstance(name, StringAttr) else ""


def must_end(op: Op) -> bool:
    """Whether an operation is a terminator, so that nothing may follow it in its block."""
    return op.is_terminator or (isinstance(op, Opaque) and (op.kind in TERMINATORS or bool(op.successors)))


def may_end(op: Op) -> bool:
    """Whether an operation is a terminator, or one of another dialect that may be one."""
    return must_end(op) or (isinstance(op, Opaque) and op.kind.partition(".")[0] not in DIALECTS)
