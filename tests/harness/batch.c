/* Runs the cases that stand on the standard input, each buffer on memory of exactly its size, and prints what they leave.

   First the length of a red zone, or -1 or -2: then each buffer ends where memory does, or begins there. Then each case: the number of the program; the buffers, each with a count of bytes
   and the bytes, with a red zone before and after; the sizes; the sizes that the array results must have; how many
   bytes behind the beginning of each buffer its pointer points, or nothing where all point there. All counts
   and numbers are int64_t. The answer: the status, -1 where the sizes of the results are wrong; the bytes of all
   buffers. A case that runs too long ends the process with SIGALRM. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__wasm__) /* which has neither pages to guard nor signals */
#define alarm(seconds) ((void)(seconds))
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

enum { SECONDS = 10, PAGE = 4096 };

typedef int32_t entry_function(void *const *pointers, const int64_t *sizes);
typedef int32_t results_function(const int64_t *sizes, void *const *pointers, int64_t *result_sizes);

extern entry_function *const entries[];
extern results_function *const results[];

static char *take(size_t bytes)
{
    char *memory = malloc(bytes);
    if ((memory == NULL && bytes != 0) || fread(memory, 1, bytes, stdin) != bytes)
        exit(3);
    return memory;
}

#if defined(__wasm__)
static char *take_guarded(size_t bytes, int is_first)
{
    (void)is_first;
    return take(bytes);
}

static void release(char *buffer, size_t bytes, int is_first)
{
    (void)bytes, (void)is_first;
    free(buffer);
}
#else
/* Bytes between two pages that nobody may touch, right behind the first one or right before the second one. */
static char *take_guarded(size_t bytes, int is_first)
{
    const size_t page = PAGE, inner = (bytes + page - 1) / page * page;
    char *memory = mmap(NULL, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || (inner != 0 && mprotect(memory + page, inner, PROT_READ | PROT_WRITE) != 0))
        exit(3);
    char *place = memory + page + (is_first ? 0 : inner - bytes);
    if (fread(place, 1, bytes, stdin) != bytes)
        exit(3);
    return place;
}

static void release(char *buffer, size_t bytes, int is_first)
{
    const size_t page = PAGE, inner = (bytes + page - 1) / page * page;
    munmap(buffer - page - (is_first ? 0 : inner - bytes), inner + 2 * page);
}
#endif

static int64_t take_number(void)
{
    int64_t number;
    if (fread(&number, sizeof(number), 1, stdin) != 1)
        exit(3);
    return number;
}

static size_t take_count(void)
{
    return (size_t)take_number();
}

static int64_t *take_numbers(size_t *count)
{
    *count = take_count();
    return (int64_t *)(void *)take(*count * sizeof(int64_t));
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
    const int64_t asked = take_number();
    const size_t zone = asked < 0 ? 0 : (size_t)asked;
    for (;;) {
        int64_t program;
        if (fread(&program, sizeof(program), 1, stdin) != 1)
            return 0;
        size_t count = take_count(), size_count, expected_count, first_count;
        char **buffers = calloc(count + 1, sizeof(char *));
        void **pointers = calloc(count + 1, sizeof(void *));
        size_t *bytes = calloc(count + 1, sizeof(size_t));
        if (buffers == NULL || pointers == NULL || bytes == NULL)
            return 3;
        for (size_t k = 0; k < count; ++k) {
            bytes[k] = take_count();
            buffers[k] = asked < 0 ? take_guarded(bytes[k], asked == -2) : take(bytes[k]);
            pointers[k] = bytes[k] == 0 ? buffers[k] : buffers[k] + zone;
        }
        int64_t *sizes = take_numbers(&size_count);
        int64_t *expected = take_numbers(&expected_count);
        int64_t *firsts = take_numbers(&first_count);
        for (size_t k = 0; k < first_count; ++k)
            pointers[k] = (char *)pointers[k] + firsts[k];
        alarm(SECONDS);
        int64_t status = call((size_t)program, pointers, sizes, expected, expected_count);
        alarm(0);
        give(&status, sizeof(status));
        for (size_t k = 0; k < count; ++k) {
            give(buffers[k], bytes[k]);
            if (asked < 0)
                release(buffers[k], bytes[k], asked == -2);
            else
                free(buffers[k]);
        }
        fflush(stdout);
        free(buffers);
        free(pointers);
        free(bytes);
        free(sizes);
        free(expected);
        free(firsts);
    }
}
