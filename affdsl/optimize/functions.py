"""The pass `affdsl-optimize`: functions of MLIR text made fast by the recipes that `Kernel.optimize` takes."""

from __future__ import annotations

from types import FunctionType

from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Term, Value
from affdsl.ir.messages import nearest
from affdsl.ir.traverse import map_blocks, substitute, with_fields
from affdsl.kernel import Kernel
from affdsl.lang.trace import Program
from affdsl.optimize.optimizer import chosen
from affdsl.optimize.options import Options, available_threads, targets
from affdsl.passes.analysis.relations import Alternatives
from affdsl.passes.cleanup.raise_scf_to_affine import raise_scf_to_affine
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.schedule.schedule import Schedule, require_verified, verified_last


def affdsl_optimize(
    module: Module,
    *,
    target: str = "native",
    threads: int = 0,
    contract: bool = False,
    reassociate: bool = False,
    reciprocal: bool = False,
    approximate: bool = False,
    no_nans: bool = False,
    no_signed_zeros: bool = False,
    context: Module | None = None,
) -> Module:
    """The same program with the loops of each function tiled, packed, on vectors and on threads, where that pays.

    Loops and accesses of scf and memref that are affine are raised first, by `raise_scf_to_affine`.

    Parameters
    ----------
    target
        The vector registers: "native" for those of this machine, or the name of an instruction set.
    threads
        How many threads there are; 0 is as many as this process may use, and 1 leaves loops sequential.
    contract, reassociate, reciprocal, approximate, no_nans, no_signed_zeros
        What may come out in another way, as `Kernel.optimize` takes it.
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.

    Raises
    ------
    OptionError
        For a target that nobody knows.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''func.func @f(%A: memref<6400xf32>, %x: f32) {
    ...     affine.for %i = 0 to 6400 { affine.store %x, %A[%i] : memref<6400xf32> }
    ...     return
    ... }''')
    >>> "vector<8xf32>" in str(affdsl_optimize(module, target="avx2", threads=1))
    True
    """
    known = targets()
    if target not in known:
        listed = f"it is one of {', '.join(known)}{nearest(target, [*known])}"
        raise OptionError(f"affdsl-optimize: option target '{target}' is unknown; {listed}")
    allowed = (contract, reassociate, reciprocal, approximate, no_nans, no_signed_zeros)
    options = Options(known[target], threads or available_threads(), *allowed)
    around = module if context is None else context
    raised = {f.symbol: f for f in raise_scf_to_affine(module).functions}
    body = tuple(
        optimized(op, around, options, raised[op.symbol]) if isinstance(op, Func) else op for op in module.body
    )
    return map_blocks(module, lambda _: body)


def optimized(function: Func, module: Module, options: Options, raised: Func | None = None) -> Func:
    """A function of a module as recipes make it; itself where none fits, or where it has no body.

    `raised` is the same function with affine loops in the place of others.
    """
    if function.external:
        return function
    made = _named(function if raised is None else raised)
    around = with_fields(module, body=tuple(made if op is function else op for op in module.body))
    schedule, _ = chosen(verified_last(Schedule(_Given(made, around))), options)
    require_verified(schedule)
    return schedule.function if schedule.steps else function


def _named(function: Func) -> Func:
    """The function with names for the arguments that have none: those that they are printed with."""
    new: dict[Value, Term] = {
        v: Value(v.type, f"arg{k}", v.location) for k, v in enumerate(function.args) if not v.hint
    }
    return with_fields(substitute(function, new), args=tuple(new.get(v, v) for v in function.args))


class _Given(Kernel):
    """A function of a module as schedules take kernels: nothing calls it from Python."""

    def __init__(self, function: Func, module: Module) -> None:
        program = Program(function, (), (), (), frozenset())
        super().__init__(FunctionType(_nothing.__code__, {}, function.symbol), {}, program=program)
        self._around = module

    @property
    def _accepted(self) -> Alternatives:
        """Nothing is checked of calls that nobody sees."""
        return ((),)

    @property
    def module(self) -> Module:
        """What stands around the function, which comes last, as schedules want it."""
        others = (op for op in self._around.body if op is not self.func)
        made: Module = with_fields(self._around, body=(*others, self.func))
        return made


def _nothing() -> None:
    """What a function of a module is in Python, from where nobody calls it."""
