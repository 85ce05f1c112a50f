/* SPDX-License-Identifier: BSD-3-Clause */
/* race.c - a sum by four threads: with an argument they race for it, without one they take turns.
 * ThreadSanitizer must report the first and stay silent about the second. */
#include <stdio.h>

static long sum;

static void add(int racing, int i)
{
    if (racing) {
        sum += i;
        return;
    }
#pragma omp critical(torture_race)
    sum += i;
}

int main(int argc, char **argv)
{
    (void)argv;
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
        for (int i = 0; i < 100; i++)
            add(argc > 1, i);
    }
    printf("%ld\n", sum);
    return 0;
}
