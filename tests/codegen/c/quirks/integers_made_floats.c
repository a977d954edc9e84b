// assembly: -O3 -mavx2
// shows: v?cvtsi2ss, 8 times
#include <stdint.h>
typedef uint8_t u8x8 __attribute__((vector_size(8)));
typedef float f32x8 __attribute__((vector_size(32)));

void f(const u8x8 *a, f32x8 *out)
{
    *out = __builtin_convertvector(*a, f32x8);
}
