// assembly: -O3 -march=x86-64-v3 -ffp-contract=off
// shows: \A(?:(?!\tvmulps)[\s\S])*\tvmulps(?:(?!\tvmulps)[\s\S])*\Z
typedef float f32x8 __attribute__((vector_size(32)));
typedef float f32x8_at __attribute__((vector_size(32), aligned(4), may_alias));

void f(const float *restrict x, float *restrict y, long n)
{
    for (long i = 0; i < 8 * (n / 8); i += 8)
        *(f32x8_at *)(y + i) = *(const f32x8_at *)(x + i) * 3.0f;
}
