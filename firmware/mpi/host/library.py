"""MPI of one rank: initialisation, finalisation, MPI_COMM_WORLD, buffers for buffered sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from firmware.mpi.host.communicator import Comm
from firmware.mpi.host.datatypes import whole
from firmware.mpi.host.engine import Engine
from firmware.mpi.host.errors import ErrorClass, MpiError
from firmware.mpi.host.over_grim import OverGrim
from firmware.mpi.host.over_lapi import OverLapi
from firmware.mpi.host.over_pipes import OverPipes
from firmware.mpi.host.over_via import OverVia
from firmware.mpi.host.steps import Collective
from firmware.mpi.host.transport import Transport
from firmware.mpi.host.types import Types
from firmware.mpi.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView

TRANSPORTS: Mapping[str, Callable[[Host, int, int, Any, Options], Transport]] = MappingProxyType(
    {"grim": OverGrim, "via": OverVia, "pipes": OverPipes, "lapi": OverLapi}
)
"""Transport of each layer below; takes host, rank, number of ranks, that layer's library, and MPI's options."""


class Mpi(Types):
    """MPI on one host, whose rank in MPI_COMM_WORLD is its virtual node number."""

    def __init__(self, host: Host, view: ClusterView, below: Any) -> None:
        """Create MPI over `below`, the library of the layer below."""
        self.host, self.below = host, below
        names, options = view.names, Options.from_values(view.options)
        transport = TRANSPORTS[str(view.options.get("on", "grim"))](host, view.me, len(names), below, options)
        self.engine = Engine(host, names, view.me, transport, options)
        super().__init__(self.engine.calling)
        self.COMM_WORLD = Comm(self.engine, range(len(names)), 0, "MPI_COMM_WORLD")
        self._finalized = False

    async def Init(self) -> None:
        """Initialise MPI (`MPI_Init`). Return when this rank can send to all. Raises MpiError if called twice."""
        if self.engine.running or self._finalized:
            rank, cause = self.engine.rank, "MPI is initialized already"
            raise MpiError(rank, "MPI_Init", ErrorClass.OTHER, cause, "call it once")
        await self.engine.start()

    async def Finalize(self) -> None:
        """Finalise MPI on all ranks (`MPI_Finalize`).

        Raises MpiError for requests that were not waited for, and for messages that were not received.
        """
        engine, call = self.engine, "MPI_Finalize"
        with engine.calling(call):
            if engine.open:
                cause = f"{len(engine.open)} operations are open, the first one of {engine.open[0].call}"
                raise MpiError(engine.rank, call, ErrorClass.PENDING, cause, "wait for their requests, or free them")
            await self.COMM_WORLD._barrier(Collective.Finalize)
            await engine.until(lambda: not engine.buffer_in_use, otherwise=f"{call}: buffered messages in transit")
            if engine.matcher.messages:
                lost = engine.matcher.messages[0].key
                cause = (
                    f"{len(engine.matcher.messages)} messages were not received, the first one from rank {lost.source}"
                )
                raise MpiError(engine.rank, call, ErrorClass.PENDING, f"{cause}, tag {lost.tag}", "receive them")
            await engine.finish()
        engine.running = False
        self._finalized = True

    def Wtime(self) -> float:
        """Return the simulated time in seconds (`MPI_Wtime`)."""
        return self.host.now * 1e-12

    def Attach_buffer(self, size: int) -> None:
        """Attach a buffer of `size` bytes for buffered sends (`MPI_Buffer_attach`). Raises MpiError if there is one."""
        with self.engine.calling("MPI_Buffer_attach"):
            size = whole("size", size, ErrorClass.BUFFER, 1)
            if self.engine.buffer:
                cause = f"a buffer of {self.engine.buffer} bytes is attached"
                raise MpiError(self.engine.rank, "MPI_Buffer_attach", ErrorClass.BUFFER, cause, "detach it first")
            self.engine.buffer = size

    async def Detach_buffer(self) -> int:
        """Wait for all buffered messages and detach the buffer (`MPI_Buffer_detach`). Return its size in bytes."""
        engine = self.engine
        with engine.calling("MPI_Buffer_detach"):
            await engine.until(lambda: not engine.buffer_in_use, otherwise="MPI_Buffer_detach: messages in transit")
            size, engine.buffer = engine.buffer, 0
        return size
