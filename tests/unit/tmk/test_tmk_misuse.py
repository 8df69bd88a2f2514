"""Errors of TreadMarks and the process, call and address that they name.

Strategy: each misuse of a call by one process, accesses outside of allocated memory, barriers that not all processes
reach, and valid mixtures: barrier numbers, and data distributed beside arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firmware.tmk.host import Tmk, TmkError
from firmware.tmk.host.library import BARRIERS
from pymodels.host import PAGE, ProtectionFault
from pymodels.machine import MachineError
from tests.unit.tmk.test_tmk import WORDS, get, put, started
from tests.unit.tmk.tmk_bench import Bench, Call

Misuse = Callable[[Tmk], Call]


async def _twice(tmk: Tmk) -> None:
    await tmk.lock_acquire(1)
    await tmk.lock_acquire(1)


async def _malloc(tmk: Tmk, size: Any) -> None:
    tmk.malloc(size)


async def _left(tmk: Tmk, call: Misuse) -> None:
    tmk._running = False
    await call(tmk)


BASE, END = 0x1000_0000, 4 * PAGE
MISUSES: dict[str, tuple[int, Misuse, str]] = {
    "a lock twice": (1, _twice, r"lock_acquire\(1\): the process holds the lock; release it first"),
    "a lock that is not held": (1, lambda t: t.lock_release(3), r"lock_release\(3\): the process does not hold"),
    "an unknown lock": (1, lambda t: t.lock_acquire(1024), r"lock_acquire\(1024\): locks are 0 to 1023"),
    "a negative lock": (1, lambda t: t.lock_acquire(-1), r"lock_acquire\(-1\): locks are 0 to 1023"),
    "a release of an unknown lock": (1, lambda t: t.lock_release(5000), r"lock_release\(5000\): locks are 0"),
    "a lock of the wrong type": (0, lambda t: t.lock_acquire("a"), r"lock_acquire\('a'\): locks are"),  # type: ignore[arg-type]
    "an unknown barrier": (1, lambda t: t.barrier(64), r"barrier\(64\): barriers are 0 to 63"),
    "a negative barrier": (0, lambda t: t.barrier(-1), r"barrier\(-1\): barriers are 0 to 63; give a number"),
    "a barrier of the wrong type": (0, lambda t: t.barrier(True), r"barrier\(True\): barriers are 0 to 63"),
    "memory allocated elsewhere": (1, lambda t: _malloc(t, 8), r"malloc\(8\): this is process 1; call it in process 0"),
    "no memory": (0, lambda t: _malloc(t, 0), r"malloc\(0\): invalid size"),
    "too much memory": (0, lambda t: _malloc(t, 8), r"malloc\(8\): 0 bytes are left; allocate less, or"),
    "too large an array": (0, lambda t: t.array(1, 8, "u4"), r"array\(1, 8\): 0 bytes are left; allocate less, or"),
    "distribution elsewhere": (1, lambda t: t.distribute(b""), "distribute: this is process 1; call it in process 0"),
    "start twice": (1, lambda t: t.startup(), r"startup\(\): the process has started already"),
    "a barrier after its end": (1, lambda t: _left(t, lambda t: t.barrier(0)), r"barrier\(0\): the process has not st"),
    "a lock after its end": (1, lambda t: _left(t, lambda t: t.lock_acquire(0)), r"lock_acquire\(0\): the process has"),
    "a release after its end": (0, lambda t: _left(t, lambda t: t.lock_release(0)), r"lock_release\(0\): the proces"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISUSES)
def test_each_misuse_names_process_and_call(name: str) -> None:
    bench = started()
    who, call, said = MISUSES[name]
    with pytest.raises(TmkError, match=f"host{who}: process tmk: {said}"):
        bench.do(bench.all[who], call(bench.all[who]))


@pytest.mark.parametrize("do", ["read", "write"])
@pytest.mark.parametrize(("who", "page", "known"), [(0, 5, 100), (0, 1, 100), (1, 5, 0), (1, 0, 0)])
def test_an_access_to_an_unallocated_page_names_process_call_address_and_page(
    who: int, page: int, known: int, do: str
) -> None:
    bench = Bench()
    tmk = bench.all[who]
    bench.all[0].malloc(100)  # process 1 does not know it
    address = tmk.memory.base + PAGE * page
    said = f"host{who}: process tmk: {do} at {address:#x}, page {page}: {known} bytes are allocated; malloc it in proc"
    with pytest.raises(TmkError, match=said):
        bench.do(tmk, get(tmk, page * WORDS) if do == "read" else put(tmk, page * WORDS, 1))


@pytest.mark.parametrize("word", [-1, 4 * WORDS, 1 << 26])
def test_an_access_outside_of_shared_memory_names_process_call_and_address(word: int) -> None:
    bench = started(pages=4)
    tmk = bench.all[1]
    said = (
        f"host1: process tmk: protection fault: read of 4 bytes at {tmk.memory.base + 4 * word:#x}: nothing is mapped"
    )
    with pytest.raises(ProtectionFault, match=said):
        bench.do(tmk, get(tmk, word))


def test_different_and_incomplete_barriers_are_reported() -> None:
    bench = started()
    with pytest.raises(TmkError, match=r"host0: process tmk: barrier 2: process 1 is at barrier 3; call the same"):
        bench.run(bench.all[0].barrier(2), bench.all[1].barrier(3))
    bench = started(3)
    with pytest.raises(MachineError, match="host1: process tmk waits for barrier 2"):
        bench.run(bench.all[0].barrier(2), bench.all[1].barrier(2), within_us=1e5)


def test_the_internal_barrier_differs_from_all_barriers_of_the_program() -> None:
    bench = started()
    bench.run(*(tmk.barrier(BARRIERS - 1) for tmk in bench.all))
    with pytest.raises(
        TmkError, match="barrier 63: process 1 is at array or exit; call the same barrier in all processes"
    ):
        bench.run(bench.all[0].barrier(BARRIERS - 1), bench.all[1].exit())


def test_arrays_keep_their_addresses_beside_other_distributed_data() -> None:
    bench = Bench(3)

    async def program(tmk: Tmk) -> tuple[list[bytes], list[int]]:
        first = await tmk.array(1, 4, "u4")
        if tmk.proc_id == 0:
            await tmk.distribute(b"user data")
            await tmk.distribute(b"more")
        second = await tmk.array(2, 4, "u4")
        third = await tmk.array(1, 4, "u4")
        return tmk.distributed, [(one.address - tmk.memory.base) // PAGE for one in (first, second, third)]

    assert bench.program(program) == [([b"user data", b"more"], [0, 1, 3])] * 3


def test_a_program_has_at_most_one_process_on_a_host() -> None:
    bench = Bench()
    with pytest.raises(TmkError, match="it is already open; open it once"):
        bench.layers[0].open()
