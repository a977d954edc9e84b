"""lower_affine: next to mlir-opt's, exact on full boxes and at the ends of the 64-bit range, run before and after."""

from itertools import product
from random import Random

import numpy as np
import pytest

from affdsl.errors import UnsupportedError
from affdsl.ir import written as trees
from affdsl.ir.applied import Applied, applied
from affdsl.ir.core import Block
from affdsl.ir.counters import too_large_in
from affdsl.ir.dialects import affine, arith, func
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.analysis.polyhedral import equal_everywhere
from affdsl.passes.lowering.lower_affine import lower_affine
from tests.effort import some
from tests.oracles import mlir_opt, require, run_mlir
from tests.passes.compare import ENDS, UNKNOWN, assert_alike, differences, parsed, shown
from tests.passes.program_files import program_file

HEAD = "func.func private @use(index)\nfunc.func @f(%i: index, %n: index, %A: memref<16x?xf32>, %x: f32)"

ALIKE = program_file("lower-affine").programs

DIFFERENT = {
    "a division that rounds up": (
        "{ %a = affine.apply affine_map<(d0) -> (d0 ceildiv 7)>(%i) call @use(%a) : (index) -> () return }",
        # 0 - x and x - 1 are chosen from there, and 0 - x is wrong for the least index.
        ["-%1 = arith.subi %c0, %arg0 : index", "-%2 = arith.subi %arg0, %c1 : index",
         "-%3 = arith.select %0, %1, %2 : index", "-%4 = arith.divsi %3, %c7 : index",
         "-%5 = arith.subi %c0, %4 : index", "-%6 = arith.addi %4, %c1 : index",
         "-%7 = arith.select %0, %5, %6 : index", "-call @use(%7) : (index) -> ()",
         "+%1 = arith.subi %arg0, %c1 : index", "+%2 = arith.select %0, %arg0, %1 : index",
         "+%3 = arith.divsi %2, %c7 : index", "+%4 = arith.addi %3, %c1 : index",
         "+%5 = arith.select %0, %3, %4 : index", "+call @use(%5) : (index) -> ()"],
    ),
    "a comparison that could wrap": (
        """{
          affine.if affine_set<()[s0, s1] : (s1 - s0 - 1 >= 0)>()[%i, %n] { func.call @use(%i) : (index) -> () }
          return }""",
        ["-%c-1 = arith.constant -1 : index", "-%0 = arith.muli %arg0, %c-1 : index",
         "-%1 = arith.addi %arg1, %0 : index", "-%c-1_0 = arith.constant -1 : index",
         "-%2 = arith.addi %1, %c-1_0 : index", "-%3 = arith.cmpi sge, %2, %c0 : index", "-scf.if %3 {",
         "+%0 = arith.cmpi sgt, %arg1, %arg0 : index", "+scf.if %0 {"],
    ),
    "a dividend that could wrap": (
        "{ %a = affine.apply affine_map<()[s0] -> ((s0 + 3) floordiv 8)>()[%i] call @use(%a) : (index) -> () return }",
        # mlir-opt divides %arg0 + 3; here it is %arg0 floordiv 8 + (%arg0 mod 8 + 3) floordiv 8.
        [
         "-%c3 = arith.constant 3 : index",
         "-%0 = arith.addi %arg0, %c3 : index",
         "-%1 = arith.cmpi slt, %0, %c0 : index",
         "-%2 = arith.subi %c-1, %0 : index",
         "-%3 = arith.select %1, %2, %0 : index",
         "-%4 = arith.divsi %3, %c8 : index",
         "-%5 = arith.subi %c-1, %4 : index",
         "-%6 = arith.select %1, %5, %4 : index",
         "-call @use(%6) : (index) -> ()",
         "+%0 = arith.cmpi slt, %arg0, %c0 : index",
         "+%1 = arith.subi %c-1, %arg0 : index",
         "+%2 = arith.select %0, %1, %arg0 : index",
         "+%3 = arith.divsi %2, %c8 : index",
         "+%4 = arith.subi %c-1, %3 : index",
         "+%5 = arith.select %0, %4, %3 : index",
         "+%c8_0 = arith.constant 8 : index",
         "+%6 = arith.muli %5, %c8_0 : index",
         "+%7 = arith.subi %arg0, %6 : index",
         "+%c3 = arith.constant 3 : index",
         "+%8 = arith.addi %7, %c3 : index",
         "+%c8_1 = arith.constant 8 : index",
         "+%9 = arith.divsi %8, %c8_1 : index",
         "+%10 = arith.addi %5, %9 : index",
         "+call @use(%10) : (index) -> ()",
        ],
    ),
    "a bound that could wrap": (
        "{ affine.for %j = 0 to affine_map<()[s0] -> (s0 - 4)>()[%n] { func.call @use(%j) : (index) -> () } return }",
        ["+%c-9223372036854775804 = arith.constant -9223372036854775804 : index",
         "+%0 = arith.maxsi %arg1, %c-9223372036854775804 : index",
         "-%0 = arith.addi %arg1, %c-4 : index", "+%1 = arith.addi %0, %c-4 : index",
         "-scf.for %arg4 = %c0 to %0 step %c1 {", "+scf.for %arg4 = %c0 to %1 step %c1 {"],
    ),
}  # fmt: skip
"""Programs of which mlir-opt makes something else, which is wrong for some operands, and the lines that differ."""


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_from_mlir_opt_where_that_is_wrong(name):
    body, lines = DIFFERENT[name]
    theirs = mlir_opt(HEAD + body, UNKNOWN, "--lower-affine").replace(" overflow<nsw>", "")
    assert sorted(differences(theirs, shown(lower_affine(parsed(HEAD + body))))) == sorted(lines)


def test_no_affine_operation_is_left():
    for program in ALIKE.values():
        lowered = lower_affine(parsed(program.text))
        assert not [op.name for op in walk(lowered) if op.name.startswith("affine.")]


def function_of(kind: str, map: Applied) -> func.Func:
    """A function of two index values whose one result depends on a map."""
    a, b = (*map.dims, *map.symbols)
    result, zero, one = (Value(INDEX) for _ in range(3))
    constants = (arith.Constant(zero, 0), arith.Constant(one, 1))
    means = tuple(e.expr if isinstance(e, Constraint) else e for e in map.means)
    body: Block
    match kind:
        case "apply":
            body = (affine.Apply(result, means[0], written={"expr": map}),)
        case "min" | "max":
            cls = affine.Min if kind == "min" else affine.Max
            body = (cls(result, means, written={"exprs": map}),)
        case "if":
            branches = (affine.Yield((one,)),), (affine.Yield((zero,)),)
            condition = tuple(e for e in map.means if isinstance(e, Constraint))
            body = (*constants, affine.If(condition, *branches, (result,), written={"condition": map}))
        case _:  # how often a loop runs: far steps, from its bounds to the end of the range
            iv, count, following = (Value(INDEX) for _ in range(3))
            inside = (affine.Apply(following, count + 1), affine.Yield((following,)))
            end = (Affine.of(2**62 - 1),)
            body = (*constants, affine.For(iv, means, end, inside, 2**61, (zero,), (count,), (result,),
                                           written={"lower": map}))  # fmt: skip
    return func.Func("f", (a, b), (*body, func.Return((result,))), (INDEX,))


def random_tree(random: Random, depth: int) -> trees.Tree:
    if depth == 0 or random.random() < 0.15:
        return random.choice(["s0", "s1", "s0", "s1", random.randint(-9, 9)])
    operator = random.choice(["+", "+", "*", "floordiv", "mod", "ceildiv"])
    left = random_tree(random, depth - 1)
    match operator:
        case "+":
            return trees.add(left, random_tree(random, depth - 1))
        case "*":
            return trees.mul(left, random.choice([-1, -2, -7, 3, 5, 8, 100]))
        case _:
            return trees.MAKE[operator](left, random.choice([1, 2, 3, 4, 7, 8, 64, 2**20]))


@pytest.mark.parametrize("kind", ["apply", "min", "max", "if", "loop"])
def test_exact_on_boxes_and_at_the_ends(kind):
    random, compared, beyond = Random(kind), 0, 0
    for _ in some(range(60), 30):
        a, b = Value(INDEX, "a"), Value(INDEX, "b")
        count = 1 if kind == "apply" else random.randint(1, 3)
        made = tuple(random_tree(random, random.randint(1, 4)) for _ in range(count))
        equalities = tuple(random.random() < 0.25 for _ in made) if kind == "if" else None
        before = function_of(kind, applied(made, (), (a, b), equalities))
        if kind == "loop" and any(too_large_in(before.body[2])):
            continue
        verify(before)
        lowered = lower_affine(func.Module((before,)))
        verify(lowered)
        (after,) = lowered.functions
        points = [*product(range(-5, 6), (-7, -1, 0, 3)), *product(ENDS, ENDS)]
        for point in random.sample(points, 40):
            if kind == "loop":
                bounds = [e.evaluate(dict(zip((a, b), point, strict=True))) for e in before.body[2].lower]
                if max(bounds) < -(2**63):  # its counter would not be an index
                    beyond += 1
                    continue
            try:
                wanted = run(before, *point)
            except InterpreterError:  # the result does not fit
                beyond += 1
                continue
            assert run(after, *point) == wanted, f"{made} at {point}:\n{after}"
            compared += 1
    assert compared > 5 * beyond


@pytest.mark.parametrize("operator", ["floordiv", "ceildiv", "mod"])
@pytest.mark.parametrize("inner", [0, 1, -4])
def test_divisions_are_exact_on_the_full_box(operator, inner):
    """Of all small numbers, and of those near the ends, also where the dividend does not fit."""
    numbers = [*range(-40, 41), *ENDS, *range(-(2**63), -(2**63) + 12), *range(2**63 - 12, 2**63)]
    for divisor in range(1, 10):
        a, b = Value(INDEX, "a"), Value(INDEX, "b")
        tree = trees.MAKE[operator](trees.add("s0", inner), divisor)
        before = function_of("apply", applied((tree,), (), (a, b)))
        (after,) = lower_affine(func.Module((before,))).functions
        for n in numbers:
            quotient = (n + inner) // divisor if operator != "ceildiv" else -(-(n + inner) // divisor)
            wanted = (n + inner) % divisor if operator == "mod" else quotient
            if -(2**63) <= wanted < 2**63:
                assert run(after, n, 0) == (wanted,), f"({n} + {inner}) {operator} {divisor}"


@pytest.mark.parametrize("kind", ["min", "max", "if"])
def test_exact_with_numbers_beyond_the_range(kind):
    for number in (2**63, 2**64 - 1, 2**64, 3 * 2**64, -(2**63), -(2**64), -(2**64) - 1):
        for factor in (1, -1, 2, -3):
            a, b = Value(INDEX, "a"), Value(INDEX, "b")
            tree = trees.add(trees.mul("s0", factor), number)
            made, equalities = ((tree, "s1"), None) if kind != "if" else ((tree,), (False,))
            before = function_of(kind, applied(made, (), (a, b), equalities))
            (after,) = lower_affine(func.Module((before,))).functions
            for point in product(ENDS, (-5, 2**63 - 1)):
                try:
                    wanted = run(before, *point)
                except InterpreterError:
                    continue
                assert run(after, *point) == wanted, f"{made} at {point}:\n{after}"


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 8, 64, 1000003])
def test_divisions_by_a_number_are_proved(divisor):
    """What is computed on each side of zero is the quotient or remainder, for all integers; divsi rounds to zero."""
    x = Value(INDEX, "x")
    negative, natural = [Constraint(-1 - x)], [Constraint(Affine.of(x))]
    towards_zero = -((-x) // divisor)
    assert equal_everywhere(-1 - (-1 - x) // divisor, x // divisor, negative)
    assert equal_everywhere(towards_zero, Affine.of(x).ceildiv(divisor), [Constraint(-x)])
    assert equal_everywhere((x - 1) // divisor + 1, Affine.of(x).ceildiv(divisor), natural)
    rest = x - towards_zero * divisor
    assert equal_everywhere(rest + divisor, x % divisor, [*negative, Constraint(-1 - rest)])
    assert equal_everywhere(rest, x % divisor, [*negative, Constraint(rest)])


@pytest.mark.parametrize("operation", ["floordiv", "ceildiv", "mod"])
def test_compiled_divisions_are_exact_at_the_ends(operation):
    require("mlir-opt-22")
    text = f"""func.func @f(%A: memref<{len(ENDS)}xindex>, %B: memref<{len(ENDS)}xindex>) {{
      affine.for %i = 0 to {len(ENDS)} {{
        %0 = affine.load %A[%i] : memref<{len(ENDS)}xindex>
        %1 = func.call @g(%0) : (index) -> index
        affine.store %1, %B[%i] : memref<{len(ENDS)}xindex>
      }}
      return
    }}
    func.func private @g(%n: index) -> index {{
      %0 = affine.apply affine_map<()[s0] -> (s0 {operation} 7)>()[%n]
      return %0 : index
    }}"""
    given, found = np.array(ENDS), np.zeros(len(ENDS), np.int64)
    run_mlir(print_op(lower_affine(parsed(text))), "f", [given, found])
    wanted = {"floordiv": lambda x: x // 7, "ceildiv": lambda x: -(-x // 7), "mod": lambda x: x % 7}[operation]
    assert found.tolist() == [wanted(x) for x in ENDS]


def test_programs_do_the_same():
    meant = 0
    for name in ("loops", "conditions", "parallel loops", "carried values"):
        use, known = "func.func private @use(index)", "func.func private @use(%u: index) { return }"
        module = parsed(ALIKE[name].text.replace(use, known))
        meant += assert_alike(module, lower_affine(module), size=30)
    assert meant > 20


def test_vectors_transfers_and_digits_do_the_same():
    before = parsed("""func.func @f(%A: memref<16x24xf32>, %B: memref<16x24xf32>, %n: index, %i: index) -> index {
      %t = memref.alloc() : memref<4xi32>
      %c8 = arith.constant 8 : index
      affine.for %j = 0 to %n {
        %v = affine.vector_load %A[%j + 1, symbol(%n) * 2] : memref<16x24xf32>, vector<4xf32>
        affine.vector_store %v, %A[%j, 3] : memref<16x24xf32>, vector<4xf32>
        affine.prefetch %A[%j, %j + 5], read, locality<2>, data : memref<16x24xf32>
        affine.dma_start %A[%j + 1, 0], %B[%j, %j], %t[%j mod 4], %c8
          : memref<16x24xf32>, memref<16x24xf32>, memref<4xi32>
        affine.dma_wait %t[%j mod 4], %c8 : memref<4xi32>
      }
      %d:3 = affine.delinearize_index %i into (%c8, 4, 5) : index, index, index
      %l = affine.linearize_index [%d#2, %d#1, %d#0] by (%c8, 4, 5) : index
      return %l : index }""")
    assert assert_alike(before, lower_affine(before), (-3, 0, 1, 3, 7, 9), runs=25) > 10


def test_attributes_and_locations_stay():
    text = (
        HEAD
        + """{
      affine.for %j = 0 to 8 { affine.store %x, %A[%j, 2] {tag = "a"} : memref<16x?xf32> loc("s":3:4) } {loop}
      return }"""
    )
    lowered = lower_affine(parsed(text))
    (loop,) = [op for op in walk(lowered) if op.name == "scf.for"]
    assert [name for name, _ in loop.attributes] == ["loop"]
    store = loop.body[-1]
    assert (store.name, str(store.location), [name for name, _ in store.attributes]) == ("memref.store", "s:3", ["tag"])
    assert all(op.location == store.location for op in loop.body)


def test_the_last_iteration_of_a_band_is_refused():
    text = """func.func @f(%A: memref<8xi32>) -> i32 {
      %r = affine.parallel (%j) = (0) to (8) reduce ("assign") -> (i32) {
        %v = affine.load %A[%j] : memref<8xi32>
        affine.yield %v : i32
      }
      return %r : i32 }"""
    with pytest.raises(
        UnsupportedError, match=r'affine.parallel reduces i32 by "assign", which scf.parallel cannot say'
    ):
        lower_affine(parsed(text))


def test_a_band_of_no_loops_runs_once():
    text = """func.func @f(%A: memref<f32>, %x: f32) -> f32 {
        affine.parallel () = () to () { affine.store %x, %A[] : memref<f32> }
        %r = affine.parallel () = () to () reduce ("addf") -> (f32) { affine.yield %x : f32 }
        return %r : f32
    }"""
    module = lower_affine(parse(text))
    verify(module)
    array = np.zeros((), "f4")
    assert run(module.functions[0], array, 2.5) == (2.5,)
    assert array == 2.5


def test_a_vector_of_more_dimensions_than_its_buffer_is_refused():
    text = """func.func @f(%A: memref<16xf32>) {
        %v = affine.vector_load %A[0] : memref<16xf32>, vector<2x4xf32>
        return
    }"""
    with pytest.raises(UnsupportedError, match=r"affine.vector_load: vector<2x4xf32> in memref<16xf32> has"):
        lower_affine(parse(text))
