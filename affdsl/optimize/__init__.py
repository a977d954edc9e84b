"""Kernels made fast without a hint: steps of a schedule, chosen by recipes on exact facts."""
