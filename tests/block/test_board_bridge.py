"""Bridge from the bytes of a serial line to the board's bus.

Strategy: commands are made by `pymodels.board.bone` and sent byte by byte with gaps, while a model of the bus answers
after random times. Accesses and replies must equal those of a dictionary. Lost bytes are left out of commands: after
the time-out the next command must be executed. A pause just below the time-out must change nothing. Both checks must
equal those that `Checks` computes.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from pymodels.board.bone import CHECK_COMMAND, Checks, read_command, write_command
from tests.block.cases import some

TIMEOUT = 60
BUFFER = 16


class Bench:
    """Host, bus and their model around a bridge."""

    def __init__(self, dut: Any, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.edge = RisingEdge(dut.clk)
        self.memory: dict[int, int] = {}
        self.writes: list[tuple[int, int]] = []
        self.replies = bytearray()
        self.overruns = self.timeouts = 0
        self.slowest = 4

    async def begin(self) -> None:
        dut = self.dut
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
        for name in ("in_valid", "in_data", "out_ready", "bus_ready", "bus_rdata", "restart"):
            dut[name].value = 0
        dut.rst.value = 1
        await ClockCycles(dut.clk, 3)
        dut.rst.value = 0
        await self.edge
        cocotb.start_soon(self._bus())
        cocotb.start_soon(self._line())

    async def _bus(self) -> None:
        dut = self.dut
        while True:
            await self.edge
            if not int(dut.bus_valid.value) or int(dut.bus_ready.value):
                continue
            for _ in range(self.rng.randrange(self.slowest)):
                await self.edge
            address, data = int(dut.bus_addr.value), int(dut.bus_wdata.value)
            if int(dut.bus_write.value):
                self.memory[address] = data
                self.writes.append((address, data))
            dut.bus_rdata.value, dut.bus_ready.value = self.memory.get(address, 0), 1
            await self.edge
            dut.bus_ready.value = 0

    async def _line(self) -> None:
        dut = self.dut
        while True:
            dut.out_ready.value = int(self.rng.random() < 0.5)
            await self.edge
            if int(dut.out_valid.value) and int(dut.out_ready.value):
                self.replies.append(int(dut.out_data.value))
            self.overruns += int(dut.ev_overrun.value)
            self.timeouts += int(dut.ev_timeout.value)

    async def send(self, data: bytes, gap: int = 8) -> None:
        """Send bytes, up to `gap` clocks apart."""
        for byte in data:
            self.dut.in_valid.value, self.dut.in_data.value = 1, byte
            await self.edge
            self.dut.in_valid.value = 0
            await ClockCycles(self.dut.clk, 1 + self.rng.randrange(gap))

    async def read(self, address: int, count: int) -> bytes:
        """Send a read and return its reply."""
        self.replies.clear()
        await self.send(read_command(address, count))
        for _ in range(400 * count):
            if len(self.replies) == 4 * count:
                break
            await self.edge
        await ClockCycles(self.dut.clk, 8)
        return bytes(self.replies)


async def started(dut: Any) -> Bench:
    bench = Bench(dut, random.Random(cocotb.RANDOM_SEED))
    await bench.begin()
    return bench


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def words_are_written_and_read_in_order(dut: Any) -> None:
    bench = await started(dut)
    rng = bench.rng
    expected: dict[int, int] = {}
    for _ in some(range(45)):
        address, count = 4 * rng.randrange(1 << 20), rng.choice([1, 2, 3, 17])
        if rng.random() < 0.6:
            words = [rng.getrandbits(32) for _ in range(count)]
            await bench.send(write_command(address, words))
            await ClockCycles(dut.clk, 10)
            expected |= {address + 4 * i: word for i, word in enumerate(words)}
        else:
            reply = await bench.read(address, count)
            assert reply == b"".join(expected.get(address + 4 * i, 0).to_bytes(4, "big") for i in range(count))
    assert bench.memory == expected
    assert bench.overruns == bench.timeouts == 0


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def bytes_between_commands_and_commands_of_no_words_are_ignored(dut: Any) -> None:
    bench = await started(dut)
    await bench.send(b"\x00\xff\x03\x80" + b"\x01\x00\x00\x00\x00\x10" + b"\x02\x00\x00\x00\x00\x10")
    await bench.send(write_command(0x40, [7]))
    await ClockCycles(dut.clk, 10)
    assert bench.writes == [(0x40, 7)]
    assert not bench.replies


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(kept=[1, 2, 5, 6, 9])
async def a_command_with_lost_bytes_is_dropped_after_the_timeout(dut: Any, kept: int) -> None:
    bench = await started(dut)
    await bench.send(write_command(0x80, [0x11223344])[:kept])
    await ClockCycles(dut.clk, TIMEOUT + 10)
    assert bench.timeouts == 1
    await bench.send(write_command(0x84, [5]))
    assert await bench.read(0x84, 1) == b"\0\0\0\5"
    assert bench.writes == [(0x84, 5)], "nothing of the dropped command is executed"


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_pause_below_the_timeout_changes_nothing(dut: Any) -> None:
    bench = await started(dut)
    for byte in write_command(0x90, [0xCAFE]):
        await bench.send(bytes([byte]), gap=1)
        await ClockCycles(dut.clk, TIMEOUT - 5)
    assert bench.writes == [(0x90, 0xCAFE)]
    assert bench.timeouts == 0


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def bytes_wait_during_an_access_and_too_many_are_reported(dut: Any) -> None:
    bench = await started(dut)
    bench.slowest = 1
    dut.bus_ready.value = 0
    await bench.send(write_command(0x10, [1]) + write_command(0x14, [2]), gap=1)
    await ClockCycles(dut.clk, 20)
    assert bench.writes == [(0x10, 1), (0x14, 2)] and bench.overruns == 0
    # A reply that is not taken: what follows fills the buffer.
    await bench.send(read_command(0x10, 4), gap=1)
    for _ in range(3 * BUFFER):
        dut.in_valid.value, dut.in_data.value = 1, 0
        await bench.edge
    dut.in_valid.value = 0
    await ClockCycles(dut.clk, 4)
    assert bench.overruns > 0


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def both_checks_are_those_of_the_host(dut: Any) -> None:
    bench, host = await started(dut), Checks()
    previous = 0
    for _ in range(4):
        data = write_command(0x100, [bench.rng.getrandbits(32)]) + b"\x77"
        await bench.send(data)
        host.send(data)
        host.send(read_command(0x100, 2))
        host.receive(await bench.read(0x100, 2))
        await bench.send(CHECK_COMMAND[:0])
        line, reply = int(dut.line_check.value), host.received
        assert line == host.sent
        dut.restart.value = 1
        await bench.edge
        dut.restart.value = 0
        await bench.edge
        assert int(dut.reply_check.value) == reply != previous
        previous = reply
        host.sent = host.received = 0
