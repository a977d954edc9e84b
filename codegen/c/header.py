"""The header of an emitted function: its prototype for C and C++, and its contract in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from affdsl.codegen.c.names import comment
from affdsl.codegen.c.plan import Plan, Result
from affdsl.codegen.c.prototype import Prototype
from affdsl.codegen.c.sites import Sites
from affdsl.codegen.c.types import element, is_memref, number_type, scalar, stored_type
from affdsl.ir.expr import Value
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import IndexType, MemRefType, StridedLayout


def macros_of(file: str) -> tuple[str, ...]:
    """What <file>.h may define: its prototype can name nothing so."""
    return tuple(f"{file.upper()}_{end}" for end in ("H", "RESTRICT", "C64", "C128"))


def header(functions: Sequence[tuple[Plan, Prototype]], file: str, sites: Sites | None = None) -> str:
    """The text of <file>.h, for one function or several; `sites` are the checks of accesses, if there are any."""
    guard, restrict, *_ = macros_of(file)
    prototypes = [made for _, made in functions]
    has_bool = any("bool" in text for made in prototypes for text in (made.returns, *(p.type for p in made.all)))
    uses_restrict = any(p.is_restrict for made in prototypes for p in made.all)
    cpp = f"#define {restrict} __restrict\n" if uses_restrict else ""
    c = f"#define {restrict} restrict\n" if uses_restrict else ""
    cpp_types, c_types, named = complex_types(prototypes, file)
    otherwise = f"#else\n{c}{c_types}" if c or c_types else ""
    declared = [
        documentation(plan, made, sites if plan.notes else None) + f"{shown.text(restrict)};\n\n"
        for (plan, made), shown in zip(functions, named, strict=True)
    ]
    return (
        f"#ifndef {guard}\n#define {guard}\n\n"
        + ("#include <stdbool.h>\n" if has_bool else "")
        + "#include <stdint.h>\n\n"
        + f'#if defined(__cplusplus)\n{cpp_types}{cpp}extern "C" {{\n{otherwise}#endif\n\n'
        + "".join(declared)
        + "#if defined(__cplusplus)\n}\n#endif\n"
        + (f"#undef {restrict}\n" if uses_restrict else "")
        + "".join(f"#undef {line.split()[1]}\n" for line in c_types.splitlines())
        + f"\n#endif /* {guard} */\n"
    )


def complex_types(listed: Sequence[Prototype], file: str) -> tuple[str, str, list[Prototype]]:
    """What a header has before its prototypes for C++ and for C, where complex numbers have other names in C++."""
    types = [p.type.removeprefix("const ") for made in listed for p in made.all]
    used = {part: name for part, name in zip(("float", "double"), macros_of(file)[2:], strict=True)
            if any(type.startswith(f"{part} _Complex") for type in types)}  # fmt: skip
    if not used:
        return "", "", [*listed]
    cpp = "#include <complex>\n" + "".join(f"#define {name} std::complex<{part}>\n" for part, name in used.items())
    c = "".join(f"#define {name} {part} _Complex\n" for part, name in used.items())
    return cpp, c, [_with_types(made, used) for made in listed]


def _with_types(made: Prototype, used: Mapping[str, str]) -> Prototype:
    """A prototype with other names for complex numbers, by the names of their parts."""
    parameters = made.all
    for part, name in used.items():
        parameters = tuple(replace(p, type=p.type.replace(f"{part} _Complex", name)) for p in parameters)
    return replace(made, all=parameters)


def documentation(plan: Plan, made: Prototype, sites: Sites | None = None) -> str:
    """What a caller of the function must know, as a comment."""
    lines = contract_lines(plan, made, sites)
    if plan.is_checked:
        lines += ["Compile with -fwrapv: an index that data gives may overflow before it is checked."]
    lines += ["Compile with -std=c11 or -ffp-contract=off: no product may be fused with a sum."]
    return as_comment(lines)


def as_comment(lines: Sequence[str]) -> str:
    """Lines, harmless as they are, as one comment."""
    return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"


def contract_lines(plan: Plan, made: Prototype, sites: Sites | None = None, requires: Sequence[str] = ()) -> list[str]:
    """What a caller of the function must know; `requires` is what it must see to besides, as lines."""
    f = plan.func
    names = made.parameters

    def name(value: Value) -> str:
        return names.get(value, value.hint or "?")

    title = made.name if made.name == f.symbol else f'{made.name} (called "{comment(f.symbol)}" in the kernel)'
    rows: list[tuple[str, str]] = []
    for k, a in enumerate(f.args):
        rows.append((names[a], _argument(plan, k, name)))
        passed = [(d, stride) for d, stride in enumerate(plan.strides.get(a, ())) if isinstance(stride, Value)]
        words = f"int64_t, the stride of {names[a]} along dimension "
        rows += [(names[stride], f"{words}{d}, in elements") for d, stride in passed]
    for result, output in zip(plan.results, made.outputs, strict=True):
        rows.append((output or "returns", _result(result, output, name)))
    if made.threads:
        rows.append((made.threads, "int32_t, how many threads run its parallel loops; 0 leaves it to OpenMP"))
    if sites is not None:
        rows.append((made.failure, f"int64_t[{sites.room}], for what fails: the first is 0 before the call"))
    lines = [title, "", *_table(rows)]
    if f.assumes:
        lines += ["", f"Requires {', '.join(spell_constraint(c, name) for c in f.assumes)}."]
    lines += ["", *requires] if requires else []
    arrays = [a for a in f.args if isinstance(a.type, MemRefType)]
    lines += [""]
    if arrays and plan.strides:
        lines += [
            "Arrays without strides are row-major and contiguous. One that is written overlaps no other,",
            "and no two of its elements are one; strides of others may also be 0.",
        ]
    elif arrays:
        lines += ["Arrays are row-major and contiguous; one that is written overlaps no other."]
    if plan.is_checked:
        lines += [
            "Returns 0, or 2 where there is not enough memory, or 3 where an access would leave its",
            f"array: it is not made, {made.failure}[0] is the number of its check, and the index and the sizes",
            "follow. What the function writes is incomplete then.",
        ]
    elif sites is not None:
        lines += [
            "Returns 0, or 2 where there is not enough memory, or 3 where an assertion does not hold:",
            f"{made.failure}[0] is its number, and its values follow, floats as the bits of a double. What",
            "the function writes is incomplete then.",
        ]
    elif plan.has_status:
        lines += ["Returns 0, or 2 where there is not enough memory; then what it writes is incomplete."]
    if plan.has_parallel:
        lines += [
            "Runs on the threads of OpenMP where compiled with -fopenmp; floats that a parallel",
            "reduction adds or multiplies are then rounded in no fixed order.",
        ]
    return lines


def _table(rows: list[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in rows), default=0)
    return [f"  {name:{width}}  {what}" for name, what in rows]


def _argument(plan: Plan, position: int, name: object) -> str:
    f = plan.func
    arg = f.args[position]
    assert callable(name)
    shown_as = name(arg)
    original = "" if arg.hint in ("", shown_as) else f' (called "{comment(arg.hint)}" in the kernel)'
    if isinstance(arg.type, MemRefType):
        shape = f.shapes[position] if f.shapes else None
        sizes = (
            [spell(s, name) for s in shape]
            if shape is not None
            else ["?" if s is None else str(s) for s in arg.type.shape]
        )
        use = "written" if position in plan.written else "read"
        kind = stored_type(element(arg.type), position in f.unsigned)
        narrow = element(arg.type)
        bits = f", the bits of {narrow}" if str(narrow) in ("f16", "bf16") else ""
        layout = f", {arg.type.layout}" if isinstance(arg.type.layout, StridedLayout) else ""
        if all(isinstance(stride, Value) for stride in plan.strides.get(arg, ())):
            layout = ""  # the strides have rows of their own
        return f"{_shaped(kind, sizes)}, {use}{bits}{layout}{original}"
    kind = stored_type(arg.type, position in f.unsigned)
    is_size = isinstance(arg.type, IndexType) and (
        position < plan.sizes or any(s.value is arg for shape in f.shapes for s in shape or ())
    )
    bits = f", the bits of {scalar(arg.type)}" if str(arg.type) in ("f16", "bf16") else ""
    return f"{kind}{', a size: at least 0' if is_size else ''}{bits}{original}"


def _result(result: Result, output: str, name: Callable[[Value], str]) -> str:
    """What a result is, of the pointer `output` for it, if there is one."""
    kind = element(result.type) if is_memref(result.type) else number_type(result.type)
    shown = _shaped(stored_type(kind, result.unsigned), [spell(s, name) for s in result.shape])
    if result.is_array:
        shown += ", a result: memory of the caller"
    elif output:
        shown += ", a result: it is written where this points to"
    bits = f", the bits of {scalar(kind)}" if str(kind) in ("f16", "bf16") else ""
    if not output:
        return f"{shown}{bits}" + (f", {comment(result.hint)}" if result.hint else "")
    original = f' (called "{comment(result.hint)}" in the kernel)' if result.hint not in ("", output) else ""
    return f"{shown}{bits}{original}"


def _shaped(kind: str, sizes: list[str]) -> str:
    return kind + "".join(f"[{size}]" for size in sizes)
