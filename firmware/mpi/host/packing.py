"""Packing of data of any datatype into contiguous bytes, and unpacking."""

from __future__ import annotations

from firmware.mpi.host.buffers import Spec, View, view
from firmware.mpi.host.calls import call
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.matched import Matched


class Packing(Matched):
    """Pack and Unpack of a communicator."""

    @call("MPI_Pack")
    async def Pack(self, inbuf: Spec, outbuf: bytearray, position: int) -> int:
        """Pack data into a buffer at a position and return the position after them (`MPI_Pack`)."""
        data = view(inbuf)
        await self._gaps(data)
        end = self._end(position, data.size, len(outbuf))
        outbuf[position:end] = await self.engine.copier.copy(data.packed())
        return end

    @call("MPI_Unpack")
    async def Unpack(self, inbuf: bytes | bytearray, position: int, outbuf: Spec) -> int:
        """Unpack data from a buffer at a position and return the position after them (`MPI_Unpack`)."""
        data = view(outbuf, True)
        end = self._end(position, data.size, len(inbuf))
        await self._gaps(data)
        data.fill(bytes(await self.engine.copier.copy(inbuf[position:end])))
        return end

    async def _gaps(self, data: View) -> None:
        if not data.contiguous:
            await self.engine.host.spend("mpi_block", data.blocks)

    def _end(self, position: int, size: int, room: int) -> int:
        """Return the end of `size` bytes at a position. Raises Misuse if they do not fit."""
        if not 0 <= position <= room - size:
            cause = f"{size} bytes from {position} on end behind the buffer of {room}"
            raise Misuse(ErrorClass.TRUNCATE, cause, "give a larger buffer or fewer elements")
        return position + size
