"""Recipes for how memory is gone through: copies in another layout, lines, stores past the caches, prefetching."""
