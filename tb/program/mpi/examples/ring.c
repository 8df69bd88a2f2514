// A message passes once around all ranks, and each adds its own number: the default program of the study.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, token = 0, sum = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double begun = MPI_Wtime();
    if (rank) MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, &status);
    token += rank;
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
    if (!rank) MPI_Recv(&token, 1, MPI_INT, size - 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank) printf("%d ranks: %d of %d after %.1f us\n", size, token, sum, (MPI_Wtime() - begun) * 1e6);
    MPI_Finalize();
    return rank || token == sum ? 0 : 1;
}
