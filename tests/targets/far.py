"""Machines that are not here: how C is compiled for each, with vectors of its own where it has some, and emulated."""

from __future__ import annotations

from dataclasses import dataclass

from tests.harness.batch import UNREACHABLE, C

SVE_BITS = (128, 256, 512, 1024, 2048)
"""The lengths of registers that the emulator of 64-bit ARM has."""
RVV_BITS = (128, 256, 512, 1024)
"""Those that the emulator of RISC-V has."""


@dataclass(frozen=True)
class Far:
    """A machine: what compiles for it and runs there."""

    name: str
    way: C
    vector_types: bool = True
    """Whether vectors are values of the vector types of compilers; otherwise they are arrays and loops, as in C11."""


def _arm(bits: int) -> tuple[str, ...]:
    return "qemu-aarch64", "-cpu", f"max,sve-default-vector-length={bits // 8}"


def _riscv(bits: int) -> tuple[str, ...]:
    return "qemu-riscv64", "-cpu", f"rv64,v=true,vext_spec=v1.0,vlen={bits}"


def _gcc(machine: str, *flags: str, runner: tuple[str, ...], order: str = "<") -> C:
    return C(
        f"{machine}-linux-gnu-gcc", ("-static", *flags, *UNREACHABLE), runner=runner, order=">" if order == ">" else "<"
    )


def _zig(*flags: str) -> C:
    return C("zig", flags, first=("cc", "-target", "wasm32-wasi"), runner=("wasmtime",))


_SVE = "-march=armv8.2-a+sve"
_RVV = ("--target=riscv64-linux-gnu", "-static", "-march=rv64gcv", "-fno-vectorize", "-fno-slp-vectorize")

FAR = (
    *(Far(f"sve-{bits}", _gcc("aarch64", _SVE, runner=_arm(bits))) for bits in SVE_BITS),
    *(
        Far(f"sve-{bits}-fixed", _gcc("aarch64", _SVE, f"-msve-vector-bits={bits}", runner=_arm(bits)))
        for bits in SVE_BITS
    ),
    Far("aarch64-without-vectors", _gcc("aarch64", "-march=armv8-a+nosimd", runner=_arm(128)), vector_types=False),
    *(Far(f"rvv-{bits}", C("clang-22", _RVV, runner=_riscv(bits))) for bits in RVV_BITS),
    Far("riscv64-without-vectors", _gcc("riscv64", runner=("qemu-riscv64",))),
    Far("s390x", _gcc("s390x", "-fexcess-precision=fast", runner=("qemu-s390x",), order=">")),
    Far("s390x-z15", _gcc("s390x", "-fexcess-precision=fast", "-march=z15", runner=("qemu-s390x", "-cpu", "max"), order=">")),
    Far("ppc64le", _gcc("powerpc64le", runner=("qemu-ppc64le",))),
    Far("wasm32", _zig("-mcpu=baseline")),
    Far("wasm32-simd128", _zig("-mcpu=baseline+simd128")),
)
