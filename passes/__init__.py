"""Analyses and transformations of affine IR: dependences, loop transformations, schedules and the optimizer."""
