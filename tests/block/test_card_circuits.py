"""Circuits in their slots: only the active circuit's words and bank accesses take effect.

Strategy: the generated module of the example, with the test in place of the shell. A request for bank 3 by an inactive
circuit must be reported as a trespass and must not reach the bank. A result must be kept until its circuit is active.
The location of a circuit must follow the loaded image.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from pymodels.card.fabric import EXAMPLE, images, names

FILTERS = images(EXAMPLE).index("filters.bit") + 1
HISTOGRAM_SLOT = 1


def in_all(image: int) -> int:
    """Return the input `images` with one image in all slots."""
    return image * 0x01010101


async def begin(dut: Any, image: int) -> None:
    for name in ("in_valid", "in_last", "in_bytes", "in_data", "out_ready", "mem_ready", "mem_rvalid", "mem_rdata"):
        dut[name].value = 0
    dut.arguments.value, dut.active.value, dut.circuit.value = 0, 0, 0
    dut.ce.value = dut.rst.value = 1
    dut.images.value = in_all(image)
    Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0


@cocotb.test(timeout_time=10, timeout_unit="us")
async def a_circuit_that_uses_the_bank_out_of_turn_trespasses(dut: Any) -> None:
    await begin(dut, FILTERS)
    dut.active.value = 1 << HISTOGRAM_SLOT
    dut.in_valid.value, dut.in_last.value, dut.in_bytes.value, dut.in_data.value = 1, 1, 4, 0x04030201
    while not int(dut.mem_valid.value):
        await RisingEdge(dut.clk)
        assert not int(dut.trespass.value)
    assert int(dut.mem_addr.value) >> 17 == HISTOGRAM_SLOT, "its quarter of the bank"
    dut.active.value = 0  # the shell deselects it while it requests the bank
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    assert int(dut.trespass.value)
    assert not int(dut.mem_valid.value)


@cocotb.test(timeout_time=20, timeout_unit="us")
async def a_circuit_restarts_when_its_image_is_loaded_again(dut: Any) -> None:
    """Leave each circuit with an unread word, and check that it restarts when its image is loaded again."""
    await begin(dut, 0)
    for circuit in EXAMPLE:
        image = images(EXAMPLE).index(circuit.image) + 1
        dut.active.value, dut.images.value = 1 << circuit.slot, in_all(image)
        dut.in_valid.value, dut.in_last.value, dut.in_bytes.value = 1, 1, 4
        while not int(dut.busy.value):
            await RisingEdge(dut.clk)
        dut.in_valid.value = 0
        for loaded in (0, image):
            dut.images.value = in_all(loaded)
            for _ in range(3):
                await RisingEdge(dut.clk)
            assert not int(dut.busy.value) and not int(dut.out_valid.value), circuit.name
        dut.images.value = 0


async def bank(dut: Any) -> None:
    """Model bank 3 with zeros: each read is answered one clock later."""
    dut.mem_ready.value, dut.mem_rdata.value = 1, 0
    while True:
        await RisingEdge(dut.clk)
        dut.mem_rvalid.value = int(dut.mem_valid.value) & ~int(dut.mem_write.value)


async def clocks(dut: Any, count: int = 5) -> tuple[int, ...]:
    """Wait for `count` clocks and return the current output."""
    for _ in range(count):
        await RisingEdge(dut.clk)
    return tuple(int(dut[f"out_{name}"].value) for name in ("valid", "last", "bytes", "data"))


@cocotb.test(timeout_time=100, timeout_unit="us")
async def a_result_waits_until_it_is_taken_in_its_turn(dut: Any) -> None:
    await begin(dut, 0)
    cocotb.start_soon(bank(dut))
    for circuit in EXAMPLE:
        dut.images.value = 0
        await clocks(dut)
        dut.images.value = in_all(images(EXAMPLE).index(circuit.image) + 1)
        dut.active.value = 1 << circuit.slot
        dut.in_valid.value, dut.in_last.value, dut.in_bytes.value, dut.in_data.value = 1, 1, 4, 0x04030201
        await clocks(dut, 1)
        while not int(dut.in_ready.value):
            await clocks(dut, 1)
        dut.in_valid.value = 0
        while not (await clocks(dut, 1))[0]:
            pass
        word = await clocks(dut, 1)
        assert await clocks(dut) == word, circuit.name
        dut.active.value, dut.out_ready.value = 0, 1
        assert not (await clocks(dut))[0], circuit.name
        dut.active.value, dut.out_ready.value = 1 << circuit.slot, 0
        assert await clocks(dut) == word, circuit.name
        dut.out_ready.value = 1
        await clocks(dut, 1)
        dut.out_ready.value = 0
        assert (await clocks(dut, 2)) != word, circuit.name


@cocotb.test(timeout_time=10, timeout_unit="us")
async def a_circuit_is_in_the_slot_given_by_the_loaded_image(dut: Any) -> None:
    await begin(dut, 0)
    for image in range(len(images(EXAMPLE)) + 1):
        dut.images.value = in_all(image)
        for number, name in enumerate(names(EXAMPLE)):
            dut.circuit.value = number
            await RisingEdge(dut.clk)
            await RisingEdge(dut.clk)
            slots = [c.slot for c in EXAMPLE if c.name == name and image and c.image == images(EXAMPLE)[image - 1]]
            assert int(dut.known.value)
            assert int(dut.here.value) == len(slots)
            assert not slots or int(dut.slot.value) == slots[0]
    dut.circuit.value = len(names(EXAMPLE))
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    assert not int(dut.known.value)


@cocotb.test(timeout_time=10, timeout_unit="us")
async def each_slot_has_the_circuit_of_its_own_image(dut: Any) -> None:
    """Load slot 0 from one image and slot 1 from the other: circuits of both are there, and no others."""
    await begin(dut, 0)
    digests = images(EXAMPLE).index("digests.bit") + 1
    dut.images.value = digests | FILTERS << 8
    slots = {"crc32": 0, "histogram": 1}
    for number, name in enumerate(names(EXAMPLE)):
        dut.circuit.value = number
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)
        assert int(dut.here.value) == (name in slots), name
        assert name not in slots or int(dut.slot.value) == slots[name]
