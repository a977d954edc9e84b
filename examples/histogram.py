"""How often each grey value occurs in an image: an index that is data."""

from collections.abc import Iterator

import numpy as np

import affdsl as af
from examples.case import Case, report

H, W = af.symbols("H W")


@af.kernel
def histogram(image: af.u8[H, W], counts: af.i64[256]):
    """counts[v] becomes the number of pixels with value v."""
    with af.for_(256) as v:
        counts[v] = 0
    with af.for_(H) as i, af.for_(W) as j:
        counts[image[i, j]] += 1


def reference(image):
    """The same in NumPy."""
    return np.bincount(image.ravel(), minlength=256).astype(np.int64)


def cases() -> Iterator[Case]:
    """All values from 0 to 255; counts holds something else before."""
    rng = np.random.default_rng(9)
    for shape in [(0, 0), (0, 5), (1, 1), (1, 9), (16, 32), (13, 7)]:
        image = rng.integers(0, 256, shape, np.uint8)
        image.flat[:2] = 255, 0
        yield Case(histogram, (image, rng.integers(0, 99, 256)), {"counts": reference(image)})


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
