"""The driver's loader: puts firmware in C into a NIC whose processor executes it, as a real card is booted."""

from __future__ import annotations

from firmware.common.host.card import hold, release
from firmware.verbs import Host
from firmware.view import ClusterView


async def boot(host: Host, view: ClusterView) -> None:
    """Hold the LANai in reset, write its program and what it must know into the SRAM over the bus, then release it: it
    begins at address 0. Nothing where its firmware is a program in Python.
    """
    code = view.machine_code
    if code is None:
        return
    await hold(host)
    program = code.program
    await host.pio_write(host.card.sram + program.base, program.data + bytes(-len(program.data) % 4))
    for address, values in code.words:
        await host.pio_write(host.card.sram + address, b"".join(value.to_bytes(4, "big") for value in values))
    host.waits.ask(code.waits)
    await release(host)
