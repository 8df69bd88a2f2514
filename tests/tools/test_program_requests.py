"""Requests of programs: freed and cancelled ones.

Strategy: small C programs on two hosts look at their own memory; the simulator must neither hang nor forget data.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.program_bench import main, run


@pytest.mark.parametrize("on", ["grim", "via"])
@pytest.mark.parametrize("count", [1, 5000])
def test_data_of_a_freed_receive_are_there_when_a_later_message_is(count: int, on: str, tmp_path: Path) -> None:
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


def test_data_of_a_receive_freed_after_its_end_are_there(tmp_path: Path) -> None:
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
def test_a_cancelled_send_that_nobody_receives_ends(call: str, tmp_path: Path) -> None:
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


def test_freeing_a_communicator_waits_for_nobody(tmp_path: Path) -> None:
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
