"""scalar_replace of elements that are changed under conditions: what is kept in a value, what stays, and why."""

from random import Random

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.scalar_replace.carried import scalar_replace
from tests.passes.compare import assert_alike, parsed

HEAD = "func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %n: index, %x: f32) {"


def under_condition(at, buffer="%A", name="a"):
    """An element that a number is added to where an element of B is larger than x."""
    return f"""
        %{name} = affine.load %B[%i] : memref<9xf32>
        %{name}c = arith.cmpf ogt, %{name}, %x : f32
        scf.if %{name}c {{
          %{name}o = affine.load {buffer}[{at}] : memref<9xf32>
          %{name}s = arith.addf %{name}o, %{name} : f32
          affine.store %{name}s, {buffer}[{at}] : memref<9xf32>
        }}"""


def program(*statements, kind="affine.for %i = 0 to 9", around="affine.for %k = 0 to 8"):
    return f"{HEAD}\n{around} {{ {kind} {{ {''.join(statements)} }} }} return }}"


def replaced(text):
    """The module, and what scalar_replace makes of its second loop."""
    before = parsed(text)
    iv = next(op.iv for op in walk(before) if isinstance(op, affine.For) and op.iv.hint == "i")
    after = with_fields(before, body=(scalar_replace(before.functions[0], iv, module=before),))
    verify(after)
    return before, after


def stores_in(module):
    """The stores in the loop i."""
    loop = next(op for op in walk(module) if isinstance(op, affine.For) and op.iv.hint == "i")
    return [op for op in walk(loop) if isinstance(op, affine.Store)]


@pytest.mark.parametrize(
    "statements",
    [
        (under_condition("%k"),),
        (under_condition("%k"), under_condition("%k + 1", name="b")),
        (under_condition("3"), "affine.store %x, %A[3] : memref<9xf32>"),
        (under_condition("%k"), "affine.for %j = 0 to 2 {", under_condition("%k", name="b"), "}"),
    ],
)
def test_elements_are_kept_in_values_where_conditions_change_them(statements):
    before, after = replaced(program(*statements))
    assert stores_in(before)
    assert not stores_in(after)
    assert assert_alike(before, after) == 12


def test_a_loop_that_does_not_run_changes_nothing():
    before, after = replaced(program(under_condition("%k"), kind="affine.for %i = 5 to %n"))
    assert not stores_in(after)
    assert assert_alike(before, after) > 6


@pytest.mark.parametrize(
    "text",
    [
        program(under_condition("%i")),
        program(under_condition("%k"), under_condition("%i", name="b")),
        program(under_condition("%k"), under_condition("3", name="b")),
        program(under_condition("%k", "%B")),
        program(under_condition("%k + 2")),
        program(under_condition("symbol(%n)")),
        program(under_condition("%k"), around="affine.parallel (%k) = (0) to (8)"),
    ],
    ids=[
        "another one each time", "another one of all", "perhaps the same", "of what is read", "outside of its array",
        "perhaps outside of it", "on threads",
    ],
)  # fmt: skip
def test_elements_stay_where_they_may_not_be_stored_in_any_case(text):
    with pytest.raises(IllegalTransform, match=r"affine\.load of %B stays: no operation right in the body"):
        replaced(text)


def random_updates(random):
    """Some updates of near elements, most of them under conditions."""
    places, statements = ("%k", "%k + 1", "2", "5", "%i"), []
    for k in range(random.randint(1, 3)):
        at, other = random.choice(places), random.choice(places)
        statements.append(under_condition(at, random.choice(("%A", "%A", "%B")), f"v{k}"))
        if random.random() < 0.3:
            statements.append(f"""
        %w{k} = affine.load %A[{other}] : memref<9xf32>
        affine.store %w{k}, %A[{at}] : memref<9xf32>""")
    return statements


def test_random_updates_do_the_same():
    random, changed = Random(0), 0
    for _ in range(40):
        text = program(*random_updates(random))
        try:
            before, after = replaced(text)
        except IllegalTransform:
            continue
        changed += len(stores_in(after)) < len(stores_in(before))
        assert assert_alike(before, after, runs=4) == 4, text
    assert changed > 10


def test_elements_stay_where_calls_of_the_function_run_at_once():
    """Of all calls only those that find something larger store, and others must not."""
    body = f"affine.for %k = 0 to 8 {{ affine.for %i = 0 to 9 {{ {under_condition('%k')} }} }} return }}"
    caller = "func.func @{}(%A: memref<9xf32>, %B: memref<9xf32>, %n: index, %x: f32) {{ {} return }}"
    call = "func.call @{}(%A, %B, %n, %x) : (memref<9xf32>, memref<9xf32>, index, f32) -> ()"
    between = caller.format("g", call.format("f"))
    for around, stays in (("affine.parallel (%p) = (0) to (2)", True), ("affine.for %p = 0 to 2", False)):
        module = parsed(f"{HEAD} {body} {between} " + caller.format("h", f"{around} {{ {call.format('g')} }}"))
        function = next(each for each in module.functions if each.symbol == "f")
        iv = next(op.iv for op in walk(function) if isinstance(op, affine.For) and op.iv.hint == "i")
        if stays:
            with pytest.raises(IllegalTransform, match="stays"):
                scalar_replace(function, iv, module=module)
        else:
            assert scalar_replace(function, iv, module=module) is not function
