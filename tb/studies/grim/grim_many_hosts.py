"""How long does a cluster take to start by the number of hosts, and does every message arrive?

Strategy: all hosts are enabled and synchronise one handler, and both steps are timed. Then all send a number of
messages at once, to hosts near and far. Each message carries its sender and number, and begins at another offset of its
sender's buffer. So lost, duplicated, reordered and changed messages are detected.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import PLACE_BYTES, PLACES, Source, enable, sync
from tb.studies.kit.arrivals import tally
from tb.studies.kit.hosts import together

LAYER = "grim"
OPTIONS = {
    "size": Option(64, "bytes of each message", 0, 4096, unit="bytes"),
    "messages": Option(4, "messages of each host", 1, 100_000),
    **layer_options(LAYER),
}
CLUSTER = "four_hosts"
TINY = "messages=1 size=16"


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts: list[_Host] = []
    hosts += [_Host(lab, vnn, library, hosts) for vnn, library in enumerate(lab.start_layer(LAYER))]
    libraries = [host.library for host in hosts]
    begun, wall = lab.kernel.now, perf_counter()
    await enable(lab, libraries, [{"data": host.on_data} for host in hosts])
    enabled = lab.kernel.now
    await sync(lab, libraries)
    up = lab.kernel.now
    lab.metric("enable_us", (enabled - begun) / 1e6)
    lab.metric("sync_us", (up - enabled) / 1e6)
    lab.metric("wall_up_s", perf_counter() - wall)
    for host in hosts:
        for number in range(host.messages):
            hosts[host.target(number)].due.setdefault(host.vnn, []).append(number)
    await together(lab, "stream of host", [host.stream() for host in hosts])
    lab.metric("messages_us", (max(host.last_at for host in hosts) - up) / 1e6)
    _hand_in(lab, hosts)


class _Host:
    """Host that sends and receives."""

    def __init__(self, lab: Lab, vnn: int, library: Any, hosts: list[_Host]) -> None:
        """Create the host; `hosts` are all hosts, by VNN."""
        self.lab, self.vnn, self.library, self._hosts = lab, vnn, library, hosts
        self.size, self.messages = lab.option("size"), lab.option("messages")
        self.source = Source(library.host, self.size + PLACE_BYTES * PLACES, vnn)
        self.due: dict[int, list[int]] = {}
        """Numbers of the messages for this host, by VNN of the sender."""
        self.got: dict[int, list[int]] = {}
        """Numbers of the received messages in order of arrival, by VNN of the sender."""
        self.handled = self.changed = self.last_at = 0

    def target(self, number: int) -> int:
        """Return the destination of a message: spread over the cluster, the next host first."""
        others = len(self._hosts) - 1
        return (self.vnn + 1 + number * others // self.messages) % (others + 1)

    def payload(self, number: int) -> bytes:
        """Return the payload of a message."""
        return self.source.bytes_of(self.size, number)

    async def stream(self) -> None:
        """Send all messages, then receive the rest."""
        library, due = self.library, sum(map(len, self.due.values()))
        handler = await library.resolve_handler("data")
        for number in range(self.messages):
            where = library.get_dest_id(self.target(number))
            await library.send(where, handler, self.vnn, number, payload=self.payload(number))
        await library.wait_for(lambda: self.handled >= due)

    def on_data(self, source: int, sender: int, number: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a message."""
        self.got.setdefault(sender, []).append(number)
        self.handled += 1
        self.changed += bytes(payload) != self._hosts[sender].payload(number)
        self.last_at = self.library.host.now
        self.lab.findings.messages += 1


def _hand_in(lab: Lab, hosts: list[_Host]) -> None:
    """Record metrics, and fail the run unless every message arrived as it was sent."""
    tally(lab, [(host.got.get(sender, []), due) for host in hosts for sender, due in host.due.items()])
    strange = sum(len(host.got.keys() - host.due.keys()) for host in hosts)
    changed = sum(host.changed for host in hosts)
    lab.metric("changed", changed)
    lab.check("received bytes", not changed, f"{changed} messages arrived corrupted")
    lab.check("sources of messages", not strange, f"unexpected messages from {strange} hosts")
