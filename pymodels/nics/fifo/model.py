"""Functional model of the FIFO card: host stores and link input to final memory, registers and link output (paper 002).

The model is written from the paper and the register map, without time: everything that can proceed does so at once.
`held` is True while the link accepts nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pymodels.nics.fifo.cells import Cell
from pymodels.nics.fifo.registers import Descriptor, Error, Form, Ready, Size, State, circuit_of


@dataclass
class FifoModel:
    """FIFO card between its host and its link."""

    form: Form = Form.BUFFERS
    held: bool = False
    memory: bytearray = field(default_factory=lambda: bytearray(Size.MEMORY))
    sent: list[bytes] = field(default_factory=list)
    """Sent packets, without CRC-8."""
    errors: set[Error] = field(default_factory=set)
    ready: deque[tuple[int, bytes]] = field(default_factory=deque)
    """Value of RX_READY, and the bytes in the buffer."""
    cells: deque[Cell] = field(default_factory=deque)
    """Received cells."""
    dropped: int = 0
    filled: set[int] = field(default_factory=set)
    """Buffers that have received packets, whose content after the packet is undefined."""
    pool: deque[int] = field(default_factory=deque)
    waiting: deque[tuple[bytes, bool]] = field(default_factory=deque)
    """Received packets without a buffer, and whether the CRC-8 is correct."""
    _tx: deque[int] = field(default_factory=deque)
    _out: deque[Cell] = field(default_factory=deque)

    # The host.
    def store(self, offset: int, data: bytes) -> None:
        """Store to the card's memory."""
        self.memory[offset : offset + len(data)] = data

    def mode(self, form: Form) -> None:
        """Write MODE."""
        if self._tx or self._out or self.ready or self.cells:
            self.errors.add(Error.MODE)
        else:
            self.form = form
            self.pool.clear()

    def transmit(self, number: int) -> None:
        """Write TX_READY."""
        if not 0 < number < Size.BUFFERS:
            self.errors.add(Error.NUMBER)
        elif len(self._tx) == Size.TX_READY:
            self.errors.add(Error.TX_FULL)
        else:
            self._tx.append(number)
            self.go_on()

    def free(self, number: int) -> None:
        """Write RX_FREE."""
        if not 0 < number < Size.BUFFERS:
            self.errors.add(Error.NUMBER)
        elif number in self.pool:
            self.errors.add(Error.POOLED)
        else:
            self.pool.append(number)
            self.go_on()

    def next_packet(self) -> None:
        """Write RX_NEXT."""
        if self.ready:
            self.ready.popleft()
        else:
            self.errors.add(Error.NEXT)

    def send_cell(self, cell: Cell) -> None:
        """Store a complete cell to CELL_OUT."""
        if len(self._out) == Size.OUT_CELLS:
            self.errors.add(Error.OUT_FULL)
        else:
            self._out.append(cell)
            self.go_on()

    def next_cell(self) -> None:
        """Write CELL_NEXT."""
        if self.cells:
            self.cells.popleft()
            self.go_on()
        else:
            self.errors.add(Error.NEXT)

    # The link.
    def arrive(self, packet: bytes, good_crc: bool = True) -> None:
        """Receive a packet, without its CRC-8, from the link."""
        self.waiting.append((packet, good_crc))
        self.go_on()

    def go_on(self) -> None:
        """Execute everything that can proceed."""
        while not self.held and self._tx:
            self._send(self._tx.popleft())
        while not self.held and self._out:
            cell = self._out.popleft()
            place = Size.CIRCUIT * circuit_of(cell.header)
            count = self.memory[place] & 7
            route = self.memory[place + Size.CIRCUIT - count : place + Size.CIRCUIT]
            self.sent.append(bytes(route) + cell.wire)
        receive = self._receive_cell if self.form is Form.CELLS else self._receive
        while self.waiting and receive(*self.waiting[0]):
            self.waiting.popleft()

    def _send(self, number: int) -> None:
        place = Size.DESCRIPTOR * number
        word = int.from_bytes(self.memory[place : place + 4], "big")
        size, skip = word >> Descriptor.BYTES & 0xFFF, word >> Descriptor.SKIP & 7
        if word >> Descriptor.STATE != State.READY or not size or skip + size > Size.BUFFER:
            self.errors.add(Error.DESCRIPTOR)
            return
        start = Size.BUFFER * number + skip
        self.sent.append(bytes(self.memory[start : start + size]))
        changed = word & (1 << Descriptor.STATE) - 1 | State.SENT << Descriptor.STATE
        self.memory[place : place + 4] = changed.to_bytes(4, "big")

    def _receive(self, packet: bytes, good_crc: bool) -> bool:
        """Store a packet into a buffer of the pool. Return False if the pool is empty."""
        if not self.pool:
            return False
        number, body = self.pool.popleft(), packet[: Size.BUFFER]
        self.store(Size.BUFFER * number, body)
        self.filled.add(number)
        word = 1 << Ready.VALID | number << Ready.NUMBER | len(body) << Ready.BYTES
        word |= (len(packet) > Size.BUFFER) << Ready.LONG | (not good_crc) << Ready.BAD_CRC
        self.ready.append((word, body))
        return True

    def _receive_cell(self, packet: bytes, good_crc: bool) -> bool:
        """Store a packet into the FIFO of cells. Return False if it is full."""
        if len(self.cells) == Size.IN_CELLS:
            return False
        cell = Cell.read(packet) if good_crc else None
        if cell is None:
            self.dropped += 1
            self.errors.add(Error.CELL)
        else:
            self.cells.append(cell)
        return True
