"""The idioms, one file for each group."""
