"""What recipes have decided for a kernel, kept in the cache of compiled kernels, so that it is decided once."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import affdsl
from affdsl.codegen.cache import default_cache
from affdsl.codegen.caller import Turned
from affdsl.codegen.native import native_target
from affdsl.explained import Hint, Note, SourceLoop
from affdsl.frozen import Frozen
from affdsl.ir.dialects.func import Module
from affdsl.ir.location import Location
from affdsl.ir.plain import files_of, plain, restored, values_of
from affdsl.ir.verifier import verify
from affdsl.kernel import Kernel
from affdsl.lang.derived import all_called
from affdsl.lang.source import assigned_name, here
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import RecipeWarning

if TYPE_CHECKING:
    from affdsl.schedule.schedule import Schedule
    from affdsl.schedule.written import Step

KIND = "decided"
"""The end of the names of files."""
AT_MOST = 16 << 20
"""Bytes of a decision that is kept: nobody waits for what is larger to be read."""
_NOWHERE = (None, 0, 0)
_LIBRARIES = ("islpy", "networkx")
"""Other packages on which it depends what is decided."""


class Decided(Frozen):
    """What recipes make of a kernel.

    Attributes
    ----------
    module
        The IR.
    schedule
        Gives the schedule that makes it.
    notes
        What is said of each nest.
    warned
        What was warned of.
    """

    module: Module
    schedule: Callable[[], Schedule]
    notes: tuple[Note, ...]
    warned: tuple[str, ...] = ()

    def kernel(self, of: Kernel, *more: Note, turned: Turned | None = None) -> Kernel:
        """The kernel that it makes of the one that it was decided for; `more` is said behind the notes, and `turned`
        takes calls as `Kernel.with_module` says."""
        return of.with_module(self.module, schedule=self.schedule, notes=(*self.notes, *more), turned=turned)


def decide(kernel: Kernel, options: Options) -> Decided:
    """What recipes decide now, or have decided before for the same kernel and the same options."""
    asked = _asked(kernel, options)
    found = asked.recalled() if asked is not None else None
    if found is not None:
        for text in found.warned:
            warnings.warn(text, RecipeWarning, stacklevel=3)
        return found
    now: Callable[[Kernel, Options], Decided] = import_module("affdsl.optimize.optimizer").decided
    found = now(kernel, options)
    if asked is not None:
        asked.remember(found)
    return found


def remember(kernel: Kernel, options: Options, decided: Decided) -> None:
    """Keep what recipes have decided, for this process and others."""
    asked = _asked(kernel, options)
    if asked is not None:
        asked.remember(decided)


def _asked(kernel: Kernel, options: Options) -> _Asked | None:
    """What is decided, by which it is found again; None where nothing is to be remembered, or no data says what it is.

    Raises ValueError if the variable is set to something else than 0 and 1.
    """
    wish = os.environ.get("AFFDSL_DECISIONS", "")
    if wish not in ("", "0", "1"):
        raise ValueError(f"AFFDSL_DECISIONS is {wish!r}; set it to 0 or 1, or unset it")
    with suppress(ValueError, RecursionError):
        return None if wish == "0" else _Asked(kernel, options)
    return None


class _Asked:
    """What is decided: a kernel, options, and what the words of the decision depend on.

    These are how the files of the kernel are called from here, and the name that the user gives to the result.
    """

    def __init__(self, kernel: Kernel, options: Options) -> None:
        modules = [kernel.module, *([kernel.written.module] if kernel.is_derived else [])]
        self._kernel = kernel
        self._files = _names(modules)
        self._known = _known(kernel, modules[0])
        self._key = (
            *(json.dumps(plain(module, files=self._files)) for module in modules),
            repr(options),
            repr(native_target().caches),  # which some recipes ask whatever the target is
            assigned_name(),
            _version(),
        )

    def recalled(self) -> Decided | None:
        """What was kept; None if that is nothing, or no decision."""
        content = default_cache().known(KIND, *self._key)
        if content is None:
            return None
        # Whatever is wrong with it: then it is decided now, and what was kept is replaced.
        with suppress(Exception):
            return self._read(content)
        return None

    def _read(self, content: bytes) -> Decided:
        """What a file holds. Raises some exception where that is no decision for this kernel."""
        match json.loads(content):
            case {"module": [*nodes], "notes": [*notes], "warned": [*warned], "steps": [*steps]}:
                module = restored(nodes, self._known, {name: file for file, name in self._files.items()})
                if not isinstance(module, Module):
                    raise ValueError
                verify(module)
                taken = tuple((_text(step), _text(names), tuple(map(_text, why))) for step, names, why in steps)
                schedule = cache(partial(self._replayed, here(), assigned_name(), taken, nodes))
                said = tuple(self._note(note) for note in notes)
                found = Decided(module, schedule, said, tuple(map(_text, warned)))
                found.kernel(self._kernel)  # it has its arguments
                return found
        raise ValueError

    def remember(self, decided: Decided) -> None:
        """Keep a decision; nothing where it is too large, or has something that is no plain data."""
        with suppress(ValueError, RecursionError):
            written: Callable[[Schedule], Sequence[Step]] = import_module("affdsl.schedule.written").written
            kept = {
                "module": self._plain(decided.kernel(self._kernel)),
                "notes": [*map(self._plain_note, decided.notes)],
                "warned": decided.warned,
                "steps": written(decided.schedule()),
            }
            content = json.dumps(kept).encode()
            if len(content) <= AT_MOST:
                default_cache().keep(content, KIND, *self._key)

    def _plain_note(self, note: Note) -> dict[str, object]:
        """A note as plain data. Raises ValueError for a place in a file that the kernel does not have."""
        loops: list[object] = []
        for each in note.loops:
            at = each.location
            if at is not None and at.file not in self._files:
                raise ValueError("a place in another file")
            loops.append([each.name, *(_NOWHERE if at is None else (self._files[at.file], at.line, at.column))])
        instead = [[getattr(hint, f.name) for f in fields(Hint)] for hint in note.instead]
        return {**{f.name: getattr(note, f.name) for f in fields(Note)}, "loops": loops, "instead": instead}

    def _note(self, found: object) -> Note:
        """The note of plain data. Raises some exception where it is none."""
        files = {name: file for file, name in self._files.items()}
        match found:
            case {"loops": [*loops], "instead": [*hints], "gain": float() | None as gain, **texts}:
                named = [
                    SourceLoop(_text(name), None if file is None else Location(files[file], int(line), int(column)))
                    for name, file, line, column in loops
                ]
                lists = {key: tuple(map(_text, each)) for key, each in texts.items() if isinstance(each, list)}
                lines = {key: _text(each) for key, each in texts.items() if key not in lists}
                instead = tuple(Hint(*hint) for hint in hints)
                return Note(tuple(named), gain=gain, instead=instead, **lines, **lists)  # type: ignore[arg-type]
        raise ValueError

    def _plain(self, made: Kernel) -> list[object]:
        return [*plain(made.module, self._known, self._files)]

    def _replayed(self, place: Location, name: str, steps: Sequence[Step], nodes: Sequence[object]) -> Schedule:
        """The schedule of the steps, which makes what was kept."""
        replayed: Callable[..., Schedule] = import_module("affdsl.optimize.optimizer").replayed
        return replayed(self._kernel, place, name, steps, lambda made: self._plain(made) == nodes)


def _names(modules: Sequence[Module]) -> Mapping[str, str]:
    """What the files of modules are called here; by their path as well, where two are called the same.

    In notebooks these are cells: their files are other ones in each process.
    """
    files = sorted(file for module in modules for file in files_of(module))
    names = {file: str(Location(file, 0)) for file in files}
    return names if len({*names.values()}) == len(names) else {file: f"{file} {name}" for file, name in names.items()}


def _known(kernel: Kernel, module: Module) -> tuple[object, ...]:
    """What the result may share with the kernel: its values, and the kernels that it calls."""
    called = {each.func for each in all_called(kernel.program)}
    return (*values_of(module), *(function for function in module.functions if function in called))


@cache
def _version() -> str:
    """What differs between versions of the code that decides, also while somebody works on it."""
    found: list[object] = [affdsl.__version__, sys.implementation.cache_tag]
    for library in _LIBRARIES:
        spec = find_spec(library)
        with suppress(OSError):
            facts = os.stat("" if spec is None or spec.origin is None else spec.origin)
            found.append((library, facts.st_mtime_ns, facts.st_size))
    with suppress(OSError):  # what is imported from an archive has no files, and nobody works on it
        found += sorted(_sources(affdsl.__path__[0]))
    return repr(found)


def _sources(folder: str) -> Iterator[tuple[str, int, int]]:
    """Each file of Python code in a folder: its path, when it was changed, and how long it is."""
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _sources(entry.path)
        elif entry.name.endswith(".py"):
            facts = entry.stat()
            yield entry.path, facts.st_mtime_ns, facts.st_size


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise ValueError
    return found
