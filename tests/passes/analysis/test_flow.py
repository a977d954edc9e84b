"""Last writers: against what runs see, and against isl's own analysis of flow."""

import islpy as isl
import pytest

from affdsl.ir.expr import Affine
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import AnalysisWarning, dependences
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.polyhedral import Dim, map_of
from affdsl.passes.analysis.relations import iterator, map_from
from tests.effort import some
from tests.passes.analysis.brute import Brute
from tests.passes.analysis.compare import sizes_of
from tests.passes.analysis.points import numbers_in
from tests.passes.analysis.programs import generate

SEEDS = range(120)


def flow_of(text):
    module = parse(text)
    found = dependences(module.functions[0], module)
    return found, Flow(found)


@pytest.mark.parametrize("start", some(range(0, len(SEEDS), 40), 1))
def test_reads_see_the_writes_that_they_see_in_a_run(start):
    counts = {"certain": 0, "before": 0, "possible": 0}
    for seed in range(start, start + 40):
        program = generate(seed)
        trace = program.trace()
        found = dependences(program.function, program.module)
        sizes = sizes_of(program, found, trace)
        wanted = {}
        for (instance, element), writer in Brute(trace).last_writers.items():
            key = (instance.op, instance.buffer.origin, instance.ivs, element)
            wanted[key] = (writer.op, writer.ivs) if writer is not None else None
        flow = Flow(found, budget=1_000_000)
        for read in found.compared:
            if read.kind == "read" and read.is_exact and all(v in sizes for v in read.relation.params):
                compare(read, flow, wanted, sizes, counts)
    assert counts["certain"] > 200
    assert counts["before"] > 200
    assert counts["possible"] > 0


def compare(read, flow, wanted, sizes, counts):
    """All elements that an access reads in a run."""
    try:
        writers, live_in = flow.writers(read), flow.live_in(read)
    except AnalysisWarning:
        return
    root = read.buffer.name[1:] if read.buffer.kind == "global" else read.buffer.root
    dims, around = len(read.ivs), read.buffer.loops
    seen = {}
    for last in writers:
        end = -len(last.write.ivs) or None
        for point in numbers_in(last.map.wrap(), sizes):
            key = (read.op, root, point[:dims], point[dims + around : end])
            seen.setdefault(key, []).append((last, (last.write.op, point[end:] if end else ())))
    untouched = {(read.op, root, p[:dims], p[dims + around :]) for p in numbers_in(live_in, sizes)}
    mine = {key: writer for key, writer in wanted.items() if key[:2] == (read.op, root)}
    assert set(seen) | untouched == set(mine)
    for key, writer in mine.items():
        found = seen.get(key, [])
        if not found:
            assert writer is None
            counts["before"] += 1
        elif all(last.is_exact for last, _ in found):
            assert [instance for _, instance in found] == [writer]
            assert key not in untouched
            counts["certain"] += 1
        else:
            assert (writer is None and key in untouched) or writer in [instance for _, instance in found]
            counts["possible"] += 1


@pytest.mark.parametrize("seed", some(SEEDS, 8))
def test_isl_finds_the_same_flow(seed):
    program = generate(seed)
    found = dependences(program.function, program.module)
    flow = Flow(found, budget=1_000_000)
    for read in found.compared:
        if read.kind == "read":
            try:
                ours = flow.writers(read)
            except AnalysisWarning:
                continue
            must, may = by_isl(read, found)
            certain = [last for last in ours if last.is_exact]
            for last, theirs in ((certain, must), (ours, may)) if read.is_exact else ((ours, may),):
                assert together(last).keys() == theirs.keys()
                assert all(pairs.is_equal(theirs[name]) for name, pairs in together(last).items())


def together(writers):
    """For each write its iterations, with those of the read and the elements, as sets without names."""
    found = {}
    for last in writers:
        pairs = last.map.reverse().wrap().flatten()
        name = name_in_isl(last.write)
        found[name] = found[name].union(pairs) if name in found else pairs
    return found


def by_isl(read, found):
    """The same from isl's analysis: of the writes that are certainly the last, and of those that may be."""
    words = max(len(a.ivs) for a in found.compared)
    nothing = isl.UnionMap.empty(map_from(read.relation).get_space().params())
    sources = {True: nothing, False: nothing}
    schedule = nothing.union(times(read, found, words))
    for write in found.compared:
        if write.kind == "write" and found.accesses.storage.may_alias(write.buffer, read.buffer):
            is_certain = write.is_exact and write.buffer is read.buffer
            touched = map_from(write.relation)
            if write.buffer is not read.buffer:
                touched = isl.Map.from_domain_and_range(touched.domain(), map_from(read.relation).range())
            sources[is_certain] = sources[is_certain].union(called(write, touched))
            schedule = schedule.union(times(write, found, words))
    info = isl.UnionAccessInfo.from_sink(called(read, map_from(read.relation)))
    info = info.set_must_source(sources[True]).set_may_source(sources[False]).set_schedule_map(schedule)
    result = info.compute_flow()
    return flat(result.get_full_must_dependence()), flat(result.get_full_may_dependence())


def flat(dependence):
    found = {}
    dependence.foreach_map(lambda m: found.update({m.get_tuple_name(Dim.in_): m.wrap().flatten()}))
    return found


def name_in_isl(access):
    return f"{access.kind}{access.order}_{access.buffer.root.id}"


def called(access, relation):
    """A relation whose iterations are those of one access, and no other's."""
    return isl.UnionMap.from_map(relation.set_tuple_name(Dim.in_, name_in_isl(access)))


def times(access, found, words):
    """When the iterations of an access run: which statement of a block comes first, and which iteration of a loop."""
    time = []
    for k, loop in enumerate(access.domain.loops):
        time += [Affine.of(found.accesses.order[loop]), Affine.of(iterator(k))]
    time += [Affine.of(access.order), Affine.of(int(access.kind == "write"))]
    time += [Affine()] * (2 * words + 2 - len(time))
    dims = [iterator(k) for k in range(len(access.ivs))]
    return called(access, map_of(time, (), dims).intersect_domain(map_from(access.relation).domain()))


def test_a_read_sees_the_nearest_write_before():
    found, flow = flow_of("""
func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to %n {
    affine.store %x, %A[%i] : memref<?xf32>
    %a = affine.load %A[%i - 1] : memref<?xf32>
  }
  return
}""")
    (last,) = flow.all()
    assert last.is_exact
    assert str(last.instances()) == "[n] -> { [i] -> [i' = 1 + i] : 0 <= i <= -2 + n }"
    assert len(numbers_in(flow.live_in(found.compared[1]), {found.accesses.function.args[1]: 5})) == 1


def test_a_write_that_may_not_happen_does_not_hide_one_before():
    _, flow = flow_of("""
func.func @f(%A: memref<9xf32>, %c: i1, %x: f32) {
  affine.store %x, %A[0] : memref<9xf32>
  scf.if %c { affine.store %x, %A[0] : memref<9xf32> }
  %a = affine.load %A[0] : memref<9xf32>
  return
}""")
    why = ("the condition is known only at run time",)
    assert [(last.write.order, last.unknown) for last in flow.all()] == [(0, why), (2, why)]


def test_the_last_values_of_a_buffer():
    found, flow = flow_of("""
func.func @f(%A: memref<9xf32>, %x: f32) {
  affine.for %i = 0 to 9 { affine.store %x, %A[%i floordiv 3] : memref<9xf32> }
  affine.store %x, %A[1] : memref<9xf32>
  return
}""")
    written = {a.order: str(m) for a, m in flow.final_writes(found.compared[0].buffer)}
    assert len(written) == 2
    first, second = (m for _, m in flow.final_writes(found.compared[0].buffer))
    assert sorted(numbers_in(first.wrap(), {})) == [(0, 2), (2, 8)]
    assert numbers_in(second.wrap(), {}) == [(1,)]


def test_a_read_of_which_isl_needs_too_long_may_see_any_write():
    text = """
func.func @f(%A: memref<9xf32>, %x: f32) {
  affine.for %i = 0 to 9 {
    affine.store %x, %A[%i] : memref<9xf32>
    %a = affine.load %A[8 - %i] : memref<9xf32>
  }
  return
}"""
    module = parse(text)
    found = dependences(module.functions[0], module)
    flow = Flow(found, budget=50)
    with pytest.warns(AnalysisWarning, match="isl needs more than 50 operations, for the read of A at <mlir>:5"):
        (last,) = flow.writers(found.compared[1])
    assert last.map is None
    assert last.instances() is None
    assert "isl needs more than 50 operations" in last.unknown[0]
    assert flow.live_in(found.compared[1]) is None


def test_what_was_there_before_is_known_after_the_first_write(monkeypatch):
    """Statements behind it, each under a condition of its own, are not looked at."""
    guarded = "".join(
        f"""
        affine.if affine_set<(d0) : ({n} - d0 >= 0)>(%i) {{
          %a{n} = affine.load %t[0] : memref<1xf32>
          affine.store %a{n}, %t[0] : memref<1xf32>
        }}"""
        for n in range(20)
    )
    found, flow = flow_of(f"""
    func.func @f(%A: memref<99xf32>, %x: f32) {{
      affine.for %i = 0 to 99 {{
        %t = memref.alloca() : memref<1xf32>
        affine.store %x, %t[0] : memref<1xf32>{guarded}
        %a = affine.load %t[0] : memref<1xf32>
        affine.store %a, %A[%i] : memref<99xf32>
      }}
      return
    }}""")
    looked, earlier = [], Flow._earlier
    monkeypatch.setattr(Flow, "_earlier", lambda *given: looked.append(given) or earlier(*given))
    reads = [access for access in found.compared if access.kind == "read"]
    assert all(flow.live_in(read).is_empty() for read in reads)
    assert len(looked) == len(reads) == 21
