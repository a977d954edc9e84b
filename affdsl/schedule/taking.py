"""How a step is taken: after what a call checks, or after values that are kept in memory, if need be; or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from affdsl.frozen import FrozenValue
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.spelling import calling
from affdsl.ir.traverse import with_fields
from affdsl.lang.source import here
from affdsl.passes.advice.alternatives import alternatives_are_wanted, with_alternative
from affdsl.passes.analysis.dependence import Witness
from affdsl.passes.analysis.relations import Alternatives
from affdsl.passes.legality.assumptions import assuming
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.schedule.history import Entry, with_gone
from affdsl.schedule.loops import names_of
from affdsl.schedule.place import Place
from affdsl.schedule.steps import carrying, taken
from affdsl.schedule.verbs import VerbCall, filled, read
from affdsl.schedule.words import called, refused


class Taking(FrozenValue):
    """How the steps of a schedule are taken.

    Attributes
    ----------
    schedule, kernel
        What these are called in messages.
    accepted
        Gives what holds of the sizes in every call of the kernel, since it is checked: it is asked where that may help.
    """

    schedule: str
    kernel: str
    accepted: Callable[[], Alternatives]

    def after(self, call: VerbCall, now: Entry) -> list[Entry]:
        """The step after another, perhaps with others before it. Raises as `_for_all` does.

        Two iterations are in the way only with sizes that a call accepts. So what each call checks is promised where
        that may help, and from then on part of the contract: whoever runs the result without this check has it there.
        Of alternatives none can be promised, but in each of them the step has to be legal.
        """
        try:
            return self._for_all(call, now)
        except IllegalTransform as error:
            cases = [assuming(now.function, case) for case in self.accepted()]
            if now.function in cases or (error.dependence is None and not error.may_be_for_sizes):
                raise
            if error.dependence is not None and alternatives_are_wanted():
                if self._is_accepted(error.witness, now.function):
                    raise
            elif len(cases) > 1:  # then it is refused in any case, and nobody reads why
                raise
            refusal = error
        found, refused = [], []
        for case in cases:
            try:
                found.append(self._for_all(call, replace(now, module=with_last(now.module, case))))
            except IllegalTransform as again:
                refused.append(again)
        if refused:  # a reason of one case alone, such as that a loop never runs twice there, explains little
            raise next((each for each in refused if each.dependence is not None or len(cases) == 1), refusal)
        if len(found) > 1:
            raise refusal
        return found[0]

    def _is_accepted(self, witness: Witness | None, function: Func) -> bool:
        """Whether a call certainly accepts the sizes of two iterations."""
        given = {} if witness is None else witness.params
        sizes = {v: given[v.hint] for v in function.args if v.hint in given}
        return any(all(sizes.keys() >= {*c.values()} and c.holds(sizes) for c in case) for case in self.accepted())

    def _for_all(self, call: VerbCall, now: Entry) -> list[Entry]:
        """A step after another for all sizes of the contract, perhaps after some that keep carried values in memory.

        Loops that the step names come first, then those inside of them. Raises IllegalTransform, in the words of the
        schedule, and ValueError for wrong numbers.
        """
        steps: list[Entry] = []
        errors: list[IllegalTransform] = []
        while True:
            before = steps[-1] if steps else now
            try:
                return [*steps, self._once(call, before)]
            except IllegalTransform as error:
                errors.append(error)
            given = {iv for iv, name in before.names.items() if name in call.texts}
            loop = carrying(before.function, call.verb, given)
            if loop is None or errors[-1].violation is not None:  # what memory keeps in order stays in order
                break
            try:
                steps.append(self._once(VerbCall("demote", (before.names[loop],)), before))
            except IllegalTransform:
                break
        if len(errors) > 1:
            last = self._refused(errors[-1], call, steps[-1], now)
            if last.alternative:
                raise last
        raise self._refused(errors[0], call, now, now)

    def _once(self, call: VerbCall, now: Entry) -> Entry:
        """A step after another. Raises as the transformation does."""
        place = Place(now.function, now.module, now.names, f"{self.schedule}.{call.text}", now.gone)
        whole = filled(place, call)
        with calling(called(now.function, now.names)):
            made = taken(now.function, now.module, read(place, whole), place.call)
        names = names_of(made.function, now.names)
        gone = with_gone(now, whole, names, made.gone)
        return Entry(whole, here(), with_last(now.module, made.function), names, gone=gone, made=made.made)

    def _refused(self, error: IllegalTransform, call: VerbCall, at: Entry, now: Entry) -> IllegalTransform:
        """The refusal of a step after `at`, with what is legal instead, in the words of the schedule as it is `now`."""
        with calling(called(at.function, at.names)):
            return refused(with_alternative(error), call, self.schedule, self.kernel, now.names)


def with_last(module: Module, function: Func) -> Module:
    """The module whose last function, the kernel, is another one."""
    old = module.functions[-1]
    return with_fields(module, body=tuple(function if op is old else op for op in module.body))
