"""Helpers that allocate buffers, and that check whether what is accessed lies in its array."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.codegen.c.helper import Helper, inline_function


def _allocator(name: str, parameter: str, result: str) -> str:
    body = (
        "size_t bytes = element;\n"
        "for (int d = 0; d < rank; ++d) {\n"
        "    if (sizes[d] < 0 || (bytes > 0 && (uint64_t)sizes[d] > (size_t)(PTRDIFF_MAX / 2) / bytes))\n"
        "        return NULL;\n"
        "    bytes *= (size_t)sizes[d];\n"
        "}\n"
        f"return {result};"
    )
    text = inline_function("void *", name, f"{parameter}size_t element, int rank, const int64_t *sizes", body)
    return text.replace("void * ", "void *")


ON_MEMORY: Mapping[str, Helper] = {
    "new_buffer": Helper(
        "/* Memory for sizes[0] * sizes[1] * ... elements, or NULL if there is none. Never NULL for no elements.\n"
        "   What is long begins with a line of the cache, so that fewer vectors lie in two of them. */\n"
        + _allocator(
            "new_buffer",
            "",
            "bytes < 1024 ? malloc(bytes > 0 ? bytes : element) : aligned_alloc(64, (bytes + 63) / 64 * 64)",
        ),
        headers=("stdint.h", "stdlib.h"),
    ),
    "new_aligned": Helper(
        "/* As new_buffer, at an address that is a multiple of `alignment`, a power of two. */\n"
        + _allocator(
            "new_aligned", "size_t alignment, ", "aligned_alloc(alignment, (bytes / alignment + 1) * alignment)"
        ),
        headers=("stdint.h", "stdlib.h"),
    ),
    "affdsl_outside": Helper(
        "/* notes which check failed, and its numbers; the first one that comes here counts */\n"
        "#if defined(__GNUC__)\n__attribute__((noinline, cold))\n#endif\n"
        "static void affdsl_outside(int64_t *failure, int64_t site, int64_t count, const int64_t *numbers)\n{\n"
        "#if defined(_OPENMP)\n#pragma omp critical(affdsl_failure)\n#endif\n"
        "    {\n"
        "        if (failure[0] == 0) {\n"
        "            failure[0] = site;\n"
        "            for (int64_t k = 0; k < count; ++k)\n"
        "                failure[k + 1] = numbers[k];\n"
        "        }\n"
        "    }\n"
        "}"
    ),
    "affdsl_is_behind": Helper(
        "/* whether the element `offset` behind index is one, in its row or, of a contiguous array, behind that */\n"
        + inline_function(
            "int32_t",
            "affdsl_is_behind",
            "int64_t rank, const int64_t *index, const int64_t *sizes, int64_t offset, int32_t contiguous",
            "int32_t failed = 0;\n"
            "const int64_t last = checked_add(index[rank - 1], offset, &failed);\n"
            "if (failed == 0 && last >= 0 && last < sizes[rank - 1]) {\n"
            "    for (int64_t k = 0; k < rank - 1; ++k)\n"
            "        if (index[k] < 0 || index[k] >= sizes[k])\n"
            "            return 0;\n"
            "    return 1;\n"
            "}\n"
            "int64_t place = 0, count = 1;\n"
            "failed = 0;\n"
            "for (int64_t k = 0; k < rank; ++k) {\n"
            "    place = checked_add(checked_mul(place, sizes[k], &failed), index[k], &failed);\n"
            "    count = checked_mul(count, sizes[k], &failed);\n"
            "}\n"
            "place = checked_add(place, offset, &failed);\n"
            "return contiguous != 0 && failed == 0 && place >= 0 && place < count;",
        ),
        needs=("checked_add", "checked_mul"),
    ),
    "affdsl_is_span": Helper(
        "/* whether count elements, jump apart from the one at offset on, lie among as many as size says */\n"
        + inline_function(
            "int32_t",
            "affdsl_is_span",
            "int64_t size, int64_t offset, int64_t count, int64_t jump",
            "int32_t failed = 0;\n"
            "if (count <= 0)\n"
            "    return count == 0;\n"
            "const int64_t last = checked_add(offset, checked_mul(count - 1, jump, &failed), &failed);\n"
            "return failed == 0 && offset >= 0 && offset < size && last >= 0 && last < size;",
        ),
        needs=("checked_add", "checked_mul"),
    ),
    "affdsl_is_chunked": Helper(
        "/* whether count elements, in chunks that start jump apart, from the one at offset on, lie among `size` */\n"
        + inline_function(
            "int32_t",
            "affdsl_is_chunked",
            "int64_t size, int64_t offset, int64_t count, int64_t jump, int64_t chunk",
            "const int64_t last = checked_add(offset, chunk - 1, &(int32_t){0});\n"
            "return count <= 0 || (affdsl_is_span(size, offset, count / chunk, jump) != 0 &&\n"
            "                      affdsl_is_span(size, last, count / chunk, jump) != 0);",
        ),
        needs=("affdsl_is_span", "checked_add"),
    ),
    "affdsl_reach": Helper(
        "/* whether an array of these sizes and strides, from the element at offset on, lies among `count` */\n"
        + inline_function(
            "int32_t",
            "affdsl_reach",
            "int64_t count, int64_t offset, int64_t rank, const int64_t *sizes, const int64_t *strides",
            "int32_t failed = 0, empty = 0;\n"
            "int64_t low = offset, high = offset;\n"
            "for (int64_t k = 0; k < rank; ++k) {\n"
            "    if (sizes[k] < 0)\n"
            "        return 0;\n"
            "    if (sizes[k] == 0) {\n"
            "        empty = 1;\n"
            "        continue;\n"
            "    }\n"
            "    const int64_t end = checked_mul(sizes[k] - 1, strides[k], &failed);\n"
            "    low = end < 0 ? checked_add(low, end, &failed) : low;\n"
            "    high = end > 0 ? checked_add(high, end, &failed) : high;\n"
            "}\n"
            "return empty != 0 || (failed == 0 && low >= 0 && high < count);",
        ),
        needs=("checked_add", "checked_mul"),
    ),
    "affdsl_product": Helper(
        "/* the product of sizes; -1 where one is negative or no int64_t holds it */\n"
        + inline_function(
            "int64_t",
            "affdsl_product",
            "int64_t rank, const int64_t *sizes",
            "int32_t failed = 0;\n"
            "int64_t count = 1;\n"
            "for (int64_t k = 0; k < rank; ++k) {\n"
            "    count = checked_mul(count, sizes[k], &failed);\n"
            "    failed = sizes[k] < 0 ? 1 : failed;\n"
            "}\n"
            "return failed != 0 ? -1 : count;",
        ),
        needs=("checked_mul",),
    ),
    "checked_add": Helper(
        "/* a + b; sets *failed where no int64_t holds it */\n"
        + inline_function(
            "int64_t",
            "checked_add",
            "int64_t a, int64_t b, int32_t *failed",
            "if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {\n    *failed = 1;\n    return 0;\n}\nreturn a + b;",
        )
    ),
    "checked_divisor": Helper(
        "/* a; sets *failed where it is no divisor */\n"
        + inline_function(
            "int64_t",
            "checked_divisor",
            "int64_t a, int32_t *failed",
            "if (a <= 0)\n    *failed = 1;\nreturn a > 0 ? a : 1;",
        )
    ),
    "checked_mul": Helper(
        "/* a * b; sets *failed where no int64_t holds it */\n"
        + inline_function(
            "int64_t",
            "checked_mul",
            "int64_t a, int64_t b, int32_t *failed",
            "const uint64_t x = a < 0 ? 0u - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0u - (uint64_t)b : (uint64_t)b;\n"
            "if (y != 0 && x > (uint64_t)INT64_MAX / y) {\n"
            "    *failed = 1;\n"
            "    return 0;\n"
            "}\n"
            "return a * b;",
        )
    ),
}
"""By their names."""
