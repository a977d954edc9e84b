"""Builds a library into a folder: C, build files, what the compiler makes of them, and a wheel on request."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from affdsl.codegen.aot.cmake import FOR_GCC, STRICT, cmake_lists, wrapping
from affdsl.codegen.aot.languages.table import declarations
from affdsl.codegen.aot.machine import IMPORT_LIBRARY, Machine, machine_of, targets_here
from affdsl.codegen.aot.naming import check_name
from affdsl.codegen.aot.pkg_config import pkg_config
from affdsl.codegen.aot.platforms import Platform, compiler_for
from affdsl.codegen.aot.shipped import Library
from affdsl.codegen.aot.sources import Sources, sources
from affdsl.codegen.aot.web.script import page, script
from affdsl.codegen.aot.wheel import wheel
from affdsl.codegen.c.refusals import ASKED, SAID
from affdsl.codegen.cache import default_cache
from affdsl.codegen.errors import BuildError
from affdsl.codegen.targets.target import Target
from affdsl.codegen.toolchain import Compiler, Source, compile_library


def build(
    library: Library,
    folder: Path,
    *,
    python: bool = False,
    openmp: bool = True,
    bindings: Sequence[str] = (),
    platform: Platform | None = None,
) -> tuple[Path, ...]:
    """Build a library into a folder, which is made where it is missing; give the files, of which others are replaced.

    Nothing is written where something fails before. The compiler is that of `affdsl.codegen.toolchain`: it may make
    code for another machine. Without `openmp` all loops run on one thread, as they do where the compiler has no OpenMP.
    `bindings` are languages for which declarations are written, see `affdsl.codegen.aot.languages`.

    Raises
    ------
    BuildError
        For targets that the compiler does not make code for, and a folder that cannot be written.
    ToolchainError
        Where there is no compiler, or it fails.
    UnsupportedError
        For a kernel that C cannot express, or Python cannot call.
    """
    _require_folder(folder)
    written = sources(library)
    compiler = default_cache().compiler(None if platform is None else compiler_for(platform))
    machine = machine_of(compiler, platform)
    here = targets_here(compiler, library.targets)
    if machine.is_wasm and python:
        raise BuildError("python=True makes a wheel, which cannot call a module of WebAssembly: leave it out")
    # A module takes what is not defined in it for imports, so that an OpenMP library seems to be there.
    threads = openmp and compiler.has_openmp and written.has_parallel and not machine.is_wasm
    static, shared, imported = _compiled(compiler, machine, library, written, here, openmp=threads)
    name, *links = machine.shared_names(library)
    files: dict[str, str | bytes] = {
        **written.headers,
        **{file.name: file.text for file in written.files},
        "CMakeLists.txt": cmake_lists(library, written),
        f"{library.name}.pc": pkg_config(library, openmp=threads),
        f"lib{library.name}.a": static,
        name: shared,
        **declarations(library, written, bindings),
        **({f"{library.name}.lib": imported} if imported else {}),
    }
    if machine.is_wasm:
        text = script(library, written)
        files |= {f"{library.name}.mjs": text, f"{library.name}.html": page(library, text, shared)}
    if python:
        if SAID.encode() in shared:  # Python is to hear of registers of another length, and not to end
            asking = (f"-D{ASKED}",)
            _, shared, _ = _compiled(compiler, machine, library, written, here, openmp=threads, others=asking)
        wheel_name, data = wheel(library, written, machine, shared)
        files[wheel_name] = data
    return _write(folder, files, dict(zip(links, [name, *links], strict=False)))


def _compiled(
    compiler: Compiler,
    machine: Machine,
    library: Library,
    written: Sources,
    here: Sequence[Target],
    *,
    openmp: bool,
    others: Sequence[str] = (),
) -> tuple[bytes, bytes, bytes]:
    flags = ("-std=c11", "-O3", *compiler.portable_flags, *STRICT, *wrapping(written), "-fvisibility=hidden", *others)
    flags += FOR_GCC if compiler.kind == "gcc" else ()
    flags += _OF_SYSTEMS.get(machine.system, ("-fPIC",))
    flags += (f"-D{library.name}_EXPORTS",) if machine.system == "windows" else ()
    units = [Source(f.name, f.text, f.target.flags if f.target in here and f.target else ()) for f in written.files]
    threads = ("-fopenmp",) if openmp else ()
    seen = _seen(library)
    beside = (IMPORT_LIBRARY,) if machine.system == "windows" else ()
    static, shared, *imported = compile_library(
        compiler, units, written.headers, (*flags, *threads), machine.link_flags(library, seen), beside,
        machine.shared_names(library)[0],
    )  # fmt: skip
    return static, shared, b"".join(imported)


_OF_SYSTEMS: dict[str, tuple[str, ...]] = {"windows": (), "wasm": ()}
"""What makes code that may lie anywhere, where that is not what compilers make anyway."""


def _seen(library: Library) -> tuple[str, ...]:
    """The functions that callers of a library see."""
    checks = tuple(map(check_name, library.symbols)) if library.checked else ()
    return (*library.symbols, *checks, *((f"{library.name}_target",) if library.is_dispatched else ()))


def _require_folder(folder: Path) -> None:
    """Check that files can be written into a folder, or that it can be made, before anything takes time."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise BuildError(f"cannot write into {folder}: {there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise BuildError(f"cannot write into {folder}: you may not write into {there}")


def _write(folder: Path, files: Mapping[str, str | bytes], links: Mapping[str, str]) -> tuple[Path, ...]:
    """Write files, each in one step, and links to them; give their paths."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            unfinished = folder / f".{secrets.token_hex(8)}.unfinished"
            try:
                unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
                os.replace(unfinished, folder / name)
            finally:
                unfinished.unlink(missing_ok=True)
        for name, target in links.items():
            with suppress(FileNotFoundError):
                (folder / name).unlink()
            (folder / name).symlink_to(target)
    except OSError as error:
        raise BuildError(f"cannot write into {folder}: {error.filename}: {error.strerror}") from None
    return tuple(folder / name for name in (*files, *links))
