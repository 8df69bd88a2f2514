"""Receive buffers: one is armed for the next packet while another is processed and copied to the host."""

from __future__ import annotations

from firmware.grim.nic.delivery.sentinels import Sentinels
from firmware.grim.nic.layout import NONE, Counter
from firmware.grim.nic.ni import Ni
from pymodels.registers import Reg


class Buffers:
    """Receive-buffer pool of one NI: two buffers, plus those of the incoming queues with the option `buffering`."""

    def __init__(self, ni: Ni, sentinels: Sentinels) -> None:
        self._ni, self._nic, self._sentinels = ni, ni.nic, sentinels
        self.at = ni.layout.buffers
        """SRAM addresses of the buffers, by buffer number."""
        self.free = [True] * len(self.at)
        self.message = [0] * len(self.at)
        """Number in the trace of the message in each buffer."""
        self.armed = NONE
        """Buffer that the next packet is received into, or NONE."""

    def arm(self, buffer: int) -> None:
        """Receive the next packet into a buffer."""
        self._sentinels.arm(buffer)
        self.rewind(buffer)
        self.armed = buffer

    def rewind(self, buffer: int) -> None:
        """Point the receive engine to the start of a buffer."""
        self._nic.write(Reg.RMP, self.at[buffer])
        self._nic.write(Reg.RML, self.at[buffer] + self._ni.layout.buffer_bytes)

    def received(self) -> None:
        """Mark the armed buffer as used and arm a free one, preferring the buffers with a polled sentinel."""
        self.free[self.armed] = False
        if True in self.free:
            self.arm(self.free.index(True))
        else:
            self.armed = NONE
            self._ni.count(Counter.STARVED)

    def release(self, buffer: int) -> None:
        """Free a buffer, and arm it if no buffer is armed."""
        self.free[buffer] = True
        if self.armed == NONE:
            self.arm(buffer)
