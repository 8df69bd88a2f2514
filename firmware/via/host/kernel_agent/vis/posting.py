"""Posting through the kernel: descriptors are checked, translated and given to the NIC."""

from __future__ import annotations

from firmware.via.formats import INLINE, Field, Reliability
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.work_queues import RECEIVED, SENT
from firmware.via.host.kernel_agent.memory.host_translation import Translation, Translator
from firmware.via.host.kernel_agent.memory.registry import Region
from firmware.via.host.kernel_agent.rings.cache import Entry
from firmware.via.host.kernel_agent.vis.context import ViContext
from firmware.via.host.kernel_agent.vis.outstanding import Outstanding
from firmware.via.host.kernel_agent.vis.shared import Shared
from firmware.via.host.kernel_agent.vis.time_limit import TimeLimit
from firmware.via.nic.layout import Command, State, Vi
from pymodels.host import ProtectionFault


class ViPosting:
    """Work queues of one VI."""

    def __init__(self, shared: Shared, translator: Translator, vi: ViContext, before: ViPosting | None) -> None:
        """Create the queues; `before` are those of the last VI of this number, whose counters continue."""
        self._shared, self._translator, self._vi = shared, translator, vi
        counter = shared.layout.vi(vi.number, Vi.ANSWERED)
        over = {} if before is None else before._outstanding
        self._caches = {SENT: shared.sends, RECEIVED: vi.receives}
        self._outstanding: dict[int, Outstanding] = {
            side: Outstanding(shared.host, cache, counter, self._claims, over.get(side))
            for side, cache in self._caches.items()
        }
        self._limit: TimeLimit = TimeLimit(shared, vi, None if before is None else before._limit)

    async def post(self, side: int, va: int, handle: int) -> None:
        """Check and translate a descriptor, and give it to the NIC. Raises VipError.

        An error in the descriptor becomes its status, which the NIC writes in its turn.
        """
        vi = self._vi
        async with self._shared.lock:
            vi.check("posting to")
            found = self._translator.translate(vi.owner, vi.attributes, side, va, handle)
            await self._charge(side, found)
            entry = Entry(found.head(vi.number), found.pages)
            await self._bound(side)
            self._outstanding[side].add(va, entry, found.regions, side == SENT and self._answered)
            await self._caches[side].post(entry)
        if side == SENT:
            self.note()
        elif vi.state is State.ERROR:
            await vi.flush()
        elif found.refused:
            await self._shared.commands.give(Command.LOOK, vi)

    async def _charge(self, side: int, found: Translation) -> None:
        """Charge the process with the cost of posting."""
        process = self._vi.owner
        if found.refused:
            await process.spend("post_refused")
            return
        await process.spend("post_send" if side == SENT else "post_receive")
        await process.overhead("post_kernel")
        if found.pages:
            await process.spend("post_page", len(found.pages))
        elif found.inline is not None:
            await process.spend("post_inline", -(-len(found.inline) // INLINE))

    async def _bound(self, side: int) -> None:
        """Limit the VI's share of the common queue (readings C7). Raises VipError if too many are posted."""
        outstanding, most = self._outstanding[side], self._shared.options.outstanding
        if len(outstanding) >= most:
            await outstanding.look()
        if len(outstanding) >= most:
            what = f"posting to VI {self._vi.number}"
            raise VipError(Result.ERROR_RESOURCE, what, "wait for descriptors to complete")

    @property
    def _answered(self) -> bool:
        """True if sends are acknowledged."""
        return self._vi.reliability != Reliability.UNRELIABLE

    def note(self) -> None:
        """Start the time limit of a posted send on a reliable connection."""
        if self._answered:
            self._limit.posted()

    def _claims(self, va: int) -> int:
        """Return the status of a descriptor as the process sees it, or 1 if its memory is unmapped."""
        try:
            return self._vi.owner.load_words(va + Field.STATUS, 1)[0]
        except ProtectionFault:
            return 1

    async def busy(self) -> bool:
        """Return True if the NIC still holds descriptors of the VI."""
        for outstanding in self._outstanding.values():
            if len(outstanding):
                await outstanding.look()
        return any(map(len, self._outstanding.values()))

    async def uses(self, region: Region) -> bool:
        """Return True if the NIC may still use a region for this VI."""
        return any([await outstanding.uses(region) for outstanding in self._outstanding.values()])
