"""Loops and nests made one: what makes a value runs beside what reads it."""
