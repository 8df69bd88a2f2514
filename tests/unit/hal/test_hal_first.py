"""First program of HAL's page.

Strategy: the program runs on two hosts of a board; each packet arrives once and complete.
"""

from __future__ import annotations

from firmware.hal.host.interface import Hal, Packet
from tests.unit.hal.hal_bench import Bench

MINE = 4


async def program(hal: Hal) -> list[bytes]:
    came: list[bytes] = []

    async def take(packet: Packet) -> None:
        came.append(bytes(packet.view))  # the view is the receive buffer itself: copy what is to be kept

    await hal.start()
    hal.on_packet(MINE, take)
    if hal.me == 0:
        for number in range(10):
            await hal.send(1, MINE, b"number", bytes([number]))
    else:
        await hal.wait(lambda: len(came) == 10)
    return sorted(came)


def test_the_first_program_does_what_it_says() -> None:
    bench = Bench()
    assert bench.run(*(program(hal) for hal in bench.hals)) == [[], [b"number" + bytes([n]) for n in range(10)]]
