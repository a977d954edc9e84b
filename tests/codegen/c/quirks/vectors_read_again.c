// assembly: -O3 -march=x86-64-v4 -ffp-contract=off
// shows: \n\tv(?!movups\t%)\w+\t-?\d*\(%r(?!ip), 8 times
typedef float f32x16 __attribute__((vector_size(64)));
typedef float f32x16_at __attribute__((vector_size(64), aligned(4), may_alias));

static inline f32x16 smooth(f32x16 a, f32x16 b, f32x16 c, f32x16 d, f32x16 e)
{
    return (a + e) * 0.1f + (b + d) * 0.2f + c * 0.4f;
}

void f(const float *restrict x, float *restrict y, long n)
{
    for (long i = 0; i < n; i += 16) {
        const f32x16 a = *(const f32x16_at *)(x + i), b = *(const f32x16_at *)(x + i + n),
                     c = *(const f32x16_at *)(x + i + 2 * n), d = *(const f32x16_at *)(x + i + 3 * n),
                     e = *(const f32x16_at *)(x + i + 4 * n), g = *(const f32x16_at *)(x + i + 5 * n),
                     h = *(const f32x16_at *)(x + i + 6 * n);
        *(f32x16_at *)(y + i) = smooth(a, b, c, d, e);
        *(f32x16_at *)(y + i + n) = smooth(b, c, d, e, g);
        *(f32x16_at *)(y + i + 2 * n) = smooth(c, d, e, g, h);
    }
}
