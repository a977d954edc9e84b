"""Keeps in values what a loop carries in memory from one iteration to the next."""
