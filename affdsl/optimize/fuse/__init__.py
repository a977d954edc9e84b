"""Recipes for all nests of a kernel: which of them become one."""
