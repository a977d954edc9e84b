"""A photograph, sharpened by an unsharp mask, and its edges by Sobel's operator, written as a PNG.

Run it as `python -m examples.unsharp_sobel [result.png]`.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage
from skimage import data

import affdsl as af
from examples.case import Case, report

H, W = af.symbols("H W")

AMOUNT = 1.5
"""How much of the difference from the blurred picture is added."""

SIGMA, RADIUS = 2.0, 6
_BELL = [math.exp(-0.5 * (d / SIGMA) ** 2) for d in range(-RADIUS, RADIUS + 1)]
TAPS = [weight / sum(_BELL) for weight in _BELL]
"""How much the pixels at distances -RADIUS to RADIUS count in the blurred picture; they sum up to 1."""


def clamp(k, size):
    """The nearest index to k that lies in an array of this size."""
    return af.max(0, af.min(k, size - 1))


@af.kernel
def luminance(photo: af.u8[H, W, 3]):
    """How bright each pixel is, from 0 to 1."""
    grey = af.alloc(af.f32[H, W])
    with af.parallel(H, W) as (i, j):
        red, green, blue = (af.f32(photo[i, j, c]) for c in range(3))
        grey[i, j] = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255
    return grey


@af.kernel
def blur(image: af.f32[H, W]):
    """The Gaussian mean around each pixel: down the columns first, then along the row, with the border continued."""
    out = af.alloc(af.f32[H, W])
    with af.parallel(H) as i:
        row = af.alloc(af.f32[W + 2 * RADIUS])  # the columns' means, continued beyond both ends
        with af.for_(W) as j:
            row[j + RADIUS] = sum(w * image[clamp(i + d - RADIUS, H), j] for d, w in enumerate(TAPS))
        with af.if_(W >= 1), af.for_(RADIUS) as d:
            row[d] = row[RADIUS]
            row[W + RADIUS + d] = row[W + RADIUS - 1]
        with af.for_(W) as j:
            out[i, j] = sum(w * row[j + d] for d, w in enumerate(TAPS))
    return out


@af.kernel
def unsharp(image: af.f32[H, W]):
    """The image, with its difference from the blurred one enlarged."""
    soft = blur(image)
    sharp = af.alloc(af.f32[H, W])
    with af.parallel(H, W) as (i, j):
        sharp[i, j] = image[i, j] + AMOUNT * (image[i, j] - soft[i, j])
    return sharp


@af.kernel
def sobel(image: af.f32[H, W]):
    """The length of the gradient, and the greatest of all lengths."""
    edges = af.alloc(af.f32[H, W])
    with af.parallel(H, W, reduce=[("maximumf", af.f32)]) as (i, j, greatest):
        above, below, left, right = clamp(i - 1, H), clamp(i + 1, H), clamp(j - 1, W), clamp(j + 1, W)
        down = image[below, left] + 2 * image[below, j] + image[below, right]
        up = image[above, left] + 2 * image[above, j] + image[above, right]
        east = image[above, right] + 2 * image[i, right] + image[below, right]
        west = image[above, left] + 2 * image[i, left] + image[below, left]
        edges[i, j] = af.sqrt((down - up) ** 2 + (east - west) ** 2)
        af.yield_(edges[i, j])
    return edges, greatest


@af.kernel
def to_pixels(image: af.f32[H, W], white: af.f32):
    """The image in 256 greys, from 0 to white."""
    pixels = af.alloc(af.u8[H, W])
    with af.parallel(H, W) as (i, j):
        pixels[i, j] = af.u8(af.roundeven(255 * af.max(0, af.min(1, image[i, j] / white))))
    return pixels


@af.kernel
def unsharp_sobel(photo: af.u8[H, W, 3]):
    """The whole pipeline: the sharpened picture and its edges, both in 256 greys."""
    sharp = unsharp(luminance(photo))
    edges, greatest = sobel(sharp)
    # The edges of a flat picture are rounding errors, which shall stay black.
    return to_pixels(sharp, 1), to_pixels(edges, af.max(greatest, 0.01))


def reference_blur(image):
    """The same as blur, by SciPy."""
    return ndimage.correlate1d(ndimage.correlate1d(image, TAPS, 0, mode="nearest"), TAPS, 1, mode="nearest")


def reference_sobel(image):
    """The same as sobel, by SciPy."""
    edges = np.hypot(ndimage.sobel(image, 0, mode="nearest"), ndimage.sobel(image, 1, mode="nearest"))
    return edges, edges.max(initial=-np.inf)


def reference_pixels(image, white):
    """The same as to_pixels, by NumPy."""
    return np.rint(255 * np.clip(image / white, 0, 1)).astype(np.uint8)


def reference(photo, dtype=np.float64):
    """The same as unsharp_sobel, by NumPy and SciPy, in double precision or the given one."""
    grey = (photo @ np.array([0.2126, 0.7152, 0.0722], dtype)) / dtype(255)
    sharp = grey + dtype(AMOUNT) * (grey - reference_blur(grey))
    edges, greatest = reference_sobel(sharp)
    return reference_pixels(sharp, 1), reference_pixels(edges, max(greatest, dtype(0.01)))


def cases() -> Iterator[Case]:
    """Details of the photograph, from nothing to larger than the blur.

    Single precision is off by some 2**-24 for each of about 30 additions of numbers below 8. A pixel may then be
    rounded to the neighbouring grey.
    """
    photo = data.coffee()
    close = 3e-6
    for h, w in [(0, 0), (0, 3), (3, 0), (1, 1), (1, 9), (9, 1), (5, 4), (23, 17)]:
        detail = np.ascontiguousarray(photo[100 : 100 + h, 250 : 250 + w])
        grey = (detail @ np.array([0.2126, 0.7152, 0.0722]) / 255).astype(np.float32)
        edges, greatest = reference_sobel(grey.astype(np.float64))
        yield Case(luminance, (detail,), returns=(grey,), atol=close)
        yield Case(blur, (grey,), returns=(reference_blur(grey),), atol=close)
        yield Case(unsharp, (grey,), returns=(grey + np.float32(AMOUNT) * (grey - reference_blur(grey)),), atol=close)
        yield Case(sobel, (grey,), returns=(edges.astype(np.float32), np.float32(greatest)), atol=close)
        yield Case(to_pixels, (grey, 0.7), returns=(reference_pixels(grey, 0.7),), atol=1)
        yield Case(unsharp_sobel, (detail,), returns=reference(detail), atol=1)


def write_png(path: Path) -> None:
    """Write the photograph's brightness, the sharpened picture and its edges, side by side."""
    photo = data.coffee()
    sharp, edges = unsharp_sobel(photo)
    Image.fromarray(np.hstack([to_pixels(luminance(photo), 1), sharp, edges])).save(path)


def main() -> None:
    """Check the compiled kernels on all cases, then write the PNG."""
    report(cases())
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "unsharp_sobel.png")
    write_png(path)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
