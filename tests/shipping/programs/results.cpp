// An array that is a result and a number that is returned; several numbers, of 16 bits among them.
#include <iostream>
#include <vector>
#include "all_kinds.h"

int main()
{
    const std::vector<float> x{1, 2, 4};
    std::vector<float> out(3);
    std::cout << doubled(3, x.data(), out.data()) << ' ' << out[2] << '\n';
    const std::uint8_t bytes[] = {8, 2, 6};
    std::uint16_t halved[2], last;
    bool is_large;
    halves(1, bytes, halved, &last, &is_large);
    std::cout << std::hex << halved[0] << ' ' << halved[1] << ' ' << last << ' ' << is_large << '\n';
}
