"""What results are measured on, and with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from shutil import which

import numpy as np

import affdsl as af
from affdsl.codegen.toolchain import find_compiler

LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA", "HL")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in LIBRARIES} | {"AFFDSL_DECISIONS": "0", "AFFDSL_PROGRESS": "0"}
"""The environment of what is measured."""
PACKAGES = ("numba", "halide", "torch")


def about() -> dict[str, str]:
    """The processor, the compilers and the libraries, in words."""
    target = af.native_target()
    caches = ", ".join(f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB" for size in target.caches)
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    found = {
        "processor": f"{processor()}, {target.name}, caches of {caches}",
        "cores": f"{os.cpu_count()}{' of a virtual machine, shared with others' if _is_virtual() else ''}",
        "system": f"{platform.system()}, Python {platform.python_version()}",
        "NumPy": f"{np.__version__} with {blas['name']} {blas['version']}",
        "compiler of affdsl": version(str(find_compiler().path)),
    }
    clang = next(filter(which, ("clang-22", "clang")), None)
    found |= {"gcc": version("gcc")} if which("gcc") else {}
    found |= {"clang, Polly": version(clang)} if clang else {}
    return found | {name: importlib.metadata.version(name) for name in PACKAGES if _is_there(name)}


def short(known: Mapping[str, str]) -> str:
    """A few letters that differ where the machine does, or what is installed on it."""
    return sha256(repr(known).encode()).hexdigest()[:8]


def version(command: str) -> str:
    """The first line that a compiler says of itself."""
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def processor() -> str:
    """Its name; where the system tells more than that, its family and model, which names of virtual machines hide."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    fields = dict(
        [part.strip() for part in line.split(":", 1)] for line in info.read_text().split("\n\n")[0].splitlines()
    )
    told = [f"{name} {fields[key]}" for name, key in (("family", "cpu family"), ("model", "model")) if key in fields]
    return ", ".join([fields.get("model name", platform.machine()), *told])


def _is_virtual() -> bool:
    info = Path("/proc/cpuinfo")
    return info.exists() and " hypervisor" in info.read_text()


def _is_there(name: str) -> bool:
    return bool(importlib.metadata.packages_distributions().get(name))
