// run: -O2
#include <stdint.h>
typedef int8_t i8x8 __attribute__((vector_size(8)));

__attribute__((noipa)) static int8_t count(const i8x8 *t)
{
    return (int8_t)(((*t)[0] != 0) + ((*t)[1] != 0) + ((*t)[2] != 0) + ((*t)[3] != 0) + ((*t)[4] != 0) +
                    ((*t)[5] != 0) + ((*t)[6] != 0) + ((*t)[7] != 0));
}

int main(void)
{
    const i8x8 a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {1, 0, 3, 0, 5, 6, 7, 0}, t = a == b;
    return count(&t) != 5;
}
