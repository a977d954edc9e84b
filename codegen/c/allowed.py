"""The memory of a compiled kernel: with which numbers it may run, where only the numbers of a call decide that."""

from __future__ import annotations

REMEMBERED = 8
"""Of how many calls each thread keeps the numbers in the library; Python keeps many more."""
NAMES = ("affdsl_allow", "affdsl_is_allowed", "affdsl_allowed", "affdsl_allowed_count")


def allowed(count: int, export: str) -> str:
    """`affdsl_allow`, which whoever decides calls with `count` numbers, and `affdsl_is_allowed`, which the entry asks.

    Each thread remembers for itself, so that nothing needs a lock: the thread that allows a call makes it, too.
    """
    return f"""/* The numbers with which this thread may run the kernel: those that were allowed last. */
static _Thread_local int64_t affdsl_allowed[{REMEMBERED}][{count}];
static _Thread_local uint32_t affdsl_allowed_count;

{export}void affdsl_allow(const int64_t *symbols);

void affdsl_allow(const int64_t *symbols)
{{
    int64_t *place = affdsl_allowed[affdsl_allowed_count % {REMEMBERED}];
    for (int32_t k = 0; k < {count}; ++k)
        place[k] = symbols[k];
    affdsl_allowed_count = affdsl_allowed_count < {2 * REMEMBERED - 1} ? affdsl_allowed_count + 1 : {REMEMBERED};
}}

static int32_t affdsl_is_allowed(const int64_t *symbols)
{{
    for (uint32_t n = 0; n < affdsl_allowed_count && n < {REMEMBERED}; ++n) {{
        int32_t differ = 0;
        for (int32_t k = 0; k < {count}; ++k)
            differ |= affdsl_allowed[n][k] != symbols[k];
        if (differ == 0)
            return 1;
    }}
    return 0;
}}
"""
