"""Special registers of a NIC: ISR and its rules, timers, and the engine behind each register (fact sheet 3.3)."""

from __future__ import annotations

from collections.abc import Callable

from pymodels.machine.doorbell import Doorbells
from pymodels.machine.host_dma import HostDma
from pymodels.machine.memory import MachineError
from pymodels.machine.net_receive import NetReceive
from pymodels.machine.net_send import NetSend
from pymodels.machine.world import World
from pymodels.registers import MYRINET_AFTER_RESET, Isr, Reg

MASK32 = 0xFFFFFFFF
TIMERS: dict[int, int] = {Reg.IT0: Isr.TIME0, Reg.IT1: Isr.TIME1, Reg.IT2: Isr.TIME2}


class SpecialRegisters:
    """Special registers by offset. `isr_changed` is called after each change of ISR, `interrupt` at a change of the
    line.
    """

    def __init__(self, world: World, isr_changed: Callable[[], None], interrupt: Callable[[bool], None]) -> None:
        """Create registers with the numbering that firmware uses."""
        self.isr = 0
        self.in_reset = False
        self.interrupts_enabled = False
        self._kernel = world.kernel
        self._timing = world.timing
        self._isr_changed = isr_changed
        self._interrupt = interrupt
        self._line = False
        self._rtc_base = 0
        self._plain: dict[int, int] = {Reg.EIMR: 0, Reg.MYRINET: MYRINET_AFTER_RESET}
        self._timer_end = dict.fromkeys(TIMERS, 0)
        self._reads: dict[int, Callable[[], int]] = {}
        self._writes: dict[int, Callable[[int], None]] = {}

    def connect(self, send: NetSend, receive: NetReceive, dma: HostDma, doorbells: Doorbells) -> None:
        """Connect the registers of the engines."""
        self._reads = {
            Reg.ISR: lambda: self.isr,
            Reg.RTC: lambda: self._ticks() + self._rtc_base & MASK32,
            Reg.CPUC: lambda: self._kernel.now // self._timing.nic_clock & MASK32,
            Reg.RMP: lambda: receive.pointer,
            Reg.RML: lambda: receive.limit,
            Reg.RECV_LENGTH: lambda: receive.length,
            Reg.RECV_LOST: lambda: receive.lost,
            Reg.SMP: lambda: send.pointer,
            Reg.SML: lambda: send.limit,
            Reg.SMLT: lambda: send.limit,
            Reg.SA: lambda: send.align,
            Reg.DMA_STATUS: lambda: dma.status,
            Reg.DOORBELL_OVERFLOWS: lambda: doorbells.overflows,
            **{timer: self._timer_reader(timer) for timer in TIMERS},
        }
        self._writes = {
            Reg.ISR: lambda value: self.change(value & 1 << Isr.HOST_SIG, value & ~(1 << Isr.HOST_SIG)),
            Reg.RMP: receive.set_pointer,
            Reg.RML: receive.arm,
            Reg.SMP: send.set_pointer,
            Reg.SML: lambda value: send.set_limit(value, False),
            Reg.SMLT: lambda value: send.set_limit(value, True),
            Reg.SA: lambda value: setattr(send, "align", value & 7),
            Reg.PULSE: dma.pulse,
            Reg.EIMR: self._write_eimr,
            Reg.RTC: lambda value: setattr(self, "_rtc_base", value - self._ticks()),
            **{timer: self._timer_writer(timer) for timer in TIMERS},
        }
        for k in range(4):
            self._reads[Reg.DMA_LIST0 + 8 * k] = _getter(dma.lists, k)
            self._reads[Reg.DMA_PROGRESS0 + 8 * k] = _getter(dma.progress, k)
            self._reads[Reg.DOORBELL_PRODUCER0 + 8 * k] = _getter(doorbells.producers, k)
            self._reads[Reg.DOORBELL_CONSUMER0 + 8 * k] = _getter(doorbells.consumers, k)
            self._writes[Reg.DOORBELL_CONSUMER0 + 8 * k] = _setter(doorbells.consumers, k)

    def read(self, register: int) -> int:
        """Return the present value of a register."""
        reader = self._reads.get(register)
        return reader() if reader is not None else self._plain.get(_known(register), 0)

    def write(self, register: int, value: int) -> None:
        """Write a register from the NIC's processor."""
        writer = self._writes.get(register)
        if writer is not None:
            writer(value & MASK32)
        else:
            self._plain[_known(register)] = value & MASK32

    def write_from_host(self, register: int, value: int) -> None:
        """Write a register over PCI. Writing 1 to LANAI_SIG sets it, writing 1 to HOST_SIG clears it."""
        if register == Reg.ISR:
            self.change(value & 1 << Isr.LANAI_SIG, value & ~(1 << Isr.LANAI_SIG))
        else:
            self.write(register, value)

    def change(self, set_bits: int, clear_bits: int) -> None:
        """Set and clear ISR bits; setting wins."""
        self.isr = 0 if self.in_reset else (self.isr & ~clear_bits | set_bits) & MASK32
        self._isr_changed()
        self.update_line()

    def reset(self) -> None:
        """Enter reset: ISR, EIMR and MYRINET get their reset values, and ISR keeps it."""
        self.in_reset = True
        self._plain[Reg.EIMR], self._plain[Reg.MYRINET] = 0, MYRINET_AFTER_RESET
        self.change(0, MASK32)

    def update_line(self) -> None:
        """Drive the interrupt line: active if an enabled ISR bit is set and interrupts are enabled on the card."""
        line = self.interrupts_enabled and self.isr & self._plain[Reg.EIMR] != 0
        if line != self._line:
            self._line = line
            self._interrupt(line)

    def _write_eimr(self, value: int) -> None:
        self._plain[Reg.EIMR] = value
        self.update_line()

    def _ticks(self) -> int:
        return self._kernel.now // self._timing.rtc_tick

    def _timer_reader(self, timer: int) -> Callable[[], int]:
        return lambda: self._timer_end[timer] - self._ticks() & MASK32

    def _timer_writer(self, timer: int) -> Callable[[int], None]:
        bit = 1 << TIMERS[timer]

        def write(value: int) -> None:
            """Start the timer, which counts down from `value` and sets its bit when it passes 0."""
            end = self._timer_end[timer] = self._ticks() + value
            self._kernel.at(
                (end + 1) * self._timing.rtc_tick,
                lambda: self.change(bit, 0) if self._timer_end[timer] == end else None,
            )

        return write


def _known(register: int) -> int:
    try:
        return Reg(register)
    except ValueError:
        raise MachineError(f"no special register at offset {register:#05x}") from None


def _getter(values: list[int], k: int) -> Callable[[], int]:
    return lambda: values[k]


def _setter(values: list[int], k: int) -> Callable[[int], None]:
    return lambda value: values.__setitem__(k, value & 0x1FFFF)
