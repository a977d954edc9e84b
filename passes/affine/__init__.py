"""Affine expressions in programs: which values may stand in them, maps with their operands, and their arithmetic."""
