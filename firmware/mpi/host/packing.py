"""Packing: data of any datatype as bytes one behind the other, and back."""

from __future__ import annotations

from firmware.mpi.host.buffers import Spec, View, view
from firmware.mpi.host.calls import call
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.matched import Matched


class Packing(Matched):
    """Pack, Unpack."""

    @call("MPI_Pack")
    async def Pack(self, inbuf: Spec, outbuf: bytearray, position: int) -> int:
        """Data into a buffer from a position on; the position behind them."""
        data = view(inbuf)
        await self._gaps(data)
        end = self._end(position, data.size, len(outbuf))
        outbuf[position:end] = await self.engine.copier.copy(data.packed())
        return end

    @call("MPI_Unpack")
    async def Unpack(self, inbuf: bytes | bytearray, position: int, outbuf: Spec) -> int:
        """Data out of a buffer from a position on; the position behind them."""
        data = view(outbuf, True)
        end = self._end(position, data.size, len(inbuf))
        await self._gaps(data)
        data.fill(bytes(await self.engine.copier.copy(inbuf[position:end])))
        return end

    async def _gaps(self, data: View) -> None:
        if not data.contiguous:
            await self.engine.host.spend("mpi_block", data.blocks)

    def _end(self, position: int, size: int, room: int) -> int:
        """Where `size` bytes end. Raises Misuse where there is no room for them."""
        if not 0 <= position <= room - size:
            cause = f"{size} bytes from {position} on end behind the buffer of {room}"
            raise Misuse(ErrorClass.TRUNCATE, cause, "give a larger buffer or fewer elements")
        return position + size
