/* Runs the cases that stand on the standard input, each on memory of exactly its size, and prints what they leave.

   Each case: the number of the program; the pointers, each with a count of bytes and the bytes; the sizes; the sizes
   that the array results must have. All counts and numbers are int64_t. The answer: the status, -1 where the sizes of
   the results are wrong; the bytes of all pointers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t entry_function(void *const *pointers, const int64_t *sizes);
typedef int32_t results_function(const int64_t *sizes, void *const *pointers, int64_t *result_sizes);

extern entry_function *const entries[];
extern results_function *const results[];

static void *take(size_t bytes)
{
    void *memory = malloc(bytes);
    if ((memory == NULL && bytes != 0) || fread(memory, 1, bytes, stdin) != bytes)
        exit(3);
    return memory;
}

static size_t take_count(void)
{
    int64_t number;
    if (fread(&number, sizeof(number), 1, stdin) != 1)
        exit(3);
    return (size_t)number;
}

static void give(const void *memory, size_t bytes)
{
    if (fwrite(memory, 1, bytes, stdout) != bytes)
        exit(3);
}

static int64_t call(size_t program, void *const *pointers, const int64_t *sizes, const int64_t *expected, size_t count)
{
    if (results[program] != NULL) {
        int64_t *found = malloc((count + 1) * sizeof(int64_t));
        if (found == NULL)
            exit(3);
        int32_t status = results[program](sizes, pointers, found);
        int is_wrong = status == 0 && count != 0 && memcmp(found, expected, count * sizeof(int64_t)) != 0;
        free(found);
        if (status != 0 || is_wrong)
            return status != 0 ? status : -1;
    }
    return entries[program](pointers, sizes);
}

int main(void)
{
    for (;;) {
        int64_t program;
        if (fread(&program, sizeof(program), 1, stdin) != 1)
            return 0;
        size_t count = take_count();
        void **pointers = calloc(count + 1, sizeof(void *));
        size_t *bytes = calloc(count + 1, sizeof(size_t));
        if (pointers == NULL || bytes == NULL)
            return 3;
        for (size_t k = 0; k < count; ++k) {
            bytes[k] = take_count();
            pointers[k] = take(bytes[k]);
        }
        int64_t *sizes = take(take_count() * sizeof(int64_t));
        size_t expected_count = take_count();
        int64_t *expected = take(expected_count * sizeof(int64_t));
        int64_t status = call((size_t)program, pointers, sizes, expected, expected_count);
        give(&status, sizeof(status));
        for (size_t k = 0; k < count; ++k) {
            give(pointers[k], bytes[k]);
            free(pointers[k]);
        }
        fflush(stdout);
        free(pointers);
        free(bytes);
        free(sizes);
        free(expected);
    }
}
