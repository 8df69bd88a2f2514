"""HAL of one host: start, waiting tasks, counters."""

from __future__ import annotations

from collections.abc import Callable

from firmware.common.host.card import load_chain, release
from firmware.common.host.payload import Data
from firmware.common.host.words import store_words
from firmware.common.nic import chain_heads
from firmware.hal.host.interface import Handler
from firmware.hal.host.interrupts import Interrupts
from firmware.hal.host.receiving import Receiver
from firmware.hal.host.sending import Sender
from firmware.hal.nic.layout import PORT, Place, Word
from firmware.hal.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView


class HostHal:
    """HAL of one host; implements `interface.Hal` and the counters of studies."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self.nodes = host, view.me, len(view.names)
        self._memory = host.allocate(Place.BYTES)
        self._sender, self._receiver = Sender(host, view, self._memory.address), Receiver(host, self._memory)
        self._interrupts = Interrupts(host, self._receiver, Options.from_values(view.options).interrupt_delay_us)
        self._begun = False
        self._alarm = 0
        """Time of the next evaluation of waiting tasks' conditions, ps; 0: none is scheduled."""

    async def start(self) -> None:
        """Pass the address of the host buffers to the NIC. Later calls do nothing."""
        if self._begun:
            return
        self._begun = True
        host = self.host
        host.on_interrupt(self._interrupts.serve)
        await release(host)
        for chain, block in chain_heads(PORT, self.nodes).items():
            await load_chain(host, chain, block)
        await store_words(host, Word.MEMORY, self._memory.address)

    # ---- sending

    @property
    def keepable(self) -> int:
        """Number of send buffers that may still be kept."""
        return self._sender.keepable

    async def send(self, node: int, protocol: int, header: bytes, data: Data = b"", keep: bool = False) -> int:
        """Send a packet and return its buffer's number (see `interface.Hal.send`)."""
        return await self._sender.send(node, protocol, header, data, keep)

    async def again(self, buffer: int, header: bytes = b"") -> None:
        """Send a kept buffer once more (see `interface.Hal.again`)."""
        await self._sender.again(buffer, header)

    def free(self, buffer: int) -> None:
        """Free a send buffer that was kept. Raises HalError for a buffer that is not kept."""
        self._sender.free(buffer)

    # ---- receiving

    def on_packet(self, protocol: int, handler: Handler) -> None:
        """Set the handler of a protocol's packets. Raises HalError for an invalid or used protocol number."""
        self._receiver.on_packet(protocol, handler)

    async def poll(self) -> int:
        """Hand over the received packets. Return how many were handed over."""
        count = await self._receiver.poll()
        if not count:
            await self.host.spend("hal_look")
        await self._interrupts.enable()
        return count

    async def wait(self, condition: Callable[[], bool], until_ps: int | None = None) -> bool:
        """Poll until the condition holds (True) or until the given time (see `interface.Hal.wait`)."""
        self._interrupts.waiting += 1
        try:
            while not condition():
                if until_ps is not None and self.host.now >= until_ps:
                    return False
                await self._next(until_ps)
            return True
        finally:
            self._interrupts.waiting -= 1
            await self._interrupts.enable()

    async def _next(self, until_ps: int | None) -> None:
        """Wait until a packet is handed over, or a condition may have changed."""
        receiver = self._receiver
        if receiver.busy:
            await receiver.idle.wait()
        elif not await receiver.poll():
            if until_ps is not None and not 0 < self._alarm <= until_ps:
                self._alarm = until_ps
                self.host.spawn(self._ring(until_ps), "HAL's clock")
            await self.host.poll([(receiver.word, 0)], "hal_look", receiver.moves)

    async def _ring(self, at: int) -> None:
        """Make waiting tasks evaluate their conditions at a given time."""
        await self.host.sleep(at - self.host.now, "the end of a wait for packets")
        if self._alarm == at:
            self._alarm = 0
        self.changed()

    async def interrupts(self, on: bool, delay_us: int | None = None) -> None:
        """Switch interrupt mode on or off; `delay_us` None uses option `interrupt_delay_us`."""
        await self._interrupts.switch(on, delay_us)

    def changed(self) -> None:
        """Make tasks in `wait` evaluate their conditions again."""
        self._receiver.moves.moved()

    # ---- counters for studies

    @property
    def sent(self) -> int:
        """Number of packets sent so far."""
        return self._sender.sends

    @property
    def unclaimed(self) -> int:
        """Number of received packets without a handler for their protocol."""
        return self._receiver.unclaimed

    @property
    def interrupted(self) -> int:
        """Number of interrupts so far."""
        return self._interrupts.count

    async def dropped(self) -> int:
        """Return the number of packets dropped for lack of a receive buffer."""
        return await self.host.pio_read(self.host.nic_base + Word.DROPPED)

    async def damaged(self) -> int:
        """Return the number of damaged packets received."""
        return await self.host.pio_read(self.host.nic_base + Word.BAD)
