"""Registers of the SP adapter, including STATUS (`pymodels.nics.sp.registers`)."""

from __future__ import annotations

from collections.abc import Callable

from pymodels.machine.doorbell import Doorbells
from pymodels.machine.memory import MachineError
from pymodels.machine.world import World
from pymodels.nics.sp.left import LeftEngine
from pymodels.nics.sp.packets import ReceiveBuffer, SendSide
from pymodels.nics.sp.registers import SpReg, SpSize, SpStatus

COUNT, MASK32 = 0xFF, 0xFFFFFFFF
STICKY = 1 << SpStatus.TIME


class SpRegisters:
    """Registers by offset."""

    def __init__(
        self,
        world: World,
        left: LeftEngine,
        send: SendSide,
        receive: ReceiveBuffer,
        bells: Doorbells,
        changed: Callable[[], None],
    ) -> None:
        self.sticky = 0
        """Sticky bits of STATUS (TIME)."""
        self.interrupting = False
        self.drive: Callable[[bool], None] = lambda level: None
        """Function that sets the interrupt line."""
        self._kernel = world.kernel
        self._clock = world.timing.nic_clock
        self._left, self._send, self._receive, self._bells = left, send, receive, bells
        self._changed = changed
        self._high = 0
        self._timer = 0

    @property
    def status(self) -> int:
        """Value of STATUS. ERROR is always 0 and ROOM always 1, since the machine raises MachineError instead."""
        left = self._left
        counters = (SpStatus.FETCHED, left.fetched), (SpStatus.STORED, left.stored), (SpStatus.SENT, self._send.sent)
        levels = (
            (SpStatus.ARRIVED, self._receive.head is not None),
            (SpStatus.SEND_FREE, self._send.free),
            (SpStatus.ROOM, True),
            (SpStatus.LEFT_IDLE, left.idle),
            (SpStatus.READ, left.read_done),
            (SpStatus.BELL, self._bells.producers[0] != self._bells.consumers[0]),
        )
        return (
            self.sticky
            | sum(level << bit for bit, level in levels)
            | sum((count & COUNT) << bit for bit, count in counters)
        )

    def read(self, register: int) -> int:
        """Return the present value of a register."""
        packet = self._receive.head
        if SpReg.RECV0 <= register <= SpReg.RECV7:
            return self._received((register - SpReg.RECV0) // 4)
        if SpReg.READ0 <= register < SpReg.READ0 + SpSize.READ:
            at = register - SpReg.READ0
            return int.from_bytes(self._left.words[at : at + 4], "big")
        values: dict[int, Callable[[], int]] = {
            SpReg.STATUS: lambda: self.status,
            SpReg.INTERRUPT: lambda: int(self.interrupting),
            SpReg.ERRORS: lambda: 0,
            SpReg.TIME: lambda: self._kernel.now // self._clock & MASK32,
            SpReg.RECV_STATUS: lambda: packet.status if packet else 0,
            SpReg.BELL_PRODUCER: lambda: self._bells.producers[0],
            SpReg.BELL_CONSUMER: lambda: self._bells.consumers[0],
            SpReg.BELL_BASE: lambda: self._bells.bases[0],
            SpReg.BELL_OVERFLOWS: lambda: self._bells.overflows,
        }
        if register not in values:
            raise MachineError(f"the SP adapter has no readable register {register:#05x}")
        return values[register]()

    def _received(self, index: int) -> int:
        """Return a word of the packet at the head."""
        packet = self._receive.head
        if packet is None:
            return 0
        first = packet.user[:8].ljust(8, b"\0")
        return (*packet.words, int.from_bytes(first[:4], "big"), int.from_bytes(first[4:], "big"))[index]

    def write(self, register: int, value: int) -> None:
        """Write a register."""
        value &= MASK32
        if SpReg.SEND0 <= register <= SpReg.SEND5:
            self._send.words[(register - SpReg.SEND0) // 4] = value
        elif SpReg.OWN0 <= register < SpReg.OWN0 + SpSize.INLINE:
            self._send.own[(register - SpReg.OWN0) // 4] = value
        else:
            self._act(register, value)
            self._changed()

    def _act(self, register: int, value: int) -> None:
        """Write a register with side effects."""
        writers: dict[int, Callable[[], None]] = {
            SpReg.ACK: lambda: setattr(self, "sticky", self.sticky & ~(value & STICKY)),
            SpReg.INTERRUPT: lambda: self._interrupt(value),
            SpReg.ERRORS: lambda: None,
            SpReg.TIMER: lambda: self._start_timer(value),
            SpReg.COMMAND_HIGH: lambda: setattr(self, "_high", value),
            SpReg.COMMAND_LOW: lambda: self._left.insert(self._high, value),
            SpReg.DATA_HIGH: lambda: setattr(self, "_high", value),
            SpReg.DATA_LOW: lambda: self._left.insert_words(self._high, value),
            SpReg.DATA_ONE: lambda: self._left.insert_words(value),
            SpReg.RECV_NEXT: self._next,
            SpReg.SEND_START: lambda: self._send.start(value),
            SpReg.BELL_CONSUMER: lambda: self._bells.consumers.__setitem__(0, value & 0x1FFFF),
            SpReg.BELL_BASE: lambda: self._bells.set_base(0, value),
        }
        if register not in writers:
            raise MachineError(f"the SP adapter has no writable register {register:#05x}")
        writers[register]()

    def _next(self) -> None:
        self._receive.next()
        self._left.insert_next()

    def _interrupt(self, value: int) -> None:
        if value & 1:
            self.interrupting = True
            self.drive(True)

    def _start_timer(self, clocks: int) -> None:
        """Set TIME after a number of clocks; a later write cancels the timer."""
        self._timer += 1
        mine = self._timer

        def ring() -> None:
            if mine == self._timer:
                self.sticky |= 1 << SpStatus.TIME
                self._changed()

        if clocks:
            self._kernel.at(self._kernel.now + clocks * self._clock, ring)
