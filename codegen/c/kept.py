"""Memory that a library keeps between calls, as C: for what is compiled at once; other files call malloc and free.

A system clears each page of a new block, which takes longer than to pack a panel into it, and malloc gives large blocks
back to the system whenever much else is free. So up to four blocks stay with each library, of up to 16 MiB each. They
begin at a multiple of 64 bytes, so that no vector crosses a line of the cache.
"""

from __future__ import annotations

BLOCKS = 4
LEAST, MOST = 1 << 16, 1 << 24
"""How many bytes a block has that is kept."""
ALIGNMENT = 64

TEXT = f"""\
/* Before a block stand where its memory begins, and how many bytes it has. */
static void *affdsl_kept[{BLOCKS}];

static __attribute__((noinline)) void affdsl_free(void *block)
{{
    if (block == NULL)
        return;
    const size_t bytes = ((size_t *)block)[-1];
    if (bytes >= {LEAST} && bytes <= {MOST}) {{
        for (int k = 0; k < {BLOCKS}; ++k) {{
            void *none = NULL;
            if (__atomic_compare_exchange_n(&affdsl_kept[k], &none, block, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                return;
        }}
        block = __atomic_exchange_n(&affdsl_kept[0], block, __ATOMIC_ACQ_REL);
    }}
    if (block != NULL)
        free(((void **)block)[-2]);
}}

/* Memory for sizes[0] * sizes[1] * ... elements, or NULL if there is none. Never NULL for no elements. */
static __attribute__((malloc, noinline)) void *affdsl_new(size_t alignment, size_t element, int rank,
                                                          const int64_t *sizes)
{{
    size_t bytes = element;
    for (int d = 0; d < rank; ++d) {{
        if (sizes[d] < 0 || (bytes > 0 && (uint64_t)sizes[d] > (size_t)(PTRDIFF_MAX / 2) / bytes))
            return NULL;
        bytes *= (size_t)sizes[d];
    }}
    for (int k = 0; bytes >= {LEAST} && bytes <= {MOST} && k < {BLOCKS}; ++k) {{
        void *block = __atomic_exchange_n(&affdsl_kept[k], NULL, __ATOMIC_ACQ_REL);
        if (block != NULL && ((size_t *)block)[-1] >= bytes && (uintptr_t)block % alignment == 0)
            return block;
        affdsl_free(block);
    }}
    char *start = malloc(bytes + alignment + 2 * sizeof(size_t));
    if (start == NULL)
        return NULL;
    char *block = start + 2 * sizeof(size_t);
    block += (alignment - (uintptr_t)block % alignment) % alignment;
    ((void **)block)[-2] = start;
    ((size_t *)block)[-1] = bytes;
    return block;
}}
"""
