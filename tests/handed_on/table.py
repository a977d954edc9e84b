"""Which tools take the 33 kernels, and what becomes of them: `python -m tests.handed_on.table`, and its page.

    python -m tests.handed_on.table                    what is here
    python -m tests.handed_on.table --install FOLDER   PyPI's tools into an environment in this folder first
    python -m tests.handed_on.table --write            and docs/downstream.md

Versions of mlir-opt are packages of Debian: `apt-get install mlir-16-tools llvm-16`. What is not here has a row that
says so.
"""

from __future__ import annotations

import argparse
import datetime
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.mlir.known_versions import NEXT, TRIED, Version
from tests import oracles
from tests.handed_on import emitted, gpu, in_xdsl, lowered, on_vulkan
from tests.handed_on.kernels import CASES, Case
from tests.harness.judges import copied

PAGE = Path(__file__).parents[2] / "docs" / "downstream.md"
PYPI = ("xdsl", "iree-base-compiler", "jaxlib", "jax", "torch-mlir", "nvidia-cuda-nvcc", "nvidia-nvvm", "vulkan")
BEGIN, END = "<!-- python -m tests.handed_on.table --write -->", "<!-- end of the table -->"
Step = Callable[[Case], object]


@dataclass(frozen=True)
class Tool:
    """A tool, and what is tried with it: each step raises for a kernel that it does not do."""

    name: str
    version: Callable[[], str]
    parses: Step
    lowers: Step | None = None
    runs: Step | None = None
    cases: tuple[Case, ...] = CASES
    note: str = ""


@dataclass(frozen=True)
class Row:
    """What came out: of each step how many kernels, None where it is not tried, and the first reason of each other."""

    tool: Tool
    version: str
    parsed: int | None = None
    lowered: int | None = None
    equal: int | None = None
    others: tuple[tuple[str, str], ...] = ()


def tools(folder: Path | None) -> Iterator[Tool]:
    """All of them, those of PyPI in a folder."""
    where = folder / "bin" if folder is not None else None
    for version in reversed(TRIED):
        yield Tool(
            f"mlir-opt, to LLVM ({'`mlir()`' if version == TRIED[-1] else f'`mlir(version={version})`'})",
            partial(_version, "mlir-opt", version),
            partial(_parsed, version),
            lambda case, version=version: lowered.lowered(_text(case, version), version),
            lambda case, version=version: _same(case, case.kernel, lowered.called(case.kernel, version)),
        )
    yield Tool(
        "mlir-opt, OpenMP at two threads", partial(_version, "mlir-opt", 22), partial(_parsed, 22),
        lambda case: oracles.mlir_opt(case.kernel.mlir(), f"--pass-pipeline={oracles.OPENMP}"),
        lambda case: _same(case, case.kernel, lowered.by_openmp(case.kernel)),
    )  # fmt: skip
    for target, name in (("nvvm", "NVVM, PTX"), ("rocdl", "ROCDL, assembly for gfx90a")):
        yield Tool(
            f"mlir-opt, gpu, {name}", partial(_version, "mlir-opt", 22), _launched,
            lambda case, target=target: gpu.lowered(gpu.on_gpu(case.kernel), target),
        )  # fmt: skip
    fixed = tuple(case for case in CASES if case.sizes)
    yield Tool(
        "mlir-opt, gpu, SPIR-V (`specialize()`)", partial(_version, "mlir-opt", 22),
        lambda case: oracles.mlir_opt(gpu.on_gpu(case.fixed)),
        lambda case: gpu.lowered(gpu.on_gpu(case.fixed), "spirv"), cases=fixed,
    )  # fmt: skip
    yield Tool(
        "Vulkan on the CPU (lavapipe), of that SPIR-V", partial(_device, where),
        lambda case: oracles.mlir_opt(gpu.on_gpu(case.fixed)),
        lambda case: gpu.lowered(gpu.on_gpu(case.fixed), "spirv"),
        lambda case: _same(case, case.fixed, partial(on_vulkan.call, _path(where, "python"), case.fixed)), cases=fixed,
    )  # fmt: skip
    yield Tool(
        "mlir-opt, emitc, C++ (`specialize()`)", partial(_version, "mlir-opt", 22),
        lambda case: oracles.mlir_opt(case.fixed.mlir()), lambda case: emitted.emitted(case.fixed),
        lambda case: _same(case, case.fixed, emitted.called(case.fixed)), cases=fixed,
    )  # fmt: skip
    yield Tool(
        "ptxas, of that PTX, for sm_90", partial(_of_package, where, "nvidia-cuda-nvcc"), _launched,
        lambda case: _assembled(folder, case),
    )  # fmt: skip
    yield Tool(
        f"IREE (`iree-opt`, `mlir(version={NEXT})`)", partial(_of_package, where, "iree-base-compiler"),
        partial(_by, where, "iree-opt", NEXT),
    )  # fmt: skip
    yield Tool(
        "torch-mlir (`torch-mlir-opt`), after `lower-affine`", partial(_of_package, where, "torch-mlir"),
        lambda case: _by_kernel(where, "torch-mlir-opt", TRIED[-1], case.kernel.apply("lower-affine")),
    )  # fmt: skip
    yield Tool("jaxlib", partial(_of_package, where, "jaxlib"), partial(_by_jaxlib, where))
    yield Tool(
        "xDSL (`xdsl-opt`, `mlir(version=\"xdsl\")`)", partial(_of_package, where, "xdsl"),
        partial(_by, where, "xdsl-opt", "xdsl"),
    )  # fmt: skip
    yield Tool(
        "xDSL's interpreter (`specialize()`)", partial(_of_package, where, "xdsl"),
        lambda case: _by_kernel(where, "xdsl-opt", "xdsl", case.fixed),
        runs=lambda case: _same(case, case.fixed, lambda *xs: in_xdsl.run(_path(where, "python"), case.fixed, xs)),
        cases=fixed,
    )  # fmt: skip


# The steps


def _text(case: Case, version: Version) -> str:
    return str(case.kernel.mlir(version=version))


def _parsed(version: int, case: Case) -> None:
    lowered.run(lowered.tool("mlir-opt", version), "-", given=_text(case, version).encode())


def _same(case: Case, kernel: af.Kernel, called: Callable[..., object]) -> None:
    expected, given = copied(case.arguments()), copied(case.arguments())
    wanted, found = kernel.interpret(*expected), called(*given)
    for a, b in zip((*expected, *_several(wanted)), (*given, *_several(found)), strict=True):
        np.testing.assert_array_equal(a, b)


def _several(result: object) -> tuple[object, ...]:
    return () if result is None else result if isinstance(result, tuple) else (result,)


def _launched(case: Case) -> None:
    oracles.mlir_opt(gpu.on_gpu(case.kernel))


def _assembled(folder: Path | None, case: Case) -> None:
    ptxas = _inside(folder, "nvidia/*/bin/ptxas")
    gpu.assembled(str(ptxas), gpu.lowered(gpu.on_gpu(case.kernel), "nvvm", str(ptxas.parents[1])))


def _by(folder: Path | None, tool: str, version: Version, case: Case) -> None:
    _by_kernel(folder, tool, version, case.kernel)


def _by_kernel(folder: Path | None, tool: str, version: Version, kernel: af.Kernel) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(str(kernel.mlir(version=version)))
        file.flush()
        lowered.run(_path(folder, tool), file.name)


_JAX = """
import sys
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
context = mlir.make_ir_context()
context.allow_unregistered_dialects = True
with context, ir.Location.unknown():
    ir.Module.parse(sys.stdin.read())
"""


def _by_jaxlib(folder: Path | None, case: Case) -> None:
    lowered.run(_path(folder, "python"), "-c", _JAX, given=_text(case, TRIED[-1]).encode())


# Versions


class NotHereError(Exception):
    """A tool is not on this machine."""


def _path(folder: Path | None, tool: str) -> str:
    path = shutil.which(tool, path=None if folder is None else str(folder))
    if path is None or folder is None:
        raise NotHereError(tool)
    return path


def _inside(folder: Path | None, pattern: str) -> Path:
    """A program that a package has among its own files."""
    found = sorted(folder.glob(f"lib/python*/site-packages/{pattern}")) if folder is not None else []
    if not found:
        raise NotHereError(pattern)
    return found[0]


def _version(tool: str, version: int) -> str:
    path = shutil.which(f"{tool}-{version}")
    if path is None:
        raise NotHereError(f"mlir-{version}-tools")
    found = re.search(r"version (\S+)", lowered.run(path, "--version").decode())
    return found[1] if found else str(version)


def _of_package(folder: Path | None, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    with suppress(AssertionError):
        return lowered.run(_path(folder, "python"), "-c", code).decode().strip()
    raise NotHereError(package)


def _device(folder: Path | None) -> str:
    with suppress(AssertionError):
        return on_vulkan.device(_path(folder, "python"))
    raise NotHereError("vulkan")


# The table


def row(tool: Tool) -> Row:
    """What a tool does with all kernels."""
    try:
        version = tool.version()
    except NotHereError:
        return Row(tool, "not here")
    counts, others = [], dict[str, str]()
    for step in (tool.parses, tool.lowers, tool.runs):
        if step is None:
            counts.append(None)
            continue
        done = 0
        for case in tool.cases:
            problem = _problem(step, case)
            if problem:
                others.setdefault(case.name, problem)
            done += not problem
        counts.append(done)
    return Row(tool, version, *counts, tuple(others.items()))


def _problem(step: Step, case: Case) -> str:
    try:
        step(case)
    except (AssertionError, af.AffdslError, subprocess.TimeoutExpired, pytest.skip.Exception) as error:
        return _reason(str(error)) or type(error).__name__
    except Exception:
        traceback.print_exc()
        raise
    return ""


def _reason(text: str) -> str:
    """The first thing that a tool says is wrong: behind the kind of an error, or below what a caret points at.

    >>> _reason("x.mlir:3:1: error: no such operation")
    'no such operation'
    >>> _reason("ParseError: /a/folder/x.mlir:3:1\\n   foo\\n   ^\\n   foo is not registered")
    'foo is not registered'
    """
    said = [each for each in re.findall(r"(?:error|Error|Exception): (.+)", text) if not each.startswith("/")]
    pointed = re.findall(r"^ +\^\n +(\S.*)$", text, re.M)
    lines = [line for line in text.strip().splitlines() if "Traceback" not in line]
    return next(iter((*said, *pointed, *lines)), "")[:110]


HEAD = "| tool | version | kernels | parses | lowers | runs equal | on |\n|---|---|---|---|---|---|---|"


def line(each: Row) -> str:
    """A row as Markdown, with the day."""
    counts = ["" if n is None else str(n) for n in (each.parsed, each.lowered, each.equal)]
    day = datetime.datetime.now(tz=datetime.UTC).date()
    return f"| {each.tool.name} | {each.version} | {len(each.tool.cases)} | {' | '.join(counts)} | {day} |"


def misses(each: Row) -> str:
    """What is not done, and what the tool says of it; nothing where all is."""
    said = "; ".join(f"{name} (`{reason}`)" for name, reason in each.others)
    return f"* {each.tool.name}: {said}" if said else ""


def install(folder: Path) -> None:
    """PyPI's tools in an environment of their own."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", *PYPI], check=True)


def written(each: Row, tools_in_order: Sequence[Tool]) -> None:
    """A row on the page, in place of the one that was there; the others stay."""
    with PAGE.open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before, _, rest = file.read().partition(BEGIN)
        old, _, after = rest.partition(END)
        rows = {found[1]: found[0] for found in re.finditer(r"^\| (.+?) \| .*$", old, re.M)}
        others = {found[1]: found[0] for found in re.finditer(r"^\* (.+?): .*$", old, re.M)}
        rows[each.tool.name], others[each.tool.name] = line(each), misses(each)
        names = [tool.name for tool in tools_in_order]
        table = "\n".join([HEAD, *(rows[name] for name in names if name in rows)])
        missing = "\n".join(others[name] for name in names if others.get(name))
        file.seek(0)
        file.truncate()
        file.write(f"{before}{BEGIN}\n{table}\n\nWhat is not done, and what the tool says:\n\n{missing}\n{END}{after}")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=Path, help="the folder of an environment for the tools of PyPI")
    parser.add_argument("--tools", type=Path, help="such a folder that is there already")
    parser.add_argument("--only", default="", help="only rows whose name has this in it; the others stay on the page")
    parser.add_argument("--write", action="store_true", help="write docs/downstream.md")
    given = parser.parse_args()
    if given.install is not None:
        install(given.install)
    os.environ["OMP_NUM_THREADS"] = "2"
    everything = [*tools(given.install or given.tools)]
    for tool in everything:
        if given.only in tool.name:
            found = row(tool)
            print(line(found), misses(found), sep="\n", flush=True)
            if given.write:
                written(found, everything)


if __name__ == "__main__":
    main()
