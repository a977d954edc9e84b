"""Recipes that keep a block of results in registers: products of matrices, straight code."""
