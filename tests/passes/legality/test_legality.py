"""The legality service: never yes where a run shows a reversed dependence, and no only with a reason that holds."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

import pytest

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.interpreter import InterpreterError
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.analysis.reduction import Reductions
from affdsl.passes.legality.order import Violation, _Order, new_order, text_time
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.require import Candidate, interchanged, require_order, reversed_first, skewed
from affdsl.passes.transforms.interchange import interchange
from affdsl.passes.transforms.vectorize.statements import numbered
from tests.harness.reading import loops
from tests.passes.advice.asked import asked
from tests.passes.analysis.programs import generate
from tests.passes.analysis.traced import Instance, Trace


def read(body: str, arguments: str = "%A: memref<?x?xf32>, %B: memref<?xf32>, %n: index, %x: f32") -> Dependences:
    function = parse(f"func.func @f({arguments}) {{\n{body}\nreturn }}", "k.mlir").functions[0]
    return Dependences(function)


def outer(of: Dependences) -> affine.For:
    return loops(of.accesses.function)[0]


def backwards(of: Dependences) -> Callable[[Access], Sequence[Affine]]:
    """The outermost loop the other way round."""
    iv = outer(of).iv
    return lambda access: [e.substitute({iv: -iv}) for e in text_time(of, access)]


SWEEP = """affine.for %i = 1 to %n { affine.for %j = 0 to %n {
  %a = affine.load %A[%i - 1, %j + 1] : memref<?x?xf32>
  affine.store %a, %A[%i, %j] : memref<?x?xf32>
} }"""
SUM = """affine.for %i = 0 to %n {
  %a = affine.load %B[0] : memref<?xf32>
  %b = arith.addf %a, %x : f32
  affine.store %b, %B[0] : memref<?xf32>
}"""


def test_a_violation_has_the_two_iterations():
    of = read(SWEEP)
    i, j = (loop.iv for loop in loops(of.accesses.function))
    found = new_order(of, outer(of), lambda a: (j, i, a.order))
    assert found is not None
    assert found.witness is not None
    assert str(found.dependence) == "flow dependence of A at depth 1: [1, 1][-1, -1]"
    assert (found.witness.source, found.witness.sink, found.witness.element) == ((1, 1), (2, 0), (1, 1))
    assert new_order(of, outer(of), lambda a: (j + i, i, a.order)) is None
    assert new_order(of, outer(of), lambda a: (i, j, a.order)) is None
    assert new_order(of, outer(of), lambda a: (i // 4, (i + j) // 8, i, j, a.order)) is None
    assert new_order(of, outer(of), lambda a: (i // 4, j // 8, i, j, a.order)) is not None


def test_a_dependence_that_outer_loops_carry_does_not_count():
    of = read(SWEEP)
    inner = loops(of.accesses.function)[1]
    assert new_order(of, inner, lambda a: (-inner.iv, a.order)) is None


def test_two_accesses_at_one_time_are_in_no_order():
    of = read(SWEEP)
    found = new_order(of, outer(of), lambda a: a.ivs[:1])
    assert found is None  # of iterations of j none needs another
    same = read(SUM)
    found = new_order(same, outer(same), lambda a: (a.ivs[0],))
    assert found is not None
    assert found.dependence.kind == "anti"
    assert new_order(same, outer(same), lambda a: (a.ivs[0], a.order)) is None


def test_several_operations_of_a_block_may_change_places():
    of = read("""affine.for %i = 0 to %n { affine.store %x, %B[%i] : memref<?xf32> }
      affine.for %j = 0 to %n { affine.store %x, %A[%j, 0] : memref<?x?xf32> }
      affine.for %k = 0 to %n { affine.store %x, %B[%k + 1] : memref<?xf32> }""")
    first, second, third = loops(of.accesses.function)
    place = {first.iv: 1, second.iv: 0, third.iv: 2}
    assert new_order(of, (first, second, third), lambda a: (place[a.ivs[0]], a.ivs[0])) is None
    place = {first.iv: 1, second.iv: 1, third.iv: 0}
    found = new_order(of, (first, second, third), lambda a: (place[a.ivs[0]], a.ivs[0]))
    assert found is not None
    assert found.dependence.depth == 1
    fused = {first.iv: 0, second.iv: 1, third.iv: 2}
    assert new_order(of, (first, third), lambda a: (a.ivs[0], fused[a.ivs[0]])) is not None
    assert new_order(of, (first, third), lambda a: (a.ivs[0] + fused[a.ivs[0]], fused[a.ivs[0]])) is None
    assert new_order(of, (first, third), lambda a: (0, -1) if a.ivs[0] is first.iv else (0,)) is None
    assert new_order(of, (first, third), lambda a: (0, 1) if a.ivs[0] is first.iv else (0,)) is not None
    with pytest.raises(ValueError, match="nothing to reorder"):
        new_order(of, (), lambda a: a.ivs)
    with pytest.raises(ValueError, match=r"affine\.for is no operation of the function"):
        new_order(of, outer(read(SUM)), lambda a: a.ivs)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("""affine.for %i = 0 to %n {
          %k = memref.load %I[%i] : memref<?xindex>
          memref.store %x, %B[%k] : memref<?xf32>
        }""", "%k is not affine"),
        ("affine.for %i = 0 to %n { affine.store %x, %B[%i * symbol(%m)] : memref<?xf32> }", "m * i is semi-affine"),
        ("affine.for %i = 0 to %n { %0 = \"my.op\"() : () -> f32 }", "which elements of B it touches is not known"),
        ("""affine.for %i = 0 to %n { %b = arith.cmpf olt, %x, %x : f32
          scf.if %b { affine.store %x, %B[0] : memref<?xf32> } }""", "the condition is known only at run time"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_not_legal(body, reason):
    of = read(body, "%B: memref<?xf32>, %I: memref<?xindex>, %n: index, %m: index, %x: f32")
    found = new_order(of, outer(of), backwards(of))
    assert found is not None
    assert found.witness is None
    assert reason in found.dependence.unknown
    with pytest.raises(IllegalTransform) as refused:
        require_order(of, outer(of), backwards(of), what="reverse loop i")
    assert "it may be that" in str(refused.value)
    assert reason in str(refused.value)
    assert new_order(of, outer(of), lambda a: text_time(of, a)) is None


def test_what_may_do_anything_keeps_its_order():
    of = read('affine.for %i = 0 to %n { %0 = "my.op"() : () -> f32 }', "%n: index")
    found = new_order(of, outer(of), backwards(of))
    assert found is not None
    assert found.dependence.unknown == ("my.op may do anything",)
    assert new_order(of, outer(of), lambda a: text_time(of, a)) is None


def test_no_time_left_is_not_legal():
    of = read(SWEEP)
    of.budget = 10
    i, j = (loop.iv for loop in loops(of.accesses.function))
    found = new_order(of, outer(of), lambda a: (i * 3 + j * 5, j, i, a.order, 17))
    assert found is not None
    assert found.dependence.unknown == ("isl needs more than 10 operations",)


def test_a_time_that_is_not_affine_is_not_legal():
    of = read(SUM)
    found = new_order(of, outer(of), lambda a: (a.ivs[0] * of.accesses.function.args[2], a.order))
    assert found is not None
    assert found.dependence.unknown == ("n * i is semi-affine",)


def test_carried_numbers_keep_their_order():
    of = read("""%r = affine.for %i = 0 to %n iter_args(%s = %x) -> f32 {
      %t = arith.addf %s, %x : f32
      affine.yield %t : f32
    }""")
    with pytest.raises(IllegalTransform, match="%s is carried from each iteration of its loop to the next"):
        require_order(of, outer(of), backwards(of), what="reverse loop i")
    assert new_order(of, outer(of), lambda a: text_time(of, a)) is None
    reduction = Reductions(of).carried(outer(of), 0)
    assert reduction is not None
    assert new_order(of, outer(of), backwards(of), reductions=(reduction,)) is None


def test_a_reduction_runs_in_any_order_only_where_that_is_allowed():
    of = read(SUM)
    assert new_order(of, outer(of), backwards(of)) is not None
    reductions, rest = Reductions(of).in_memory(outer(of).iv)
    assert reductions
    assert not rest
    assert new_order(of, outer(of), backwards(of), reductions=reductions) is None
    apart = new_order(of, outer(of), lambda a: (-a.order, a.ivs[0]), reductions=reductions)
    assert apart is not None
    assert apart.dependence.loop is None


def test_two_arguments_that_a_call_makes_one_buffer():
    module = parse("""func.func private @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      affine.for %i = 0 to 8 {
        %a = affine.load %A[%i + 1] : memref<9xf32>
        affine.store %a, %B[%i] : memref<9xf32>
      }
      return
    }
    func.func @g(%A: memref<9xf32>) {
      call @f(%A, %A) : (memref<9xf32>, memref<9xf32>) -> ()
      return
    }""")
    alone, called = Dependences(module.functions[0]), Dependences(module.functions[0], module)
    assert new_order(alone, outer(alone), backwards(alone)) is None
    assert new_order(called, outer(called), backwards(called)) is not None


def test_the_message_names_the_first_alternative_that_is_legal():
    of = read(SWEEP)
    i, j = (loop.iv for loop in loops(of.accesses.function))

    def tiled(access: Access) -> tuple[Affine, ...]:
        return i // 4, j // 4, *text_time(of, access)

    def tries() -> Iterator[Candidate]:
        yield from reversed_first(of, tiled, i)
        yield from interchanged(of, tiled, i, j)
        yield from skewed(tiled, i, j)

    with pytest.raises(IllegalTransform) as refused:
        require_order(of, outer(of), tiled, what="tile loops i and j", candidates=tries())
    assert str(next(iter(refused.value.candidates))) == "skew(func, i, j, 1) first"
    assert refused.value.alternative == ""
    assert refused.value.dependence is not None
    assert refused.value.witness is not None
    with pytest.raises(IllegalTransform) as without:
        require_order(of, outer(of), tiled, what="tile loops i and j", candidates=interchanged(of, tiled, i, j))
    assert list(without.value.candidates) == []
    assert "legal:" not in str(without.value)


def test_a_refusal_for_another_reason():
    error = refusal(outer(read(SUM)), "unroll loop i", "it never ends", "stop it")
    assert str(error) == "k.mlir:2: cannot unroll loop i\n    it never ends\n    legal: stop it"
    assert error.dependence is None


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("""%a = affine.load %A[%i, %j] : memref<?x?xf32>
          affine.store %x, %A[%i - 1, %j + 1] : memref<?x?xf32>""",
         "the load A[i, j] at line 2 must come before the store A[i - 1, j + 1] at line 3 with distance (1, -1)"),
        ("affine.store %x, %A[%i + %j, 0] : memref<?x?xf32>",
         "is overwritten by the store A[i + j, 0] at line 2 with distance (1..*, *..-1)"),
        ("""%v = affine.vector_load %A[%i, %j] : memref<?x?xf32>, vector<4xf32>
          affine.vector_store %v, %A[%i + 1, %j] : memref<?x?xf32>, vector<4xf32>""",
         "the vector store A[i + 1, j] at line 3 feeds the vector load A[i, j] at line 2 with distance (1, -3..3)"),
    ],
)  # fmt: skip
def test_each_kind_has_its_words(statement, text):
    of = read(f"affine.for %i = 0 to %n {{ affine.for %j = 0 to %n {{ {statement} }} }}")
    i, j = (loop.iv for loop in loops(of.accesses.function))
    with pytest.raises(IllegalTransform) as refused:
        interchange(of.accesses.function, i, j)
    assert text in str(refused.value)


def test_as_brute_force_has_it():
    seen: Counter[str] = Counter()
    for seed in range(50):
        program = generate(seed)
        try:
            trace = program.trace()
        except (InterpreterError, NotImplementedError):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnalysisWarning)
            seen += _compared(program.function, program.module, trace, Random(seed))
    assert seen["reversed"] >= 40, seen
    assert seen["kept"] >= 60, seen
    assert seen["confirmed"] >= 20, seen
    assert seen["false alarm"] == 0, seen


def _compared(function: func.Func, module: func.Module, trace: Trace, random: Random) -> Counter[str]:
    of, seen = Dependences(function, module), Counter[str]()
    instances: dict[object, list[Instance]] = {}
    for instance in trace.instances:
        instances.setdefault(instance.op, []).append(instance)
    for root in loops(function):
        around = len(of.accesses.domains[root].ivs)
        chosen: dict[tuple[Value, ...], tuple[Affine, ...]] = {}

        def time(
            access: Access, around: int = around, chosen: dict[tuple[Value, ...], tuple[Affine, ...]] = chosen
        ) -> tuple[Affine, ...]:
            if access.ivs not in chosen:
                chosen[access.ivs] = _random_time(access.ivs[around:], random)
            return (*chosen[access.ivs], Affine.of(access.order))

        inside = [a for a in of.compared if root in a.domain.loops]
        found = new_order(of, root, time)
        if found is not None and isinstance(found.dependence.source.op, affine.Yield):
            continue  # a number that a loop carries: the trace has only memory
        wrong = _reversed(inside, instances, time, around)
        if wrong:
            assert found is not None, f"{function}\n{wrong}"
            seen["reversed"] += 1
        elif found is None:
            seen["kept"] += 1
        elif found.witness is not None and not found.witness.params:
            seen["false alarm"] += 1
        if found is not None and found.witness is not None and not found.witness.params:
            assert _is_confirmed(found, instances), str(found.dependence)
            seen["confirmed"] += 1
    return seen


def _random_time(loops: Sequence[Value], random: Random) -> tuple[Affine, ...]:
    """Loops in another order, some backwards, in blocks or skewed."""
    ivs = [Affine.of(iv) for iv in loops]
    if random.random() < 0.7:
        random.shuffle(ivs)
    times = [e * random.choice((1, 1, 1, -1)) for e in ivs]
    if len(times) > 1 and random.random() < 0.3:
        times[0] += times[1] * random.choice((1, 2))
    if random.random() < 0.3:
        times = [*(e // 2 for e in times[:1]), *times]
    return tuple(times)


def _reversed(
    inside: Sequence[Access],
    instances: dict[object, list[Instance]],
    time: Callable[[Access], tuple[Affine, ...]],
    around: int,
) -> tuple[object, ...]:
    """Two executions that touch one element and whose new times are not in their order; nothing if there are none."""
    found: list[tuple[int, tuple[int, ...], Instance, Access]] = []
    for access in inside:
        for instance in instances.get(access.op, ()):
            if instance.role == access.kind:
                env = dict(zip(access.ivs, instance.ivs, strict=True))
                found.append((instance.time, tuple(e.evaluate(env) for e in time(access)), instance, access))
    found.sort(key=lambda each: each[0])
    for n, (_, before, first, _) in enumerate(found):
        for _, after, second, _ in found[n + 1 :]:
            if first.ivs[:around] != second.ivs[:around] or first.buffer != second.buffer:
                continue
            if "write" not in (first.role, second.role) or not first.elements & second.elements:
                continue
            if first.execution == second.execution:
                continue
            length = max(len(before), len(after))
            if (*before, *[0] * (length - len(before))) >= (*after, *[0] * (length - len(after))):
                return first, second
    return ()


def _is_confirmed(found: Violation, instances: dict[object, list[Instance]]) -> bool:
    """Whether the two iterations of a witness really ran, in this order, and touched one element."""
    source, sink, witness = found.dependence.source, found.dependence.sink, found.witness
    assert witness is not None
    first = [i for i in instances.get(source.op, ()) if i.ivs == witness.source and i.role == source.kind]
    second = [i for i in instances.get(sink.op, ()) if i.ivs == witness.sink and i.role == sink.kind]
    return any(a.buffer == b.buffer and a.elements & b.elements and a.time < b.time for a in first for b in second)


def test_two_iterations_are_looked_for_once_in_what_is_read(monkeypatch):
    looked: list[str] = []
    find = _Order._witness

    def counted(self, of, *times):
        looked.append(str(of))
        return find(self, of, *times)

    monkeypatch.setattr(_Order, "_witness", counted)
    of = read(SWEEP)
    i, j = (loop.iv for loop in loops(of.accesses.function))
    assert not is_legal(of, backwards(of))
    assert looked == []
    with pytest.raises(IllegalTransform) as refused:
        asked("interchange", of.accesses.function, i, j)
    assert refused.value.alternative == "skew(func, i, j, 1) first"
    assert looked == []
    assert refused.value.witness is not None
    assert str(refused.value).endswith("legal: skew(func, i, j, 1) first")
    assert len(looked) == 1


def is_legal(of: Dependences, time: Callable[[Access], Sequence[Affine]]) -> bool:
    return new_order(of, outer(of), time) is None


def statements(random: Random, arrays: Sequence[str], depth: int = 0) -> Iterator[str]:
    """Loads, stores, conditions and loops on few elements, so that many are alike."""
    for _ in range(random.randint(1, 4)):
        index = random.choice(["0", "%i", "%j", "%i - 1", "%j + 1"] + ["%k"] * (depth > 1))
        array = random.choice(arrays)
        kind = random.randrange(5 if depth < 2 else 3)
        if kind < 2:
            yield f"affine.store %x, %{array}[{index}] : memref<?xf32>"
        elif kind == 2:
            yield f"%l{random.randrange(10**9)} = affine.load %{array}[{index}] : memref<?xf32>"
        elif kind == 3:
            condition = random.choice(["d0 - 3", "d1 - d0", "d0 - d1 - 1", "4 - d1"])
            yield f"affine.if affine_set<(d0, d1) : ({condition} >= 0)>(%i, %j) {{"
            yield from statements(random, arrays, max(depth, 1))
            yield "}"
        else:
            yield "affine.for %k = 0 to 3 {"
            yield from statements(random, arrays, 2)
            yield "}"


def test_what_is_said_of_accesses_that_are_alike_is_what_is_said_of_each(monkeypatch):
    random, legal, spared = Random(5), Counter[bool](), 0
    for _ in range(30):
        text = "\n".join(line for _ in range(2) for line in statements(random, "BCD"))
        of = read(
            f"affine.for %i = 1 to %n {{ affine.for %j = 0 to 9 {{\n{text}\n}} }}",
            "%B: memref<?xf32>, %C: memref<?xf32>, %D: memref<?xf32>, %n: index, %x: f32",
        )
        root = outer(of)
        i, j = (loop.iv for loop in loops(of.accesses.function)[:2])
        body = loops(of.accesses.function)[1].body
        places: dict[Op, tuple[Term, ...]] = {}
        numbered(body, (), places)
        shuffled: dict[Op, tuple[Term, ...]] = {}
        numbered(tuple(random.sample(body, len(body))), (), shuffled)
        first = {access.op for access in of.accesses.all if random.random() < 0.2}
        times = [
            lambda a, i=i, j=j, of=of: (j, i, *text_time(of, a, 2)),
            lambda a, i=i, j=j, of=of: (i, j // 2, *text_time(of, a, 2)[:-1], j, a.order),
            lambda a, i=i, j=j, places=places: (i // 2, *places[a.op], i, j, a.order),
            lambda a, i=i, j=j, shuffled=shuffled: (i, j, *shuffled[a.op]),
            lambda a, i=i, of=of, first=first: (i, 0 if a.op in first else 1, *text_time(of, a, 1)),
            lambda a, i=i, of=of, first=first: (*((i, 0) if a.op in first else (i + 1, 1)), *text_time(of, a, 1)),
        ]
        for time in times:
            found = new_order(of, root, time) is None
            spared += any(len(each) > 2 for each in _Order(of, time)._alike(of.accesses.all, lambda a: None))
            with monkeypatch.context() as patched:
                patched.setattr(_Order, "_alike", lambda self, accesses, apart: [[access] for access in accesses])
                assert (new_order(of, root, time) is None) == found, text
            legal[found] += 1
    assert min(legal[True], legal[False], spared) > 15


def test_what_moves_behind_a_loop_is_seen_among_others_that_stay():
    store = "affine.store %x, %B[0] : memref<?xf32>"
    of = read(f"affine.for %i = 0 to %n {{ {store}\n{store}\naffine.for %j = 0 to 9 {{ {store} }}\n{store} }}")
    (i, j), body = (loop.iv for loop in loops(of.accesses.function)), outer(of).body
    for moved, is_legal in (((0, 1, 2, 3), True), ((0, 2, 1, 3), False)):
        place = {op: moved[k] for k, each in enumerate(body) for op in walk(each)}

        def time(a: Access, place: dict[Op, int] = place) -> Sequence[Term]:
            return (i, place[a.op], *([j, a.order] if j in a.ivs else []))

        assert (new_order(of, outer(of), time) is None) == is_legal
