"""Configuration port of the FPGA card alone: words in, changes of slots out.

Strategy: random images come behind commands: good, damaged, truncated and made for another place. Their beats are those
of the target or of the DMA, of one or two words, with gaps. The test makes the changes of slots that the port requests,
some clocks later. Outcome, bytes and slots must be those of the reference model (`pymodels.card.image.judge`), whatever
was loaded. A byte must take the clocks that it is set to. Words of the target wait while the DMA has a transfer.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

from pymodels.card.fabric import EXAMPLE, identity, images
from pymodels.card.image import build, judge
from pymodels.card.registers import CONFIG_PIECE, SLOTS, Configure, Load
from tests.block.cases import some

CLOCK_NS = 30
DEPTH = 64
"""Words that the port buffers."""


class PortBench:
    """Port out of reset, with its surroundings."""

    def __init__(self, dut: Any, wait: int) -> None:
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        for name in (
            "c_valid",
            "c_data",
            "tw_valid",
            "tw_data",
            "tw_be",
            "dma",
            "dw_valid",
            "dw_data",
            "dw_be",
            "told",
        ):
            dut[name].value = 0
        dut.tell_ready.value = 0
        dut.cfg_wait.value, dut.identity.value, dut.files.value = wait, identity(EXAMPLE), len(images(EXAMPLE))
        dut.rst.value = 1
        Clock(dut.clk, CLOCK_NS, unit="ns", impl="gpi").start(start_high=False)
        self.slots = [0] * SLOTS
        self.configured = False
        self.changes = 0

    async def start(self) -> None:
        """Release reset, and answer the changes of slots from now on."""
        for _ in range(3):
            await FallingEdge(self.dut.clk)
        self.dut.rst.value = 0
        cocotb.start_soon(self._change())

    async def _change(self) -> None:
        """Make the changes of slots that the port requests."""
        dut = self.dut
        while True:
            await FallingEdge(dut.clk)
            dut.told.value = 0
            if not int(dut.tell_valid.value):
                continue
            for _ in range(self.rng.choice((0, 3))):
                await FallingEdge(dut.clk)
            change = int(dut.tell.value)
            device, slots, image = change >> 12, change >> 8 & 0xF, change & 0xFF
            dut.tell_ready.value = 1
            await FallingEdge(dut.clk)
            dut.tell_ready.value = 0
            for _ in range(self.rng.choice((1, 40))):
                await FallingEdge(dut.clk)
            self.slots = [image if slots >> slot & 1 else old for slot, old in enumerate(self.slots)]
            if device:
                self.configured = image != 0
            self.changes += 1
            dut.told.value = 1

    async def command(self, command: Configure) -> None:
        """Write a command."""
        self.dut.c_valid.value, self.dut.c_data.value = 1, int(command)
        await self._taken(self.dut.c_ready)
        self.dut.c_valid.value = 0

    async def _taken(self, ready: Any) -> None:
        """Wait for the edge that accepts what is offered."""
        while True:
            await RisingEdge(self.dut.clk)
            accepted = int(ready.value)
            await FallingEdge(self.dut.clk)
            if accepted:
                return

    async def beats(self, data: bytes, dma: bool, gaps: bool) -> None:
        """Write the words of a file, as the target or as the DMA."""
        dut, at = self.dut, 0
        kind = "dw" if dma else "tw"
        dut.dma.value = int(dma)
        while at < len(data):
            high = at % 8 == 4
            size = 4 if high else min(len(data) - at, 4 if not dma and self.rng.random() < 0.3 else 8)
            lanes = (bytes(4) if high else b"") + data[at : at + size]
            dut[f"{kind}_data"].value = int.from_bytes(lanes, "little")
            dut[f"{kind}_be"].value = (1 << len(lanes)) - 1 & ~(0xF if high else 0)
            dut[f"{kind}_valid"].value = 1
            await self._taken(dut[f"{kind}_ready"])
            dut[f"{kind}_valid"].value = 0
            at += size
            while gaps and self.rng.random() < 0.3:
                await FallingEdge(dut.clk)
        dut.dma.value = 0

    async def load(self, data: bytes, dma: bool = False, gaps: bool = False) -> Load:
        """Load a file, and return the outcome when the port is at rest."""
        data += bytes(-len(data) % 4)
        await self.command(Configure.START)
        await self.beats(data, dma, gaps)
        await self.command(Configure.END)
        return await self.outcome()

    async def outcome(self) -> Load:
        """Return the outcome when the port is at rest."""
        while int(self.dut.loading.value):
            await FallingEdge(self.dut.clk)
        return Load(int(self.dut.outcome.value))


def drawn(rng: random.Random) -> bytes:
    """Return an image, good or bad in one of many ways."""
    name = rng.choice(images(EXAMPLE))
    slot = rng.choice([None, None, *(one.slot for one in EXAMPLE if one.image == name)])
    good = build(EXAMPLE, name, slot, rng.choice((8, 64, 400)))
    data = good.pack()
    changed: dict[str, Any] = rng.choice(
        [
            {}, {}, {"version": 2}, {"part": 0}, {"identity": 1}, {"number": 0}, {"number": 3}, {"slot": 4},
            {"frames": b""}, {"frames": b"12345"}, {"magic": 7},
        ]
    )  # fmt: skip
    if changed:
        return replace(good, **changed).pack()
    kind = rng.choice(("good", "good", "flipped", "cut", "long", "noise"))
    if kind == "flipped":
        bit = rng.randrange(8 * len(data))
        return (int.from_bytes(data, "big") ^ 1 << bit).to_bytes(len(data), "big")
    if kind == "cut":
        return data[: rng.randrange(0, len(data))]
    if kind == "long":
        return data + rng.randbytes(rng.choice((1, 8, 300)))
    return data if kind == "good" else rng.randbytes(rng.choice((4, 100)))


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(wait=some([0, 1, 5]), dma=[False, True])
async def every_image_has_the_outcome_bytes_and_slots_of_the_model(dut: Any, wait: int, dma: bool) -> None:
    bench = PortBench(dut, wait)
    await bench.start()
    slots, configured = [0] * SLOTS, False
    seen = set()
    for number in range(60):
        data = build(EXAMPLE, "filters.bit", None, 16).pack() if number == 20 else drawn(bench.rng)
        padded = data + bytes(-len(data) % 4)
        verdict = judge(data, EXAMPLE, configured)
        assert await bench.load(data, dma, gaps=bench.rng.random() < 0.5) == verdict.outcome
        assert int(dut.bytes.value) == verdict.taken <= max(len(padded), 0)
        for slot in verdict.emptied:
            slots[slot] = 0
        for slot in verdict.loaded:
            slots[slot] = verdict.number
        if len(verdict.emptied) == SLOTS:
            configured = verdict.outcome == Load.DONE
        assert (bench.slots, bench.configured) == (slots, configured)
        seen.add(verdict.outcome)
        if bench.rng.random() < 0.1:
            await bench.command(Configure.CLEAR)
            assert await bench.outcome() == Load.NONE
            slots, configured = [0] * SLOTS, False
    assert len(seen) >= 6, f"too few kinds of outcomes: {seen}"


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(wait=[0, 3])
async def a_byte_takes_the_clocks_that_it_is_set_to(dut: Any, wait: int) -> None:
    bench = PortBench(dut, wait)
    await bench.start()
    data = build(EXAMPLE, "filters.bit", None, 2000).pack()
    await bench.command(Configure.START)
    begun = cocotb.utils.get_sim_time("ns")
    await bench.beats(data, True, False)
    assert await bench.outcome() == Load.DONE
    clocks = (cocotb.utils.get_sim_time("ns") - begun) / CLOCK_NS
    least = len(data) * (1 + wait)
    assert least <= clocks <= least + 2 * 50, "the bytes, and two changes of slots"


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_new_start_drops_an_image_and_an_unknown_command_does_nothing(dut: Any) -> None:
    bench = PortBench(dut, 0)
    await bench.start()
    whole, partial = (build(EXAMPLE, "filters.bit", slot, 80).pack() for slot in (None, 1))
    assert await bench.load(whole) == Load.DONE
    await bench.command(Configure.START)
    await bench.beats(partial[:60], False, False)
    assert await bench.load(whole) == Load.DONE
    await bench.command(Configure.START)
    await bench.beats(partial[:40], False, False)
    for unknown in (0, 4, 1 << 31 | 1):
        bench.dut.c_valid.value, bench.dut.c_data.value = 1, unknown
        await bench._taken(bench.dut.c_ready)
        bench.dut.c_valid.value = 0
    await bench.beats(partial[40:], False, False)
    assert await bench.outcome() == Load.DONE
    await bench.command(Configure.END)
    assert await bench.outcome() == Load.DONE, "an END behind a complete image"
    assert bench.changes == 2 + 1 + 2 + 2


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def words_wait_while_the_buffer_is_full_and_room_is_told_in_time(dut: Any) -> None:
    bench = PortBench(dut, 255)
    await bench.start()
    await bench.command(Configure.START)
    words = 0
    dut.tw_valid.value, dut.tw_be.value = 1, 0x0F
    await RisingEdge(dut.clk)
    while int(dut.tw_ready.value):
        assert int(dut.room.value) == (words <= DEPTH - CONFIG_PIECE // 4)
        words += 1
        await RisingEdge(dut.clk)
    assert words == DEPTH, "the command has left the buffer, the first word is in its first byte"
    dut.tw_valid.value = 0
    dut.dma.value = dut.c_valid.value = dut.tw_valid.value = 1
    for _ in range(3000):
        await FallingEdge(dut.clk)
        assert not int(dut.tw_ready.value) and not int(dut.c_ready.value), "the DMA is not interrupted"
