"""MPI over Pipes: copies of the native stack, envelopes in the stream, and MPI's rules over faulty links.

Strategy: copied bytes are counted by path and rank and compared with the formula: the first and the last 16 KB of a
message are copied twice on each side, the rest once, an early arrival once more. Random programs on a board with four
routes a pair, one slow, where links lose, damage and duplicate packets, equal a sequential reference.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from firmware.mpi.host import Mpi
from firmware.mpi.host.over_pipes import END, ENVELOPE
from pymodels.machine import MachineError
from pymodels.machine.host import ModelHost
from pymodels.topology import End
from tests.unit.mpi.mpi_bench import World, pattern
from tests.unit.mpi.test_mpi_matching import RANKS, agrees

LATE = End("chip1", 6)


async def pass_one(mpi: Mpi, rank: int, size: int, early: bool = False) -> None:
    """Send a message from rank 0 to rank 1."""
    comm = mpi.COMM_WORLD
    if rank == 0:
        await comm.Send(pattern(size), 1)
        return
    if early:
        await mpi.host.sleep(500_000_000)
        await comm.Iprobe()
    room = bytearray(size)
    await comm.Recv(room, 0)
    assert room == pattern(size)


@pytest.mark.parametrize("nic", ["sp", "lanai9"])
def test_messages_of_every_length_arrive_complete(nic: str) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        for size in (0, 1, 984, 985, 4095, 4096, 2 * END - 1, 2 * END, 2 * END + 1, 3 * END + 5, 100_000):
            await pass_one(mpi, rank, size)

    World(2, "pipes", nic=nic).run(program)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("size", [100, 4000, 20_000, 2 * END, 2 * END + 1, 100_000])
def test_the_ends_of_a_message_are_copied_twice_on_each_side_and_the_rest_once(
    size: int, early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: Counter[tuple[int, str]] = Counter()
    real = ModelHost.copy_memory

    async def counted(self: ModelHost, path: str, target: int, source: int, count: int) -> None:
        copied[self.node, path] += count
        await real(self, path, target, source, count)

    async def program(mpi: Mpi, rank: int) -> None:
        await mpi.COMM_WORLD.Barrier()
        copied.clear()
        await pass_one(mpi, rank, size, early)
        await mpi.COMM_WORLD.Barrier()

    monkeypatch.setattr(ModelHost, "copy_memory", counted)
    patient = {"timeout_us": 10_000}  # nothing is sent again while the receiver copies
    World(2, "pipes", nic="sp", below=patient, eager_limit=1 << 20).run(program, finalize=False)
    twice, barriers = min(size, 2 * END), ENVELOPE.size
    assert copied[0, "hal_copy"] == size + ENVELOPE.size + barriers
    assert (
        copied[0, "pipes_copy"] == twice + ENVELOPE.size + 2 * barriers
    )  # its own barrier's, and the other's that comes
    assert copied[1, "pipes_copy"] == twice + ENVELOPE.size + 2 * barriers
    assert copied[1, "mpi_copy"] == size * (2 if early else 1)


@pytest.mark.parametrize("seed", range(3))
def test_random_operations_over_faulty_links_equal_the_sequential_reference(seed: int) -> None:
    world = World(RANKS, "pipes", seed, nic="sp", chips=4, below={"timeout_us": 200})
    world.machine.faults.lose(0.03, 0.02, seed, doubled=0.02, most_ps=50_000_000)
    world.machine.faults.delay_into(LATE, 50_000_000)
    agrees(world, 60, seed)


def test_ranks_finalize_although_their_last_packets_are_lost() -> None:
    for number in range(6):
        world = World(2, "pipes", nic="sp")
        world.machine.faults.drop(0, 1, number)
        world.machine.faults.drop(1, 0, number)
        world.run(lambda mpi, rank: pass_one(mpi, rank, 100))


def test_the_hang_report_names_a_sender_whose_receiver_makes_no_call() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 0:
            for _ in range(40):
                await mpi.COMM_WORLD.Send(bytes(4000), 1)
        else:
            await mpi.host.sleep(10**18)

    with pytest.raises(MachineError) as error:
        World(2, "pipes", nic="sp").run(program, within_us=20_000)
    assert "host host0 waits for room in the pipe to host1, held by host host1" in str(error.value)


def test_the_hang_report_names_the_calls_of_every_layer() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 0:
            for _ in range(40):
                await mpi.COMM_WORLD.Send(bytes(4000), 1)
        elif rank == 1:
            await mpi.host.sleep(10**18)
        else:
            await mpi.COMM_WORLD.Recv(bytearray(4), 0, 7)

    with pytest.raises(MachineError) as error:
        World(3, "pipes", nic="sp").run(program, within_us=20_000)
    for said in (
        "host host0: rank 0 waits for MPI_Send: sending to rank 1",
        "host host0 waits for room in the pipe to host1, held by host host1",
        "task 0 waits for host host0 polling (hal_look)",
        "NIC 0: hal waits for NIC 0 polling",
        "host host2: rank 2 waits for MPI_Recv: rank 0, tag 7, held by host host0",
    ):
        assert said in str(error.value)


def test_several_messages_in_one_packet_are_separated() -> None:
    async def program(mpi: Mpi, rank: int) -> Any:
        comm, count = mpi.COMM_WORLD, 200
        if rank == 0:
            for number in range(count):
                await comm.Send(pattern(number % 50, number), 1, tag=number)
            return None
        rooms = [bytearray(number % 50) for number in range(count)]
        for number, room in enumerate(rooms):
            await comm.Recv(room, 0, number)
        return rooms

    rooms = World(2, "pipes", nic="sp", below={"window": 2}).run(program)[1]
    assert rooms == [pattern(number % 50, number) for number in range(200)]


@pytest.mark.parametrize("on", [False, True])
def test_a_receiver_that_only_reads_its_buffer_needs_interrupts(on: bool) -> None:
    async def program(mpi: Mpi, rank: int) -> int:
        comm, room, looks = mpi.COMM_WORLD, bytearray(1000), 0
        if rank == 0:
            await comm.Barrier()
            await comm.Send(pattern(1000), 1)
            return 0
        await mpi.below.interrupts(on)
        request = await comm.Irecv(room, 0)
        await comm.Barrier()
        while room != pattern(1000) and looks < 50:
            await mpi.host.compute(10_000)
            looks += 1
        await request.Wait()
        assert room == pattern(1000)
        return looks

    looks = World(2, "pipes", nic="sp").run(program)[1]
    assert 1 < looks < 20 if on else looks == 50
