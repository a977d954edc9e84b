"""What a C file with parallel loops does where its process forks: the threads end before, and new ones begin."""

from affdsl.codegen.c.quirks import condition

_FORKS = (
    """\
#if defined(_OPENMP) && (defined(__unix__) || defined(__APPLE__))
#include <omp.h>

int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));

"""
    f"#if {condition('forks')}\n"
    """\
/* Threads do not survive a fork, but the OpenMP library of gcc would wait for them in the child. So those of the thread
   that forks end before it does; its next parallel loop, here and in the child, begins new ones. */
#if __GNUC__ >= 9
static int (*affdsl_end_threads)(omp_pause_resource_t);

static void affdsl_before_fork(void)
{
    if (affdsl_end_threads && (omp_get_max_threads() > 1ASKS))
        (void)affdsl_end_threads(omp_pause_soft);
}

static void affdsl_in_child(void)
{
    if (!affdsl_end_threads)
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
    __builtin_memcpy(&affdsl_end_threads, &found, sizeof found);
}
#else
static void affdsl_find(void)
{
    affdsl_end_threads = omp_pause_resource_all;
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

"""
)


def forks(*, is_told: bool) -> str:
    """The text; where a file is told numbers of threads (`affdsl.codegen.c.threads`), it looks at `affdsl_asks`."""
    if not is_told:
        return _FORKS.replace("ASKS", "")
    alone = "omp_set_num_threads(1)"
    return _FORKS.replace("ASKS", " || affdsl_asks > 0").replace(f"{alone};", f"{alone}, affdsl_asks = -1;")


# Forks and OpenMP
# ----------------
# The threads that libgomp keeps for the next parallel region belong to the thread that began the last one. A child has
# no other threads than the one that forked, and there libgomp's memory still says that they wait for work: the next
# region waits for them without end. So does omp_pause_resource_all, which ends them, in the child: it has to be called
# before the fork. What the parent pays is in decision 72. Other code that uses the same libgomp is right with it, too.
# A thread that asks for one thread, and was never told another number, is left alone: so is the child of
# which affdsl.codegen.forks does not know what libgomp did before the fork, and where ending threads could hang.
# The library of clang looks after forks itself, unless KMP_INIT_AT_FORK tells it not to, as joblib does when it is
# imported: one thread needs no others. pthread.h declares much that a kernel may be called: so it is not included.
