// assembly: -O3 -mavx2 -ffp-contract=off
// shows: \(%rsp\), 4 times
typedef float f32x16 __attribute__((vector_size(64)));
typedef float f32x16_at __attribute__((vector_size(64), aligned(4), may_alias));

void f(const float *restrict x, float *restrict out, long n)
{
    f32x16 sum = {0};
    for (long i = 0; i < n; i += 16)
        sum = sum + *(const f32x16_at *)(x + i) * *(const f32x16_at *)(x + i + n);
    *(f32x16_at *)out = sum;
}
