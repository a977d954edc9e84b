// Smooths a small image by the library, and compares with the same in plain C++.
#include <filters.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <vector>

int main()
{
    const std::int64_t rows = 37, columns = 53;
    std::vector<float> image(rows * columns), out(image.size()), of_rows(rows);
    for (std::int64_t k = 0; k < rows * columns; ++k)
        image[k] = static_cast<float>(k * 17 % 101) / 100.0f;

    filters_smooth(rows, columns, image.data(), out.data());
    const float most = filters_brightest(rows, columns, image.data(), of_rows.data());

    int wrong = most != *std::max_element(image.begin(), image.end());
    for (std::int64_t i = 1; i < rows - 1; ++i)
        for (std::int64_t j = 1; j < columns - 1; ++j) {
            const float *at = &image[i * columns + j];
            const float around = at[-columns] + at[columns] + at[-1] + at[1];
            wrong += out[i * columns + j] != (at[0] + around) * 0.2f;
        }
    std::cout << "filters " << FILTERS_VERSION << " in C++: " << wrong << " wrong\n";
    return wrong != 0;
}
