"""What does a NIC that is reset under load cost its own host and the others, and how soon does it take part again?

Strategy: all hosts send short messages to all others continuously. The NIC of the last host is reset under this load,
stays in reset for a while, and restarts: the card is cleared, its program started, and the host opens a new library and
enables it. The time-out extension detects that the NIC is down, and the NIs reconnect. Every message carries a number.
An unhandled message must be an error at its sender, belong to the first life of the failed host, or be held by its NIC.
The trace shows messages that the NIC had accepted and not yet written to host memory. No message may be handled twice,
or after a later one. The gap is from the reset to the first message that is handled again in both directions;
`rejoin_us` is the part that the new library's `grim_enable` takes. For the other hosts, the longest time between two
messages of a pair is recorded, before the reset and after it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from firmware.grim.formats import reference
from firmware.grim.host import UndeliveredError, enable
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import bring_up

LAYER = "grim"
NEEDS = ("hosts that come back",)
CLUSTER = "four_hosts"
OPTIONS = {
    "before_us": Option(300, "traffic before the reset", 50, 1_000_000),
    "down_us": Option(200, "time from the reset to the restart of the program", 1, 1_000_000),
    "after_us": Option(400, "traffic after the restart of the host", 50, 1_000_000),
    "pause_us": Option(20, "pause between two rounds of a host; without it the NIs' queues grow", 0, 1_000_000),
    "bytes": Option(64, "payload of a message", 0, 1024),
    **layer_options(LAYER),
    "grim.timeout_us": Option(100, "time after which an unanswered message is retransmitted", 1, 1_000_000),
    "grim.timeout_tries": Option(3, "time-outs without any packet after which a NI counts as down", 1, 1_000_000),
    "grim.segment_bytes": Option(1024, "payload of a segment", 4, 64_572),
    "grim.queue_bytes": Option(1 << 17, "bytes of a channel's queue", 256, 1 << 23),
}
US = 1_000_000
SECOND = 1 << 20
"""First number of the messages of the second life."""
PATIENCE_US = 5000
"""Maximum time in us until the last messages and errors have arrived."""
Pair = tuple[int, int]
"""Sender and destination."""


async def run(lab: Lab) -> None:
    """Run the study."""
    libraries = lab.start_layer(LAYER)
    traffic = _Traffic(lab, libraries)
    await bring_up(lab, libraries, [{"data": traffic.handler(vnn)} for vnn in range(len(libraries))])
    traffic.begin()
    await lab.kernel.sleep(lab.option("before_us") * US, "traffic before the reset")
    await traffic.fail()
    await traffic.come_back()
    await lab.kernel.sleep(lab.option("after_us") * US, "traffic after the reset")
    await traffic.end()
    traffic.hand_in()


class _Traffic:
    """Traffic of all hosts, and its outcome. The last host fails."""

    def __init__(self, lab: Lab, libraries: list[Any]) -> None:
        self.lab, self.libraries = lab, libraries
        self.bad = len(libraries) - 1
        self.payload = bytes(lab.option("bytes"))
        pairs = [(a, b) for a in range(len(libraries)) for b in range(len(libraries)) if a != b]
        self.sent: dict[Pair, list[int]] = {pair: [] for pair in pairs}
        self.handled: dict[Pair, list[tuple[int, int]]] = {pair: [] for pair in pairs}
        """Number and time of each handled message."""
        self.reported: dict[Pair, list[int]] = {pair: [] for pair in pairs}
        self.down = self.over = False
        self.failed_at = self.back_at = self.rejoin_ps = self.in_hands = 0

    def handler(self, vnn: int) -> Any:
        """Return the message handler of a host."""

        def on_data(source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            self.handled[reference(source).vnn, vnn].append((number, self.lab.kernel.now))
            self.lab.findings.messages += 1

        return on_data

    def begin(self) -> None:
        """Start the senders of all hosts."""
        self._hosts = [self.lab.spawn(self._send(vnn, 0), f"host {vnn}") for vnn in range(len(self.libraries))]

    async def _send(self, me: int, first: int) -> None:
        """Send rounds of messages to all others, until this host's NIC fails or the traffic ends."""
        library = self.libraries[me]
        where = {to: library.get_dest_id(to) for _, to in self.sent if to != me}
        handler, number = await library.resolve_handler("data"), first
        while not self.over and not (self.down and me == self.bad):
            for to, reference_ in where.items():
                self.sent[me, to].append(number)
                await self._call(me, partial(library.send, reference_, handler, number, payload=self.payload))
            await self._poll(me)
            number += 1
            await self.lab.kernel.sleep(self.lab.option("pause_us") * US, "the next round")

    async def _poll(self, me: int) -> None:
        await self._call(me, self.libraries[me].poll)

    async def _call(self, me: int, call: Callable[[], Awaitable[Any]]) -> None:
        """Call the library; repeat a call that raised the error of an earlier message, since it did nothing else."""
        while not await self._done(me, call()):
            pass

    async def _done(self, me: int, call: Awaitable[Any]) -> bool:
        try:
            await call
        except UndeliveredError as error:
            self.reported[me, error.vnn].append(error.first)
            return False
        return True

    # ---- the failure

    async def fail(self) -> None:
        """Reset the NIC. Messages that are already in host memory are handled in the first life."""
        self.failed_at = self.lab.kernel.now
        await self.lab.running.hold(self.bad)
        self.down = True
        await self._hosts[self.bad].finished
        await self._poll(self.bad)
        self.in_hands = self._seen(Part.NIC_CPU, TraceEvent.NIC_ACCEPT) - self._seen(Part.HOST_CPU, TraceEvent.POLL_HIT)

    def _seen(self, part: Part, event: TraceEvent) -> int:
        """Return the number of a trace event at the failed node."""
        records = self.lab.trace()
        return int(np.sum((records["unit"] == unit(self.bad, part)) & (records["event"] == event)))

    async def come_back(self) -> None:
        """Clear the card, restart program and library, and send again."""
        lab, bad = self.lab, self.bad
        host, layout = self.libraries[bad].host, self.libraries[bad].layout
        await lab.kernel.sleep(lab.option("down_us") * US, "the host to come back")
        await enable.clear(host, layout)
        begun = lab.kernel.now
        library = self.libraries[bad] = lab.start_node(LAYER, bad)
        library.register_handler(self.handler(bad), "data")
        await library.grim_enable()
        self.back_at = lab.kernel.now
        self.rejoin_ps = self.back_at - begun
        await library.sync_handlers()
        self.down = False
        self._hosts[bad] = lab.spawn(self._send(bad, SECOND), f"host {bad} again")

    async def end(self) -> None:
        """Stop sending, and wait until the last messages have arrived or were reported."""
        self.over = True
        await self.lab.all(self._hosts)
        end = self.lab.kernel.now + PATIENCE_US * US
        while self.lab.kernel.now < end and self._lost():
            for vnn in range(len(self.libraries)):
                await self._poll(vnn)
            await self.lab.kernel.sleep(20 * US, "the last messages")

    # ---- outcome

    def _missing(self, among: bool) -> list[tuple[Pair, int]]:
        """Return the messages that were neither handled nor reported.

        With `among` False these are the messages of the failed host's first life, with True all others.
        """
        return [
            (pair, number)
            for pair, numbers in self.sent.items()
            for number in set(numbers) - {number for number, _ in self.handled[pair]} - set(self.reported[pair])
            if (pair[0] != self.bad or number >= SECOND) == among
        ]

    def _lost(self) -> int:
        """Return the number of messages with an unknown outcome."""
        missing = self._missing(True)
        return len(missing) - min(sum(pair[1] == self.bad for pair, _ in missing), self.in_hands)

    def hand_in(self) -> None:
        """Record metrics, and fail the run for lost, duplicated and reordered messages."""
        lab, bad = self.lab, self.bad
        lost = self._lost()
        doubled = out_of_order = 0
        for got in self.handled.values():
            numbers = [number for number, _ in got]
            doubled += len(numbers) - len(set(numbers))
            out_of_order += sum(a > b for a, b in pairwise(numbers))
        for name, count in {"lost": lost, "doubled": doubled, "out_of_order": out_of_order}.items():
            lab.metric(name, count)
            lab.check(f"messages {name.replace('_', ' ')}", count == 0, f"{count} messages")
        lab.metric("delivered", sum(len(got) for got in self.handled.values()))
        lab.metric("reported", sum(len(numbers) for numbers in self.reported.values()))
        lab.metric("in_its_hands", len(self._missing(True)) - lost)
        lab.metric("of_its_first_life", len(self._missing(False)))
        firsts = [self._first(pair) for pair in self.handled if bad in pair]
        lab.check(
            "messages of the restarted host",
            min(firsts) > 0,
            "the restarted host does not exchange messages with all others",
        )
        lab.metric("gap_us", (max(firsts) - self.failed_at) / US)
        lab.metric("rejoin_us", self.rejoin_ps / US)
        lab.metric("others_pause_before_us", self._pause(0, self.failed_at) / US)
        lab.metric("others_pause_us", self._pause(self.failed_at, lab.kernel.now) / US)

    def _first(self, pair: Pair) -> int:
        """Return the time in ps of a pair's first message handled after the restart, or 0."""
        return min((at for _, at in self.handled[pair] if at > self.back_at), default=0)

    def _pause(self, begin: int, end: int) -> int:
        """Return the longest time in ps between two messages of a pair without the failed host."""
        others = [got for pair, got in self.handled.items() if self.bad not in pair]
        times = [[at for _, at in got if begin <= at <= end] for got in others]
        return max((b - a for of in times for a, b in pairwise(of)), default=0)
