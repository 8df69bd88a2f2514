"""Driver's loader for C firmware: writes the program into a NIC whose processor executes it."""

from __future__ import annotations

from firmware.common.host.card import hold, release
from firmware.verbs import Host
from firmware.view import ClusterView


async def boot(host: Host, view: ClusterView) -> None:
    """Boot a NIC that executes C firmware, as a real card is booted; do nothing for firmware in Python.

    Holds the LANai in reset, writes its program and boot words into the SRAM over the bus, and releases it at address
    0.
    """
    code = view.machine_code
    if code is None:
        return
    await hold(host)
    program = code.program
    await host.pio_write(host.card.sram + program.base, program.data + bytes(-len(program.data) % 4))
    for address, values in code.words:
        await host.pio_write(host.card.sram + address, b"".join(value.to_bytes(4, "big") for value in values))
    host.waits.register(code.waits)
    await release(host)
