"""Threads of gcc's OpenMP library, and processes that fork. Each wheel has a copy of this module.

They do not survive a fork, and the library would wait for them in the child: so they end before it, whoever began them.
What C with parallel loops does for itself (`affdsl.codegen.c.forks`) is done here for all Python code that is loaded.
"""

import ctypes
import os
import threading
from functools import cache

MOST_THREADS = 4096
"""The most that are asked for: OpenMP ends the process where the system does not give it so many as it wants."""
_LIBRARY = "libgomp.so.1"
_LLVM = ("libomp.so.5", "libomp.so", "libiomp5.so")  # which looks after forks itself, unless the environment has this:
_LLVM_WISH = "KMP_INIT_AT_FORK"
_SOFT = 1  # omp_pause_soft
_alone: list[str] = []
"""The libraries that were told to use one thread."""
_FORKED = 0x40  # PF_FORKNOEXEC of Linux


@cache
def watch() -> None:
    """From now on, end the threads of each thread that forks; before the first library with parallel loops is loaded.

    Where this process was forked itself, and OpenMP was there before, nobody knows whether the thread that forked had
    others: it runs parallel loops alone.
    """
    if not hasattr(os, "register_at_fork"):  # as on Windows, where no process forks
        return
    os.register_at_fork(before=_before, after_in_child=_in_child)
    if not _is_forked() or threading.get_native_id() != os.getpid():
        return
    library = _loaded(_LIBRARY)
    if library is not None:
        library.omp_set_num_threads(1)
        _alone.append(_LIBRARY)
    _in_child_of_llvm()


def is_alone() -> bool:
    """Whether the thread that this process began with has to run parallel loops alone: nobody knows its threads."""
    return bool(_alone)


def _before() -> None:
    library = _loaded(_LIBRARY)
    if library is not None and hasattr(library, "omp_pause_resource_all") and library.omp_get_max_threads() > 1:
        library.omp_pause_resource_all(_SOFT)


def _in_child() -> None:
    library = _loaded(_LIBRARY)
    if library is not None and not hasattr(library, "omp_pause_resource_all"):  # before gcc 9
        library.omp_set_num_threads(1)
        _alone.append(_LIBRARY)
    _in_child_of_llvm()


def _in_child_of_llvm() -> None:
    for name in _LLVM if _LLVM_WISH in os.environ else ():
        library = _loaded(name)
        if library is not None:
            library.omp_set_num_threads(1)
            _alone.append(name)


def _loaded(name: str) -> ctypes.CDLL | None:
    """A library, where this process has it already."""
    if not hasattr(os, "RTLD_NOLOAD"):
        return None
    try:
        return ctypes.CDLL(name, os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None


def _is_forked() -> bool:
    """Whether this process runs the program of its parent, as far as the system says so."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            return bool(int(file.read().rpartition(")")[2].split()[6]) & _FORKED)
    except OSError:
        return False
