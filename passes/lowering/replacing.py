"""Operations that a reader of MLIR does not have, in terms of those that it has: what rules for that share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

from affdsl.errors import UnsupportedError
from affdsl.ir.core import Op
from affdsl.ir.dialects import vector
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.emitter import Emitter
from affdsl.ir.expr import Value
from affdsl.ir.messages import where
from affdsl.ir.traverse import definitions, rewrite, substitute, with_fields
from affdsl.ir.types import VectorType
from affdsl.passes.lowering.expand_index_ops import expand_index_ops


def replaced(module: Module, rule_of: Callable[[Op], Rule | None]) -> Module:
    """The same program, where rules take the place of operations, and of those that rules make; None keeps one."""
    module = expand_index_ops(module)
    known = definitions(module)
    called: dict[str, Op] = {}

    def lowered(op: Op) -> Sequence[Op] | None:
        rule = rule_of(op)
        if rule is None:
            return None
        step = Step(op, known, called)
        rule(step, op)
        step.finish()
        inside = [rewrite(made, lowered) for made in step.ops]
        return tuple([each for made in inside for each in (lowered(made) or (made,))])

    made = rewrite(module, lowered)
    return with_fields(made, body=(*called.values(), *made.body)) if called else made


class Step(Emitter):
    """What takes the place of an operation: the last one gives its result."""

    def __init__(self, op: Op, known: Mapping[Value, Op], called: dict[str, Op]) -> None:
        super().__init__(op.location)
        self.op = op
        self.known = known
        self.called = called

    def by_lanes(self, op: Op, rule: Callable[[Any], None]) -> None:
        """What a rule makes of an operation for each lane; of one on scalars, what it makes of it itself."""
        (result,) = op.defines()
        if not isinstance(result.type, VectorType):
            rule(op)
            return
        lanes: list[Value] = []
        for position in product(*map(range, self.shape(result))):
            of = {v: self.lane(v, position) for v in op.reads() if isinstance(v.type, VectorType)}
            lanes.append(Value(result.type.element))
            rule(with_fields(substitute(op, of), result=lanes[-1]))
        self.emit(vector.FromElements(result, tuple(lanes)))

    def shape(self, value: Value) -> tuple[int, ...]:
        """The sizes of a vector, which must be known."""
        assert isinstance(value.type, VectorType), "the verifier has seen to that"
        if any(value.type.scalable):
            raise UnsupportedError(f"{where(self.op)}: {_LANES}")
        return value.type.shape

    def lane(self, value: Value, position: Sequence[int]) -> Value:
        assert isinstance(value.type, VectorType), "what has lanes is a vector"
        return self.made(vector.Extract, value.type.element, value, (), tuple(position))

    def finish(self) -> None:
        """Say that what the last operation made is the result, if no other one is."""
        results = tuple(self.op.defines())
        if len(results) == 1 and not any(results[0] in made.defines() for made in self.ops):
            last = self.ops[-1]
            field = {"results": results} if isinstance(last, Opaque) else {"result": results[0]}
            self.ops[-1] = with_fields(last, **field)


_LANES = "it is replaced lane by lane, and how many lanes a vector of registers of any length has is not known"

Rule: TypeAlias = "Callable[[Step, Any], None]"
"""What takes the place of an operation, as a step."""
