"""Driver of a host's FPGA card: registers, images, the control mailbox (fact sheet, section 5).

The driver writes the address of the channel's queue in NIC memory to the card once; card and NI then work without the
host. Registers are written by PIO. A write to a full mailbox stalls the bus, so the driver checks first.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from firmware.common.host.lock import Lock
from firmware.grim.channel_map import NO_CARD
from firmware.grim.formats import Device, endpoint
from firmware.grim.host.card_images import DMA, CardImages
from firmware.grim.host.card_restart import CardRestart
from firmware.grim.host.card_windows import CardWindows
from firmware.grim.host.channel_queue import card_queue
from firmware.grim.host.errors import CardPowerError, GrimError
from firmware.grim.host.handlers import CARD_CONTROL, CARD_ERROR
from firmware.grim.host.io_card import IoCard
from firmware.grim.nic.cards import BACKS, CARD, card_channel, ring_limit
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.card.fabric import names
from pymodels.card.registers import REGISTERS, CardReg, Command
from pymodels.config.model import IO_CARD
from pymodels.host import UnansweredError

THERE = 1 << 8
LOOK_PS = 100_000_000
"""Interval of the driver's status polls in ps (ours): 100 us."""
PATIENCE = 20_000
"""Number of polls after which a card operation times out: 2 s."""


class FpgaCard:
    """FPGA card: a peripheral of `grim_enable` (`firmware.grim.host.enable.Peripheral`) with calls for applications."""

    def __init__(self, host: Host, layout: Layout, view: ClusterView, channel: int, windows: CardWindows) -> None:
        self._host, self._layout, self._segment_bytes = host, layout, layout.payload
        self._windows = windows
        self._me, self._channel = view.me, channel
        self._settings = view.fpga
        self._turn = Lock(host, "the driver of the FPGA card")
        self._restart = CardRestart(host, layout, view, channel, windows)
        self._numbers: dict[str, int] = {}
        """Handler numbers of the circuits that the card has, by name."""
        self._images = CardImages(host, view, self.write, self.read)
        self.images = self._images.names
        """Image files; the number of an image is its index plus 1."""
        self.circuit_file = tuple(view.circuits)
        """Lines of the circuit file."""
        self.circuits = names(view.circuits)
        """Circuit names, by number."""

    async def initialise(self) -> None:
        """Write the card's parameters and load its first image (phase 4)."""
        place = card_queue(self._host.nic_base, self._layout, self._channel)
        values = {
            CardReg.LIMIT: ring_limit(self._layout),
            CardReg.SELF: self._channel << 16 | endpoint(self._me, Device.CELOXICA),
            CardReg.CLOCK: self._settings["clock_divisor"] - 1,
            CardReg.CONTROL_HANDLER: CARD_CONTROL,
            CardReg.ERROR_HANDLER: CARD_ERROR,
            CardReg.NIC_QUEUE: place.queue,
            CardReg.NIC_LIMIT: place.limit,
            CardReg.NIC_BACK: place.back,
            CardReg.NIC_FRONT: place.front,
            CardReg.NIC_READ0: place.read,
            CardReg.NIC_READ1: place.read + 4,
        }
        await self._host.spend("enable_card")
        for where, value in values.items():
            await self.write(where, value)
        await self.load(self.images[0])

    async def activate(self) -> None:
        """Let the card's shell take messages (phase 9)."""
        await self.write(CardReg.RUN, self._segment_bytes << 16 | 1)

    async def learn(self, numbers: Mapping[str, int]) -> None:
        """Write the handler numbers of the circuits that the global database has."""
        for circuit, name in enumerate(self.circuits):
            if name in numbers:
                self._numbers[name] = numbers[name]
                await self.write(CardReg.HANDLER + 4 * circuit, 1 << 31 | numbers[name])

    async def load(self, image: str | bytes | Path, slot: int | None = None, method: str = DMA) -> None:
        """Load an image and wait until it is loaded.

        Its slots are emptied after the current message. Messages for circuits that no slot has wait in their queue.

        Args:
            image: Name of an image of the circuit file, or a file, by its path or as its bytes.
            slot: Slot of a partial image, with a name; the other slots go on. None for the whole device.
            method: `dma`: the card fetches the image from host memory; `pio`: the CPU writes it.

        Raises:
            GrimError: An argument is invalid.
            LoadError: The card has rejected the image; its text says why, and which slots are empty now.
        """
        await self._images.load(image, slot, method)

    @property
    def dma_turn(self) -> Lock:
        """Lock of the card's DMA registers, for other drivers that use them (`firmware.tpil.host.CardDma`)."""
        return self._images.dma_turn

    async def clear(self) -> None:
        """Empty all slots and the shell; messages wait until an image of the whole device is loaded."""
        await self._images.clear()

    async def slots(self) -> tuple[str | None, ...]:
        """Return the image from which each slot is loaded, None for an empty slot."""
        return await self._images.slots()

    async def pause(self) -> None:
        """Let the shell finish its message, and take no further one until `resume`."""
        await self._command(Command.PAUSE)

    async def resume(self) -> None:
        """Let the shell take messages again."""
        await self._command(Command.RESUME)

    async def restart(self) -> None:
        """Start the card again after a loss of power: it loads its first image, and messages to it succeed again.

        All windows are closed, and all forwarding entries are lost. An unfinished result of the card becomes an error
        at its receiver.

        Raises:
            CardPowerError: The card still has no power.
            GrimError: A message of the card is not acknowledged in time.
        """
        async with self._turn:
            await self.read(CardReg.IMAGE)
            await self._restart.prepare()
            for pointer in BACKS:  # the NI may have announced messages before
                await self.write(pointer, 0)
        await self.initialise()
        await self.learn(dict(self._numbers))
        await self._restart.finish()
        await self.activate()

    async def open_window(self, offset: int, size: int) -> int:
        """Open a part of the card's banks for remote memory, up to 4 at a time.

        Args:
            offset: Byte offset in the card's 8 MB, a multiple of 4.
            size: Bytes.

        Returns:
            The PCI address of the window, for `send_physical_memory`.

        Raises:
            GrimError: The range is invalid, or overlaps another window or memory of the card's shell.
        """
        return await self._windows.open(offset, size)

    async def close_window(self, offset: int) -> None:
        """Close the window that begins at an offset, and return when no transfer accesses it. Raises GrimError."""
        await self._windows.close(offset)

    async def write(self, register: int, value: int) -> None:
        """Write a register."""
        await self._host.pio_write(CARD + REGISTERS + register, struct.pack(">I", value))

    async def read(self, register: int) -> int:
        """Read a register. Raises CardPowerError if the card does not answer."""
        try:
            return await self._host.pio_read(CARD + REGISTERS + register)
        except UnansweredError:
            raise CardPowerError(self._me) from None

    async def _command(self, command: Command) -> None:
        async with self._turn:
            await self.write(CardReg.CONTROL, command)
            await self._until(CardReg.STATUS, THERE | command, f"an answer to {command.name} in the status mailbox")
            await self.write(CardReg.STATUS, 0)

    async def _until(self, register: CardReg, value: int, what: str) -> None:
        for _ in range(PATIENCE):
            if await self.read(register) == value:
                return
            await self._host.sleep(LOOK_PS, what)
        raise GrimError("card", f"timed out waiting for {what}", "load an image with circuits first")


def own_card(
    host: Host, view: ClusterView, options: Options, layout: Layout, windows: CardWindows
) -> FpgaCard | IoCard | None:
    """Return the driver of this host's FPGA card or I/O card, or None. Raises OptionError if no logical channel is left
    for the card.
    """
    channel = card_channel(options, view)
    if view.has(view.me, IO_CARD):
        return IoCard(host, layout, view, channel, windows, options.segment_bytes)
    return FpgaCard(host, layout, view, channel, windows) if channel != NO_CARD else None
