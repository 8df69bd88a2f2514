"""Completion of host DMA transfers: buffers are freed and waiting work continues."""

from __future__ import annotations

from firmware.grim.nic.delivery.buffering import Buffering
from firmware.grim.nic.delivery.buffers import Buffers
from firmware.grim.nic.delivery.cutting import CutThrough
from firmware.grim.nic.delivery.delivery import OWN, REPORT, Delivery
from firmware.grim.nic.multicast import Multicast
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.remote_memory.remote import Remote
from firmware.grim.nic.reports import Reports
from pymodels.trace import TraceEvent


class DmaEnds:
    """Main-loop step for completed blocks of the delivery chain."""

    def __init__(
        self,
        ni: Ni,
        delivery: Delivery,
        buffers: Buffers,
        cut_through: CutThrough,
        buffering: Buffering | None,
        multicast: Multicast,
        remote: Remote,
        reports: Reports,
    ) -> None:
        self._nic = ni.nic
        self._delivery, self._buffers, self._cut_through, self._buffering = delivery, buffers, cut_through, buffering
        self._multicast, self._remote, self._reports = multicast, remote, reports

    async def done(self) -> None:
        """Handle WAKE: process completed DMA blocks and free their buffers."""
        await self._nic.work("dma_done")
        blocks = reports = 0
        while (entry := self._delivery.finished()) is not None:
            buffer, key, size = entry
            blocks += 1
            if buffer == REPORT:
                reports += 1
            elif buffer >= 0:
                self._nic.trace(TraceEvent.NIC_DMA_DONE, key, size, message=self._buffers.message[buffer])
                self._buffers.release(buffer)
            if buffer <= OWN:
                await self._multicast.ended(buffer)
            elif self._remote.under_way:
                await self._remote.ended(buffer, key, size)
        if blocks > 2:  # the path includes the two blocks of one message
            await self._nic.work("dma_done", (blocks - 1) // 2)
        if reports:
            await self._reports.brought(reports)
        if self._buffering is not None:
            await self._buffering.drained()
        await self._cut_through.more()
