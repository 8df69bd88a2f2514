"""UDP of one host: creates sockets of processes and waits on several of them."""

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
    """UDP of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self.nodes = host, view.me, len(view.names)
        self.kernel = UdpKernel(host, view)

    async def start(self) -> None:
        """Start the driver. Call once, before anything else."""
        await self.kernel.driver.start()

    async def socket(self, process: Process) -> Socket:
        """Return a new socket without a port. Raises UdpError (EACCES) for a process of another host."""
        if process not in self.host.processes:
            cause, remedy = f"not a process of host {self.host.name}", "give a process of this host"
            raise UdpError(f"{process.who}: socket", "EACCES", cause, remedy)
        await process.in_kernel(self.host.spend("udp_socket"))
        return Socket(self.kernel, process)

    async def select(self, process: Process, sockets: Sequence[Socket], timeout_ns: int | None = None) -> list[Socket]:
        """Return the sockets that have a datagram, sleeping until there is one or the time is over.

        Signal handlers run meanwhile, and the wait continues. The checksum is checked on receipt, so `recvfrom` may
        find no datagram.

        Args:
            process: owner of the sockets.
            sockets: one or more sockets.
            timeout_ns: longest wait; None waits forever, 0 polls.

        Raises:
            UdpError: EBADF for a closed socket or another process's, EINVAL for no socket or a negative time.
        """
        host, slept = self.host, False
        if not sockets or (timeout_ns is not None and timeout_ns < 0):
            cause = f"{len(sockets)} sockets, {timeout_ns} ns"
            raise UdpError(
                f"{process.who}: select", "EINVAL", cause, "give at least one socket, and a time of 0 or more"
            )
        end, until = None if timeout_ns is None else host.now + 1000 * timeout_ns, host.event("the end of select")
        if timeout_ns:
            host.spawn(self._ring(1000 * timeout_ns, until), "clock of select")
        while True:
            ready = await process.in_kernel(self._look(process, sockets), slept)
            if ready or (end is not None and host.now >= end):
                return ready
            slept = await sockets[0].sleep(sockets, until, end)

    async def _look(self, process: Process, sockets: Sequence[Socket]) -> list[Socket]:
        """Return the ready sockets (in the kernel)."""
        for one in sockets:
            if one.process is not process:
                raise UdpError(
                    f"{process.who}: select",
                    "EBADF",
                    f"a socket belongs to {one.process.who}",
                    "give sockets of this process",
                )
        await self.host.overhead("select")
        await self.host.spend("udp_select", len(sockets))
        return [one for one in sockets if one.ready()]

    async def _ring(self, duration_ps: int, until: Signal) -> None:
        """End a `select` after its time."""
        await self.host.sleep(duration_ps, "the end of select")
        until.set()

    # ---- counters for studies

    @property
    def interrupts(self) -> int:
        """Number of interrupts so far."""
        return self.kernel.driver.interrupts

    async def dropped(self) -> int:
        """Return the number of frames dropped for lack of a receive buffer."""
        return await self.host.pio_read(self.host.nic_base + Word.DROPPED)

    async def damaged(self) -> int:
        """Return the number of damaged frames received."""
        return await self.host.pio_read(self.host.nic_base + Word.BAD)
