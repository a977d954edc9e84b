// compile: -O2 -fopenmp
typedef float f32x8 __attribute__((vector_size(32)));

static inline __attribute__((always_inline, target("avx2"))) f32x8 loaded(const float *x)
{
    f32x8 a;
    __builtin_memcpy(&a, x, sizeof a);
    return a;
}

void f(float *x, long n);
__attribute__((target("avx2"))) void f(float *x, long n)
{
#pragma omp parallel for
    for (long i = 0; i < n; i += 8) {
        const f32x8 a = loaded(x + i);
        __builtin_memcpy(x + i, &a, sizeof a);
    }
}
