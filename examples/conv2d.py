"""Two-dimensional convolution as neural networks use it: batches of images, channels, stride and padding."""

from collections.abc import Iterator

import numpy as np

import affdsl as af
from examples.case import Case, report

B, C, F, H, W, KH, KW = af.symbols("B C F H W KH KW")


def conv2d(stride: int, padding: int) -> af.Kernel:
    """The kernel for one stride and one padding with zeros: numbers of the surrounding Python are its constants."""
    rows = (H + 2 * padding - KH) // stride + 1
    columns = (W + 2 * padding - KW) // stride + 1

    @af.kernel
    def conv2d(image: af.f32[B, C, H, W], weight: af.f32[F, C, KH, KW]):
        """The sum over channels c and taps (r, s) of image * weight, for each image b, filter f and place (y, x)."""
        af.assume(H + 2 * padding >= KH, W + 2 * padding >= KW)
        out = af.alloc(af.f32[B, F, rows, columns])
        with af.parallel(B, F, rows, columns) as (b, f, y, x):
            out[b, f, y, x] = 0
            with af.for_(C) as c, af.for_(KH) as r, af.for_(KW) as s:
                i, j = y * stride + r - padding, x * stride + s - padding
                with af.if_((i >= 0) & (i < H) & (j >= 0) & (j < W)):
                    out[b, f, y, x] += image[b, c, i, j] * weight[f, c, r, s]
        return out

    return conv2d


def reference(image, weight, stride, padding):
    """The same in NumPy: all windows of the padded image, times the weights."""
    padded = np.pad(image, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], (2, 3))
    return np.einsum("bcyxrs,fcrs->bfyx", windows[:, :, ::stride, ::stride], weight)


def cases() -> Iterator[Case]:
    """Small whole numbers, so that all sums are exact in any order."""
    rng = np.random.default_rng(6)
    shapes = [
        ((2, 3, 5, 7), (4, 3, 3, 2)),
        ((1, 1, 1, 1), (1, 1, 1, 1)),
        ((1, 2, 4, 3), (2, 2, 1, 3)),
        ((0, 1, 3, 3), (1, 1, 2, 2)),  # no images
        ((1, 0, 3, 3), (2, 0, 2, 2)),  # no channels: nothing is summed
        ((2, 2, 3, 4), (0, 2, 2, 2)),  # no filters
    ]
    for stride, padding in [(1, 0), (2, 1), (3, 2)]:
        kernel = conv2d(stride, padding)
        for image_shape, weight_shape in shapes:
            image, weight = (rng.integers(-9, 10, s).astype(np.float32) for s in (image_shape, weight_shape))
            yield Case(kernel, (image, weight), returns=(reference(image, weight, stride, padding),))


def main() -> None:
    """Check the compiled kernels on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
