"""Asks for a step as a schedule does: a refusal says what is legal instead."""

from affdsl.ir.dialects import func
from affdsl.passes.advice.alternatives import with_alternative
from affdsl.passes.advice.verbs import done
from affdsl.passes.legality.proposals import Argument, Request, Step
from affdsl.passes.legality.refusal import IllegalTransform


def asked(
    verb: str, function: func.Func, *arguments: Argument, module: func.Module | None = None, **options: Argument
) -> func.Func:
    """The function after a step. Raises IllegalTransform with the alternative."""
    return taken(Step(verb, arguments, tuple(options.items())), function, module)


def taken(step: Step, function: func.Func, module: func.Module | None = None) -> func.Func:
    """The function after a step. Raises IllegalTransform with the alternative."""
    try:
        return done(Request(step, function, module))
    except IllegalTransform as error:
        raise with_alternative(error) from None
