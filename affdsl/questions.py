"""What one asks of a kernel: what its loops depend on, where its time goes, what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from affdsl.frames import plain_tracebacks
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import Loops, of_loops
from affdsl.passes.legality.assumptions import assuming_all

if TYPE_CHECKING:
    from affdsl.ir.dialects.func import Func, Module
    from affdsl.lang.trace import Program
    from affdsl.passes.analysis.bounds import Bounds
    from affdsl.passes.analysis.relations import Alternatives
    from affdsl.passes.drawing.graph import DrawnGraph
    from affdsl.passes.drawing.iteration_space import IterationSpace
    from affdsl.passes.mlir_opt.relations import Relations
    from affdsl.seeing.assembly import Assembly
    from affdsl.seeing.profile import Profile


@plain_tracebacks("graph", "halo", "picture", "asm", "profile", "report", "dependences", "loops")
class Questions:
    """Each of these methods asks something of a kernel, and changes nothing."""

    __slots__ = ()

    if TYPE_CHECKING:  # what a kernel has

        @property
        def program(self) -> Program: ...
        @property
        def func(self) -> Func: ...
        @property
        def module(self) -> Module: ...
        @property
        def written(self) -> Questions: ...
        @property
        def guarding(self) -> Bounds: ...
        @property
        def _accepted(self) -> Alternatives: ...

    def asm(self, *, loop: str | None = None, target: str | None = None) -> Assembly:
        """The assembly of its loops as a call runs them: the same compiler, the same flags. Innermost loops come first.

        Above the instructions stand the user's line and the line of C of which they are. It is text, to be printed;
        `loops` of it has the same as data, and `c` the C file. Nothing runs.

        Parameters
        ----------
        loop
            Only the loop of this name, as `loops()` and `picture()` have it. Of several of one name, the first is
            `i#1`; that of a kernel that is called is `blur: i`. Where the compiler left no such loop, it is those loops
            in which its instructions stand now.
        target
            For another instruction set than that of this machine, as "avx2". The compiler has to be one for it.

        Raises
        ------
        ProgramNameError
            If there is no such loop, or no such target.
        ToolchainError
            If there is no compiler, it fails, or it is none for the target.

        >>> import affdsl as af
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def scale(x: af.f64[N]):
        ...     with af.for_(N) as i:
        ...         x[i] = x[i] * 3.0
        >>> [(each.name, len(each.instructions) > 2) for each in scale.asm(loop="i").loops][:1]
        [('i', True)]
        """
        found: Callable[..., Assembly] = import_module("affdsl.seeing.assembly").assembly
        return found(self.program, self.guarding, loop, target)

    def profile(
        self,
        /,
        *arguments: object,
        repeats: int | None = None,
        in_place: bool = False,
        inside: str | None = None,
        **keywords: object,
    ) -> Profile:
        """Run it, and say where the time goes: for each loop nest, and for the whole call, the time, what is computed
        and moved, and which part of what this machine can do that is. Printed it is a table; all of it is data, too.

        A copy of the kernel runs that has clocks around its nests. It is called several times, each time with arrays
        that are copies of those that are given: these stay as they are. Operations are counted exactly, from the loops
        and the sizes of the call; where data decides how often something runs, they are counted in one more run. Bytes
        are those of distinct elements. What the machine can do is measured once and kept: `affdsl.codegen.roofline`.

        Parameters
        ----------
        arguments, keywords
            Those of a call. An argument of the kernel that is called as one of the following is given by position.
        repeats
            How often it is measured; by default as often as a second allows, 3 to 25 times. Times are medians.
        in_place
            Run on the arrays themselves, without copies: they are changed as by so many calls and one more, and by yet
            another one where operations are counted in a run.
        inside
            The name of a sequential loop, as `loops()` and `picture()` have it, as one over time steps: the nests right
            inside of it are measured instead of that whole loop, in all of its iterations.

        Raises
        ------
        TypeError, ValueError
            As a call does, for arguments that do not fit.
        ProgramError
            If repeats is no positive number, or there is no loop to look into, or it is parallel.
        ToolchainError
            If there is no C compiler.

        >>> import affdsl as af, numpy as np
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def axpy(a: af.f64, x: af.f64[N], y: af.f64[N]):
        ...     with af.for_(N) as i:
        ...         y[i] += a * x[i]
        >>> y = np.ones(1000)
        >>> nest = axpy.profile(2.0, y.copy(), y, repeats=1).nests[0]
        >>> nest.name, nest.flops, nest.bytes_moved, nest.bound, float(y[0])
        ('i', 2000, 24000, 'memory', 1.0)
        """
        found: Callable[..., Profile] = import_module("affdsl.seeing.profile").profile
        return found(self.program, self.guarding, arguments, keywords, repeats, in_place, inside)

    def report(self, path: str | Path, /, *arguments: object, seconds: float = 60.0, **keywords: object) -> Path:
        """Write one page that says of each loop why it is as fast as it is, and what to try next; gives its path.

        It is one HTML file that needs no other one and no network: the loops of the source with their verdicts, times
        and shares; Python, affine IR, C and assembly beside each other, linked by lines; what could be allowed, written
        or laid out in another way, with what each gains; the steps of the schedule, and what the search considered.

        With arguments it is run: nests are measured, and each thing to try is compiled and timed in turn with it. The
        arrays stay as they are. With sizes alone, as `N=1000`, nothing runs, and all times are those of the model.

        Parameters
        ----------
        path
            The file to write, as "out.html".
        arguments, keywords
            Those of a call; or sizes by their names. A size that is not given is 1000. An argument of the kernel that
            is called `seconds` is given by position.
        seconds
            How long things are tried, about. What is left over then is named as not tried; with 0 nothing is tried.

        Raises
        ------
        ProgramError
            If Jinja2, Pygments or matplotlib are missing, which `pip install affdsl[report]` brings; if there is no
            such size; or if the file cannot be written.
        TypeError, ValueError
            As a call does, for arguments that do not fit.
        ToolchainError
            If there is no C compiler.

        >>> import affdsl as af, tempfile
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def scale(x: af.f64[N]):
        ...     with af.for_(N) as i:
        ...         x[i] = x[i] / 3.0
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = scale.report(f"{folder}/scale.html", N=500, seconds=0)
        ...     "a division by what stays the same" in page.read_text()
        True
        """
        found: Callable[..., Path] = import_module("affdsl.report.report").report
        return found(self, path, arguments, keywords, seconds)

    def dependences(self) -> Dependences:
        """Which iterations must run before which: the dependences between its accesses, exactly.

        They are those of all sizes that a call accepts, as far as one conjunction says which these are.

        >>> import affdsl as af
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def shift(a: af.f64[N]):
        ...     with af.for_(2, N) as i:
        ...         a[i] = a[i - 2]
        >>> print(*shift.dependences().all())
        flow dependence of a at depth 1: [2, 2]
        """
        return Dependences(assuming_all(self.func, self._accepted), self.module)

    def relations(self) -> Relations:
        """What dependence checks and fusion look at: access relations, dependences as relations, tableaus, slices.

        Each is there as a text about MLIR shows it; the guide on relations says which is which.

        >>> import affdsl as af
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def shift(a: af.f64[N]):
        ...     with af.for_(2, N) as i:
        ...         a[i] = a[i - 2]
        >>> (flow,) = shift.relations().dependences
        >>> print(flow.distances)
        i' - i  N  const
             1  0     -2  = 0
             0  1     -5  >= 0
        """
        made: Callable[..., Relations] = import_module("affdsl.passes.mlir_opt.relations").Relations
        return made(assuming_all(self.func, self._accepted), self.module)

    def loops(self) -> Loops:
        """Which of its loops may run in parallel, for all sizes, and what prevents it of the others; printed a table.

        That is, for all sizes that a call accepts.

        >>> import affdsl as af
        >>> N = af.symbols("N")
        >>> @af.kernel
        ... def total(x: af.f64[N, N], sums: af.f64[N]):
        ...     with af.for_(N) as i, af.for_(N) as j:
        ...         sums[i] += x[i, j]
        >>> [f"{loop.iv.hint}: {loop.verdict}" for loop in total.loops()]
        ['i: parallel', 'j: parallel with reductions']
        """
        return of_loops(self.dependences()).in_language()

    def graph(self, loop: str | None = None) -> DrawnGraph:
        """The dependences between its loop nests as a graph, which notebooks draw; `to_svg()` and `to_dot()` give text.

        With the name of a loop, it is that of the statements in its body; of several of one name, the first is `i#1`.
        Raises GraphError where there is no such loop, or several are called so.
        """
        drawn: Callable[..., DrawnGraph] = import_module("affdsl.passes.drawing.graph").drawn_graph
        return drawn(self.func, self.module, loop)

    def picture(
        self, outer: str, inner: str, sizes: Mapping[str, int], *, at: Mapping[str, int] | None = None
    ) -> IterationSpace:
        """The iterations of two of its loops at some sizes, and which must run before which; notebooks draw it.

        `to_svg()`, `to_png()` and `save(path)` give it as a file. With `at`, it shows only these iterations of other
        loops, by name. Of several loops with one name, the first is `i#1`, in the order of the text. Raises
        DrawingError where there are no such loops, a size is missing, or nobody could read it.
        """
        drawn: Callable[..., IterationSpace] = import_module("affdsl.passes.drawing.iteration_space").iteration_space
        return drawn(self.dependences(), outer, inner, sizes, at=at)

    def halo(self, *arrays: str, of: str | None = None) -> tuple[tuple[int, int], ...]:
        """How many elements of arrays a part of them needs around, so that the same part of an output is right.

        For each dimension it is how many before the part and how many after it: what `dask.array.map_overlap` takes as
        `depth`. It is exact, for all sizes: as far as reads reach beyond the element that they are for, and where the
        kernel does other things near the edges of its arrays than inside, as far as that is. What a schedule or a pass
        made has the halo of the kernel as it was written.

        Parameters
        ----------
        arrays
            The names of arguments that are arrays; of several it is as much as each of them needs.
        of
            The name of the output, an argument that is written or an array that is returned; by default the only one.

        Raises
        ------
        ProgramError
            With the line of what has no limit: an element that data decides, a transposition, a sum over a whole row, a
            number of steps that each call gives; or what depends on where an element lies, far from the edges too.

        >>> import affdsl as af
        >>> M, N = af.symbols("M N")
        >>> @af.kernel
        ... def heat(A: af.f64[M, N], B: af.f64[M, N]):
        ...     with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        ...         B[i, j] = (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]) / 4
        >>> heat.halo("A")
        ((1, 1), (1, 1))
        """
        found: Callable[..., tuple[tuple[int, int], ...]] = import_module("affdsl.halo").halo_of
        return found(self.written.program, arrays, of)
