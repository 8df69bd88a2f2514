"""Driver of a host's I/O card: requests in frames of its message unit (I2O), which the card's processor answers."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from firmware.common.host.lock import Lock
from firmware.grim.formats import Device, endpoint
from firmware.grim.formats.iocard import ANSWER, FRAME_BYTES, SERVICE, FrameKind, Opening
from firmware.grim.host.card_restart import CardRestart
from firmware.grim.host.card_windows import CardWindows
from firmware.grim.host.channel_queue import card_queue
from firmware.grim.host.errors import CardPowerError, GrimError
from firmware.grim.host.handlers import CARD_ERROR
from firmware.grim.nic.cards import IO
from firmware.grim.nic.layout import Layout
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.host import UnansweredError
from pymodels.iocard.registers import EMPTY, IoReg

POLL_PS, PATIENCE = 2_000_000, 10_000
"""Interval of the driver's polls of a port in ps, and their number after which a request times out: 20 ms (ours)."""


class IoCard:
    """I/O card: a peripheral of `grim_enable` with calls for applications."""

    def __init__(
        self, host: Host, layout: Layout, view: ClusterView, channel: int, windows: CardWindows, segment: int
    ) -> None:
        self._host, self._layout, self._windows = host, layout, windows
        self._me, self._channel, self._segment = view.me, channel, segment
        self._turn = Lock(host, "the driver of the I/O card")
        self._restart = CardRestart(host, layout, view, channel, windows)
        self._numbers: dict[str, int] = {}
        self._outbound = 0
        """Address of the outbound frame in host memory, or 0."""
        self.circuits = (SERVICE,)
        """Names of the card's services, which are handlers."""

    async def initialise(self) -> None:
        """Allocate an outbound frame, and send the card the addresses of its channel's queue (phase 4)."""
        place = card_queue(self._host.nic_base, self._layout, self._channel)
        await self._host.spend("enable_card")
        self._outbound = self._host.allocate(FRAME_BYTES).address
        opening = Opening(
            nic_queue=place.queue,
            nic_limit=place.limit,
            nic_back=place.back,
            nic_front=place.front,
            nic_read=place.read,
            own=self._channel << 16 | endpoint(self._me, Device.CELOXICA),
            segment=self._segment,
            error=CARD_ERROR,
        )
        await self._request(FrameKind.OPEN, *opening)

    async def activate(self) -> None:
        """Begin operation (phase 9): the card serves as soon as it has its handler numbers."""

    async def learn(self, numbers: Mapping[str, int]) -> None:
        """Give the card the handler numbers of its service and of its answers, once both are known."""
        self._numbers = dict(numbers)
        if SERVICE in numbers and ANSWER in numbers:
            await self._request(FrameKind.NUMBERS, numbers[SERVICE], numbers[ANSWER])

    async def reset(self) -> None:
        """Abort the operations that the card has begun or accepted; their clients get an answer."""
        await self._request(FrameKind.RESET)

    async def restart(self) -> None:
        """Start the card again after a loss of power, when its firmware runs. See `FpgaCard.restart`."""
        async with self._turn:
            await self._read(IoReg.OUTBOUND_STATUS)
            await self._restart.prepare()
        await self.initialise()
        await self.learn(self._numbers)
        await self._restart.finish()

    async def open_window(self, offset: int, size: int) -> int:
        """Open a part of the card's memory for remote memory, and return its PCI address (`FpgaCard.open_window`)."""
        return await self._windows.open(offset, size)

    async def close_window(self, offset: int) -> None:
        """Close the window that begins at an offset, and return when no transfer accesses it. Raises GrimError."""
        await self._windows.close(offset)

    async def _request(self, kind: FrameKind, *words: int) -> None:
        """Post a request and wait for its answer. Raises GrimError if the card does not answer."""
        async with self._turn:
            frame = await self._take(IoReg.INBOUND_PORT, "an inbound frame")
            await self._write(IoReg.OUTBOUND_PORT, self._outbound)
            await self._host.pio_write(IO + frame, struct.pack(f"<{1 + len(words)}I", kind, *words))
            await self._write(IoReg.INBOUND_PORT, frame)
            await self._take(IoReg.OUTBOUND_PORT, f"the answer to {kind.name}")

    async def _take(self, port: IoReg, what: str) -> int:
        for _ in range(PATIENCE):
            word = await self._read(port)
            frame = int.from_bytes(word.to_bytes(4, "big"), "little")
            if frame != EMPTY:
                return frame
            await self._host.sleep(POLL_PS, what)
        raise GrimError("card", f"timed out waiting for {what}", "start the firmware of the I/O card first")

    async def _read(self, register: IoReg) -> int:
        try:
            return await self._host.pio_read(IO + register)
        except UnansweredError:
            raise CardPowerError(self._me) from None

    async def _write(self, register: IoReg, value: int) -> None:
        await self._host.pio_write(IO + register, struct.pack("<I", value))
