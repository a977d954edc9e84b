"""The operations of linalg whose name says what they compute: they have no region in custom form, and none here."""

from __future__ import annotations

NAMED = frozenset(
    f"linalg.{name}"
    for name in """
    abs add batch_matmul batch_matvec batch_mmt4d batch_reduce_matmul batch_vecmat broadcast ceil contract
    conv_1d conv_1d_ncw_fcw conv_1d_nwc_wcf conv_2d conv_2d_nchw_fchw conv_2d_ngchw_fgchw conv_2d_ngchw_gfchw
    conv_2d_nhwc_fhwc conv_2d_nhwc_hwcf conv_3d conv_3d_ncdhw_fcdhw conv_3d_ndhwc_dhwcf copy
    depthwise_conv_1d_ncw_cw depthwise_conv_1d_nwc_wc depthwise_conv_2d_nchw_chw depthwise_conv_2d_nhwc_hwc
    depthwise_conv_2d_nhwc_hwcm div div_unsigned dot elementwise erf exp fill fill_rng_2d floor log matmul matvec max
    min mmt4d mul negf pooling_nchw_max pooling_nchw_sum pooling_nhwc_max pooling_nhwc_max_unsigned pooling_nhwc_min
    pooling_nhwc_sum pooling_nwc_max pooling_nwc_sum powf quantized_batch_matmul quantized_matmul reciprocal round
    rsqrt select sqrt square sub tanh transpose vecmat
    """.split()
)
"""Those that are read and printed in custom form, also in generic text, where a region would have to stand."""
NOT_SAID = ("linalg.broadcast", "linalg.transpose")
"""Those whose results have the types of what they write, which is not said again."""
KEYWORDS = ("indexing_maps", "kind", "permutation", "dimensions")
"""Properties that are said by a word: the first two before the operands, the others after them."""
