"""Agents for the ports of the host bridge other than the PCI bus: CPU and host memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import cocotb
from cocotb.triggers import Event, RisingEdge
from cocotb.utils import get_sim_time

from tb.agents.streams import StreamSource


class CpuPort:
    """Driver of the bridge's CPU port: stores, loads, fences and configuration cycles, in order.

    Args:
        dut: Handle with the wires cpu_*.
        clock: PCI clock.
        period_ns: Clock period in ns.
    """

    def __init__(self, dut: Any, clock: Any, period_ns: int = 10) -> None:
        wires = ("write", "addr", "data", "be", "wc", "fence", "config")
        self.source = StreamSource(dut, "cpu", wires, clock)
        self.source.on_taken = self._taken
        self.taken: list[int] = []
        """Clock edges at which the bridge accepted the accesses, in order."""
        self.answered: list[int] = []
        """Clock edges at which loads returned data, in order."""
        self._period = period_ns
        self._given = 0
        self._answers: deque[int] = deque()
        self._wake = Event()
        self._valid, self._data = dut["cpu_rvalid"], dut["cpu_rdata"]
        self._edge, self._rst = RisingEdge(clock), dut["rst"]
        cocotb.start_soon(self._watch())

    @property
    def now(self) -> int:
        """Index of the present clock edge."""
        return round(get_sim_time("ns") / self._period)

    def store(self, address: int, data: bytes, wc: bool = False, config: bool = False) -> None:
        """Queue a store of any length, one access for each 8-byte lane group."""
        at = 0
        while at < len(data):
            lane = address + at & 7
            part = data[at : at + 8 - lane]
            word = int.from_bytes(part, "little") << 8 * lane
            self._give(1, address + at, word, (1 << len(part)) - 1 << lane, wc=int(wc), config=int(config))
            at += len(part)

    def fence(self) -> None:
        """Queue a fence."""
        self._give(0, 0, 0, 0, fence=1)

    async def load(self, address: int, count: int, config: bool = False) -> bytes:
        """Load 1 to 8 bytes of one 8-byte lane group."""
        lane = address & 7
        self._give(0, address, 0, (1 << count) - 1 << lane, config=int(config))
        while not self._answers:
            self._wake.clear()
            await self._wake.wait()
        return self._answers.popleft().to_bytes(8, "little")[lane : lane + count]

    async def all_taken(self) -> None:
        """Wait until the bridge has accepted every queued access."""
        while len(self.taken) < self._given:
            await self._edge

    def _give(self, write: int, address: int, data: int, be: int, wc: int = 0, fence: int = 0, config: int = 0) -> None:
        self._given += 1
        access = {"write": write, "addr": address & ~7, "data": data, "be": be, "wc": wc, "fence": fence}
        self.source.queue.append({**access, "config": config})

    def _taken(self, access: Mapping[str, int]) -> None:
        self.taken.append(self.now)

    async def _watch(self) -> None:
        while True:
            await self._edge
            if not int(self._rst.value) and int(self._valid.value):
                self.answered.append(self.now)
                self._answers.append(int(self._data.value))
                self._wake.set()


class HostMemory:
    """Host memory behind the bridge: one access a clock, read data in the next clock.

    Args:
        dut: Handle with the wires mem_*.
        clock: PCI clock.
        size: Size in bytes; an access at a higher address fails the test.
    """

    def __init__(self, dut: Any, clock: Any, size: int = 1 << 16) -> None:
        self.bytes = bytearray(size)
        self.writes: list[tuple[int, int]] = []
        """Address and byte enables of each write, in order."""
        names = ("valid", "write", "addr", "wdata", "be", "rdata")
        self._pins = {name: dut[f"mem_{name}"] for name in names}
        self._edge, self._rst = RisingEdge(clock), dut["rst"]
        self._pins["rdata"].value = 0
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        pins = self._pins
        while True:
            await self._edge
            if int(self._rst.value) or not int(pins["valid"].value):
                continue
            address = int(pins["addr"].value)
            assert address % 8 == 0 and address < len(self.bytes), f"invalid host memory access at {address:#x}"
            if int(pins["write"].value):
                self._write(address, int(pins["wdata"].value), int(pins["be"].value))
            else:
                pins["rdata"].value = int.from_bytes(self.bytes[address : address + 8], "little")

    def _write(self, address: int, data: int, be: int) -> None:
        self.writes.append((address, be))
        for lane in range(8):
            if be >> lane & 1:
                self.bytes[address + lane] = data >> 8 * lane & 0xFF
