"""The loops of a kernel as the compiler made them: instructions, with the user's lines and those of C."""

from __future__ import annotations

import linecache
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from affdsl.codegen.assembly import FLAGS, Function, Instruction, functions, with_lines
from affdsl.codegen.assembly_loops import AssemblyLoop
from affdsl.codegen.assembly_loops import loops as loops_of
from affdsl.codegen.c.origins import Origins
from affdsl.codegen.c.vector_helpers import TARGETS
from affdsl.codegen.cache import default_cache
from affdsl.codegen.errors import ToolchainError
from affdsl.codegen.jit import jit_source
from affdsl.codegen.targets.baseline import BASELINE
from affdsl.codegen.targets.target import Target
from affdsl.codegen.toolchain import Compiler, macros
from affdsl.codegen.toolchain import assembly as compiled
from affdsl.errors import ProgramNameError
from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.messages import nearest
from affdsl.lang.source import problem
from affdsl.lang.trace import Program
from affdsl.passes.analysis.bounds import Bounds
from affdsl.progress import progress
from affdsl.seeing.loop_names import UNNAMED, chosen, names_in, names_of, plain
from affdsl.seeing.places import Chain, LoopOf, Places, chains
from affdsl.shown import Text

INNERMOST = "innermost first"


class Line(FrozenValue):
    """One line of assembly.

    Attributes
    ----------
    text
        An instruction as the compiler writes it; a label; or what stands for a loop inside, which is shown by itself.
    kind
        "instruction", "label" or "loop".
    location
        The user's line that it is of; None where the compiler does not say.
    c_line
        The line of the C file `Assembly.c`, counted from 1.
    """

    text: str
    kind: str
    location: Location | None = None
    c_line: int | None = None


class ShownLoop(FrozenValue):
    """A loop of the assembly.

    Attributes
    ----------
    name
        What the loop of the kernel is called of which it is made; of one loop, a compiler makes several.
    around
        The names of those around it, outermost first.
    location
        Where the user wrote it.
    depth
        How many loops of the assembly are around it.
    lines
        What it consists of, in the order of the text.
    """

    name: str
    around: tuple[str, ...]
    location: Location | None
    depth: int
    lines: tuple[Line, ...]

    @property
    def instructions(self) -> tuple[str, ...]:
        """Its own instructions."""
        return tuple(line.text for line in self.lines if line.kind == "instruction")


class Assembly(Text):
    """The loops of a kernel in assembly, as text, and as data.

    Attributes
    ----------
    loops
        Those that are shown, innermost first.
    missing
        The loops of the kernel of which the compiler left none.
    command
        The compiler and its flags.
    c
        The C file that was compiled.
    c_locations
        The user's line that each line of it was written for, by its number from 1; those of helpers have none.
    """

    loops: tuple[ShownLoop, ...]
    missing: tuple[str, ...]
    command: str
    c: str
    c_locations: Mapping[int, Location]

    def __new__(
        cls,
        head: str,
        loops: Sequence[ShownLoop],
        missing: Sequence[str],
        command: str,
        c: str,
        c_locations: Mapping[int, Location],
    ) -> Assembly:
        """The text of some loops."""
        lines = c.split("\n")
        parts = [head, *("\n".join(_printed(loop, lines)) for loop in loops)]
        if missing:
            parts.append(_about_missing(missing))
        made = super().__new__(cls, "\n\n".join(parts))
        made.loops, made.missing, made.command, made.c = tuple(loops), tuple(missing), command, c
        made.c_locations = c_locations
        return made


def assembly(program: Program, bounds: Bounds, loop: str | None = None, target: str | None = None) -> Assembly:
    """The loops of a program in assembly, as `affdsl.kernel.Kernel.asm` gives them."""
    own = names_of(program.module.functions[-1])
    symbol = program.func.symbol
    names = _Names(names_in(program.module))
    wanted = None if loop is None else chosen(loop, names.known, symbol)
    compiler, chosen_target = default_cache().compiler(), None if target is None else _target(target)
    if chosen_target is not None:
        _check_compiler(compiler, chosen_target)
    origins = Origins()
    source, flags = jit_source(program, bounds, compiler, origins=origins, target=chosen_target)
    places = Places(source, origins.lines)
    found: dict[AssemblyLoop, Chain] = {}
    with progress(f"compiling {symbol}"):
        made = _compiled(compiler, source, flags)
    for function in made:
        found |= chains(loops_of(function), places)
    shown = [(chain, each) for each, chain in found.items() if chain]
    missing = [name for name in own.values() if name not in {names.of(chain[-1]) for chain, _ in shown}]
    if wanted is not None:
        shown = [
            (chain, each) for chain, each in shown
            if names.of(chain[-1]) == wanted or (wanted in missing and _holds(each, wanted, names, places))
        ]  # fmt: skip
        missing = [name for name in missing if name == wanted]
    shown.sort(key=lambda pair: -len(pair[0]))
    loops = [_shown(each, chain, names, places, found) for chain, each in shown]
    command = shlex.join((*compiler.command, *flags))
    c_locations = {n: where for n in origins.lines if (where := places.location(n)) is not None}
    return Assembly(_head(symbol, wanted, len(loops), compiler, flags), loops, missing, command, source, c_locations)


def _compiled(compiler: Compiler, source: str, flags: Sequence[str]) -> list[Function]:
    """The functions of a C file as they are compiled without anything for a debugger, but with their lines."""
    found = functions(compiled(compiler, source, (*flags, *FLAGS[compiler.kind])), compiler.kind)
    if compiler.kind == "gcc":  # which writes the same instructions; clang may take other registers
        return found
    plain = {f.name: f for f in functions(compiled(compiler, source, flags), compiler.kind)}
    return [with_lines(plain[f.name], f) if f.name in plain else f for f in found]


class _Names:
    """What loops are called."""

    def __init__(self, names: Mapping[Value, str]) -> None:
        self.known = names

    def of(self, loop: LoopOf) -> str:
        """The name of one of the kernel, or of what the C output made of one."""
        return UNNAMED if loop.iv is None else self.known.get(loop.iv, plain(loop.iv))


def _shown(
    loop: AssemblyLoop, chain: Chain, names: _Names, places: Places, found: Mapping[AssemblyLoop, Chain]
) -> ShownLoop:
    lines: list[Line] = []
    for item in loop.items:
        match item:
            case str():
                lines.append(Line(f"{item}:", "label"))
            case Instruction():
                at = places.line(item)
                lines.append(Line(item.text, "instruction", None if at is None else places.location(at), at))
            case AssemblyLoop():
                name = f"loop {names.of(found[item][-1])}" if found[item] else "a loop"
                lines.append(Line(f"... {name}, {_counted(len(item.all()))} ...", "loop"))
    around = tuple(names.of(each) for each in chain[:-1])
    last = chain[-1]
    where = last.op.location or (last.iv.location if last.iv is not None else None)
    return ShownLoop(names.of(last), around, where, loop.depth, tuple(lines))


def _holds(loop: AssemblyLoop, wanted: str, names: _Names, places: Places) -> bool:
    """Whether instructions of a loop of the kernel, which is none of the assembly, stand right in this one."""
    return any(names.of(each) == wanted for item in loop.own() for each in places.chain(item))


def _head(symbol: str, wanted: str | None, count: int, compiler: Compiler, flags: Sequence[str]) -> str:
    version = compiler.identity.partition("\n")[0]
    what = f"{count} loop{'s' * (count != 1)}" + (f" of {wanted}" if wanted is not None else f", {INNERMOST}")
    return f"{symbol}: {what}\n{version}: {shlex.join(flags)}"


def _about_missing(names: Sequence[str]) -> str:
    several = len(names) > 1
    return (
        f"{', '.join(names)} {'are' if several else 'is'} no loop{'s' * several} of the assembly: "
        f"{'they are' if several else 'it is'} unrolled, done at once, or part of another loop"
    )


def _printed(loop: ShownLoop, c: Sequence[str]) -> Iterator[str]:
    """A loop as text: above the instructions the lines of which they are."""
    where = f"  {loop.location}" if loop.location is not None else ""
    inside = f" in {', '.join(loop.around)}" if loop.around else ""
    yield f"loop {loop.name}{inside}{where}  {_counted(len(loop.instructions))}"
    told: set[int] = set()
    for place, lines in groupby(loop.lines, lambda line: line if line.kind != "instruction" else _place(line)):
        if isinstance(place, Line):
            yield f"{'' if place.kind == 'label' else '    '}{place.text}"
            continue
        location, c_line = place
        yield from (f"    # {said}" for said in _said(location, c_line, "" if c_line in told else c[(c_line or 1) - 1]))
        yield from (f"    {line.text}" for line in lines)
        if c_line is not None:
            told.add(c_line)


def _place(line: Line) -> tuple[Location | None, int | None]:
    return line.location, line.c_line


def _said(location: Location | None, c_line: int | None, c: str) -> Iterator[str]:
    """The user's line, and that of C, each with its text; where that of C is left out, it was there before."""
    if c_line is None:
        yield "the compiler says no line of the kernel"
        return
    if not c:
        yield f"{location}, C line {c_line}" if location is not None else f"C line {c_line}"
        return
    if location is not None:
        text = linecache.getline(location.file, location.line).strip()
        yield f"{location}: {text}" if text else str(location)
    yield f"C line {c_line}: {c.strip()}"


def _counted(count: int) -> str:
    return f"{count} instruction{'s' * (count != 1)}"


def _target(name: object) -> Target | None:
    """The target of that name; None for this machine. Raises ProgramNameError."""
    known = {target.name: target for target in (*TARGETS, BASELINE)}
    if name == "native":
        return None
    if not isinstance(name, str) or name not in known:
        close = nearest(name, list(known)) if isinstance(name, str) else ""
        raise problem(ProgramNameError, f"there is no target {name!r}{close}", f"they are native, {', '.join(known)}")
    return known[name]


def _check_compiler(compiler: Compiler, target: Target) -> None:
    """Raises ToolchainError where the compiler is for other processors."""
    why = ""
    try:
        lacks = [macro for macro in target.macros if macro not in macros(compiler, target.flags)]
        why = f"it does not define {lacks[0]}" if lacks else ""
    except ToolchainError as error:
        why = str(error).splitlines()[-1]
    if why:
        raise ToolchainError(
            f"{shlex.join(compiler.command)} does not compile for {target.name}: {why}; set AFFDSL_CC to a compiler "
            "that does, as aarch64-linux-gnu-gcc for neon"
        )
