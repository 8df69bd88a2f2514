"""First program of the page of Pipes.

Strategy: the program runs on two hosts of a board, with reliable and unreliable links.
"""

from __future__ import annotations

import pytest

from firmware.pipes.host import Pipes
from tests.unit.pipes.pipes_bench import Pair


async def program(pipes: Pipes) -> bytes:
    other = 1 - pipes.me
    await pipes.write(other, b"%05d" % pipes.me + bytes(20_000))  # a stream: reads need not match writes
    number, zeros = await pipes.read(other, 5), await pipes.read(other, 20_000)
    assert zeros == bytes(20_000)
    await pipes.finish()  # the other has all of it
    return number


@pytest.mark.parametrize("loss", [0, 0.1])
def test_the_first_program_does_what_it_says(loss: float) -> None:
    pair = Pair()
    pair.machine.faults.lose(loss)
    assert pair.run(*(program(pipes) for pipes in pair.pipes)) == [b"00001", b"00000"]
