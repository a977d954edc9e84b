"""One kernel of PolyBench a file: its loops, its sizes, its input, and the same computation in NumPy."""
