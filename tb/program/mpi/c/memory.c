// Memory allocated by MPI for a program, from the C library, and arithmetic of addresses.

#include "program.h"

#include <stdlib.h>

int PMPI_Alloc_mem(long size, int info, void **where) {
    (void)info;
    *where = size >= 0 ? malloc(size ? (size_t)size : 1) : 0;
    return *where ? 0 : 34;
}

int PMPI_Free_mem(void *where) {
    free(where);
    return 0;
}

long PMPI_Aint_add(long base, long difference) { return base + difference; }

long PMPI_Aint_diff(long one, long other) { return one - other; }

WEAK(int, MPI_Alloc_mem, (long size, int info, void **where));
WEAK(int, MPI_Free_mem, (void *where));
WEAK(long, MPI_Aint_add, (long base, long difference));
WEAK(long, MPI_Aint_diff, (long one, long other));
