from gc import collect
from weakref import ref

import pytest

from affdsl.ir.core import Op, roles
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import (
    clone,
    clone_block,
    definitions,
    fresh,
    gathered,
    holders,
    map_blocks,
    rewrite,
    substitute,
    users,
    walk,
    with_fields,
)
from affdsl.ir.types import F32, I1, INDEX, MemRefType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests.ir.build import exprs


class Example:
    """for i: { x = A[i]; y = x + x; A[i] = y; if i >= n - 1: { A[0] = y } }; return n"""

    def __init__(self):
        self.n, self.i = Value(INDEX, "n"), Value(INDEX, "i")
        self.A, self.x, self.y = Value(MemRefType((None,), F32), "A"), Value(F32, "x"), Value(F32, "y")
        self.load = affine.Load(self.x, self.A, exprs(self.i))
        self.add = arith.Binary(self.y, "addf", self.x, self.x)
        self.store = affine.Store(self.y, self.A, exprs(self.i))
        self.inner = affine.Store(self.y, self.A, exprs(0))
        self.guard = affine.If((Constraint(self.i - self.n + 1),), (self.inner,))
        self.loop = affine.For(self.i, exprs(0), exprs(self.n), (self.load, self.add, self.store, self.guard))
        self.end = func.Return((self.n,))
        self.f = func.Func("f", (self.n, self.A), (self.loop, self.end), (INDEX,))
        verify(self.f)


@pytest.fixture
def e():
    return Example()


def test_walk_meets_parents_first(e):
    assert list(walk(e.f)) == [e.f, e.loop, e.load, e.add, e.store, e.guard, e.inner, e.end]
    assert list(walk(e.load)) == [e.load]


def test_holders_are_what_may_hold_blocks(e):
    assert list(holders(e.f)) == [e.f, e.loop, e.guard]
    both = scf.If(Value(I1), (e.loop,), (e.guard, e.add))
    assert list(holders(both)) == [both, e.loop, e.guard, e.guard]


def test_what_is_gathered_is_that_of_a_walk_and_is_looked_at_once(e):
    seen = []

    def of(op):
        seen.append(op)
        return [*op.defines(), *op.binds()]

    found = gathered(e.f, of)
    assert found == tuple(v for op in walk(e.f) for v in of(op)) == (e.n, e.A, e.i, e.x, e.y)
    seen.clear()
    other = affine.For(Value(INDEX, "j"), exprs(0), exprs(e.n), (e.inner,))
    longer = with_fields(e.f, body=(e.loop, other, e.end))
    assert gathered(longer, of) == (e.n, e.A, e.i, e.x, e.y, other.iv)
    assert seen == [longer, other, e.inner, e.end], "what has not changed is not looked at again"
    assert gathered(e.f, of) == found
    assert gathered(e.loop, Op.reads) == tuple(dict.fromkeys(v for op in walk(e.loop) for v in op.reads()))


def test_what_is_gathered_goes_with_its_operation():
    gone = Example()
    gathered(gone.f, Op.reads)
    watched = ref(gone.loop)
    assert watched() is not None
    del gone
    collect()
    assert watched() is None


def test_walk_meets_both_blocks_of_a_condition():
    t, x, y, z = Value(I1), Value(F32), Value(F32), Value(F32)
    first, second = arith.Negate(y, x), arith.Negate(z, x)
    op = scf.If(t, (first,), (second,))
    assert list(walk(op)) == [op, first, second]


def test_users_and_definitions(e):
    assert users(e.f) == {
        e.n: [e.loop, e.guard, e.end], e.A: [e.load, e.store, e.inner], e.i: [e.load, e.store, e.guard],
        e.x: [e.add, e.add], e.y: [e.store, e.inner],
    }  # fmt: skip
    assert definitions(e.f) == {e.n: e.f, e.A: e.f, e.i: e.loop, e.x: e.load, e.y: e.add}


def test_what_an_operation_reads_defines_and_holds(e):
    assert list(e.loop.reads()) == [e.n]
    assert list(e.loop.binds()) == [e.i]
    assert list(e.loop.defines()) == []
    assert list(e.loop.blocks()) == [e.loop.body]
    assert list(e.guard.blocks()) == [(e.inner,), ()]
    assert list(e.store.reads()) == [e.y, e.A, e.i]
    assert roles(affine.For).regions == ("body",)
    assert roles(affine.For).operands == ("lower", "upper", "inits")


def test_with_fields_changes_a_copy(e):
    copy = with_fields(e.loop, step=4)
    assert (copy.step, e.loop.step) == (4, 1)
    assert copy.body is e.loop.body
    assert copy != e.loop
    assert copy.location is e.loop.location


def test_map_blocks(e):
    assert map_blocks(e.f, lambda block: block) is e.f
    assert map_blocks(e.loop, lambda block: block[:1]).body == (e.load,)


def test_rewrite_keeps_replaces_and_removes(e):
    assert rewrite(e.f, lambda op: None) is e.f
    without = rewrite(e.f, lambda op: () if isinstance(op, affine.If) else None)
    assert [type(op) for op in walk(without)] == [
        func.Func, affine.For, affine.Load, arith.Binary, affine.Store, func.Return,
    ]  # fmt: skip
    assert list(walk(e.f))[5] is e.guard
    twice = rewrite(e.f, lambda op: (op, op) if op is e.store else None)
    assert list(walk(twice))[4:6] == [e.store, e.store]
    replaced = rewrite(e.f, lambda op: with_fields(op, kind="mulf") if op is e.add else None)
    assert list(walk(replaced))[3].kind == "mulf"
    assert list(walk(replaced))[2] is e.load


def test_rewrite_goes_from_the_inside_out(e):
    seen = []

    def rule(op):
        seen.append(type(op))
        return () if op is e.inner else None

    result = rewrite(e.f, rule)
    assert seen == [
        affine.Load, arith.Binary, affine.Store, affine.Store, affine.If, affine.For, func.Return,
    ]  # fmt: skip
    assert next(op for op in walk(result) if isinstance(op, affine.If)).then == ()


def test_substitute_in_affine_positions_and_operands(e):
    z = Value(F32, "z")
    shifted = substitute(e.f, {e.i: e.i + 1, e.y: z})
    load, store = (next(op for op in walk(shifted) if type(op) is cls) for cls in (affine.Load, affine.Store))
    assert load.index == (e.i + 1,)
    assert (store.value, store.index) == (z, (e.i + 1,))
    guard = next(op for op in walk(shifted) if isinstance(op, affine.If))
    assert guard.condition == (Constraint(e.i - e.n + 2),)
    assert next(iter(walk(shifted))).body[1] is e.end
    assert list(shifted.body[0].binds()) == [e.i]
    assert substitute(e.f, {Value(INDEX): 3}) is e.f


def test_a_plain_operand_takes_a_value_only(e):
    assert substitute(e.end, {e.n: Affine.of(e.i)}).values == (e.i,)
    for term in (e.i + 1, Affine.of(3)):
        with pytest.raises(
            ValueError, match=r"%n\.\d+ is a plain operand: it can be replaced by a value, not by an expr"
        ):
            substitute(e.end, {e.n: term})


def test_clone_defines_fresh_values(e):
    new = {}
    copy = clone(e.f, new)
    assert set(new) == {e.n, e.A, e.i, e.x, e.y}
    old, made = set(definitions(e.f)), set(definitions(copy))
    assert not old & made
    assert made == set(new.values())
    verify(copy)
    verify(func.Module((e.f, with_fields(copy, symbol="g"))))
    assert [v.hint for v in copy.args] == ["n", "A"]
    assert [type(op) for op in walk(copy)] == [type(op) for op in walk(e.f)]
    assert all(a is not b for a, b in zip(walk(copy), walk(e.f), strict=True))


def test_clone_of_an_inner_operation_reads_the_outer_values(e):
    copy = clone(e.loop, {})
    assert copy.iv is not e.i
    assert copy.upper == (Affine.of(e.n),)
    assert {v for op in walk(copy) for v in op.reads()} & {e.A} == {e.A}


def test_clone_block_maps_as_it_is_told(e):
    new = {e.i: Affine.of(e.n) - 1}
    first, add, store, guard = clone_block(e.loop.body, new)
    assert first.index == (e.n - 1,)
    assert add.left is first.result is new[e.x]
    assert store.value is add.result
    assert guard.condition == (Constraint(Affine()),)


def test_clone_carries_every_kind_of_value_and_block():
    n, i, acc, r, t = (Value(INDEX, name) for name in ("n", "i", "acc", "r", "t"))
    body = (arith.Binary(t, "addi", acc, i), affine.Yield((t,)))
    loop = affine.For(i, exprs(0), exprs(n), body, 1, (n,), (acc,), (r,))
    f = func.Func("f", (n,), (loop, func.Return((r,))), (INDEX,))
    copy = clone(f, {})
    verify(copy)
    assert run(copy, 4) == run(f, 4) == (10,)


def test_fresh(e):
    like = fresh(e.x)
    assert (like.type, like.hint, like is e.x) == (F32, "x", False)
    assert (fresh(e.x, "other").hint, fresh(hint="k").type, fresh().hint) == ("other", INDEX, "")


def test_deep_nests_are_walked_and_rewritten():
    op = memref.Alloc(Value(MemRefType((4,), F32)))
    for _ in range(250):
        op = affine.For(Value(INDEX, "i"), exprs(0), exprs(4), (op,))
    f = func.Func("f", (), (op,))
    assert len(list(walk(f))) == 252
    assert len(list(walk(rewrite(f, lambda o: () if isinstance(o, memref.Alloc) else None)))) == 251
    assert len(list(walk(clone(f, {})))) == 252


def test_operations_are_told_apart_by_identity(e):
    assert affine.Load(e.x, e.A, exprs(e.i)) != e.load
    assert isinstance(e.load, Op)


def test_operands_of_written_maps_are_replaced_where_no_result_needs_them():
    text = """func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {
      affine.for %i = 0 to affine_map<(d0)[s0] -> (4)>(%n)[%n] { affine.store %x, %A[%i] : memref<?xf32> }
      return
    }"""
    function = parse(text).functions[0]
    loop = function.body[0]
    new = Value(INDEX, "m")
    assert "%n" in str(loop)
    assert "%n" not in str(substitute(loop, {function.args[0]: new}))
    assert "%n" not in str(substitute(loop, {function.args[0]: Affine.of(new) + 1}))
