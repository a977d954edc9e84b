"""Which elements the named products, convolutions and poolings of linalg take: a row for each.

A row has the order of the loops, then a word for each operand: a letter is a dimension, and `h+y` a window, the element
y of the one that begins at h, in steps of the strides and dilations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from affdsl.ir.expr import Affine
from affdsl.ir.maps import dim

CONTRACTIONS: Mapping[str, str] = {
    "dot": "k: k k .",
    "matvec": "mk: mk k m",
    "vecmat": "nk: k kn n",
    "matmul": "mnk: mk kn mn",
    "batch_matvec": "bmk: bmk bk bm",
    "batch_vecmat": "bnk: bk bkn bn",
    "batch_matmul": "bmnk: bmk bkn bmn",
    "batch_reduce_matmul": "bmnk: bmk bkn mn",
    "mmt4d": "MNKmnk: MKmk NKnk MNmn",
    "conv_1d": "hy: h+y y h",
    "conv_2d": "hwyx: h+yw+x yx hw",
    "conv_3d": "dhwzyx: d+zh+yw+x zyx dhw",
    "conv_1d_nwc_wcf": "nwfxc: nw+xc xcf nwf",
    "conv_1d_ncw_fcw": "nfwcx: ncw+x fcx nfw",
    "conv_2d_nhwc_hwcf": "nhwfyxc: nh+yw+xc yxcf nhwf",
    "conv_2d_nhwc_fhwc": "nhwfyxc: nh+yw+xc fyxc nhwf",
    "conv_2d_nchw_fchw": "nfhwcyx: nch+yw+x fcyx nfhw",
    "conv_3d_ndhwc_dhwcf": "ndhwfzyxc: nd+zh+yw+xc zyxcf ndhwf",
    "depthwise_conv_1d_nwc_wc": "nwcx: nw+xc xc nwc",
    "depthwise_conv_2d_nhwc_hwc": "nhwcyx: nh+yw+xc yxc nhwc",
    "depthwise_conv_2d_nchw_chw": "nhwcyx: nch+yw+x cyx nchw",
}
"""Sums of products."""

POOLED: Mapping[str, str] = {
    **{f"pooling_nhwc_{kind}": "nhwcyx: nh+yw+xc yx nhwc" for kind in ("max", "min", "sum")},
    **{f"pooling_nchw_{kind}": "nchwyx: nch+yw+x yx nchw" for kind in ("max", "sum")},
    "pooling_nwc_max": "nwcx: nw+xc x nwc",
}
"""What windows are reduced to; the second operand says by its shape how large they are, and is not read."""

_TERM = re.compile(r"([a-zA-Z])(?:\+([a-zA-Z]))?")


def maps_of(
    row: str, strides: Sequence[int] | None, dilations: Sequence[int] | None
) -> tuple[int, list[tuple[Affine, ...]]] | None:
    """How many loops there are, and the map of each operand over `maps.dim(k)`; None where a step is not known.

    `strides` and `dilations` have a number for each window, or none, which is 1 for all.

    >>> from affdsl.ir.maps import AffineMap
    >>> dims, maps = maps_of("hy: h+y y h", [2], [])
    >>> [str(AffineMap(dims, 0, map)) for map in maps]
    ['(d0, d1) -> (d0 * 2 + d1)', '(d0, d1) -> (d1)', '(d0, d1) -> (d0)']
    """
    order, _, words = row.partition(":")
    dims = {letter: Affine.of(dim(k)) for k, letter in enumerate(order)}
    operands = [_TERM.findall(word) for word in words.split()]
    windows = [letter for terms in operands for letter, inside in terms if inside]
    if strides is None or dilations is None or any(len(s) not in (0, len(windows)) for s in (strides, dilations)):
        return None
    ones = [1] * len(windows)
    steps = dict(zip(windows, zip(strides or ones, dilations or ones, strict=True), strict=True))

    def expr(letter: str, inside: str) -> Affine:
        if not inside:
            return dims[letter]
        stride, dilation = steps[letter]
        made: Affine = dims[letter] * stride + dims[inside] * dilation
        return made

    return len(dims), [tuple(expr(*term) for term in terms) for terms in operands]
