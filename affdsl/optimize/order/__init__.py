"""Recipes that change the order of iterations: index sets split, loops apart, tiles in time, blocks, fronts."""
