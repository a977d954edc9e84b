"""The C compiler: found, identified, and run on one source text, or on those of a library, to give what others load."""

import functools
import hashlib
import importlib.machinery
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from affdsl.codegen import background
from affdsl.codegen.errors import ToolchainError
from affdsl.codegen.library_functions import unknown
from affdsl.codegen.processes import run, search_path, side_by_side, which
from affdsl.frozen import FrozenValue

CANDIDATES = ("gcc", "clang", "cc")
VARIABLES = ("AFFDSL_CC", "CC")


class Command(FrozenValue):
    """What to run: an absolute path, not resolved (a compiler may look at its own name), and leading arguments."""

    path: Path
    arguments: tuple[str, ...] = ()

    def fingerprint(self) -> str:
        """A text that changes when a program of the command is replaced; computed without running anything."""
        words = [str(self.path), *self.arguments]
        programs = [str(self.path), *(found for word in self.arguments if (found := which(word, os.environ)))]
        for program in programs:
            resolved = os.path.realpath(program)
            facts = os.stat(resolved)
            words.append(f"{resolved} {facts.st_size} {facts.st_mtime_ns}")
        return "\n".join(words)


class Compiler(FrozenValue):
    """A C compiler and what it can do."""

    path: Path
    arguments: tuple[str, ...]
    identity: str
    kind: Literal["gcc", "clang"]
    has_openmp: bool
    has_native: bool

    @property
    def command(self) -> tuple[str, ...]:
        """The start of each command line."""
        return (str(self.path), *self.arguments)

    @property
    def is_zig(self) -> bool:
        """Whether it is the clang that zig has in it."""
        return is_zig(self.command)

    @property
    def portable_flags(self) -> tuple[str, ...]:
        """What makes code for all CPUs of a kind, where the compiler would make it for the one of this machine."""
        return ("-mcpu=baseline",) if self.is_zig else ()


class Source(FrozenValue):
    """A C file of a library: its name, its text, and the flags that only it is compiled with."""

    name: str
    text: str
    flags: tuple[str, ...] = ()


def find_compiler(environment: Mapping[str, str] = os.environ) -> Command:
    """The C compiler of $AFFDSL_CC, else of $CC, else the first of gcc, clang and cc on PATH, else `zig cc`.

    The latter is that of the package ziglang, where it is installed beside affdsl: `pip install affdsl[zig]`.

    The variables may hold arguments, quoted as for a POSIX shell; nothing but quotes is interpreted. A variable that
    names a program that is not there is an error: the next candidate would not be what its author asked for.

    Raises
    ------
    ToolchainError
        If there is none; says what was looked for and where.
    """
    for variable in VARIABLES:
        text = environment.get(variable, "").strip()
        if not text:
            continue
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise ToolchainError(f"${variable} is {text!r}, which is not a command: {error}") from None
        found = which(words[0], environment) if words else None
        if found is None:
            raise ToolchainError(
                f"${variable} is {text!r}, but {_why_not(words[0] if words else '')}; "
                f"set it to the path of gcc or clang, or unset it (PATH is {search_path(environment)})"
            )
        return Command(Path(found), tuple(words[1:]))
    for name in CANDIDATES:
        if found := which(name, environment):
            return Command(Path(found))
    if program := zig():
        return Command(program, ("cc",))
    raise ToolchainError(
        f"no C compiler: {' and '.join('$' + v for v in VARIABLES)} are not set, none of {', '.join(CANDIDATES)} "
        f"is on PATH ({search_path(environment)}), and the package ziglang is not installed; install gcc or clang, "
        "set AFFDSL_CC to the path of one, or run pip install 'affdsl[zig]', which brings a compiler"
    )


def identify(command: Command) -> Compiler:
    """Run a compiler to learn its version and whether it has OpenMP and -march=native.

    Raises
    ------
    ToolchainError
        If it does not run, is neither gcc nor clang, or cannot make a library.
    """
    plain = Compiler(command.path, command.arguments, "", "gcc", has_openmp=False, has_native=False)
    # One compiler takes -fopenmp and has no library for it, which would be noticed only where code is loaded.
    complete = ("-Wl,-z,defs",) if sys.platform.startswith("linux") else ()
    shared = ("-shared", "-fPIC")
    openmp = background.submit("affdsl-probe", _builds, plain, _OPENMP_PROBE, (*shared, "-fopenmp", *complete))
    native = background.submit("affdsl-probe", _builds, plain, _NATIVE_PROBE, (*shared, "-march=native"))
    line = (*plain.command, "--version")
    with background.interruptible():
        with background.private_folder() as folder:
            version = _run(line, folder)
        has_openmp, has_native = openmp.result(), native.result()
    if "clang" in version.lower():
        kind: Literal["gcc", "clang"] = "clang"
    elif "Free Software Foundation" in version:
        kind = "gcc"
    else:
        raise ToolchainError(
            f"{shlex.join(line)} names neither gcc nor clang but {_first_line(version)!r}; set AFFDSL_CC to one of them"
        )
    identity = f"{_first_line(version)}\n{command.fingerprint()}"
    if not (has_openmp or has_native):  # it may be no compiler at all, whatever it says of itself
        compile_shared(plain, _NATIVE_PROBE, ("-shared", "-fPIC"))
    return Compiler(command.path, command.arguments, identity, kind, has_openmp, has_native)


def jit_flags(compiler: Compiler, instructions: Sequence[str] | None = None) -> tuple[str, ...]:
    """The flags for code that runs on this machine only. See the note "Flags and floating point" below.

    `instructions` are flags that say what the code may use, in place of those for all that this machine has.
    """
    return (
        "-std=c11",
        "-O3",
        *(_FOR_GCC if compiler.kind == "gcc" else ()),
        *(_of_this_machine(compiler) if instructions is None else instructions),
        "-ffp-contract=off",
        "-fno-math-errno",
        "-fno-trapping-math",
        *unknown(),
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        *(("-fopenmp",) if compiler.has_openmp else ()),
    )


_UNROLLED = 60
"""As many instructions has the body of a loop at most behind which gcc has copied it."""
_FOR_GCC = (
    "-fexcess-precision=fast",
    "-fno-split-loops",
    "--param=iv-max-considered-uses=50",
    "-funroll-loops",
    "--param=max-unroll-times=4",
    f"--param=max-unrolled-insns={_UNROLLED}",
    f"--param=max-average-unrolled-insns={_UNROLLED}",
)


def _of_this_machine(compiler: Compiler) -> tuple[str, ...]:
    """The flags that let code use all that this machine has."""
    if not compiler.has_native:
        return ()
    return ("-march=native", *(("-mprefer-vector-width=512",) if _FULL_WIDTH in _processor().split() else ()))


def assembly(compiler: Compiler, source: str, flags: Sequence[str]) -> str:
    """The assembly of C source text, as the compiler writes it: `flags` as in `compile_shared`, and others it takes.

    Raises ToolchainError if the compiler fails: with its command line and what it wrote.
    """
    with background.private_folder() as folder:
        (folder / "kernel.c").write_text(source, encoding="utf-8")
        _run((*compiler.command, *(flag for flag in flags if flag != "-shared"), "-S", "kernel.c"), folder)
        return (folder / "kernel.s").read_text(encoding="utf-8")


def compile_shared(compiler: Compiler, source: str, flags: Sequence[str]) -> bytes:
    """Compile C source text; give the bytes of the shared library.

    Parameters
    ----------
    compiler
        Which compiler.
    source
        One translation unit; it is linked with libm.
    flags
        All flags, among them `-shared` and `-fPIC`.

    Raises
    ------
    ToolchainError
        If the compiler fails, or makes something else: with its command line and what it wrote.
    """
    with background.private_folder() as folder:
        (folder / "kernel.c").write_text(source, encoding="utf-8")
        # Relative names: the private folder's random one must not reach the library, which is hashed.
        command = (*compiler.command, *flags, "kernel.c", "-o", "kernel.so", "-lm")
        _run(command, folder)
        library = folder / "kernel.so"
        made = library.read_bytes() if library.is_file() else b""
        if not made.startswith(_LIBRARY):
            what = f"no library but {made[:8]!r} ..." if made else "no library"
            raise ToolchainError(
                f"the compiler ended without an error, but made {what}; set AFFDSL_CC to gcc or clang:\n"
                f"    {shlex.join(command)}"
            )
        return made


def compile_library(
    compiler: Compiler,
    sources: Sequence[Source],
    headers: Mapping[str, str],
    flags: Sequence[str],
    link_flags: Sequence[str] = (),
    others: Sequence[str] = (),
    shared: str = "library.so",
) -> tuple[bytes, ...]:
    """Compile the C files of a library; give the bytes of the static and of the shared library, and of other files.

    Parameters
    ----------
    compiler
        Which compiler.
    sources
        The translation units; the library is linked with libm.
    headers
        The files that they include, by name.
    flags
        Those of all units, among them `-fPIC`.
    link_flags
        Those of the shared library, among them `-shared` or what stands for it.
    others
        Files that the linker writes besides.
    shared
        What the shared library is called where it is linked; on Windows programs look for that name.

    Raises
    ------
    ToolchainError
        If the compiler or the archiver fails: with its command line and what it wrote.
    """
    with background.private_folder() as folder:
        for file, text in {**headers, **{source.name: source.text for source in sources}}.items():
            (folder / file).write_text(text, encoding="utf-8")
        objects = [f"{Path(source.name).stem}.o" for source in sources]
        commands = [
            (*compiler.command, *flags, *source.flags, "-c", source.name, "-o", made)
            for source, made in zip(sources, objects, strict=True)
        ]
        side_by_side([partial(_run, command, folder) for command in commands])
        _run((*_archiver(compiler, folder), "rcs", "library.a", *objects), folder)
        _run((*compiler.command, *flags, *link_flags, *objects, "-o", shared, "-lm"), folder)
        return tuple((folder / file).read_bytes() for file in ("library.a", shared, *others))


def _archiver(compiler: Compiler, folder: Path) -> tuple[str, ...]:
    """The command that makes static libraries of what a compiler makes."""
    if compiler.is_zig and "cc" in compiler.command:  # as in python -m ziglang cc
        return *compiler.command[: compiler.command.index("cc")], "ar"
    named = _run((*compiler.command, "-print-prog-name=ar"), folder).strip()
    found = named if os.path.isabs(named) else which(named or "ar", os.environ)
    if found is None:
        raise ToolchainError(
            f"no archiver: static libraries are made by {named or 'ar'}, which is not on PATH "
            f"({search_path(os.environ)}); install binutils"
        )
    return (found,)


@functools.cache
def macros(compiler: Compiler, flags: tuple[str, ...]) -> frozenset[str]:
    """The names that a compiler defines by itself, which say what it may use.

    Raises ToolchainError if it fails.
    """
    with background.private_folder() as folder:
        text = _run((*compiler.command, *flags, "-dM", "-E", "-x", "c", os.devnull), folder)
    return frozenset(line.split(maxsplit=2)[1] for line in text.splitlines() if line.startswith("#define "))


@functools.cache
def machine() -> str:
    """A text that differs between machines that cannot share code built with -march=native."""
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else None
    # Without a description of the processor, the machine's name stands for it.
    said = _processor()
    facts = hashlib.sha256(said.encode()).hexdigest() if said else platform.node()
    return f"{sys.platform} {platform.machine()} {libc} {facts}"


def _processor() -> str:
    """What the system says of the processor; nothing if it says nothing."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            facts = []
            for line in file:
                if not line.strip():
                    break  # the other cores repeat the first, and reading a few hundred is slow
                if line.partition(":")[0].strip() in _PROCESSOR_FACTS:
                    facts.append(line)
    except OSError:
        return ""
    return "".join(facts)


def _builds(compiler: Compiler, source: str, flags: Sequence[str]) -> bool:
    try:
        compile_shared(compiler, source, flags)
    except ToolchainError:
        return False
    return True


def _run(command: Sequence[str], folder: Path) -> str:
    """Run a command in a private folder; give its output, or raise with its command line and output."""
    return run(command, folder, _zig_cache(command, folder))


def zig() -> Path | None:
    """The program of the package ziglang, if that is installed; it is not looked for in the working directory."""
    folders = [folder for folder in sys.path if os.path.isabs(folder) and folder != os.getcwd()]
    spec = importlib.machinery.PathFinder.find_spec("ziglang", folders)
    program = Path(spec.origin).with_name("zig") if spec is not None and spec.origin else None
    return program if program is not None and os.access(program, os.X_OK) else None


def is_zig(command: Sequence[str]) -> bool:
    """Whether a command is zig."""
    return any(Path(word).name in ("zig", "ziglang") for word in command)


def _zig_cache(command: Sequence[str], folder: Path) -> dict[str, str]:
    """Where zig keeps what it has made of its C library: where it always does, or in the folder of this one run."""
    if not is_zig(command):
        return {}
    known = {
        name: os.environ[name] for name in ("ZIG_GLOBAL_CACHE_DIR", "XDG_CACHE_HOME", "HOME") if name in os.environ
    }
    return known or {"ZIG_GLOBAL_CACHE_DIR": str(folder)}


def _why_not(program: str) -> str:
    """Why there is nothing to run."""
    if os.path.isdir(program):
        return f"{program!r} is a folder"
    if os.path.isfile(program) and os.path.isabs(program):
        return f"{program!r} is a file that may not be executed"
    return f"there is no program {program!r}"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


# What a shared library starts with: ELF, on macOS Mach-O for 64 bits and for several processors, on Windows PE, or
# WebAssembly.
_LIBRARY = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ", b"\0asm")

# Processors that have it run instructions of 512 bits at no lower clock; clang and gcc use 256 unless asked.
_FULL_WIDTH = "avx512_vbmi2"
# The lines of /proc/cpuinfo that decide what code a processor can run: x86, POWER and RISC-V; then ARM.
_PROCESSOR_FACTS = frozenset(["vendor_id", "cpu family", "model", "stepping", "flags", "cpu", "isa"]) | frozenset(
    ["CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features"]
)

_OPENMP_PROBE = """
double affdsl_probe(const double *x, long n);
double affdsl_probe(const double *x, long n)
{
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < n; i++)
        sum += x[i];
    return sum;
}
"""

_NATIVE_PROBE = "int affdsl_probe(void);\nint affdsl_probe(void) { return 0; }\n"

# Flags and floating point
# ------------------------
# Results must be those of the IR, bit for bit, so nothing here lets the compiler change a value: no fast-math, no
# reassociation, and no contraction into fused multiply-adds (which clang does unless told not to). On s390x gcc makes
# doubles of floats where it is told -std=c11, unless it is told not to (-fexcess-precision=fast). Two flags give up
# side effects that no kernel can observe: -fno-math-errno (a kernel cannot read errno, and without it sqrt is one
# instruction) and -fno-trapping-math (a kernel cannot read the exception flags, and without it a guarded division
# cannot be vectorized). -fno-builtin-exp and the like keep compilers from computing functions themselves, which round
# otherwise than the library: library_functions.py. gcc looks for loops to split at a condition for a tenth of its time
# (-fno-split-loops): where that pays, a schedule has split them: the kernels of PolyBench take as long without, in the
# mean. In a loop of very many addresses it takes another quarter to choose what to count them by; beyond 50 it counts
# each by itself (iv-max-considered-uses), with which they take as long too. Both are the quirk `loops_split` of
# codegen/c/quirks.py.
# gcc leaves each loop over vectors one copy of its body, where clang makes several of those that it vectorizes itself.
# So does -funroll-loops, which is kept from copying long bodies: the quirk `copies_of_short_bodies`.
# -fvisibility=hidden leaves only the symbols that the source marks visible: two kernels in one process never see each
# other's functions.
