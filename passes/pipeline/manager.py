"""Pipelines of passes as data, and what runs them with the verifier in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias

from affdsl.errors import AffdslError, VerificationError, public
from affdsl.frozen import FrozenValue, field
from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.traverse import OpT, map_blocks, with_fields
from affdsl.ir.verifier import verify
from affdsl.passes.mlir_opt.options import OptionValue, print_options
from affdsl.passes.mlir_opt.remarks import Remarks
from affdsl.passes.pipeline.registry import Pass

Root: TypeAlias = Module | Func
AnchorName: TypeAlias = str
OPAQUE_ANCHORS = ("gpu.module", "gpu.func", "llvm.func", "spirv.module", "spirv.func", "emitc.func", "ml_program.func")
"""Operations of other dialects that passes can run on: nothing inside refers to a value outside."""
ANCHORS: tuple[AnchorName, ...] = ("builtin.module", "func.func", "any", *OPAQUE_ANCHORS)

_NONE: Iterator[Remarks] = iter(())


@public
class PipelineError(AffdslError):
    """A pipeline that cannot be read, or that is not for what it was given.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def chain(x: af.f64[N]):
    ...     with af.for_(1, N) as i:
    ...         x[i] = x[i - 1]
    >>> try:
    ...     chain.apply("csee")
    ... except af.PipelineError as error:
    ...     print("'csee' does not refer to a registered pass" in str(error))
    True
    """


@public
class PassError(AffdslError):
    """A pass refused what it was given, or made IR that breaks a rule; the cause is the error itself.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def chain(x: af.f64[N]):
    ...     with af.for_(1, N) as i:
    ...         x[i] = x[i - 1]
    >>> try:
    ...     chain.apply("affine-loop-tile{tile-sizes=x}")
    ... except af.PassError as error:
    ...     print(str(error)[:31])
    pass 'affine-loop-tile' failed:
    """

    def __init__(self, step: PassStep, why: str) -> None:
        super().__init__(f"pass '{step.name}' {why}")
        self.step = step


class PassStep(FrozenValue):
    """A pass with values for all of its options."""

    row: Pass
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What pipelines call it."""
        return self.row.name

    def __str__(self) -> str:
        return f"{self.name}{print_options(self.row.options, self.options)}"


class Event(FrozenValue):
    """What an observer is told: a pass is about to run on `op`, says something of it, has run and made `op`, or failed.

    `root()` is the whole that `op` is part of, as it is at this moment. `remarks` is what is said; only who takes all
    of it lets the analysis run.
    """

    when: Literal["before", "says", "after", "failed"]
    step: PassStep
    op: Root
    root: Callable[[], Root]
    remarks: Iterator[Remarks] = _NONE


Observer: TypeAlias = Callable[[Event], None]
Place: TypeAlias = Callable[[Root], Root]


class Pipeline(FrozenValue):
    """Passes in order, and pipelines for the operations inside, below an anchor: the operation that they run on."""

    anchor: AnchorName
    items: tuple[PassStep | Pipeline, ...] = ()

    def __str__(self) -> str:
        """One line that `parse_pipeline` reads."""
        return f"{self.anchor}({','.join(map(str, self.items))})"

    def run(self, root: Root, *, observe: Observer | None = None, verify_each: bool = True) -> Root:
        """root after all passes, in order; passes below `func.func` run on each function before the next function.

        Parameters
        ----------
        observe
            Told before and after each pass.
        verify_each
            Check what each pass made; root itself must be right.

        Raises
        ------
        PipelineError
            The anchor is not that of root.
        PassError
            A pass refused its input or made IR that breaks a rule.
        """
        if self.anchor not in ("any", root.name):
            raise PipelineError(f"can't run '{self.anchor}' pass manager on '{root.name}' op")
        return _run(self, root, lambda whole: whole, observe, verify_each)


def steps_of(pipeline: Pipeline) -> Iterator[PassStep]:
    """The passes of a pipeline and of those inside, in order."""
    for item in pipeline.items:
        if isinstance(item, PassStep):
            yield item
        else:
            yield from steps_of(item)


def _run(pipeline: Pipeline, op: Root, place: Place, observe: Observer | None, verify_each: bool) -> Root:
    for group in _groups(pipeline):
        if isinstance(group, PassStep):
            op = _apply(group, op, place, observe, verify_each)
        elif isinstance(op, Module):
            op = _inside(group, op, place, observe, verify_each)
    return op


def _run_on_opaque(pipeline: Pipeline, op: Opaque, place: Callable[[Op], Root], observe: Observer | None) -> Opaque:
    """An opaque operation after all passes, each of which sees it alone in a module.

    What a pass makes of it is checked with all around it, by who runs the pipeline that holds this one.
    """
    for group in _groups(pipeline):
        if isinstance(group, PassStep):
            made = _apply(group, Module((op,)), lambda alone: place(_only(alone)), observe, verify_each=False)
            op = _only(made)
            continue
        for child in tuple(_children(op)):
            whole = op

            def within(inner: Op, whole: Opaque = whole, child: Op = child) -> Root:
                return place(_with(whole, child, inner))

            op = _with(whole, child, _run_all(group, child, within, observe, verify_each=False))
    return op


def _run_all(
    pipelines: list[Pipeline], op: Op, place: Callable[[Op], Root], observe: Observer | None, verify_each: bool
) -> Op:
    """An operation inside another after those of some pipelines that are for it."""
    for pipeline in pipelines:
        name = op.kind if isinstance(op, Opaque) else op.name
        if name not in ANCHORS or pipeline.anchor not in ("any", name) or not _can_run(pipeline, op):
            continue
        match op:
            case Module() | Func():
                op = _run(pipeline, op, place, observe, verify_each)
            case Opaque() if name in OPAQUE_ANCHORS:
                op = _run_on_opaque(pipeline, op, place, observe)
            case _:  # a function of several blocks stays as it is
                pass
    return op


def _only(alone: Root) -> Opaque:
    (op,) = alone.body
    assert isinstance(op, Opaque), "no pass makes something else of an opaque operation"
    return op


def _children(op: Op) -> Iterator[Op]:
    """The operations in the blocks of an opaque one."""
    for block in op.blocks():
        for inner in block:
            if isinstance(inner, OpaqueRegion | OpaqueBlock):
                yield from _children(inner)
            else:
                yield inner


def _with(op: OpT, child: Op, new: Op) -> OpT:
    """An opaque operation with another one in the place of one in its blocks."""
    if new is child:
        return op

    def replaced(inner: Op) -> Op:
        if inner is child:
            return new
        return _with(inner, child, new) if isinstance(inner, OpaqueRegion | OpaqueBlock) else inner

    return map_blocks(op, lambda block: tuple([replaced(inner) for inner in block]))


def _groups(pipeline: Pipeline) -> Iterator[PassStep | list[Pipeline]]:
    """Passes one by one; nested pipelines that follow each other together, since they take each operation in turn."""
    together: list[Pipeline] = []
    for item in pipeline.items:
        if isinstance(item, Pipeline) and all(item.anchor != "any" != p.anchor for p in together):
            together.append(item)
            continue
        if together:
            yield together
        together = [item] if isinstance(item, Pipeline) else []
        if isinstance(item, PassStep):
            yield item
    if together:
        yield together


def _inside(pipelines: list[Pipeline], module: Module, place: Place, observe: Observer | None, check: bool) -> Module:
    body: tuple[Op, ...] = module.body
    for position, op in enumerate(module.body):
        if not isinstance(op, Module | Func | Opaque):
            continue

        def within(inner: Op, body: tuple[Op, ...] = body, position: int = position) -> Root:
            return place(with_fields(module, body=(*body[:position], inner, *body[position + 1 :])))

        new = _run_all(pipelines, op, within, observe, check)
        if new is not op:
            body = (*body[:position], new, *body[position + 1 :])
            if check and isinstance(op, Opaque):
                verify(place(with_fields(module, body=body)))
    return with_fields(module, body=body) if body is not module.body else module


def _can_run(pipeline: Pipeline, op: Op) -> bool:
    """Whether all passes of a pipeline can run on an operation: those below `any` take it or leave it."""
    match op:
        case Func():
            wrong: tuple[str, ...] = ("module",)
        case Module():
            wrong = ("func", "function interface")
        case _:
            wrong = ("func", "module", "symbol table")
    return not any(isinstance(item, PassStep) and item.row.anchor in wrong for item in pipeline.items)


def _apply(step: PassStep, op: Root, place: Place, observe: Observer | None, verify_each: bool) -> Root:
    def tell(when: Literal["before", "says", "after", "failed"], at: Root, remarks: Iterator[Remarks] = _NONE) -> None:
        if observe is not None:
            observe(Event(when, step, at, lambda: place(at), remarks))

    tell("before", op)
    try:
        if step.row.says is not None:
            tell("says", op, step.row.says(module_of(op), module_of(place(op)), **_keywords(step)))
        new = _called(step, op, place)
    except AffdslError as error:
        tell("failed", op)
        raise PassError(step, f"failed: {error}") from error
    if verify_each and new is not op:  # what the pass was given has been verified
        try:
            verify(new)
        except VerificationError as error:
            tell("failed", new)
            raise PassError(step, "made IR that breaks a rule") from error
    tell("after", new)
    return new


def explained(event: Event) -> Iterator[str]:
    """How the pass that is about to run comes to what it does, where it can say so: asked of what it is given."""
    explains = event.step.row.explains
    if explains is None or event.when != "before":
        return iter(())
    return explains(module_of(event.op), **_keywords(event.step), context=module_of(event.root()))


def printed(event: Event) -> Iterator[str]:
    """The lines that the pass which is about to run prints of what it is given."""
    prints = event.step.row.prints
    return prints(module_of(event.op)) if prints is not None and event.when == "before" else iter(())


def _keywords(step: PassStep) -> dict[str, object]:
    """The options of a pass, as its function calls them."""
    return {o.keyword: step.options[o.name] for o in step.row.options if not o.fixed}


def _called(step: PassStep, op: Root, place: Place) -> Root:
    keywords = _keywords(step)
    if isinstance(op, Module):
        return step.row.run(op, **keywords)
    if step.row.sees_around:
        keywords["context"] = module_of(place(op))
    if step.row.anchor == "symbol table":
        raise AffdslError(f"it needs a symbol table, which @{op.symbol} does not define; run it on the module")
    made = step.row.run(module_of(op), **keywords)
    if len(made.body) != 1 or not isinstance(made.body[0], Func):
        raise AffdslError(f"made {len(made.body)} operations of one function")
    return made.body[0]


def module_of(root: Root) -> Module:
    """A module, or one of a function alone."""
    return root if isinstance(root, Module) else Module((root,))
