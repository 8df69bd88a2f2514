"""UDP of one host: it makes the sockets of processes, and looks at several of them at once."""

from __future__ import annotations

from collections.abc import Sequence

from firmware.udp.host.errors import UdpError
from firmware.udp.host.kernel import UdpKernel
from firmware.udp.host.sockets import Socket
from firmware.udp.nic.layout import Word
from firmware.verbs import Host, Signal
from firmware.view import ClusterView
from pymodels.host import Process


class Udp:
    """Of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self.nodes = host, view.me, len(view.names)
        self.kernel = UdpKernel(host, view)

    async def start(self) -> None:
        """Start the driver: once, before anything else."""
        await self.kernel.driver.start()

    async def socket(self, process: Process) -> Socket:
        """A new socket of a process of this host, without a port. EACCES for a process of another host."""
        if process not in self.host.processes:
            cause, remedy = f"it is no process of host {self.host.name}", "give one of this host"
            raise UdpError(f"{process.who}: socket", "EACCES", cause, remedy)
        await process.in_kernel(self.host.spend("udp_socket"))
        return Socket(self.kernel, process)

    async def select(self, process: Process, sockets: Sequence[Socket], timeout_ns: int | None = None) -> list[Socket]:
        """Those of a process's sockets at which a datagram is; sleep until there is one, or until a time has passed
        (None: for ever): then none. Handlers of signals run meanwhile, and it goes on. The checksum of a datagram is
        looked at when it is received, so that `recvfrom` may find it gone. EBADF, EINVAL.
        """
        host, slept = self.host, False
        if not sockets or (timeout_ns is not None and timeout_ns < 0):
            cause = f"{len(sockets)} sockets, {timeout_ns} ns"
            raise UdpError(f"{process.who}: select", "EINVAL", cause, "give a socket, and a time from 0 on")
        end, until = None if timeout_ns is None else host.now + 1000 * timeout_ns, host.event("the end of select")
        if timeout_ns:
            host.spawn(self._ring(1000 * timeout_ns, until), "clock of select")
        while True:
            ready = await process.in_kernel(self._look(process, sockets), slept)
            if ready or (end is not None and host.now >= end):
                return ready
            slept = await sockets[0].sleep(sockets, until, end)

    async def _look(self, process: Process, sockets: Sequence[Socket]) -> list[Socket]:
        """In the kernel."""
        for one in sockets:
            if one.process is not process:
                raise UdpError(
                    f"{process.who}: select", "EBADF", f"a socket is that of {one.process.who}", "give its own"
                )
        await self.host.overhead("select")
        await self.host.spend("udp_select", len(sockets))
        return [one for one in sockets if one.ready()]

    async def _ring(self, duration_ps: int, until: Signal) -> None:
        """The time is over."""
        await self.host.sleep(duration_ps, "the end of select")
        until.set()

    # ---- what a study measures

    @property
    def interrupts(self) -> int:
        """Interrupts so far."""
        return self.kernel.driver.interrupts

    async def dropped(self) -> int:
        """Frames to this host that found no receive buffer."""
        return await self.host.pio_read(self.host.nic_base + Word.DROPPED)

    async def damaged(self) -> int:
        """Frames to this host that came damaged."""
        return await self.host.pio_read(self.host.nic_base + Word.BAD)
