"""Recipes that keep a block of results in registers: products of matrices, rows and time steps at once."""
