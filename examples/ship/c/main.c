/* Smooths a small image by the library, and compares with the same in plain C. */
#include <filters.h>
#include <stdio.h>

enum { ROWS = 37, COLUMNS = 53 };

int main(void)
{
    static float image[ROWS][COLUMNS], out[ROWS][COLUMNS], rows[ROWS];
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j)
            image[i][j] = (float)((i * 31 + j * 17) % 101) / 100.0f;

    filters_smooth(ROWS, COLUMNS, &image[0][0], &out[0][0]);
    const float most = filters_brightest(ROWS, COLUMNS, &image[0][0], rows);

    int wrong = most != 1.0f;
    for (int i = 1; i < ROWS - 1; ++i)
        for (int j = 1; j < COLUMNS - 1; ++j) {
            const float around = image[i - 1][j] + image[i + 1][j] + image[i][j - 1] + image[i][j + 1];
            wrong += out[i][j] != (image[i][j] + around) * 0.2f;
        }
    printf("filters %s in C: %d wrong\n", FILTERS_VERSION, wrong);
    return wrong != 0;
}
