// Common part of all calls: a call is sent to the simulated host with its arguments, and the host's requests for the
// program's memory are served until it returns the result. See ../README.md for the frames.

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

// Bytes of memory sent with a call; more are requested by the host.
#define MOST 16384

static int place = -1;
static pid_t owner;
static char *frame;
static long scratch[64];

// Time as last reported by the simulated host, and its advance since.
static struct {
    long now_ps, look_ps;
    double cpu_ratio;
} times;
static long looks, cpu_ns;

// Results kept for calls with a handle. The host determines which, and when they end.
static struct {
    long number, handle, value;
} kept[64];
static int keeps;
static size_t room;

// Piece of the program's memory, as in frames.
struct piece {
    char *at;
    long size;
};
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

// The started program is the leader of its session; its children are not served by the simulated host.
__attribute__((constructor)) static void begin(void) {
    const char *given = getenv("SANLAB_SOCKET");
    if (given && getpid() == getsid(0)) {
        place = atoi(given);
        owner = getpid();
        sanlab_begin(&times);
    }
}

int sanlab_here(void) { return owner && getpid() == owner; }

void sanlab_stop(const char *name) {
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

// Return the bytes of the frame, after its four bytes of size.
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

// Apply an operator of the program: its function takes the arrays of two ranks, and stores the result in the second.
// The count is an int, or has 64 bits for an operator of MPI_Op_create_c, whose first bytes are the same.
static char *fold(char *at) {
    sanlab_operator *function = (sanlab_operator *)word(&at);
    long count = word(&at);
    int datatype = (int)word(&at);
    long start = word(&at);
    size_t size = (size_t)word(&at);
    char *both = malloc(2 * size + 16);
    if (!both) _exit(70);
    char *second = both + (size + 15) / 16 * 16;
    memcpy(both, at, size);
    memcpy(second, at + size, size);
    function(both - start, second - start, (int *)&count, &datatype);
    char *next = reply(second, size);
    free(both);
    return next;
}

// Read pieces of memory, and return them concatenated. The list of pieces is copied, because the reply overwrites it.
static char *gather(char *at) {
    size_t pieces = (size_t)word(&at), size = 0;
    struct piece *list = malloc(pieces * sizeof *list);
    if (!list) _exit(70);
    memcpy(list, at, pieces * sizeof *list);
    for (size_t i = 0; i < pieces; i++) size += (size_t)list[i].size;
    char *to = sized(size + 1);
    *to++ = 'a';
    for (size_t i = 0; i < pieces; i++) {
        memcpy(to, list[i].at, (size_t)list[i].size);
        to += list[i].size;
    }
    free(list);
    return exchange(size + 1);
}

// Write bytes of the frame to pieces of memory; return the address after them.
static char *scatter(char *at) {
    size_t pieces = (size_t)word(&at);
    char *list = at;
    at += pieces * sizeof(struct piece);
    for (size_t i = 0; i < pieces; i++) {
        struct piece one;
        memcpy(&one, list + i * sizeof one, sizeof one);
        memcpy(one.at, at, (size_t)one.size);
        at += one.size;
    }
    return at;
}

static char *callback(char *at) {
    sanlab_function *function = (sanlab_function *)word(&at);
    long given[8];
    for (int one = 0; one < 8; one++) given[one] = word(&at);
    long result = function(given[0], given[1], given[2], given[3], given[4], given[5], given[6], given[7]);
    return reply(&result, sizeof result);
}

static long served(char *at) {
    for (;;) {
        switch (*at++) {
        case 'r': {
            long result = word(&at);
            times.now_ps = word(&at);
            looks = 0;
            return result;
        }
        case 'k':
            if (keeps == sizeof kept / sizeof *kept) keeps = 0;
            memcpy(kept + keeps++, at, sizeof *kept);
            at += sizeof *kept;
            break;
        case 'n': keeps = 0; break;
        case 'p': {
            char *to = (char *)word(&at);
            size_t size = (size_t)word(&at);
            memcpy(to, at, size);
            at += size;
            break;
        }
        case 'P': at = scatter(at); break;
        case 'G': at = gather(at); break;
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

static long cpu(void) {
    struct timespec used;
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1000000000L + used.tv_nsec;
}

long sanlab_clock(void) {
    double computed = times.cpu_ratio > 0 ? times.cpu_ratio * (double)(cpu() - cpu_ns) : 0;
    return times.now_ps + ++looks * times.look_ps + (long)(computed * 1000);
}

long sanlab_size(long count, int datatype) {
    return (unsigned)datatype >> 24 == 0x4c && count > 0 ? count * (datatype >> 8 & 0xff) : 0;
}

static int known(int number, const long *words) {
    for (int at = 0; at < keeps; at++) {
        if (kept[at].number == number && kept[at].handle == words[0]) {
            *(int *)words[1] = (int)kept[at].value;
            return 1;
        }
    }
    return 0;
}

long sanlab_call(const char *name, int number, int count, const long *words, const void *from, long size) {
    if (!sanlab_here()) sanlab_stop(name);
    if (count == 2 && known(number, words)) return 0;
    if (!from || from == (void *)-1 || size > MOST) size = 0;
    pthread_mutex_lock(&lock);
    long used = cpu_ns, head[] = {number, 0, looks, count};
    cpu_ns = cpu();
    head[1] = cpu_ns - used;
    size_t all_words = (size_t)count * sizeof *words, whole = 1 + sizeof head + all_words + (size_t)size;
    char *at = sized(whole);
    *at++ = 'q';
    memcpy(at, head, sizeof head);
    memcpy(at + sizeof head, words, all_words);
    memcpy(at + sizeof head + all_words, from, (size_t)size);
    long result = served(exchange(whole));
    pthread_mutex_unlock(&lock);
    return result;
}
