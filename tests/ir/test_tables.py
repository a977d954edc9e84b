"""For each operation, the tables in which it has no row: those listed here, with the reason, and no others."""

import ast
import inspect
from operator import attrgetter

import pytest

from affdsl.codegen.c.operations import STRICT_C
from affdsl.ir.core import Memory, roles
from affdsl.ir.dialects import affine, func, memref, opaque, scf
from affdsl.ir.interpreter import program, steps
from affdsl.ir.verifier.rules import RULES
from affdsl.mlir.generic import rows
from affdsl.mlir.writers import WRITERS
from tests.ir.operations import OPERATIONS


def cases(*modules):
    """The classes of operations that a match statement of some modules names."""
    found = set()
    for module in modules:
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.MatchClass):
                cls = attrgetter(ast.unparse(node.cls))(module)
                found |= {cls, *cls.__subclasses__()}
    return found


TABLES = {
    "verifier": set(RULES),
    "writer": set(WRITERS),
    "generic form": set(rows._BY_CLASS),
    "interpreter": cases(steps, program) | set(steps._STEPS),
    "C": set(STRICT_C),
    "effects": {cls for cls in OPERATIONS if cls.memory is not None},
}

PARTS = {
    scf.Case: "part of its switch",
    scf.Combiner: "part of its reduction",
    opaque.OpaqueRegion: "part of its opaque operation",
    opaque.OpaqueBlock: "part of its opaque operation",
}
NAMES = {
    func.Func: "held by a module: no statement that runs",
    func.Module: "held by a module: no statement that runs",
    memref.Global: "held by a module: no statement that runs",
}
OPAQUE_TEXT = {opaque.Opaque: "its text is the generic form itself"}
UNKNOWN_EFFECTS = {
    cls: reason
    for classes, reason in (
        ((affine.Prefetch, affine.DmaStart, affine.DmaWait), "kept in place, though its accesses are known"),
        ((memref.Prefetch, memref.DmaStart, memref.DmaWait), "kept in place, though its accesses are known"),
        ((func.Call,), "does what its function does: affdsl.passes.analysis.summary says what"),
        ((func.Return,), "leaves the function"),
        ((opaque.Opaque,), "may do anything"),
        ((opaque.OpaqueRegion, opaque.OpaqueBlock), "part of its opaque operation, which may do anything"),
        ((func.Func, func.Module, memref.Global), "held by a module: no statement that runs"),
    )
    for cls in classes
}
WITHOUT = {
    "verifier": {},
    "writer": {**PARTS, **OPAQUE_TEXT},
    "generic form": {**PARTS, **OPAQUE_TEXT},
    "interpreter": {**PARTS, **NAMES},
    "C": {**PARTS, **NAMES},
    "effects": UNKNOWN_EFFECTS,
}


@pytest.mark.parametrize("table", TABLES)
def test_an_operation_without_a_row_is_listed_with_its_reason(table):
    assert {cls for cls in OPERATIONS if cls not in TABLES[table]} == set(WITHOUT[table])


def test_the_reader_makes_what_the_generic_form_has():
    assert {row.cls for row in rows._BY_NAME.values()} == set(rows._BY_CLASS)


def test_every_field_that_a_class_declares_its_effects_on_is_a_field_of_its_own():
    for cls in OPERATIONS:
        memory = cls.memory or Memory()
        own = roles(cls)
        for name in (memory.reads, memory.writes, memory.frees):
            assert name is None or name in own.operands, cls
        assert memory.allocates is None or memory.allocates in own.results, cls
