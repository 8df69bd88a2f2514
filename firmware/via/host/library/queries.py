"""Attributes and counters of a host's NIC."""

from __future__ import annotations

from firmware.via.formats import Reliability
from firmware.via.host.common.attributes import NicAttributes
from firmware.via.host.kernel_agent.agent import KernelAgent
from firmware.via.host.kernel_agent.memory.host_translation import MOST_SEGMENTS
from firmware.via.host.library.entry_ring import MOST_ENTRIES
from firmware.via.nic.layout import Counter, Word
from pymodels.host.pages import PAGE


def nic_attributes(agent: KernelAgent) -> NicAttributes:
    """Return the attributes of a host's NIC."""
    options = agent.options
    return NicAttributes(
        agent.host.name,
        agent.me,
        agent.nodes,
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


async def counters(agent: KernelAgent) -> dict[str, int]:
    """Return the counters of NIC and kernel by name (VipQuerySystemManagementInfo)."""
    at = agent.host.nic_base + Word.COUNTERS
    found = {counter.name.lower(): await agent.host.pio_read(at + 4 * counter) for counter in Counter}
    return {**found, "interrupts": agent.interrupts.count, "writes_refused": agent.writes.refused}
