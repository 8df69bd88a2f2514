"""Monitor of the SRAM of a NIC: decodes the accesses of its ports and checks its arbiter."""

from __future__ import annotations

from typing import Any

from pymodels.hardware.sram import PortAccess, SramAccess, SramPorts, SramRules, SramSample
from tb.monitors.sampled import Lanes, SampledMonitor, Times, Words
from tb.monitors.samples import SampleStore

CONTROL, WRITTEN, RECEIVED, READ = range(4)
"""Lanes (hdl/sim/cluster/sim_sram_monitor.sv): control, and the two data words of writes, requesters and memory."""
WORD, ENABLES, PORT = 21, 8, 31
"""Bits of a word's address, in units of 4 bytes, of its byte enables, and of a port in the lower control word."""
SET = 8
"""Bits of a set of requesters in the upper control word: requests, granted on port a, on port b, valid data."""


def sets_of(high: int) -> tuple[int, int, int, int]:
    """Return the sets of requesters in the upper control word: requests, granted on a, granted on b, valid."""
    mask = (1 << SET) - 1
    return high & mask, high >> SET & mask, high >> 2 * SET & mask, high >> 3 * SET & mask


def port_of(low: int, port: int, data: int) -> PortAccess | None:
    """Return the access of a port in the lower control word; None without one."""
    wires = low >> PORT * port
    if not wires & 1:
        return None
    address = (wires >> 2 & (1 << WORD) - 1) << 2
    return PortAccess(bool(wires & 2), address, wires >> 2 + WORD & (1 << ENABLES) - 1, data)


class SramMonitor(SampledMonitor[SramAccess]):
    """Monitor of the SRAM of a NIC. Clocks are those of the NIC, counted from time 0."""

    def __init__(
        self,
        name: str,
        unit: int,
        period: int,
        store: SampleStore,
        ports: SramPorts,
        accesses: int,
        width: int,
        exact: bool,
    ) -> None:
        """Create the monitor of an SRAM with words of `width` bits.

        Args:
            name: Name of the place, such as `paris.sram`.
            unit: Unit number of its samples.
            period: Period of the NIC clock in ps.
            store: Store of the samples.
            ports: Requesters of the SRAM.
            accesses: Maximum number of accesses in a clock.
            width: Bits of a word.
            exact: True if memory changes only by accesses of the ports (`SramRules`).
        """
        super().__init__(name, unit, period, store)
        self._rules = SramRules(ports, accesses, width, exact, self._violated)
        self._lanes: list[tuple[int, int]] = [(0, 0)] * 4

    def row(self, transaction: SramAccess) -> dict[str, Any]:
        """Return the cells of an access."""
        one = transaction
        data = one.enabled
        return {
            "start_ps": one.start * self.period,
            "end_ps": one.end * self.period,
            "command": "write" if one.write else "read",
            "port": one.port,
            "requester": one.requester,
            "address": one.address,
            "bytes": len(data),
            "data": data,
            "enables": one.enables,
            "wait_clocks": one.waits,
            "conflict": one.conflict,
        }

    def _decode(self, times: Times, low: Words, high: Words, lanes: Lanes) -> None:
        """Decode samples; lanes that change at one clock edge belong together."""
        period, clock = self.period, -1
        for time, first, second, lane in zip(times.tolist(), low.tolist(), high.tolist(), lanes.tolist(), strict=True):
            edge = time // period
            if edge != clock:
                if clock >= 0:
                    self._next(clock)
                clock = edge
                self._until(edge)
            self._lanes[lane] = first, second
        if clock >= 0:
            self._next(clock)

    def _next(self, edge: int) -> None:
        """Decode a clock edge with the wires of all lanes, which hold until the next sample."""
        self._clock(*self._lanes[CONTROL], edge, 1)
        self._wires, self._edge = self._lanes[CONTROL], edge + 1

    def _clock(self, low: int, high: int, edge: int, count: int) -> None:
        if not (low | high) and self._rules.idle:
            return
        requests, on_a, on_b, valid = sets_of(high)
        written = self._lanes[WRITTEN]
        ports = port_of(low, 0, written[0]), port_of(low, 1, written[1])
        sample = SramSample(ports, requests, (on_a, on_b), valid, self._lanes[RECEIVED], self._lanes[READ])
        for clock in range(edge, edge + count):
            for done in self._rules.step(clock, sample):
                self._finished(done)
