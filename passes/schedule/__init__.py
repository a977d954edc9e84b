"""Transformations asked for by the names of loops: what loops are called, the verbs, and how all of it is written."""
