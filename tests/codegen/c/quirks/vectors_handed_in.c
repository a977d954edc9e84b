// compile: -O2 -Wall -Wextra
typedef float f32x8 __attribute__((vector_size(32)));

static inline __attribute__((always_inline)) f32x8 twice(const f32x8 *a)
{
    return *a + *a;
}

void f(float *x);
void f(float *x)
{
    f32x8 a;
    __builtin_memcpy(&a, x, sizeof a);
    a = twice(&a);
    __builtin_memcpy(x, &a, sizeof a);
}
