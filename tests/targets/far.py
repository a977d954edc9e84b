"""Machines that are not here: how C is compiled for each, with vectors of its own where it has some, and emulated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tests.harness.batch import UNREACHABLE, C
from tests.harness.machines import WASM

SVE_BITS = (128, 256, 512, 1024, 2048)
"""The lengths of registers that the emulator of 64-bit ARM has."""
RVV_BITS = (128, 256, 512, 1024)
"""Those that the emulator of RISC-V has."""


@dataclass(frozen=True)
class Far:
    """A machine: what compiles for it and runs there."""

    name: str
    shown: str
    """The machine in words."""
    vectors: str
    """What its vectors are, in words."""
    way: C
    vector_types: bool = True
    """Whether vectors are values of the vector types of compilers; otherwise they are arrays and loops, as in C11."""

    @property
    def compiled(self) -> str:
        """What compiles for it, but for flags that choose no machine."""
        told = (flag for flag in self.way.flags if flag.startswith(("-m", "--target")))
        return " ".join([self.way.compiler, *self.way.first, *told])


def _gcc(machine: str, *flags: str, runner: tuple[str, ...], order: Literal["<", ">"] = "<") -> C:
    return C(f"{machine}-linux-gnu-gcc", ("-static", *flags, *UNREACHABLE), runner=runner, order=order)


def _sve() -> Iterator[Far]:
    for bits in SVE_BITS:
        runner = ("qemu-aarch64", "-cpu", f"max,sve-default-vector-length={bits // 8}")
        shown, told = f"64-bit ARM, SVE of {bits} bits", "-march=armv8.2-a+sve"
        yield Far(f"sve-{bits}", shown, "of any length", _gcc("aarch64", told, runner=runner))
        fixed = _gcc("aarch64", told, f"-msve-vector-bits={bits}", runner=runner)
        yield Far(f"sve-{bits}-fixed", shown, "of this length", fixed)


def _rvv() -> Iterator[Far]:
    # clang's own loops would be others; with qemu before 8 the emulator ends at conversions of several roundings.
    told = ("--target=riscv64-linux-gnu", "-static", "-fno-vectorize", "-fno-slp-vectorize")
    for bits in RVV_BITS:
        runner = ("qemu-riscv64", "-cpu", f"rv64,v=true,vext_spec=v1.0,vlen={bits}")
        shown = f"RISC-V, RVV of {bits} bits"
        yield Far(f"rvv-{bits}", shown, "of any length", C("clang-22", (*told, "-march=rv64gcv"), runner=runner))
        exact = C("clang-22", (*told, f"-march=rv64gcv_zvl{bits}b", "-mrvv-vector-bits=zvl"), runner=runner)
        yield Far(f"rvv-{bits}-fixed", shown, "of this length", exact)


def _s390x(*flags: str, cpu: str) -> C:
    return _gcc("s390x", "-fexcess-precision=fast", *flags, runner=("qemu-s390x", "-cpu", cpu), order=">")


def _zig(cpu: str) -> C:
    return C("zig", (f"-mcpu={cpu}",), first=WASM, runner=("wasmtime",))


_ARM, _PPC = ("qemu-aarch64", "-cpu", "max"), ("qemu-ppc64le", "-cpu", "power9")
_NONE = "none"

FAR = (
    *_sve(),
    Far("aarch64", "64-bit ARM", "NEON", _gcc("aarch64", runner=_ARM)),
    Far("aarch64-plain", "64-bit ARM", _NONE, _gcc("aarch64", "-march=armv8-a+nosimd", runner=_ARM), False),
    *_rvv(),
    Far("riscv64-plain", "RISC-V", _NONE, _gcc("riscv64", runner=("qemu-riscv64",))),
    Far("s390x-plain", "s390x, the greatest byte first", _NONE, _s390x(cpu="qemu")),
    Far("s390x", "s390x, the greatest byte first", "of z15", _s390x("-march=z15", cpu="max")),
    Far("ppc64le", "POWER, the least byte first", "VSX", _gcc("powerpc64le", runner=_PPC)),
    Far("ppc64le-plain", "POWER, the least byte first", _NONE,
        _gcc("powerpc64le", "-mno-vsx", "-mno-altivec", runner=_PPC)),
    Far("wasm32-plain", "WebAssembly of 32 bits", _NONE, _zig("baseline")),
    Far("wasm32", "WebAssembly of 32 bits", "simd128", _zig("baseline+simd128")),
)  # fmt: skip
"""All of them: the longest registers, the other order of bytes, addresses of 32 bits, and no vectors at all."""
