"""Datatypes of programs compared with real MPICH, and their effects on addresses, operators, parts of collectives.

Strategy: one program builds random datatypes and prints MPI's results: sizes, bounds, contents, packed bytes, received
data, element counts. It is linked with MPICH of Debian and runs with both libraries; the output must be equal.
RANDOM_TYPES sets the number of types.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tools.program_bench import main, run, start
from tests.unit.program.random_types import random_cases

NUMBER = int(os.environ.get("RANDOM_TYPES", "500"))
SEED = 2
PROGRAM = Path(__file__).with_name("random_types.c")


def linked_with_mpich(source: Path, to: Path, *flags: str) -> Path:
    """Compile a program with MPICH of Debian; return its path."""
    compiler = shutil.which("mpicc.mpich")
    assert compiler, (
        "mpicc.mpich is missing: type `apt-get install mpich libmpich-dev`, or `make test`, which installs it"
    )
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-O1", *flags, source, "-o", to], check=True)
    return to


@pytest.mark.parametrize("flags", [[], ["-DLARGE"]], ids=["counts", "large counts"])
def test_random_types_have_the_sizes_bounds_and_data_of_mpich(flags: list[str], tmp_path: Path) -> None:
    program, types = linked_with_mpich(PROGRAM, tmp_path / "random_types", *flags), tmp_path / "types"
    cases = [line for _, line in random_cases(SEED + len(flags), NUMBER)]
    types.write_text("\n".join(cases) + "\n", encoding="utf-8")
    said = subprocess.run([program, types], check=True, capture_output=True, encoding="utf-8").stdout.splitlines()
    ours = start(tmp_path, [str(program), str(types)], ranks=1, patience_s=60).said[0].splitlines()
    assert len(said) == len(ours) == NUMBER
    differ = [case for case, right, seen in zip(cases, said, ours, strict=True) if right != seen]
    assert not differ, f"{len(differ)} types differ, the first is {differ[0]}"


def test_structs_are_padded_like_by_the_compiler(tmp_path: Path) -> None:
    body = """
    struct particle { double x; int id; char kind; } some[4] = {{0}};
    int ones[3] = {1, 1, 1}; MPI_Aint at[3] = {0, 8, 12}, lower, extent; MPI_Datatype kinds[3], particle;
    kinds[0] = MPI_DOUBLE; kinds[1] = MPI_INT; kinds[2] = MPI_CHAR;
    MPI_Type_create_struct(3, ones, at, kinds, &particle);
    MPI_Type_commit(&particle);
    MPI_Type_get_extent(particle, &lower, &extent);
    MUST(lower == 0 && extent == sizeof(struct particle));
    if (!rank) for (int i = 0; i < 4; i++) some[i] = (struct particle){i + .5, 100 + i, 'a' + i};
    MPI_Bcast(some, 4, particle, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) MUST(some[i].x == i + .5 && some[i].id == 100 + i && some[i].kind == 'a' + i);
    """
    run(tmp_path, main(body))


def test_counts_beyond_an_int_are_undefined_and_their_wide_calls_exact(tmp_path: Path) -> None:
    body = """
    MPI_Datatype huge, mixed; MPI_Count wide; int narrow, ones[2] = {1, 1}; MPI_Aint at[2] = {0, 8};
    MPI_Datatype kinds[2]; kinds[0] = MPI_INT; kinds[1] = MPI_DOUBLE; char data[64] = {0};
    MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &huge);
    MPI_Type_size(huge, &narrow);
    MPI_Type_size_x(huge, &wide);
    MUST(narrow == MPI_UNDEFINED && wide == 8L << 30);
    MPI_Status_set_elements_x(&status, MPI_BYTE, 0x7654321ff1234567);
    MPI_Get_elements_x(&status, MPI_BYTE, &wide);
    MUST(wide == 0x7654321ff1234567);
    MPI_Status_set_elements_x(&status, MPI_INT, 3L << 30);
    MPI_Get_elements(&status, MPI_INT, &narrow);
    MPI_Get_elements_x(&status, MPI_INT, &wide);
    MUST(narrow == MPI_UNDEFINED && wide == 3L << 30);
    MPI_Get_count(&status, MPI_INT, &narrow);
    MUST(narrow == MPI_UNDEFINED);
    MPI_Type_create_struct(2, ones, at, kinds, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Sendrecv(data, 16, MPI_BYTE, rank, 1, data + 16, 3, mixed, rank, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, mixed, &narrow);
    MUST(narrow == MPI_UNDEFINED);
    MPI_Get_elements(&status, mixed, &narrow);
    MUST(narrow == 3);
    MPI_Status_set_elements(&status, mixed, 5);
    MPI_Get_elements(&status, mixed, &narrow);
    MUST(narrow == 5);
    """
    run(tmp_path, main(body), ranks=1)


def test_absolute_addresses_far_apart_are_read_and_written_piece_by_piece(tmp_path: Path) -> None:
    body = """
    static double x; static int k[3]; char *heap = malloc(10), stack[4] = "abc";
    MPI_Aint at[4]; int lengths[4] = {1, 3, 10, 4}; MPI_Datatype kinds[4], all;
    kinds[0] = MPI_DOUBLE; kinds[1] = MPI_INT; kinds[2] = MPI_CHAR; kinds[3] = MPI_CHAR;
    MPI_Get_address(&x, at); MPI_Get_address(k, at + 1); MPI_Get_address(heap, at + 2); MPI_Get_address(stack, at + 3);
    MPI_Type_create_struct(4, lengths, at, kinds, &all);
    MPI_Type_commit(&all);
    memset(heap, 0, 10);
    if (!rank) { x = 2.5; k[2] = 3; strcpy(heap, "hello"); stack[0] = 'X'; }
    MPI_Bcast(MPI_BOTTOM, 1, all, 0, MPI_COMM_WORLD);
    MUST(x == 2.5 && k[2] == 3 && !strcmp(heap, "hello") && !strcmp(stack, "Xbc"));
    """
    run(tmp_path, main(body))


def test_displacements_of_parts_count_in_extents_of_resized_types(tmp_path: Path) -> None:
    body = """
    MPI_Datatype pair, wide, narrow; int counts[2] = {1, 2}, at[2] = {1, 3}, from[8], into[24], many[16];
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &wide);
    MPI_Type_create_resized(pair, 0, sizeof(int), &narrow);
    MPI_Type_commit(&wide); MPI_Type_commit(&narrow);
    for (int i = 0; i < 8; i++) from[i] = 100 * rank + i;
    for (int i = 0; i < 24; i++) into[i] = -1;
    MPI_Allgatherv(from, 2 * counts[rank], MPI_INT, into, counts, at, wide, MPI_COMM_WORLD);
    MUST(into[3] == -1 && into[4] == 0 && into[5] == 1 && into[6] == -1);
    MUST(into[12] == 100 && into[13] == 101 && into[14] == -1 && into[16] == 102 && into[17] == 103 && into[18] == -1);
    for (int i = 0; i < 16; i++) many[i] = -1;
    MPI_Scatterv(from, counts, at, narrow, many, 2 * counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
    MUST(!rank ? many[0] == 1 && many[1] == 2 && many[2] == -1
               : many[0] == 3 && many[1] == 4 && many[2] == 4 && many[3] == 5 && many[4] == -1);
    """
    run(tmp_path, main(body))


@pytest.mark.parametrize(
    "call",
    [
        "MPI_Allreduce(in, out, 1, kind, op, MPI_COMM_WORLD)",
        "MPI_Reduce(in, out, 1, kind, op, 0, MPI_COMM_WORLD)",
        "MPI_Scan(in, out, 1, kind, op, MPI_COMM_WORLD)",
        "MPI_Exscan(in, out, 1, kind, op, MPI_COMM_WORLD)",
        "MPI_Reduce_scatter_block(in, out, 1, kind, op, MPI_COMM_WORLD)",
        "MPI_Reduce_scatter(in, out, ones, kind, op, MPI_COMM_WORLD)",
        "MPI_Reduce_local(in, out, 1, kind, op)",
    ],
)
def test_operators_that_do_not_apply_to_a_type_are_rejected_on_every_rank(call: str, tmp_path: Path) -> None:
    body = f"""
    char in[64] = {{0}}, out[64]; int ones[2] = {{1, 1}}; MPI_Datatype kind, derived; MPI_Op op;
    (void)ones;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(1, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    kind = MPI_DOUBLE; op = MPI_BAND; MUST({call} == MPI_ERR_OP);
    kind = MPI_BYTE; op = MPI_SUM; MUST({call} == MPI_ERR_OP);
    kind = MPI_C_FLOAT_COMPLEX; op = MPI_MAX; MUST({call} == MPI_ERR_OP);
    kind = MPI_C_BOOL; op = MPI_SUM; MUST({call} == MPI_ERR_OP);
    kind = MPI_INT; op = MPI_MINLOC; MUST({call} == MPI_ERR_OP);
    kind = derived; op = MPI_SUM; MUST({call} == MPI_ERR_OP);
    kind = MPI_INT; op = MPI_SUM; MUST({call} == MPI_SUCCESS);
    """
    run(tmp_path, main(body))


def test_operators_of_a_program_take_types_with_gaps(tmp_path: Path) -> None:
    source = """
    #include <mpi.h>
    #include <stdlib.h>
    static void add(void *in, void *inout, int *count, int *kind) {
        (void)kind;
        for (int i = 0; i < *count; i++)
            for (int j = 1; j < 6; j += 2) ((double *)inout)[6 * i + j] += ((double *)in)[6 * i + j];
    }
    int main(int argc, char **argv) {
        double from[12], into[12]; int rank; MPI_Datatype odd, wide; MPI_Op op; int at[3] = {1, 3, 5};
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Type_create_indexed_block(3, 1, at, MPI_DOUBLE, &odd);
        MPI_Type_create_resized(odd, 0, 6 * sizeof(double), &wide);
        MPI_Type_commit(&wide);
        MPI_Op_create(add, 1, &op);
        for (int i = 0; i < 12; i++) from[i] = i + rank, into[i] = -1;
        MPI_Allreduce(from, into, 2, wide, op, MPI_COMM_WORLD);
        for (int i = 0; i < 12; i++) if (into[i] != (i % 2 ? 2 * i + 1 : -1)) exit(3);
        MPI_Finalize();
        return 0;
    }
    """
    run(tmp_path, source)


def test_external32_swaps_bytes_and_narrows_longs_like_mpich(tmp_path: Path) -> None:
    body = """
    int from[6] = {0x01020304, -1, 0x05060708}, into[6] = {0}; long wide[2] = {-2, 5}, back[2] = {0}; short s = 0x0102;
    unsigned char out[64]; MPI_Aint bytes, at = 0; MPI_Datatype apart, mixed;
    MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    MPI_Pack_external_size("external32", 1, apart, &bytes);
    MUST(bytes == 8);
    MPI_Pack_external("external32", from, 1, apart, out, 64, &at);
    MPI_Pack_external("external32", wide, 2, MPI_LONG, out, 64, &at);
    MPI_Pack_external("external32", &s, 1, MPI_SHORT, out, 64, &at);
    MUST(at == 18 && !memcmp(out, "\\1\\2\\3\\4\\5\\6\\7\\10\\377\\377\\377\\376\\0\\0\\0\\5\\1\\2", 18));
    at = 0;
    MPI_Unpack_external("external32", out, 18, &at, into, 1, apart);
    MPI_Unpack_external("external32", out, 18, &at, back, 2, MPI_LONG);
    MUST(at == 16 && into[0] == from[0] && !into[1] && into[2] == from[2] && back[0] == -2 && back[1] == 5);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int ones[2] = {1, 1}; MPI_Aint places[2] = {0, 8}; MPI_Datatype kinds[2]; kinds[0] = MPI_INT; kinds[1] = MPI_DOUBLE;
    MPI_Type_create_struct(2, ones, places, kinds, &mixed);
    MUST(MPI_Pack_external_size("external32", 1, mixed, &bytes) == MPI_ERR_TYPE);
    MUST(MPI_Pack_external("external32", from, 3, MPI_INT, out, 8, &at) == MPI_ERR_TRUNCATE);
    MUST(MPI_Pack_external_size("native", 1, MPI_INT, &bytes) == MPI_ERR_ARG);
    """
    run(tmp_path, main(body), ranks=1)


def test_the_status_of_a_null_request_is_empty(tmp_path: Path) -> None:
    body = """
    int flag = 0; MPI_Request none = MPI_REQUEST_NULL;
    memset(&status, 7, sizeof status);
    MPI_Request_get_status(none, &flag, &status);
    MUST(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && status.MPI_ERROR == 0);
    memset(&status, 7, sizeof status);
    MPI_Wait(&none, &status);
    MUST(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && status.MPI_ERROR == 0);
    """
    run(tmp_path, main(body), ranks=1)


def test_large_counts_move_data_in_every_kind_of_call(tmp_path: Path) -> None:
    body = """
    MPI_Count counts[2] = {1, 2}, one = 1, got, room, packed = 0; MPI_Aint places[2] = {0, 1}, bytes[2] = {0, 4};
    int out[3] = {10 * rank, 10 * rank + 1, 10 * rank + 2}, in[8] = {0}, other = 1 - rank, sum[2];
    MPI_Request request; MPI_Datatype kinds[2]; kinds[0] = kinds[1] = MPI_INT; char bytes_out[16]; void *buffer;
    MPI_Sendrecv_c(out, 3, MPI_INT, other, 1, in, 8, MPI_INT, other, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, MPI_INT, &got);
    MUST(got == 3 && in[0] == 10 * other && in[2] == 10 * other + 2);
    MPI_Allgatherv_c(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    MUST(in[0] == 0 && in[1] == 10 && in[2] == 11);
    counts[1] = 1;
    MPI_Alltoallw_c(out, counts, bytes, kinds, in + 4, counts, bytes, kinds, MPI_COMM_WORLD);
    MUST(in[4] == rank && in[5] == 10 + rank);
    MPI_Reduce_scatter_c(out, sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MUST(sum[0] == 10 + 2 * rank);
    MPI_Ibcast_c(rank ? in : out, 3, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MUST(rank ? in[2] == 2 : 1);
    MPI_Alltoallv_init_c(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &request);
    for (int turn = 0; turn < 2; turn++) {
        memset(in, 0, sizeof in);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        MUST(in[0] == rank && in[1] == 10 + rank);
    }
    MPI_Request_free(&request);
    MPI_Pack_size_c(2, MPI_INT, MPI_COMM_WORLD, &room);
    MPI_Pack_c(out, 2, MPI_INT, bytes_out, 16, &packed, MPI_COMM_WORLD);
    MUST(room == 8 && packed == 8);
    packed = 4;
    MPI_Unpack_c(bytes_out, 16, &packed, in, 1, MPI_INT, MPI_COMM_WORLD);
    MUST(packed == 8 && in[0] == 10 * rank + 1);
    MPI_Buffer_attach_c(malloc(4096), 4096);
    MPI_Bsend_c(out, one, MPI_INT, other, 2, MPI_COMM_WORLD);
    MPI_Recv_c(in, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &status);
    MPI_Buffer_detach_c(&buffer, &room);
    MUST(room == 4096 && in[0] == 10 * other);
    """
    run(tmp_path, main(body))


def test_a_type_of_large_counts_is_described_by_calls_of_large_counts_only(tmp_path: Path) -> None:
    body = """
    MPI_Datatype huge, kind; MPI_Count bytes, n[4], large[1]; int small, code, a, b, c, numbers[1]; MPI_Aint places[1];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous_c(5L << 32, MPI_INT, &huge);
    MPI_Type_size_c(huge, &bytes);
    MPI_Type_size(huge, &small);
    MUST(bytes == 5L << 34 && small == MPI_UNDEFINED);
    MUST(MPI_Type_get_envelope(huge, &a, &b, &c, &code) == MPI_ERR_TYPE);
    MUST(!MPI_Type_get_envelope_c(huge, n, n + 1, n + 2, n + 3, &code) && !n[0] && !n[1] && n[2] == 1 && n[3] == 1);
    MUST(!MPI_Type_get_contents_c(huge, 0, 0, 1, 1, numbers, places, large, &kind));
    MUST(large[0] == 5L << 32 && kind == MPI_INT);
    """
    run(tmp_path, main(body), ranks=1)


def test_types_of_fortrans_ranges_are_predefined(tmp_path: Path) -> None:
    body = """
    MPI_Datatype kind, again, none; int a, b, c, combiner, numbers[2]; double in = rank + .5, out;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_create_f90_real(15, 30, &kind);
    MPI_Type_create_f90_real(15, 30, &again);
    MUST(kind == again);
    MPI_Type_size(kind, &size);
    MUST(size == 8);
    MPI_Type_get_envelope(kind, &a, &b, &c, &combiner);
    MUST(a == 2 && !b && !c && combiner == 15);
    MPI_Type_get_contents(kind, 2, 0, 0, numbers, 0, 0);
    MUST(numbers[0] == 15 && numbers[1] == 30);
    MPI_Allreduce(&in, &out, 1, kind, MPI_SUM, MPI_COMM_WORLD);
    MUST(out == 2);
    MUST(MPI_Type_free(&again) != MPI_SUCCESS);
    for (int range = 1; range < 19; range++) {
        MPI_Type_create_f90_integer(range, &kind);
        MPI_Type_size(kind, &size);
        MUST(size == (range < 3 ? 1 : range < 5 ? 2 : range < 10 ? 4 : 8));
    }
    MPI_Type_create_f90_complex(6, 37, &kind);
    MPI_Type_size(kind, &size);
    MUST(size == 8);
    MUST(MPI_Type_create_f90_real(40, 1, &none) != MPI_SUCCESS && none == MPI_DATATYPE_NULL);
    """
    run(tmp_path, main(body))


@pytest.mark.parametrize(
    ("kind", "name"), [("LONG_LONG", "LONG_LONG_INT"), ("C_FLOAT_COMPLEX", "C_COMPLEX"), ("INT", "INT")]
)
def test_a_type_with_two_names_has_the_name_of_mpich(kind: str, name: str, tmp_path: Path) -> None:
    body = f"""
    char text[MPI_MAX_PROCESSOR_NAME]; int length;
    MPI_Type_get_name(MPI_{kind}, text, &length);
    MUST(!strcmp(text, "MPI_{name}"));
    """
    run(tmp_path, main(body), ranks=1)


def test_a_derived_type_has_no_name_until_it_is_given_one(tmp_path: Path) -> None:
    body = """
    char text[MPI_MAX_PROCESSOR_NAME] = "x"; int length = 9; MPI_Datatype kind, copy;
    MPI_Type_contiguous(2, MPI_INT, &kind);
    MPI_Type_get_name(kind, text, &length);
    MUST(!length && !text[0]);
    MPI_Type_dup(MPI_INT, &copy);
    MPI_Type_get_name(copy, text, &length);
    MUST(!length);
    MPI_Type_set_name(kind, "both");
    MPI_Type_get_name(kind, text, &length);
    MUST(length == 4 && !strcmp(text, "both"));
    """
    run(tmp_path, main(body), ranks=1)
