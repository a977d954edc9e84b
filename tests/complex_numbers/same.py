"""When numbers are the same: to the last bit, with all NaN alike."""

import numpy as np


def same_bits(a: object, b: object) -> None:
    """Fail unless two arrays or numbers are the same."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    if a.dtype.kind == "c":
        a, b = (x.view(f"f{x.itemsize // 2}") for x in (a, b))
    if a.dtype.kind != "f":
        np.testing.assert_array_equal(a, b)
        return
    bits = f"u{a.itemsize}"
    differ = (a.view(bits) != b.view(bits)) & ~(np.isnan(a) & np.isnan(b))
    assert not differ.any(), f"{a[differ][:4]} is not {b[differ][:4]}"
