"""Frozen classes: what dataclasses of the standard library do, they do; and operations are such classes."""

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

import affdsl.frozen
from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.core import Role, roles
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.location import Location
from affdsl.ir.types import F32, INDEX, MemRefType, VectorType


class Ours(FrozenValue):
    left: int
    right: tuple[int, ...] = ()
    seen: list[int] = field(default_factory=list, compare=False)
    hidden: int = field(default=7, kw_only=True, repr=False)


@dataclass(frozen=True)
class Theirs:
    left: int
    right: tuple[int, ...] = ()
    seen: list[int] = field(default_factory=list, compare=False)
    hidden: int = field(default=7, kw_only=True, repr=False)


class Plain(Frozen):
    left: int


CALLS = [((1,), {}), ((1, (2,)), {}), ((), {"left": 1, "right": (2,)}), ((1,), {"hidden": 8}), ((2, (2,), [3]), {})]
WRONG_CALLS = [
    ((), {}, "Ours needs left"),
    ((), {"right": (), "hidden": 1}, "Ours needs left"),
    ((1, (), [], 4), {}, "Ours takes 3 fields by position, got 4"),
    ((1,), {"middle": 2}, "Ours has no field middle"),
    ((1,), {"left": 2, "right": ()}, "Ours is given left twice"),
    ((), {"lft": 2}, "Ours has no field lft"),
]


@pytest.mark.parametrize(("positional", "named"), CALLS)
def test_objects_are_those_of_dataclasses(positional, named):
    ours, theirs = Ours(*positional, **named), Theirs(*positional, **named)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    for other in (replace(ours, left=5), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):  # noqa: S301 - our own
        assert dataclasses.asdict(other) == dataclasses.asdict(theirs) | ({"left": 5} if other.left == 5 else {})


@pytest.mark.parametrize(("positional", "named", "said"), WRONG_CALLS)
def test_wrong_calls_are_those_of_dataclasses(positional, named, said):
    with pytest.raises(TypeError):
        Theirs(*positional, **named)
    with pytest.raises(TypeError, match=f"^{said}$"):
        Ours(*positional, **named)


def test_objects_are_equal_where_those_of_dataclasses_are():
    ours = [Ours(*positional, **named) for positional, named in CALLS]
    theirs = [Theirs(*positional, **named) for positional, named in CALLS]
    equal = [(a == b, hash(a) == hash(b)) for a in theirs for b in theirs]
    assert [(a == b, hash(a) == hash(b)) for a in ours for b in ours] == equal
    assert {same for same, _ in equal} == {True, False}
    assert ours[0] != theirs[0]
    assert Plain(1) != Plain(1)


def test_fields_are_those_of_dataclasses():
    assert [f.name for f in fields(Ours)] == [f.name for f in fields(Theirs)]
    assert Ours.__match_args__ == Theirs.__match_args__
    match Ours(1, (2, 3)):
        case Ours(left, (2, second)):
            assert (left, second) == (1, 3)


def test_a_factory_makes_a_value_for_each_object():
    assert Ours(1).seen is not Ours(1).seen


def test_nothing_can_be_changed():
    for frozen in (Ours(1), Plain(1), affine.Yield(())):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'left'"):
            frozen.left = 2
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'left'"):
            del frozen.left


def test_fields_may_be_those_of_the_module_itself():
    class Own(FrozenValue):
        left: int
        right: tuple[int, ...] = ()
        seen: list[int] = affdsl.frozen.field(default_factory=list, compare=False)
        hidden: int = affdsl.frozen.field(default=7, kw_only=True, repr=False)

    for ours in (Own(1), affdsl.frozen.replace(Own(2), left=1), replace(Own(2), left=1)):
        assert dataclasses.asdict(ours) == dataclasses.asdict(Ours(1)) == {
            f.name: getattr(ours, f.name) for f in affdsl.frozen.fields(Own)
        }  # fmt: skip
        assert repr(ours).endswith("Own(left=1, right=(), seen=[])")
    assert [(f.name, f.kw_only, f.compare) for f in fields(Own)] == [
        (f.name, f.kw_only, f.compare) for f in fields(Ours)
    ]
    assert Own(1, seen=[1]) == Own(1) != Own(1, hidden=8)


def test_subclasses_have_the_fields_of_their_base():
    class More(Ours):
        last: int = 3

    assert More(1, hidden=2) == More(1, last=3, hidden=2)
    assert More(1) != Ours(1)


def test_checks_run():
    class Even(FrozenValue):
        number: int

        def __post_init__(self):
            if self.number % 2:
                raise ValueError(f"{self.number} is odd")

    assert Even(2).number == 2
    with pytest.raises(ValueError, match="3 is odd"):
        Even(3)


def test_operations():
    i, carried = Value(INDEX, "i"), Value(F32)
    end = affine.Yield((carried,))
    loop = affine.For(i, (Affine(),), (Affine.of(8),), (end,), inits=(carried,), location=Location("f.py", 3))
    assert (loop.step, loop.carried, loop.location.line, loop.ends) == (1, (), 3, ())
    assert loop != replace(loop)
    assert repr(end) == f"Yield(values=({carried!r},))"
    assert {role: getattr(roles(affine.For), name) for role, name in
            zip(Role, ("operands", "results", "arguments", "regions", "contract"), strict=True)} == {
        Role.OPERAND: ("lower", "upper", "inits"), Role.RESULT: ("results",), Role.ARGUMENT: ("iv", "carried"),
        Role.REGION: ("body",), Role.CONTRACT: (),
    }  # fmt: skip
    with pytest.raises(TypeError, match=r"^For needs lower, upper, body$"):
        affine.For(i)


def test_types_are_equal_by_their_fields():
    assert MemRefType((4, None), F32) == MemRefType((4, None), F32, None, 0)
    assert (
        len({MemRefType((4,), F32), MemRefType((4,), F32), MemRefType((4,), F32, space=1), VectorType((4,), F32)}) == 3
    )
