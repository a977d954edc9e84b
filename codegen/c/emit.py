"""C from a module: a source file and a header, or one file for the just-in-time compiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from affdsl.codegen.c.allowed import NAMES
from affdsl.codegen.c.context import Context, Rows
from affdsl.codegen.c.entry import LOCALS, entry_points
from affdsl.codegen.c.header import documentation, header, macros_of
from affdsl.codegen.c.instruments import NAMES as INSTRUMENTS
from affdsl.codegen.c.instruments import Instruments
from affdsl.codegen.c.names import Scope, comment, function_identifier
from affdsl.codegen.c.operations import STRICT_C
from affdsl.codegen.c.origins import Origins
from affdsl.codegen.c.plan import Plan, plans
from affdsl.codegen.c.prototype import Prototype, prototype
from affdsl.codegen.c.quirks import is_written
from affdsl.codegen.c.refusals import NAMES as OF_LENGTHS
from affdsl.codegen.c.refusals import asked
from affdsl.codegen.c.rows import choice, versions
from affdsl.codegen.c.sites import Sites
from affdsl.codegen.c.threads import NAMES as OF_THREADS
from affdsl.codegen.c.unit import Unit
from affdsl.errors import UnsupportedError
from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module, Return
from affdsl.ir.dialects.vector import MOST_LANES
from affdsl.ir.expr import Constraint
from affdsl.ir.messages import where
from affdsl.ir.traverse import walk
from affdsl.ir.types import I1, MemRefType, VectorType
from affdsl.passes.lowering.divided_lanes import divided_lanes
from affdsl.passes.lowering.printed_lanes import printed_lanes
from affdsl.passes.lowering.rows_of_vectors import rows_of_vectors
from affdsl.passes.lowering.split_vectors import split_vectors

REGISTER_BITS = (128, 256, 512)
"""How wide vector registers are."""
MANY_ROWS = 6
"""From so many addresses of rows on, a loop has hardly registers for them beside those of its callers."""


def in_registers(module: Module, bits: int) -> Module:
    """The module with vectors of no more than so many bits, for those that are longer, printed number by number.

    Compilers hold vectors of several registers in memory, the quirk `vectors_wider_than_registers`. Raises
    UnsupportedError for vectors of more than MOST_LANES lanes, which would be as many statements.
    """
    for op in walk(module):
        for value in (*op.defines(), *op.binds()):
            if isinstance(value.type, VectorType) and prod(value.type.shape) > MOST_LANES:
                what = f"{where(op)}: C output takes vectors of up to {MOST_LANES} lanes, and this is a {value.type}"
                raise UnsupportedError(f"{what}; let a loop go over parts of it")
    return split_vectors(divided_lanes(rows_of_vectors(printed_lanes(module))), bits)


class CSource(FrozenValue):
    """A C file and its header. `source` includes the header as `<name>.h`; `about` is what a caller must know."""

    source: str
    header: str
    name: str
    about: str

    @property
    def whole(self) -> str:
        """The C file with what a caller must know in place of its header: it needs no other."""
        return f"{self.about}\n{self.including('').lstrip()}"

    def including(self, header: str) -> str:
        """The C file with a text in the place of the line that includes its header."""
        line = f'#include "{self.name}.h"\n'
        assert self.source.count(line) == 1, "the C file includes its header once"
        return self.source.replace(line, header)


def emit(
    module: Module,
    entry: str,
    *,
    name: str | None = None,
    sizes: int = 0,
    checked: bool = False,
    rows: Rows = STRICT_C,
    vector_types: bool = True,
    register_bits: int = REGISTER_BITS[-1],
    results: Sequence[str] = (),
) -> CSource:
    """Standalone C of the function `entry` and all that it calls, which becomes static. Functions without a body are
    declared, to be linked.

    `name` is that of the files, the function's if None. The first `sizes` arguments are sizes, so not negative, as are
    those that are a dimension of an array. If `checked`, each access is checked before it is made: the header says how
    the function tells of one that fails. `rows` is what writes each operation, see affdsl.codegen.c.operations. Without
    `vector_types` vectors are arrays and loops over their lanes, as C11 has them, and not values of the vector types of
    gcc and clang. Vectors of more than `register_bits` are several; compilers make several registers of one, too, but
    hold those in memory. `results` are the names of the results, where somebody gave them some.
    """
    module = in_registers(module, register_bits)
    found = plans(module, entry, sizes=sizes, checked=checked, results=results, external=True)
    file = function_identifier(name) if name is not None else found[entry].name
    unit = Unit(Sites() if found[entry].notes else None, has_vector_types=vector_types)
    bodies, prototypes = functions_of(found, unit, {entry}, rows, reserved=macros_of(file))
    includes = f'#include "{file}.h"\n\n'
    source = includes + listed_checks(unit.sites) + unit.file("\n".join(bodies))
    about = documentation(found[entry], prototypes[entry], unit.sites)
    return CSource(source, header([(found[entry], prototypes[entry])], file, unit.sites), file, about)


def emit_jit(
    module: Module,
    entry: str,
    *,
    sizes: int = 0,
    against: Sequence[Sequence[Constraint]] = (),
    sites: Sites | None = None,
    checked: bool = True,
    asks: bool = False,
    has_turned: bool = False,
    vector_types: bool = True,
    register_bits: int | None = None,
    origins: Origins | None = None,
    instruments: Instruments | None = None,
) -> str:
    """One C file whose only visible symbols are the packed entry points, see affdsl.codegen.caller.

    The first `sizes` index arguments are found from the shapes of the arrays; the others are scalars of the caller.
    A call is refused where all constraints of one of `against` hold. With `sites`, and where it is `checked`, each
    access is checked before it is made; its check is added to them, as are assertions. Where it `asks`, it runs only
    with numbers that were allowed before; where it `has_turned` form, not on arrays that all lie in Fortran order.
    `vector_types` as in `emit`; vectors of more than `register_bits` are several. With `origins`, it is noted for which
    operation each line is. With `instruments`, the file notes how it runs: give a module that is split already.
    """
    module = printed_lanes(module) if register_bits is None else in_registers(module, register_bits)
    names = Scope()
    for local in LOCALS:
        names.reserve(local)
    found = plans(module, entry, sizes=sizes, checked=checked and sites is not None, names=names)
    noted = (Sites() if sites is None else sites) if found[entry].notes else None
    unit = Unit(noted, has_vector_types=vector_types, origins=origins, is_compiled_once=True)
    rows = STRICT_C
    if instruments is not None:
        instruments.define(unit)
        rows = instruments.rows(STRICT_C)
    bodies, prototypes = functions_of(
        found, unit, set(), rows, reserved=INSTRUMENTS if instruments is not None else (), entry=entry
    )
    is_timed = instruments is not None
    last = entry_points(
        found[entry], prototypes[entry], sizes, unit, against, asks=asks, is_timed=is_timed, has_turned=has_turned
    )
    text = unit.file("\n".join([*bodies, last])) + asked()
    return text if origins is None else origins.taken(text)


def listed_checks(sites: Sites | None) -> str:
    """What the numbers of the checks stand for, as a comment."""
    if sites is None or not sites.listed():
        return ""
    lines = [f" * {number:4}  {comment(site.listed)}" for number, site in enumerate(sites.listed(), 1)]
    return "\n".join(["/*", " * The checks, by the number that failure[0] gets:", *lines, " */", "", ""])


def functions_of(
    found: Mapping[str, Plan],
    unit: Unit,
    public: set[str],
    rows: Rows,
    names: Scope | None = None,
    *,
    reserved: Sequence[str] = (),
    entry: str = "",
) -> tuple[list[str], dict[str, Prototype]]:
    """The functions that are planned, with their prototypes; `names` are in use in the file, theirs among them.

    Where none is public, for the just-in-time compiler, those with strides are there once more for contiguous arrays;
    `entry` is then the one that is called from outside.
    """
    buffers = next(iter(found.values())).buffers
    read = [buffers[s] for s in dict.fromkeys(s for plan in found.values() for s in sorted(plan.reads))]
    if names is None:
        names = Scope()
        for name in (*(plan.name for plan in found.values()), *(buffer.name for buffer in read)):
            names.reserve(name)
    for buffer in read:
        unit.define(buffer.text(unit))
    for name in ("affdsl_entry", "affdsl_results", "affdsl_failure", *NAMES, *OF_THREADS, *OF_LENGTHS, *reserved):
        names.reserve(name)
    if any(_has_bool(plan) for plan in found.values()):
        unit.header("stdbool.h")
    bodies: list[str] = []
    prototypes: dict[str, Prototype] = {}
    for symbol, plan in found.items():
        made = prototypes[symbol] = prototype(plan, Scope(names))
        if plan.is_external:
            unit.define(f"/* Defined elsewhere. */\n{made.text('restrict')};\n")
            continue
        before: list[str] = []
        for version in versions(plan, of_all=not public):
            other = replace(version.plan, name=names.reserve(version.plan.name))
            faster = prototype(other, Scope(names))
            writer = Context({**found, symbol: other}, symbol, faster, unit, rows)
            bodies.append((_ALONE if not public else "") + _function(other, faster, writer, static=True))
            before += choice(plan, made, faster, version)
        writer = Context(found, symbol, made, unit, rows)
        alone = _ALONE_BY_CLANG if symbol == entry and is_written("inlined_entry") else ""
        if not public and is_written("many_rows") and _has_many_rows(plan.func):
            alone = _ALONE
        bodies.append(alone + _function(plan, made, writer, before, static=symbol not in public))
    return bodies, prototypes


_ALONE = """/* By itself: where it is beside others in one function, gcc keeps less of it in registers. */
#if defined(__GNUC__)
__attribute__((noinline))
#endif
"""
_ALONE_BY_CLANG = """/* By itself: where it is inlined, clang takes lanes that are turned in registers apart. */
#if defined(__clang__)
__attribute__((noinline))
#endif
"""


def _has_many_rows(function: Func) -> bool:
    """Whether a loop has several sums in vectors for each of many rows of one array, along which it goes by numbers.

    There is an address for each row: see the quirk `many_rows`. Rows of an array in which the sums are stored have
    these addresses anyway: factorizations lost up to a tenth by it.
    """
    for block in (block for op in walk(function) for block in op.blocks()):
        stored = {op.memref for op in block if isinstance(op, affine.VectorStore)}
        for loop in block:
            if not isinstance(loop, affine.For) or not any(isinstance(v.type, VectorType) for v in loop.inits):
                continue
            loads = [op for op in loop.body if isinstance(op, affine.Load) and op.memref not in stored]
            rows = Counter(memref for memref, *_ in {(op.memref, *op.index[:-1]) for op in loads})
            if any(MANY_ROWS <= count <= len(loop.inits) // 2 for count in rows.values()):
                return True
    return False


def _has_bool(plan: Plan) -> bool:
    """Whether a function has values or elements that are one bit."""
    values = [*plan.func.args, *(v for op in walk(plan.func) for v in (*op.defines(), *op.binds()))]
    kinds = [v.type.element if isinstance(v.type, MemRefType | VectorType) else v.type for v in values]
    return I1 in kinds


def _function(plan: Plan, made: Prototype, writer: Context, before: Sequence[str] = (), *, static: bool) -> str:
    """A function, with lines `before` its first that use all parameters."""
    writer.write()
    body = writer.lines.finish()
    # Directives, which not all compilers read, are no use of what they name.
    named = {made.threads} if made.threads else set()
    unused = [p.name for p in made.all if not before and (p.name in named or not writer.lines.uses(p.name))]
    lines = [*before, *(f"    (void){name};" for name in unused), *body]
    if plan.has_status and not (plan.func.body and isinstance(plan.func.body[-1], Return)):
        lines.append("    return 0;")
    return f"{made.text('restrict', static=static)}\n{{\n" + "".join(f"{line}\n" for line in lines) + "}\n"
