"""How long do messages of a process wait while another process has the card?

Strategy: HPAM (paper 002) with several programs, each with a process on the first and one on the last host. All send
requests at the same time, under daemons that are not synchronised. A message for a stopped process goes into the output
queue of the active process, and at the switch into its own input queue. Measured are the number of such messages and
their queueing time (median and longest), beside the time of one turn of all processes. Each message names its program;
deliveries to another program are counted and must be 0.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from firmware.common.host.request_reply import Kind
from firmware.hpam.host import Call, Hpam, Port
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options

LAYER = "hpam"
CLUSTER = "fifo_cards"
OPTIONS = {
    "processes": Option(3, "processes of a host, each of another program", 2, 16),
    "messages": Option(10, "requests of each process of the first host", 1, 100_000),
    "bytes": Option(64, "data of a request", 0, 1980),
    **layer_options(LAYER),
    "hpam.quantum_us": Option(200, "time for which a process has the card while others wait", 50, 1_000_000),
}
QUICK = "processes=2 messages=4"
TINY = "processes=2 messages=1 fault.loss=0.1 hpam.timeout_us=100 hpam.quantum_us=50"


class Program:
    """Two processes of one key."""

    def __init__(self, lab: Lab, key: int, near: Hpam, far: Hpam) -> None:
        self.lab, self.key, self._layers = lab, key, (near, far)
        self.ports: list[Port] = []
        self.replies = self.wrong = 0
        """Numbers of replies, and of messages of other programs."""

    async def open(self) -> None:
        """Open both ports."""
        self.ports = [await layer.open([self.take], self.key) for layer in self._layers]

    async def take(self, call: Call) -> None:
        """Check a message; reply to a request with its own data."""
        key, number = call.arguments
        self.wrong += key != self.key
        self.lab.check("received bytes", call.data == self._data(number), f"message {number} of program {key} changed")
        if call.kind is Kind.REQUEST:
            await call.reply(self.take, key, number, data=call.data)
        else:
            self.replies += 1

    async def send(self, count: int) -> None:
        """Send all requests of the near process and wait for the replies."""
        port, far = self.ports[0], self._layers[1].me
        for number in range(count):
            await port.request(far, self.take, self.key, number, data=self._data(number))
        await port.until(lambda: self.replies == count, "the replies")

    async def serve(self, programs: Sequence[Program], count: int) -> None:
        """Poll in the far process until all programs have finished."""
        await self.ports[1].until(lambda: all(one.replies == count for one in programs), "the end")

    def _data(self, number: int) -> bytes:
        return bytes((self.key + number + at) % 256 for at in range(self.lab.option("bytes")))


async def run(lab: Lab) -> None:
    """Run the study."""
    layers: list[Any] = lab.start_layer(LAYER)
    near, far = layers[0], layers[-1]
    for layer in (near, far):
        await layer.start()
    count, number = lab.option("messages"), lab.option("processes")
    programs = [Program(lab, key, near, far) for key in range(1, number + 1)]
    for program in programs:
        await program.open()
    begun = lab.kernel.now
    senders = [lab.spawn(one.send(count), f"near process of program {one.key}") for one in programs]
    servers = [lab.spawn(one.serve(programs, count), f"far process of program {one.key}") for one in programs]
    await lab.all([*senders, *servers])
    took_us = (lab.kernel.now - begun) / 1e6
    for port in (port for one in programs for port in one.ports):
        await port.close()
    _report(lab, programs, (near, far), took_us)


def _report(lab: Lab, programs: Sequence[Program], layers: Sequence[Hpam], took_us: float) -> None:
    ports = [port for one in programs for port in one.ports]
    waited = [time / 1e6 for port in ports for time in port.waited]
    switches = sum(layer.daemon.switches for layer in layers)
    switch_us = sum(layer.daemon.switch_ps for layer in layers) / max(switches, 1) / 1e6
    lab.findings.messages += 2 * sum(one.replies for one in programs)
    lab.metric("foreign_messages", sum(port.foreign for port in ports))
    lab.metric("foreign_wait_us", statistics.median(waited) if waited else 0)
    lab.metric("foreign_wait_us_longest", max(waited, default=0))
    round_us = len(programs) * (lab.option("hpam.quantum_us") + switch_us)
    wrong = sum(one.wrong for one in programs)
    lab.metric("round_us", round_us)
    lab.metric("wrong_key_delivered", wrong)
    lab.check("keys of receivers", not wrong, f"{wrong} messages were delivered to a process with another key")
    failure = f"a message waited {max(waited, default=0):.0f} us for its process; a round takes {round_us:.0f} us"
    lab.check("longest wait", max(waited, default=0) <= round_us, failure)
    lab.metric("switches", switches)
    lab.metric("switch_us", switch_us)
    lab.metric("us_per_message", took_us / max(sum(one.replies for one in programs), 1))
