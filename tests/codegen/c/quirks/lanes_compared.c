// run: -O2 -funsigned-char
#include <stdint.h>
typedef int8_t i8x16 __attribute__((vector_size(16)));
typedef int32_t i32x16 __attribute__((vector_size(64)));

void f(const i8x16 *a, const i8x16 *b, i32x16 *out);
void f(const i8x16 *a, const i8x16 *b, i32x16 *out)
{
    *out = __builtin_convertvector(*a < *b, i32x16);
}

int main(void)
{
    const i8x16 a = {0}, b = {1};
    i32x16 out;
    f(&a, &b, &out);
    return out[0] != -1;
}
