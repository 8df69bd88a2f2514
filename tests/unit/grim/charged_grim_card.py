"""A tour of the host's operations with GRIM's FPGA card, and of the host's own filter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count, islice
from typing import Any
from unittest.mock import patch

from firmware.grim.host import messages
from firmware.grim.host.card_windows import CardWindows
from firmware.grim.host.errors import GrimError
from firmware.grim.host.filter import HostFilter
from firmware.grim.host.fpga import FpgaCard
from firmware.grim.host.segments import cut
from firmware.view import ClusterView
from pymodels.card.fabric import Circuit
from pymodels.card.registers import BANK_BYTES, CardReg, Load
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_card_bench import FAR, CardBench
from tests.unit.layers.charges import Charges, settled

OTHER, WINDOW = 3 * BANK_BYTES, 3 * BANK_BYTES + 4096
"""Offsets of two windows, of which the second is used."""
CARD_ALONE = 1 << 1
"""Mask of the card's channel in a subscription."""
CIRCUIT = 77
"""Number of the handler of a circuit."""

SETTINGS = {"clock_divisor": 1, "image_bytes": 64, "slot_bytes": 32}
"""Settings of the card."""


class Registers:
    """Registers of a card that is never busy."""

    def __init__(self) -> None:
        self._values: dict[int, int] = {}

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """Write a register."""
        self._values[address] = int.from_bytes(data, "big")

    async def pio_read(self, address: int) -> int:
        """Return the value last written; the card is done at once."""
        if address & 0xFF == CardReg.CONFIG:
            return Load.DONE
        return 0 if address & 0xFF == CardReg.DMA_BYTES else self._values[address]


def tour(charges: Charges) -> None:
    """Run all operations."""
    bench, registers = Bench(1, channels=2), Registers()
    host = bench.machine.host(0)
    view = ClusterView(**bench.machine.view(0), circuits=(Circuit("image", 0, "fir16"),), fpga=SETTINGS)
    library = bench.libraries[0]
    windows = CardWindows(host, library.layout, library.calls, library.driver)
    card = FpgaCard(host, bench.libraries[0].layout, view, 1, windows)
    with (
        patch.object(host, "pio_write", registers.pio_write),
        patch.object(host, "pio_read", registers.pio_read),
        charges.operation("card initialise"),
    ):
        bench.machine.finish(card.initialise())
    _windows(charges)
    _tree(charges)
    with charges.operation("filter on the host"):
        bench.machine.finish(HostFilter(host, bytes(32)).run(bytes(100)))


def _full(times: int) -> Callable[..., bool]:
    """Return a function that finds a ring full so many times."""
    left = count(times, -1)
    return lambda *ring: next(left) <= 0


def _windows(charges: Charges) -> None:
    """Run the remote memory operations on a card, and long messages to it."""
    card = CardBench(card_hold_us=30)
    driver, near = card.driver, card.near

    async def step(what: str, call: Awaitable[Any]) -> Any:
        with charges.operation(f"card {what}"):
            return await settled(card.bench.machine, call)

    async def operations() -> None:
        await driver.open_window(OTHER, 64)
        address = await step("open window", driver.open_window(WINDOW, 8192))
        block = await card.source(bytes(6000))
        await step("write", near.send_memory(FAR, WINDOW, block, 6000, lock=WINDOW + 8188, value=1))
        await step("physical write", near.send_physical_memory(FAR, address, block, 64))
        await step("read", near.fetch_memory(FAR, block, WINDOW, 6000))
        with suppress(GrimError):  # the next call raises it
            await step("write outside", near.send_memory(FAR, WINDOW + 8192, block, 64))
            await near.poll()
            await near.malloc_pinned(4)
        await step("close window", driver.close_window(WINDOW))
        near.handlers.names[CIRCUIT] = "loopback"
        await step("long message", near.send(FAR, CIRCUIT, payload=bytes(6000)))
        with patch.object(messages, "cut", lambda *given: islice(cut(*given), 1)):
            await near.send(FAR, CIRCUIT, payload=bytes(6000))
        await step("message behind an unfinished one", near.send(FAR, CIRCUIT, channel=1))
        with patch("firmware.grim.nic.delivery.endpoints.MISSES", 1), patch("firmware.grim.nic.cards.fits", _full(2)):
            await step("message to a full card", near.send(FAR, CIRCUIT, channel=1))
        card.window.silent = True
        await step("message to a card without power", near.send(FAR, CIRCUIT, channel=1))
        await step("close all windows", driver._windows.forget())

    card.run(operations)


def _tree(charges: Charges) -> None:
    """Send a message to a tree with a card, over connections."""
    card = CardBench(timeout_us=1000)
    machine, near = card.bench.machine, card.near
    near.handlers.names[CIRCUIT] = "loopback"

    async def operations() -> None:
        call = card.far.subscribe_multicast_by_name("tree", CARD_ALONE)
        subscription = machine.kernel.spawn(call, "subscription")
        await near.wait_for(lambda: subscription.finished.done)
        tree = await near.find_multicast_tree("tree")
        with charges.operation("card multicast with time-outs"):
            await settled(machine, near.send_mc(tree, CIRCUIT))

    card.run(operations)
