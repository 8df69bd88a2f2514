"""Point-to-point messages: the rules of the standard one by one.

Strategy: small programs of two or three ranks on the machine, over each layer below MPI. Sleeps of one rank determine
the order, and simulated time shows what a call waits for. A message in parts, which no transport delivers in a chosen
order, is passed to the engine directly.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.mpi.host import (
    ANY_SOURCE,
    ANY_TAG,
    PROC_NULL,
    UNDEFINED,
    ErrorClass,
    Mpi,
    MpiError,
    Request,
    Status,
    over_grim,
)
from firmware.mpi.host.envelope import Kind, first
from pymodels.machine.memory import MachineError
from tests.unit.mpi.mpi_bench import World, pattern, refused

LATE_PS = 3_000_000_000
"""Time longer than all earlier actions of a rank, ps."""
EACH = pytest.mark.parametrize("on", ["grim", "via", "pipes", "lapi"])
EDGES = (0, 1, 4095, 4096, 70_000)


async def late(mpi: Mpi) -> None:
    """Sleep until all other ranks have progressed as far as possible, then process received messages."""
    await mpi.host.sleep(LATE_PS, "a late rank")
    await mpi.COMM_WORLD.Iprobe()


@EACH
def test_messages_of_every_length_arrive_unchanged_posted_and_early(on: str) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        for salt, size in enumerate(EDGES):
            if rank == 0:
                await comm.Send(pattern(size), 1, salt)
        if rank == 0:
            return
        await late(mpi)
        for salt, size in enumerate(EDGES):
            room, status = bytearray(size + 3), Status()
            await comm.Recv(room, 0, salt, status)
            assert (bytes(room), status.Get_count()) == (pattern(size) + bytes(3), size)

    World(2, on).run(program)


@pytest.mark.parametrize("size", [999, 1000, 1001, 2000, 70_000])
def test_a_message_longer_than_grims_limit_is_sent_in_parts(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_grim, "MAX_SEND", 1000)

    async def program(mpi: Mpi, rank: int) -> None:
        comm, room = mpi.COMM_WORLD, [bytearray(size), bytearray(size)]
        others = [one for one in range(3) if one != rank]
        receives = [await comm.Irecv(into, one, 5) for into, one in zip(room, others, strict=True)]
        for one in others:
            await comm.Send(pattern(size, rank), one, 5)
        await Request.Waitall(receives)
        assert [bytes(one) for one in room] == [pattern(size, one) for one in others]

    World(3).run(program)


@EACH
def test_the_first_of_two_receives_of_one_tag_gets_the_first_message(on: str) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 0:
            await late(mpi)
            for word in (b"one", b"two"):
                await comm.Send(word, 1, 7)
            return
        rooms = [bytearray(3), bytearray(3)]
        requests = [await comm.Irecv(rooms[0], ANY_SOURCE, 7), await comm.Irecv(rooms[1], 0, ANY_TAG)]
        await Request.Waitall(requests[::-1])
        assert rooms == [b"one", b"two"]

    World(2, on).run(program)


@EACH
def test_a_short_message_does_not_overtake_a_long_one(on: str) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 0:
            sends = [await comm.Isend(pattern(size), 1, 7) for size in (5000, 10, 6000, 0)]
            await Request.Waitall(sends)
        else:
            await late(mpi)
            for size in (5000, 10, 6000, 0):
                room, status = bytearray(8000), Status()
                await comm.Recv(room, ANY_SOURCE, ANY_TAG, status)
                assert (status.source, status.tag, status.size) == (0, 7, size)
                assert room[:size] == pattern(size)

    World(2, on).run(program)


@EACH
def test_only_a_long_or_synchronous_send_waits_for_its_receive(on: str) -> None:
    async def program(mpi: Mpi, rank: int) -> list[bool]:
        comm = mpi.COMM_WORLD
        waited = []
        for tag, (send, size) in enumerate([(comm.Send, 4095), (comm.Send, 4096), (comm.Ssend, 0)]):
            if rank == 0:
                begun = mpi.host.now
                await send(pattern(size), 1, tag)
                waited.append(mpi.host.now - begun > LATE_PS // 2)
            else:
                await late(mpi)
                await comm.Recv(bytearray(size), 0, tag)
            await comm.Barrier()
        return waited

    assert World(2, on).run(program)[0] == [False, True, True]


def test_the_eager_limit_is_an_option() -> None:
    async def program(mpi: Mpi, rank: int) -> bool:
        comm, begun = mpi.COMM_WORLD, mpi.host.now
        if rank == 0:
            await comm.Send(bytes(100), 1)
        else:
            await late(mpi)
            await comm.Recv(bytearray(100), 0)
        return mpi.host.now - begun > LATE_PS // 2

    assert World(2, eager_limit=100).run(program)[0]


@EACH
def test_two_crossing_long_messages_of_one_tag_complete(on: str) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, other = mpi.COMM_WORLD, 1 - rank
        room = bytearray(20_000)
        requests = [await comm.Isend(pattern(20_000, rank), other, 1), await comm.Irecv(room, other, 1)]
        await Request.Waitall(requests)
        assert room == pattern(20_000, other)
        await comm.Sendrecv(pattern(9000, rank), other, 2, room, other, 2)
        assert room[:9000] == pattern(9000, other)

    World(2, on).run(program)


def test_a_rank_sends_to_itself() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        for size in EDGES:
            room = bytearray(size)
            receive = await comm.Irecv(room, rank)
            await comm.Ssend(pattern(size), rank)
            await receive.Wait()
            assert room == pattern(size)

    World(2).run(program)


@EACH
def test_ready_mode_without_a_receive_fails_this_and_later_calls(on: str) -> None:
    said = "rank 1, MPI_Recv, MPI_ERR_OTHER: rank 0 has sent tag 5 in ready mode, but no receive is posted"

    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 0:
            await comm.Rsend(b"word", 1, 5)
        else:
            with pytest.raises(MpiError, match=said):
                await comm.Recv(bytearray(4), 0, 6)
            with pytest.raises(MpiError, match=said):
                mpi.INT.Create_vector(1, 1, 1)

    with pytest.raises(MpiError, match=said):
        World(2, on).run(program)


def test_ready_mode_is_eager_at_any_length() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, room = mpi.COMM_WORLD, bytearray(30_000)
        if rank == 0:
            await late(mpi)
            await comm.Rsend(pattern(30_000), 1)
        else:
            await comm.Recv(room, 0)
            assert room == pattern(30_000)

    World(2).run(program)


@EACH
def test_the_space_of_a_buffered_send_is_free_after_the_message_arrived(on: str) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 0:
            await refused(comm.Bsend(bytes(60), 1), ErrorClass.BUFFER, "0 of 0 bytes")
            mpi.Attach_buffer(5100)
            data = bytearray(pattern(5000))
            await comm.Bsend(data, 1)
            data[:] = bytes(5000)
            await refused(comm.Bsend(bytes(200), 1), ErrorClass.BUFFER, "100 of 5100 bytes of the buffer are free")
            assert await mpi.Detach_buffer() == 5100
            assert mpi.host.now > LATE_PS
        else:
            await late(mpi)
            room = bytearray(5000)
            await comm.Recv(room, 0)
            assert room == pattern(5000)

    World(2, on).run(program)


@EACH
def test_a_message_that_is_too_long_is_an_error_of_the_receiver_only(on: str) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        for size in (100, 9000):
            if rank == 0:
                await comm.Send(pattern(size), 1, 3)
            else:
                room, before = bytearray(50), mpi.engine.copier.bytes
                said = f"{size} bytes of rank 0, tag 3, for a receive of 40"
                error = await refused(comm.Recv([room, 40], 0, 3), ErrorClass.TRUNCATE, said)
                assert (error.rank, error.call) == (1, "MPI_Recv")
                assert bytes(room) == pattern(size)[:40] + bytes(10)
                assert mpi.engine.copier.bytes - before == (0 if on == "lapi" else 40), "LAPI copies by itself"

    World(2, on).run(program)


def test_after_partial_failure_all_requests_are_complete_and_each_status_has_its_class() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, told, rooms = mpi.COMM_WORLD, list[Status](), (bytearray(5), bytearray(5))
        if rank == 0:
            for tag, size in enumerate((9, 5)):
                await comm.Send(pattern(size), 1, tag)
            return
        requests = [await comm.Irecv(room, 0, tag) for tag, room in enumerate(rooms)]
        while not await requests[1].Get_status(status := Status()):
            pass
        assert (status.tag, status.size, requests[1].active) == (1, 5, True)
        said = "1 of 2 failed, the first with MPI_ERR_TRUNCATE: 9 bytes"
        await refused(Request.Waitall(requests, told), ErrorClass.IN_STATUS, said)
        assert [(one.tag, one.error) for one in told] == [(0, ErrorClass.TRUNCATE), (1, 0)]
        assert bytes(rooms[1]) == pattern(5) and not any(one.active for one in requests)

    World().run(program)


def test_probe_reports_a_message_without_receiving_it() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, status = mpi.COMM_WORLD, Status()
        if rank == 0:
            await comm.Send(pattern(12), 1, 9)
            await comm.send({"answer": 42}, 1, 4)
        else:
            assert not await comm.Iprobe(0, 8)
            await comm.Probe(ANY_SOURCE, 9, status)
            assert (status.source, status.tag, status.Get_count(mpi.INT), status.Get_count(mpi.DOUBLE)) == (
                (0, 9, 3, UNDEFINED)
            )
            assert await comm.Iprobe(0, 9)
            await comm.Recv(bytearray(12), 0, 9)
            assert await comm.recv(0, 4) == {"answer": 42}

    World(2).run(program)


def test_a_receive_without_a_message_is_cancelled_and_one_with_it_is_not() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 0:
            await comm.Send(b"abc", 1, 1)
            return
        statuses = [Status(), Status()]
        await late(mpi)
        requests = [await comm.Irecv(bytearray(3), 0, tag) for tag in (1, 2)]
        for request, status in zip(requests, statuses, strict=True):
            request.Cancel()
            await request.Wait(status)
        assert [status.Is_cancelled() for status in statuses] == [False, True]

    World(2).run(program)


def test_a_persistent_request_can_be_restarted() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, room = mpi.COMM_WORLD, bytearray(4)
        request = comm.Send_init(room, 1) if rank == 0 else comm.Recv_init(room, 0)
        assert await request.Wait()
        for turn in range(3):
            if rank == 0:
                room[:] = bytes([turn]) * 4
            await request.Start()
            await refused(request.Start(), ErrorClass.REQUEST, "is active")
            await request.Wait()
            assert room == bytes([turn]) * 4
        request.Free()
        with pytest.raises(MpiError, match="MPI_Request_free, MPI_ERR_REQUEST"):
            request.Free()

    World(2).run(program)


def test_waits_for_one_or_some_of_several() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 0:
            await comm.Send(b"b", 1, 1)
            await late(mpi)
            await comm.Send(b"a", 1, 0)
            return
        requests = [await comm.Irecv(bytearray(1), 0, tag) for tag in range(2)]
        status = Status()
        assert not await Request.Testall(requests)
        assert await Request.Waitany(requests, status) == 1
        assert status.tag == 1
        assert await Request.Testany(requests) == (UNDEFINED, False)
        assert await Request.Waitsome(requests) == [0]
        assert await Request.Waitsome(requests) is None
        assert await Request.Testany(requests) == (UNDEFINED, True)

    World(2).run(program)


def test_operations_with_proc_null_complete_at_once() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, status = mpi.COMM_WORLD, Status()
        await comm.Send(b"void", PROC_NULL)
        await comm.Recv(bytearray(4), PROC_NULL, 3, status)
        assert (status.source, status.tag, status.size) == (PROC_NULL, ANY_TAG, 0)
        await (await comm.Irecv(bytearray(4), PROC_NULL)).Wait()

    World(2).run(program)


def test_a_receive_between_the_parts_of_an_early_message_gets_all_of_it() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 0:
            return
        engine, room, data = mpi.engine, bytearray(1000), pattern(1000)
        arrival = await engine.begin(0, (first(Kind.EAGER), 3, 1000, 1), 1000)
        await arrival.put(600, data[600:])
        request = await mpi.COMM_WORLD.Irecv(room, 0, 3)
        assert not await request.Test()
        await arrival.put(0, data[:600])
        await arrival.end()
        await request.Wait()
        assert room == data

    World(2).run(program)


@pytest.mark.parametrize(("early", "copies"), [(False, 1), (True, 2)])
@pytest.mark.parametrize("size", [1000, 9000])
def test_a_message_is_copied_once_at_the_receiver_and_twice_if_early(early: bool, copies: int, size: int) -> None:
    async def program(mpi: Mpi, rank: int) -> int:
        comm, before = mpi.COMM_WORLD, mpi.engine.copier.bytes
        if (rank == 1) is early:
            await late(mpi)
        await (comm.Recv(bytearray(size), 0) if rank else comm.Send(bytes(size), 1))
        return mpi.engine.copier.bytes - before

    by_request = size > 4096  # its data never come early
    assert World(2).run(program) == [0, size * (1 if by_request else copies)]


def test_the_hang_report_names_deadlocked_ranks_and_their_calls() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 0:
            await comm.Recv(bytearray(4), 1, 7)
        elif rank == 1:
            await (await comm.Issend(b"word", 2, 8)).Wait()
        else:
            await comm.Barrier()

    world = World(3)
    with pytest.raises(MachineError) as error:
        world.run(program, within_us=1e5)
    names = world.machine.names
    for said in (
        f"host {names[0]}: rank 0 waits for MPI_Recv: rank 1, tag 7, held by host {names[1]}",
        f"host {names[1]}: rank 1 waits for MPI_Wait of MPI_Issend: rank 2, tag 8, held by host {names[2]}",
        f"host {names[2]}: rank 2 waits for MPI_Barrier: rank 1",
    ):
        assert said in str(error.value)


@EACH
def test_more_messages_than_receive_buffers_are_neither_lost_nor_duplicated(on: str) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 1:
            await mpi.host.sleep(LATE_PS, "a late rank")
        for number in range(60):
            if rank == 0:
                await comm.Send(pattern(700, number), 1, number % 3)
            else:
                room = bytearray(700)
                await comm.Recv(room, 0, number % 3)
                assert room == pattern(700, number)

    World(2, on).run(program)


def test_the_hang_report_names_the_receiver_of_a_sender_without_credit() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 1:
            await mpi.host.sleep(10 * LATE_PS, "something else than MPI")
        for _ in range(9):
            await mpi.COMM_WORLD.Send(b"word", 1)

    with pytest.raises(MachineError, match="waits for a posted receive of rank 1"):
        World(2, "via").run(program, within_us=5 * LATE_PS / 1e6)


def test_concurrent_calls_of_two_tasks_of_a_rank_are_rejected() -> None:
    async def program(mpi: Mpi, rank: int) -> Any:
        comm = mpi.COMM_WORLD
        if rank:
            await late(mpi)
            return await comm.Send(b"", 0)
        other = mpi.host.spawn(comm.Recv(bytearray(0), 1), "another task")
        await mpi.host.sleep(1000)
        await refused(comm.Send(b"", 1), ErrorClass.OTHER, "MPI_Recv of another task has not returned")
        return await other.finished

    World(2).run(program)
