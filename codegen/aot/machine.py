"""For which machine a compiler makes code, what files are called there, and which targets it can be told to use."""

from __future__ import annotations

import platform
import sys
import sysconfig
from collections.abc import Sequence
from typing import Literal

from affdsl.codegen.aot.elf import needed, newest
from affdsl.codegen.aot.platforms import Platform
from affdsl.codegen.aot.shipped import Library
from affdsl.codegen.c.vector_helpers import TARGETS
from affdsl.codegen.errors import BuildError, ToolchainError
from affdsl.codegen.native import native_target
from affdsl.codegen.targets.baseline import BASELINE
from affdsl.codegen.targets.target import Target
from affdsl.codegen.toolchain import Compiler, macros
from affdsl.frozen import FrozenValue

System = Literal["linux", "macos", "windows", "wasm"]
_SYSTEMS: dict[str, System] = {
    "__linux__": "linux", "__APPLE__": "macos", "_WIN32": "windows", "__wasm__": "wasm"
}  # fmt: skip
_HERE = "linux" if sys.platform.startswith("linux") else {"darwin": "macos", "win32": "windows"}.get(sys.platform)
IMPORT_LIBRARY = "import.lib"
"""The file with which programs of Windows are linked that use the shared library."""
_CPUS = {"__x86_64__": "x86_64", "__aarch64__": "aarch64", "__riscv": "riscv64", "__wasm32__": "wasm32"}


GLIBC = frozenset(f"lib{name}" for name in ("c.so.6", "m.so.6", "dl.so.2", "rt.so.1", "pthread.so.0"))
"""The libraries of glibc, which are on every machine for which wheels are manylinux."""
OLDEST = (2, 17)
"""The oldest version of glibc that is told apart: that of the oldest systems for which indexes take wheels."""


class Machine(FrozenValue):
    """Where a library will run."""

    cpu: str
    """As `platform.machine()` has it on Linux."""
    system: System
    platform: Platform | None = None
    """What was asked for, if it was asked for by its name."""

    @property
    def is_linux(self) -> bool:
        """Whether libraries are ELF files, for which wheels say what they need."""
        return self.system == "linux"

    @property
    def is_wasm(self) -> bool:
        """Whether libraries are modules of WebAssembly, which JavaScript calls."""
        return self.system == "wasm"

    def shared_names(self, library: Library) -> tuple[str, ...]:
        """What the shared library is called: the file, and links to it, each to the one before.

        One has the first number of the version, which changes with what is incompatible: programs that were linked
        with the library ask for it.
        """
        if self.system == "windows":
            return (f"{library.name}.dll",)
        if self.system == "macos":
            return (f"lib{library.name}.dylib",)
        if self.is_wasm:
            return (f"{library.name}.wasm",)
        plain = f"lib{library.name}.so"
        return tuple(dict.fromkeys((f"{plain}.{library.version}", _so_name(library), plain)))

    def link_flags(self, library: Library, symbols: Sequence[str]) -> tuple[str, ...]:
        """How the shared library is linked, but for what it is made of; every symbol in it must be found.

        `symbols` are those that callers see: of a module of WebAssembly they are named one by one.
        """
        if self.system == "windows":
            return ("-shared", "-s", f"-Wl,--out-implib,{IMPORT_LIBRARY}")
        if self.system == "macos":
            return ("-shared", f"-Wl,-install_name,@rpath/lib{library.name}.dylib")
        if self.is_wasm:
            seen = (f"-Wl,--export={name}" for name in (*symbols, "malloc", "free"))
            return ("-mexec-model=reactor", "-Wl,--no-entry", "-s", *seen)
        return "-shared", f"-Wl,-soname,{_so_name(library)}", "-Wl,-z,defs"

    def wheel_tag(self, shared: bytes) -> str:
        """The platform for which a wheel with a shared library is.

        On Linux it is `manylinux_2_17_x86_64`, or such, by the versions of the symbols that the library needs of glibc;
        where it needs another library than those of glibc, as that of OpenMP, it is the machine alone.
        """
        if self.is_linux and (libc := _needed_of_glibc(shared)) is not None:
            return f"manylinux_{libc[0]}_{libc[1]}_{self.cpu}"
        if self.platform is not None and not self.is_linux:
            return self.platform.wheel
        if self.system == _HERE and self.cpu == platform.machine():
            return sysconfig.get_platform().replace("-", "_").replace(".", "_")
        if self.is_linux:
            return f"linux_{self.cpu}"
        raise BuildError(
            f"what a wheel for {self.system} is for depends on the version of the system: say for which platform it "
            f"is, as in platform='{self.system}-{self.cpu}'"
        )


def _needed_of_glibc(shared: bytes) -> tuple[int, int] | None:
    """The version of glibc that a library needs at least; None where it needs more than that."""
    libraries = needed(shared)
    if not all(name in GLIBC or name.startswith("ld-linux-") for name in libraries):
        return None
    major, minor = (*newest(libraries, "GLIBC_"), 0)[:2]
    return max((major, minor), OLDEST)


def _so_name(library: Library) -> str:
    """What programs ask for that were linked with a library."""
    return f"lib{library.name}.so.{library.version.partition('.')[0]}"


def machine_of(compiler: Compiler, wanted: Platform | None = None) -> Machine:
    """The machine for which a compiler makes code, of a platform that was asked for by its name, if one was.

    Raises BuildError for a system or a CPU that is not known here.
    """
    known = macros(compiler, compiler.portable_flags)
    cpu = next((name for macro, name in _CPUS.items() if macro in known), None)
    system = next((name for macro, name in _SYSTEMS.items() if macro in known), None)
    if cpu is None or system is None:
        raise BuildError(
            f"{compiler.path} makes programs for a system or a CPU that is not known: libraries are built for Linux, "
            "macOS and Windows on x86-64, 64-bit ARM and RISC-V, and for WebAssembly"
        )
    return Machine(cpu, system, wanted)


def chosen_targets(names: Sequence[str]) -> tuple[Target, ...]:
    """The targets that names stand for, each once, the best one first.

    Raises
    ------
    BuildError
        For a name that is not known, and where CPUs are left that have none of the targets.

    >>> [target.name for target in chosen_targets(["baseline", "avx2", "avx512"])]
    ['avx512', 'avx2', 'baseline']
    """
    known = {target.name: target for target in (*TARGETS, BASELINE)}
    found = [native_target().name if name == "native" else name for name in names]
    for name in found:
        if name not in known:
            raise BuildError(f"there is no target {name!r}: they are native, {', '.join(known)}")
    if not found:
        raise BuildError(f"no target: name one or several of native, {', '.join(known)}")
    chosen = tuple(target for name, target in known.items() if name in found)
    last = chosen[-1]
    if len(chosen) > 1 and (last.flags or any(t.machine != last.machine for t in chosen if last.machine)):
        raise BuildError(
            f"the targets {', '.join(t.name for t in chosen)} leave out CPUs that have none of them: name baseline, too"
        )
    return chosen


def targets_here(compiler: Compiler, targets: Sequence[Target]) -> tuple[Target, ...]:
    """The targets for which a compiler makes code, by what it says where it is told to: the files of those of other
    machines are empty here, and the last target is one that all CPUs here have.

    Raises BuildError where it makes no code for the last one, or for another of this machine.
    """
    known = macros(compiler, compiler.portable_flags)
    here = [t for t in targets if not t.machine or t.machine in known or t is targets[-1]]
    for target in here:
        missing = set(target.macros)
        try:
            missing -= macros(compiler, (*compiler.portable_flags, *target.flags))
        except ToolchainError as error:
            raise BuildError(f"{compiler.path} makes no code for {target.name}: {error}") from None
        if missing:
            told = f", told {' '.join(target.flags)}," if target.flags else ""
            raise BuildError(
                f"{compiler.path} makes no code for {target.name}:{told} it defines no {', '.join(sorted(missing))}; "
                "set CC to a compiler that does, as aarch64-linux-gnu-gcc for neon, or name other targets"
            )
    return tuple(here)
