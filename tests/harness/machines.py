"""How C is compiled for each instruction set, and run: on this CPU where it has it, or emulated."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.effort import TRIES_ALL
from tests.harness.batch import UNREACHABLE, C

ARM = ("qemu-aarch64", "-cpu", "max,sve-default-vector-length=16")
WIDER_ARM = ("qemu-aarch64", "-cpu", "max,sve-default-vector-length=64")
RISCV = ("qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=128")
WIDER_RISCV = ("qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=512")
WASM = ("cc", "-target", "wasm32-wasi")
X86 = ("qemu-x86_64", "-cpu", "max")

_AVX512 = ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma")
_X86 = {
    "baseline": ("-march=x86-64",),
    "sse4.2": ("-march=x86-64", "-msse4.2"),
    "avx2": ("-march=x86-64", "-mavx2", "-mfma"),
    "avx512": ("-march=x86-64", *_AVX512),
    "avx512vnni": ("-march=x86-64", *_AVX512, "-mavx512vnni"),
    "avx512vbmi": ("-march=x86-64", *_AVX512, "-mavx512vnni", "-mavx512vbmi"),
    "avx512fp16": ("-march=x86-64", *_AVX512, "-mavx512vnni", "-mavx512vbmi", "-mavx512fp16"),
}
_EMULATED = ("baseline", "sse4.2", "avx2")
"""What the emulator of x86 has."""
_CLANG_ARM, _CLANG_RISCV = ("--target=aarch64-linux-gnu", "-static"), ("--target=riscv64-linux-gnu", "-static")
_SVE = "-march=armv8.2-a+sve"
_RVV = ("-march=rv64gcv", "-fno-vectorize", "-fno-slp-vectorize")
"""Up to version 8.0 the emulator aborts at conversions with several roundings in a row, as clang's own loops have."""

MACHINES: dict[str, tuple[C, ...]] = {
    **{name: (C("gcc", (*flags, *UNREACHABLE)), C("clang-22", flags)) for name, flags in _X86.items()},
    "neon": (
        C("aarch64-linux-gnu-gcc", ("-static", *UNREACHABLE), runner=ARM),
        C("clang-22", _CLANG_ARM, runner=ARM),
    ),
    "sve": (
        C("aarch64-linux-gnu-gcc", ("-static", _SVE, *UNREACHABLE), runner=ARM),
        C("clang-22", (*_CLANG_ARM, _SVE), runner=WIDER_ARM),
    ),
    "rvv": (
        C("clang-22", (*_CLANG_RISCV, *_RVV), runner=RISCV),
        C("clang-22", (*_CLANG_RISCV, *_RVV), runner=WIDER_RISCV),
    ),
    "simd128": (C("zig", ("-mcpu=baseline+simd128",), first=WASM, runner=("wasmtime",)),),
}
"""The compilers for each instruction set; registers of unknown width are tried narrow and wide."""
TRIED = tuple(name for name, ways in MACHINES.items() if TRIES_ALL or all(way.has_usual_tools for way in ways))
"""Those that a run tries: each day, those of which `.ci/run` installs the tools."""


def optimized(way: C, level: str) -> C:
    """The same with a level of optimization."""
    return replace(way, flags=(level, *way.flags))


def runnable(name: str, way: C) -> C:
    """The way itself where this CPU has the instruction set, or with an emulator; skips the test if there is none."""
    if way.runner or _has(_X86[name]):
        return way
    if name not in _EMULATED:
        pytest.skip(f"neither this CPU nor an emulator has {name}")
    return replace(way, flags=("-static", *way.flags), runner=X86)


def _has(flags: tuple[str, ...]) -> bool:
    words = {flag.removeprefix("-m").replace(".", "_").replace("512vnni", "512_vnni") for flag in flags}
    return {word for word in words if not word.startswith("arch=")} <= _known()


@cache
def _known() -> frozenset[str]:
    """What the CPU says that it has."""
    file = Path("/proc/cpuinfo")
    return frozenset(file.read_text(encoding="utf-8").split() if file.exists() else ())
