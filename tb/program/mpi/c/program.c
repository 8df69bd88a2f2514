// What every call of the library has in common: it is sent to the simulated host with its arguments, and what that
// wants of the program's memory is done until it gives the result. See ../README.md for the frames.

#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int place = -1;
static pid_t owner;
static char *frame;
static long scratch[64];
static size_t room;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

// The program that was started is the leader of its session; what it starts is none of the simulated host's.
__attribute__((constructor)) static void begin(void) {
    const char *given = getenv("SANLAB_SOCKET");
    if (given && getpid() == getsid(0)) {
        place = atoi(given);
        owner = getpid();
    }
}

int sanlab_here(void) { return owner && getpid() == owner; }

static void stop(const char *name) {
    int forked = getenv("SANLAB_SOCKET") != 0;
    const char *why = forked ? "called by a process that the program has started; start that one itself"
                             : "no simulated host has started this program; start it by the study `program`";
    fprintf(stderr, "%s: %s\n", name, why);
    fflush(stderr);
    if (forked) kill(0, SIGABRT);
    _exit(70);
}

static void all(ssize_t (*move)(int, void *, size_t, int), void *data, size_t size) {
    for (char *at = data; size;) {
        ssize_t done = move(place, at, size, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) _exit(70);
        at += done;
        size -= (size_t)done;
    }
}

static ssize_t out(int to, void *data, size_t size, int flags) { return send(to, data, size, flags); }

// Bytes of the frame; they stand behind its four bytes of size.
static char *sized(size_t size) {
    if (size + 4 > room) {
        room = size + 4 + 4096;
        frame = realloc(frame, room);
        if (!frame) _exit(70);
    }
    for (int at = 0; at < 4; at++) frame[at] = (char)(size >> (24 - 8 * at));
    return frame + 4;
}

static char *exchange(size_t size) {
    all(out, frame, size + 4);
    unsigned char head[4];
    all(recv, head, 4);
    size_t come = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    char *data = sized(come);
    all(recv, data, come);
    return data;
}

static long word(char **at) {
    long value;
    memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    return value;
}

static char *reply(const void *data, size_t size) {
    char *at = sized(size + 1);
    at[0] = 'a';
    memcpy(at + 1, data, size);
    return exchange(size + 1);
}

// An operator of the program: its function takes the arrays of two ranks, and leaves the result in the second.
static char *fold(char *at) {
    sanlab_operator *function = (sanlab_operator *)word(&at);
    int count = (int)word(&at), datatype = (int)word(&at);
    size_t size = (size_t)word(&at);
    char *both = malloc(2 * size + 16);
    if (!both) _exit(70);
    char *second = both + (size + 15) / 16 * 16;
    memcpy(both, at, size);
    memcpy(second, at + size, size);
    function(both, second, &count, &datatype);
    char *next = reply(second, size);
    free(both);
    return next;
}

static char *callback(char *at) {
    sanlab_function *function = (sanlab_function *)word(&at);
    long a = word(&at), b = word(&at), c = word(&at), d = word(&at), e = word(&at), f = word(&at);
    long result = function(a, b, c, d, e, f);
    return reply(&result, sizeof result);
}

static long served(char *at) {
    for (;;) {
        switch (*at++) {
        case 'r': return word(&at);
        case 'p': {
            char *to = (char *)word(&at);
            size_t size = (size_t)word(&at);
            memcpy(to, at, size);
            at += size;
            break;
        }
        case 'g': {
            const char *from = (const char *)word(&at);
            at = reply(from, (size_t)word(&at));
            break;
        }
        case 's': {
            const char *from = (const char *)word(&at);
            at = reply(from, strlen(from));
            break;
        }
        case 'w': {
            long where = (long)scratch;
            at = reply(&where, sizeof where);
            break;
        }
        case 'f': at = fold(at); break;
        case 'c': at = callback(at); break;
        default: _exit(70);
        }
    }
}

long sanlab_call(const char *name, int number, int count, const long *words) {
    if (!sanlab_here()) stop(name);
    struct timespec used;
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &used);
    long head[2] = {number, used.tv_sec * 1000000000L + used.tv_nsec};
    pthread_mutex_lock(&lock);
    char *at = sized(1 + sizeof head + (size_t)count * sizeof *words);
    at[0] = 'q';
    memcpy(at + 1, head, sizeof head);
    memcpy(at + 1 + sizeof head, words, (size_t)count * sizeof *words);
    long result = served(exchange(1 + sizeof head + (size_t)count * sizeof *words));
    pthread_mutex_unlock(&lock);
    return result;
}
