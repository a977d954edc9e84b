"""The language: with-blocks and operators that build affine IR as they run."""

import affdsl.lang.annotations  # noqa: F401 - so that f32[N] can be written before anything else has been used
