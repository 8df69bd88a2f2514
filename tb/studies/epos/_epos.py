"""Start of EPOS on all hosts, and round trips between two of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.studies.kit.hosts import Options, start_together
from tb.studies.kit.rounds import round_trips

if TYPE_CHECKING:
    from firmware.epos.host import Epos

LAYER = "epos"


async def started(lab: Lab, options: Options | None = None) -> list[Any]:
    """Start EPOS on all hosts, with further options, and return the libraries by host number."""
    hosts = lab.start_layer(LAYER, options)
    await start_together(lab, hosts)
    return hosts


async def one_way_us(
    lab: Lab, near: Epos, far: Epos, data: bytes, count: int, pause: Callable[[], int] | None = None
) -> list[float]:
    """Return half of the duration of each of `count` round trips of a message in us; see `round_trips` for `pause`."""

    async def ask(number: int) -> None:
        await near.send(far.me, data)
        lab.check("echoed bytes", (await near.receive()).data == data, f"{len(data)} bytes returned corrupted")

    async def answer() -> None:
        message = await far.receive()
        await far.send(message.source, message.data)

    return (await round_trips(lab, count, ask, answer, pause=pause)).one_way_us
