"""VIA on the host: a user-level interface with protection, and the kernel agent behind it (paper 001, 2.1, 3.2)."""

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
    """VIA of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.kernel_agent = host, KernelAgent(host, view)

    async def start(self) -> None:
        """Load the driver: once a host, before anything else."""
        await self.kernel_agent.start()

    async def open(self, process: Process | None = None) -> VipNic:
        """VipOpenNic for a process; without one, for a new one."""
        process = process or self.host.process()
        await process.syscall()
        return VipNic(self.kernel_agent, process)

    def mesh(self) -> Mesh:
        """Connections with all other hosts, to be opened."""
        return Mesh(self)
