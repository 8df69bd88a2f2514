"""What does an end-to-end limit of outstanding messages cost a sender, and what burst does a NI take without one?

Strategy: one host sends a burst of null messages to another, which returns each. A reply is a credit: with a limit, a
layer on top of GRIM allows that many outstanding messages, and then polls until a reply frees one (readings B12).
Without a limit, only the room in the NI's queue bounds a burst; three hosts have queues of three sizes. A burst is the
beginning of a longer one, so the calls of one burst give all lengths: overhead is their time over their number, the
marginal overhead of a burst of n the time of the call after it. The plateau is that of a short burst, the knee the
shortest burst whose marginal overhead exceeds 1.5 plateaus. Replies and ACKs arrive during the burst, so the knee is
not at the bound but at bound / (1 - rho). Here rho is the rate at which the bound is relieved over the rate of
injection. The first rate is one over the overhead at the end of the burst, the second one over the plateau.

With `burst`, Figure 4.6 is run in full: bursts up to that length with each limit and without. The bursts without a
limit run on a fourth host whose queue has `queue_bytes`, so that its knee is measured and not computed.
"""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import Any

from firmware.grim.formats import HEADER_BYTES
from firmware.grim.nic.layout import ROUTE_BYTES
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import bring_up

LAYER = "grim"
CLUSTER = "eight_hosts"
NULL = ROUTE_BYTES + HEADER_BYTES
"""Bytes of a null message in a queue."""
KNEE = 1.5
"""Marginal overhead at the knee in plateaus."""
SIZES = (2, 3, 4)
"""Queue sizes of hosts 1, 2 and 3, in units of the option `queue`."""
CALLS = 9
"""Number of calls over which the marginal overhead without a limit is averaged: a call that waits for room gets room
for several.
"""
OPTIONS = {
    "limits": Option(4, "number of limits of outstanding messages: 4, 8, 16, ...", 1, 6),
    "queue": Option(2048, "bytes of the unit of the queues without a limit", 1024, 65536, unit="bytes"),
    "queue_bytes": Option(
        184_000, "bytes of the queue with the knee of Figure 4.6 (calibrated to it)", 4096, 1 << 23, unit="bytes"
    ),
    "burst": Option(
        0, "longest burst for the whole of Figure 4.6, which has 10000; 0 for short bursts and the law", 0, 100_000
    ),
}
VARIANTS = {"figure_4_6": ("", "limits=3 burst=10000"), "figure_4_6-lanai4": ("lanai4", "limits=3 burst=10000")}
"""Figure 4.6 on both NICs, because the paper does not name the NIC."""


async def run(lab: Lab) -> None:
    """Run the study."""
    unit, full = lab.option("queue"), lab.option("burst")
    queues = {vnn: size * unit for vnn, size in enumerate(SIZES, 1)}
    if full:
        queues[len(SIZES) + 1] = lab.option("queue_bytes")
    of_host = {vnn: {"queue_bytes": queue} for vnn, queue in queues.items()}
    common = {"segment_bytes": 64, "host_queue_bytes": 1 << 16}
    echo = _Echo(lab, lab.start_layer(LAYER, common, of_host))
    await echo.enable()
    limits = [4 << i for i in range(lab.option("limits"))]
    total = len(limits) + len(queues)
    for done, limit in enumerate(limits, 1):
        _with_limit(lab, limit, await echo.burst(0, max(4 * limit, full), limit))
        lab.progress(done, total, "bursts")
    knees = []
    for done, (vnn, queue) in enumerate(queues.items(), len(limits) + 1):
        room = _room(queue)
        ends = await echo.burst(vnn, max(room * 8 // 5, full if vnn > len(SIZES) else 0), 0)
        knees.append(_without_limit(lab, queue, room, ends))
        lab.progress(done, total, "bursts")
    _law(lab, knees[: len(SIZES)])
    if full:
        lab.metric("unbounded_knee_messages", knees[-1][0])


def _room(queue: int) -> int:
    """Return the number of null messages that a queue of `queue` bytes holds."""
    return -(-(queue - NULL - 64) // NULL)


def _without_limit(lab: Lab, queue: int, room: int, ends: list[int]) -> tuple[int, float, float]:
    """Record the curve of one queue; return its knee, the knee by the law, and rho."""
    knee, rho = _knee(ends, len(ends) // 4, CALLS)
    law = room / (1 - rho)
    lab.metric(f"knee_messages_unbounded_{queue}B", knee)
    lab.metric(f"knee_law_messages_{queue}B", law)
    _curve(lab, f"overhead_unbounded_{queue}B", ends)
    return knee, law, rho


def _law(lab: Lab, knees: list[tuple[int, float, float]]) -> None:
    """Record the error of the law, and its knee for the queue of Figure 4.6."""
    worst = max(abs(knee - law) / law for knee, law, _ in knees)
    rho, queue = statistics.median(rho for _, _, rho in knees), lab.option("queue_bytes")
    lab.metric("rho", rho)
    lab.metric("knee_law_worst_error", worst)
    lab.metric("knee_by_law_messages", queue / NULL / (1 - rho))
    lab.check(
        "knees without a limit",
        worst <= 0.1,
        f"knees without a limit deviate by up to {worst:.1%} from queue / (1 - rho)",
    )


def _with_limit(lab: Lab, limit: int, ends: list[int]) -> None:
    knee, rho = _knee(ends, limit, 1)
    lab.metric(f"knee_messages_{limit}", knee)
    lab.metric(f"rho_{limit}", rho)
    lab.metric(f"plateau_us_{limit}", _overheads(ends)[limit - 1])
    lab.metric(f"steady_us_{limit}", _steady(ends) / 1e6)
    _curve(lab, f"overhead_{limit}", ends)
    fits = limit <= knee <= limit / (1 - rho)
    lab.check(
        f"knee at limit {limit}",
        fits,
        f"the knee is at {knee}, not between {limit} and {limit / (1 - rho):.1f}",
    )


def _overheads(ends: list[int]) -> list[float]:
    """Return the mean overhead of a message in us, by length of the burst from 1 on; `ends` are the ends of the calls
    in ps.
    """
    return [(end - ends[0]) / number / 1e6 for number, end in enumerate(ends[1:], 1)]


def _steady(ends: list[int]) -> float:
    """Return the marginal overhead at the end of the burst in ps: the mean of its last quarter."""
    quarter = len(ends) // 4
    return (ends[-1] - ends[-1 - quarter]) / quarter


def _knee(ends: list[int], short: int, calls: int) -> tuple[int, float]:
    """Return the knee and rho.

    Args:
        ends: End of each call in ps.
        short: Number of calls of a burst below the bound.
        calls: Number of calls over which the marginal overhead is averaged.
    """
    marginal = [after - before for before, after in pairwise(ends)]
    plateau = statistics.median(marginal[:short])
    slow = [statistics.fmean(marginal[n : n + calls]) > KNEE * plateau for n in range(len(marginal) - calls + 1)]
    knee = slow.index(True) + calls - 1 if True in slow else len(marginal)
    return knee, plateau / _steady(ends)


def _curve(lab: Lab, name: str, ends: list[int]) -> None:
    """Record overhead over the length of the burst, at about thirty lengths."""
    overheads = _overheads(ends)
    lengths = sorted({round(len(overheads) ** (i / 30)) for i in range(31)})
    lab.series(name, lengths, [overheads[length - 1] for length in lengths], "messages", "us")


class _Echo:
    """Host 0 and its echo, host 1; then hosts 1, 2, 3 and their echo, host 0."""

    def __init__(self, lab: Lab, libraries: list[Any]) -> None:
        self.lab, self.libraries = lab, libraries
        self.out = 0
        self.stopped = 0

    async def enable(self) -> None:
        """Start all libraries, with handlers for echoes, credits and the end."""
        own = [
            {f"echo{vnn}": self._echo(library), "credit": self._on_credit, "stop": self._on_stop}
            for vnn, library in enumerate(self.libraries)
        ]
        await bring_up(self.lab, self.libraries, own)

    def _echo(self, library: Any) -> Any:
        async def echo(source: int, credit: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            await library.send(source, credit)

        return echo

    def _on_credit(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.out -= 1

    def _on_stop(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.stopped += 1

    async def burst(self, vnn: int, messages: int, limit: int) -> list[int]:
        """Send a burst of one host; return its start and the end of each call in ps. A `limit` of 0 means none."""
        near, peer = self.libraries[vnn], int(vnn == 0)
        far = self.libraries[peer]
        echo, credit = await near.resolve_handler(f"echo{peer}"), await near.resolve_handler("credit")
        where, stop = near.get_dest_id(peer), await near.resolve_handler("stop")
        before = self.stopped
        serving = self.lab.spawn(far.wait_for(lambda: self.stopped > before), "the echo")
        ends = [self.lab.kernel.now]
        for _ in range(messages):
            if limit and self.out >= limit:
                await near.wait_for(lambda: self.out < limit)
            self.out += 1
            await near.send(where, echo, credit)
            ends.append(self.lab.kernel.now)
        await near.wait_for(lambda: not self.out)
        self.lab.findings.messages += 2 * messages
        await near.send(where, stop)
        await self.lab.all([serving])
        return ends
