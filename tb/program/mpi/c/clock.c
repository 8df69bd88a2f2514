// Clocks of the C library and of MPI that show simulated time, and sleep, which takes simulated time.
// Clocks of CPU time remain the machine's, and so do all clocks of the program's children.

#define _GNU_SOURCE
#include "program.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000L

static int simulated(clockid_t clock) {
    return sanlab_here() && clock >= 0 && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!simulated(clock)) return (int)syscall(SYS_clock_gettime, clock, time);
    long now = sanlab_clock() / 1000;
    time->tv_sec = now / SECOND;
    time->tv_nsec = now % SECOND;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *where) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (where) *where = now.tv_sec;
    return now.tv_sec;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left) {
    if (!simulated(clock)) return (int)syscall(SYS_clock_nanosleep, clock, flags, wanted, left);
    long ns = wanted->tv_sec * SECOND + wanted->tv_nsec - (flags & TIMER_ABSTIME ? sanlab_clock() / 1000 : 0);
    if (ns > 0) sanlab_sleep(ns);
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    return clock_nanosleep(CLOCK_MONOTONIC, 0, wanted, left);
}

int usleep(useconds_t us) {
    struct timespec wanted = {us / 1000000, us % 1000000 * 1000};
    return nanosleep(&wanted, 0);
}

unsigned sleep(unsigned seconds) {
    struct timespec wanted = {seconds, 0};
    return (unsigned)nanosleep(&wanted, 0);
}

double PMPI_Wtime(void) {
    if (!sanlab_here()) sanlab_stop("MPI_Wtime");
    return (double)sanlab_clock() * 1e-12;
}

double PMPI_Wtick(void) { return 1e-12; }

WEAK(double, MPI_Wtime, (void));
WEAK(double, MPI_Wtick, (void));
