"""Sessions of programs: process sets, communicators of groups, infos, initialisation and finalisation of MPI.

Strategy: small C programs; the first ones do not call MPI_Init.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.program.mpi.serve import ProgramError
from tests.tools.program_bench import HEAD, main, run

BEGIN = """
    MPI_Session session; MPI_Group world; MPI_Comm comm; int rank, size, sum, flag, length;
    MPI_Info info; char text[64];
    MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Initialized(&flag);
    MUST(!flag);
"""
TWICE = """
    for (int turn = 0; turn < 2; turn++) {
        MPI_Session_get_num_psets(session, MPI_INFO_NULL, &length);
        MUST(length == 2);
        length = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, 0);
        MUST(length == 12);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, text);
        MUST(!strcmp(text, "mpi://WORLD"));
        MPI_Session_get_pset_info(session, text, &info);
        MPI_Info_get(info, "mpi_size", 63, text, &flag);
        MUST(flag && atoi(text) == 4);
        MPI_Session_get_info(session, &info);
        MPI_Info_get(info, "thread_level", 63, text, &flag);
        MUST(flag && !strcmp(text, "MPI_THREAD_SERIALIZED"));
        MUST(MPI_Group_from_session_pset(session, "mpi://WORLD", &world) == MPI_SUCCESS);
        MUST(MPI_Group_from_session_pset(session, "mpi://ELSE", &world) == MPI_ERR_ARG);
        MUST(MPI_Group_from_session_pset(session, "mpi://world", &world) == MPI_SUCCESS);
        MPI_Comm_create_from_group(world, "a library", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        MUST(size == 4 && sum == 6);
        MUST(MPI_Send(&rank, 1, MPI_INT, 9, 0, comm) == MPI_ERR_RANK);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
        MUST(session == MPI_SESSION_NULL);
        if (!turn) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    }
"""


def bare(body: str) -> str:
    """Return a program without MPI_Init and MPI_Finalize."""
    return HEAD.split("int main")[0] + "int main(void) {" + body + "\n    return 0;\n}\n"


def test_sessions_begin_and_end_without_mpi_init(tmp_path: Path) -> None:
    run(tmp_path, bare(BEGIN + TWICE), ranks=4)


def test_a_session_that_is_not_finalized_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="the program ended without finalizing 1 sessions"):
        run(tmp_path, bare(BEGIN))


def test_a_session_outlives_mpi_finalize(tmp_path: Path) -> None:
    body = """
    MPI_Session session; MPI_Group world; MPI_Comm comm; int sum, flag;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Initialized(&flag);
    MUST(flag);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Comm_create_from_group(world, "x", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Finalize();
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MUST(sum == 1);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
    """
    run(tmp_path, main(body))


def test_groups_of_two_sides_make_an_inter_communicator(tmp_path: Path) -> None:
    body = """
    MPI_Group world, own, others; MPI_Comm inter; int low[2] = {0, 1}, high[2] = {2, 3}, from, remote;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, rank < 2 ? low : high, &own);
    MPI_Group_incl(world, 2, rank < 2 ? high : low, &others);
    MPI_Intercomm_create_from_groups(own, 0, others, 0, "tag", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Sendrecv(&rank, 1, MPI_INT, rank % 2, 1, &from, 1, MPI_INT, rank % 2, 1, inter, &status);
    MUST(remote == 2 && from == (rank + 2) % 4);
    MPI_Comm_free(&inter);
    """
    run(tmp_path, main(body), ranks=4)


def test_a_value_of_an_info_is_truncated_to_its_buffer(tmp_path: Path) -> None:
    body = """
    MPI_Info info; char text[8] = "before"; int length = 0, flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_get_string(info, "key", &length, text, &flag);
    MUST(flag && length == 6 && !strcmp(text, "before"));
    length = 3;
    MPI_Info_get_string(info, "key", &length, text, &flag);
    MUST(flag && length == 6 && !strcmp(text, "va"));
    MPI_Info_get_string(info, "other", &length, text, &flag);
    MUST(!flag && length == 6);
    MPI_Info_create_env(argc, argv, &info);
    MPI_Info_get_nkeys(info, &length);
    MUST(!length);
    """
    run(tmp_path, main(body), ranks=1)
