"""What building a library or calling a kernel can raise.

    RuntimeError
        ToolchainError      the C compiler is missing, failed, or built something that cannot be loaded
        CacheError          the cache folder cannot be trusted, or its settings make no sense
        InternalError       our own parts disagree: a bug of affdsl
    TypeError
        ArgumentError       the wrong arguments: how many, which names, of which type
    ValueError
        SizeError           an array has the wrong rank; sizes disagree
        RangeError          a scalar's type cannot hold the value
        LayoutError         an array is not contiguous, not aligned, or read-only
        OverlapError        two arrays share memory and one of them is written

Each is a subclass of the built-in error that a NumPy user expects in its place.
"""


class ToolchainError(RuntimeError):
    """The C compiler is missing, failed, or built something that cannot be loaded."""


class CacheError(RuntimeError):
    """The cache folder cannot be trusted, or its settings make no sense."""


class InternalError(RuntimeError):
    """Two parts of affdsl disagree: a bug of affdsl, not of the caller's program."""


class ArgumentError(TypeError):
    """The wrong arguments: how many, which names, of which type."""


class SizeError(ValueError):
    """An array has the wrong rank, or the sizes of the arrays disagree."""


class RangeError(ValueError):
    """The type of a scalar argument cannot hold the value."""


class LayoutError(ValueError):
    """An array is not contiguous, not aligned, or read-only where it is written."""


class OverlapError(ValueError):
    """Two arrays share memory and at least one of them is written."""
