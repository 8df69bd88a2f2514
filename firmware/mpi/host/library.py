"""MPI of one rank: initialize, finalize, the world, buffers for buffered sends."""

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
"""By the layer below: of host, rank, number of ranks, that layer's library, and MPI's options."""


class Mpi(Types):
    """MPI on one host, whose rank in MPI_COMM_WORLD is its virtual node number."""

    def __init__(self, host: Host, view: ClusterView, below: Any) -> None:
        """`below`: the library of the layer on which MPI stands."""
        self.host, self.below = host, below
        names, options = view.names, Options.of(view.options)
        transport = TRANSPORTS[str(view.options.get("on", "grim"))](host, view.me, len(names), below, options)
        self.engine = Engine(host, names, view.me, transport, options)
        super().__init__(self.engine.calling)
        self.COMM_WORLD = Comm(self.engine, range(len(names)), 0, "MPI_COMM_WORLD")
        self._finalized = False

    async def Init(self) -> None:
        """`MPI_Init`: returns when this rank can send to all others. Raises MpiError when it is called twice."""
        if self.engine.running or self._finalized:
            rank, cause = self.engine.rank, "MPI is initialized already"
            raise MpiError(rank, "MPI_Init", ErrorClass.OTHER, cause, "call it once")
        await self.engine.start()

    async def Finalize(self) -> None:
        """`MPI_Finalize`: all ranks call it, with nothing left to do. Raises MpiError for requests that nobody has
        waited for, and for messages that nobody has received.
        """
        engine, call = self.engine, "MPI_Finalize"
        with engine.calling(call):
            if engine.open:
                cause = f"{len(engine.open)} operations are open, the first one of {engine.open[0].call}"
                raise MpiError(engine.rank, call, ErrorClass.PENDING, cause, "wait for their requests, or free them")
            await self.COMM_WORLD._barrier(Collective.Finalize)
            await engine.until(lambda: not engine.buffer_in_use, otherwise=f"{call}: buffered messages on their way")
            if engine.matcher.messages:
                lost = engine.matcher.messages[0].key
                cause = (
                    f"nobody has received {len(engine.matcher.messages)} messages, the first one of rank {lost.source}"
                )
                raise MpiError(engine.rank, call, ErrorClass.PENDING, f"{cause}, tag {lost.tag}", "receive them")
            await engine.finish()
        engine.running = False
        self._finalized = True

    def Wtime(self) -> float:
        """`MPI_Wtime`: simulated seconds."""
        return self.host.now * 1e-12

    def Attach_buffer(self, size: int) -> None:
        """`MPI_Buffer_attach`: so many bytes for buffered sends. Raises MpiError when there is one."""
        with self.engine.calling("MPI_Buffer_attach"):
            size = whole("size", size, ErrorClass.BUFFER, 1)
            if self.engine.buffer:
                cause = f"a buffer of {self.engine.buffer} bytes is attached"
                raise MpiError(self.engine.rank, "MPI_Buffer_attach", ErrorClass.BUFFER, cause, "detach it first")
            self.engine.buffer = size

    async def Detach_buffer(self) -> int:
        """`MPI_Buffer_detach`: wait until all buffered messages have arrived; the bytes that there were."""
        engine = self.engine
        with engine.calling("MPI_Buffer_detach"):
            await engine.until(lambda: not engine.buffer_in_use, otherwise="MPI_Buffer_detach: messages on their way")
            size, engine.buffer = engine.buffer, 0
        return size
