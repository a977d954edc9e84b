// Complex numbers are those of C++.
#include <iostream>
#include <vector>
#include "all_kinds.h"

int main()
{
    const std::vector<std::complex<float>> x{{1, 2}, {3, -4}};
    std::vector<std::complex<double>> y(2);
    turned(2, x.data(), y.data(), 2.0);
    std::cout << y[0] << ' ' << y[1] << '\n';
}
