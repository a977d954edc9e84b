"""A kernel for several types, or for any rank: a kernel for each, made when it is first called or asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import product
from pathlib import Path
from threading import get_ident
from types import FunctionType
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from affdsl.choosing import MOST_DIMENSIONS, chosen, has_any_rank, variables_of
from affdsl.codegen.arguments import check, on_numpy
from affdsl.codegen.c.emit import REGISTER_BITS, CSource
from affdsl.codegen.c.library import Entry
from affdsl.codegen.c.names import function_identifier
from affdsl.codegen.c.together import emit_together
from affdsl.codegen.errors import ArgumentError
from affdsl.codegen.jit import signature_of
from affdsl.dispatch import Called, dispatcher, key_of_calls
from affdsl.errors import AffdslError, ProgramError, ProgramTypeError
from affdsl.explained import Explained
from affdsl.frames import plain_tracebacks
from affdsl.ir.location import Location
from affdsl.ir.messages import nearest
from affdsl.ir.verifier import verify
from affdsl.kernel import Kernel, is_method
from affdsl.lang.annotations import OpenParameter, Parameter
from affdsl.lang.builder import active
from affdsl.lang.calls import is_traced
from affdsl.lang.dtypes import DType
from affdsl.lang.numpy_types import found_dtype
from affdsl.lang.source import problem
from affdsl.lang.trace import Program, joined, recursion
from affdsl.lang.type_variables import DTypes, Types, listed
from affdsl.mlir.known_versions import LAST, Version
from affdsl.owners import OfOwners
from affdsl.passes.lowering.expanded_math import expanded_math
from affdsl.passes.lowering.handed_on import handed_on
from affdsl.printed import text_for
from affdsl.signatures import P, R

if TYPE_CHECKING:
    from affdsl.schedule.schedule import Schedule
    from affdsl.seeing.profile import Profile
    from affdsl.signatures import Asked, Step

RANKS = (1, 2, 3)
"""The ranks of which `kernels`, `c()` and `mlir()` have kernels; others are there by `kernel[4]`."""
MOST = 64
"""How many kernels are made together."""

Parameters: TypeAlias = tuple[Parameter | OpenParameter, ...]
Key: TypeAlias = tuple[DType | int, ...]
"""The type of each variable, in their order, and the rank where there is one."""


@plain_tracebacks(
    "__getitem__", "explain", "interpret", "profile", "report"
)  # fmt: skip
class Family(Kernel[P, R]):
    """What `affdsl.kernel` makes of a function whose arguments are of several types, or of any rank.

    A call takes the kernel for the types of its arrays. `family[affdsl.f32]` is one of them, an ordinary kernel, made
    when it is first asked for; the first one is made at once, so that mistakes are found where they are. What makes
    another kernel of a kernel, as `optimize()`, makes another family of a family. `c()`, `mlir()` and `affdsl.build`
    have all kernels, called as the function with the types behind; what is asked of loops is asked of one kernel.

    Attributes
    ----------
    variables
        The types that vary, in the order of the arguments.

    >>> import affdsl as af
    >>> N, T = af.symbols("N"), af.dtypes("T", af.f32, af.f64)
    >>> @af.kernel
    ... def double(x: T[N]):
    ...     with af.for_(N) as i:
    ...         x[i] *= 2.0
    >>> double
    <affdsl kernel double(x: T[N]) for T = f32, f64>
    >>> double[af.f32].name, [kernel.name for kernel in double.kernels]
    ('double_f32', ['double_f32', 'double_f64'])
    """

    variables: tuple[DTypes, ...]

    def __init__(
        self,
        function: FunctionType,
        namespace: Mapping[str, object],
        owner: object = None,
        *,
        parameters: Parameters,
        base: Family | None = None,
        step: Step | None = None,
        made: dict[Key, Kernel[P, R]] | None = None,
        is_closed: bool = False,
        said: str = "",
        boundscheck: bool = False,
        rounding: frozenset[str] = frozenset(),
        results: tuple[str, ...] = (),
    ) -> None:
        self.variables = variables_of(parameters)
        self._parameters = parameters
        self._has_any_rank = has_any_rank(parameters)
        self._owner = owner
        self._is_method = is_method(function)
        self._base = base
        self._step = step
        self._known: dict[Key, Kernel[P, R]] = {} if made is None else made
        self._is_closed = is_closed
        self._shown = said or shown(parameters, self.variables)
        self._making: set[tuple[int, Key]] = set()
        self._made_at: OfOwners[tuple[dict[Key, Kernel[P, R]], dict[object, Called]]] = OfOwners()
        self._key_of = key_of_calls(parameters)
        super().__init__(
            function, namespace, owner, parameters=parameters, boundscheck=boundscheck, rounding=rounding,
            results=results, written=None if base is None else base.written,
        )  # fmt: skip
        self._take(dispatcher(self._choice, parameters, self._key_of, {}))
        if base is None and not self._known and not self._awaits_owner:
            self._kernel(self._keys()[0])

    def _traced(self, *_: object) -> Program | None:
        return None

    # The kernels of it ------------------------------------------------------------------------------------------------

    @property
    def kernels(self) -> tuple[Kernel[P, R], ...]:
        """The kernels for all types; of any rank, those for 1, 2 and 3 dimensions.

        Raises ProgramError where these are very many.
        """
        self._require_owner()
        keys = self._keys()
        if len(keys) > MOST:
            raise problem(
                ProgramError, f"{self.name} is {len(keys)} kernels, which are not made all together",
                f"take those that are needed, as in {self._example()}",
            )  # fmt: skip
        return tuple(self._kernel(key) for key in keys)

    def _keys(self) -> Sequence[Key]:
        """The types of all kernels that it has, or is made for."""
        if self._base is not None:
            return self._base._keys()
        if self._is_closed:
            return [*self._known]
        ranks = (RANKS,) if self._has_any_rank else ()
        parts: list[tuple[DType | int, ...]] = [*(v.types for v in self.variables), *ranks]
        return [*product(*parts)]

    def __getitem__(self, types: Asked | tuple[Asked, ...]) -> Kernel[P, R]:
        """The kernel for some types: `axpy[affdsl.f32]`, `axpy[x.dtype]`, `axpy["f32"]`, or the name, "axpy_f32".

        Several stand in the order of `variables`; the rank of arrays of any rank comes last: `scale[affdsl.f32, 2]`.

        Raises ProgramTypeError for types that are not among those of the kernel.
        """
        wanted = types if isinstance(types, tuple) else (types,)
        if len(wanted) == 1 and isinstance(wanted[0], str):
            named = next((key for key in self._keys() if self._named(key) == wanted[0]), None)
            if named is not None:
                return self._kernel(named)
            wanted = tuple(wanted[0].replace(",", " ").split())
        count = len(self.variables) + self._has_any_rank
        if len(wanted) != count:
            raise problem(ProgramTypeError, f"{self.name}[...] takes {count}, got {len(wanted)}: {types!r}",
                          f"write {self._example()}")  # fmt: skip
        key = tuple(self._one(variable, x) for variable, x in zip(self.variables, wanted, strict=False))
        return self._kernel((*key, self._as_rank(wanted[-1])) if self._has_any_rank else key)

    def _one(self, variable: DTypes, x: object) -> DType:
        """The type of a variable that somebody asks for."""
        names = {name: d for d in variable.types for name in (d.name, d.name.rstrip("_"))}
        if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.generic)):
            x = found_dtype(np.dtype(x)) or x
        found = names.get(x) if isinstance(x, str) else next((d for d in variable.types if d == x), None)
        if found is None:
            raise problem(
                ProgramTypeError, f"{self.name} is not made for {variable} = {x!r}{nearest(str(x), [*names])}",
                f"it is {listed(variable.types)}",
            )  # fmt: skip
        return found

    def _as_rank(self, x: object) -> int:
        text = x.removesuffix("d") if isinstance(x, str) else ""
        rank = int(text) if text.isdecimal() else x
        if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank <= MOST_DIMENSIONS:
            raise problem(
                ProgramTypeError,
                f"{self.name} is not made for the rank {x!r}",
                f"it is a number up to {MOST_DIMENSIONS}",
            )
        return rank

    def _example(self) -> str:
        words = [f"affdsl.{variable.types[0]}" for variable in self.variables] + ["2"] * self._has_any_rank
        return f"{self.name}[{', '.join(words)}]"

    def _kernel(self, key: Key) -> Kernel[P, R]:
        """The kernel for some types, which is made when it is first asked for."""
        self._require_owner()
        found = self._known.get(key)
        if found is not None:
            return found
        making = get_ident(), key
        if making in self._making:
            raise recursion(self.name)
        self._making.add(making)
        try:
            made = self._made(key)
        finally:
            self._making.discard(making)
        return self._known.setdefault(key, made)

    def _made(self, key: Key) -> Kernel[P, R]:
        if self._base is not None and self._step is not None:
            return self._step(self._base._kernel(key))
        if self._is_closed:
            raise problem(ProgramError, f"{self.name} was pickled with the kernels that it had, and is not made for "
                          f"{self._types(key)!r}", f"it has {', '.join(k.name for k in self.kernels)}")  # fmt: skip
        types = self._types(key)
        try:
            function = _called(self._function, self._named(key), self._asked(key))
            return Kernel(
                function, self._namespace, self._owner, parameters=self._parameters, types=types,
                boundscheck=self._boundscheck, rounding=self._rounding, results=self._results,
            )  # fmt: skip
        except ProgramError as error:
            if error.place is None:
                raise
            what, *more = error.unplaced.split("\n    ")
            again = problem(
                type(error), what, *more, f"this is {self.name} for {types!r}", location=Location(*error.place)
            )
            raise again.with_traceback(error.__traceback__) from None

    def _types(self, key: Key) -> Types:
        pairs = tuple((v, d) for v, d in zip(self.variables, key, strict=False) if isinstance(d, DType))
        rank = key[-1] if self._has_any_rank else None
        return Types(pairs, rank if isinstance(rank, int) else None)

    def _named(self, key: Key) -> str:
        words = [f"{x}d" if isinstance(x, int) else x.name.rstrip("_") for x in key]
        return "_".join([self._function.__name__, *words])

    def _asked(self, key: Key) -> str:
        """What stands in brackets where one kernel is asked for in text."""
        return ", ".join(str(x) if isinstance(x, int) else x.name for x in key)

    # Calls ------------------------------------------------------------------------------------------------------------

    def _choice(self, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> tuple[Kernel[P, R], bool]:
        """The kernel that a call means, and whether its arrays are NumPy's own.

        Raises ArgumentError, or ProgramTypeError in a kernel's body, where arguments disagree.
        """
        self._require_owner()
        is_built = active() is not None and any(map(is_traced, (*arguments, *keywords.values())))

        def error(what: str) -> AffdslError:
            return (
                problem(ProgramTypeError, f"{self.name}: {what}") if is_built else ArgumentError(f"{self.name}: {what}")
            )

        lent = None if is_built else on_numpy(self.name, arguments, keywords)
        given_by_position, given_by_name = (arguments, keywords) if lent is None else lent
        defaults = {p.name: p.default for p in self._parameters if p.default is not None}
        names = [p.name for p in self._parameters]
        given = {**defaults, **dict(zip(names, given_by_position, strict=False)), **given_by_name}
        types = chosen(self._parameters, given, error)
        if types is None:
            return self._refused(arguments, keywords, is_built=is_built), False
        key = tuple(d for _, d in types.pairs)
        found = self._kernel(key if types.rank is None else (*key, types.rank))
        return found, lent is None and not is_built

    def _refused(
        self, arguments: tuple[object, ...], keywords: Mapping[str, object], *, is_built: bool
    ) -> Kernel[P, R]:
        """A kernel that refuses a call which says too little. Raises ArgumentError where it is from Python."""
        first = self._kernel(self._keys()[0])
        if not is_built:
            try:
                check(signature_of(first.program), arguments, keywords)
            except ArgumentError as error:
                raise type(error)(str(error).replace(f"{first.name}: ", f"{self.name}: ", 1)) from None
        return first

    def interpret(self, /, *arguments: P.args, **keywords: P.kwargs) -> R:
        """Run the kernel for the types of the arguments by the interpreter."""
        return self._choice(arguments, keywords)[0].interpret(*arguments, **keywords)

    def profile(
        self, /, *arguments: object, repeats: int | None = None, in_place: bool = False, inside: str | None = None,
        **keywords: object,
    ) -> Profile:  # fmt: skip
        """Run the kernel for the types of the arguments, and say where the time goes: as `Kernel.profile`."""
        found, _ = self._choice(arguments, keywords)
        return found.profile(*arguments, repeats=repeats, in_place=in_place, inside=inside, **keywords)

    def report(self, path: str | Path, /, *arguments: object, seconds: float = 60.0, **keywords: object) -> Path:
        """Write the page of the kernel for the types of the arguments: as `Kernel.report`. It needs arguments."""
        if not arguments and not any(isinstance(x, np.ndarray) for x in keywords.values()):
            self._need_one("pass the arguments of a call")
        return self._choice(arguments, keywords)[0].report(path, *arguments, seconds=seconds, **keywords)

    # What is made of it -----------------------------------------------------------------------------------------------

    def _of_each(self, step: Step, *, at_once: bool = True) -> Family[P, R]:
        """The family of what a step makes of each kernel; at once of one of them, so that mistakes are found."""
        self._require_owner()
        made: Family[P, R] = Family(
            self._function, self._namespace, self._owner, parameters=self._parameters, base=self, step=step,
            boundscheck=self._boundscheck, rounding=self._rounding, results=self._results,
        )  # fmt: skip
        if at_once:
            made._kernel(next(iter(self._known), self._keys()[0]))
        return made

    # What is said of it -----------------------------------------------------------------------------------------------

    @property
    def program(self) -> Program:
        """Of one kernel of it only. Raises ProgramError."""
        self._need_one("take one of its kernels")

    @property
    def schedule(self) -> Schedule | None:
        """Of one kernel of it only. Raises ProgramError."""
        self._need_one("take one of its kernels")

    def mlir(self, *, version: Version = LAST, numbered: bool = False, expand_math: bool = False) -> str:
        """MLIR text of all kernels, and of those that they call: as `Kernel.mlir`."""
        module = joined([kernel.program for kernel in self.kernels])
        verify(module)
        made = handed_on(expanded_math(module) if expand_math else module)
        return text_for(made, version, numbered=numbered)

    @property
    def is_derived(self) -> bool:
        """Whether a pass or a schedule made its kernels of others."""
        return self._base is not None

    def _need_one(self, advice: str) -> NoReturn:
        self._require_owner()
        kernels = "several ranks" if not self.variables else "several types"
        raise problem(
            ProgramError,
            f"{self.name} is a kernel for {kernels}, and this is asked of one",
            f"{advice}: {self._example()}",
        )

    def explain(self, sizes: Mapping[str, int] | None = None) -> Explained:
        """What was done to the loops of each kernel, one after the other."""
        found = [kernel.explain(sizes) for kernel in self.kernels]
        return Explained("\n".join(found), tuple(note for each in found for note in each.notes))

    def _c_source(self, width: int = REGISTER_BITS[-1]) -> CSource:
        if width not in REGISTER_BITS:
            raise problem(ProgramTypeError, f"width is {width!r}", "it is one of the bits of a register: 128, 256, 512")
        entries = []
        for kernel in self.kernels:
            verify(kernel.module)
            symbol, sizes = kernel.func.symbol, len(kernel.program.sizes)
            entries.append(Entry(kernel.module, symbol, function_identifier(symbol), sizes, kernel.boundscheck))
        return emit_together(entries, self.name, register_bits=width)

    @property
    def boundscheck(self) -> bool:
        """Whether it was asked to check every access, or a kernel that one of its kernels calls was."""
        known = self._known if self._base is None else self._base._known
        return self._boundscheck or any(kernel.boundscheck for kernel in known.values())

    @property
    def _awaits_owner(self) -> bool:
        return self._owner is None and self._is_method

    def _require_owner(self) -> None:
        """Raise ProgramError for a method that is not reached through an object."""
        if self._awaits_owner:
            raise self._without_owner()

    def _at(self, owner: object) -> Family[P, R]:
        """The family, a method, of an object: this one, with the kernels that were made for the object before.

        It has the object, to make more of them, and lives as long as somebody uses it.
        """
        known, called = self._made_at.of(owner, lambda: ({}, {}))
        made: Family[P, R] = object.__new__(Family)
        made.__dict__.update(self.__dict__, _owner=owner, _known=known, _making=set())
        made._take(dispatcher(made._choice, made._parameters, made._key_of, called))
        return made

    def __reduce__(self) -> str | tuple[object, ...]:
        reduced: Callable[..., str | tuple[object, ...]] = import_module("affdsl.pickles").reduced_family
        return reduced(self, self._function, self._parameters)

    def _repr_html_(self) -> str | None:
        shown: Callable[[Family], str] = import_module("affdsl.notebook").of_family
        return None if self._awaits_owner else shown(self)

    def __repr__(self) -> str:
        if self._awaits_owner:
            return f"<affdsl kernel {self._function.__qualname__}, a method>"
        return f"<affdsl kernel {self.name}({self._shown}>"


def shown(parameters: Parameters, variables: Sequence[DTypes]) -> str:
    """Arguments, and what their variables stand for, as `repr()` has them."""
    words = [f"{p.name}: {p.type!r}" + f" = {p.default}" * (p.default is not None) for p in parameters]
    said = [f"{v} = {', '.join(map(repr, v.types))}" for v in variables if not v.is_union]
    return f"{', '.join(words)}){' for ' * bool(said)}{'; '.join(said)}"


def _called(function: FunctionType, name: str, asked: str) -> FunctionType:
    """The function under another name; its qualified name is how Python finds the kernel that is made of it."""
    made = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    made.__qualname__, made.__module__ = f'{function.__qualname__}["{asked}"]', function.__module__
    made.__annotations__, made.__kwdefaults__ = function.__annotations__, function.__kwdefaults__
    made.__doc__ = function.__doc__
    return made
