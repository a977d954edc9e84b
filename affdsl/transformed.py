"""Other kernels that do the same as a kernel: by passes, by recipes, for some sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, cast

from affdsl.errors import ProgramTypeError
from affdsl.frames import plain_tracebacks
from affdsl.garbage import uncollected
from affdsl.ir.dialects.func import Module
from affdsl.lang.source import problem
from affdsl.passes.pipeline.language import pipeline_for_module
from affdsl.passes.pipeline.manager import Root
from affdsl.signatures import P, R

if TYPE_CHECKING:
    from affdsl.kernel import Kernel
    from affdsl.passes.pipeline.manager import Pipeline
    from affdsl.schedule.fusing import FusedKernel
    from affdsl.signatures import Step


@plain_tracebacks("apply", "fuse", "optimize", "specialize")
class Transformed(Generic[P, R]):
    """Each of these methods gives another kernel, and this one stays as it is."""

    __slots__ = ()

    if TYPE_CHECKING:  # what a kernel has

        def _of_each(self, step: Step, *, at_once: bool = True) -> Kernel[P, R]: ...

    def apply(self, pipeline: str, *, validate: bool = False) -> Kernel[P, R]:
        """The kernel after some passes, in the language of mlir-opt; this one stays as it is.

        Parameters
        ----------
        pipeline
            Passes with their options, as `affdsl opt --pass-pipeline` takes them, or their names alone; those that run
            on functions are run on each one.
        validate
            Check that the result does what this kernel does.

        Raises
        ------
        PipelineError, PassError
            For what is no pipeline, and for a pass that refuses.
        ValidationError
            The result does something else: with the first pass at fault, and where all that shows it was saved.
        UnsupportedError
            If the passes change the arguments or the results, as `normalize-memrefs` can.

        >>> import affdsl as af
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def fill(x: af.f64[N]):
        ...     with af.for_(N) as i:
        ...         x[i] = 1.0
        >>> tiled = fill.apply("affine-loop-tile{tile-size=32},canonicalize", validate=True)
        >>> [loop.iv.hint for loop in tiled.loops()]
        ['i_tile', 'i']
        """
        if not isinstance(pipeline, str):
            raise problem(
                ProgramTypeError, f"apply takes the text of a pipeline, got {pipeline!r}", 'as in apply("cse")'
            )
        passes = pipeline_for_module(pipeline)
        return self._of_each(lambda kernel: _after(kernel, passes, validate=validate))

    def fuse(self, *, sizes: Mapping[str, int] | None = None, compute_tolerance: float = 0.3) -> FusedKernel[P, R]:
        """The kernel with its nests run as one where that is legal and pays; this one stays as it is.

        What lies between them shrinks to what is still needed: rows that roll, or nothing. Results stay the same to the
        bit, and inner loops that can run as vectors still can. Its `schedule` is Python that replays the steps, and its
        `explain()` says why it is these.

        Parameters
        ----------
        sizes
            For which sizes it is to be good, by their names: 1000 where nothing is said. It is right for all.
        compute_tolerance
            How much more may be computed where rows cannot roll: 0.3 is 30 %.

        >>> import affdsl as af
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def blur(x: af.f64[N, N], y: af.f64[N, N]):
        ...     t = af.alloc(af.f64[N, N])
        ...     with af.for_(N) as i, af.for_(1, N) as j:
        ...         t[i, j] = x[i, j] + x[i, j - 1]
        ...     with af.for_(1, N) as k, af.for_(1, N) as m:
        ...         y[k, m] = t[k, m] + t[k - 1, m]
        >>> fused = blur.fuse()
        >>> for step in fused.schedule.steps:
        ...     print(step)
        fuse("i", "k", guarded=True)
        fold("t", 0, 2)
        """
        fused: Callable[..., Kernel[Any, Any]] = import_module("affdsl.schedule.fusing").fused
        made = self._of_each(lambda kernel: fused(kernel, sizes, compute_tolerance))
        return cast("FusedKernel[P, R]", made)

    def optimize(
        self,
        target: str = "native",
        *,
        threads: int | None = None,
        contract: bool = False,
        reassociate: bool = False,
        reciprocal: bool = False,
        approximate: bool = False,
        no_nans: bool = False,
        no_signed_zeros: bool = False,
        sizes: Mapping[str, int] | None = None,
        tune: bool | Mapping[str, int] = False,
        validate: bool = False,
    ) -> Kernel[P, R]:
        """The kernel with its loops tiled, packed, on vectors and on threads, where that is legal and pays.

        Recipes choose steps that a schedule has, each of them proved legal. `schedule` of the result prints the steps
        as Python that replays them, and `explain()` says for each nest what was done, or why nothing was. Results are
        the same, bit for bit, unless something is allowed that rounds in another way.

        What was decided is kept in the cache of compiled kernels, and taken from there the next time, in this process
        or another: it is the same in all words, and takes hundredths of a second. AFFDSL_DECISIONS=0 switches that off.

        Parameters
        ----------
        target
            The vector registers: "native" for those of this machine, or the name of an instruction set, as "avx2".
        threads
            How many threads there are: by default as many as this process may use, or `affdsl.set_threads` says. 1
            leaves loops sequential.
        contract, reassociate, reciprocal, approximate
            What may round in another way, as steps of schedules have it: products and sums in one operation, sums in
            another order, factors for divisors, and polynomials for exponentials, logarithms, sines and cosines.
        no_nans, no_signed_zeros
            What minima and maxima need not care for: if an operand of `af.min` or `af.max` is NaN, the result may be
            any number; which of 0 and -0 it is does not matter. With both, they are one instruction. With the second
            alone NaN is still told; the first alone changes nothing, since zeros take as long.
        sizes
            The sizes that calls have, by name, as `{"N": 1000}`; `{}` where the kernel has none. The result is timed
            for them beside the loops as written, on arrays made for that, and these stay if they are faster. It takes
            a second, about, and is remembered in the cache.
        tune
            Time some of the numbers that recipes choose, on arrays made for that, and keep the fastest: for sizes, as
            `{"N": 1000}`, or with True for such that arrays exceed the second cache. It takes a minute at most, about;
            Ctrl-C ends it with the best so far. What came of it is remembered in the cache, and is said by
            `explain()`.
        validate
            Check that the result does what this kernel does.

        Raises
        ------
        ScheduleError
            For a target that nobody knows.
        ProgramError
            For another option that is none; if it is to be timed, and cannot be on arrays that are made for it, or not
            with these sizes.

        >>> import affdsl as af
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def axpy(a: af.f64, x: af.f64[N], y: af.f64[N]):
        ...     with af.for_(N) as i:
        ...         y[i] += a * x[i]
        >>> fast = axpy.optimize("avx2")
        >>> "i runs on vectors of 4" in fast.explain()
        True
        """
        if target == "native":
            import_module("affdsl.codegen.ahead").begin()
        with uncollected():
            found: Callable[..., Step] = import_module("affdsl.optimize.optimized").optimizing
        step = found(
            target,
            threads,
            contract=contract,
            reassociate=reassociate,
            reciprocal=reciprocal,
            approximate=approximate,
            no_nans=no_nans,
            no_signed_zeros=no_signed_zeros,
            sizes=sizes,
            tune=tune,
            validate=validate,
        )
        return self._of_each(step, at_once=False)

    def specialize(self, /, **sizes: int) -> Kernel[P, R]:
        """The kernel for some of its sizes: `specialize(N=1000)` has 1000 wherever this one has N.

        Its C has constants, so that compilers know how often loops run, and a call with another size is refused. It may
        be specialized before it is scheduled or optimized, or afterwards: `schedule` and `explain()` are then those of
        the kernel for all sizes.

        Raises
        ------
        ProgramError
            If there is no such size, or the kernel has a promise or an array for which the number is impossible.

        >>> import affdsl as af, numpy as np
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def fill(x: af.f64[N]):
        ...     with af.for_(N) as i:
        ...         x[i] = 1.0
        >>> thousand = fill.specialize(N=1000)
        >>> "i < 1000" in thousand.c()
        True
        >>> thousand(np.zeros(5))
        Traceback (most recent call last):
        affdsl.SizeError: fill: dimension 0 of argument 'x' must be 1000, got 5
        """
        return self._of_each(lambda kernel: kernel._specialized(sizes)) if sizes else cast("Kernel[P, R]", self)


def _after(kernel: Kernel[P, R], passes: Pipeline, *, validate: bool) -> Kernel[P, R]:
    """A kernel after some passes."""
    if validate:
        # Few kernels are validated, and start-up need not wait for what that takes.
        validated: Callable[..., tuple[Root, object]] = import_module("affdsl.passes.validation.pipeline").run_validated
        made, _ = validated(passes, kernel.module)
    else:
        made = passes.run(kernel.module)
    assert isinstance(made, Module), "a pass makes a module of a module"
    return kernel.with_module(made)
