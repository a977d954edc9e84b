// compile: -std=c11
#include <complex.h>

double _Complex f(double re, double im);
double _Complex f(double re, double im)
{
    return CMPLX(re, im);
}
