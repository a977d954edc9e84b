"""Double buffering: next to mlir-opt's, refused where data may be late or stale, and equal when run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.interpreter import transfers as interpreted
from affdsl.ir.interpreter.buffers import BufferView
from affdsl.ir.traverse import definitions, rewrite, with_fields
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_pipeline_data_transfer import affine_pipeline_data_transfer
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.transforms import pipeline_data_transfer as under_test
from affdsl.passes.transforms.pipeline_data_transfer import pipeline_data_transfer, transfers
from tests.codegen.c.compare import check
from tests.harness.reading import by_name, function
from tests.oracles import mlir_opt
from tests.passes.compare import parsed, shown

SLOW, FAST, TAG = "memref<40x8xf64>", "memref<8xf64, 1>", "memref<1xi32>"
START = f"affine.dma_start %A[%i, 0], %B[0], %t[0], %c8 : {SLOW}, {FAST}, {TAG}"
WAIT = f"affine.dma_wait %t[0], %c8 : {TAG}"
USE = f"""affine.for %j = 0 to 8 {{
      %x = affine.load %B[%j] : {FAST}
      %y = affine.load %C[%i, %j] : {SLOW}
      %z = arith.addf %x, %y : f64
      affine.store %z, %C[%i, %j] : {SLOW}
    }}"""
OUTSIDE = f"%B = memref.alloc() : {FAST} %t = memref.alloc() : {TAG}"
FREE = f"memref.dealloc %t : {TAG} memref.dealloc %B : {FAST}"


def program(body: str = f"{START} {WAIT} {USE}", loop: str = "0 to 40", *, inside: bool = False) -> str:
    """A loop over a body, with the buffer and the tag made before it, or inside."""
    made = f"affine.for %i = {loop} {{ {OUTSIDE} {body} {FREE} }}"
    around = f"{OUTSIDE} affine.for %i = {loop} {{ {body} }} {FREE}"
    return f"""func.func @f(%A: {SLOW}, %C: {SLOW}, %m: index, %n: index) {{
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  {made if inside else around}
  return
}}"""


def arguments(m: int = 0, n: int = 40) -> list[object]:
    return [np.arange(320.0).reshape(40, 8), np.ones((40, 8)), m, n]


def assert_same(before: func.Func, after: func.Func, m: int = 0, n: int = 40) -> None:
    verify(after)
    old, new = arguments(m, n), arguments(m, n)
    run(before, *old)
    run(after, *new)
    for a, b in zip(old, new, strict=True):
        np.testing.assert_array_equal(a, b)


def plain(text: str) -> str:
    """A module where DMAs have expressions for indices, not the values of affine.apply and constants."""
    module = parse(text)
    known: dict[Value, Affine] = {}
    for value, op in definitions(module).items():
        if isinstance(op, affine.Apply):
            known[value] = op.expr
        elif isinstance(op, arith.Constant) and isinstance(op.value, int):
            known[value] = Affine.of(op.value)

    def indices(exprs: tuple[Affine, ...]) -> tuple[Affine, ...]:
        for _ in known:
            exprs = tuple(e.substitute(known) for e in exprs)
        return exprs

    def folded(op: Op) -> Op | None:
        match op:
            case affine.DmaStart():
                fields = ("source_index", "target_index", "tag_index")
            case affine.DmaWait():
                fields = ("tag_index",)
            case _:
                return with_fields(op, written=None) if op.written else None
        return with_fields(op, written=None, **{name: indices(getattr(op, name)) for name in fields})

    text = print_op(run_pipeline(rewrite(module, folded), "builtin.module(canonicalize,cse)"))
    text = mlir_opt(text, "--canonicalize", "--cse", "--canonicalize")
    return "\n".join(line for line in text.splitlines() if "arith.constant" not in line)


TWO = f"""{START}
  %u = memref.alloc() : {TAG} %D = memref.alloc() : {FAST}
  affine.dma_start %C[%i, 4], %D[0], %u[0], %c4 : {SLOW}, {FAST}, {TAG}
  affine.dma_wait %u[0], %c4 : {TAG}
  {WAIT}
  %x = affine.load %B[3] : {FAST} %y = affine.load %D[2] : {FAST} %z = arith.mulf %x, %y : f64
  memref.dealloc %u : {TAG} memref.dealloc %D : {FAST}
  affine.store %z, %A[0, 0] : {SLOW}""".replace("affine.store %z, %A[0, 0]", "memref.store %z, %E[%c4]").replace(
    f"%E[%c4] : {SLOW}", "%E[%c4] : memref<8xf64>"
)


@pytest.mark.parametrize(
    "loop", ["0 to 40", "3 to 30 step 3", "1 to 40 step 2", "%m to affine_map<()[s] -> (s + 7)>()[%m]"]
)
@pytest.mark.parametrize("inside", [False, True])
def test_loops_as_mlir_opt_pipelines_them(loop: str, inside: bool) -> None:
    text = program(loop=loop, inside=inside)
    ours = affine_pipeline_data_transfer(parsed(text))
    assert plain(shown(ours)) == plain(mlir_opt(text, "--affine-pipeline-data-transfer"))
    assert_same(parsed(text).functions[0], ours.functions[0], 3)


def test_two_dmas_at_once_as_mlir_opt_pipelines_them() -> None:
    text = program(TWO.replace("affine.dma_start %C", "affine.dma_start %A"), inside=True)
    text = text.replace("%m: index", "%m: index, %E: memref<8xf64>")
    ours = affine_pipeline_data_transfer(parsed(text))
    assert plain(shown(ours)) == plain(mlir_opt(text, "--affine-pipeline-data-transfer"))
    assert str(ours).count("memref<2x8xf64, 1>") > 1
    assert str(ours).count(" = memref.alloc() : memref<2x8xf64, 1>") == 2


def test_a_tiled_product_as_mlir_opt_pipelines_it() -> None:
    """Copies by DMA, then double buffering: the tiles of two operands come early, that of the result does not."""
    tile = "affine_map<(d) -> (d)>(%{0}t) to affine_map<(d) -> (d + 4)>(%{0}t)"
    type = "memref<16x16xf64>"
    text = f"""func.func @f(%A: {type}, %B: {type}, %C: {type}) {{
      affine.for %it = 0 to 16 step 4 {{ affine.for %jt = 0 to 16 step 4 {{ affine.for %kt = 0 to 16 step 4 {{
        affine.for %i = {tile.format("i")} {{ affine.for %j = {tile.format("j")} {{
        affine.for %k = {tile.format("k")} {{
          %a = affine.load %A[%i, %k] : {type}
          %b = affine.load %B[%k, %j] : {type}
          %c = affine.load %C[%i, %j] : {type}
          %p = arith.mulf %a, %b : f64
          %d = arith.addf %c, %p : f64
          affine.store %d, %C[%i, %j] : {type}
      }} }} }} }} }} }}
      return
    }}"""
    given = mlir_opt(text, "--affine-data-copy-generate=generate-dma skip-non-unit-stride-loops")
    ours = affine_pipeline_data_transfer(parsed(given))
    assert plain(shown(ours)) == plain(mlir_opt(given, "--affine-pipeline-data-transfer"))
    own = run_pipeline(parsed(text), "builtin.module(func.func(affine-data-copy-generate{generate-dma "
                       "skip-non-unit-stride-loops},affine-pipeline-data-transfer))")  # fmt: skip
    random = np.random.default_rng(1)
    given_arrays = [random.integers(-4, 5, (16, 16)).astype(np.float64) for _ in range(3)]
    for module in (ours, own):
        a, b, c = (array.copy() for array in given_arrays)
        run(module.functions[0], a, b, c)
        np.testing.assert_array_equal(c, given_arrays[2] + given_arrays[0] @ given_arrays[1])


@pytest.mark.parametrize("loop", ["0 to %n", "0 to 0", "7 to 8", "9 to 3"])
def test_what_the_pass_leaves(loop: str) -> None:
    module = parsed(program(loop=loop))
    assert affine_pipeline_data_transfer(module) is module


def test_golden(golden: Callable[[str, str], None]) -> None:
    f = function(program(loop="%m to %n step 3", inside=True))
    golden(str(pipeline_data_transfer(f, by_name(f, "i"))), "symbolic.mlir")


@pytest.mark.parametrize("step", [1, 2, 3, 7])
@pytest.mark.parametrize("inside", [False, True])
def test_late_sizes_with_no_trips_and_one(step: int, inside: bool) -> None:
    f = function(program(loop=f"%m to %n step {step}", inside=inside))
    after = pipeline_data_transfer(f, by_name(f, "i"))
    for m in range(5):
        for n in range(10):
            assert_same(f, after, m, n)


@pytest.mark.parametrize("loop", ["-9 to 20 step 4", "-40 to 0 step 3", "-1 to 1"])
def test_negative_bounds(loop: str) -> None:
    body = f"{START} {WAIT} {USE}".replace("[%i, ", "[(%i + 40) mod 40, ")
    f = function(program(body, loop))
    assert_same(f, pipeline_data_transfer(f, by_name(f, "i")))


def test_an_operand_that_the_loop_computes() -> None:
    """It is computed early too, and once more where the rest of the iteration reads it."""
    body = f"""%k = affine.apply affine_map<(d) -> (39 - d)>(%i) %two = arith.constant 2.0 : f64
      {START.replace("%A[%i", "%A[%k")} {WAIT} {USE}
      affine.store %two, %C[%k, 0] : {SLOW}"""
    f = function(program(body))
    assert_same(f, pipeline_data_transfer(f, by_name(f, "i")))


def test_data_that_is_changed_and_sent_on() -> None:
    """The iteration works on its half, and sends it to another array, by the same tag."""
    body = f"""{START} {WAIT}
      %x = affine.load %B[3] : {FAST} %y = arith.addf %x, %x : f64 affine.store %y, %B[5] : {FAST}
      affine.dma_start %B[0], %C[%i, 0], %t[0], %c8 : {FAST}, {SLOW}, {TAG} {WAIT}"""
    for inside in (False, True):
        f = function(program(body, inside=inside))
        after = pipeline_data_transfer(f, by_name(f, "i"))
        assert_same(f, after)
        assert "memref<2x8xf64, 1>" in str(after)


def test_what_comes_from_a_row_that_the_loop_writes_elsewhere() -> None:
    """Writing A[i + 1] in iteration i is too late for the DMA of the next; A[i] and A[i - 1] are not."""
    for offset, is_legal in ((-1, True), (0, True), (1, False)):
        store = f"%w = affine.load %B[1] : {FAST} affine.store %w, %A[%i + {offset}, 7] : {SLOW}"
        f = function(program(f"{START} {WAIT} {store}", "1 to 39"))
        if is_legal:
            assert_same(f, pipeline_data_transfer(f, by_name(f, "i")))
            continue
        with pytest.raises(IllegalTransform, match=r"A\[i \+ 1, 7\].*feeds the read of A by affine.dma_start"):
            pipeline_data_transfer(f, by_name(f, "i"))


def test_c_does_the_same(tmp_path: Path) -> None:
    for k, loop in enumerate(("0 to 40", "%m to %n step 3")):
        f = function(program(loop=loop))
        check(func.Module((pipeline_data_transfer(f, by_name(f, "i")),)), "f", arguments(2, 30), tmp_path / str(k))


REFUSED = {
    "no DMA": (f"affine.store %v, %C[%i, 0] : {SLOW}", "it holds no affine.dma_start to a memory space of a higher"),
    "an outgoing DMA": (f"affine.dma_start %B[0], %C[%i, 0], %t[0], %c8 : {FAST}, {SLOW}, {TAG} {WAIT}",
                        "it holds no affine.dma_start to a memory space of a higher number"),
    "no wait": (START, "the iteration does not wait for the DMA to B by the same tag"),
    "another tag": (f"{START} {WAIT}".replace("%t[0], %c8 : memref<1xi32>", "%t[%i], %c8 : memref<1xi32>"),
                    "the iteration does not wait for the DMA to B by the same tag"),
    "used before the wait": (f"{START} affine.store %v, %B[1] : {FAST} {WAIT}",
                             "affine.store uses B before the iteration waits for its DMA"),
    "used before the start": (f"%x = affine.load %B[1] : {FAST} {START} {WAIT}",
                              "affine.load uses B before the iteration waits for its DMA"),
    "data of the iteration before": (f"{START} {WAIT} {USE}".replace("%c8 :", "%c4 :"),
                                     "not known that its DMA brings all that an iteration reads of B"),
    "an access without expressions": (f"{START} {WAIT} %x = memref.load %B[%c4] : {FAST}",
                                      "memref.load uses B, which takes no further index there"),
    "a call": (f"{START} {WAIT} func.call @g(%B) : ({FAST}) -> ()", "func.call uses B, which takes no further index"),
    "two waits": (f"{START} {WAIT} {WAIT}", "what starts and what waits by the tag t are no pairs"),
    "a wait further inside": (f"{START} {WAIT} affine.for %k = 0 to 1 {{ {WAIT} }}",
                              "the tag t is used by affine.dma_wait further inside"),
    "a number from memory": (f"%q = memref.load %Q[%i] : memref<40xindex> {START} {WAIT}".replace("%c8 :", "%q :"),
                             "q comes from memref.load, which would have to run early, too"),
    "a row that was just written": (f"{START} {WAIT} affine.store %v, %A[%i + 1, 0] : {SLOW}",
                                    "the store A.i . 1, 0.* feeds the read of A by affine.dma_start"),
    "a DMA by the tag that runs on": (
        f"""%D = memref.alloc() : {FAST} {START} {WAIT}
        affine.dma_start %C[%i, 0], %D[0], %t[0], %c8 : {SLOW}, {FAST}, {TAG}""",
        "a DMA by the tag t is not waited for in its iteration"),
    "a size that exists only inside": (
        f"""%k = affine.apply affine_map<(d) -> (d + 8)>(%i) %D = memref.alloc(%k) : memref<?xf64, 1>
        affine.dma_start %A[%i, 0], %D[0], %t[0], %c8 : {SLOW}, memref<?xf64, 1>, {TAG} {WAIT}""",
        "D is made inside of the loop, by sizes that exist only there"),
    "another DMA that runs on": (
        f"{START} {WAIT} affine.dma_start %B[0], %C[%i, 0], %T2[0], %c8 : {FAST}, {SLOW}, {TAG}",
        "the iteration does not wait for another DMA that uses B"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    body, reason = REFUSED[name]
    given = f"%m: index, %v: f64, %Q: memref<40xindex>, %T2: {TAG}"
    text = f"func.func private @g({FAST}) " + program(body).replace("%m: index", given)
    module = parse(text)
    f = next(f for f in module.functions if f.symbol == "f")
    with pytest.raises(IllegalTransform, match=reason) as refusal:
        pipeline_data_transfer(f, by_name(f, "i"), module=module)
    assert "cannot pipeline the DMAs of loop i" in str(refusal.value)


def test_buffers_that_others_use() -> None:
    text = program().replace(FREE, f"%x = affine.load %B[0] : {FAST} {FREE}")
    with pytest.raises(IllegalTransform, match=r"B is used outside of the loop, by affine.load"):
        _pipelined(text)
    text = program().replace(f"%B = memref.alloc() : {FAST}", "").replace(f"memref.dealloc %B : {FAST}", "")
    with pytest.raises(IllegalTransform, match=r"B is not what memref.alloc gives, without a layout"):
        _pipelined(text.replace("%m: index", f"%m: index, %B: {FAST}"))


@pytest.mark.parametrize(
    ("loop", "reason"),
    [("0 to 1", "never runs twice"), ("4 to 4", "never runs twice"),
     ("0 to min affine_map<()[m, n] -> (m, n)>()[%m, %n]", "has several bounds on one side"),
     ("max affine_map<()[m, n] -> (m, n)>()[%m, %n] to 40", "has several bounds on one side")],
)  # fmt: skip
def test_loops_that_are_refused(loop: str, reason: str) -> None:
    with pytest.raises(IllegalTransform, match=reason):
        _pipelined(program(loop=loop))


def carrying(loop: str) -> str:
    """A loop that hands on two numbers crosswise, one of them a sum of what its DMA brought."""
    head = "iter_args(%s = %zero, %p = %one) -> (f64, f64)"
    body = f"""{START} {WAIT}
      %x = affine.load %B[3] : {FAST} %y = arith.addf %s, %x : f64 %z = arith.mulf %p, %y : f64
      affine.yield %y, %s : f64, f64"""
    return f"""func.func @f(%A: {SLOW}, %C: {SLOW}, %m: index, %n: index) -> (f64, f64) {{
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0.5 : f64 %one = arith.constant 3.0 : f64
      %B = memref.alloc() : {FAST} %t = memref.alloc() : {TAG}
      %r:2 = affine.for %i = {loop} {head} {{ {body} }}
      {FREE}
      %q = arith.addf %r#0, %zero : f64
      return %q, %r#1 : f64, f64
    }}"""


@pytest.mark.parametrize("loop", ["0 to 40", "3 to 30 step 4", "%m to %n step 3"])
def test_loops_that_carry_values(loop: str) -> None:
    f = function(carrying(loop))
    after = _pipelined(carrying(loop))
    verify(after)
    for m, n in ((0, 9), (4, 4), (5, 3), (2, 3), (0, 40)):
        assert run(f, *arguments(m, n)) == run(after, *arguments(m, n))


def test_a_dma_of_what_is_carried() -> None:
    text = carrying("0 to 40").replace("%c8 :", "%k :", 1).replace("%s = %zero, %p = %one", "%k = %c8, %p = %one")
    text = text.replace("-> (f64, f64) { affine", "-> (index, f64) { affine").replace(
        "arith.addf %s,", "arith.addf %p,"
    )
    text = text.replace("affine.yield %y, %s : f64, f64", "affine.yield %k, %y : index, f64")
    text = text.replace("%q = arith.addf %r#0, %zero", "%q = arith.addf %r#1, %zero")
    with pytest.raises(IllegalTransform, match="it needs k, which the iteration before hands on when it ends"):
        _pipelined(text)


def _pipelined(text: str) -> func.Func:
    f = function(text)
    return pipeline_data_transfer(f, by_name(f, "i"))


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets DMAs of the interpreter copy when they are waited for; before, their targets hold no number."""
    begun: list[tuple[object, ...]] = []

    def begin(op: object, source: BufferView, reads: object, target: BufferView, writes: object) -> None:
        begun.append((op, source, reads, target, writes))
        target.cells[writes] = np.nan

    class Late:
        def __init__(self, elements: int, reads: object, writes: object, size: int, storages: object) -> None:
            self.reads, self.writes, self.size, self.storages = reads, writes, size, storages
            self._elements, self._copy = elements, begun.pop()

        @property
        def elements(self) -> int:  # only the wait asks
            COPY(*self._copy)
            return self._elements

    monkeypatch.setattr(interpreted, "_copy", begin)
    monkeypatch.setattr(interpreted, "Transfer", Late)


@pytest.mark.parametrize("body", [f"{START} {WAIT} {USE}", f"{START} {WAIT} affine.store %v, %A[%i, 1] : {SLOW}"])
@pytest.mark.parametrize("loop", ["0 to 40", "%m to %n step 3"])
@pytest.mark.usefixtures("late")
def test_nothing_depends_on_when_a_dma_copies(body: str, loop: str) -> None:
    """With `late` the DMAs copy at the last moment, in all other tests at the first."""
    text = program(body, loop).replace("affine.for %i", "%v = arith.constant 7.0 : f64 affine.for %i")
    assert_same(function(text), _pipelined(text), 2, 30)


@pytest.mark.usefixtures("late")
def test_late_copies_are_late() -> None:
    f = function(program(f"{START} {USE} {WAIT}", "0 to 1"))
    with pytest.raises(InterpreterError, match="%B is read where a copy that was begun and not waited for writes"):
        run(f, *arguments())
    a, c, *_ = given = arguments()
    run(function(program(loop="0 to 2")), *given)
    np.testing.assert_array_equal(c[:2], 1 + a[:2])


FAULTS: dict[str, tuple[object, str, object]] = {
    "any order is right": (transfers, "require_order", lambda *_, **__: None),
    "stale data is right": (transfers._Candidate, "_require_brought", lambda _: None),
    "early uses are right": (transfers._Candidate, "_require_uses", lambda *_: None),
    "one half is enough": (under_test._Pipelined, "_with_halves", lambda self, op: _in_one_half(self, op)),
    "the last iteration is one too many": (under_test._Pipelined, "_ends", lambda self: _one_later(self)),
    "it always runs": (under_test._Pipelined, "_ends", lambda self: replace(ENDS(self), runs=True)),
}
HALVES, ENDS, COPY = under_test._Pipelined._with_halves, under_test._Pipelined._ends, interpreted._copy


def _in_one_half(self: under_test._Pipelined, op: Op) -> Op:
    self.half = Affine()
    return HALVES(self, op)


def _one_later(self: under_test._Pipelined) -> object:
    ends = ENDS(self)
    return replace(ends, last=ends.last + self.loop.step, behind=ends.behind + self.loop.step)


def failures() -> list[str]:
    """The programs that do something else, or break a rule, when their DMAs come early."""
    found = []
    later = "affine.if affine_set<(d) : (d - 1 >= 0)>(%i)"
    use = f"affine.store %w, %C[%i, 0] : {SLOW} }}"
    bodies = (
        f"{START} {WAIT} {USE}",
        f"{START} {WAIT} %w = affine.load %B[1] : {FAST} affine.store %w, %A[%i + 1, 7] : {SLOW}",
        f"""{START.replace("%B[0]", "%B[%i mod 2 * 4]").replace("%c8", "%c4")} {WAIT.replace("%c8", "%c4")}
        {later} {{ %w = affine.load %B[(%i + 1) mod 2 * 4] : {FAST} {use}""",
        f"{later} {{ %w = affine.load %B[1] : {FAST} {use} {START} {WAIT}",
    )
    for body in bodies:
        for loop in ("0 to 38", "%m to %n"):
            f = function(program(body, loop.replace("%m", "0") if "affine.if" in body else loop))
            try:
                after = pipeline_data_transfer(f, by_name(f, "i"))
            except IllegalTransform:
                continue
            try:
                for m, n in ((0, 9), (4, 4), (5, 3)):
                    assert_same(f, after, m, n)
            except (AssertionError, AffdslError) as problem:
                found.append(f"{body}: {problem}")
    return found


def test_these_programs_do_the_same() -> None:
    assert failures() == []
    assert_same(function(program()), _pipelined(program()))


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    assert failures()
