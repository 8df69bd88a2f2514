"""First program of LAPI's page.

Strategy: the program runs on two hosts of a board with two routes, over reliable and unreliable links.
"""

from __future__ import annotations

import pytest

from firmware.lapi.host import Lapi, Place
from tests.unit.lapi.lapi_bench import Tasks


async def program(lapi: Lapi) -> tuple[bytes, bytes, int]:
    other, memory = 1 - lapi.me, lapi.process.allocate(8192)
    out, put, sent, arrived, told = memory, memory + 1000, memory + 2000, memory + 8000, memory + 8004

    async def header(source: int, uhdr: bytes, size: int) -> Place:
        return Place(sent, completion, uhdr)  # where the data go; what runs when they are there

    async def completion(task: Lapi, uhdr: bytes) -> None:
        await task.Put(other, 4, theirs + 8004, memory + 8008)  # a completion handler may call LAPI

    handler = lapi.handler(header)
    lapi.process.store_bytes(out, b"from %d" % lapi.me)
    lapi.process.store_words(memory + 8008, (lapi.me + 1,))
    theirs = (await lapi.Address_init(memory))[other]
    await lapi.Put(other, 6, theirs + 1000, out, tgt_cntr=theirs + 8000)
    await lapi.Amsend(other, handler, b"header", 6, out, 6, tgt_cntr=theirs + 8000)
    await lapi.Waitcntr(arrived, 2)  # the other's put, and its active message with the completion handler
    await lapi.Gfence()
    return lapi.process.load_bytes(put, 6), lapi.process.load_bytes(sent, 6), lapi.process.load_words(told, 1)[0]


@pytest.mark.parametrize("loss", [0, 0.1])
def test_the_first_program_does_what_it_says(loss: float) -> None:
    tasks = Tasks()
    tasks.machine.faults.lose(loss)
    assert tasks.all(program) == [(b"from 1", b"from 1", 2), (b"from 0", b"from 0", 1)]
