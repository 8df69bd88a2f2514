"""Table of the VIs of a NIC."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from firmware.via.formats import VIS
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.memory.host_translation import Translator
from firmware.via.host.kernel_agent.vis.context import ViContext
from firmware.via.host.kernel_agent.vis.doorbell_pages import DoorbellPages, UserPages
from firmware.via.host.kernel_agent.vis.posting import ViPosting
from firmware.via.host.kernel_agent.vis.shared import Shared
from firmware.via.nic.layout import State
from pymodels.host.process import Process


@dataclass(frozen=True)
class KernelVi:
    """Parts of a VI in the kernel."""

    context: ViContext
    posting: ViPosting
    pages: UserPages


class ViTable:
    """VIs by number. VI 0 belongs to the kernel agents."""

    def __init__(self, shared: Shared, translator: Translator) -> None:
        self.shared, self._translator = shared, translator
        self._doorbells = DoorbellPages(shared.layout)
        self._vis = [self._make(number, None) for number in range(shared.options.vis)]
        self.contexts = [vi.context for vi in self._vis]

    def _make(self, number: int, before: KernelVi | None) -> KernelVi:
        """Return a VI without owner; `before` is the last VI of its number."""
        shared = self.shared
        context = ViContext(shared, number, None if before is None else before.context)
        posting = ViPosting(shared, self._translator, context, None if before is None else before.posting)
        return KernelVi(context, posting, UserPages(shared, self._doorbells, context))

    def __iter__(self) -> Iterator[KernelVi]:
        return iter(self._vis)

    @property
    def agents(self) -> ViContext:
        """Context of VI 0."""
        return self.contexts[0]

    def create(self, process: Process, on_broken: Callable[[int], None]) -> KernelVi:
        """Create a VI for a process. Raises VipError if all are in use.

        Args:
            process: Owner.
            on_broken: Called with the VI's number when its connection breaks.
        """
        vi = next((vi for vi in self._vis[1:] if vi.context.process is None), None)
        if vi is None:
            there = len(self._vis) - 1
            what = f"creating a VI: all {there} VIs for processes are in use (VI 0 is for kernel agents)"
            more = "" if there + 1 == VIS else f", or raise via.vis, at most {VIS}"
            raise VipError(Result.ERROR_RESOURCE, what, f"destroy one{more}")
        vi.pages.take(process)
        vi.context.give_to(process, on_broken)
        return vi

    async def destroy(self, vi: KernelVi) -> None:
        """Destroy a VI, whose posted descriptors may be in memory that no longer exists."""
        context = vi.context
        context.dead, context.state = True, State.CLOSED
        await vi.pages.close()
        self._vis[context.number] = new = self._make(context.number, vi)
        self.contexts[context.number] = new.context
