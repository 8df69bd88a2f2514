"""Profiling interface, and the symbols that MPICH's Fortran library needs from the MPI library.

Strategy: names in the library are compared with the table of calls. Tools that define MPI_Send themselves, in the
program and in a library of their own, must count its calls. C functions replace those of Fortran, and if mpif90.mpich
is installed a Fortran program runs.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pymodels.errors import ConfigError
from tb.program.mpi import abi
from tb.program.mpi.build import library
from tb.program.mpi.calls import LOCAL, table
from tb.program.mpi.command import words_of
from tb.tools.programs import CC
from tests.tools.program_bench import HEAD, TAIL, main, run, start

COUNTING = """
int sends;
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}
"""
COUNTED = """
    extern int sends;
    if (!rank) for (int turn = 0; turn < 3; turn++) MPI_Send(&turn, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else for (int turn = 0, came; turn < 3; turn++) {
        MPI_Recv(&came, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status);
        MUST(came == turn);
    }
    MUST(sends == (rank ? 0 : 3) && PMPI_Wtime() > 0);
"""


def test_every_function_of_mpi_has_a_second_name_for_profiling() -> None:
    said = subprocess.check_output(["nm", "-D", "--defined-only", library() / abi.LIBRARY], encoding="utf-8")
    kinds = {line.split()[2]: line.split()[1] for line in said.splitlines()}
    names = {*LOCAL, *(one.name for one in table())}
    profiled = {name for name in names if name.startswith(("MPI_", "MPIX_"))}
    assert len(profiled) > 450
    assert {name for name in profiled if kinds.get(name) != "W" or kinds.get(f"P{name}") != "T"} == set()


def test_a_program_that_wraps_a_call_reaches_it_by_its_second_name(tmp_path: Path) -> None:
    run(tmp_path, f"#include <mpi.h>\n{COUNTING}{HEAD}{COUNTED}{TAIL}")


def test_a_profiling_library_linked_before_mpi_sees_the_calls(tmp_path: Path) -> None:
    folder, linked = library(), [f"-Wl,-rpath,{tmp_path}", f"-L{tmp_path}", "-l:libcount.so"]
    (tmp_path / "count.c").write_text(f"#include <mpi.h>\n{COUNTING}", encoding="utf-8")
    (tmp_path / "program.c").write_text(main(COUNTED), encoding="utf-8")
    common = [f"-I{folder}", f"-L{folder}", f"-l:{abi.LIBRARY}"]
    subprocess.check_call([CC, "-shared", "-fPIC", "-o", tmp_path / "libcount.so", tmp_path / "count.c", *common])
    subprocess.check_call([CC, "-o", tmp_path / "program", tmp_path / "program.c", *linked, *common])
    start(tmp_path, [str(tmp_path / "program")])


def test_fortran_finds_its_constants_statuses_and_attributes(tmp_path: Path) -> None:
    body = """
    extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE, MPIR_F08_MPI_IN_PLACE, MPIR_F08_MPI_BOTTOM;
    extern int *MPI_F08_STATUS_IGNORE, *const MPI_UNWEIGHTED, *const MPI_WEIGHTS_EMPTY;
    int sought[5] = {1, 2, 3, 4, 5}, keyval, flag, tag = 0; long value = 0; MPI_Comm copy;
    MUST(MPI_F08_STATUS_IGNORE && MPI_UNWEIGHTED != MPI_WEIGHTS_EMPTY);
    MUST(&MPIR_F08_MPI_IN_PLACE != &MPIR_F08_MPI_BOTTOM && !MPI_F_STATUS_IGNORE && !MPI_F_STATUSES_IGNORE);
    MPI_Status_f2c(sought, &status);
    MUST(status.MPI_SOURCE == 3 && status.MPI_TAG == 4 && status.MPI_ERROR == 5);
    MPI_Status_c2f(&status, sought);
    MUST(sought[4] == 5 && MPI_Status_c2f(MPI_STATUS_IGNORE, sought) != MPI_SUCCESS);
    MUST(!MPII_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB + 1, &tag, &flag, 3) && flag && tag > 32767);
    MPI_Comm_create_keyval((void *)copied, (void *)deleted, &keyval, (void *)&called);
    MPII_Keyval_set_proxy(keyval, (void *)copy_proxy, (void *)delete_proxy);
    MPII_Comm_set_attr(MPI_COMM_WORLD, keyval, (void *)40, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MUST(!MPII_Comm_get_attr(copy, keyval, &value, &flag, 1) && flag && value == 41);
    MPI_Comm_free(&copy);
    MUST(called == 11);
    """
    functions = """
    int called;
    int MPII_Comm_get_attr(int, int, void *, int *, int), MPII_Comm_set_attr(int, int, void *, int);
    int MPII_Keyval_set_proxy(int, void *, void *);
    int copied(int comm, long *old, long *new) { *new = *old + 1; return comm == 0; }
    int deleted(int comm) { return comm == 0; }
    int copy_proxy(int (*user)(int, long *, long *), int comm, int key, int *extra, int kind, long value, long *to,
                   int *flag) {
        *extra += kind; *flag = 1; return user(comm, &value, to);
    }
    int delete_proxy(int (*user)(int), int comm, int key, int kind, long value, int *extra) {
        *extra += 10 * kind; return user(comm);
    }
    """
    run(tmp_path, f"{functions}{main(body)}")


def test_a_library_of_another_mpi_is_rejected_and_that_of_fortran_is_not(tmp_path: Path) -> None:
    head = words_of("true", tmp_path)[0]
    data = Path(head).read_bytes()
    (tmp_path / "other").write_bytes(data + b"\0libmpi.so.40\0")
    (tmp_path / "fortran").write_bytes(data + b"\0libmpichfort.so.12\0libmpich.so.12\0")
    assert words_of("fortran", tmp_path) == [str(tmp_path / "fortran")]
    with pytest.raises(ConfigError, match=r"linked with libmpi\.so\.40"):
        words_of("other", tmp_path)


@pytest.mark.skipif(shutil.which("mpif90.mpich") is None, reason="mpif90.mpich is not installed")
def test_a_fortran_program_runs_on_its_own_library_of_fortran(tmp_path: Path) -> None:
    source = """
program sums
  use mpi
  implicit none
  integer :: ierr, me, k, st(MPI_STATUS_SIZE), other, comm
  integer (kind=MPI_ADDRESS_KIND) :: most
  logical :: there
  double precision :: a(5)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  other = 1 - me
  a = me + 1
  call MPI_Sendrecv_replace(a, 5, MPI_DOUBLE_PRECISION, other, 3, other, 3, MPI_COMM_WORLD, st, ierr)
  call MPI_Get_count(st, MPI_DOUBLE_PRECISION, k, ierr)
  if (k /= 5 .or. st(MPI_SOURCE) /= other .or. st(MPI_TAG) /= 3 .or. a(5) /= other + 1) stop 3
  call MPI_Allreduce(MPI_IN_PLACE, a, 5, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (a(1) /= 3) stop 4
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, most, there, ierr)
  if (.not. there .or. most < 32767) stop 5
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  if (me == 0) call MPI_Send(a, 1, MPI_DOUBLE_PRECISION, 1, 1, comm, ierr)
  if (me == 1) call MPI_Recv(a, 1, MPI_DOUBLE_PRECISION, 0, 1, comm, MPI_STATUS_IGNORE, ierr)
  print *, 'sum', a(1), MPI_Wtime() > 0
  call MPI_Finalize(ierr)
end program
"""
    (tmp_path / "sums.f90").write_text(source, encoding="utf-8")
    subprocess.check_call(["mpif90.mpich", "-J", tmp_path, "-o", tmp_path / "sums", tmp_path / "sums.f90"])
    said = start(tmp_path, words_of("./sums", tmp_path)).said
    assert [line.split() for line in said] == [["sum", "3.0000000000000000", "T"]] * 2
