"""A wheel with a library and the Python that calls it: for any Python 3 on one kind of machine, and needing NumPy only.

It is written without other tools: a wheel is a zip with a list of what is in it. Calls go through ctypes, so that one
wheel serves all versions of Python; they are checked by copies of the modules that check the calls of kernels here.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from importlib import import_module
from inspect import getsource

from affdsl import __version__
from affdsl.codegen.aot.bindings import package
from affdsl.codegen.aot.machine import Machine
from affdsl.codegen.aot.shipped import Library
from affdsl.codegen.aot.sources import Sources

COPIED = {
    "affdsl.errors": "errors",
    "affdsl.frozen": "frozen",
    "affdsl.codegen.errors": "call_errors",
    "affdsl.codegen.advice": "advice",
    "affdsl.codegen.arguments": "arguments",
    "affdsl.codegen.bfloat": "bfloat",
    "affdsl.codegen.foreign": "foreign",
    "affdsl.codegen.forks": "forks",
    "affdsl.codegen.lengths": "lengths",
    "affdsl.codegen.overlap": "overlap",
    "affdsl.codegen.c.sites": "sites",
    "affdsl.codegen.aot.calling": "calling",
    "affdsl.ir.location": "location",
    "affdsl.ir.reports": "reports",
}
"""The modules that a call needs, and what they are called in the wheel, where they import each other only."""
_INSTEAD = {"affdsl.codegen.advice": "affdsl.codegen.aot.no_advice"}
"""Modules for whose copies another one is taken."""
_EXAMPLE = re.compile(r'\n+( *)>>> .*?(?=\n\n\1(?! )|\n *""")', re.S)
"""An example in a docstring, which would import what a wheel does not have."""

PYTHON = "3.11"
"""The first version that runs the copies."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of all files, so that the same kernels give the same wheel."""


def wheel(library: Library, sources: Sources, machine: Machine, shared: bytes) -> tuple[str, bytes]:
    """The name of the wheel, and its bytes.

    Raises
    ------
    BuildError
        For a kernel whose name no function of a package can have, and for a machine that wheels cannot be made for.
    UnsupportedError
        For a kernel that cannot be called from Python without affdsl.
    """
    tag = f"py3-none-{machine.wheel_tag(shared)}"
    file = machine.shared_names(library)[-1]
    inside = {f"{library.name}/{name}": text for name, text in package(library, sources, file).items()}
    inside |= {f"{library.name}/_affdsl/{name}": text for name, text in copies().items()}
    files = {name: text.encode() for name, text in inside.items()} | {f"{library.name}/{file}": shared}
    stem = f"{library.name}-{library.version}"
    about = f"{stem}.dist-info"
    files[f"{about}/METADATA"] = _metadata(library).encode()
    files[f"{about}/WHEEL"] = _wheel(tag).encode()
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    return f"{stem}-{tag}.whl", _zipped(files)


def copies() -> dict[str, str]:
    """The modules that a call needs, with imports of each other's copies."""
    found = {"__init__.py": '"""Parts of affdsl that check arguments and call, under the MIT license."""\n'}
    for module, name in COPIED.items():
        text = _EXAMPLE.sub("", getsource(import_module(_INSTEAD.get(module, module))))
        found[f"{name}.py"] = re.sub(r"^from (affdsl[\w.]*) import", _from_copy, text, flags=re.M)
    return found


def _from_copy(match: re.Match[str]) -> str:
    assert match[1] in COPIED, f"{match[1]} is not in a wheel, which needs it"
    return f"from .{COPIED[match[1]]} import"


def _metadata(library: Library) -> str:
    names = ", ".join(kernel.name for kernel in library.kernels)
    return (
        f"Metadata-Version: 2.1\nName: {library.name}\nVersion: {library.version}\n"
        f"Summary: Compiled kernels: {names}\nRequires-Python: >={PYTHON}\nRequires-Dist: numpy>=2.0\n"
    )


def _wheel(tag: str) -> str:
    return f"Wheel-Version: 1.0\nGenerator: affdsl {__version__}\nRoot-Is-Purelib: false\nTag: {tag}\n"


def _digest(data: bytes) -> str:
    """A hash as the list of a wheel has it."""
    return f"sha256={urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()}"


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """The files as a zip, of which libraries may be executed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, _LONG_AGO)
            info.external_attr = (0o100755 if name.endswith((".so", ".dylib")) else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return buffer.getvalue()
