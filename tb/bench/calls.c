// Program that makes the number of MPI calls given by its argument. None of the calls waits.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int size, calls = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    while (calls--) MPI_Type_size(MPI_INT, &size);
    MPI_Finalize();
    return 0;
}
