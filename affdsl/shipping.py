"""Kernels as a library for C, C++ and Python: `affdsl.build`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from pathlib import Path

from affdsl.codegen.aot import build as aot
from affdsl.codegen.aot.languages.table import languages
from affdsl.codegen.aot.machine import chosen_targets
from affdsl.codegen.aot.naming import library_name, library_version, symbols
from affdsl.codegen.aot.platforms import platform as platform_of
from affdsl.codegen.aot.shipped import Library, ShippedKernel
from affdsl.codegen.errors import BuildError
from affdsl.codegen.targets.target import Target
from affdsl.frames import plain_traceback
from affdsl.ir.verifier import verify
from affdsl.kernel import Kernel


@plain_traceback
def build(
    kernels: Kernel | Sequence[Kernel],
    folder: str | Path,
    *,
    name: str | None = None,
    version: str = "0.1.0",
    prefix: str = "",
    targets: str | Sequence[str] = "baseline",
    optimize: bool | Mapping[str, int] = False,
    python: bool = False,
    checked: bool = False,
    openmp: bool = True,
    threads_parameter: bool = False,
    bindings: str | Sequence[str] = (),
    platform: str | None = None,
) -> tuple[Path, ...]:
    """Build kernels into a library: C, a header, a static and a shared library, files for CMake and pkg-config.

    Whoever gets the folder needs no affdsl. The compiler is the first of `$AFFDSL_CC`, `$CC`, gcc, clang, cc and the
    one of the package ziglang; it may be one for another machine.

    Parameters
    ----------
    kernels
        One or several, with names that differ. Those for several types are a function for each: `axpy_f32`, `axpy_f64`.
    folder
        Where to, made if it is missing. Files in it that have the names of the new ones are replaced.
    name
        Of the library: small letters, digits and `_`. By default that of its only kernel, in small letters.
    version
        One to three numbers. Libraries whose first number is the same can stand for each other.
    prefix
        What the names of the functions in C begin with, before that of the kernel.
    targets
        The CPUs: "baseline" for all of a kind, "native" for the one of this machine, or the name of an instruction set,
        as "avx2". With several, among them "baseline", the library chooses at the first call.
    optimize
        Make loops fast for each target by `Kernel.optimize`; a mapping has its options, as `{"threads": 4}`.
    python
        Also write a wheel, which needs NumPy only and has the kernels as functions that check their arguments.
    checked
        Also give each function another one, `NAME_check`, which says whether it may run with some sizes.
    openmp
        Whether parallel loops run on threads.
    threads_parameter
        Let each function with parallel loops take how many threads run them, as `int32_t threads` behind its other
        arguments, of which only the one for what fails stands last; 0 leaves it to OpenMP, which goes by
        `OMP_NUM_THREADS`. A wheel has it as the keyword `threads`.
    bindings
        The languages for which declarations are written beside the header, which is for C and C++: "fortran" a module
        of interfaces with `bind(C)`, "rust" one with `extern "C"`, "julia" one of functions that are a `ccall`.
    platform
        Where it will run, if that is another system: "linux-x86_64", "linux-aarch64", "macos-x86_64", "macos-aarch64",
        "windows-x86_64" or "windows-aarch64". It is built by `zig cc`, of the package ziglang, on one thread. With
        "wasm32" it is a module of WebAssembly, with JavaScript that calls it on typed arrays, and a page.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    BuildError
        For names, versions, targets, languages and platforms that cannot be, and a folder that cannot be written.
    ToolchainError
        Where there is no compiler, or it fails.
    UnsupportedError
        For a kernel that C cannot express, or Python cannot call without affdsl.

    >>> import affdsl as af, tempfile
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def axpy(a: af.f64, x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         y[i] += a * x[i]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = af.build(axpy, folder, name="blas", version="1.0")
    >>> [file.name for file in files][:5]
    ['blas.h', 'blas.c', 'CMakeLists.txt', 'blas.pc', 'libblas.a']
    """
    listed = [kernels] if isinstance(kernels, Kernel) else [*kernels]
    for kernel in listed:
        if not isinstance(kernel, Kernel):
            raise BuildError(f"build takes kernels, which @affdsl.kernel makes, got {kernel!r}")
    if not listed:
        raise BuildError("build takes one kernel or several, got none")
    if name is None and len(listed) > 1:
        raise BuildError(f"a library of {len(listed)} kernels needs a name: name=...")
    called = library_name(listed[0].name.lower() if name is None else name, python=python)
    listed = [each for kernel in listed for each in kernel.kernels]
    checked = checked or platform == "wasm32"  # its JavaScript asks whether sizes fit
    names = symbols(prefix, [kernel.name for kernel in listed], called, checked=checked)
    chosen = chosen_targets([targets] if isinstance(targets, str) else targets)
    written_for = languages([bindings] if isinstance(bindings, str) else bindings)
    asked = None if platform is None else platform_of(platform)
    shipped = tuple(_shipped(kernel, chosen, optimize) for kernel in listed)
    library = Library(called, library_version(version), shipped, tuple(names), chosen, checked, threads_parameter)
    return aot.build(library, Path(folder), python=python, openmp=openmp, bindings=written_for, platform=asked)


def _shipped(kernel: Kernel, targets: Sequence[Target], optimize: bool | Mapping[str, int]) -> ShippedKernel:
    """A kernel with its IR for each target."""
    modules = {}
    for target in targets:
        made = kernel
        if optimize is not False:
            options = {} if optimize is True else dict(optimize)
            made = kernel.optimize(target.name, **options)  # type: ignore[arg-type]
        verify(made.module)
        modules[target.name] = made.module
    return ShippedKernel(kernel.program, kernel.guarding, modules, cleandoc(kernel.__doc__ or ""))
