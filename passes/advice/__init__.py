"""What can be done instead of what is refused: above all transformations, which it tries."""
