"""What could be tried next: each a kernel that can be built, with what a user would write for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from affdsl.codegen.native import native_target
from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.types import F32, F64, FloatType, MemRefType
from affdsl.kernel import Kernel
from affdsl.optimize.options import available_threads
from affdsl.passes.advice.causes import Cause
from affdsl.report.loops import is_parallel, loops_of
from affdsl.report.rewrites import NARROW, WIDE, Convert, ignoring_nan, of_other_type, selecting, transposed
from affdsl.report.verdicts import Verdict
from affdsl.seeing.loop_names import Loop

PERMISSION = {"sum": "reassociate", "division": "reciprocal", "function": "approximate", "product": "contract"}
"""What has to be allowed for a cause to go."""
_COSTS = {
    "reassociate": "Sums are made in another order, and may differ in their last bits.",
    "reciprocal": "Quotients are products with a reciprocal, and may differ in the last bit.",
    "approximate": "Functions as exp and sin are polynomials, at most 1.5 units in the last place off (some 3).",
    "contract": "A product and a sum round once instead of twice.",
}


class Made(Frozen):
    """A kernel, and how its arguments are made of those of the one that the report is about."""

    kernel: Kernel
    convert: Convert | None = None


class Try(Frozen):
    """One thing to try.

    Attributes
    ----------
    kind
        "optimize", "permission", "fuse", "threads", "rewrite", "type" or "layout".
    code
        What the user would write: exactly that is timed.
    why
        What it does, and what it costs.
    make
        Builds it; None where that is not possible.
    causes
        What would be gone.
    """

    kind: str
    title: str
    code: str
    why: str
    make: Callable[[], Made | None]
    causes: tuple[Cause, ...] = ()


def allowed(kernel: Kernel) -> dict[str, bool]:
    """What may round in another way in a kernel, as the steps of its schedule say."""
    schedule = kernel.schedule
    found: set[str] = set()
    for step in schedule.steps if schedule is not None else ():
        found |= {"reassociate"} if dict(step.call.options).get("reassociate") is True else set()
        found |= {step.call.verb} & {*PERMISSION.values()}
    return dict.fromkeys(sorted(found), True)


def threads_of(kernel: Kernel) -> int:
    """How many threads a kernel was made for: of one as it was written, as many as there are."""
    on_threads = any(map(is_parallel, loops_of(kernel.module)))
    return available_threads() if on_threads or not kernel.is_derived else 1


def tries(kernel: Kernel, said: Sequence[Verdict]) -> list[Try]:
    """What could be tried for a kernel, those things first that are most likely to gain."""
    return [*_Tries(kernel, said).all()]


class _Form(FrozenValue):
    """What may be written for `af.min` and `af.max`."""

    name: str
    code: str
    costs: str
    rewrite: Callable[[Kernel], Kernel | None]


_FORMS = (
    _Form(
        "af.select",
        "af.select(a < b, a, b), af.select(a > b, a, b)",
        "Which NaN, or which zero, comes out depends on the order of the two.",
        selecting,
    ),
    _Form(
        "af.fmin and af.fmax",
        "af.fmin(a, b), af.fmax(a, b)",
        "Of a number and NaN they give the number.",
        ignoring_nan,
    ),
)


class _Tries:
    """A kernel, what is in its way, and with which options it was optimized."""

    def __init__(self, kernel: Kernel, said: Sequence[Verdict]) -> None:
        self.kernel, self.written, self.name = kernel, kernel.written, kernel.name
        self.found: dict[str, list[Cause]] = {}
        for verdict in said:
            for cause in verdict.causes:
                self.found.setdefault(cause.kind, []).append(cause)
        self.allowed, self.threads = allowed(kernel), threads_of(kernel)

    def all(self) -> Iterator[Try]:
        """All of them."""
        if not self.kernel._notes:
            yield self._optimize()
        yield from self._permissions()
        yield from self._fused()
        yield from self._rewrites()
        yield from self._layouts()
        yield from self._types()
        yield from self._threads()

    def _spelled(self, **more: object) -> str:
        """The options of `optimize` as they are written; threads only where they are not what it takes by itself."""
        options: dict[str, object] = {**self.allowed, **more}
        if self.threads != available_threads():
            options = {"threads": self.threads, **options}
        return ", ".join(f"{name}={value}" for name, value in options.items())

    def _optimized(self, of: Kernel, **more: object) -> Kernel:
        options: dict[str, object] = {"threads": self.threads, **self.allowed, **more}
        made: Kernel = of.optimize(**options)  # type: ignore[arg-type]
        return made

    def _optimize(self) -> Try:
        gone = [c for kind in ("clamp", "columns", "sum", "wrapped") for c in self.found.get(kind, ())]
        why = "Loops are put on vectors and threads, and into tiles, where that is legal and pays; not a bit changes."
        if "clamp" in self.found:
            why += " It splits the loop where the clamp begins and ends, so that most iterations have none."
        if "columns" in self.found:
            why += " It runs loops in an order, or in blocks, in which lines of memory are used as a whole."
        return Try(
            "optimize",
            "optimize()" if not self.kernel.is_derived else "optimize() instead of these steps",
            f"fast = {self.name}.optimize({self._spelled()})",
            why,
            lambda: Made(self._optimized(self.written)),
            tuple(gone),
        )

    def _fused(self) -> Iterator[Try]:
        if sum(isinstance(op, Loop) for op in self.written.func.body) < 2:
            return

        def make() -> Made | None:
            fused = self.written.fuse()
            return None if fused.module is self.written.module else Made(self._optimized(fused))

        yield Try(
            "fuse",
            "fuse() first",
            f"fast = {self.name}.fuse().optimize({self._spelled()})",
            "Nests that read what others have made run as one, where that is legal: less is kept and moved in between. "
            "Not a bit changes.",
            make,
        )

    def _permissions(self) -> Iterator[Try]:
        useful = [p for kind, p in PERMISSION.items() if kind in self.found and p not in self.allowed]
        if not native_target().has_fma:
            useful = [p for p in useful if p != "contract"]
        kinds = {p: kind for kind, p in PERMISSION.items()}
        for p in useful:
            yield self._permission((p,), f"allow {p}", self.found[kinds[p]])
        if len(useful) > 1:
            yield self._permission(useful, "allow all of these", [c for p in useful for c in self.found[kinds[p]]])

    def _permission(self, names: Sequence[str], title: str, of: Sequence[Cause]) -> Try:
        more: Mapping[str, object] = dict.fromkeys(names, True)
        what = ", ".join(dict.fromkeys(cause.what for cause in of))
        return Try(
            "permission",
            f"{title}: {', '.join(names)}" if len(names) > 1 else title,
            f"fast = {self.name}.optimize({self._spelled(**more)})",
            f"In the way is {what}. {' '.join(_COSTS[name] for name in names)}",
            lambda: Made(self._optimized(self.written, **more)),
            tuple(of),
        )

    def _rewrites(self) -> Iterator[Try]:
        of = self.found.get("extreme", [])
        for form in _FORMS if of else ():
            yield self._rewrite(form, of, optimized=True)
            if not self.kernel.is_derived:
                yield self._rewrite(form, of, optimized=False)

    def _rewrite(self, form: _Form, of: Sequence[Cause], *, optimized: bool) -> Try:
        def make() -> Made | None:
            made = form.rewrite(self.written)
            return self._of(made) if optimized or made is None else Made(made)

        then = f"\nfast = {self.name}.optimize({self._spelled()})" if optimized else ""
        return Try(
            "rewrite",
            f"{form.name} instead of af.min and af.max{'' if optimized else ', loops as written'}",
            f"{form.code}   # instead of af.min(a, b), af.max(a, b){then}",
            f"af.min and af.max tell NaN and -0 apart, which takes several instructions. {form.costs}",
            make,
            tuple(of),
        )

    def _of(self, made: Kernel | None, convert: Convert | None = None) -> Made | None:
        return None if made is None else Made(self._optimized(made), convert)

    def _layouts(self) -> Iterator[Try]:
        of = self.found.get("columns", [])
        for name in dict.fromkeys(cause.array for cause in of):
            yield Try(
                "layout",
                f"keep {name} transposed",
                f"{name}[j, i]   # instead of {name}[i, j], and of the other shape\n"
                f"fast = {self.name}.optimize({self._spelled()})",
                f"An inner loop goes down the columns of {name}. Where {name} can be made transposed, its elements are "
                "neighbours.",
                partial(self._transposed, name),
                tuple(cause for cause in of if cause.array == name),
            )

    def _transposed(self, name: str) -> Made | None:
        return self._turned(transposed(self.written, name))

    def _turned(self, made: tuple[Kernel, Convert] | None) -> Made | None:
        return None if made is None else self._of(*made)

    def _types(self) -> Iterator[Try]:
        of = self.found.get("mixed", [])
        types = {v.type.element for v in self.written.func.args if isinstance(v.type, MemRefType)}
        if F64 in types or of:
            yield self._type(
                NARROW, "f32", of, "Half the bytes move, and vectors have twice as many lanes; numbers have 24 bits."
            )
        if of and F32 in types:
            yield self._type(
                WIDE, "f64", of, "Nothing is converted any more; twice the bytes move where numbers were f32."
            )

    def _type(self, types: Mapping[FloatType, FloatType], name: str, of: Sequence[Cause], costs: str) -> Try:
        return Try(
            "type",
            f"only af.{name}" if of else f"af.{name} instead of af.f64",
            f"af.{name}[...]   # for all arrays and numbers of floats\nfast = {self.name}.optimize({self._spelled()})",
            f"{'Two types are mixed, and converted. ' if of else ''}{costs}",
            lambda: self._turned(of_other_type(self.written, types)),
            tuple(of),
        )

    def _threads(self) -> Iterator[Try]:
        most = available_threads()
        other = 1 if self.threads > 1 else most
        if other == self.threads or (self.kernel.is_derived and most == 1):
            return
        yield Try(
            "threads",
            "one thread" if other == 1 else f"{other} threads",
            f"fast = {self.name}.optimize({', '.join([f'threads={other}', *(f'{p}=True' for p in self.allowed)])})",
            "Threads take time to begin, and share caches and the memory: small calls run faster on one."
            if other == 1
            else "Outermost loops whose iterations may run in any order are shared.",
            lambda: Made(self._optimized(self.written, threads=other)),
        )
