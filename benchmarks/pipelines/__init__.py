"""Image pipelines and layers of networks beside numba, Halide and torch."""
