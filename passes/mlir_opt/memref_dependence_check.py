"""Every dependence between the affine loads and stores of a module, in the words of mlir-opt's test pass.

The form is that of mlir-opt, `dependence from 0 to 1 at depth 2 = [0, 0][1, 7]`; the answers are exact, and ours.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.access import Access, met
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.mlir_opt.remarks import Remarks

Answers = tuple[str, ...]
"""For each depth what is said of a pair of accesses."""
NONE: Answers = ("false",)
"""What is said of two accesses that have no loop in common, as most have not, nor an element."""


def memref_dependence_check(module: func.Module, context: func.Module | None = None) -> Iterator[Remarks]:
    """For each affine.load and affine.store, by the order of the text, on which ones a dependence leads from it.

    Accesses are numbered through the module, in all of its functions. There is a remark for each pair and each depth,
    from 1 to one more than the number of loops around both: `false`, or the ends of each distance, or `true` at the
    last depth. Two loads do not depend, nor do accesses in different functions. `context` is the module around, whose
    calls show which arguments are one buffer. What mlir-opt does otherwise:

    * It takes two memrefs for two buffers; here views are traced to the buffer below them.
    * It knows the loops of the affine dialect only; here all that repeats a block counts, with a depth of its own.
    * Where an answer is not known it says `dependence check failed`, an error; here that is a dependence like others,
      and a warning says why.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<100xf32>, %x: f32) {
    ...   affine.for %i = 2 to 100 {
    ...     %a = affine.load %A[%i - 2] : memref<100xf32>
    ...     affine.store %a, %A[%i] : memref<100xf32>
    ...   }
    ...   return
    ... }''')
    >>> for remarks in memref_dependence_check(module):
    ...     print(*[m for m in remarks.messages if "false" not in m])
    <BLANKLINE>
    dependence from 1 to 0 at depth 1 = [2, 2]
    """
    ops = [op for op in walk(module) if isinstance(op, affine.Load | affine.Store)]
    functions = [
        _Function(f, module if context is None else context)
        for f in walk(module)
        if isinstance(f, func.Func) and not f.external
    ]
    sides = {op: side for function in functions for op, side in function.sides.items()}
    sinks = [sides.get(op) for op in ops]
    none = [f"{other} at depth 1 = false" for other in range(len(sinks))]
    for number, (op, source) in enumerate(zip(ops, sinks, strict=True)):
        yield from _from(number, op, source, sinks, none)


def _from(
    number: int, op: Op, source: _Side | None, sinks: Sequence[_Side | None], none: Sequence[str]
) -> Iterator[Remarks]:
    """What is said of one source, and why there may be less to it; `none` is what is said of most sinks."""
    said: list[str] = []
    start = f"dependence from {number} to "
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AnalysisWarning)
        for other, sink in enumerate(sinks):
            answers = _answers(source, sink)
            if answers is NONE:
                said.append(start + none[other])
            else:
                said += [f"{start}{other} at depth {depth} = {answer}" for depth, answer in enumerate(answers, 1)]
    yield Remarks(op, "remark", tuple(said))
    reasons = [str(warning.message) for warning in caught]
    reasons += ["it stands outside of all functions"] if source is None else source.access.unknown
    if reasons:
        why = "; ".join(dict.fromkeys(reasons))
        yield Remarks(op, "warning", (f"'{op_name(op)}' op may have fewer dependences than are listed: {why}",))


@dataclass(frozen=True, eq=False, slots=True)
class _Side:
    """What the answers about an access depend on."""

    function: _Function
    access: Access
    order: int
    is_read: bool
    buffer: Buffer
    outermost: Value | None
    near: frozenset[Buffer]
    """The buffers that may have an element in common with its own."""


class _Function:
    """The accesses of one function, and the answers about them that are known."""

    def __init__(self, function: func.Func, module: func.Module) -> None:
        self.dependences = dependences = Dependences(function, module)
        self.known: dict[object, Answers] = {}
        storage = dependences.accesses.storage
        near = {b: frozenset(c for c in storage.buffers if storage.may_alias(b, c)) for b in storage.buffers}
        self.sides = {
            a.op: _Side(self, a, a.order, a.kind == "read", a.buffer, next(iter(a.ivs), None), near[a.buffer])
            for a in dependences.compared
            if isinstance(a.op, affine.Load | affine.Store)
        }


def _answers(source: _Side | None, sink: _Side | None) -> Answers:
    """For each depth what is said of two accesses: there are many pairs, most of which are alike."""
    if source is None or sink is None:
        return ("true",) if source is sink else NONE
    function = source.function
    if function is not sink.function:
        return NONE
    if source.outermost is not sink.outermost or source.outermost is None:
        depths = 1
        if sink.order <= source.order:
            return NONE
    else:
        depths = function.dependences.common(source.access, sink.access) + 1
    if (source.is_read and sink.is_read) or sink.buffer not in source.near:
        return NONE if depths == 1 else ("false",) * depths
    if source.buffer is not sink.buffer:
        return _asked(source, sink, depths)[0]
    first, second = met(source.access, sink.access)
    question = (first.relation, second.relation, depths, source.order < sink.order)
    known = function.known.get(question)
    if known is not None:
        return known
    answers, is_certain = _asked(source, sink, depths)
    if is_certain:  # else each source has a warning of its own
        function.known[question] = answers
    return answers


def _asked(source: _Side, sink: _Side, depths: int) -> tuple[Answers, bool]:
    """For each depth what is said of two accesses, and whether all that is certain."""
    answers, is_certain = [], True
    for depth in range(1, depths + 1):
        found = source.function.dependences.at(source.access, sink.access, depth)
        if found is None:
            answers.append("false")
            continue
        is_certain &= found.is_exact
        answers.append("true" if depth == depths else "".join(map(str, found.distances)))
    return tuple(answers), is_certain
