// run: -O3 -fno-trapping-math -fno-math-errno
__attribute__((noinline)) static double sum(long n, const double *restrict x, double most, double s)
{
    for (long i = 0; i < n; ++i)
        if (x[i] < most)
            s += x[i] * x[i];
    return s;
}

int main(void)
{
    double x[64];
    for (int i = 0; i < 64; ++i)
        x[i] = 5;
    return 1 / sum(64, x, 1, -0.0) > 0;
}
