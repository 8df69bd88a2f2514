"""Names of MPI calls and their numbers in trace records."""

NAMES = """
Allgather Allgatherv Allreduce Alltoall Alltoallv Alltoallw Barrier Bcast Bsend Bsend_init Buffer_attach
Buffer_detach Cancel Comm_create Comm_create_group Comm_dup Comm_free Comm_idup Comm_split Exscan Finalize
Gather Gatherv Group_excl Group_incl Group_translate_ranks Iallgather Iallgatherv Iallreduce Ialltoall
Ialltoallv Ialltoallw Ibarrier Ibcast Ibsend Iexscan Igather Igatherv Improbe Imrecv Ineighbor_alltoallw Init
Intercomm_create Intercomm_merge Iprobe Irecv Ireduce Ireduce_scatter Ireduce_scatter_block Irsend Iscan
Iscatter Iscatterv Isend Isendrecv Issend Mprobe Mrecv Neighbor_alltoallw Pack Probe Recv Recv_init Reduce Reduce_local
Reduce_scatter Reduce_scatter_block Request_free Request_get_status Rsend Rsend_init Scan Scatter Scatterv Send
Send_init Sendrecv Ssend Ssend_init Start Startall Test Testall Testany Testsome Type_contiguous
Type_create_struct Type_free Type_indexed Type_vector Unpack Wait Waitall Waitany Waitsome
"""
"""Names of the calls without `MPI_`."""
CALLS = tuple(f"MPI_{name}" for name in NAMES.split())
"""Names of the calls, by number."""
NUMBERS = {name: number for number, name in enumerate(CALLS)}
