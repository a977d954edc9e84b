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
    """The C compiler is missing, failed, or built something that cannot be loaded."""


@public
class CacheError(AffdslError, RuntimeError):
    """The cache folder cannot be trusted, or its settings make no sense."""


@public
class BuildError(AffdslError, RuntimeError, ValueError):
    """A library cannot be built as it was asked for: its name, its kernels, its targets, or where it is written."""


@public
class ArgumentError(AffdslError, TypeError):
    """The wrong arguments: how many, which names, of which type."""


@public
class SizeError(AffdslError, ValueError):
    """An array has the wrong rank, or the sizes of the arrays disagree."""


@public
class RangeError(AffdslError, ValueError):
    """The type of a scalar argument cannot hold the value."""


@public
class LayoutError(AffdslError, ValueError):
    """An array is not contiguous, not aligned, or read-only where it is written."""


@public
class OverlapError(AffdslError, ValueError):
    """Two arrays share memory and at least one of them is written."""
