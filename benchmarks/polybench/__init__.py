"""The thirty kernels of PolyBench/C 4.2.1 (Pouchet and Yuki), written as affdsl kernels.

python -m benchmarks.polybench gemm --size LARGE --run c --dump gemm.npz
"""
