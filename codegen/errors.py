"""What building a library or calling a kernel can raise.

    RuntimeError
        ToolchainError      the C compiler is missing, failed, or built something that cannot be loaded
        CacheError          the cache folder cannot be trusted, or its settings make no sense
        BuildError          a library cannot be built as it was asked for (also a ValueError)
    TypeError
        ArgumentError       the wrong arguments: how many, which names, of which type
    ValueError
        SizeError           an array has the wrong rank; sizes disagree
        RangeError          a scalar's type cannot hold the value
        LayoutError         an array is not contiguous, not aligned, or read-only
        OverlapError        two arrays share memory and one of them is written

Each is an AffdslError, and a subclass of the built-in error that a NumPy user expects in its place.
"""

from affdsl.errors import AffdslError, public


@public
class ToolchainError(AffdslError, RuntimeError):
    """The C compiler is missing, failed, or built something that cannot be loaded.

    >>> import affdsl as af
    >>> from affdsl.codegen.toolchain import find_compiler
    >>> try:
    ...     find_compiler({"PATH": ""})
    ... except af.ToolchainError as error:
    ...     print(str(error).partition(",")[0][:13])
    no C compiler
    """


@public
class CacheError(AffdslError, RuntimeError):
    """The cache folder cannot be trusted, or its settings make no sense.

    >>> import affdsl as af
    >>> from pathlib import Path
    >>> from affdsl.codegen.cache import Cache
    >>> try:
    ...     Cache(Path("/"))
    ... except af.CacheError as error:
    ...     print("cache" in str(error))
    True
    """


@public
class BuildError(AffdslError, RuntimeError, ValueError):
    """A library cannot be built as it was asked for: its name, its kernels, its targets, or where it is written.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def copy(x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         y[i] = x[i]
    >>> try:
    ...     af.build(copy, "out", name="not a name")
    ... except af.BuildError as error:
    ...     print("not a name" in str(error))
    True
    """


@public
class ArgumentError(AffdslError, TypeError):
    """The wrong arguments: how many, which names, of which type.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def copy(x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         y[i] = x[i]
    >>> try:
    ...     copy(np.ones(2))
    ... except af.ArgumentError as error:
    ...     print(error)
    copy: takes 2 arguments (x, y), got 1; pass also 'y'
    """


@public
class SizeError(AffdslError, ValueError):
    """An array has the wrong rank, or the sizes of the arrays disagree.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def copy(x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         y[i] = x[i]
    >>> try:
    ...     copy(np.ones(2), np.ones(3))
    ... except af.SizeError as error:
    ...     print(error)
    copy: dimension 0 of argument 'y' must be N = 2 (N = 2 from dimension 0 of 'x'), got 3
    """


@public
class RangeError(AffdslError, ValueError):
    """The type of a scalar argument cannot hold the value.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def narrow(x: af.i8):
    ...     return x
    >>> try:
    ...     narrow(1000)
    ... except af.RangeError as error:
    ...     print(error)
    narrow: argument 'x' must be between -128 and 127 (int8), got 1000
    """


@public
class LayoutError(AffdslError, ValueError):
    """An array is not contiguous, not aligned, or read-only where it is written.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def copy(x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         y[i] = x[i]
    >>> try:
    ...     copy(np.ones(4)[::2], np.ones(2))
    ... except af.LayoutError as error:
    ...     print(str(error)[:42])
    copy: argument 'x' must be C-contiguous, w
    """


@public
class OverlapError(AffdslError, ValueError):
    """Two arrays share memory and at least one of them is written.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def copy(x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         y[i] = x[i]
    >>> a = np.ones(2)
    >>> try:
    ...     copy(a, a)
    ... except af.OverlapError as error:
    ...     print(str(error).partition(";")[0])
    copy: 'x' and 'y' overlap in memory and 'y' is written
    """
