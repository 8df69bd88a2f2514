"""Agents for valid/ready streams of a block bench, and the backends of a PCI core: master port and target memory.

Agents sample the values before a rising edge and drive for the next edge; they are idle while the entity's `rst` is
high. Gaps and stalls are iterators of booleans; True leaves the clock empty. Data are in PCI lanes: byte lane =
address[2:0].
"""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import Event, RisingEdge

from tb.agents.wires import require

Pauses = Iterator[bool]


def never() -> Pauses:
    """Return an endless iterator of False: no gaps."""
    return itertools.repeat(False)


def sometimes(share: float, rng: random.Random) -> Pauses:
    """Yield True with probability `share`, for random gaps."""
    while True:
        yield rng.random() < share


class StreamSource:
    """Source of a stream, fed by a queue of {wire name: value}. Raises MissingWiresError if `dut` lacks a wire."""

    def __init__(self, dut: Any, prefix: str, wires: tuple[str, ...], clock: Any, gaps: Pauses | None = None) -> None:
        self.queue: deque[Mapping[str, int]] = deque()
        self.gaps = gaps or never()
        handles = require(dut, prefix, ("valid", "ready", *wires))
        self._valid, self._ready = handles.pop("valid"), handles.pop("ready")
        self._wires = handles
        self._edge, self._rst = RisingEdge(clock), dut["rst"]
        self.on_taken: Callable[[Mapping[str, int]], None] = lambda beat: None
        self._valid.value = 0
        for wire in self._wires.values():
            wire.value = 0
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        offered: Mapping[str, int] | None = None
        while True:
            await self._edge
            if int(self._rst.value):
                continue
            if offered is not None and int(self._ready.value):
                self.on_taken(offered)
                offered = None
                self._valid.value = 0
            if offered is None and self.queue and not next(self.gaps):
                offered = self.queue.popleft()
                self._valid.value = 1
                for name, wire in self._wires.items():
                    wire.value = offered[name]


class StreamSink:
    """Sink of a stream that calls `taken` with {wire name: value} for each beat.

    Raises:
        MissingWiresError: `dut` lacks a wire.
    """

    def __init__(
        self,
        dut: Any,
        prefix: str,
        wires: tuple[str, ...],
        clock: Any,
        taken: Callable[[dict[str, int]], None],
        stalls: Pauses | None = None,
    ) -> None:
        self.stalls = stalls or never()
        self._taken = taken
        handles = require(dut, prefix, ("valid", "ready", *wires))
        self._valid, self._ready = handles.pop("valid"), handles.pop("ready")
        self._wires = handles
        self._edge, self._rst = RisingEdge(clock), dut["rst"]
        self._ready.value = 1
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        ready = True
        while True:
            await self._edge
            if int(self._rst.value):
                continue
            if ready and int(self._valid.value):
                self._taken({name: int(wire.value) for name, wire in self._wires.items()})
            now = not next(self.stalls)
            if now != ready:
                ready = now
                self._ready.value = int(ready)


class TargetMemory:
    """Backend of a PCI target: a memory on the streams tw, tread and td.

    Args:
        dut: Handle with the wires.
        prefix: Prefix of tw_valid and the other wires ("" or "c0_").
        clock: PCI clock.
        size: Size in bytes; addresses wrap around.
    """

    def __init__(self, dut: Any, prefix: str, clock: Any, size: int = 1 << 16) -> None:
        self.bytes = bytearray(size)
        self.latency: Iterator[int] = itertools.repeat(1)
        """Clocks from each read request to its data, at least 1."""
        self.write_beats: list[tuple[int, int, int]] = []
        """Address, data and byte enables of each write beat."""
        self._writes = StreamSink(dut, f"{prefix}tw", ("addr", "data", "be"), clock, self._write)
        self._reads = StreamSink(dut, f"{prefix}tread", ("addr",), clock, self._read)
        self._due: deque[tuple[int, int]] = deque()
        self._now = 0
        self._valid, self._data = dut[f"{prefix}td_valid"], dut[f"{prefix}td_data"]
        self._edge = RisingEdge(clock)
        self._valid.value = 0
        self._data.value = 0
        cocotb.start_soon(self._answer())

    def stall(self, writes: Pauses, reads: Pauses) -> None:
        """Set the clocks in which the backend is not ready for writes and for reads."""
        self._writes.stalls, self._reads.stalls = writes, reads

    def word(self, address: int) -> int:
        """Return the 8-byte lane group that contains an address."""
        start = address % len(self.bytes) & ~7
        return int.from_bytes(self.bytes[start : start + 8], "little")

    def _write(self, beat: Mapping[str, int]) -> None:
        start = beat["addr"] % len(self.bytes)
        self.write_beats.append((beat["addr"], beat["data"], beat["be"]))
        for lane in range(8):
            if beat["be"] >> lane & 1:
                self.bytes[start + lane] = beat["data"] >> 8 * lane & 0xFF

    def _read(self, beat: Mapping[str, int]) -> None:
        self._due.append((self._now + max(1, next(self.latency)) - 1, self.word(beat["addr"])))

    async def _answer(self) -> None:
        while True:
            await self._edge
            self._now += 1
            if self._due and self._due[0][0] < self._now:
                self._data.value = self._due.popleft()[1]
                self._valid.value = 1
            else:
                self._valid.value = 0


@dataclass
class Command:
    """Command of a master; `error` is valid once `done` is set."""

    write: bool
    address: int
    data: bytes
    """Bytes to write, or the bytes read once the last beat has arrived."""
    count: int
    done: bool = False
    error: bool = False


class MasterPort:
    """Backend of a PCI master: commands in order, data beats by lane group.

    Args:
        dut: Handle with the wires.
        prefix: Prefix of mc_valid and the other wires ("" or "c0_").
        clock: PCI clock.
    """

    def __init__(self, dut: Any, prefix: str, clock: Any) -> None:
        self._commands = StreamSource(dut, f"{prefix}mc", ("write", "addr", "bytes"), clock)
        self._beats = StreamSource(dut, f"{prefix}mw", ("data",), clock)
        self._answers = StreamSink(dut, f"{prefix}mr", ("data",), clock, self._arrived)
        self._open: deque[Command] = deque()
        self._reads: deque[Command] = deque()
        self._arriving = bytearray()
        self._wake = Event()
        self._done, self._error = dut[f"{prefix}m_done"], dut[f"{prefix}m_error"]
        self._edge, self._rst = RisingEdge(clock), dut["rst"]
        cocotb.start_soon(self._watch())

    def pace(self, commands: Pauses, writes: Pauses, reads: Pauses) -> None:
        """Set the gaps before commands and write beats, and the stalls of read beats."""
        self._commands.gaps, self._beats.gaps, self._answers.stalls = commands, writes, reads

    def write(self, address: int, data: bytes) -> Command:
        """Queue a write."""
        lead = address & 7
        padded = bytes(lead) + data + bytes(-(lead + len(data)) % 8)
        for at in range(0, len(padded), 8):
            self._beats.queue.append({"data": int.from_bytes(padded[at : at + 8], "little")})
        return self._submit(Command(True, address, data, len(data)))

    def read(self, address: int, count: int) -> Command:
        """Queue a read."""
        command = Command(False, address, b"", count)
        self._reads.append(command)
        return self._submit(command)

    async def drain(self) -> None:
        """Wait until every command is done and all read data have arrived."""
        while self._open or self._reads:
            self._wake.clear()
            await self._wake.wait()
            while self._reads and not self._open:
                await self._edge

    def _submit(self, command: Command) -> Command:
        self._open.append(command)
        self._commands.queue.append({"write": int(command.write), "addr": command.address, "bytes": command.count})
        return command

    def _arrived(self, beat: Mapping[str, int]) -> None:
        self._arriving += beat["data"].to_bytes(8, "little")
        command = self._reads[0]
        lead = command.address & 7
        if len(self._arriving) >= lead + command.count:
            command.data = bytes(self._arriving[lead : lead + command.count])
            self._arriving.clear()
            self._reads.popleft()

    async def _watch(self) -> None:
        while True:
            await self._edge
            if not int(self._rst.value) and int(self._done.value):
                command = self._open.popleft()
                command.done, command.error = True, bool(int(self._error.value))
                self._wake.set()
