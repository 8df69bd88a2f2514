"""The first program of a user, as the page of TreadMarks shows it, does what it says.

Strategy: it is run on two processes and on four; a lock and a barrier make the sum right.
"""

from __future__ import annotations

import pytest

from firmware.host.tmk import Tmk
from tests.unit.tmk_bench import Bench


async def program(tmk: Tmk) -> int:
    if tmk.proc_id == 0:
        shared = tmk.malloc(4096)
        await tmk.distribute(shared.to_bytes(4, "big"))
    await tmk.barrier(0)
    shared = int.from_bytes(tmk.distributed[0], "big")
    for _ in range(5):
        await tmk.lock_acquire(0)
        count = int.from_bytes(await tmk.process.read(shared, 4), "big")  # faults, when another had the lock
        await tmk.process.compute(10_000)
        await tmk.process.write(shared, (count + 1).to_bytes(4, "big"))
        await tmk.lock_release(0)
    await tmk.barrier(0)
    total = int.from_bytes(await tmk.process.read(shared, 4), "big")
    await tmk.exit()
    return total


@pytest.mark.parametrize("processes", [2, 4])
def test_the_first_program_does_what_it_says(processes: int) -> None:
    assert Bench(processes).program(program) == [5 * processes] * processes
