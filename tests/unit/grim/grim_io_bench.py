"""I/O card's message unit and DMA engine without time, between the driver on one host and the firmware on another.

Both hosts are those of the machine; the second one is the card's processor. The bus is a dictionary of written bytes.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, cast

from firmware.grim.formats import HEADER_BYTES, Header, MessageType, unpack
from firmware.grim.host.card_windows import CardWindows
from firmware.grim.host.channel_queue import notice
from firmware.grim.host.io_card import IoCard
from firmware.grim.iocard.disk import Disk
from firmware.grim.iocard.endpoint import IoEndpoint
from firmware.grim.nic.cards import IO, CardRings
from firmware.view import ClusterView
from pymodels.config.model import IO_CARD
from pymodels.iocard.registers import EMPTY, REGISTERS, TO_PCI, WINDOW, DmaCause, Inbound, IoReg, Queue
from tests.unit.grim.grim_bench import Bench

CLIENT, CLIENT_CHANNEL, CHANNEL = 0x0100, 0, 1
BLOCK = 64


class IoBench:
    """Driver, card and firmware, with a disk of 4 blocks."""

    def __init__(self, folder: Path, access_ps: int = 0) -> None:
        self.bench = bench = Bench(2, start_nics=False, channels=2)
        self.host, self.cpu = bench.machine.host(0), bench.machine.host(1)
        self.local, self.bus = bytearray(WINDOW), dict[int, int]()
        self._values: dict[int, int] = {IoReg.INBOUND_MASK: 0xFF}
        self._events, self._cause, self._serving = 0, DmaCause.NONE, False
        self._routine: Any = None
        self._install()
        path = folder / "disk"
        path.write_bytes(bytes(range(256)))
        self.disk = Disk(path, BLOCK)
        self.firmware = IoEndpoint(self.cpu, self.disk, access_ps)
        self.layout = bench.libraries[0].layout
        view = ClusterView(0, ("a", "b"), {}, cards=(frozenset({IO_CARD}), frozenset()))
        self.driver = IoCard(self.host, self.layout, view, CHANNEL, cast(CardWindows, None), BLOCK)
        self.restart_ni()
        self._front = 0
        self.cpu.spawn(self.firmware.run(), "the firmware of the I/O card")

    def restart_ni(self) -> None:
        """Let the NI begin with empty rings."""
        nic = cast(Any, type("Nic", (), {"load": lambda *_: 0, "put_in_card": lambda *_: None})())
        self._rings = CardRings(nic, self.layout, IO)

    def finish(self, *calls: Any) -> None:
        """Run calls on the host, one after the other."""
        for call in calls:
            self.bench.machine.finish(call)

    def send(self, arguments: tuple[int, int, int, int], handler: int, kind: int = MessageType.ACTIVE) -> None:
        """Deliver a message of a client as the NI does."""
        header = Header(0, 0, kind, 0, 0, CLIENT, 0, 2, CLIENT_CHANNEL << 8 | CHANNEL, handler, arguments)
        data, pointer, after = self._rings.place(HEADER_BYTES)
        self.local[data - IO : data - IO + HEADER_BYTES] = header.pack()
        self._host_write(pointer - IO, struct.pack(">I", after))

    def settle(self, us: int = 1000) -> None:
        """Let time pass."""
        self.finish(self.host.sleep(us * 1_000_000))

    def results(self) -> list[tuple[Header, bytes]]:
        """Return the messages that the card has appended to its queue in the NI since the last call."""
        base, found = self.host.nic_base + self.layout.queues[CHANNEL], []
        back = self._on_bus(self.host.nic_base + notice(self.layout, CHANNEL), 4)
        while self._front != int.from_bytes(back, "big"):
            at = base + self._front + 8
            header = unpack(self._on_bus(at, HEADER_BYTES))
            found.append((header, self._on_bus(at + HEADER_BYTES, header.bytes)))
            self._front += 8 + HEADER_BYTES + (header.bytes + 7 & ~7)
        return found

    def word(self, address: int) -> int:
        """Return the big-endian word that the card has written to an address of the bus."""
        return int.from_bytes(self._on_bus(address, 4), "big")

    def _on_bus(self, address: int, count: int) -> bytes:
        return bytes(self.bus.get(address + n, 0) for n in range(count))

    # ---- the card

    def _install(self) -> None:
        """Connect both hosts to the card."""
        host, cpu = cast(Any, self.host), cast(Any, self.cpu)
        pio_read, pio_write = host.pio_read, host.pio_write

        async def host_read(address: int) -> int:
            if address < IO:
                return int(await pio_read(address))
            return int.from_bytes(self._host_read(address - IO).to_bytes(4, "little"), "big")

        async def host_write(address: int, data: bytes, *more: Any) -> None:
            if address < IO:
                await pio_write(address, data, *more)
            else:
                self._host_write(address - IO, bytes(data))

        async def cpu_read(address: int) -> int:
            return int.from_bytes(self._cpu_read(address).to_bytes(4, "little"), "big")

        async def cpu_write(address: int, data: bytes) -> None:
            self._cpu_write(address, int.from_bytes(data, "little"))

        def store(address: int, data: bytes) -> None:
            self.local[address : address + len(data)] = data

        def serve_by(routine: Any) -> None:
            self._routine = routine

        host.pio_read, host.pio_write = host_read, host_write
        cpu.pio_read, cpu.pio_write, cpu.store_bytes, cpu.on_interrupt = cpu_read, cpu_write, store, serve_by
        cpu.load_bytes = lambda address, count: bytes(self.local[address : address + count])
        cpu.allocate = lambda size, align: None

    def _pointer(self, queue: Queue, tail: bool) -> int:
        return IoReg.INBOUND_FREE_HEAD + 8 * queue + 4 * tail

    def _entry(self, queue: Queue, index: int) -> int:
        return self._values[IoReg.QUEUES] + 4 * ((queue << (self._values[IoReg.CONTROL] >> 8)) + index)

    def _move(self, pointer: int) -> None:
        self._values[pointer] = (self._values.get(pointer, 0) + 1) % (1 << (self._values[IoReg.CONTROL] >> 8))

    def _empty(self, queue: Queue) -> bool:
        return self._values.get(self._pointer(queue, False), 0) == self._values.get(self._pointer(queue, True), 0)

    def _host_read(self, offset: int) -> int:
        queue = {IoReg.INBOUND_PORT: Queue.INBOUND_FREE, IoReg.OUTBOUND_PORT: Queue.OUTBOUND_POST}[IoReg(offset)]
        if not self._values.get(IoReg.CONTROL, 0) or self._empty(queue):
            return EMPTY
        tail = self._pointer(queue, True)
        (frame,) = struct.unpack_from("<I", self.local, self._entry(queue, self._values.get(tail, 0)))
        self._move(tail)
        return int(frame)

    def _host_write(self, offset: int, data: bytes) -> None:
        if offset >= REGISTERS:
            self.local[offset : offset + len(data)] = data
            return
        queue = {IoReg.INBOUND_PORT: Queue.INBOUND_POST, IoReg.OUTBOUND_PORT: Queue.OUTBOUND_FREE}[IoReg(offset)]
        head = self._pointer(queue, False)
        at = self._entry(queue, self._values.get(head, 0))
        self.local[at : at + 4] = data
        self._move(head)
        self._interrupt()

    def _pending(self) -> int:
        posted = 0 if self._empty(Queue.INBOUND_POST) else 1 << Inbound.POST
        return self._events | posted

    def _cpu_read(self, register: int) -> int:
        if register == IoReg.INBOUND_STATUS:
            return self._pending()
        return self._cause << 8 if register == IoReg.DMA_STATUS else self._values.get(register, 0)

    def _cpu_write(self, register: int, value: int) -> None:
        if register == IoReg.INBOUND_STATUS:
            self._events &= ~value
        elif register == IoReg.DMA_DESCRIPTOR:
            self._transfer(value)
        else:
            self._values[register] = value
        self._interrupt()

    def _transfer(self, at: int) -> None:
        while at:
            at, pci, local, word = struct.unpack_from("<4I", self.local, at)
            for n in range(word & 0xFFFF):
                if word & TO_PCI:
                    self.bus[pci + n] = self.local[local + n]
                else:
                    self.local[local + n] = self.bus.get(pci + n, 0)
        self._events |= 1 << Inbound.DMA_DONE

    def _interrupt(self) -> None:
        """Run the interrupt routine while an interrupt is pending and not masked."""
        if self._routine and not self._serving and self._pending() & ~self._values[IoReg.INBOUND_MASK]:
            self._serving = True
            self.cpu.spawn(self._serve(), "interrupt")

    async def _serve(self) -> None:
        while self._pending() & ~self._values[IoReg.INBOUND_MASK]:
            await self.cpu.sleep(1_000_000, "interrupt latency")
            await self._routine()
        self._serving = False
