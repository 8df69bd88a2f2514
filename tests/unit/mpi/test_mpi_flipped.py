"""MPI header flipped in memory: the bytes in memory are matched, not those that were sent.

Strategy: a message is in the receiver's host memory, where the NIC has stored it, and is not processed yet. Its tag is
found there by its value, and one bit is flipped. Then no receive of the sent tag matches the message, and one of the
flipped tag does. Without the flip it is the reverse.
"""

from __future__ import annotations

import pytest

from firmware.mpi.host import Mpi, Status
from tests.unit.mpi.mpi_bench import World
from tests.unit.mpi.test_mpi_messages import EACH, LATE_PS

SENT, FLIPPED = 0x5A17C3E1, 0x5A17C3E0


def flip_tag(world: World, rank: int) -> None:
    """Flip the lowest bit of the single word in a rank's host memory that equals the tag."""
    memory = world.machine.host(rank).memory
    word = SENT.to_bytes(4, "big")
    at = memory.data.find(word, 0)
    assert at >= 0, "the message is not in host memory"
    assert memory.data.find(word, at + 1) < 0, "the tag stands there twice"
    memory.write(at, FLIPPED.to_bytes(4, "big"))


@EACH
@pytest.mark.parametrize("flips", [False, True])
def test_a_flipped_tag_bit_matches_another_receive(on: str, flips: bool) -> None:
    world = World(2, on, below={"timeout_us": 100_000} if on == "pipes" else {})  # nothing is sent again meanwhile
    stands = FLIPPED if flips else SENT

    async def program(mpi: Mpi, rank: int) -> bytes:
        comm = mpi.COMM_WORLD
        if rank == 0:
            await comm.Send(b"data", 1, SENT)
            return b""
        await mpi.host.sleep(LATE_PS, "a late rank")
        if flips:
            flip_tag(world, 1)
        assert [await comm.Iprobe(0, tag) for tag in (SENT, FLIPPED)] == [not flips, flips]
        room, status = bytearray(4), Status()
        await comm.Recv(room, 0, stands, status)
        assert status.tag == stands
        return bytes(room)

    assert world.run(program)[1] == b"data"
