"""Non-blocking collectives and inter-communicators of C programs.

Strategy: the program begins several at once, computes the expected data, and reads its buffers only after the requests
have ended. The results of each collective are tested on the layer; here its arguments must be passed correctly.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.program_bench import main, run


def test_non_blocking_collectives_fill_their_buffers_when_they_end(tmp_path: Path) -> None:
    body = """
    enum { EACH = 700 };
    static int mine[EACH], told[EACH], sums[EACH], all[4 * EACH], every[4 * EACH], parts[4 * EACH];
    int counts[4], places[4], flag, index, ones[4] = {1, 1, 1, 1}, own = 0, before = -5, within = 0;
    MPI_Request requests[8];
    for (int at = 0; at < EACH; at++) { mine[at] = 1000 * rank + at; told[at] = rank == 2 ? at : -1; }
    for (int at = 0; at < 4; at++) { counts[at] = EACH - at; places[at] = (3 - at) * EACH; }
    for (int at = 0; at < 4 * EACH; at++) every[at] = mine[at % EACH] + at / EACH;
    MPI_Iallreduce(mine, sums, EACH, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests);
    MPI_Ibcast(told, EACH, MPI_INT, 2, MPI_COMM_WORLD, requests + 1);
    MPI_Igatherv(mine, EACH - rank, MPI_INT, parts, counts, places, MPI_INT, 1, MPI_COMM_WORLD, requests + 2);
    MPI_Ialltoall(every, EACH, MPI_INT, all, EACH, MPI_INT, MPI_COMM_WORLD, requests + 3);
    MPI_Ireduce_scatter(ones, &own, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests + 4);
    MPI_Iexscan(&rank, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests + 5);
    MPI_Iscan(&rank, &within, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests + 6);
    MPI_Ibarrier(MPI_COMM_WORLD, requests + 7);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(requests + 7, &status);
    for (flag = 0; !flag;) MPI_Test(requests + 6, &flag, MPI_STATUS_IGNORE);
    MPI_Waitany(6, requests, &index, &status);
    MUST(index >= 0 && index < 6 && requests[index] == MPI_REQUEST_NULL);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < EACH; at++) MUST(sums[at] == 6000 + 4 * at && told[at] == at);
    for (int of = 0; of < 4; of++)
        for (int at = 0; at < EACH; at++) {
            MUST(all[of * EACH + at] == 1000 * of + at + rank);
            if (rank == 1 && at < counts[of]) MUST(parts[places[of] + at] == 1000 * of + at);
        }
    MUST(own == 4 && within == rank * (rank + 1) / 2 && before == (rank ? rank * (rank - 1) / 2 : -5));
    """
    run(tmp_path, main(body), ranks=4)


def test_persistent_collectives_read_their_buffers_at_each_start(tmp_path: Path) -> None:
    body = """
    int one = 0, sum = -1, told = -1; MPI_Request requests[2];
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
    MPI_Bcast_init(&told, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests + 1);
    for (int turn = 1; turn < 4; turn++) {
        one = rank + turn; told = rank == 1 ? turn : -1;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MUST(sum == 3 + 3 * turn && told == turn && requests[0] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(requests); MPI_Request_free(requests + 1);
    """
    run(tmp_path, main(body), ranks=3)


def test_one_buffer_given_twice_is_an_error_of_the_call(tmp_path: Path) -> None:
    body = """
    int data[8] = {0}, ones[2] = {1, 1}, places[2] = {0, 1}; MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request one;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    #define WRONG(call) MUST((call) == MPI_ERR_BUFFER)
    WRONG(MPI_Allreduce(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    WRONG(MPI_Iallreduce(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &one));
    WRONG(MPI_Exscan(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    WRONG(MPI_Allgather(data, 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD));
    WRONG(MPI_Allgatherv(data, 1, MPI_INT, data, ones, places, MPI_INT, MPI_COMM_WORLD));
    WRONG(MPI_Alltoall(data, 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD));
    WRONG(MPI_Alltoallv(data, ones, places, MPI_INT, data, ones, places, MPI_INT, MPI_COMM_WORLD));
    WRONG(MPI_Alltoallw(data, ones, places, types, data, ones, places, types, MPI_COMM_WORLD));
    if (!rank) {
        WRONG(MPI_Reduce(data, data, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
        WRONG(MPI_Gather(data, 1, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD));
        WRONG(MPI_Scatter(data, 1, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD));
        WRONG(MPI_Scatterv(data, ones, places, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    WRONG(MPI_Reduce_local(data, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM));
    MUST(!MPI_Allreduce(data, data, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    """
    run(tmp_path, main(body))


def test_programs_join_two_groups_and_separate_them_again(tmp_path: Path) -> None:
    body = """
    MPI_Comm half, inter, both, copy; MPI_Group group; MPI_Request request;
    int odd = rank % 2, flag, came = -1, number, members, how, all[3] = {-1, -1, -1}, total = 0;
    MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 7, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &members);
    MUST(flag && members == (odd ? 3 : 2));
    MPI_Comm_remote_group(inter, &group);
    MPI_Group_size(group, &members);
    MUST(members == (odd ? 3 : 2) && !MPI_Group_free(&group));
    MPI_Comm_size(inter, &members);
    MPI_Comm_rank(inter, &number);
    MUST(members == (odd ? 2 : 3) && number == rank / 2);
    if (number < 2) MPI_Sendrecv(&rank, 1, MPI_INT, number, 0, &came, 1, MPI_INT, number, 0, inter, &status);
    MUST(came == (number < 2 ? rank + (odd ? -1 : 1) : -1));
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter);
    MUST(all[0] == 1 - odd && all[1] == 3 - odd && all[2] == (odd ? 4 : -1));
    MPI_Iallreduce(&rank, &total, 1, MPI_INT, MPI_SUM, inter, &request);
    MPI_Wait(&request, &status);
    MUST(total == (odd ? 6 : 4));
    came = rank == 4 ? 99 : -1;
    MPI_Bcast(&came, 1, MPI_INT, odd ? 2 : rank == 4 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MUST(came == (odd || rank == 4 ? 99 : -1));
    MPI_Intercomm_merge(inter, odd, &both);
    MPI_Comm_rank(both, &number);
    MUST(number == rank / 2 + 3 * odd);
    MPI_Comm_idup(inter, &copy, &request);
    MPI_Wait(&request, &status);
    MPI_Comm_compare(inter, copy, &how);
    MUST(how == MPI_CONGRUENT);
    MPI_Comm_compare(inter, both, &how);
    MUST(how == MPI_UNEQUAL);
    MPI_Comm_free(&copy); MPI_Comm_free(&both); MPI_Comm_free(&inter); MPI_Comm_free(&half);
    """
    run(tmp_path, main(body), ranks=5)


def test_a_group_makes_a_communicator_alone_and_keeps_hints(tmp_path: Path) -> None:
    body = """
    MPI_Group world, two; MPI_Comm pair = MPI_COMM_NULL, copy; MPI_Info info, back;
    int chosen[2] = {2, 0}, flag, number; char value[8] = "";
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, chosen, &two);
    if (rank != 1) MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &pair);
    if (pair != MPI_COMM_NULL) {
        MPI_Comm_rank(pair, &number);
        MUST(number == (rank == 0));
        MPI_Info_create(&info);
        MPI_Info_set(info, "key", "one");
        MPI_Comm_dup_with_info(pair, info, &copy);
        MPI_Comm_get_info(copy, &back);
        MPI_Info_get(back, "key", 7, value, &flag);
        MUST(flag && !strcmp(value, "one"));
    }
    MUST((pair == MPI_COMM_NULL) == (rank == 1));
    """
    run(tmp_path, main(body), ranks=3)


def test_one_address_is_two_buffers_where_the_datatypes_differ(tmp_path: Path) -> None:
    body = """
    MPI_Datatype upper, lower; int data[4] = {rank + 1, rank + 2, -1, -1}, one = 1, at = 0, second = 2;
    MPI_Type_indexed(1, &one, &at, MPI_INT, &upper);
    MPI_Type_indexed(1, &one, &second, MPI_INT, &lower);
    MPI_Type_create_resized(lower, 0, sizeof(int), &lower);
    MPI_Type_commit(&upper); MPI_Type_commit(&lower);
    MUST(MPI_Allgather(data, 1, upper, data, 1, lower, MPI_COMM_WORLD) == MPI_SUCCESS);
    MUST(data[0] == rank + 1 && data[2] == 1 && data[3] == 2);
    """
    run(tmp_path, main(body))


@pytest.mark.parametrize(
    "call",
    [
        "MPI_Reduce_local(data, data, 2, MPI_INT, MPI_SUM)",
        "MPI_Reduce_scatter(data, data, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD)",
        "MPI_Reduce_scatter_block(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)",
        "MPI_Ireduce_scatter(data, data, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request)",
        "MPI_Allgather(data + rank, 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD)",
        "MPI_Allgatherv(data + rank, 1, MPI_INT, data, ones, ranks, MPI_INT, MPI_COMM_WORLD)",
        "rank ? MPI_ERR_BUFFER : MPI_Gather(data, 1, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD)",
        "rank ? MPI_ERR_BUFFER : MPI_Scatterv(data, ones, ranks, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD)",
    ],
)
def test_one_buffer_for_both_is_rejected(call: str, tmp_path: Path) -> None:
    body = f"""
    int data[4] = {{0}}, ones[2] = {{1, 1}}, ranks[2] = {{0, 1}}; MPI_Request request;
    (void)ones, (void)ranks, (void)request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MUST({call} == MPI_ERR_BUFFER);
    """
    run(tmp_path, main(body))


@pytest.mark.parametrize("wrong", [1, 100])
def test_ranks_below_one_whose_broadcast_failed_fail_too(wrong: int, tmp_path: Path) -> None:
    body = f"""
    static int data[100];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!rank) data[0] = 7;
    int code = MPI_Bcast(data, rank == 2 ? {wrong} : 10, MPI_INT, 0, MPI_COMM_WORLD);
    MUST(rank >= 2 ? code != MPI_SUCCESS : code == MPI_SUCCESS && data[0] == 7);
    """
    run(tmp_path, main(body), ranks=4)
