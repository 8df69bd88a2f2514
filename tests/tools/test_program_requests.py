"""Freed and cancelled requests of programs.

Strategy: small C programs on two hosts check their own memory; the simulator must neither hang nor lose data.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.program_bench import main, run


@pytest.mark.parametrize("on", ["grim", "via"])
@pytest.mark.parametrize("count", [1, 5000])
def test_data_of_a_freed_receive_have_arrived_when_a_later_message_has(count: int, on: str, tmp_path: Path) -> None:
    body = f"""
    enum {{ COUNT = {count} }};
    static int data[COUNT]; MPI_Request request; int other = 1 - rank;
    MPI_Irecv(data, COUNT, MPI_INT, other, 3, MPI_COMM_WORLD, &request);
    MUST(!MPI_Request_free(&request) && request == MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    static int out[COUNT];
    for (int at = 0; at < COUNT; at++) out[at] = at + 77;
    MPI_Isend(out, COUNT, MPI_INT, other, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Sendrecv(0, 0, MPI_INT, other, 4, 0, 0, MPI_INT, other, 4, MPI_COMM_WORLD, &status);
    for (int at = 0; at < COUNT; at++) MUST(data[at] == at + 77);
    """
    run(tmp_path, main(body), on=on)


def test_data_of_a_receive_freed_after_its_end_have_arrived(tmp_path: Path) -> None:
    body = """
    int data = 0, flag = 0, other = 1 - rank; MPI_Request request;
    MPI_Irecv(&data, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
    while (!flag) MPI_Request_get_status(request, &flag, &status);
    MPI_Request_free(&request);
    MUST(data == other);
    """
    run(tmp_path, main(body))


@pytest.mark.parametrize("call", ["MPI_Issend(data, 1", "MPI_Isend(data, 50000"])
def test_a_cancelled_send_without_a_receive_ends(call: str, tmp_path: Path) -> None:
    body = f"""
    static int data[50000]; MPI_Request request; int flag, other = 1 - rank;
    {call}, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, &status);
    MUST(!flag);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    MUST(flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(other, 0, MPI_COMM_WORLD, &flag, &status);
    MUST(!flag);
    """
    run(tmp_path, main(body))


def test_a_cancelled_send_that_has_its_receive_delivers(tmp_path: Path) -> None:
    body = """
    int data = 5, flag; MPI_Request request;
    if (rank) MPI_Irecv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank) { MPI_Issend(&size, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); MPI_Cancel(&request); }
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    MUST(!flag && data == (rank ? 2 : 5));
    """
    run(tmp_path, main(body))


def test_freeing_a_communicator_does_not_wait(tmp_path: Path) -> None:
    body = """
    MPI_Comm comm; int data = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!rank) { MPI_Comm_free(&comm); MPI_Send(&size, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); }
    else { MPI_Recv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status); MPI_Comm_free(&comm); MUST(data == 2); }
    """
    run(tmp_path, main(body))


def test_rank_0_alone_reads_the_standard_input(tmp_path: Path) -> None:
    body = """
    char line[64] = "none";
    int came = fgets(line, sizeof line, stdin) != 0;
    MUST(came == !rank && !strcmp(line, rank ? "none" : "to be read\\n"));
    """
    (tmp_path / "program.c").write_text(main(body), encoding="utf-8")
    words = [str(tmp_path), str(tmp_path / "program.c")]
    code = "import sys; from pathlib import Path; from tests.tools.program_bench import start; "
    code += "start(Path(sys.argv[1]), sys.argv[2:])"
    subprocess.run([sys.executable, "-c", code, *words], input=b"to be read\n", check=True, cwd=Path.cwd())


@pytest.mark.parametrize("on", ["grim", "via"])
@pytest.mark.parametrize("count", [1, 5000])
def test_one_request_ends_with_its_send_and_its_receive(count: int, on: str, tmp_path: Path) -> None:
    body = f"""
    enum {{ COUNT = {count} }};
    static int out[COUNT], in[COUNT]; MPI_Request request; int other = 1 - rank, flag = 0, got;
    for (int at = 0; at < COUNT; at++) out[at] = 10 * at + rank;
    MPI_Isendrecv(out, COUNT, MPI_INT, other, 3, in, COUNT, MPI_INT, other, 3, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, &status);
    MUST(request == MPI_REQUEST_NULL && status.MPI_SOURCE == other && status.MPI_TAG == 3);
    MPI_Get_count(&status, MPI_INT, &got);
    MUST(got == COUNT);
    for (int at = 0; at < COUNT; at++) MUST(in[at] == 10 * at + other);
    MPI_Isendrecv_replace(out, COUNT, MPI_INT, other, 4, other, 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    for (int at = 0; at < COUNT; at++) MUST(out[at] == 10 * at + other);
    MPI_Isendrecv(out, COUNT, MPI_INT, MPI_PROC_NULL, 3, in, COUNT, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_SELF, &request);
    MPI_Wait(&request, &status);
    MUST(status.MPI_SOURCE == MPI_PROC_NULL && in[0] == other);
    MPI_Isendrecv_replace(out, COUNT, MPI_INT, other, 5, other, 5, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(0, 0, MPI_INT, other, 6, 0, 0, MPI_INT, other, 6, MPI_COMM_WORLD, &status);
    """
    run(tmp_path, main(body), on=on)


def test_a_receive_of_both_that_is_too_short_fails_its_request(tmp_path: Path) -> None:
    body = """
    int out[2] = {1, 2}, in = 0; MPI_Request request; int other = 1 - rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isendrecv(out, 2, MPI_INT, other, 3, &in, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &request);
    MUST(MPI_Wait(&request, &status) == MPI_ERR_TRUNCATE && in == 1 && request == MPI_REQUEST_NULL);
    """
    run(tmp_path, main(body))


GENERALIZED = """
    static int asked, freed, cancelled;
    static int query(void *extra, MPI_Status *status) {
        asked++;
        MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
        MPI_Status_set_cancelled(status, cancelled);
        status->MPI_SOURCE = 7; status->MPI_TAG = 8;
        return MPI_SUCCESS;
    }
    static int end(void *extra) { (void)extra; freed++; return MPI_SUCCESS; }
    static int cancel(void *extra, int complete) { (void)extra; cancelled = !complete; return MPI_SUCCESS; }
"""


def test_generalized_requests_call_the_functions_of_the_program(tmp_path: Path) -> None:
    body = """
    int number = 5, count, flag, index; MPI_Request request, both[2]; MPI_Status statuses[2];
    MPI_Grequest_start(query, end, cancel, &number, &request);
    MPI_Test(&request, &flag, &status);
    MUST(!flag && !asked);
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    MUST(flag && asked == 1 && !freed && status.MPI_TAG == 8);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MUST(request == MPI_REQUEST_NULL && count == 5 && status.MPI_SOURCE == 7 && asked == 2 && freed == 1);
    MPI_Grequest_start(query, end, cancel, &number, both);
    MPI_Irecv(&count, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, both + 1);
    MPI_Cancel(both);
    MPI_Grequest_complete(both[0]);
    MPI_Waitany(2, both, &index, &status);
    MPI_Test_cancelled(&status, &flag);
    MUST(index == 0 && flag && freed == 2 && both[0] == MPI_REQUEST_NULL);
    MPI_Send(&number, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Grequest_start(query, end, cancel, &number, both);
    MPI_Grequest_complete(both[0]);
    MPI_Waitall(2, both, statuses);
    MUST(count == 5 && statuses[0].MPI_TAG == 8 && statuses[1].MPI_TAG == 1 && freed == 3);
    MPI_Grequest_start(query, end, cancel, &number, &request);
    MPI_Grequest_complete(request);
    MPI_Request_free(&request);
    MUST(freed == 4 && asked == 4);
    """
    head, rest = main(body).split("int main", 1)
    run(tmp_path, f"{head}{GENERALIZED}int main{rest}", ranks=1)
