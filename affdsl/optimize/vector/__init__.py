"""Recipes that put a loop on vectors: the innermost one, one around others, sums and recurrences in lanes."""
