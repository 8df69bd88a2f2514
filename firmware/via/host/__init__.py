"""VIA on the host: a protected user-level interface, and the kernel agent (paper 001, 2.1 and 3.2)."""

from __future__ import annotations

from firmware.verbs import Host
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.agent import KernelAgent
from firmware.via.host.kernel_agent.connections.server import Connection
from firmware.via.host.library.descriptor import Descriptor
from firmware.via.host.library.nic import VipNic
from firmware.via.host.library.vi import Vi
from firmware.via.host.mesh import Mesh
from firmware.view import ClusterView
from pymodels.host.process import Process

__all__ = ["Connection", "Descriptor", "Result", "Vi", "Via", "VipError", "VipNic"]


class Via:
    """VIA library of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.kernel_agent = host, KernelAgent(host, view)

    async def start(self) -> None:
        """Load the driver. Call this once on each host, before anything else."""
        await self.kernel_agent.start()

    async def open(self, process: Process | None = None) -> VipNic:
        """Open the NIC for a process (VipOpenNic). Without a process, create one."""
        process = process or self.host.process()
        await process.syscall()
        return VipNic(self.kernel_agent, process)

    def mesh(self) -> Mesh:
        """Return unopened connections to all other hosts."""
        return Mesh(self)
