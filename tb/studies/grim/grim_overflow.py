"""Do handlers that reply under congestion deadlock, and does the overflow queue prevent it?

Strategy: two hosts send each other messages whose handlers reply, through queues with room for few messages. They
compute in between without polling, so that the queues are full when a send has to poll. With the overflow queue every
message must arrive, once and in order. The same then runs without it: a handler waits for room in its NI's queue, which
only the other host can make, whose handler waits too. The reported waits must form the cycle of both hosts and both
NIs.
"""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.stuck.watch import until_deadlock
from tb.studies.grim._grim import Source, bring_up, of_ends
from tb.studies.kit.arrivals import tally

LAYER = "grim"
CONGESTED = {"queue_bytes": 1024, "host_queue_bytes": 1024, "segment_bytes": 64, "poll_first": 0}
"""Options for queues with room for about nine messages of 64 B, and for applications that poll only when they must."""
THINK = 150
"""Number of `copy_line` paths that an application computes between two messages (10 us), while endpoint queues fill."""
QUIET_US = 1000
"""Time in us without a finished handler that counts as a deadlock."""
OPTIONS = {
    "messages": Option(100, "messages of each host in each of the two parts", 1, 1_000_000),
    "size": Option(64, "bytes of each message and of each reply", 0, 65536, unit="bytes"),
    "deadlock": Option(1, "run the part without the overflow queue (1) or omit it (0)", 0, 1),
    **{
        name: Option(CONGESTED.get(name.removeprefix("grim."), option.default), option.meaning, option.low, option.high)
        if name.removeprefix("grim.") in CONGESTED
        else option
        for name, option in layer_options(LAYER).items()
    },
}


async def run(lab: Lab) -> None:
    """Run the study."""
    libraries = lab.start_layer(LAYER, {"overflow": 1})
    hosts = [_Host(lab, libraries[0]), _Host(lab, libraries[-1])]
    near, far = ({"request": host.on_request, "reply": host.on_reply} for host in hosts)
    await bring_up(lab, libraries, of_ends(libraries, near, far))
    for host, other in zip(hosts, reversed(hosts), strict=True):
        await host.prepare(other)
    await lab.all([lab.spawn(host.burst(), f"burst of {host.name}") for host in hosts])
    _hand_in(lab, hosts)
    if lab.option("deadlock"):
        await _without(lab, hosts)


def _hand_in(lab: Lab, hosts: list[_Host]) -> None:
    """Record the requests and replies that arrived."""
    got = [numbers for host in hosts for numbers in host.got]
    tally(lab, ((numbers, range(lab.option("messages"))) for numbers in got))
    changed = sum(host.changed for host in hosts)
    lab.metric("changed", changed)
    lab.check("received bytes", not changed, f"{changed} messages arrived corrupted")
    lab.metric("overflow_peak", max(host.peak for host in hosts))
    lab.check(
        "overflow queue",
        all(host.peak for host in hosts),
        "the overflow queue was never used, so there was no congestion",
    )
    lab.findings.messages += sum(map(len, got))


async def _without(lab: Lab, hosts: list[_Host]) -> None:
    """Repeat the burst without the overflow queue, and check the reported cycle."""
    for host in hosts:
        host.library.use_overflow(False)
        host.got = ([], [])
    bursts = [lab.spawn(host.burst(), f"burst of {host.name}") for host in hosts]
    found = await until_deadlock(lab, bursts, QUIET_US, lambda: sum(len(n) for host in hosts for n in host.got))
    lab.metric("deadlock_without", int(found is not None))
    lab.metric("delivered_without", sum(len(numbers) for host in hosts for numbers in host.got))
    lab.check("deadlock without the overflow queue", found is not None, "none: all messages arrived without congestion")
    if found is None:
        return
    here, there = hosts
    lab.metric("units_in_the_cycle", len(found.units))
    edges = ((here.unit, here.nic), (here.nic, there.unit), (there.unit, there.nic), (there.nic, here.unit))
    for waiter, holder in edges:
        lab.check(
            "reported waits", found.waits(waiter, holder), f"the hang report lacks the wait of {waiter} for {holder}"
        )


class _Host:
    """Host that sends requests and replies."""

    def __init__(self, lab: Lab, library: Any) -> None:
        self.lab, self.library = lab, library
        self.name = library.host.name
        self.unit, self.nic = library.host.who, f"NIC {library.host.node}"
        self.source = Source(library.host, lab.option("size"), library.host.node)
        self.got: tuple[list[int], list[int]] = ([], [])
        """Numbers of the received requests and replies."""
        self.peak = self.changed = 0

    async def prepare(self, other: _Host) -> None:
        """Resolve the handlers."""
        self.other = other
        self.request, self.reply = [await self.library.resolve_handler(name) for name in ("request", "reply")]
        self.to = self.library.get_dest_id(other.library.get_my_vnn())

    async def burst(self) -> None:
        """Send all requests back to back, then receive the rest.

        The host polls until none of its replies is in the overflow queue, because they are sent by polls.
        """
        messages, size = self.lab.option("messages"), self.lab.option("size")
        for number in range(messages):
            await self.library.send(self.to, self.request, number, payload=self.source.region(size))
            await self.library.host.spend("copy_line", THINK)
        library = self.library
        await library.wait_for(lambda: not library.overflow and min(len(numbers) for numbers in self.got) >= messages)

    async def on_request(self, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a request by a reply."""
        self._note(0, number, payload)
        await self.library.send(source, self.reply, number, payload=self.source.region(len(payload)))
        self.peak = max(self.peak, self.library.overflow)

    def on_reply(self, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a reply."""
        self._note(1, number, payload)

    def _note(self, kind: int, number: int, payload: memoryview) -> None:
        self.got[kind].append(number)
        self.changed += payload != self.other.source.bytes[: len(payload)]
