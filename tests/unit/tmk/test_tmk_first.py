"""First programs of TreadMarks' page.

Strategy: the programs run on two processes and on four; a lock and a barrier make sums right.
"""

from __future__ import annotations

import numpy as np
import pytest

from firmware.tmk.host import Tmk
from tests.unit.tmk.tmk_bench import Bench


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


NUMBERS = np.random.default_rng(1).integers(0, 16, (12, 1024), np.uint32)


async def histogram(tmk: Tmk) -> list[int]:
    numbers = await tmk.array(12, 1024, np.uint32)  # a row begins at a page
    counts = await tmk.array(1, 16, np.uint32)
    if tmk.proc_id == 0:
        await numbers.store(0, NUMBERS)
    await tmk.barrier(0)
    mine = np.zeros((1, 16), np.uint32)
    for row in range(tmk.proc_id, numbers.rows, tmk.nprocs):
        values = await numbers.load(row, row + 1)  # faults: the page comes from process 0
        await tmk.process.compute(values.size * 10)  # 10 ns a number
        mine[0] += np.bincount(values[0], minlength=16).astype(np.uint32)
    await tmk.lock_acquire(0)
    await counts.store(0, await counts.load(0, 1) + mine)
    await tmk.lock_release(0)
    await tmk.barrier(0)
    result: list[int] = (await counts.load(0, 1))[0].tolist()
    await tmk.exit()
    return result


@pytest.mark.parametrize(("processes", "on"), [(2, "udp"), (4, "via")])
def test_the_array_program_counts_all_values(processes: int, on: str) -> None:
    right = np.bincount(NUMBERS.ravel(), minlength=16).tolist()
    assert Bench(processes, on=on).program(histogram) == [right] * processes
