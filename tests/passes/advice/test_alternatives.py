"""A refusal names what can be done instead, as data that can be done; and it says what is not known."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest

from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.advice.verbs import VERBS
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.legality.order import _Order, text_time
from affdsl.passes.legality.proposals import Proposal, Request, Step
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.require import MOST_TRIES, require_order
from affdsl.passes.transforms.interchange import interchange, permute
from affdsl.passes.transforms.parallelize import parallelize
from affdsl.passes.transforms.reverse import reverse
from affdsl.passes.transforms.sink import make_perfect
from tests.effort import some
from tests.harness.reading import iv, loops, read
from tests.passes.advice.asked import asked, taken
from tests.passes.analysis.programs import generate
from tests.passes.analysis.traced import trace
from tests.passes.transforms.own_buffer_programs import arguments
from tests.passes.transforms.own_buffer_programs import generate as generate_with_buffers


def test_a_step_is_said_and_done():
    f = read("affine.for %i = 0 to 9 { affine.for %j = 0 to 9 { affine.store %x, %A[%i, %j] : memref<?x?xf32> } }")
    i, j = iv(f, "i"), iv(f, "j")
    assert str(Step("permute", ((j, i),), (("reassociate", True),))) == "permute(func, (j, i), reassociate=True)"
    assert str(Step("permute", ((j,),))) == "permute(func, (j,))"
    done = taken(Step("permute", ((j, i),)), f)
    assert [loop.iv for loop in loops(done)] == [j, i]
    both = Proposal((Step("skew", (i, j, 1)), Step("reverse", (i,))), (("reassociate", True),))
    assert str(both) == "skew(func, i, j, 1) and reverse(func, i) first, then the same with reassociate=True"


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_is_a_primitive(verb):
    f = read("affine.for %i = 0 to 9 { }")
    other = Value(INDEX, "other")
    arguments = {
        "interchange": (other, other), "make_perfect": (other, other), "skew": (other, other, 1), "shift": (other, 1),
        "permute": ((other,),), "privatize": (other, other), "expand": (other, other), "unroll": (other, 2),
        "coalesce": ((other, other),), "data_copy": (f.args[0], other), "index_set_split": (other, 1),
        "strip_mine": (other, 2), "tile": ((other,), (2,)), "unroll_jam": (other, 2), "vectorize": (other, 2),
        "fold": (other, 0, 1), "pad": (other, 0, 1), "skew_array": (other, 0, 1, 1),
        "compute_at": (f.args[0], other), "fuse": (other, other),
        "precompute": (f.args[0], other), "load_ahead": (f.args[0], other), "prefetch": (f.args[0], other, other),
        "align": (f.args[0], other, 16), "displace": (other, other), "stream": (f.args[0], other, 0),
        "specialize": (other, ()), "slp": (other, 2), "locate": (other, 2),
    }  # fmt: skip
    reasons = r"has no|no affine.for|no loop|is no induction variable|does not make other"
    with pytest.raises((IllegalTransform, ValueError), match=reasons):
        taken(Step(verb, arguments.get(verb, (other,))), f)


def test_to_ask_looks_for_no_alternative_and_no_iterations(monkeypatch):
    f = read(SWEEP)
    tried = []
    for verb in list(VERBS):
        monkeypatch.setitem(VERBS, verb, lambda *_, verb=verb, **__: tried.append(verb))
    monkeypatch.setattr(_Order, "_witness", lambda *_: tried.append("two iterations"))
    with pytest.raises(IllegalTransform) as refused:
        interchange(f, iv(f, "i"), iv(f, "j"))
    assert not tried
    monkeypatch.undo()
    assert refused.value.proposal is None
    assert refused.value.alternative == ""
    assert refused.value.witness is not None


SWEEP = """affine.for %i = 1 to %n { affine.for %j = 1 to 9 {
  %a = affine.load %A[%i - 1, %j + 1] : memref<?x?xf32>
  %b = affine.load %A[%i, %j - 1] : memref<?x?xf32>
  %c = arith.addf %a, %b : f32
  affine.store %c, %A[%i, %j] : memref<?x?xf32>
} }"""


def test_a_wavefront_where_no_loop_is_parallel():
    f = read(SWEEP)
    i, j = iv(f, "i"), iv(f, "j")
    with pytest.raises(IllegalTransform) as refused:
        asked("parallelize", f, j)
    assert refused.value.alternative == ("skew(func, i, j, 2) and interchange(func, i, j) and parallelize(func, i)")
    proposal = refused.value.proposal
    assert proposal is not None
    assert not proposal.asks_again
    done = f
    for step in proposal.steps:
        done = taken(step, done)
    verify(done)
    wanted, found = (np.arange(100, dtype=np.float32).reshape(10, 10) for _ in range(2))
    run(f, wanted, np.zeros(1, np.float32), 10, np.float32(0))
    run(done, found, np.zeros(1, np.float32), 10, np.float32(0), order="shuffled")
    assert wanted.tobytes() == found.tobytes()
    with pytest.raises(IllegalTransform) as refused:
        asked("interchange", f, i, j)
    assert refused.value.alternative == "skew(func, i, j, 1) first"


def test_what_is_legal_by_order_but_cannot_be_written_is_not_proposed():
    f = read("""affine.for %i = 1 to %n { affine.for %j = affine_map<(d0)[s0] -> (d0 * s0)>(%i)[%n] to 100 {
      %a = affine.load %A[%i - 1, %j + 1] : memref<?x?xf32>
      affine.store %a, %A[%i, %j] : memref<?x?xf32>
    } }""")
    with pytest.raises(IllegalTransform) as refused:
        asked("interchange", f, iv(f, "i"), iv(f, "j"))
    assert refused.value.proposal is None


def test_another_loop_is_proposed_where_it_is_parallel():
    f = read("""affine.for %i = 1 to %n { affine.for %j = 0 to %n {
      %a = affine.load %A[%i - 1, %j] : memref<?x?xf32>
      affine.store %a, %A[%i, %j] : memref<?x?xf32>
    } }""")
    with pytest.raises(IllegalTransform) as refused:
        asked("parallelize", f, iv(f, "i"))
    assert refused.value.proposal == Proposal((Step("parallelize", (iv(f, "j"),)),), asks_again=False)


@pytest.mark.parametrize("source", [generate, generate_with_buffers], ids=["any", "own buffers"])
def test_every_proposal_can_be_done_and_the_program_does_the_same(source):
    seen: Counter[str] = Counter()
    for seed in some(range(40), 11) if source is generate else some(range(25), 15):
        program = source(seed)
        function = program if isinstance(program, func.Func) else program.function
        module = None if isinstance(program, func.Func) else program.module
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnalysisWarning)
            for verb, request in _requests(function, module):
                try:
                    request(function)
                except IllegalTransform as refused:
                    if refused.proposal is None:
                        seen["refused"] += 1
                        continue
                    proposal = refused.proposal
                else:
                    continue
                done = function
                for step in proposal.steps:
                    done = taken(step, done, module)
                if proposal.asks_again:
                    done = request(done, **dict(proposal.options))
                verify(done)
                seen[f"{verb} after {proposal.steps[0].verb if proposal.steps else 'reassociate'}"] += 1
                if "reassociate" not in dict(proposal.options):
                    _assert_same(program, function, done)
    proposals = {key: count for key, count in seen.items() if key != "refused"}
    assert sum(proposals.values()) > 5, seen
    assert len(proposals) >= 3, seen


def _requests(function, module):
    for loop in loops(function):
        targets = [("reverse", (loop.iv,)), ("parallelize", (loop.iv,))]
        inside = (op for op in walk(loop) if isinstance(op, affine.For) and op is not loop)
        targets += [("interchange", (loop.iv, inner.iv)) for inner in inside]
        for verb, ivs in targets:
            yield verb, lambda f, verb=verb, ivs=ivs, **options: asked(verb, f, *ivs, module=module, **options)


def _assert_same(program, before, after):
    if not isinstance(program, func.Func):
        assert program.outcome(before) == program.outcome(after), f"seed {program.seed}\n{before}\n{after}"
        return
    for n in (0, 1, 5):
        given = [(np.arange(196).reshape(14, 14) % 17, np.arange(14), n) for _ in range(2)]
        run(before, *given[0], uninitialised="poison")
        run(after, *given[1], uninitialised="poison")
        if not _reads_poison(before, n):
            assert given[0][1].tolist() == given[1][1].tolist(), f"n = {n}\n{before}\n{after}"


def _reads_poison(function, n):
    try:
        run(function, np.zeros((14, 14), np.int64), np.zeros(14, np.int64), n)
    except Exception:  # noqa: BLE001 - whatever the interpreter says of what nobody wrote
        return True
    return False


MATRIX_SUM = """%r = affine.for %i = 0 to %n iter_args(%s = %x) -> T {
  %q = affine.for %j = 0 to 5 iter_args(%t = %s) -> T {
    %a = affine.load %A[%i, %j] : memref<?x?xT>
    %b = OP %t, %a : T
    affine.yield %b : T
  }
  affine.yield %q : T
}
affine.store %r, %B[0] : memref<?xT>"""


def matrix_sum(type: str, operation: str) -> func.Func:
    body = MATRIX_SUM.replace("OP", operation).replace("T", type)
    return read(body, f"%A: memref<?x?x{type}>, %B: memref<?x{type}>, %n: index, %x: {type}")


def test_carried_sums_run_in_another_order_where_nothing_rounds_or_that_is_allowed():
    whole = matrix_sum("i64", "arith.addi")
    i, j = iv(whole, "i"), iv(whole, "j")
    made = [interchange(whole, i, j), permute(whole, (j, i)), reverse(whole, i), reverse(whole, j)]
    assert [loop.iv for loop in loops(made[0])] == [j, i]
    for each in made:
        verify(each)
        for n in range(4):
            given = np.arange(20).reshape(4, 5) ** 3, np.zeros(1, np.int64), n, 77
            run(each, *given)
            assert given[1][0] == 77 + given[0][:n].sum()
    rounded = matrix_sum("f32", "arith.addf")
    i, j = iv(rounded, "i"), iv(rounded, "j")
    for verb, ivs in (("interchange", (i, j)), ("reverse", (i,))):
        with pytest.raises(IllegalTransform, match="is rounded in another way") as refused:
            asked(verb, rounded, *ivs)
        assert refused.value.alternative == "the same with reassociate=True"
        verify(asked(verb, rounded, *ivs, reassociate=True))


def test_carried_numbers_that_are_not_only_combined_keep_their_order():
    f = matrix_sum("i64", "arith.subi")
    verify(interchange(f, iv(f, "i"), iv(f, "j")))  # s - a is a sum too
    f = matrix_sum("i64", "arith.divsi")
    reason = r"%t of one iteration is used in the next, and not only combined \(iter_args\)"
    with pytest.raises(IllegalTransform, match=reason):
        interchange(f, iv(f, "i"), iv(f, "j"))
    moving = MATRIX_SUM.replace("0 to 5", "0 to affine_map<(d) -> (d)>(%i)").replace("OP", "arith.addi")
    triangle = read(moving.replace("T", "i64"), "%A: memref<?x?xi64>, %B: memref<?xi64>, %n: index, %x: i64")
    with pytest.raises(IllegalTransform, match=r"its loops carry values .* the bounds of one move with another"):
        interchange(triangle, iv(triangle, "i"), iv(triangle, "j"))


@pytest.mark.parametrize(
    ("given", "handed"), [("%b, %d = %a", "%q#0, %q#1"), ("%a, %d = %b", "%q#1, %q#0"), ("%a, %d = %b", "%q#0, %b")]
)
def test_what_an_outer_loop_does_not_just_hand_on_stays_in_order(given, handed):
    f = read(
        f"""%r:2 = affine.for %i = 0 to %n iter_args(%a = %x, %b = %x) -> (i64, i64) {{
          %q:2 = affine.for %j = 0 to 5 iter_args(%c = {given}) -> (i64, i64) {{
            %e = arith.addi %c, %x : i64
            %g = arith.addi %d, %x : i64
            affine.yield %e, %g : i64, i64
          }}
          affine.yield {handed} : i64, i64
        }}""",
        "%n: index, %x: i64",
    )
    reason = "the loop j carries values .* and the loop i does not just hand them on"
    with pytest.raises(IllegalTransform, match=reason):
        interchange(f, iv(f, "i"), iv(f, "j"))


def test_a_sum_in_memory_is_parallel_in_another_order():
    f = read("""affine.for %i = 0 to 9 {
      %a = affine.load %A[0, %i] : memref<?x?xf32>
      %b = affine.load %B[0] : memref<?xf32>
      %c = arith.addf %a, %b : f32
      affine.store %c, %B[0] : memref<?xf32>
    }""")
    with pytest.raises(IllegalTransform) as refused:
        asked("parallelize", f, iv(f, "i"))
    assert str(refused.value) == (
        "k.mlir:2: cannot make i parallel\n"
        "    all iterations update the same elements of B, by addf, which rounds\n"
        "    legal: the same with reassociate=True"
    )
    made = parallelize(f, iv(f, "i"), reassociate=True)
    verify(made)
    assert any(isinstance(op, affine.Parallel) and op.reductions == ("addf",) for op in walk(made))


def test_what_is_promised_is_part_of_a_proposal():
    f = read("""affine.for %i = 0 to %n {
      affine.store %x, %B[%i] : memref<?xf32>
      affine.for %j = 0 to %m { affine.store %x, %A[%i, %j] : memref<?x?xf32> }
    }""", "%A: memref<?x?xf32>, %B: memref<?xf32>, %n: index, %m: index, %x: f32")  # fmt: skip
    with pytest.raises(IllegalTransform) as refused:
        asked("make_perfect", f, iv(f, "i"), iv(f, "j"))
    proposal = refused.value.proposal
    assert proposal is not None
    assert str(proposal) == "promise m >= 1 (affdsl.assume)"
    promising = proposal.before(f)
    assert proposal.before(promising) is promising
    verify(make_perfect(promising, iv(f, "i"), iv(f, "j")))


def test_a_parallel_counter_has_no_wavefront():
    f = read("""affine.for %t = 0 to %n { affine.parallel (%i) = (1) to (%n) {
      %a = affine.load %B[%i - 1] : memref<?xf32>
      affine.store %a, %B[%i] : memref<?xf32>
    } }""")
    with pytest.raises(IllegalTransform, match=r"the store B\[i\] at line 4 feeds") as refused:
        asked("parallelize", f, next(op for op in walk(f) if isinstance(op, affine.Parallel)).ivs[0])
    assert refused.value.alternative == ""


def test_no_more_than_so_many_things_are_tried(monkeypatch):
    f = read("affine.for %i = 0 to 9 { }")
    seen = []

    def never(function, module, **options):
        seen.append(options)
        raise refusal(function, "do it", "no", candidates=(Proposal(options=(("number", k),)) for k in range(99)))

    monkeypatch.setitem(VERBS, "never", never)
    with pytest.raises(IllegalTransform, match="cannot do it") as refused:
        asked("never", f)
    assert refused.value.proposal is None
    assert seen == [{}, *({"number": k} for k in range(MOST_TRIES))]


def test_sums_of_integers_in_memory_need_no_leave():
    f = read("""affine.for %i = 0 to %n {
      %a = affine.load %A[%i] : memref<?xi32>
      %b = affine.load %B[0] : memref<?xi32>
      %c = arith.addi %a, %b : i32
      affine.store %c, %B[0] : memref<?xi32>
    }""", "%A: memref<?xi32>, %B: memref<?xi32>, %n: index")  # fmt: skip
    verify(reverse(f, iv(f, "i")))


UNKNOWN = {
    "a call": (
        "affine.for %i = 0 to %n { func.call @say() : () -> ()\naffine.store %x, %B[%i] : memref<?xf32> }",
        ["it may be that", "by the call of say", "which elements of B it touches is not known"],
    ),
    "an operation": (
        'affine.for %i = 0 to %n { "my.op"(%B) : (memref<?xf32>) -> () }',
        ["it may be that", "by my.op", "which elements of B it touches is not known"],
    ),
    "a semi-affine subscript": (
        "affine.for %i = 0 to %n { affine.store %x, %B[%i floordiv symbol(%n)] : memref<?xf32> }",
        ["it may be that", "i floordiv n is semi-affine"],
    ),
    "a subscript from memory": (
        """affine.for %i = 0 to %n {
          %k = memref.load %I[%i] : memref<?xindex>
          memref.store %x, %B[%k] : memref<?xf32> }""",
        ["it may be that", "%k is not affine"],
    ),
    "a condition": (
        """affine.for %i = 0 to %n { %c = arith.cmpf olt, %x, %x : f32
          scf.if %c { affine.store %x, %B[0] : memref<?xf32> } }""",
        ["it may be that", "the condition is known only at run time"],
    ),
    "two buffers that a call makes one": (
        """affine.for %i = 0 to 8 {
          %a = affine.load %B[%i + 1] : memref<?xf32>
          affine.store %a, %C[%i] : memref<?xf32> }""",
        ["it may be that", "B and C may be one buffer"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("request_", [reverse, parallelize], ids=["reverse", "parallelize"])
def test_a_refusal_says_what_is_not_known(name, request_):
    body, words = UNKNOWN[name]
    module = parse(
        f"""func.func private @say()
    func.func private @f(%B: memref<?xf32>, %C: memref<?xf32>, %I: memref<?xindex>, %n: index, %x: f32) {{
    {body}
    return }}
    func.func @both(%B: memref<?xf32>, %I: memref<?xindex>, %n: index, %x: f32) {{
      func.call @f(%B, %B, %I, %n, %x) : (memref<?xf32>, memref<?xf32>, memref<?xindex>, index, f32) -> ()
      return }}"""
    )
    f = module.functions[1]
    with pytest.raises(IllegalTransform) as refused:
        request_(f, iv(f, "i"), module=module)
    text = str(refused.value)
    assert all(word in text for word in words), text
    assert refused.value.witness is None


def test_a_budget_that_is_spent_is_named():
    f = read(SWEEP)
    of = Dependences(f)
    of.budget = 10
    i, j = iv(f, "i"), iv(f, "j")
    with pytest.raises(IllegalTransform, match="isl needs more than 10 operations"):
        require_order(of, loops(f)[0], lambda a: (i + 5 * j, i, j, a.order, 3), what="do something")
    with pytest.raises(IllegalTransform, match="isl needs more than 10 operations"):
        require_order(of, loops(f)[0], lambda a: (-i, 7, *text_time(of, a)), what="do something")


def test_the_two_iterations_of_a_refusal_run_and_meet():
    seen: Counter[str] = Counter()
    for seed in some(range(5000, 5060), 17):
        function = generate_with_buffers(seed)
        for verb, request in _requests(function, None):
            refused = _refusal(request, function)
            if refused is None:
                continue
            if refused.witness is None:
                seen["none" if refused.dependence is None else f"{verb}, unknown"] += 1
                continue
            assert _are_confirmed(refused, function), f"seed {seed}: {refused}\n{function}"
            seen[verb] += 1
    assert min(seen["reverse"], seen["parallelize"]) > 20, seen
    assert not any("unknown" in key for key in seen), seen


def _refusal(request: Request, function: func.Func) -> IllegalTransform | None:
    try:
        request(function)
    except IllegalTransform as refused:
        return refused
    return None


def _are_confirmed(refused: IllegalTransform, function: func.Func) -> bool:
    """Whether the two iterations ran, in this order, and touched the element."""
    dependence, witness = refused.dependence, refused.witness
    assert dependence is not None
    assert witness is not None
    ran = trace(function, *arguments(witness.params.get("n", 5))).instances
    first, second = (
        [
            i
            for i in ran
            if i.op is access.op and i.role == access.kind and i.ivs == at and witness.element in i.elements
        ]
        for access, at in ((dependence.source, witness.source), (dependence.sink, witness.sink))
    )
    return any(a.buffer == b.buffer and a.time < b.time for a in first for b in second)


WAVEFRONT = """func.func @f(%A: memref<?x?xf64>, %M: index, %N: index, %steps: index) {
  affine.for %w = 1 to min affine_map<()[m, t] -> (t * 2 + m * 2 - 6, t * 2 + m - 3)>()[%M, %steps] step 32 {
    affine.for %tt = max affine_map<(w)[m, t] -> (0, ((w - m - t + 2) floordiv 32) * 32 + 32,
        ((w - m - 30) floordiv 64) * 32 + 32)>(%w)[%M, %steps]
        to min affine_map<(w)[t] -> (t, w ceildiv 2)>(%w)[%steps] step 32 {
      affine.for %t = affine_map<(d) -> (d)>(%tt) to min affine_map<(d)[t] -> (d + 32, t)>(%tt)[%steps] {
        affine.for %i = max affine_map<(b, w, t) -> (w - b, t + 1)>(%tt, %w, %t)
            to min affine_map<(b, w, t)[m] -> (w - b + 32, t + m - 1)>(%tt, %w, %t)[%M] {
          affine.for %j = 1 to affine_map<()[n] -> (n - 1)>()[%N] {
            %0 = affine.load %A[%i - %t - 1, %j] : memref<?x?xf64>
            %1 = affine.load %A[%i - %t + 1, %j] : memref<?x?xf64>
            %2 = arith.addf %0, %1 : f64
            affine.store %2, %A[%i - %t, %j] : memref<?x?xf64>
          }
        }
      }
    }
  }
  return
}"""


def test_there_are_two_iterations_where_steps_meet():
    (f,) = parse(WAVEFRONT).functions
    of = Dependences(f)
    reads = [a for a in of.compared if a.kind == "read"]
    (write,) = [a for a in of.compared if a.kind == "write"]
    for read_of in reads:
        for source, sink in ((read_of, write), (write, read_of)):
            dependence = of.at(source, sink, 1)
            if dependence is None:
                continue
            witness = dependence.witness()
            assert witness is not None, dependence
            sizes = [witness.params.get(name, 3) for name in ("M", "N", "steps")]
            ran = trace(f, np.zeros((sizes[0], sizes[1])), *sizes).instances
            both = [
                next(i for i in ran if i.op is access.op and i.ivs == at and witness.element in i.elements)
                for access, at in ((source, witness.source), (sink, witness.sink))
            ]
            assert both[0].time < both[1].time
