"""The language: with-blocks and operators that build affine IR as they run."""
