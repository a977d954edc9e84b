// run: -O2 -fopenmp
#include <sys/wait.h>
#include <unistd.h>

static double sum(void)
{
    double found = 0;
#pragma omp parallel for num_threads(2) reduction(+ : found)
    for (int i = 0; i < 100; ++i)
        found += i;
    return found;
}

int main(void)
{
    int status = 0;
    (void)sum();
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(1);
        _exit(sum() != 4950);
    }
    (void)waitpid(child, &status, 0);
    return status != 0;
}
