"""The loops, by the field that they are of."""
