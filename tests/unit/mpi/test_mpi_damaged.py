"""Invalid MPI headers: the call that receives one fails and names the sending rank and the header.

Strategy: the transport passes headers of a table to the engine, each invalid in one word. The rank's next call must
fail with the class OTHER and name the source and the words. With a valid header, the table's first row, both ranks
continue unharmed.
"""

from __future__ import annotations

import pytest

from firmware.mpi.host import ErrorClass, Mpi, MpiError
from firmware.mpi.host.envelope import Kind, Mode, first
from firmware.mpi.host.transport import Words
from tests.unit.mpi.mpi_bench import World

SOUND: tuple[Words, int] = (first(Kind.EAGER), 7, 4, 1), 4
CASES: dict[str, tuple[Words, int]] = {
    "a kind that there is none": ((7 << 28, 7, 4, 1), 4),
    "a kind with its highest bit": ((-(1 << 31), 7, 4, 1), 4),
    "fewer bytes than it says": ((first(Kind.EAGER), 7, 5, 1), 4),
    "a request with bytes": ((first(Kind.REQUEST, Mode.SYNCHRONOUS), 7, 4, 1), 4),
    "permission for a send that is none": ((first(Kind.CLEAR), 99, 1, 0), 0),
    "data for a receive that is none": ((first(Kind.DATA), 99, 4, 0), 4),
    "the end of a buffered send that is none": ((first(Kind.ARRIVED), 99, 0, 0), 0),
    "the withdrawal of a send that is none": ((first(Kind.CANCELLED), 99, 0, 0), 0),
}


async def meets(mpi: Mpi, words: Words, size: int) -> bytes:
    """Pass the start of a message to a rank, and return what it receives from rank 1."""
    arrival = await mpi.engine.begin(1, words, size)
    if size:
        await arrival.put(0, bytes(range(size)))
    await arrival.end()
    room = bytearray(4)
    await mpi.COMM_WORLD.Recv(room, 1, 7)
    return bytes(room)


@pytest.mark.parametrize("case", CASES)
def test_an_invalid_header_makes_the_next_call_fail(case: str) -> None:
    words, size = CASES[case]

    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 0:
            with pytest.raises(MpiError) as error:
                await meets(mpi, words, size)
            assert (error.value.rank, error.value.error_class) == (0, ErrorClass.OTHER)
            told = " ".join(f"{word & 0xFFFFFFFF:08x}" for word in words)
            assert f"a message from rank 1 with {size} bytes has an invalid header: {told}" in str(error.value)

    World(2).run(program, finalize=False)


def test_a_valid_header_is_accepted() -> None:
    async def program(mpi: Mpi, rank: int) -> bytes:
        return await meets(mpi, *SOUND) if rank == 0 else b""

    assert World(2).run(program)[0] == bytes(range(4))


@pytest.mark.parametrize("kind", [Kind.CLEAR, Kind.DATA])
def test_an_operation_is_addressed_only_by_its_peer_and_with_its_kind(kind: Kind) -> None:
    """Rank 0 has a request pending at rank 1; rank 2 must not permit it, nor may any rank send data for it."""

    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 0:
            await mpi.COMM_WORLD.Issend(b"data", 1, 7)
            (number,) = mpi.engine._operations
            await mpi.engine.begin(2 if kind is Kind.CLEAR else 1, (first(kind), number, 0, 0), 0)
            with pytest.raises(MpiError, match="has an invalid header"):
                await mpi.COMM_WORLD.Barrier()

    World(3).run(program, finalize=False)


def test_a_buffered_send_has_arrived_when_its_receiver_confirms_it() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 0:
            mpi.Attach_buffer(100)
            await mpi.COMM_WORLD.Bsend(b"data", 1, 7)
            (number,) = mpi.engine._buffered
            await mpi.engine.begin(2, (first(Kind.ARRIVED), number, 0, 0), 0)
            assert mpi.engine.buffer_in_use
            with pytest.raises(MpiError, match="has an invalid header"):
                await mpi.COMM_WORLD.Barrier()

    World(3).run(program, finalize=False)
