"""Analyses and transformations of affine IR: dependences, loop transformations, schedules and the optimizer."""

if __name__ != "affdsl.passes":
    raise ImportError(f"{__name__} is a part of affdsl: import affdsl.passes, and give pytest affdsl/passes")
