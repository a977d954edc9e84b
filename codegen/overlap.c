/* Whether arrays share bytes: exact where a short search decides, and yes where it does not; overlap.py does the same
   and says what it means. Part of entry.c. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

/* No array in memory has more elements, but one with strides of 0 can. */
#define LARGEST ((npy_intp)1 << 47)
/* How many choices a search makes before it gives up. */
#define SEARCHED 1000
/* Two arrays have at most so many strides. */
#define TERMS 128

/* A step, which is positive, and the ends of the numbers by which it is multiplied. */
typedef struct {
    int64_t step, first, last;
} Term;

static int64_t floor_quotient(int64_t number, int64_t divisor)
{
    return number / divisor - (number % divisor < 0);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether terms, whose steps fall, add up to a number from low to high with some choice of factors. */
static int meets(const Term *terms, int count, int64_t low, int64_t high, int *left)
{
    int64_t least = 0, most = 0, every = 0;
    for (int k = 0; k < count; k++) {
        least += terms[k].step * terms[k].first;
        most += terms[k].step * terms[k].last;
        every = common_divisor(every, terms[k].step);
    }
    if (least > high || most < low)
        return 0;
    if (count == 0)
        return 1;
    if (-floor_quotient(-low, every) > floor_quotient(high, every))
        return 0;
    int64_t step = terms->step;
    least -= step * terms->first;
    most -= step * terms->last;
    int64_t first = -floor_quotient(most - low, step), last = floor_quotient(high - least, step);
    first = first > terms->first ? first : terms->first;
    last = last < terms->last ? last : terms->last;
    for (int64_t n = first; n <= last; n++)
        if (--*left < 0 || meets(terms + 1, count - 1, low - n * step, high - n * step, left))
            return 1;
    return 0;
}

/* Add a term in its place; terms of one step become one, and one of step 0 adds nothing. */
static int add_term(Term *terms, int count, int64_t stride, int64_t end)
{
    int64_t step = stride < 0 ? -stride : stride;
    int at = 0;
    if (step == 0)
        return count;
    end = stride < 0 ? -end : end;
    while (at < count && terms[at].step > step)
        at++;
    if (at == count || terms[at].step != step) {
        memmove(terms + at + 1, terms + at, (size_t)(count - at) * sizeof(Term));
        terms[at] = (Term){step, 0, 0};
        count++;
    }
    if (end < 0)
        terms[at].first += end;
    else
        terms[at].last += end;
    return count;
}

/* The ends of the bytes of an array that is not empty, as distances from its first element. */
static void find_ends(PyArrayObject *array, int64_t *low, int64_t *high)
{
    *low = 0;
    *high = PyArray_ITEMSIZE(array) - 1;
    for (int k = 0; k < PyArray_NDIM(array); k++) {
        int64_t end = (PyArray_DIM(array, k) - 1) * (int64_t)PyArray_STRIDE(array, k);
        *(end < 0 ? low : high) += end;
    }
}

/* Whether two arrays may share a byte. */
static int strided_overlap(PyArrayObject *a, PyArrayObject *b)
{
    if (PyArray_SIZE(a) == 0 || PyArray_SIZE(b) == 0)
        return 0;
    int64_t apart = (int64_t)((uintptr_t)PyArray_DATA(b) - (uintptr_t)PyArray_DATA(a));
    int64_t a_low, a_high, b_low, b_high;
    find_ends(a, &a_low, &a_high);
    find_ends(b, &b_low, &b_high);
    if (a_high < apart + b_low || apart + b_high < a_low)
        return 0;
    Term terms[TERMS];
    int count = 0, left = SEARCHED;
    for (int k = 0; k < PyArray_NDIM(a); k++)
        count = add_term(terms, count, PyArray_STRIDE(a, k), 1 - PyArray_DIM(a, k));
    for (int k = 0; k < PyArray_NDIM(b); k++)
        count = add_term(terms, count, PyArray_STRIDE(b, k), PyArray_DIM(b, k) - 1);
    return meets(terms, count, 1 - PyArray_ITEMSIZE(b) - apart, PyArray_ITEMSIZE(a) - 1 - apart, &left);
}

/* Whether two elements of an array may be one. */
static int overlaps_itself(PyArrayObject *array)
{
    Term terms[TERMS];
    int count = 0, left = SEARCHED;
    if (PyArray_SIZE(array) == 0)
        return 0;
    for (int k = 0; k < PyArray_NDIM(array); k++) {
        int64_t size = PyArray_DIM(array, k), stride = PyArray_STRIDE(array, k);
        int before = count;
        if (size <= 1)
            continue;
        count = add_term(terms, count, stride < 0 ? -stride : stride, size - 1);
        if (count == before) /* a stride of 0, or one that another dimension has */
            return 1;
    }
    for (int k = 0; k < count; k++)
        terms[k].first = -terms[k].last;
    for (int k = 0; k < count; k++) {
        terms[k].first = 1;
        if (meets(terms + k, count - k, 0, 0, &left))
            return 1;
    }
    return 0;
}
