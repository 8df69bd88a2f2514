// A program that makes as many calls of MPI as its argument says. None of them waits for anything.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int size, calls = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    while (calls--) MPI_Type_size(MPI_INT, &size);
    MPI_Finalize();
    return 0;
}
