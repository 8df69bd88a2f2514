"""Unmodified programs as MPI ranks on the machine.

Strategy: small C programs are compiled against the generated header, and run on simulated hosts. They check their
received data themselves, and fail the run on an error. Two runs must be equal, and clocks must show simulated time. The
library must have a function for every line of the table of calls.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from firmware.mpi.call_names import NUMBERS
from pymodels.errors import ConfigError
from pymodels.trace import Part, TraceEvent, unit
from tb.program.mpi import abi
from tb.program.mpi.build import library
from tb.program.mpi.calls import LOCAL, NAMES, table
from tb.program.mpi.command import EXAMPLES, check_ranks, words_of
from tests.tools.program_bench import main, run, start

RING = str(EXAMPLES / "ring.c")


@pytest.mark.parametrize(("ranks", "on"), [(2, "via"), (3, "grim")])
def test_a_program_runs_and_two_runs_are_equal(ranks: int, on: str, tmp_path: Path) -> None:
    first, second = (start(tmp_path, [RING], ranks, on=on) for _ in range(2))
    assert first.said[0].startswith(f"{ranks} ranks: {(total := ranks * (ranks - 1) // 2)} of {total} after ")
    assert first == second


def test_helloworld_of_mpi4py_is_printed_by_every_rank_on_its_host(tmp_path: Path) -> None:
    ended = start(tmp_path, [sys.executable, "-m", "mpi4py.bench", "helloworld"], ranks=3)
    assert ended.said == [f"Hello, World! I am process {rank} of 3 on host{rank}.\n" for rank in range(3)]


def test_the_trace_shows_a_call_around_the_packet_that_ended_it(tmp_path: Path) -> None:
    body = """
    int data = 0, other = 1 - rank;
    if (!rank) { usleep(300); MPI_Send(&rank, 1, MPI_INT, 1, 3, MPI_COMM_WORLD); }
    else { MPI_Recv(&data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &status); }
    """
    (tmp_path / "program.c").write_text(main(body), encoding="utf-8")
    records = start(tmp_path, [str(tmp_path / "program.c")], trace=True).records
    calls, number = (TraceEvent.CALL_START, TraceEvent.CALL_END), NUMBERS["MPI_Recv"]
    (begun, *_), (over, *_) = [row for row in records if row[2] in calls and row[4] == number]
    came = [row[0] for row in records if row[1:3] == (unit(1, Part.NET_RECV), TraceEvent.RX_TAIL)]
    within = [time for time in came if begun < time < over]
    assert begun < within[-1] - 250_000_000 and over - within[-1] < 20_000_000, "it waited for it, and returned then"
    sent = [row[0] for row in records if row[2] in calls and row[4] == NUMBERS["MPI_Send"]]
    assert sent[0] < within[-1] < over


def test_the_storage_for_a_program_does_not_grow_with_its_messages(tmp_path: Path) -> None:
    body = """
    int other = 1 - rank, in; MPI_Request requests[2]; MPI_Comm comm; MPI_Datatype both;
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Irecv(&in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, requests);
        MPI_Isend(&rank, 1, MPI_INT, other, 1, MPI_COMM_WORLD, requests + 1);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Type_contiguous(2, MPI_INT, &both);
        MPI_Type_free(&both);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_free(&comm);
    }
    """
    few, many = (run(tmp_path, f"#define TURNS {turns}\n" + main(body)).held for turns in (5, 50))
    assert all(more <= less + 8 for less, more in zip(few, many, strict=True)), (few, many)


def test_the_library_has_a_function_for_every_call_and_no_other_name_of_mpi() -> None:
    said = subprocess.check_output(["nm", "-D", "--defined-only", library() / abi.LIBRARY], encoding="utf-8")
    there = {line.split()[2] for line in said.splitlines() if line.split()[1] in "TW"}
    assert {*LOCAL, *(one.name for one in table())} <= there
    assert set(NAMES.read_text(encoding="utf-8").split()) <= there
    assert {one for one in there if one.startswith(("MPI_", "MPIX_", "MPII_"))} <= {
        *LOCAL,
        *(one.name for one in table()),
    }


def test_clocks_show_simulated_time_and_sleep_takes_it(tmp_path: Path) -> None:
    body = """
    struct timeval day; struct timespec mono, cpu;
    double begun = MPI_Wtime();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    for (volatile long i = 0; i < 30000000; i++);
    MUST(MPI_Wtime() - begun < 1e-5);
    usleep(2500);
    MUST(MPI_Wtime() - begun > 2.5e-3 && MPI_Wtime() - begun < 2.6e-3);
    while (MPI_Wtime() - begun < 2.65e-3);
    double before = MPI_Wtime();
    MPI_Get_version(&size, &size);
    MUST(MPI_Wtime() >= before && MPI_Wtime() - before < 1e-5);
    gettimeofday(&day, 0); clock_gettime(CLOCK_MONOTONIC, &mono);
    MUST(time(0) == 0 && !day.tv_sec && !mono.tv_sec);
    MUST(mono.tv_nsec / 1000 - day.tv_usec < 10 && mono.tv_nsec / 1000 >= day.tv_usec);
    MUST(abs((int)(MPI_Wtime() * 1e6) - day.tv_usec) < 10);
    """
    assert run(tmp_path, main(body)).now < 3_000_000_000


def test_computing_takes_simulated_time_by_a_stated_rate(tmp_path: Path) -> None:
    body = "for (volatile long i = 0; i < 30000000; i++);"
    none, some = (run(tmp_path, main(body), cpu_ratio=ratio).now for ratio in (0.0, 2.0))
    assert some > none + 1_000_000_000


def test_messages_of_all_calls_and_datatypes_arrive_where_they_should(tmp_path: Path) -> None:
    body = """
    int other = 1 - rank, from[6] = {1, 2, 3, 4, 5, 6}, into[6] = {0}, flag, count, index;
    MPI_Request requests[2]; MPI_Status statuses[2]; MPI_Datatype column;
    MPI_Type_vector(2, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(into + 1, 1, column, other, 5, MPI_COMM_WORLD, requests);
    MPI_Isend(from + 2, 1, column, other, 5, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, statuses);
    MUST(into[0] == 0 && into[1] == 3 && into[2] == 0 && into[4] == 6 && into[5] == 0);
    MUST(statuses[0].MPI_SOURCE == other && statuses[0].MPI_TAG == 5 && statuses[0].MPI_ERROR == 0);
    MPI_Get_count(statuses, column, &count);
    MUST(count == 1 && requests[0] == MPI_REQUEST_NULL);
    MPI_Sendrecv(from, 6, MPI_INT, other, 1, into, 6, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MUST(!memcmp(from, into, sizeof from) && status.MPI_TAG == 1);
    int once[2] = {1, 1}, apart[2] = {2, -1}, in_order[2], far[4] = {0}; MPI_Datatype around;
    MPI_Type_indexed(2, once, apart, MPI_INT, &around);
    MPI_Type_commit(&around);
    MPI_Sendrecv(from + 1, 1, around, other, 6, in_order, 2, MPI_INT, other, 6, MPI_COMM_WORLD, &status);
    MUST(in_order[0] == 4 && in_order[1] == 1);
    MPI_Sendrecv(in_order, 2, MPI_INT, other, 6, far + 1, 1, around, other, 6, MPI_COMM_WORLD, &status);
    MUST(far[3] == 4 && far[0] == 1 && !far[1] && !far[2]);
    MPI_Send_init(from, 2, MPI_INT, other, 9, MPI_COMM_WORLD, requests);
    for (int turn = 0; turn < 2; turn++) {
        from[0] = 70 + turn;
        MPI_Start(requests);
        MPI_Probe(other, 9, MPI_COMM_WORLD, &status);
        MPI_Recv(into, 2, MPI_INT, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        MUST(into[0] == 70 + turn && requests[0] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(requests);
    MPI_Iprobe(other, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MUST(!flag);
    MPI_Irecv(into, 1, MPI_INT, other, 3, MPI_COMM_WORLD, requests);
    MPI_Testany(1, requests, &index, &flag, &status);
    MUST(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(from, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
    MPI_Waitany(1, requests, &index, &status);
    MUST(index == 0 && into[0] == 71 && status.MPI_SOURCE == other);
    """
    run(tmp_path, main(body))


def test_infos_error_codes_and_sizes_of_types_are_kept_for_the_program(tmp_path: Path) -> None:
    body = """
    MPI_Info info, copy; MPI_Datatype kind; char text[MPI_MAX_ERROR_STRING]; int count, flag, length, class, code;
    MPI_Info_create(&info);
    MPI_Info_set(info, "first", "one");
    MPI_Info_set(info, "second", "two");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "first");
    MPI_Info_get_nkeys(copy, &count);
    MPI_Info_get_nthkey(copy, 1, text);
    MUST(count == 2 && !strcmp(text, "second"));
    MPI_Info_get(copy, "second", 2, text, &flag);
    MUST(flag && !strcmp(text, "tw"));
    MPI_Info_get_valuelen(info, "first", &length, &flag);
    MUST(!flag);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MUST(MPI_Info_delete(info, "first") == 31 && MPI_Comm_call_errhandler(MPI_COMM_WORLD, 15) == MPI_SUCCESS);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "ours");
    MPI_Error_string(code, text, &length);
    MPI_Error_class(code, &count);
    MUST(class > MPI_ERR_LASTCODE && count == class && !strcmp(text, "ours"));
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &kind);
    MUST(kind == MPI_REAL8 && MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &kind) != MPI_SUCCESS);
    """
    run(tmp_path, main(body))


def test_grids_and_graphs_know_their_neighbours(tmp_path: Path) -> None:
    body = """
    int sizes[2] = {0, 2}, periods[2] = {0, 1}, got[2], wraps[2], at[2], source, target, number, kind, keep[2] = {0, 1};
    int index[3] = {1, 3, 4}, edges[4] = {1, 0, 2, 1}, found[2]; MPI_Comm grid, row, graph, copy;
    MPI_Dims_create(4, 2, sizes);
    MUST(sizes[0] == 2 && sizes[1] == 2);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 1, &grid);
    MPI_Comm_dup(grid, &copy);
    MPI_Topo_test(copy, &kind);
    MPI_Cart_get(copy, 2, got, wraps, at);
    MUST(kind == MPI_CART && got[1] == 2 && wraps[1] && !wraps[0] && at[0] == rank / 2 && at[1] == rank % 2);
    MPI_Cart_shift(grid, 0, 1, &source, &target);
    MUST(target == (rank < 2 ? rank + 2 : MPI_PROC_NULL) && source == (rank < 2 ? MPI_PROC_NULL : rank - 2));
    MPI_Cart_shift(grid, 1, 1, &source, &target);
    MUST(target == (rank ^ 1) && source == (rank ^ 1));
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_rank(row, &number);
    MPI_Comm_size(row, &size);
    MUST(size == 2 && number == rank % 2);
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - number, 1, &number, 1, MPI_INT, 1 - number, 1, row, &status);
    MUST(number == (rank ^ 1));
    MPI_Graph_create(MPI_COMM_WORLD, 3, index, edges, 0, &graph);
    MUST((graph == MPI_COMM_NULL) == (rank == 3));
    if (rank < 3) {
        MPI_Graph_neighbors_count(graph, 1, &number);
        MPI_Graph_neighbors(graph, 1, 2, found);
        MUST(number == 2 && found[0] == 0 && found[1] == 2);
        MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
        MUST(MPI_Cart_rank(graph, at, &number) == 10);
    }
    """
    run(tmp_path, main(body), ranks=4)


def test_collectives_return_the_results_of_the_standard(tmp_path: Path) -> None:
    body = """
    int one = rank + 1, all[3] = {0}, sum = 0, counts[3] = {1, 2, 3}, places[3] = {6, 3, 0}, far[9];
    double half = rank / 2.0, most = 0;
    struct { double value; int index; } pair = {10.0 - rank, rank}, least;
    MPI_Comm odd; MPI_Group group;
    for (int i = 0; i < 9; i++) far[i] = -1;
    MPI_Allgather(&one, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    MUST(all[0] == 1 && all[1] == 2 && all[2] == 3);
    MPI_Allreduce(&half, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MUST(most == 1.0);
    MPI_Reduce(rank == 2 ? MPI_IN_PLACE : &one, rank == 2 ? &one : 0, 1, MPI_INT, MPI_SUM, 2, MPI_COMM_WORLD);
    MUST(one == (rank == 2 ? 6 : rank + 1));
    MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    MUST(least.index == 2 && least.value == 8.0);
    MPI_Gatherv(all, counts[rank], MPI_INT, far, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    if (!rank) MUST(far[6] == 1 && far[7] == -1 && far[3] == 1 && far[4] == 2 && far[5] == -1 && far[2] == 3);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &odd);
    MPI_Comm_size(odd, &size);
    MUST(size == (rank % 2 ? 1 : 2));
    MPI_Bcast(all, 3, MPI_INT, 0, odd);
    MPI_Comm_group(odd, &group);
    MPI_Group_size(group, &sum);
    MUST(sum == size);
    MPI_Group_free(&group);
    MPI_Comm_free(&odd);
    MUST(odd == MPI_COMM_NULL);
    """
    run(tmp_path, main(body), ranks=3)


def test_functions_of_the_program_are_called_for_operators_and_attributes(tmp_path: Path) -> None:
    functions = """
    #include <mpi.h>
    static int freed;
    static void later(void *in, void *inout, int *count, MPI_Datatype *type) {
        int size;
        MPI_Type_size(*type, &size);
        for (int i = 0; i < *count; i++) ((int *)inout)[i] = ((int *)in)[i] * 10 + ((int *)inout)[i];
    }
    static int end(MPI_Comm comm, int key, void *value, void *extra) { freed += *(int *)value; return 0; }
    static int copy(MPI_Comm comm, int key, void *extra, void *from, void *to, int *flag) {
        *(void **)to = from; *flag = 1; return 0;
    }
    """
    body = """
    int mine[2] = {rank + 1, rank + 5}, result[2], key, flag, *found, bound = 4; MPI_Op op; MPI_Comm comm;
    MPI_Op_create(later, 0, &op);
    MPI_Scan(mine, result, 2, MPI_INT, op, MPI_COMM_WORLD);
    MUST(result[0] == (rank ? rank == 1 ? 12 : 123 : 1));
    MPI_Allreduce(mine, result, 2, MPI_INT, op, MPI_COMM_WORLD);
    MUST(result[0] == 123 && result[1] == 567);
    MPI_Op_free(&op);
    MPI_Comm_create_keyval(copy, end, &key, 0);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &bound);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_attr(comm, key, &found, &flag);
    MUST(flag && found == &bound);
    MPI_Comm_free(&comm);
    MUST(freed == 4);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    MUST(flag && *found >= 32767);
    """
    run(tmp_path, functions + main(body), ranks=3)


def test_a_probe_that_takes_its_message_keeps_it_from_others(tmp_path: Path) -> None:
    body = """
    int data[2] = {rank, 7}, found[2], count, flag; MPI_Message message;
    MPI_Sendrecv(data, 1, MPI_INT, 1 - rank, 1, found, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &status);
    MPI_Send(data, 2, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MUST(count == 2 && status.MPI_TAG == 2);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    MUST(!flag);
    MPI_Mrecv(found, 2, MPI_INT, &message, &status);
    MUST(found[0] == 1 - rank && found[1] == 7 && message == MPI_MESSAGE_NULL && status.MPI_SOURCE == 1 - rank);
    """
    run(tmp_path, main(body))


def test_data_are_packed_and_sent_in_parts_of_any_type(tmp_path: Path) -> None:
    body = """
    char room[64]; int position = 0, size_of, four[4] = {1, 2, 3, 4}, back[4] = {0}; double one = rank + 0.5, other;
    MPI_Request request; MPI_Datatype every, types[2] = {MPI_INT, MPI_DOUBLE};
    int counts[2] = {1, 1}, places[2] = {8, 16};
    struct { int no[2], number, gap; double real; } out = {{0}, rank + 1, 0, rank + 2.5}, into = {{0}};
    MPI_Type_vector(2, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_Pack_size(1, every, MPI_COMM_WORLD, &size_of);
    MUST(size_of == 8);
    MPI_Pack(four, 1, every, room, sizeof room, &position, MPI_COMM_WORLD);
    MPI_Pack(&one, 1, MPI_DOUBLE, room, sizeof room, &position, MPI_COMM_WORLD);
    MUST(position == 16);
    MPI_Isend(room, position, MPI_PACKED, 1 - rank, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(room + 32, 16, MPI_PACKED, 1 - rank, 0, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, &status);
    position = 32;
    MPI_Unpack(room, sizeof room, &position, back, 1, every, MPI_COMM_WORLD);
    MPI_Unpack(room, sizeof room, &position, &other, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MUST(position == 48 && back[0] == 1 && back[1] == 0 && back[2] == 3 && other == 1 - rank + 0.5);
    if (rank) { types[0] = MPI_DOUBLE; places[0] = 16; counts[1] = 0; } else counts[0] = 0;
    MPI_Alltoallw(&out, counts, places, types, &into, counts, places, types, MPI_COMM_WORLD);
    MUST(into.number == 0 && into.real == (1 - rank) + 2.5);
    """
    run(tmp_path, main(body))


def elf(machine: int, *libraries: str) -> bytes:
    """Return the beginning of a program for a processor, with the names of its libraries."""
    return (
        b"\x7fELF\x02".ljust(18, b"\0")
        + machine.to_bytes(2, "little")
        + b"\0".join(one.encode() for one in ("", *libraries, ""))
    )


OWN = int.from_bytes(Path(sys.executable).resolve().read_bytes()[18:20], "little")
REFUSED = {
    "no_such_program -u 5": (b"", "program not found: no 'no_such_program' in "),
    "'open": (b"", 'no command: command is "\'open"'),
    "openmpi": (elf(OWN, "libmpi.so.40"), "incompatible library: .*openmpi is linked with libmpi.so.40; link it with"),
    "foreign": (elf(OWN + 1, abi.LIBRARY), "incompatible program: .*foreign is not for the 64-bit processor"),
    "small": (elf(OWN).replace(b"ELF\x02", b"ELF\x01"), "incompatible program"),
}


@pytest.mark.parametrize("command", REFUSED)
def test_a_command_that_cannot_be_started_is_rejected(command: str, tmp_path: Path) -> None:
    data, said = REFUSED[command]
    if data:
        (tmp_path / command).write_bytes(data)
    with pytest.raises(ConfigError, match=said):
        words_of(command, tmp_path)


def test_a_program_that_fits_is_found_where_the_command_was_typed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(elf(OWN, abi.LIBRARY))
    assert words_of("mine -u '6 5'", tmp_path) == [str(tmp_path / "mine"), "-u", "6 5"]


def test_more_ranks_than_hosts_are_rejected() -> None:
    check_ranks(2, 2)
    with pytest.raises(ConfigError, match="too many ranks: 3 programs and 2 hosts; give at most 2"):
        check_ranks(3, 2)


def test_a_program_has_the_same_addresses_in_each_run(tmp_path: Path) -> None:
    body = """
    static int fixed; void *heap = malloc(1 << 22), *small = malloc(10);
    printf("%p %p %p %p %p\\n", (void *)&rank, (void *)&fixed, heap, small, (void *)printf);
    """
    refused = subprocess.run(["setarch", "-R", "true"], check=False, capture_output=True).returncode
    said = [run(tmp_path, main(body)).said for _ in range(3)]
    assert refused or (said[0] == said[1] == said[2] and said[0][0])
