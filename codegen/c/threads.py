"""Numbers of threads that C with parallel loops is told when it runs, instead of those that OpenMP has."""

EXPORT = """#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
"""
"""What makes a function visible outside of its library."""
NAMES = ("affdsl_asks", "affdsl_told", "affdsl_threads")
"""What no function of a kernel is called."""

_ASKS = """\
#if defined(_OPENMP)
#include <omp.h>

/* 1 once this thread was told to use several threads; -1 where it must not, because its process was forked. */
static _Thread_local int affdsl_asks;

"""

TOLD = f"""{_ASKS}\
static int affdsl_told(int32_t threads)
{{
    if (threads < 1 || affdsl_asks < 0)
        return omp_get_max_threads();
    if (threads > 1)
        affdsl_asks = 1;
    return threads;
}}
#endif

"""
"""What a file needs whose functions take a number of threads: 0, and what is below, leaves it to OpenMP."""

NUMBERED = f"""{_ASKS}#endif

"""
"""What a file needs with the setter."""

SETTER = f"""\
/* Tells OpenMP how many threads loops have that the thread which calls runs from now on; gives how many before. */
{EXPORT}int32_t affdsl_threads(int32_t threads);

int32_t affdsl_threads(int32_t threads)
{{
#if defined(_OPENMP)
    const int32_t before = omp_get_max_threads();
    if (affdsl_asks < 0)
        return before;
    if (threads > 1)
        affdsl_asks = 1;
    omp_set_num_threads(threads);
    return before;
#else
    return threads;
#endif
}}
"""
"""The function of a library that is called from Python here, see `affdsl.codegen.caller`."""

# What is told
# ------------
# The functions of a library take the number as an argument, and each loop has it in a clause: nothing that OpenMP keeps
# is changed. Calls from Python have an entry that all kernels share and that takes no number, so there OpenMP is told
# before, and told what it had behind the call. It keeps a number for each thread: no other thread sees it.
# Before a fork the threads end that libgomp keeps for the thread that forks (`forks.py`), which has some also where
# OpenMP has the number 1 if it was told another one: so that is noted.
