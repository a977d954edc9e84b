/* Runs the cases that stand on the standard input, each buffer between two red zones, and prints what they leave.

   Each case: the number of the program; the count of buffers; each buffer with its count of bytes and the bytes, red
   zones included; the count of sizes and the sizes. All of these are int64_t. The answer: the status; the bytes of all
   buffers, red zones included. A case that runs too long ends the process with SIGALRM. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RED_ZONE = 128, SECONDS = 10 };

typedef int32_t entry_function(void *const *pointers, const int64_t *sizes);

extern entry_function *const entries[];

static void take(void *memory, size_t bytes)
{
    if (fread(memory, 1, bytes, stdin) != bytes)
        exit(3);
}

static size_t take_count(void)
{
    int64_t number;
    take(&number, sizeof(number));
    return (size_t)number;
}

static void *take_memory(size_t bytes)
{
    char *memory = malloc(bytes + 1);
    if (memory == NULL)
        exit(3);
    take(memory, bytes);
    return memory;
}

static void give(const void *memory, size_t bytes)
{
    if (fwrite(memory, 1, bytes, stdout) != bytes)
        exit(3);
}

int main(void)
{
    for (;;) {
        int64_t program;
        if (fread(&program, sizeof(program), 1, stdin) != 1)
            return 0;
        size_t count = take_count();
        char **buffers = calloc(count + 1, sizeof(char *));
        void **pointers = calloc(count + 1, sizeof(void *));
        size_t *bytes = calloc(count + 1, sizeof(size_t));
        if (buffers == NULL || pointers == NULL || bytes == NULL)
            return 3;
        for (size_t k = 0; k < count; ++k) {
            bytes[k] = take_count();
            buffers[k] = take_memory(bytes[k]);
            pointers[k] = buffers[k] + RED_ZONE;
        }
        int64_t *sizes = take_memory(take_count() * sizeof(int64_t));
        alarm(SECONDS);
        int64_t status = entries[program](pointers, sizes);
        alarm(0);
        give(&status, sizeof(status));
        for (size_t k = 0; k < count; ++k) {
            give(buffers[k], bytes[k]);
            free(buffers[k]);
        }
        fflush(stdout);
        free(buffers);
        free(pointers);
        free(bytes);
        free(sizes);
    }
}
