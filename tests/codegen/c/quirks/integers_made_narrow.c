// assembly: -O3 -mavx2
// shows: vp(extr|insr)\w|mov\w*\s+%e?\w+, -?\d*\(%r[sb]p, 8 times
#include <stdint.h>
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef int8_t i8x16 __attribute__((vector_size(16)));

void f(const i32x16 *a, i8x16 *out)
{
    *out = __builtin_convertvector(*a, i8x16);
}
