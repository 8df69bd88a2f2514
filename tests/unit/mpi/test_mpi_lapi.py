"""MPI over LAPI: copies and context switches of a message, and MPI's order over routes that reorder and lose packets.

Strategy: copied bytes are counted by path and rank and compared with the formula: one copy on each side, one more for
an early arrival. The scheduler counts context switches: for an eager message only base has some, for a rendezvous
enhanced has none. With a slow route, LAPI messages overtake each other and MPI messages do not. Random programs over
faulty links equal a sequential reference.
"""

from __future__ import annotations

from collections import Counter

import pytest

from firmware.lapi.host import Query
from firmware.mpi.host import Mpi
from firmware.mpi.host.lapi_versions import COUNTERS
from pymodels.machine.host import ModelHost
from pymodels.topology import End
from tests.unit.mpi.mpi_bench import World, pattern
from tests.unit.mpi.test_mpi_matching import RANKS, agrees
from tests.unit.mpi.test_mpi_pipes import pass_one

LATE = End("chip1", 6)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("size", [100, 4000, 20_000])
def test_a_message_is_copied_once_on_each_side_and_once_more_if_early(
    size: int, early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: Counter[tuple[int, str]] = Counter()
    real = ModelHost.copy_memory

    async def counted(self: ModelHost, path: str, target: int, source: int, count: int) -> None:
        copied[self.node, path] += count
        await real(self, path, target, source, count)

    async def program(mpi: Mpi, rank: int) -> tuple[int, int]:
        await mpi.COMM_WORLD.Barrier()
        copied.clear()
        switches = mpi.below.process.host.scheduler.switches
        await pass_one(mpi, rank, size, early)
        return mpi.below.process.host.scheduler.switches - switches, mpi.below.thread.runs

    monkeypatch.setattr(ModelHost, "copy_memory", counted)
    switched = World(2, "lapi", nic="sp", eager_limit=1 << 20).run(program, finalize=False)
    assert switched == [(0, 0), (0, 0)]
    assert copied == Counter({(0, "hal_copy"): size, (1, "lapi_copy"): size, (1, "mpi_copy"): size * early})


def handlers(version: str, size: int) -> tuple[int, int]:
    """Return the context switches at both ranks, and the completion handlers on LAPI's threads, of one message."""

    async def program(mpi: Mpi, rank: int) -> tuple[int, int]:
        await mpi.COMM_WORLD.Barrier()
        scheduler, thread = mpi.below.process.host.scheduler, mpi.below.thread
        before = scheduler.switches, thread.runs
        await pass_one(mpi, rank, size)
        await mpi.host.sleep(10**9)
        return scheduler.switches - before[0], thread.runs - before[1]

    counts = World(2, "lapi", nic="sp", version=version).run(program, finalize=False)
    return sum(one[0] for one in counts), sum(one[1] for one in counts)


def test_versions_differ_in_the_completion_handlers_and_context_switches_of_a_message() -> None:
    eager, rendezvous = 100, 10_000
    assert handlers("enhanced", eager) == handlers("enhanced", rendezvous) == handlers("counters", eager) == (0, 0)
    assert handlers("base", eager)[1] == 1 and handlers("base", eager)[0] >= 1
    assert handlers("base", rendezvous)[1] == 3 and handlers("base", rendezvous)[0] >= 2
    assert handlers("counters", rendezvous)[1] == 2  # the question and the permission


@pytest.mark.parametrize("on", [0, 1])
def test_a_receiver_that_only_reads_its_buffer_needs_interrupts(on: int) -> None:
    async def program(mpi: Mpi, rank: int) -> int:
        comm, room, looks = mpi.COMM_WORLD, bytearray(3000), 0
        if rank == 0:
            await comm.Barrier()
            await comm.Send(pattern(3000), 1)
            return 0
        request = await comm.Irecv(room, 0)
        await comm.Barrier()
        await mpi.below.Senv(Query.INTERRUPT_SET, on)
        while room != pattern(3000) and looks < 50:
            await mpi.host.compute(10_000)
            looks += 1
        await request.Wait()
        assert room == pattern(3000)
        return looks

    looks = World(2, "lapi", nic="sp").run(program)[1]
    assert 1 < looks < 20 if on else looks == 50


@pytest.mark.parametrize(("version", "while_it_computes"), [("base", True), ("counters", True), ("enhanced", False)])
def test_a_request_is_permitted_by_the_completion_handler_or_by_a_call(version: str, while_it_computes: bool) -> None:
    size, computing_ps = 10_000, 100_000_000_000
    when: dict[str, int] = {}

    async def program(mpi: Mpi, rank: int) -> None:
        comm, room = mpi.COMM_WORLD, bytearray(size)
        if rank == 0:
            await comm.Barrier()
            await comm.Ssend(pattern(size), 1)
            when["sent"] = mpi.host.now
            return
        await mpi.below.Senv(Query.INTERRUPT_SET, 1)
        request = await comm.Irecv(room, 0)
        await comm.Barrier()
        await mpi.below.process.compute(computing_ps / 1000)
        when["computed"] = mpi.host.now
        await request.Wait()
        assert room == pattern(size)

    World(2, "lapi", nic="sp", version=version).run(program)
    assert (when["sent"] < when["computed"]) == while_it_computes


def test_more_messages_than_counters_use_completion_handlers() -> None:
    world = World(2, "lapi", nic="sp", version="counters")

    async def program(mpi: Mpi, rank: int) -> None:
        comm, count = mpi.COMM_WORLD, 3 * COUNTERS
        if rank == 0:
            for number in range(count):
                await comm.Send(pattern(50, number), 1, number)
            return
        await mpi.host.sleep(2 * 10**9)  # all are here, and none is taken
        for number in range(count):
            room = bytearray(50)
            await comm.Recv(room, 0, number)
            assert room == pattern(50, number)

    world.run(program)
    assert world.ranks[1].below.thread.runs > 0


def test_a_counter_incremented_for_a_later_message_does_not_complete_an_earlier_one() -> None:
    world = World(2, "lapi", nic="sp", version="counters")
    faults, sizes = world.machine.faults, [4000] + COUNTERS * [50]

    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        await comm.Barrier()
        if rank == 0:
            faults.drop(
                0, 1, faults.passed(0, 1) + 3
            )  # a part of the first message, whose counter the last one has too
            for number, size in enumerate(sizes):
                await comm.Send(pattern(size, number), 1, number)
            return
        for number, size in enumerate(sizes):
            room = bytearray(size)
            await comm.Recv(room, 0, number)
            assert room == pattern(size, number)

    world.run(program)
    assert world.ranks[0].below.outgoing.resent and world.ranks[1].below.thread.runs


def test_messages_stay_in_order_over_a_slow_route() -> None:
    world = World(2, "lapi", nic="sp", chips=2)
    world.machine.faults.delay_into(End("chip1", 7), 50_000_000)
    sizes = (100, 0, 5000, 30, 2000, 1, 4095, 4096, 7)

    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 0:
            for number, size in enumerate(sizes):
                await comm.Send(pattern(size, number), 1, 5)
            return
        for number, size in enumerate(sizes):
            room = bytearray(8192)
            await comm.Recv(room, 0, 5)
            assert room[:size] == pattern(size, number)

    world.run(program)


@pytest.mark.parametrize(("seed", "version"), [(1, "enhanced"), (2, "counters"), (3, "base")])
def test_random_operations_over_faulty_links_equal_the_sequential_reference(seed: int, version: str) -> None:
    world = World(RANKS, "lapi", seed, nic="sp", chips=4, below={"timeout_us": 200}, version=version)
    world.machine.faults.lose(0.03, 0.02, seed, doubled=0.02, most_ps=50_000_000)
    world.machine.faults.delay_into(LATE, 50_000_000)
    agrees(world, 80, seed)
    assert sum(mpi.below.outgoing.resent for mpi in world.ranks) > 5


def test_ranks_finalize_although_their_last_packets_are_lost() -> None:
    for number in range(8):
        world = World(2, "lapi", nic="sp")
        world.machine.faults.drop(0, 1, number)
        world.machine.faults.drop(1, 0, number)
        world.run(lambda mpi, rank: pass_one(mpi, rank, 100))
