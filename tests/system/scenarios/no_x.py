"""Is any wire between the parts of a cluster ever X or Z after reset?

Strategy: while messages of echo (of VIA between SP adapters) are exchanged, every wire of the generated top level is
read: characters, clock requests. So are both bundles of PCI pins between the cards of a host and its bus, whole, hence
every field of them. This happens in every character clock, between two edges. On Icarus a bit may be X or Z; its driver
is named. Slow, and only for small runs.
"""

from __future__ import annotations

from typing import Any

import cocotb

from tb.lab.lab import Lab
from tb.studies.via._via_ends import End, Memory, ends, join

PINS = ("slot_in", "slot_out")
"""Bundles of PCI pins in a host, those of all its slots in one vector."""


async def run(lab: Lab) -> None:
    """Run the scenario."""
    top: Any = cocotb.top
    parts = list(top.cluster)
    wires = [part for part in parts if part._name.startswith(("tx_", "awake_"))]
    wires += [getattr(part, name) for part in parts if part._name.startswith("host_") for name in PINS]
    looks = _Looks(lab, wires)
    lab.spawn(looks.go_on(), "looks at the wires")
    await (_via(lab) if lab.plan.profile.kind == "sp" else _echo(lab))
    lab.metric("wires", len(wires))
    lab.metric("wires_that_changed", len(looks.changed))
    lab.metric("looks", looks.count)


async def _echo(lab: Lab) -> None:
    """Send a message from every host to the next one and back."""
    hosts = lab.start_layer("echo")
    for host in hosts:
        await host.start()
    for near in range(len(hosts)):
        far = (near + 1) % len(hosts)
        answer = lab.spawn(hosts[far].echo(), "echo")
        await hosts[near].send(far, bytes(range(64)))
        lab.check("returned bytes", await hosts[near].receive() == (far, bytes(range(64))), "bytes returned corrupted")
        await lab.all([answer])


async def _via(lab: Lab) -> None:
    """Make a connection, and send a message through the Send FIFO in each direction."""
    near, far = await ends(lab)
    mine, yours = await near.vi(), await far.vi()
    await join(near, mine, far, yours)
    memories = [await end.memory(1 << 13) for end in (near, far)]
    for source, target, (here, to), (there, into) in (
        (mine, yours, (near, memories[0]), (far, memories[1])),
        (yours, mine, (far, memories[1]), (near, memories[0])),
    ):
        here.process.store_bytes(to.va, bytes(range(64)))
        await target.post_receive(place(there, into).receive([(into.va + 4096, into.handle, 64)]))
        await source.post_send(place(here, to, 256).send([(to.va, to.handle, 64)]))
        await target.poll_receive()
        await source.poll_send()
        lab.check(
            "received bytes",
            there.process.load_bytes(into.va + 4096, 64) == bytes(range(64)),
            "bytes arrived corrupted",
        )


def place(end: End, memory: Memory, at: int = 128) -> Any:
    """Return a descriptor in a process's memory."""
    return end.nic.descriptor(memory.va + at, memory.handle)


class _Looks:
    """Sampler of wires in every character clock."""

    def __init__(self, lab: Lab, wires: list[Any]) -> None:
        self.lab, self.wires = lab, wires
        self.changed: set[str] = set()
        self.count = 0

    async def go_on(self) -> None:
        """Sample for ever."""
        first = [str(wire.value) for wire in self.wires]
        while True:
            for wire, before in zip(self.wires, first, strict=True):
                value = wire.value
                at_us = self.lab.kernel.now / 1e6
                self.lab.check("values of wires", value.is_resolvable, f"{wire._path} is {value} at {at_us:.3f} us")
                if str(value) != before:
                    self.changed.add(wire._path)
            self.count += 1
            await self.lab.kernel.sleep(self.lab.plan.profile.integer("clock.link_ps"), "the next character clock")
