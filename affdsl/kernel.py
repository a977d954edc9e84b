"""What a user holds in the hand: a kernel to call, to print as MLIR, and to ship as C."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial, update_wrapper
from importlib import import_module
from textwrap import indent
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Unpack, cast, overload

import affdsl.mlir  # str() of IR is MLIR from here on
from affdsl.codegen.arguments import on_numpy
from affdsl.codegen.caller import Caller, Turned
from affdsl.codegen.jit import compile_program, interpret_program
from affdsl.codegen.native import native_target as native_target
from affdsl.codegen.needed import needed_by
from affdsl.errors import ProgramError, ProgramIndexError, ProgramTypeError
from affdsl.explained import Explained, Note
from affdsl.frames import plain_traceback, plain_tracebacks
from affdsl.garbage import uncollected
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.traverse import with_fields
from affdsl.lang import result_names
from affdsl.lang.annotations import OpenParameter, Parameter, defaulted
from affdsl.lang.builder import active
from affdsl.lang.calls import call, is_traced
from affdsl.lang.derived import derived
from affdsl.lang.source import problem, user_frame
from affdsl.lang.trace import Program, made_parameters, parameters_of, trace
from affdsl.lang.type_variables import Types
from affdsl.owners import OfOwners
from affdsl.passes.analysis.bounds import Bounds
from affdsl.passes.analysis.bounds.apart import ApartDemands
from affdsl.passes.analysis.relations import Alternatives
from affdsl.passes.pipeline.language import pipeline_for_module
from affdsl.passes.pipeline.manager import Root
from affdsl.printed import Printed
from affdsl.questions import Questions
from affdsl.signatures import Decorator, P, Q, R

dir(affdsl)  # it knows its names from here on: affdsl.kernel stays the decorator, and does not become this module

if TYPE_CHECKING:
    from affdsl.lang import annotated
    from affdsl.lang.specialized import Specialization
    from affdsl.passes.pipeline.manager import Pipeline
    from affdsl.schedule.fusing import FusedKernel
    from affdsl.schedule.schedule import Schedule
    from affdsl.signatures import Asked, Computed, Numbers, Options, Step


@overload
def kernel(function: Callable[Q, None], /, **options: Unpack[Options]) -> Kernel[Q, None]: ...
@overload
def kernel(function: Callable[Q, Computed], /, **options: Unpack[Options]) -> Kernel[Q, float]: ...
@overload
def kernel(function: Callable[Q, annotated.Array], /, **options: Unpack[Options]) -> Kernel[Q, Numbers]: ...
@overload
def kernel(function: Callable[Q, tuple[object, ...]], /, **options: Unpack[Options]) -> Kernel[Q, tuple[Any, ...]]: ...
@overload
def kernel(**options: Unpack[Options]) -> Decorator: ...
def kernel(
    function: Callable[..., object] | None = None,
    /,
    *,
    boundscheck: bool = False,
    contract: bool = False,
    reciprocal: bool = False,
    approximate: bool = False,
    results: str = "",
) -> Kernel | Decorator:
    """Make a kernel of a Python function: its body runs once, now, and builds the loops.

    Every argument is annotated: `affdsl.f32[M, N]` an array, `affdsl.f32` a number, `affdsl.index` or a symbol a size.
    The kernel is called with NumPy arrays, which it changes in place; it may return arrays that it allocates, and
    numbers. A number or a size may have a default, as in `steps: affdsl.index = 10`. It may be a function anywhere, or
    a method: then it is built for each object, when first used. With arguments of several types, as `affdsl.dtypes` and
    `affdsl.f32[N] | affdsl.f64[N]` say, or of any rank, `affdsl.f32[...]`, it is a `Family` of kernels.

    Parameters
    ----------
    function
        What stands below `@affdsl.kernel`: a function defined with def, of arguments that have an order.
    boundscheck
        Check every access of a call, also those that are proved to be inside: `@affdsl.kernel(boundscheck=True)`. It
        holds for the kernels that this one calls, for kernels that call it, and for what schedules and passes make of
        it. The variable AFFDSL_BOUNDSCHECK of the environment, 1 or 0 at the first call, decides for all kernels,
        whatever is written here; but `c()` and `save_c()` look only at what is written here.
    contract, reciprocal, approximate
        What may round in another way in all loops of this kernel, as the steps of schedules of the same names: products
        and sums as one operation, factors for divisors that loops do not change, and polynomials for exponentials and
        logarithms. It stands in the IR, so the interpreter, C and MLIR round alike. Kernels that this one calls have
        their own.
    results
        What the results are called in C, in their order: `@affdsl.kernel(results="sums largest")`. Without it they have
        the names of the variables that the kernel returns, where these have one, and else `result`, `result_1`.

    Raises
    ------
    ProgramError
        With the user's file and line, and what to write instead.
    FailedAssertionError
        By a call: what the kernel asserts (`affdsl.assert_`) does not hold.
    OutOfBoundsError, DivisorError
        By a call of a kernel that is checked: with the file, the line and the array, the index and the size. What the
        kernel wrote before stays written.

    Examples
    --------
    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def axpy(a: af.f64, x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         y[i] += a * x[i]
    >>> y = np.ones(3)
    >>> axpy(2.0, np.arange(3.0), y)
    >>> y
    array([1., 3., 5.])
    """
    allowed = {"contract": contract, "reciprocal": reciprocal, "approximate": approximate}
    for option, value in {"boundscheck": boundscheck, **allowed}.items():
        if not isinstance(value, bool):
            raise problem(ProgramTypeError, f"{option} is {value!r}", "it is True or False")
    rounding = frozenset(option for option, is_allowed in allowed.items() if is_allowed)
    names = result_names.split(results)
    namespace = _names_around(user_frame())
    options = partial(_kernel, namespace=namespace, boundscheck=boundscheck, rounding=rounding, results=names)
    return cast(Decorator, options) if function is None else options(function)


if not TYPE_CHECKING:  # and no decorator: below one, jedi sees no overloads
    kernel = plain_traceback(kernel)


@plain_traceback
def _kernel(
    function: Callable[..., object],
    *,
    namespace: Mapping[str, object],
    boundscheck: bool,
    rounding: frozenset[str],
    results: tuple[str, ...],
) -> Kernel:
    if isinstance(function, staticmethod):
        raise problem(
            ProgramTypeError,
            f"kernel takes a function defined with def, got the static method {function.__name__}",
            "write @staticmethod above @affdsl.kernel",
        )
    if not isinstance(function, FunctionType):
        raise problem(ProgramTypeError, f"kernel takes a function defined with def, got {function!r}")
    parameters = _parameters(function, namespace)
    return _kind(parameters or ())(
        function, namespace, parameters=parameters, boundscheck=boundscheck, rounding=rounding, results=results
    )


def _kind(parameters: Sequence[Parameter | OpenParameter]) -> type[Kernel]:
    """What a function of these arguments becomes: one kernel, or a family of them."""
    if not any(isinstance(p, OpenParameter) for p in parameters):
        return Kernel
    family: type[Kernel] = import_module("affdsl.family").Family
    return family


class _Called(Generic[P, R]):
    """What is called by whatever stands in a slot of the object: without a Python function in between."""

    if not TYPE_CHECKING:
        __slots__ = ("__call__",)

    def _take(self, call: Callable[..., object]) -> None:
        """Call it from now on."""
        object.__setattr__(self, "__call__", call)

    def taken(self) -> object:
        """What is called now."""
        return object.__getattribute__(self, "__call__")


@plain_tracebacks(
    "_first_call",
    "__get__",
    "apply",
    "fuse",
    "interpret",
    "with_module",
    "check",
    "explain",
    "optimize",
    "specialize",
)
class Kernel(_Called[P, R], Printed, Questions):
    """What `affdsl.kernel` makes of a function: to be called, printed, asked about, transformed and shipped.

    Call it with NumPy arrays, or others on the CPU that lend their memory by DLPack, the array interface or the buffer
    protocol. A call runs on the arrays, compiled at the first one; in the body of another kernel it builds a call.

    Attributes
    ----------
    func, module
        Its affine IR, alone and with that of the kernels that it calls.
    program
        What tracing gave: the IR with the arguments.

    Raises
    ------
    ArgumentError, SizeError, RangeError, LayoutError, OverlapError
        By a call with arguments that do not fit.
    ToolchainError
        By the first call, where the C compiler is missing or fails.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def double(x: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         x[i] *= 2.0
    >>> double
    <affdsl kernel double(x: f64[N])>
    """

    if TYPE_CHECKING:

        def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R: ...

    else:

        def __class_getitem__(cls, _: object) -> type:
            """Kernel itself, so that a running editor that evaluates `-> Kernel[P, R]` knows what it completes."""
            return cls

    def __init__(
        self,
        function: FunctionType,
        namespace: Mapping[str, object],
        owner: object = None,
        *,
        parameters: tuple[Parameter | OpenParameter, ...] | None = None,
        types: Types = Types(),  # noqa: B008 - it is frozen
        program: Program | None = None,
        written: Kernel | None = None,
        boundscheck: bool = False,
        rounding: frozenset[str] = frozenset(),
        results: tuple[str, ...] = (),
    ) -> None:
        update_wrapper(self, function)
        self._function = function
        self._namespace = namespace
        self._declared = parameters
        self._family: Kernel | None = None
        self._of_owners: OfOwners[Kernel] = OfOwners()
        self._take(self._first_call)
        self._whole: Caller | None = None
        self._turned: Turned | None = None
        self._program = program
        self._written = written
        self._boundscheck = boundscheck
        self._rounding = rounding
        self._results = results
        self._bounds: Bounds | None = None
        self._schedule: Callable[[], Schedule | None] = _none
        self._notes: tuple[Note, ...] = ()
        if program is None:
            self._program = self._traced(function, namespace, owner, parameters, types)
            self._bounds = _bounds(self._program) if self._program is not None else None

    def _traced(
        self,
        function: FunctionType,
        namespace: Mapping[str, object],
        owner: object,
        parameters: tuple[Parameter | OpenParameter, ...] | None,
        types: Types,
    ) -> Program | None:
        """What tracing the function gives; None for a method that is not reached through an object."""
        skip = int(is_method(function))
        if owner is None and skip:
            return None
        if parameters is None:
            parameters = parameters_of(function, namespace, skip=skip)
        own = made_parameters(function, parameters, types)
        before = (owner,) if owner is not None else ()
        made = trace(function, own, before, checked=self._boundscheck, types=types, result_names=self._results)
        return _rounded(made, self._rounding)

    def _first_call(self, /, *arguments: object, **keywords: object) -> object:
        """Compile, and take the compiled kernel for all later calls."""
        built = self._build_call(arguments, keywords)
        if built is not None:
            return built[0]
        needed = needed_by(self.program, arguments, keywords)
        if needed is None:
            return self._whole_call(arguments, keywords)[0]
        compiled = compile_program(
            self.program, self.guarding, self._build_call, needed=needed, other=self._whole_call, turned=self._turned
        )
        self._take(compiled)
        if self._whole is not None:  # another thread has compiled all of it meanwhile
            self._take(self._whole)
        return compiled(*arguments, **keywords)

    def _whole_call(self, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> tuple[object]:
        """Compile all of the kernel, for whatever sizes, and take that for all later calls."""
        if self._whole is None:
            self._whole = compile_program(self.program, self.guarding, self._build_call, turned=self._turned)
            self._take(self._whole)
        return (self._whole(*arguments, **keywords),)

    def _build_call(self, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> tuple[object] | None:
        """The call as part of the kernel that is being built, if it is one, or with defaults for what it lacks, or with
        NumPy's arrays on the memory of those of other libraries."""
        given = defaulted(self.program.parameters, arguments, keywords)
        if active() is None or not any(map(is_traced, (*arguments, *keywords.values()))):
            if given is None and (lent := on_numpy(self.name, arguments, keywords)) is not None:
                arguments, given = lent
            again: Callable[..., object] = self
            return None if given is None else (again(*arguments, **given),)
        return (call(self.program, self._in_order(arguments, keywords if given is None else given)),)

    def _in_order(self, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> list[object]:
        names = [p.name for p in self.program.parameters]
        wrong = [n for n in keywords if n not in names[len(arguments) :]]
        if wrong:
            raise problem(
                ProgramTypeError,
                f"{self.name} has no argument {wrong[0]}, or it is given twice",
                f"its arguments are {', '.join(names)}",
            )
        return [*arguments, *(keywords[n] for n in names[len(arguments) :] if n in keywords)]

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> Kernel[P, R]: ...
    @overload
    def __get__(self: Kernel[Concatenate[Any, Q], R], owner: object, kind: type | None = None) -> Kernel[Q, R]: ...
    def __get__(self, owner: object, kind: type | None = None) -> Kernel[..., object]:
        """The kernel as a method of an object: built for it when first used, with the object's values of that time."""
        return self if owner is None or not self._awaits_owner else self._at(owner)

    def _at(self, owner: object) -> Kernel:
        """The kernel, a method, of an object."""
        if self._declared is None:  # what it was annotated with was not known where it is defined
            self._declared = parameters_of(self._function, self._namespace, skip=1)
            if (kind := _kind(self._declared)) is not Kernel:
                self._family = kind(
                    self._function, self._namespace, parameters=self._declared, boundscheck=self._boundscheck,
                    rounding=self._rounding, results=self._results,
                )  # fmt: skip
        if self._family is not None:
            return self._family._at(owner)
        return self._of_owners.of(
            owner,
            lambda: Kernel(
                self._function, self._namespace, owner, parameters=self._declared, boundscheck=self._boundscheck,
                rounding=self._rounding, results=self._results,
            ),
        )  # fmt: skip

    @property
    def _awaits_owner(self) -> bool:
        """Whether it is a method that is not reached through an object."""
        return self._program is None

    @property
    def name(self) -> str:
        """The function's name, and its symbol in MLIR and C."""
        return self._function.__name__

    @property
    def program(self) -> Program:
        """What tracing gave. Raises ProgramError for a method that is not reached through an object."""
        if self._program is None:
            raise self._without_owner()
        return self._program

    def _without_owner(self) -> ProgramError:
        """The error for a method that is not reached through an object."""
        first = _first_argument(self._function)
        return problem(
            ProgramError,
            f"kernel {self.name} is a method: its first argument {first} has no annotation",
            f"reach it through an object, as in thing.{self.name}(...), or annotate every argument",
        )

    @property
    def kernels(self) -> tuple[Kernel[P, R], ...]:
        """The kernel, alone; of one for several types the kernel for each of them."""
        return (self,)

    def __getitem__(self, types: Asked | tuple[Asked, ...]) -> Kernel[P, R]:
        """Of a kernel for several types the one for some: `axpy[affdsl.f32]`, or `axpy["f32"]`; by rank: `scale[2]`.

        Raises ProgramTypeError for a kernel of one type, and for types that are not among those of the kernel.
        """
        raise problem(
            ProgramTypeError,
            f"kernel {self.name} has one type, so it has no [{types!r}]",
            'call it, as in kernel(x); for several types annotate with T = affdsl.dtypes("T", affdsl.f32, affdsl.f64)',
        )

    if not TYPE_CHECKING:
        __iter__ = None  # which Python would make of __getitem__

    @property
    def func(self) -> Func:
        """The affine IR."""
        return self.program.func

    @property
    def module(self) -> Module:
        """The affine IR with that of all kernels that it calls."""
        return self.program.module

    def with_module(
        self,
        module: Module,
        *,
        schedule: Schedule | Callable[[], Schedule | None] | None = None,
        notes: Sequence[Note] = (),
        turned: Turned | None = None,
    ) -> Kernel[P, R]:
        """The kernel with other IR that does the same, as a pass or a schedule makes it of `module`.

        `schedule` has the steps that made it, or takes them when somebody asks for it. `notes` are what its
        `explain()` says instead of them. `turned` answers calls of which all strided arrays lie in Fortran order.

        It takes the arguments of this one and has its checks: a call is refused with the sizes with which this one
        refuses it. That the IR does the same is for the caller to see to.

        Raises
        ------
        UnsupportedError
            If the module has no function of this name, or one with other arguments or results.
        """
        made: Kernel[P, R] = Kernel(
            self._function, self._namespace, program=derived(self.program, module), written=self._written or self
        )
        made._schedule = schedule if callable(schedule) else lambda: schedule
        made._notes = tuple(notes)
        made._turned = turned
        return made

    @property
    def schedule(self) -> Schedule | None:
        """The steps that made it, as Python that replays them; None where no schedule did."""
        return self._schedule()

    def explain(self, sizes: Mapping[str, int] | None = None) -> Explained:
        """What was done to each of its loops and why, or what is in the way: of a kernel that a schedule made.

        It is text; what it says of each nest of an optimized kernel is also there as data, in `notes`: the loops of the
        source, what was done, why, for which sizes, and what to write or to allow for more.

        With sizes, as `{"N": 1000}`, it also says what a call with them computes and moves at least, how long that
        takes at best on this machine, how long it ought to take by a model of the loops, and how far that is from the
        roofline.

        Raises ProgramError for another kernel, and for sizes that are missing or are none.
        """
        if sizes is None:
            return Explained(self._explained(), self._notes)
        expected: Callable[..., Sequence[str]] = import_module("affdsl.optimize.forecast").expected
        lines = [self._explained(), *(f"    {line}" for line in expected(self, sizes))]
        return Explained("\n".join(lines), self._notes)

    def _explained(self) -> str:
        """What was done to its loops. Raises ProgramError for a kernel that no schedule made."""
        if self._notes:
            return "\n".join([f"{self.name}:", *(indent(str(note), "    ") for note in self._notes)])
        schedule = self.schedule
        if schedule is None:
            raise problem(ProgramError, f"no schedule made the kernel {self.name}", "optimize it, or write a schedule")
        return schedule.explain()

    def _specialized(self, sizes: Mapping[str, int]) -> Kernel[P, R]:
        written = self._written or self
        special: Specialization = import_module("affdsl.lang.specialized").Specialization(written.program, sizes)
        made: Kernel[P, R] = Kernel(written._function, written._namespace, program=special.program)
        made._bounds = _bounds(made.program)
        if self._written is None:
            return made
        return made.with_module(special.applied(self.module), schedule=self._schedule, notes=self._notes)

    def _of_each(self, step: Step, *, at_once: bool = True) -> Kernel[P, R]:
        """What a step makes of the kernel; of one for several types the kernel for what it makes of each, and of one
        of them at once, so that mistakes are found."""
        return step(self)

    @property
    def boundscheck(self) -> bool:
        """Whether it was asked to check every access, or a kernel that it calls was."""
        return self._boundscheck if self._program is None else self._program.checked

    @property
    def written(self) -> Kernel:
        """The kernel as it was written, of which passes and schedules made it; itself where none did."""
        return self._written or self

    @property
    def is_derived(self) -> bool:
        """Whether its IR is what a pass or a schedule made of that of another kernel."""
        return self._written is not None

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
        return self._of_each(lambda kernel: kernel._after(passes, validate=validate))

    def _after(self, passes: Pipeline, *, validate: bool) -> Kernel[P, R]:
        """The kernel after some passes."""
        if validate:
            # Few kernels are validated, and start-up need not wait for what that takes.
            validated: Callable[..., tuple[Root, object]] = import_module(
                "affdsl.passes.validation.pipeline"
            ).run_validated
            made, _ = validated(passes, self.module)
        else:
            made = passes.run(self.module)
        assert isinstance(made, Module), "a pass makes a module of a module"
        return self.with_module(made)

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
        return self._of_each(lambda kernel: kernel._specialized(sizes)) if sizes else self

    def interpret(self, /, *arguments: P.args, **keywords: P.kwargs) -> R:
        """Run on NumPy arrays by the interpreter: slow, checks every access, and defines what the kernel means."""
        given = defaulted(self.program.parameters, arguments, keywords)
        result = interpret_program(self.program, self.guarding, arguments, keywords if given is None else given)
        return cast(R, result)

    def check(self) -> Bounds:
        """Whether each access lies inside of its array: proved for all sizes, checked by each call, or not known.

        Printed it is a line for each access. An access that is certainly wrong is refused when the kernel is built.

        >>> import affdsl as af
        >>> N, M = af.symbols("N M")
        >>> @af.kernel
        ... def copy(x: af.f64[N], y: af.f64[M], place: af.i32[N]):
        ...     with af.for_(N) as i:
        ...         y[i] = x[i]
        ...         y[place[i]] = 0.0
        >>> [f"{finding.access} is {finding.verdict}" for finding in copy.check().findings]
        ['x[i] is proved', 'y[i] is conditional', 'place[i] is proved', 'y[...] is unknown']
        """
        return _bounds(self.program) if self._bounds is None else self._bounds

    @property
    def guarding(self) -> Bounds:
        """What each call checks: of IR that was transformed, what the kernel as it was written asks for."""
        return (self._written or self).check()

    @property
    def _accepted(self) -> Alternatives:
        """What holds of the sizes in every call, since it is checked; nothing where no call is let through."""
        try:
            return self.guarding.accepted
        except ProgramIndexError:
            return ((),)

    def __reduce__(self) -> str | tuple[object, ...]:
        """Pickled as functions are where a name of a module leads here, and otherwise by value: as MLIR text.

        So another process can be handed closures, kernels of a script or notebook, and what schedules and passes make.
        """
        reduced: Callable[..., str | tuple[object, ...]] = import_module("affdsl.pickles").reduced
        return reduced(self, self._function, self._program, self._written or self)

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, _: object) -> Kernel:
        return self

    def __str__(self) -> str:
        return self.mlir()

    def _repr_html_(self) -> str | None:
        """What a notebook shows: how it is called, its loops, and a picture of their iterations where that is small."""
        if self._program is None:
            return None
        shown: Callable[[Kernel], str] = import_module("affdsl.notebook").of_kernel
        return shown(self)

    def __repr__(self) -> str:
        if self._program is None:
            return f"<affdsl kernel {self._function.__qualname__}, a method>"
        return f"<affdsl kernel {self.name}({', '.join(map(_shown, self._program.parameters))})>"


def _none() -> None:
    """The schedule of a kernel that no schedule made."""


def _shown(p: Parameter) -> str:
    return f"{p.name}: {p.type!r}" + (f" = {p.default}" if p.default is not None else "")


def _rounded(program: Program, allowed: frozenset[str]) -> Program:
    """The program with what may round in another way, if anything may."""
    if not allowed:
        return program
    rounded: Callable[[Func, frozenset[str]], Func] = import_module("affdsl.passes.transforms.rounding").rounded
    body = tuple(rounded(op, allowed) if op is program.func else op for op in program.module.body)
    return derived(program, with_fields(program.module, body=body))


def _bounds(program: Program) -> Bounds:
    """What is known of the accesses of a program.

    Raises ProgramIndexError for one that is certainly wrong, and ProgramError for a call whose arrays overlap, or may.
    """
    module = program.module
    found = Bounds(module.functions[-1], module, downward=program.downward, kind=ApartDemands)
    for wrong in found.violations:
        kind = ProgramError if wrong.demand.is_apart else ProgramIndexError
        raise problem(kind, *wrong.explained(), location=wrong.location or program.func.location)
    for maybe in found.maybe_overlapping:
        at = maybe.location or program.func.location
        raise problem(ProgramError, *maybe.doubted(), location=at)
    return found


def _parameters(
    function: FunctionType, namespace: Mapping[str, object]
) -> tuple[Parameter | OpenParameter, ...] | None:
    """The arguments of a kernel, but those that are an object's; None for a method whose are not known yet."""
    if not is_method(function):
        return parameters_of(function, namespace)
    try:
        return parameters_of(function, namespace, skip=1)
    except ProgramError:  # it is said where it is reached through an object
        return None


def is_method(function: FunctionType) -> bool:
    """Whether function is defined in a class and its first argument is the object: it has no annotation."""
    first = _first_argument(function)
    inside = function.__qualname__.rpartition(".")[0]
    return bool(inside) and not inside.endswith("<locals>") and first != "" and first not in function.__annotations__


def _first_argument(function: FunctionType) -> str:
    return next(iter(inspect.signature(function).parameters), "")


def _names_around(frame: FrameType | None) -> dict[str, object]:
    """The local names of the functions and classes around a definition, the nearest ones first."""
    names: dict[str, object] = {}
    while frame is not None and frame.f_locals is not frame.f_globals:
        names = {**frame.f_locals, **names}
        frame = frame.f_back if _encloses(frame) else None
    return names


def _encloses(frame: FrameType) -> bool:
    """Whether the caller's frame may hold the names around frame: it runs the same file."""
    back = frame.f_back
    return back is not None and back.f_code.co_filename == frame.f_code.co_filename
