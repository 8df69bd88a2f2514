"""Errors of programs as MPI ranks on the machine.

Strategy: small C programs make one error each. An error that ends the run is reported with its rank, its call and the
program's output. A program that wants errors returned must get the class that the standard names, and continue with
handles, statuses and data as in the standard: operations that succeeded beside a failure are complete.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.mpi.host import MpiError
from pymodels.machine import MachineError
from tb.program.mpi.serve import ProgramError
from tests.tools.program_bench import HEAD, TAIL, main, run


def test_an_error_is_returned_to_a_program_that_wants_it(tmp_path: Path) -> None:
    body = """
    int number, length; char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    number = MPI_Send(&rank, 1, MPI_INT, 5, 0, MPI_COMM_WORLD);
    MPI_Error_string(number, text, &length);
    MUST(strstr(text, "MPI_ERR_RANK") && length == (int)strlen(text));
    MUST(MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) == 2);
    MUST(MPI_Send(&rank, 1, 12345, 0, 0, MPI_COMM_WORLD) == 3);
    """
    run(tmp_path, main(body))


RETURNS = "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);"
LONG_AND_SHORT = f"""
    int other = 1 - rank, out[4] = {{6, 7, 8, 9}}, in[3] = {{-1, -1, -1}}, flag, index, count, where[3];
    MPI_Request requests[3]; MPI_Status statuses[3];
    {RETURNS}
    MPI_Irecv(in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, requests);
    MPI_Irecv(in + 1, 1, MPI_INT, other, 2, MPI_COMM_WORLD, requests + 1);
    MPI_Send(out, 2, MPI_INT, other, 1, MPI_COMM_WORLD);
    MPI_Send(out + 2, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
"""
"""Code of two finished receives, of which the first got more data than it has room for."""
FAILED = """
    MUST(requests[0] == MPI_REQUEST_NULL && in[0] == 6);
    MUST(MPI_Wait(requests, &status) == MPI_SUCCESS && status.MPI_SOURCE == MPI_ANY_SOURCE);
"""
BOTH = f"""
    MUST(requests[1] == MPI_REQUEST_NULL && in[1] == 8);
    MUST(statuses[0].MPI_SOURCE == other && statuses[0].MPI_TAG == 1 && statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE);
    MUST(statuses[1].MPI_SOURCE == other && statuses[1].MPI_TAG == 2 && statuses[1].MPI_ERROR == MPI_SUCCESS);
    {FAILED}
"""
ONE = f"""
    MUST(status.MPI_SOURCE == other && status.MPI_TAG == 1);
    {FAILED}
    MUST(requests[1] != MPI_REQUEST_NULL && MPI_Wait(requests + 1, &status) == MPI_SUCCESS && in[1] == 8);
"""
ENDS = {
    "MPI_Wait": f"MUST(MPI_Wait(requests, &status) == MPI_ERR_TRUNCATE); {ONE}",
    "MPI_Test": f"MUST(MPI_Test(requests, &flag, &status) == MPI_ERR_TRUNCATE && flag); {ONE}",
    "MPI_Waitany": f"MUST(MPI_Waitany(2, requests, &index, &status) == MPI_ERR_TRUNCATE && index == 0); {ONE}",
    "MPI_Testany": (
        f"MUST(MPI_Testany(2, requests, &index, &flag, &status) == MPI_ERR_TRUNCATE && flag && index == 0); {ONE}"
    ),
    "MPI_Waitall": f"MUST(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS); {BOTH}",
    "MPI_Testall": f"MUST(MPI_Testall(2, requests, &flag, statuses) == MPI_ERR_IN_STATUS && flag); {BOTH}",
    **{
        name: f"""
        MUST({name}(2, requests, &count, where, statuses) == MPI_ERR_IN_STATUS);
        MUST(count == 2 && where[0] == 0 && where[1] == 1);
        {BOTH}"""
        for name in ("MPI_Waitsome", "MPI_Testsome")
    },
}


@pytest.mark.parametrize("call", ENDS)
def test_a_failed_receive_has_ended_and_requests_that_succeeded_are_complete(call: str, tmp_path: Path) -> None:
    run(tmp_path, main(LONG_AND_SHORT + ENDS[call]))


def test_a_failed_persistent_receive_is_inactive_and_can_restart(tmp_path: Path) -> None:
    body = f"""
    int other = 1 - rank, out[2] = {{6, 7}}, in = -1, flag; MPI_Request request;
    {RETURNS}
    MPI_Recv_init(&in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &request);
    for (int size = 2; size; size--) {{
        MPI_Start(&request);
        MPI_Send(out + 2 - size, size, MPI_INT, other, 1, MPI_COMM_WORLD);
        MUST(MPI_Wait(&request, &status) == (size == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        MUST(request != MPI_REQUEST_NULL && in == 8 - size && status.MPI_SOURCE == other);
    }}
    MUST(MPI_Request_free(&request) == MPI_SUCCESS);
    """
    run(tmp_path, main(body))


def test_a_failed_blocking_receive_reports_its_message(tmp_path: Path) -> None:
    body = f"""
    int other = 1 - rank, out[2] = {{6, 7}}, in = -1; MPI_Message message;
    {RETURNS}
    for (int turn = 0; turn < 3; turn++) {{
        int result = in = -1;
        status.MPI_SOURCE = status.MPI_TAG = -7;
        if (turn == 2)
            result = MPI_Sendrecv(out, 2, MPI_INT, other, 5, &in, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &status);
        else {{
            MPI_Send(out, 2, MPI_INT, other, 5, MPI_COMM_WORLD);
            if (turn) {{
                MPI_Mprobe(other, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
                result = MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
            }} else
                result = MPI_Recv(&in, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &status);
        }}
        MUST(result == MPI_ERR_TRUNCATE && in == 6 && status.MPI_SOURCE == other && status.MPI_TAG == 5);
    }}
    """
    run(tmp_path, main(body))


def test_an_error_of_a_request_calls_the_handler_of_its_communicator(tmp_path: Path) -> None:
    body = """
    int other = 1 - rank, out[2] = {6, 7}, in = -1; MPI_Request request; MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Irecv(&in, 1, MPI_INT, other, 1, comm, &request);
    MPI_Send(out, 2, MPI_INT, other, 1, comm);
    MUST(MPI_Wait(&request, &status) == MPI_ERR_TRUNCATE);
    """
    run(tmp_path, main(body))


def test_testing_a_request_does_not_complete_it(tmp_path: Path) -> None:
    body = """
    int other = 1 - rank, in = -1, flag = 0; MPI_Request request = MPI_REQUEST_NULL;
    MUST(!MPI_Request_get_status(request, &flag, &status) && flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Irecv(&in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &request);
    MPI_Request_get_status(request, &flag, &status);
    MUST(!flag);
    MPI_Send(&rank, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request_get_status(request, &flag, &status);
    MUST(flag && status.MPI_SOURCE == other && status.MPI_TAG == 1 && request != MPI_REQUEST_NULL);
    MUST(MPI_Wait(&request, &status) == MPI_SUCCESS && in == other);
    """
    run(tmp_path, main(body))


FORKS = "if (!fork()) MPI_Barrier(MPI_COMM_WORLD); waitpid(-1, 0, 0);"
WRONG = {
    "crashes": (
        main('if (rank) { printf("so far\\n"); fflush(stdout); raise(SIGSEGV); }'),
        "rank 1: .*signal 11.*so far",
    ),
    "ends with a status": (main("if (rank) exit(4);"), "rank 1: the program ended with status 4"),
    "does not finalize": (main("if (rank) exit(0);"), "rank 1: .* never called MPI_Finalize"),
    "does not call MPI": (
        "#include <unistd.h>\nint main(void) { return usleep(1); }",
        "rank 0: .* never called MPI_Init; start a program linked",
    ),
    "calls after finalize": (
        main("MPI_Finalize(); MPI_Barrier(MPI_COMM_WORLD);"),
        "rank [01], MPI_Barrier, MPI_ERR_OTHER: MPI is not initialized, or is finalized",
    ),
    "calls what is missing": (
        "int MPI_Win_fence(int, int);" + main("MPI_Win_fence(0, 0);"),
        "rank 0, MPI_Win_fence: the library lacks this function",
    ),
    "forks": (main(FORKS), "signal 6.*MPI_Barrier: called by a process that the program has started"),
    "calls what takes time in an operator": (
        "#include <mpi.h>\n#include <unistd.h>\nstatic void meet(void *in, void *inout, int *count, MPI_Datatype *type)"
        "{ usleep(5); }"
        + main("MPI_Op op; MPI_Op_create(meet, 1, &op); MPI_Reduce(&rank, &size, 1, MPI_INT, op, 0, MPI_COMM_WORLD);"),
        "rank 0, MPI_Reduce: an operator of the program calls sanlab_sleep",
    ),
    "aborts": (main("if (rank) MPI_Abort(MPI_COMM_WORLD, 9);"), "rank 1, MPI_Abort: .*called MPI_Abort with code 9"),
    "hangs": (main("if (rank) for (;;);"), "rank 1: .*sent no request for 0.5 s"),
    "queries its rank in a freed communicator": (
        main(
            "MPI_Comm comm, old; MPI_Comm_dup(MPI_COMM_WORLD, &comm); MPI_Comm_rank(old = comm, &size);"
            "MPI_Comm_free(&comm); MPI_Comm_rank(old, &size);"
        ),
        "rank [01], MPI_Comm_rank, MPI_ERR_COMM: invalid communicator handle 0x84000001",
    ),
    "sends to nobody": (
        main("MPI_Send(&rank, 1, MPI_INT, 9, 0, MPI_COMM_WORLD);"),
        "rank 0, MPI_Send, MPI_ERR_RANK: destination is 9",
    ),
    "sends with a tag that is none": (
        main("MPI_Send(&rank, 1, MPI_INT, 1 - rank, -4, MPI_COMM_WORLD);"),
        "rank [01], MPI_Send, MPI_ERR_TAG: tag is -4",
    ),
    "waits for a request that is none": (
        main("MPI_Request request = 0x2c00002a; MPI_Wait(&request, &status);"),
        "rank [01], MPI_Wait, MPI_ERR_REQUEST: invalid request handle 0x2c00002a",
    ),
    "sends a type that is not committed": (
        main(
            "int four[4] = {0}; MPI_Datatype every; MPI_Type_vector(2, 1, 2, MPI_INT, &every);"
            "MPI_Send(four, 1, every, 1 - rank, 0, MPI_COMM_WORLD);"
        ),
        "rank [01], MPI_Send, MPI_ERR_TYPE: .*is not committed",
    ),
    "finalizes with a receive open": (
        main("MPI_Request open; MPI_Irecv(&size, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &open);"),
        "rank [01], MPI_Finalize, MPI_ERR_PENDING: 1 operations are open, the first one of MPI_Irecv",
    ),
    "sends in ready mode to nobody": (
        main(
            "if (rank) MPI_Rsend(&rank, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);"
            "else MPI_Probe(1, 3, MPI_COMM_WORLD, &status);"
        ),
        "rank 0, MPI_Probe, MPI_ERR_OTHER: rank 1 has sent tag 3 in ready mode, but no receive is posted",
    ),
    "does not join a collective": (
        main("if (rank) MPI_Barrier(MPI_COMM_WORLD); else MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);"),
        "rank [01], MPI_B.*, MPI_ERR_OTHER: rank [01] of MPI_COMM_WORLD is in MPI_B",
    ),
    "receives too little": (
        main(
            "int both[2], other = 1 - rank;"
            "MPI_Sendrecv(both, 2, MPI_INT, other, 0, both, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &status);"
        ),
        "MPI_Sendrecv, MPI_ERR_TRUNCATE: 8 bytes",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_of_a_program_are_reported_with_its_rank(what: str, tmp_path: Path) -> None:
    source, said = WRONG[what]
    with pytest.raises((ProgramError, MpiError), match=f"(?s){said}"):
        run(tmp_path, source, patience_s=0.5 if what == "hangs" else 20.0)


def test_deadlocked_programs_are_a_hang_that_names_their_calls(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="MPI_Recv: rank 1, tag 3"):
        run(tmp_path, main("MPI_Recv(&rank, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &status);"))


@pytest.mark.parametrize(
    "call",
    [
        "MPI_Comm_size(comm, 0)",
        "MPI_Comm_group(comm, 0)",
        "MPI_Comm_create(comm, group, 0)",
        "MPI_Comm_split(comm, 0, 0, 0)",
        "MPI_Type_contiguous(1, MPI_INT, 0)",
        "MPI_Type_indexed(1, 0, 0, MPI_INT, &kind)",
        "MPI_Comm_set_name(comm, 0)",
    ],
)
def test_null_instead_of_an_address_is_an_argument_error(call: str, tmp_path: Path) -> None:
    body = f"""
    MPI_Comm comm; MPI_Group group; MPI_Datatype kind; (void)kind;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_group(comm, &group);
    MUST({call} == MPI_ERR_ARG);
    """
    run(tmp_path, main(body), ranks=1)


def test_the_error_code_of_a_copy_function_is_that_of_the_call(tmp_path: Path) -> None:
    source = (
        HEAD.replace(
            "int main",
            """
    static int code;
    static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
        (void)comm, (void)key, (void)extra, (void)in, (void)out;
        *flag = 1;
        return code;
    }
    static int no_delete(MPI_Comm comm, int key, void *value, void *extra) {
        (void)comm, (void)key, (void)value, (void)extra;
        return 0;
    }
    int main""",
        )
        + """
    int key, error_class, found; MPI_Comm comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&error_class);
    MPI_Add_error_code(error_class, &code);
    MPI_Comm_create_keyval(copy, no_delete, &key, 0);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &rank);
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == code);
    MPI_Error_class(code, &found);
    MUST(found == error_class);
    """
        + TAIL
    )
    run(tmp_path, source)


@pytest.mark.parametrize(
    "call",
    [
        "MPI_Cart_create(MPI_COMM_WORLD, 1, &large, &large, 0, &comm)",
        "MPI_Graph_create(MPI_COMM_WORLD, 9, &large, &large, 0, &comm)",
        "MPI_Graph_create(MPI_COMM_WORLD, 2, wrong, wrong, 0, &comm)",
        "MPI_Dist_graph_create(MPI_COMM_WORLD, 1, wrong, wrong, wrong, wrong, MPI_INFO_NULL, 0, &comm)",
        "MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm)",
        "MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm)",
        "MPI_Comm_dup(MPI_COMM_NULL, &comm)",
        "MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &comm)",
    ],
)
def test_a_call_that_fails_leaves_a_null_communicator(call: str, tmp_path: Path) -> None:
    body = f"""
    int large = 99, wrong[] = {{-1, 1 << 30}}; MPI_Comm comm = MPI_COMM_WORLD; (void)large; (void)wrong;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MUST({call} != MPI_SUCCESS && comm == MPI_COMM_NULL);
    """
    run(tmp_path, main(body))
