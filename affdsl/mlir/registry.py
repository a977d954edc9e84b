"""The dialects of MLIR 22 by name, and all operations of those that the IR is made of."""

from __future__ import annotations

OPERATIONS: dict[str, frozenset[str]] = {
    dialect: frozenset(names.split())
    for dialect, names in {
        "affine": "apply delinearize_index dma_start dma_wait for if linearize_index load max min parallel prefetch "
            "store vector_load vector_store yield",
        "arith": "addf addi addui_extended andi bitcast ceildivsi ceildivui cmpf cmpi constant divf divsi divui extf "
            "extsi extui floordivsi fptosi fptoui index_cast index_castui maximumf maxnumf maxsi maxui minimumf "
            "minnumf minsi minui mulf muli mulsi_extended mului_extended negf ori remf remsi remui scaling_extf "
            "scaling_truncf select shli shrsi shrui sitofp subf subi truncf trunci uitofp xori",
        "builtin": "module unrealized_conversion_cast",
        "cf": "assert br cond_br switch",
        "complex": "abs add angle atan2 bitcast conj constant cos create div eq exp expm1 im log log1p mul neg neq pow "
            "powi re rsqrt sign sin sqrt sub tan tanh",
        "func": "call call_indirect constant func return",
        "math": "absf absi acos acosh asin asinh atan atan2 atanh cbrt ceil clampf copysign cos cosh ctlz ctpop cttz "
            "erf erfc exp exp2 expm1 floor fma fpowi ipowi isfinite isinf isnan isnormal log log10 log1p log2 "
            "powf round roundeven rsqrt sin sincos sinh sqrt tan tanh trunc",
        "memref": "alloc alloca alloca_scope alloca_scope.return assume_alignment atomic_rmw atomic_yield cast "
            "collapse_shape copy dealloc dim distinct_objects dma_start dma_wait expand_shape "
            "extract_aligned_pointer_as_index extract_strided_metadata generic_atomic_rmw get_global global load "
            "memory_space_cast prefetch rank realloc reinterpret_cast reshape store subview transpose view",
        "scf": "condition execute_region for forall forall.in_parallel if index_switch parallel reduce reduce.return "
            "while yield",
        "ub": "poison unreachable",
        "vector": "bitcast broadcast compressstore constant_mask contract create_mask deinterleave expandload extract "
            "extract_strided_slice fma from_elements gather insert insert_strided_slice interleave load mask "
            "maskedload maskedstore multi_reduction outerproduct print reduction scalable.extract scalable.insert "
            "scan scatter shape_cast shuffle step store to_elements transfer_read transfer_write transpose "
            "type_cast vscale yield",
    }.items()
}  # fmt: skip
"""What follows the dot in the names of a dialect's operations."""

OTHERS = frozenset(
    (
        "acc amdgpu amx arm_neon arm_sme arm_sve async bufferization dlti emitc gpu index irdl linalg "
        "llvm ml_program mpi nvgpu nvvm omp pdl pdl_interp ptr quant rocdl shape shard smt sparse_tensor "
        "spirv tensor test test_dyn test_irdl_to_cpp tosa transform wasmssa x86vector xegpu xevm"
    ).split()
)
"""The other dialects that mlir-opt knows."""


def is_registered(name: str) -> bool:
    """Whether the dialect of an operation, attribute or type is one that mlir-opt knows."""
    dialect = name.partition(".")[0]
    return dialect in OPERATIONS or dialect in OTHERS


def is_impossible(name: str) -> bool:
    """Whether an operation would belong to a dialect that has none of this name."""
    dialect, _, rest = name.partition(".")
    return dialect in OPERATIONS and rest not in OPERATIONS[dialect]
