"""Kernels that a command line names: MODULE:KERNEL, found as `python -m` finds modules, or MODULE:KERNEL[f32]."""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from pathlib import Path

from affdsl.cli.flags import UsageError
from affdsl.errors import AffdslError
from affdsl.ir.messages import nearest
from affdsl.kernel import Kernel


def is_kernel(word: str) -> bool:
    """Whether a word names a kernel, and no file."""
    form = r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\[[\w, ]+\])?"
    return re.fullmatch(form, word) is not None and not Path(word).exists()


def kernel_of(word: str) -> Kernel:
    """The kernel of a Python module, which is found from the working directory on; with types in brackets, one of a
    kernel for several types.

    Raises
    ------
    UsageError
        For a word that names no kernel; and where there is no such module, it cannot be imported, or it has no such
        kernel: with the ones that it has.
    """
    if not is_kernel(word):
        raise UsageError(f"{word} is no kernel: write MODULE:KERNEL, as in examples.gemm:gemm")
    name, _, asked = word.partition(":")
    attribute, _, types = asked.partition("[")
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        module = importlib.import_module(name)
    except AffdslError:
        raise
    except ModuleNotFoundError as error:
        wanted = error.name or ""
        if wanted == name or name.startswith(f"{wanted}."):
            raise UsageError(f"there is no Python module {wanted}: it is looked for in {folder} first") from None
        raise UsageError(f"importing {name} fails: {error}") from None
    except Exception as error:  # noqa: BLE001 - whatever the user's module raises is their answer
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise UsageError(
            f"importing {name} fails: {last.filename}:{last.lineno}: {type(error).__name__}: {error}"
        ) from None
    finally:
        sys.path.remove(folder)
    found = vars(module).get(attribute)
    if isinstance(found, Kernel):
        return found[types.removesuffix("]")] if types else found
    kernels = [key for key, value in vars(module).items() if isinstance(value, Kernel)]
    what = f"is of type {type(found).__name__}, no kernel" if attribute in vars(module) else "is not there"
    listed = f"its kernels are {', '.join(kernels)}" if kernels else "it has no kernels"
    raise UsageError(f"{word}: {attribute} {what}{nearest(attribute, kernels)}; {listed}")
