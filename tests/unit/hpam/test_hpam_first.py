"""First program of HPAM's page.

Strategy: the program runs on two hosts and on four.
"""

from __future__ import annotations

import pytest

from firmware.hpam.host import Call, Hpam
from tests.unit.layers.first_program import check, on_fifo_cards


async def program(hpam: Hpam) -> list[bytes]:
    came: list[bytes] = []

    async def double(call: Call) -> None:  # a request: it may answer, once, and send nothing else
        (number,) = call.arguments
        await call.reply(result, 2 * number, data=call.data.upper())

    async def result(call: Call) -> None:
        came.append(b"%d %s" % (call.arguments[0], call.data))

    port = await hpam.open([double, result], key=0x5EED)  # the same handlers and key in all processes of a program
    others = hpam.daemon.partners
    for vnn in others:
        await port.request(vnn, double, 10 + vnn, data=b"from %d" % hpam.me)
    await port.until(lambda: len(came) == len(others) and port.handled == len(others), "the answers")
    return sorted(came)


@pytest.mark.parametrize("nodes", [2, 4])
def test_the_first_program_does_what_it_says(nodes: int) -> None:
    check(*on_fifo_cards("hpam", nodes), program)
