// Symbols other than calls that MPICH's Fortran and C++ libraries need from its C library: special addresses, converted
// statuses, and the copy function of MPI_DUP_FN. A status is five ints in each language.

#include "program.h"

#include <string.h>

#define STATUS_BYTES 20

int MPIR_F08_MPI_STATUS_IGNORE_OBJ[5], MPIR_F08_MPI_STATUSES_IGNORE_OBJ[5];
int MPIR_F08_MPI_IN_PLACE, MPIR_F08_MPI_BOTTOM;
int *MPI_F08_STATUS_IGNORE = MPIR_F08_MPI_STATUS_IGNORE_OBJ, *MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;

// Set by the Fortran library at its start.
int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;

int MPIR_C_MPI_UNWEIGHTED, MPIR_C_MPI_WEIGHTS_EMPTY;
int *const MPI_UNWEIGHTED = (int *)1, *const MPI_WEIGHTS_EMPTY = (int *)2;
void *const MPI_T_PVAR_ALL_HANDLES = 0;

int PMPI_Status_c2f(const void *from, int *to) {
    if (from == (void *)1) return 12;
    memcpy(to, from, STATUS_BYTES);
    return 0;
}

int PMPI_Status_f2c(const int *from, void *to) {
    if (from == MPI_F_STATUS_IGNORE || from == MPI_F_STATUSES_IGNORE) return 12;
    memcpy(to, from, STATUS_BYTES);
    return 0;
}

WEAK(int, MPI_Status_c2f, (const void *from, int *to));
WEAK(int, MPI_Status_f2c, (const int *from, void *to));

int MPIR_Dup_fn(int object, int keyval, void *extra, void *value, void **copy, int *flag) {
    (void)object, (void)keyval, (void)extra;
    *copy = value;
    *flag = 1;
    return 0;
}
