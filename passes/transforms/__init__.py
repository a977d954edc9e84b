"""The transformations: one file for each, named as its verb of a schedule."""
