"""FIFO card of the machine: registers, pool and FIFOs behind its PCI side. Misuse that the card flags raises an
error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pymodels.machine.memory import MachineError, Memory
from pymodels.machine.net_send import NetSend
from pymodels.machine.network import Flight, ModelNetwork
from pymodels.machine.window import Window
from pymodels.machine.world import World
from pymodels.messages import PLACE
from pymodels.nics.fifo.cells import Cell
from pymodels.nics.fifo.registers import Descriptor, Form, Ready, Region, Size, State, Status, circuit_of
from pymodels.trace import Part, TraceEvent, unit

LINE_BYTES = 4096
"""Size of the buffer for data on the way to the link."""


class SendSide:
    """Send queue, oldest entry first, and the send engine."""

    def __init__(self, world: World, node: int, memory: Memory, network: ModelNetwork) -> None:
        self.buffers: deque[int] = deque()
        self.cells: deque[Cell] = deque()
        self._node, self._memory = node, memory
        self._unit, self._log = unit(node, Part.NET_SEND), world.log
        self.line = Memory(f"node {node} link interface", LINE_BYTES)
        self.engine = NetSend(world, node, self.line, network, self._progress)
        self._going = False

    @property
    def level(self) -> int:
        """Number of buffers or cells that have not been sent."""
        return len(self.buffers) + len(self.cells)

    def transmit(self, number: int) -> None:
        """Handle a write of TX_READY."""
        if not 0 < number < Size.BUFFERS:
            raise MachineError(f"node {self._node}: TX_READY: buffer {number} does not exist")
        if self.level == Size.TX_READY:
            raise MachineError(f"node {self._node}: TX_READY: the queue is full with {self.level} buffers")
        self.buffers.append(number)
        self._go_on()

    def put(self, cell: Cell) -> None:
        """Queue a complete cell."""
        if self.level == Size.OUT_CELLS:
            raise MachineError(f"node {self._node}: CELL_OUT: the queue is full with {self.level} cells")
        self.cells.append(cell)
        self._go_on()

    def _go_on(self) -> None:
        if self._going or not self.level:
            return
        number = self.buffers[0] if self.buffers else 0
        packet = self._packet(number) if self.buffers else self._wire(self.cells[0])
        self._going = True
        self.line.write(0, packet)
        self.engine.set_pointer(0)
        slot = Size.OUT_BASE + Size.SLOT * (self._log.turns[self._unit] % Size.OUT_CELLS)
        self.engine.set_limit(len(packet), True, self._place(number) if self.buffers else slot)

    def _place(self, number: int) -> int:
        """Return the address of the first byte that the descriptor of a buffer selects."""
        return Size.BUFFER * number + (self._memory.load(Size.DESCRIPTOR * number) >> Descriptor.SKIP & 7)

    def _packet(self, number: int) -> bytes:
        word = self._memory.load(Size.DESCRIPTOR * number)
        size, skip = word >> Descriptor.BYTES & 0xFFF, word >> Descriptor.SKIP & 7
        if word >> Descriptor.STATE != State.READY or not size or skip + size > Size.BUFFER:
            raise MachineError(
                f"node {self._node}: the descriptor of buffer {number} is {word:#010x}, not a packet to send"
            )
        self._memory.count("net send", self._place(number), size)
        return self._memory.read(self._place(number), size)

    def _wire(self, cell: Cell) -> bytes:
        place = Size.CIRCUIT * circuit_of(cell.header)
        entry = self._memory.read(place, Size.CIRCUIT)
        self._memory.count("net send", 0, Size.SLOT)
        return entry[Size.CIRCUIT - entry[0] % Size.CIRCUIT :] + cell.wire if entry[0] else cell.wire

    def _progress(self, raised: int, cleared: int) -> None:
        """Handle the start or the end of a packet in the engine."""
        if not raised:
            return
        self._going = False
        if self.buffers:
            place = Size.DESCRIPTOR * self.buffers.popleft()
            word = self._memory.load(place) & (1 << Descriptor.STATE) - 1
            self._memory.store(place, word | State.SENT << Descriptor.STATE)
        else:
            self.cells.popleft()
            self._log.turns[self._unit] += 1
        self._go_on()


class ReceiveSide:
    """Receive pool and received packets, or received cells; packets without a buffer stay in the network."""

    def __init__(self, world: World, node: int, memory: Memory) -> None:
        self.form = Form.BUFFERS
        self.pool: deque[int] = deque()
        self.ready: deque[int] = deque()
        self.cells: deque[Cell] = deque()
        self.dropped = 0
        self._node, self._memory = node, memory
        self._unit = unit(node, Part.NET_RECV)
        self._log = world.log
        self._messages = world.messages.sram(node)
        self.changed: Callable[[], None] = lambda: None
        """Callback after a possible change of the received packets, connected by the PCI side."""
        self._coming = bytearray()
        self._backlog: deque[tuple[Flight, bytes, int, bool]] = deque()

    @property
    def level(self) -> int:
        """Number of packets or cells that have arrived."""
        return len(self.ready) + len(self.cells)

    @property
    def in_use(self) -> bool:
        """True if the receive side holds anything except the pool."""
        return bool(self.level or self._coming)

    def renew(self, form: Form) -> None:
        """Handle a write of MODE."""
        self.form = form
        self.pool.clear()

    def free(self, number: int) -> None:
        """Handle a write of RX_FREE."""
        if not 0 < number < Size.BUFFERS:
            raise MachineError(f"node {self._node}: RX_FREE: buffer {number} does not exist")
        if number in self.pool:
            raise MachineError(f"node {self._node}: RX_FREE: buffer {number} is in the pool")
        self.pool.append(number)
        self._go_on()

    def next(self, form: Form) -> None:
        """Handle a write of RX_NEXT or CELL_NEXT."""
        arrived: deque[int] | deque[Cell] = self.cells if form is Form.CELLS else self.ready
        if not arrived:
            raise MachineError(f"node {self._node}: RX_NEXT or CELL_NEXT without a received packet or cell")
        arrived.popleft()
        self.changed()
        self._go_on()

    def offer(self, flight: Flight, data: bytes, size: int, tail: bool) -> None:
        """Accept bytes from the network."""
        self._backlog.append((flight, data, size, tail))
        self._go_on()

    @property
    def armed(self) -> bool:
        """True if there is room for the next packet."""
        return self._place and not self._backlog

    @property
    def _place(self) -> bool:
        return len(self.cells) < Size.IN_CELLS if self.form is Form.CELLS else bool(self.pool)

    def _go_on(self) -> None:
        while self._backlog and self._place:
            flight, data, size, tail = self._backlog.popleft()
            if not self._coming:
                self._messages[self._where >> PLACE] = flight.message
                self._log.add(self._unit, TraceEvent.RX_HEAD, flight.key, self._where, 0, flight.message)
            self._coming += data
            if tail:
                packet = bytes(self._coming)
                self._coming.clear()
                size, wrong, message = len(packet) + 1, flight.crc_error, flight.message
                self._log.add(self._unit, TraceEvent.RX_TAIL, flight.key, size, wrong, message)
                if self.form is Form.CELLS:
                    self._cell(packet, not flight.crc_error)
                else:
                    self._packet(packet, not flight.crc_error)
                self.changed()
            flight.taken(size, tail)

    @property
    def _where(self) -> int:
        """Address at which the next packet is stored."""
        if self.form is Form.CELLS:
            return Size.IN_BASE + Size.SLOT * (self._log.turns[self._unit] % Size.IN_CELLS)
        return Size.BUFFER * self.pool[0]

    def _packet(self, packet: bytes, good: bool) -> None:
        number, body = self.pool.popleft(), packet[: Size.BUFFER]
        self._memory.write(Size.BUFFER * number, body)
        self._memory.count("net receive", 0, len(body))
        word = 1 << Ready.VALID | number << Ready.NUMBER | len(body) << Ready.BYTES
        self.ready.append(word | (not good) << Ready.BAD_CRC | (len(packet) > Size.BUFFER) << Ready.LONG)

    def _cell(self, packet: bytes, good: bool) -> None:
        cell = Cell.read(packet) if good else None
        if cell is None:
            self.dropped += 1
        else:
            self._memory.count("net receive", 0, Size.SLOT)
            self.cells.append(cell)
            self._log.turns[self._unit] += 1


class FifoWindow(Window):
    """PCI side of the card: memory, registers, windows on cells."""

    def __init__(self, world: World, node: int, memory: Memory, send: SendSide, receive: ReceiveSide) -> None:
        super().__init__(world, node, memory)
        self._send, self._receive = send, receive
        receive.changed = self.changed
        self._asks = self._begun = False
        self._cell = bytearray(Size.CELL_PAYLOAD + Size.PAYLOAD)
        self._writers: dict[int, Callable[[int], None]] = {
            Region.MODE: self._mode,
            Region.INTERRUPT: self._ask,
            Region.ERRORS: lambda value: None,
            Region.TX_READY: self._transmit,
            Region.RX_FREE: self._free,
            Region.RX_NEXT: lambda value: receive.next(Form.BUFFERS),
            Region.CELL_NEXT: lambda value: receive.next(Form.CELLS),
        }
        self._readers: dict[int, Callable[[], int]] = {
            Region.STATUS: self._status,
            Region.MODE: lambda: receive.form,
            Region.RX_FREE: lambda: len(receive.pool),
            Region.RX_READY: lambda: receive.ready[0] if receive.ready else 0,
            Region.DROPPED: lambda: receive.dropped,
        }

    def changed(self) -> None:
        """Update the interrupt line after a change of the received packets."""
        self.interrupt(self._asks and self._receive.level > 0)

    def _transmit(self, number: int) -> None:
        self._check_form()
        self._send.transmit(number)

    def _free(self, number: int) -> None:
        self._check_form()
        self._receive.free(number)

    def _check_form(self) -> None:
        if self._receive.form is not Form.BUFFERS:
            raise MachineError(f"node {self._node}: TX_READY and RX_FREE need a card with buffers")

    def _mode(self, value: int) -> None:
        if self._receive.in_use or self._send.level:
            raise MachineError(f"node {self._node}: MODE written while the FIFO card is not empty")
        self._receive.renew(Form(value & 1))

    def _ask(self, value: int) -> None:
        self._asks = bool(value & 1)
        self.changed()

    def _status(self) -> int:
        send, receive = self._send.level, self._receive.level
        levels = (
            (Status.ARRIVED, receive > 0), (Status.IDLE, send == 0), (Status.CELLS, self._receive.form),
            (Status.SEND_LEVEL, send), (Status.RECEIVE_LEVEL, receive),
        )  # fmt: skip
        return sum(int(level) << bit for bit, level in levels)

    def _write_word(self, offset: int, value: int) -> None:
        if self._receive.form is Form.CELLS and Region.CELL_OUT <= offset < Region.CELL_OUT + len(self._cell):
            self._cell_word(offset - Region.CELL_OUT, value)
        elif offset in self._writers:
            self._writers[offset](value)
        else:
            raise self._nothing("write", offset)

    def _cell_word(self, at: int, value: int) -> None:
        """Store a word of a cell to send: the first begins the cell, the last queues it."""
        self._begun |= at < Size.CELL_PAYLOAD
        if not self._begun:
            raise MachineError(f"node {self._node}: CELL_OUT: a cell begins with its header")
        self._cell[at : at + 4] = value.to_bytes(4, "big")
        if at + 4 == len(self._cell):
            self._begun = False
            header = int.from_bytes(self._cell[Size.CELL_HEADER : Size.CELL_PAYLOAD], "big")
            self._send.put(Cell(header, bytes(self._cell[Size.CELL_PAYLOAD :])))

    def _read_word(self, offset: int) -> int:
        at, cells = offset - Region.CELL_IN, self._receive.cells
        if self._receive.form is Form.CELLS and 0 <= at < len(self._cell):
            cell = cells[0] if cells else Cell(0, bytes(Size.PAYLOAD))
            shown = bytes(Size.CELL_HEADER) + cell.header.to_bytes(4, "big") + cell.payload
            return int.from_bytes(shown[at : at + 4], "big")
        if offset not in self._readers:
            raise self._nothing("read", offset)
        return int(self._readers[offset]())


class FifoNic:
    """FIFO card that satisfies the protocol `pymodels.machine.parts.MachineNic`."""

    def __init__(self, world: World, node: int, sram_bytes: int, network: ModelNetwork) -> None:
        self.node, self.sram_bytes, self.who = node, sram_bytes, f"NIC {node}"
        memory = Memory(f"node {node} card memory", sram_bytes)
        side = SendSide(world, node, memory, network)
        self.receive = ReceiveSide(world, node, memory)
        self.send = side.engine
        self.memories = [memory, side.line]
        self.card = FifoWindow(world, node, memory, side, self.receive)

    def forget(self) -> None:
        """Normalize equivalent states for model checking: the order of free buffers, and the content of free buffers
        and line.
        """
        memory, line = self.memories
        self.receive.pool = deque(sorted(self.receive.pool))
        for number in self.receive.pool:
            memory.write(Size.BUFFER * number, bytes(Size.BUFFER))
        if not self.send.busy:
            line.write(0, bytes(line.size))

    def connect(self, host_memory: Memory, check_grant: Callable[[int, int], None]) -> None:
        """Do nothing: the card does not access host memory."""


NIC = FifoNic
