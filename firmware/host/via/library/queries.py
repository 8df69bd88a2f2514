"""What the NIC of a host can do, and what it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.host.via.common.attributes import NicAttributes
from firmware.host.via.kernel_agent.memory.translation import MOST_SEGMENTS
from firmware.host.via.library.completion import MOST_ENTRIES
from firmware.nic.via.layout import Counter, Word
from pymodels.formats.via import Reliability
from pymodels.host.pages import PAGE

if TYPE_CHECKING:
    from firmware.host.via.kernel_agent.agent import Kernel


def nic_attributes(kernel: Kernel) -> NicAttributes:
    """Of the NIC of a host."""
    options = kernel.options
    return NicAttributes(
        kernel.host.name,
        kernel.me,
        kernel.nodes,
        options.vis - 1,
        options.outstanding,
        MOST_SEGMENTS,
        options.queues,
        MOST_ENTRIES,
        options.regions,
        options.table_words * PAGE if options.translation == "at2" else 0,
        options.transfer,
        options.packet,
        tuple(Reliability),
        True,
    )


async def counters(kernel: Kernel) -> dict[str, int]:
    """VipQuerySystemManagementInfo: what the NIC counts, and the kernel, by name."""
    at = kernel.host.nic_base + Word.COUNTERS
    found = {counter.name.lower(): await kernel.host.pio_read(at + 4 * counter) for counter in Counter}
    return {**found, "interrupts": kernel.interrupts, "writes_refused": kernel.writes.refused}
