"""How many messages and bytes per second do GRIM hosts transfer when all of them send at once?

Strategy: every host sends a stream of equal messages as fast as GRIM allows, and handles those that arrive. Each
message carries its number and begins at another offset of the sender's buffer, so that lost, duplicated, reordered and
changed messages are detected. Rates count from the first send to the last handler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firmware.grim.nic.layout import Counter
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import PLACE_BYTES, PLACES, Source, bring_up
from tb.studies.kit.arrivals import none_of
from tb.studies.kit.hosts import together
from tb.studies.kit.steady import faster, tell_steady
from tb.studies.kit.traffic import to_all_from_next, to_next

LAYER = "grim"
ENOUGH = 1000
"""Number of messages of a stream whose rate has converged."""
OPTIONS = {
    "size": Option(64, "bytes of each message", 0, 1 << 24, unit="bytes"),
    "messages": Option(ENOUGH, "messages of all hosts together, the same number for each", 1, 100_000_000),
    "pattern": Option(
        "ring", "ring: host i to host i + 1; all-to-all: to all others in turn", choices=("ring", "all-to-all")
    ),
    **layer_options(LAYER),
}
QUICK = "messages=200"
TINY = "messages=16 size=48"
TOLD = 64
"""Number of messages between two progress reports."""


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts = [_Host(lab, vnn, library) for vnn, library in enumerate(lab.start_layer(LAYER))]
    await bring_up(lab, [host.library for host in hosts], [{f"data{host.vnn}": host.on_data} for host in hosts])
    plan = to_next if lab.text("pattern") == "ring" else to_all_from_next
    targets = plan(len(hosts), hosts[0].messages)
    for host in hosts:
        await host.prepare(hosts, targets[host.vnn])
    begun = lab.kernel.now
    await together(lab, "stream of host", [host.stream() for host in hosts])
    await _hand_in(lab, hosts, begun)


class _Host:
    """Host that sends and receives."""

    def __init__(self, lab: Lab, vnn: int, library: Any) -> None:
        self.lab, self.vnn, self.library = lab, vnn, library
        self.size = lab.option("size")
        self.messages = max(lab.option("messages") // len(lab.running.hosts), 1)
        self.source = Source(library.host, self.size + PLACE_BYTES * PLACES, vnn)
        self.expected: dict[int, list[int]] = {}
        """Numbers of the unhandled messages for this host by reference of the source, the next one last."""
        self.senders: dict[int, _Host] = {}
        """Sending hosts, by reference of the source."""
        self.due = self.handled = self.doubled = self.out_of_order = self.changed = 0
        self.last_at = self.half_at = self.arrived_at = 0
        """Times at which this host handled its last message, had handled half of them, and had its own last message
        handled by another host.
        """

    async def prepare(self, hosts: list[_Host], targets: Sequence[int]) -> None:
        """Compute the destination of each message of this host, and the messages that each host receives."""
        where = {
            vnn: (self.library.get_dest_id(vnn), await self.library.resolve_handler(f"data{vnn}"))
            for vnn in sorted(set(targets))
        }
        self.where = [where[vnn] for vnn in targets]
        self.regions = [self.source.region(self.size, place) for place in range(PLACES)]
        for target in set(targets):
            host, me = hosts[target], self.library.get_dest_id(self.vnn)
            host.expected[me] = [number for number in reversed(range(self.messages)) if targets[number] == target]
            host.due += len(host.expected[me])
            host.senders[me] = self

    async def stream(self) -> None:
        """Send all messages, then receive the rest."""
        send, regions = self.library.send, self.regions
        for number, (where, handler) in enumerate(self.where):
            await send(where, handler, number, payload=regions[number % PLACES])
        await self.library.wait_for(lambda: self.handled >= self.due)

    def on_data(self, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a message."""
        expected = self.expected[source]
        if expected and expected[-1] == number:
            expected.pop()
            self.handled += 1
        elif number in expected:
            expected.remove(number)
            self.handled += 1
            self.out_of_order += 1
        else:
            self.doubled += 1
        sender = self.senders[source]
        if bytes(payload) != sender.source.bytes_of(self.size, number):
            self.changed += 1
        self.last_at = sender.arrived_at = self.library.host.now
        if self.handled == self.due // 2:
            self.half_at = self.last_at
        findings = self.lab.findings
        findings.messages += 1
        if not findings.messages % TOLD:
            self.lab.progress(findings.messages, self.messages * len(self.lab.running.hosts))


async def _hand_in(lab: Lab, hosts: list[_Host], begun: int) -> None:
    """Record metrics, and the rate at which messages of each host were handled."""
    size, seconds = lab.option("size"), (max(host.last_at for host in hosts) - begun) / 1e12
    delivered = sum(host.handled for host in hosts)
    faults = {
        "lost": sum(host.due - host.handled for host in hosts),
        "doubled": sum(host.doubled for host in hosts),
        "out_of_order": sum(host.out_of_order for host in hosts),
        "changed": sum(host.changed for host in hosts),
    }
    none_of(lab, faults, delivered)
    lab.metric("delivered", delivered)
    lab.metric("messages_per_s", delivered / seconds)
    lab.metric("messages_per_s_per_host", delivered / seconds / len(hosts))
    lab.metric("MBps_total", delivered * size / seconds / 1e6)
    for name, counter in (("resent", Counter.RESENT), ("nacks", Counter.NACKS_SENT)):
        lab.metric(name, sum([await host.library.ni_counter(counter) for host in hosts]))
    half_at, last_at = max(host.half_at for host in hosts), max(host.last_at for host in hosts)
    late = faster(0.5, half_at, last_at, begun, last_at)
    tell_steady(lab, [late], lab.option("messages") >= ENOUGH)
    rates = [host.messages / (host.arrived_at - begun) * 1e12 for host in hosts]
    lab.series("rate_by_host", [host.vnn for host in hosts], rates, "VNN", "messages/s")
