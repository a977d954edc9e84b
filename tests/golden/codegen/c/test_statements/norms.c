#include "norms.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16
#error "floats would be computed in wider ones: compile with -fexcess-precision=fast, or on x86 with -mfpmath=sse"
#endif

#if defined(_OPENMP) && (defined(__unix__) || defined(__APPLE__))
#include <omp.h>

int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));

#if defined(__GNUC__) && !defined(__clang__)
/* Threads do not survive a fork, but the OpenMP library of gcc would wait for them in the child. So those of the thread
   that forks end before it does; its next parallel loop, here and in the child, begins new ones. */
#if __GNUC__ >= 9
static int (*affdsl_pause)(omp_pause_resource_t);

static void affdsl_before_fork(void)
{
    if (affdsl_pause && (omp_get_max_threads() > 1))
        (void)affdsl_pause(omp_pause_soft);
}

static void affdsl_in_child(void)
{
    if (!affdsl_pause)
        omp_set_num_threads(1);
}
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
/* Found by name: where the process has an older libgomp already, which some packages for Python bring, a file that
   needs the function would not be loaded. One thread runs the loops of the child then. */
#if defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#else
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif
void *dlsym(void *where, const char *name) __attribute__((weak));

static void affdsl_find(void)
{
    void *found = dlsym ? dlsym((void *)0, "omp_pause_resource_all") : (void *)0;
    __builtin_memcpy(&affdsl_pause, &found, sizeof found);
}
#else
static void affdsl_find(void)
{
    affdsl_pause = omp_pause_resource_all;
}
#endif
#define AFFDSL_AT_FORK affdsl_before_fork, 0, affdsl_in_child
#define AFFDSL_FIND affdsl_find()
#else /* whose library cannot end them: one thread runs the loops of the child */
static void affdsl_in_child(void)
{
    omp_set_num_threads(1);
}
#define AFFDSL_AT_FORK 0, 0, affdsl_in_child
#define AFFDSL_FIND (void)0
#endif
#else /* the library of LLVM begins new threads in the child, unless it is told not to: then the child would wait */
char *getenv(const char *name);

static void affdsl_in_child(void)
{
    if (getenv("KMP_INIT_AT_FORK"))
        omp_set_num_threads(1);
}
#define AFFDSL_AT_FORK 0, 0, affdsl_in_child
#define AFFDSL_FIND (void)0
#endif

__attribute__((constructor)) static void affdsl_watch_forks(void)
{
    AFFDSL_FIND;
    (void)pthread_atfork(AFFDSL_AT_FORK);
}
#endif

static inline int64_t bits_f64(double a)
{
    int64_t b;
    memcpy(&b, &a, sizeof b);
    return b;
}

static inline double float_i64(int64_t a)
{
    double b;
    memcpy(&b, &a, sizeof b);
    return b;
}

static inline double maximum_f64(double a, double b)
{
    const double m = b > a ? b : a, e = a == b ? float_i64(bits_f64(a) & bits_f64(b)) : m;
    return b != b ? b : e;
}

static inline int32_t add_i32(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

#if defined(_OPENMP)
#pragma omp declare reduction(reduce_maximumf_f64 : double : omp_out = maximum_f64(omp_out, omp_in)) initializer(omp_priv = -INFINITY)
#pragma omp declare reduction(reduce_addi_i32 : int32_t : omp_out = add_i32(omp_out, omp_in)) initializer(omp_priv = 0)
#endif

void norms(int64_t M, int64_t N, const double *restrict A, double *restrict total,
           int32_t *restrict count)
{
    double total_1 = -INFINITY;
    int32_t total_2 = 0;
#if defined(_OPENMP)
#pragma omp parallel for if((double)M * (double)N * 6.0 > 1000000.0) reduction(reduce_maximumf_f64 : total_1) reduction(reduce_addi_i32 : total_2)
#endif
    for (int64_t i = 0; i < M; ++i) {
        for (int64_t j = 0; j < N; ++j) {
            const double t = A[i * N + j];
            total_1 = maximum_f64(total_1, fabs(t));
            total_2 = add_i32(total_2, (int32_t)(t > 0.5));
        }
    }
    *total = total_1;
    *count = total_2;
}
