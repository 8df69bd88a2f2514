"""Does GRIM deliver every message once and in order on a network that loses and damages packets?

Strategy: all hosts send messages of random sizes to all others in random order. Receivers stop at random, so that
messages are rejected as well. Packets are lost and damaged by seed (`fault.loss`, `fault.damage`), data and answers
alike; the time-out extension (`grim.timeout_us`) repairs this. Each message carries its number, and begins at another
offset of the sender's buffer, so that lost, duplicated, reordered and changed messages are detected. At the end all
queues must be empty. The default is short enough for Icarus. `messages=10000` gives statistics of rare losses; the long
run is `messages=1000000 run.trace=0`.
"""

from __future__ import annotations

import random
from typing import Any

from firmware.grim.formats import reference
from firmware.grim.nic.layout import Counter, Register
from pymodels.errors import ConfigError
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.plan.request import Plan
from tb.studies.grim._grim import PLACE_BYTES, PLACES, Source, bring_up
from tb.studies.kit.arrivals import none_of
from tb.studies.kit.hosts import together

LAYER = "grim"
CLUSTER = "four_hosts"
OPTIONS = {
    "messages": Option(1000, "messages of all hosts together, the same number for each", 1, 100_000_000),
    "largest": Option(600, "bytes of the largest message; sizes are random and mostly small", 0, 1 << 20, unit="bytes"),
    "stop_percent": Option(2, "probability in percent that a host stops before a send", 0, 100),
    "stop_us": Option(400, "maximum duration of such a stop", 0, 1_000_000),
    **layer_options(LAYER),
    "fault.loss": Option(1e-3, "probability that a packet is lost before it reaches a host, by seed", 0, 1),
    "fault.damage": Option(1e-3, "probability that a bit of a packet is flipped before it reaches a host", 0, 1),
    "grim.timeout_us": Option(400, "time after which an unanswered message is retransmitted", 0, 1_000_000),
    "grim.host_queue_bytes": Option(
        4096, "pinned queue of an endpoint in bytes, small enough to cause rejections", 256, 1 << 26
    ),
    "grim.segment_bytes": Option(1024, "payload of a segment", 4, 64_572),
}
COUNTED = {"resent": Counter.RESENT, "timeouts": Counter.TIMEOUTS, "duplicates": Counter.DUPLICATES,
           "nacks": Counter.NACKS_SENT, "bad_crc": Counter.BAD_CRC}  # fmt: skip
LEFT_US, PATIENCE = 200, 1000
"""Interval in us of the checks for the last answers; PATIENCE is their maximum number."""


def check(plan: Plan) -> None:
    """Raise ConfigError for a network with losses without the time-out extension."""
    lossy = any(plan.options[name] for name in ("fault.loss", "fault.damage", "fault.reorder"))
    if lossy and not plan.options["grim.timeout_us"]:
        cause = "without time-outs GRIM assumes a lossless network"
        raise ConfigError(
            "SET", 0, "fault.loss without grim.timeout_us", cause, "set grim.timeout_us, or set fault.loss=0"
        )


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts = [_Host(lab, vnn, library) for vnn, library in enumerate(lab.start_layer(LAYER))]
    await bring_up(lab, [host.library for host in hosts], [{"data": host.on_data} for host in hosts])
    for host in hosts:
        host.prepare(hosts)
    begun = lab.kernel.now
    await together(lab, "host", [host.application() for host in hosts])
    seconds = (lab.kernel.now - begun) / 1e12
    left = await _left(lab, hosts)
    await _hand_in(lab, hosts, seconds, left)


class _Host:
    """Host that sends and receives."""

    def __init__(self, lab: Lab, vnn: int, library: Any) -> None:
        self.lab, self.vnn, self.library = lab, vnn, library
        self.random = random.Random(f"{lab.seed}.{vnn}")
        self.most = lab.option("largest")
        self.source = Source(library.host, self.most + PLACE_BYTES * PLACES, vnn)
        self.count = max(lab.option("messages") // len(lab.running.hosts), 1)
        self.total = self.count * len(lab.running.hosts)
        self.next: list[int] = []
        """Next expected number, by source."""
        self.due = self.handled = self.doubled = self.out_of_order = self.changed = 0
        self.views: list[memoryview] = []

    def prepare(self, hosts: list[_Host]) -> None:
        """Draw the destination of each message of this host, and count the messages for each host."""
        nodes = len(hosts)
        self.next = [0] * nodes
        self.views = [memoryview(host.source.bytes) for host in hosts]
        others = [vnn for vnn in range(nodes) if vnn != self.vnn]
        self.targets = self.random.choices(others, k=self.count)
        for vnn in self.targets:
            hosts[vnn].due += 1

    async def application(self) -> None:
        """Send all messages, stop at random, and receive all."""
        library, rng, stop = self.library, self.random, self.lab.option("stop_percent") / 100
        number = await library.resolve_handler("data")
        where = [library.get_dest_id(vnn) for vnn in range(len(self.next))]
        sent = [0] * len(self.next)
        for vnn in self.targets:
            if rng.random() < stop:
                await self.lab.kernel.sleep(rng.randint(0, self.lab.option("stop_us")) * 1_000_000, "its pause to end")
            size = int(self.most * rng.random() ** 3)
            await library.send(where[vnn], number, sent[vnn], size, payload=self.source.region(size, sent[vnn]))
            sent[vnn] += 1
        await library.wait_for(lambda: self.handled >= self.due)

    def on_data(self, source: int, number: int, size: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a message."""
        vnn = reference(source).vnn
        expected = self.next[vnn]
        if number == expected:
            self.next[vnn] = number + 1
            self.handled += 1
        elif number < expected:
            self.doubled += 1
        else:
            self.out_of_order += 1
        begin = PLACE_BYTES * (number % PLACES)
        if payload != self.views[vnn][begin : begin + size]:
            self.changed += 1
        findings = self.lab.findings
        findings.messages += 1
        self.lab.progress(findings.messages, self.total)


async def _left(lab: Lab, hosts: list[_Host]) -> int:
    """Wait until the last answers have arrived; return the number of queues that are still not empty."""
    left = 0
    for _ in range(PATIENCE):
        left = 0
        for host in hosts:
            nic, layout = lab.running.nics[host.vnn], host.library.layout
            for channel in range(host.library.options.channels):
                front, back = (nic.load(layout.register(channel, one)) for one in (Register.FRONT, Register.BACK))
                left += front != back
        if not left:
            break
        await lab.kernel.sleep(LEFT_US * 1_000_000, "the last answers")
    return left


async def _hand_in(lab: Lab, hosts: list[_Host], seconds: float, left: int) -> None:
    """Record metrics, and the retransmissions of each host."""
    delivered = sum(host.handled for host in hosts)
    wrong = {
        "lost": sum(host.due - host.handled for host in hosts),
        "doubled": sum(host.doubled for host in hosts),
        "out_of_order": sum(host.out_of_order for host in hosts),
        "changed": sum(host.changed for host in hosts),
        "left_in_queues": left,
    }
    lab.metric("delivered", delivered)
    none_of(lab, wrong, delivered)
    for name, counter in COUNTED.items():
        lab.metric(name, sum([await host.library.ni_counter(counter) for host in hosts]))
    lost, damaged = lab.running.doorway.lost()
    lab.metric("packets_lost", lost)
    lab.metric("packets_damaged", damaged)
    lab.metric("packets_passed", lab.running.doorway.held_back())
    lab.metric("messages_per_s", delivered / seconds)
    resent = [await host.library.ni_counter(Counter.RESENT) for host in hosts]
    lab.series("resent_by_host", [host.vnn for host in hosts], resent, "VNN", "messages")
