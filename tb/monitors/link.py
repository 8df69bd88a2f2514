"""Monitor of a link port of a running cluster: decodes the packets that arrive and checks the flow control."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from pymodels.link.rules import LinkPacket, LinkRules
from tb.monitors.sampled import Lanes, SampledMonitor, Times, Words
from tb.monitors.samples import SampleStore

CHARACTER = 9
"""Bits of a character; control characters that leave are above those that arrive (hdl/sim/cluster/sim_node.sv)."""


class LinkPortMonitor(SampledMonitor[LinkPacket]):
    """Monitor of the packets that arrive at a port of a host or switch. Clocks are characters from time 0."""

    def __init__(self, name: str, unit: int, period: int, store: SampleStore, head_room: int) -> None:
        """Create the monitor; at most `head_room` characters may arrive while the port's STOP is in force."""
        super().__init__(name, unit, period, store)
        self._rules = LinkRules(head_room, self._violated)

    def row(self, transaction: LinkPacket) -> dict[str, Any]:
        """Return the cells of a packet."""
        packet = transaction
        return {
            "start_ps": packet.start * self.period,
            "end_ps": packet.end * self.period,
            "bytes": len(packet.wire),
            "data": packet.wire,
            "wait_clocks": packet.idle,
            "route": packet.wire[: packet.route_bytes],
            "type": packet.kind,
            "crc_good": not packet.syndrome,
            "gap_clocks": packet.gap if packet.gap >= 0 else None,
            "stop_clocks": packet.stopped,
        }

    def end(self, edge: int) -> None:
        """Report a packet that has not ended at the end of the run."""
        self._rules.end(edge)

    def _decode(self, times: Times, low: Words, high: Words, lanes: Lanes) -> None:
        """Decode samples; bytes that arrive while nothing leaves, which most samples are, all at once."""
        edges, bytes_alone = times // self.period, (low >> np.uint64(8)) == 1
        bounds = [0, *(np.flatnonzero(np.diff(bytes_alone)) + 1).tolist(), len(times)]
        for begin, end in itertools.pairwise(bounds):
            if not bytes_alone[begin]:
                super()._decode(times[begin:end], low[begin:end], high[begin:end], lanes[begin:end])
                continue
            self._until(int(edges[begin]))
            counts = np.diff(edges[begin : end + 1], append=edges[end - 1] + 1)[: end - begin]
            data = np.repeat(low[begin:end].astype(np.uint8), counts).tobytes()
            self._rules.data(int(edges[begin]), data)
            self._wires, self._edge = (int(low[end - 1]), 0), int(edges[begin]) + len(data)

    def _clock(self, low: int, high: int, edge: int, count: int) -> None:
        rx, tx = low & (1 << CHARACTER) - 1, low >> CHARACTER
        if not rx and not tx:
            return
        step = self._rules.step
        for clock in range(edge, edge + count):
            if done := step(clock, rx, tx):
                self._finished(done)
