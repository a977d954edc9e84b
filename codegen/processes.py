"""Runs of compilers: for a limited time, with limited means, and with nothing of the user's.

This is the only module that starts other programs. Each run has an argument vector (never a shell), an environment
of PATH, TMPDIR and LANG alone, no standard input, a private folder, a time limit and resource limits. The limits
need the `prlimit` program or, failing that, Linux's prlimit call; elsewhere the time limit stands alone.
"""

import os
import resource
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import suppress
from pathlib import Path

from affdsl.codegen import background
from affdsl.codegen.errors import ToolchainError

TIMEOUT = 300  # seconds of wall-clock time, and of processor time, for one run
MEMORY = 16 << 30  # bytes of address space
FILE_SIZE = 1 << 30  # bytes of any file that is written
MESSAGE = 20_000  # characters of compiler output that an error repeats


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command in a private folder; give its output, or raise with its command line and output.

    `environment` is what else it finds there.
    """
    shown = shlex.join(command)
    prefix, limit_later = _limiter()
    try:
        process = subprocess.Popen(
            [*prefix, *command],
            cwd=folder,
            env={"PATH": search_path(os.environ), "TMPDIR": str(folder), "LANG": "C", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolchainError(f"the compiler cannot be started: {error}\n    {shown}") from None
    try:
        with background.running(lambda: _kill(process)):
            if limit_later:
                _limit(process.pid)
            output, errors = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise ToolchainError(f"the compiler took more than {TIMEOUT} seconds and was stopped:\n    {shown}") from None
    finally:
        if process.poll() is None:  # a timeout, or an interrupt from the keyboard
            _kill(process)
            with suppress(subprocess.TimeoutExpired):  # a program that left the group may hold the pipes
                process.communicate(timeout=background.CLEANUP)
    if process.returncode:
        status = process.returncode
        how = f"exit status {status}" if status > 0 else f"killed by {_signal(-status)}"
        said = errors.decode("utf-8", errors="replace").strip() or "(it wrote nothing to stderr)"
        if len(said) > MESSAGE:
            said = said[:MESSAGE] + f"\n... ({len(said) - MESSAGE} more characters)"
        raise ToolchainError(f"the compiler failed ({how}):\n    {shown}\n{said}")
    return output.decode("utf-8", errors="replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a run, with all programs that it has started."""
    if process.returncode is None:  # otherwise the number may be that of another one
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def side_by_side(calls: Sequence[Callable[[], object]]) -> None:
    """Do what runs programs side by side, on as many threads as there are processors; raise the first error."""
    left = iter(calls)

    def run_next() -> None:
        for call in left:
            call()

    threads = [background.submit("affdsl-compile", run_next) for _ in range(min(len(calls), os.cpu_count() or 1))]
    try:
        with background.interruptible():
            for thread in threads:
                thread.result()
    finally:
        wait(threads, background.CLEANUP)  # they write into a folder, which is removed next


def _limits() -> dict[str, int]:
    """The limits of one run, by prlimit's option name; never above what this process itself may use."""
    wanted = {"cpu": TIMEOUT, "as": MEMORY, "fsize": FILE_SIZE, "core": 0}
    limits = {}
    for name, value in wanted.items():
        hard = resource.getrlimit(_RESOURCES[name])[1]
        limits[name] = value if hard == resource.RLIM_INFINITY else min(value, hard)
    return limits


def _limiter() -> tuple[tuple[str, ...], bool]:
    """The words that start a limited program, and whether its limits must be set after the start instead."""
    if program := shutil.which("prlimit", path="/usr/bin:/bin"):
        return (program, *(f"--{name}={value}:{value}" for name, value in _limits().items()), "--"), False
    return (), hasattr(resource, "prlimit")


def _limit(process: int) -> None:
    with suppress(ProcessLookupError):  # it has already ended
        for name, value in _limits().items():
            resource.prlimit(process, _RESOURCES[name], (value, value))


def search_path(environment: Mapping[str, str]) -> str:
    """PATH without its relative entries: what a run starts must not depend on the working directory."""
    entries = environment.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if os.path.isabs(entry))


def which(program: str, environment: Mapping[str, str]) -> str | None:
    """Where a program is, by PATH or as it is named, but not in the working directory; None if it is not there."""
    if os.path.dirname(program) and not os.path.isabs(program):
        return None
    return shutil.which(program, path=search_path(environment))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most of those for real time have no name
        return f"signal {number}"


_RESOURCES = {
    "cpu": resource.RLIMIT_CPU,
    "as": resource.RLIMIT_AS,
    "fsize": resource.RLIMIT_FSIZE,
    "core": resource.RLIMIT_CORE,
}
