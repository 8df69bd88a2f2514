// Memory that a program has of MPI is the C library's.

#include "program.h"

#include <stdlib.h>

int MPI_Alloc_mem(long size, int info, void **where) {
    (void)info;
    *where = size >= 0 ? malloc(size ? (size_t)size : 1) : 0;
    return *where ? 0 : 34;
}

int MPI_Free_mem(void *where) {
    free(where);
    return 0;
}
