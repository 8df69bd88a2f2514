"""A header that no rank of MPI can have sent ends the call that meets it, by rank and by what came.

Strategy: the transport hands the engine headers of a table, one a case, each wrong in one word; the rank's next call
must fail with the class OTHER and name the source and the words. What two ranks do afterwards must be unharmed where
the header was sound: the same table's first row is one.
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
    """A message begins to arrive at a rank; what it receives of rank 1."""
    arrival = await mpi.engine.begin(1, words, size)
    if size:
        await arrival.put(0, bytes(range(size)))
    await arrival.end()
    room = bytearray(4)
    await mpi.COMM_WORLD.Recv(room, 1, 7)
    return bytes(room)


@pytest.mark.parametrize("case", CASES)
def test_a_header_that_no_rank_sends_ends_the_next_call(case: str) -> None:
    words, size = CASES[case]

    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 0:
            with pytest.raises(MpiError) as error:
                await meets(mpi, words, size)
            assert (error.value.rank, error.value.error_class) == (0, ErrorClass.OTHER)
            told = " ".join(f"{word & 0xFFFFFFFF:08x}" for word in words)
            assert f"a message of rank 1 with {size} bytes has a header that no rank sends: {told}" in str(error.value)

    World(2).run(program, finalize=False)


def test_a_sound_header_is_a_message() -> None:
    async def program(mpi: Mpi, rank: int) -> bytes:
        return await meets(mpi, *SOUND) if rank == 0 else b""

    assert World(2).run(program)[0] == bytes(range(4))


@pytest.mark.parametrize("kind", [Kind.CLEAR, Kind.DATA])
def test_an_operation_is_named_by_its_own_peer_and_in_its_own_way_only(kind: Kind) -> None:
    """Rank 0 has asked rank 1; rank 2 must not permit its send, nor may anybody send it data for it."""

    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 0:
            await mpi.COMM_WORLD.Issend(b"data", 1, 7)
            (number,) = mpi.engine._operations
            await mpi.engine.begin(2 if kind is Kind.CLEAR else 1, (first(kind), number, 0, 0), 0)
            with pytest.raises(MpiError, match="has a header that no rank sends"):
                await mpi.COMM_WORLD.Barrier()

    World(3).run(program, finalize=False)


def test_a_buffered_send_has_arrived_when_the_rank_that_it_went_to_says_so() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        if rank == 0:
            mpi.Attach_buffer(100)
            await mpi.COMM_WORLD.Bsend(b"data", 1, 7)
            (number,) = mpi.engine._buffered
            await mpi.engine.begin(2, (first(Kind.ARRIVED), number, 0, 0), 0)
            assert mpi.engine.buffer_in_use
            with pytest.raises(MpiError, match="has a header that no rank sends"):
                await mpi.COMM_WORLD.Barrier()

    World(3).run(program, finalize=False)
