"""Operations that the IR has no class for, as symbols of affine expressions inside of a loop: mlir-opt says which."""

import pytest

from affdsl.errors import VerificationError
from affdsl.ir.dialects.opaque import MAKE_SYMBOLS_OF_SYMBOLS
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests.mlir.batches import judge

AN_INDEX = {
    **{kind: f'%s = "{kind}"(%n, %n) : (index, index) -> index' for kind in (
        "index.add", "index.and", "index.ceildivs", "index.ceildivu", "index.divs", "index.divu", "index.floordivs",
        "index.maxs", "index.maxu", "index.mins", "index.minu", "index.mul", "index.or", "index.rems", "index.remu",
        "index.shl", "index.shrs", "index.shru", "index.sub", "index.xor")},
    **{f"gpu.{name}": f"%s = gpu.{name} x" for name in (
        "block_dim", "block_id", "cluster_block_id", "cluster_dim", "cluster_id", "global_id", "grid_dim",
        "thread_id")},
    **{f"gpu.{name}": f"%s = gpu.{name}{type}" for name, type in {
        "lane_id": "", "num_subgroups": " : index", "subgroup_id": " : index", "subgroup_size": " : index"}.items()},
    "builtin.unrealized_conversion_cast": "%s = builtin.unrealized_conversion_cast %n : index to index",
    "index.casts": "%s = index.casts %w : i32 to index",
    "index.constant": "%s = index.constant 7",
    "index.sizeof": "%s = index.sizeof",
    "tensor.dim of what comes from a loop": "%s = tensor.dim %e, %n : tensor<?xf32>",
    "tensor.dim": "%s = tensor.dim %t, %n : tensor<?xf32>",
    "test.unknown": '%s = "test.unknown"() : () -> index',
    "vector.extract": "%s = vector.extract %v[0] : index from vector<4xindex>",
    "vector.vscale": "%s = vector.vscale",
}  # fmt: skip


def is_accepted(program: str) -> bool:
    try:
        verify(parse(program))
    except VerificationError:
        return False
    return True


@pytest.mark.parametrize("operand", ["%n", "%i"])
def test_what_other_dialects_make_of_symbols_is_a_symbol_where_mlir_opt_says_so(operand):
    programs = [
        f"""func.func @f(%A: memref<?xf32>, %t: tensor<?xf32>, %n: index, %w: i32, %v: vector<4xindex>) {{
          affine.for %i = 0 to %n {{
            %e = tensor.empty(%n) : tensor<?xf32>
            {text.replace("%n", operand)}
            affine.for %j = 0 to %n {{ %x = affine.load %A[%j + symbol(%s)] : memref<?xf32> }}
          }}
          return
        }}"""
        for text in AN_INDEX.values()
    ]
    accepted = [verdict.output is not None for verdict in judge(programs, "--allow-unregistered-dialect")]
    ours = [is_accepted(program) for program in programs]
    assert dict(zip(AN_INDEX, ours, strict=True)) == dict(zip(AN_INDEX, accepted, strict=True))
    symbols = {name for name, yes in zip(AN_INDEX, ours, strict=True) if yes} - {"tensor.dim"}
    assert {"index.constant", "gpu.thread_id"} <= symbols <= MAKE_SYMBOLS_OF_SYMBOLS
    assert operand == "%i" or symbols == MAKE_SYMBOLS_OF_SYMBOLS
