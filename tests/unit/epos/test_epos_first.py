"""The first program of EPOS's page: it runs and gives the results that the page states.

Strategy: it runs on two hosts and on four.
"""

from __future__ import annotations

import pytest

from firmware.epos.host import Epos
from tests.unit.epos.epos_bench import Bench


async def program(epos: Epos, nodes: int) -> list[bytes]:
    others = [node for node in range(nodes) if node != epos.me]
    for node in others:
        await epos.send(node, b"from %d" % epos.me)  # returns when the NIC has the frame
    came = [await epos.receive() for _ in others]  # from any node
    return sorted(message.data for message in came)


@pytest.mark.parametrize("nodes", [2, 4])
def test_first_program_of_the_page_works(nodes: int) -> None:
    bench = Bench(nodes)
    answers = bench.run(*(program(epos, nodes) for epos in bench.hosts))
    for me, got in enumerate(answers):
        assert got == [b"from %d" % node for node in range(nodes) if node != me]
