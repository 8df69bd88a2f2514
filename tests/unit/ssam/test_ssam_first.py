"""First program of SSAM's page.

Strategy: the program runs on two hosts and on four.
"""

from __future__ import annotations

import pytest

from firmware.ssam.host import Call, Ssam
from tests.unit.layers.first_program import check, on_fifo_cards


async def program(ssam: Ssam) -> list[bytes]:
    came: list[bytes] = []

    async def double(call: Call) -> None:  # a request: it may answer, once, and send nothing else
        (number,) = call.arguments
        await call.reply(result, 2 * number, data=call.data.upper())

    async def result(call: Call) -> None:
        came.append(b"%d %s" % (call.arguments[0], call.data))

    port = await ssam.open([double, result])  # the same handlers, in the same order, in all processes
    others = ssam.kernel.partners
    for vnn in others:
        await port.request(vnn, double, 10 + vnn, data=b"from %d" % ssam.me)
    await port.until(lambda: len(came) == len(others) and port.handled == len(others), "the answers")
    return sorted(came)


@pytest.mark.parametrize("nodes", [2, 4])
def test_the_first_program_does_what_it_says(nodes: int) -> None:
    check(*on_fifo_cards("ssam", nodes), program)
