"""All circuits in Python behind the pins of a slot, against the models in `pymodels.card`.

Strategy: the bench of the circuits in SystemVerilog drives the slot, with the same messages, gaps, stalls, pauses of
the clock and reset within a message. The module is loaded with one circuit after the other. Further circuits charge
clocks, run ahead by many orders, and fail; the clocks must be those charged, and the failure must name the circuit.
"""

from __future__ import annotations

import ctypes
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from pymodels.card import prototypes
from pymodels.card.circuits import CIRCUITS
from pymodels.card.fabric import Circuit
from pymodels.card.slot import CircuitError, Function, Slot
from pymodels.card.trial import trial
from pymodels.kernel import Kernel
from tb.bind.circuits import CardCircuits
from tb.sim.doorway import Doorway
from tests.block.test_circuits import Bench, Message, compare, messages

ORDERS = 300
"""Orders of a circuit for one message, more than the first room of the list in C."""


class Card:
    """Slot with circuits in Python, and the turns of Python that its events cause."""

    def __init__(self, dut: Any, pause: float = 0.0) -> None:
        self.bench = Bench(dut, pause)
        self.failed: list[CircuitError] = []
        self._started = False
        self._kernel, self._doorway = Kernel(), Doorway()
        self._drain = self._doorway.exchange.drainer()
        self._callback = ctypes.CFUNCTYPE(None)(self._turn)
        self._doorway.lib.dw_set_python(self._callback)

    def _turn(self) -> None:
        self._kernel.now = self._doorway.turn[0]
        self._drain()
        try:
            self._kernel.run_ready()
        except CircuitError as error:
            self.failed.append(error)

    async def load(self, function: Function) -> None:
        """Reset the slot and load a circuit into it."""
        named = Circuit("image", 0, function.__name__, f"{function.__module__}:{function.__name__}")
        circuits = CardCircuits(0, "paris", self._kernel, self._doorway, [named])
        circuits._functions = {0: function}  # a function of the test need not be importable
        if not self._started:
            self._started = True
            await self.bench.start()
        await self.reset()

    async def reset(self) -> None:
        """Reset the slot, whose circuit then restarts, and the bank."""
        self.bench.dut.rst.value = 1
        await RisingEdge(self.bench.dut.clk)
        await RisingEdge(self.bench.dut.clk)
        self.bench.dut.rst.value = 0
        self.bench._read = None
        self.bench.bank.clear()


async def twice(slot: Slot) -> None:
    """Return each payload twice, later by as many clocks as the first argument says, in many orders."""
    while True:
        header, words = await slot.receive()
        await slot.clocks(header.arguments[0])
        for number in range(ORDERS):
            await slot.write(number, [number])
        back = await slot.read(0, ORDERS)
        assert list(back) == list(range(ORDERS))
        await slot.send([*words, *words])


async def silent(slot: Slot) -> None:
    """Take one message and receive again without a result."""
    await slot.receive()
    await slot.receive()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def circuits_in_python_return_the_results_of_their_models(dut: Any) -> None:
    card = Card(dut)
    for name, model in CIRCUITS.items():
        await card.load(getattr(prototypes, name))
        await compare(card.bench, model(), messages(name, card.bench.rng, 8))
    assert not card.failed


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def gaps_stalls_and_a_slow_clock_change_no_result_of_circuits_in_python(dut: Any) -> None:
    card = Card(dut, 0.3)
    for name, model in CIRCUITS.items():
        await card.load(getattr(prototypes, name))
        await compare(card.bench, model(), messages(name, card.bench.rng, 6))
    assert not card.failed


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_reset_within_a_message_restarts_the_circuit_in_python(dut: Any) -> None:
    card = Card(dut, 0.1)
    bench = card.bench
    for name in ("fir16", "histogram"):
        await card.load(getattr(prototypes, name))
        for _ in range(2):
            await compare(bench, CIRCUITS[name](), messages(name, bench.rng, 2)[:3])
            await bench.run(Message(0, bench.rng.randbytes(80)), stop_after=7)
            await card.reset()
    assert not card.failed


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def charged_clocks_and_orders_take_the_clocks_that_a_trial_counts(dut: Any) -> None:
    card = Card(dut)
    await card.load(twice)
    dut.ce.value = 1
    for argument, payload in ((0, b"abcd"), (1, b""), (2, b"abcdefgh"), (1000, b"abcd")):
        for _ in range(4):  # the slot has fetched the order to receive
            await RisingEdge(dut.clk)
        begun = cocotb.simtime.get_sim_time("ns")
        words = payload.ljust((len(payload) + 3) // 4 * 4, b"\0")
        assert await card.bench.run(Message(argument, payload)) == 2 * words
        clocks = (cocotb.simtime.get_sim_time("ns") - begun) / 10 - ORDERS  # a read of this bank takes one clock more
        assert clocks == trial(twice, [(argument, payload)])[0].clocks, (argument, payload)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_circuit_without_an_answer_fails_with_its_name(dut: Any) -> None:
    card = Card(dut)
    await card.load(silent)
    await card.bench.run(Message(0, b"abcd"), stop_after=1)
    for _ in range(3):
        await RisingEdge(dut.clk)
    assert [error.what for error in card.failed] == [f"circuit {__name__}:silent (slot 0 of the card of paris)"]
    with pytest.raises(CircuitError, match="without a result of message 1"):
        raise card.failed[0]
