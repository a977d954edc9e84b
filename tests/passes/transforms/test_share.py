"""What copies of a body have in common is computed once, and nothing else changes."""

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.share import shared
from affdsl.passes.transforms.unroll import unroll
from tests.harness.judges import instead
from tests.soundness.programs import PROGRAMS, interpreted

NOTHING = Func("nothing", (), ())


def count(body: str, of: str = "load", arguments: str = "%A: memref<9xf32>, %B: memref<9xf32>, %i: index") -> int:
    """How many operations are left of a function whose name ends so."""
    function = parse(f"func.func @f({arguments}) {{\n{body}\nreturn\n}}").functions[0]
    made = shared(function, NOTHING)
    verify(made)
    return sum(op.name.endswith(of) for op in walk(made))


LOAD = "%{0} = affine.load %{1}[symbol(%i)] : memref<9xf32> affine.store %{0}, %B[{2}] : memref<9xf32>\n"
A, B = (f"{LOAD.format('a', name, 0)}{LOAD.format('b', name, 1)}" for name in "AB")


def test_a_load_is_shared_unless_its_own_buffer_is_written():
    assert count(A) == 1
    assert count(B) == 2
    unknown = '"some.thing"(%A) : (memref<9xf32>) -> ()\n'
    assert count(LOAD.format("a", "A", 0) + unknown + LOAD.format("b", "A", 1)) == 2


def test_arguments_that_a_call_shows_to_be_one_buffer_are_one():
    text = f"""
    func.func private @f(%A: memref<9xf32>, %B: memref<9xf32>, %i: index) {{ {A} return }}
    func.func @main(%A: memref<9xf32>, %i: index) {{
      call @f(%A, %A, %i) : (memref<9xf32>, memref<9xf32>, index) -> ()
      return
    }}"""
    module = parse(text)
    made = shared(module.functions[0], NOTHING, module)
    assert sum(isinstance(op, affine.Load) for op in walk(made)) == 2


def test_a_loop_that_writes_ends_what_is_known_and_a_condition_goes_on():
    inner = "affine.for %j = 0 to 9 {{ {} }}\n"
    known = "%x = affine.load %A[0] : memref<9xf32>\n"
    again = "%y = affine.load %A[0] : memref<9xf32> affine.store %y, %{}[1] : memref<9xf32>\n"
    assert count(known + inner.format(again.format("B"))) == 2, "the loop may run after another that writes"
    on_condition = "affine.if affine_set<(d) : (d >= 0)>(%i) { BODY }\n"
    assert count(known + on_condition.replace("BODY", again.format("B"))) == 1
    last = "%z = affine.load %A[0] : memref<9xf32> affine.store %z, %B[2] : memref<9xf32>\n"
    assert count(known + on_condition.replace("BODY", again.format("A")) + last) == 2
    assert count(known + inner.format(again.format("B")) + last) == 2


@pytest.mark.parametrize(("first", "second", "left"), [
    ("arith.constant 0.0 : f32", "arith.constant -0.0 : f32", 2),
    ("arith.constant 1.0 : f32", "arith.constant 1.0 : f32", 1),
    ("arith.constant 1 : i32", "arith.constant true", 2),
    ("arith.constant dense<[1.0, 0.0]> : vector<2xf32>", "arith.constant dense<[1.0, -0.0]> : vector<2xf32>", 2),
])  # fmt: skip
def test_numbers_are_one_where_their_bits_and_types_are(first, second, left):
    assert count(f"%a = {first}\n%b = {second}", of="constant", arguments="") == left


def test_a_distance_goes_into_subscripts_and_stays_where_none_can_stand():
    apply = "%j = affine.apply affine_map<(d) -> (d + 1)>(%i)\n%x = affine.load %A[%j] : memref<9xf32>\n"
    store = "affine.store %x, %B[0] : memref<9xf32>\n"
    assert count(apply + store, of="apply") == 0
    assert count(apply + store + '"some.thing"(%j) : (index) -> ()', of="apply") == 1
    assert count(apply.replace("d + 1", "d floordiv 2") + store, of="apply") == 1


def test_what_stood_before_stays():
    function = parse(f"func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %i: index) {{ {A} return }}").functions[0]
    assert shared(function, function) is function


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_that_others_get_wrong_do_the_same(name: str) -> None:
    program = PROGRAMS[name]
    module = parse(program.text)
    for function in module.functions:
        whole = instead(module, function, shared(function, NOTHING, module))
        verify(whole)
        assert " ".join(interpreted(whole)) == program.prints
        for loop in [op for op in walk(function) if isinstance(op, affine.For)]:
            try:
                made = unroll(function, loop.iv, 3, module=module)
            except IllegalTransform:
                continue
            after = instead(module, function, shared(made, function, instead(module, function, made)))
            verify(after)
            assert " ".join(interpreted(after)) == program.prints, loop.iv.hint
