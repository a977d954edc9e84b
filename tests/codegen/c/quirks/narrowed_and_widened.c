// run: -O2
__attribute__((noipa)) static void widen(double *restrict b, const double *restrict a)
{
    b[0] = (double)(float)a[0];
    b[1] = (double)(float)a[1];
}

int main(void)
{
    double a[2] = {0.1, 0.1}, b[2];
    widen(b, a);
    return b[0] == 0.1;
}
