/* Builds the datatypes of a file and prints MPI's answers for each: one line per type. See random_types.py.
 *
 * With LARGE all calls are those with large counts. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 16
#define LIST 64
#define ROOM (1 << 15)

#ifdef LARGE
typedef MPI_Count count_t, place_t;
#define CALL(name) name##_c
#else
typedef int count_t;
typedef MPI_Aint place_t;
#define CALL(name) name
#endif

static FILE *input;
static MPI_Datatype nodes[NODES];

static long number(void) {
    long value;
    if (fscanf(input, "%ld", &value) != 1) exit(3);
    return value;
}

static int *ints(int count) {
    static int lists[8][LIST], at;
    int *list = lists[at++ % 8];
    for (int i = 0; i < count; i++) list[i] = (int)number();
    return list;
}

static count_t *counts(int count) {
    static count_t lists[8][LIST], at;
    count_t *list = lists[at++ % 8];
    for (int i = 0; i < count; i++) list[i] = (count_t)number();
    return list;
}

static place_t *places(int count) {
    static place_t list[LIST];
    for (int i = 0; i < count; i++) list[i] = number();
    return list;
}

static uint64_t hash(uint64_t seed, const void *data, size_t size) {
    for (size_t i = 0; i < size; i++) seed = (seed ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return seed;
}

static MPI_Datatype node(char kind) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int n, m, *b, *c, *d;
    count_t *a, *e, *f;
    place_t *p;
    switch (kind) {
    case 'B': return (MPI_Datatype)number();
    case 'C': n = (int)number(); CALL(MPI_Type_contiguous)(n, nodes[number()], &made); break;
    case 'V': a = counts(3); CALL(MPI_Type_vector)(a[0], a[1], a[2], nodes[number()], &made); break;
    case 'H': a = counts(2); p = places(1); CALL(MPI_Type_create_hvector)(a[0], a[1], *p, nodes[number()], &made); break;
    case 'I': n = (int)number(); a = counts(n); e = counts(n); CALL(MPI_Type_indexed)(n, a, e, nodes[number()], &made); break;
    case 'J': n = (int)number(); a = counts(n); p = places(n); CALL(MPI_Type_create_hindexed)(n, a, p, nodes[number()], &made); break;
    case 'K': n = (int)number(); m = (int)number(); a = counts(n); CALL(MPI_Type_create_indexed_block)(n, m, a, nodes[number()], &made); break;
    case 'L': n = (int)number(); m = (int)number(); p = places(n); CALL(MPI_Type_create_hindexed_block)(n, m, p, nodes[number()], &made); break;
    case 'S': {
        MPI_Datatype kinds[LIST];
        n = (int)number(); a = counts(n); p = places(n); b = ints(n);
        for (int i = 0; i < n; i++) kinds[i] = nodes[b[i]];
        CALL(MPI_Type_create_struct)(n, a, p, kinds, &made);
        break;
    }
    case 'R': p = places(2); CALL(MPI_Type_create_resized)(nodes[number()], p[0], p[1], &made); break;
    case 'D': MPI_Type_dup(nodes[number()], &made); break;
    case 'A': n = (int)number(); a = counts(n); e = counts(n); f = counts(n); m = (int)number(); CALL(MPI_Type_create_subarray)(n, a, e, f, m, nodes[number()], &made); break;
    case 'P': {
        int size = (int)number(), rank = (int)number();
        n = (int)number(); a = counts(n); b = ints(n); c = ints(n); d = ints(n); m = (int)number();
        CALL(MPI_Type_create_darray)(size, rank, n, a, b, c, d, m, nodes[number()], &made);
        break;
    }
    default: exit(4);
    }
    MPI_Type_commit(&made);
    return made;
}

static void bounds(MPI_Datatype kind) {
    place_t lower, extent, true_lower, true_extent;
    MPI_Count size;
    count_t small;
    CALL(MPI_Type_get_extent)(kind, &lower, &extent);
    CALL(MPI_Type_get_true_extent)(kind, &true_lower, &true_extent);
    CALL(MPI_Type_size)(kind, &small);
    MPI_Type_size_x(kind, &size);
    printf(" [%ld %ld %ld %ld %ld %ld]", (long)small, (long)size, (long)lower, (long)extent, (long)true_lower, (long)true_extent);
}

/* Get the numbers of integers, addresses, large counts and datatypes of a constructor call; return the combiner. */
static int envelope(MPI_Datatype kind, count_t *found) {
    int combiner;
    found[2] = 0;
#ifdef LARGE
    MPI_Type_get_envelope_c(kind, found, found + 1, found + 2, found + 3, &combiner);
#else
    MPI_Type_get_envelope(kind, found, found + 1, found + 3, &combiner);
#endif
    return combiner;
}

static void contents(MPI_Datatype kind) {
    count_t n[4], others[4];
    int combiner = envelope(kind, n), list[4 * LIST];
    MPI_Aint where[LIST];
    static MPI_Count large[4 * LIST];
    MPI_Datatype kinds[LIST];
    printf(" made %d %ld %ld %ld %ld", combiner, (long)n[0], (long)n[1], (long)n[2], (long)n[3]);
    if (combiner == MPI_COMBINER_NAMED) return;
#ifdef LARGE
    MPI_Type_get_contents_c(kind, n[0], n[1], n[2], n[3], list, where, large, kinds);
#else
    MPI_Type_get_contents(kind, n[0], n[1], n[3], list, where, kinds);
#endif
    printf(" %lx", (long)hash(hash(1, list, sizeof(int) * (size_t)n[0]), where, sizeof(MPI_Aint) * (size_t)n[1]));
    printf(" %lx", (long)hash(1, large, sizeof(MPI_Count) * (size_t)n[2]));
    for (int i = 0; i < n[3]; i++) {
        bounds(kinds[i]);
        if (envelope(kinds[i], others) != MPI_COMBINER_NAMED) MPI_Type_free(kinds + i);
    }
}

/* Send and pack `count` elements from a pattern and, unless they overlap, receive and unpack them. */
static void data(MPI_Datatype kind, int count, int overlap, int part) {
    static char buffer[2 * ROOM], bytes[2 * ROOM], again[2 * ROOM];
    char *middle = buffer + ROOM;
    int size;
    count_t at = 0, came, room;
    MPI_Status status;
    CALL(MPI_Pack_size)(count, kind, MPI_COMM_SELF, &room);
    MPI_Type_size(kind, &size);
    size *= count;
    for (int i = 0; i < 2 * ROOM; i++) buffer[i] = (char)(i * 2654435761u >> 13);
    memset(bytes, 0, (size_t)size + 8);
    memset(again, 0, (size_t)size + 8);
    CALL(MPI_Pack)(middle, count, kind, bytes, size, &at, MPI_COMM_SELF);
    printf(" packed %ld %ld %lx", (long)room, (long)at, (long)hash(1, bytes, (size_t)size));
    CALL(MPI_Sendrecv)(middle, count, kind, 0, 1, again, size + 8, MPI_BYTE, 0, 1, MPI_COMM_SELF, &status);
    CALL(MPI_Get_count)(&status, MPI_BYTE, &came);
    printf(" sent %ld %d", (long)came, memcmp(bytes, again, (size_t)size));
    if (overlap) return;
    for (int i = 0; i < size; i++) again[i] = (char)(i * 40503u >> 3 ^ i);
    memset(buffer, 0, sizeof buffer);
    at = 0;
    CALL(MPI_Unpack)(again, size, &at, middle, count, kind, MPI_COMM_SELF);
    printf(" unpacked %lx", (long)hash(1, buffer, sizeof buffer));
    memset(buffer, 0, sizeof buffer);
    CALL(MPI_Sendrecv)(again, size, MPI_BYTE, 0, 1, middle, count, kind, 0, 1, MPI_COMM_SELF, &status);
    CALL(MPI_Get_count)(&status, kind, &came);
    printf(" received %ld %lx", (long)came, (long)hash(1, buffer, sizeof buffer));
    memset(buffer, 0, sizeof buffer);
    CALL(MPI_Sendrecv)(again, part, MPI_BYTE, 0, 1, middle, count, kind, 0, 1, MPI_COMM_SELF, &status);
    printf(" in part %lx", (long)hash(1, buffer, sizeof buffer));
}

/* `known`: 1 if MPICH counts the elements of this type correctly. */
static void elements(MPI_Datatype kind, long size, int known) {
    MPI_Status status;
    MPI_Count large;
    count_t count, some;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_x(&status, MPI_BYTE, size);
    CALL(MPI_Get_count)(&status, kind, &count);
    printf(" %ld: %ld", size, (long)count);
    if (!known) return;
    CALL(MPI_Get_elements)(&status, kind, &some);
    MPI_Get_elements_x(&status, kind, &large);
    printf(" %ld %ld", (long)some, (long)large);
}

int main(int argc, char **argv) {
    char kind;
    MPI_Init(&argc, &argv);
    input = argc > 1 ? fopen(argv[1], "r") : 0;
    if (!input) return 2;
    while (fscanf(input, " %c", &kind) == 1) {
        int last = -1, count, overlap, part, known, sizes;
        for (; kind != '.'; last++) {
            nodes[last + 1] = node(kind);
            if (fscanf(input, " %c", &kind) != 1) return 3;
        }
        for (int i = 0; i <= last; i++) bounds(nodes[i]);
        contents(nodes[last]);
        count = (int)number();
        overlap = (int)number();
        part = (int)number();
        data(nodes[last], count, overlap, part);
        known = (int)number();
        sizes = (int)number();
        for (int i = 0; i < sizes; i++) elements(nodes[last], number(), known);
        printf("\n");
        fflush(stdout);
        for (int i = 0; i <= last; i++) {
            count_t found[4];
            if (envelope(nodes[i], found) != MPI_COMBINER_NAMED) MPI_Type_free(nodes + i);
        }
    }
    MPI_Finalize();
    return 0;
}
