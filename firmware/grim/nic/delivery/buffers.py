"""Receive buffers: while the packet in one is looked at and carried to the host, another is armed."""

from __future__ import annotations

from firmware.grim.nic.delivery.sentinels import Sentinels
from firmware.grim.nic.layout import NONE, Counter
from firmware.grim.nic.ni import Ni
from pymodels.registers import Reg


class Buffers:
    """Those of one NI: two, and with the option `buffering` those of the incoming queues."""

    def __init__(self, ni: Ni, sentinels: Sentinels) -> None:
        self._ni, self._nic, self._sentinels = ni, ni.nic, sentinels
        self.at = ni.layout.buffers
        """Addresses in SRAM, by number."""
        self.free = [True] * len(self.at)
        self.armed = NONE
        """The buffer that the next packet takes."""

    def arm(self, buffer: int) -> None:
        """Let the next packet into a buffer."""
        self._sentinels.arm(buffer)
        self.rewind(buffer)
        self.armed = buffer

    def rewind(self, buffer: int) -> None:
        """The receive engine begins with the buffer, for the first time or once more."""
        self._nic.write(Reg.RMP, self.at[buffer])
        self._nic.write(Reg.RML, self.at[buffer] + self._ni.layout.buffer_bytes)

    def received(self) -> None:
        """The armed buffer has a packet: arm a free one, those that the loop watches first."""
        self.free[self.armed] = False
        if True in self.free:
            self.arm(self.free.index(True))
        else:
            self.armed = NONE
            self._ni.count(Counter.STARVED)

    def release(self, buffer: int) -> None:
        """A buffer is free again; armed at once if none is."""
        self.free[buffer] = True
        if self.armed == NONE:
            self.arm(buffer)
