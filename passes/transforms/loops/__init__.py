"""What the transformations share: nests and bands, loops in pieces, unrolled bodies, and AST of isl as loops."""
