"""Fixed delays of the functional machine: plausible, not calibrated. Real timing comes from the RTL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pymodels.lanai.clocks import Pace

CostLookup = Callable[[str, str], int]
"""Picoseconds of one pass through a compiled path, by (side, path); side is "nic" or "host"."""


def flat_cost(side: str, path: str) -> int:
    """The default cost of every path: 100 ns."""
    return 100_000


@dataclass(frozen=True)
class Timing:
    """Delays in picoseconds, sizes in bytes. The defaults are near a LANai 9 card on PCI 64/66 (fact sheet 3.1)."""

    nic_clock: int = 7_500
    """One register access; the unit of CPUC."""
    core: Pace | None = None
    """Clocks of a NIC's processor that executes machine code; None: as its chip has them (`core_pace` of a profile)."""
    rtc_tick: int = 500_000
    """RTC and the IT timers (fact sheet 3.1)."""
    character: int = 6_250
    """One character on a link."""
    send_start: int = 60_000
    """From the write of a limit to the first character."""
    fall_through: int = 100_000
    """Route byte to output of an idle switch."""
    cable: int = 15_000
    """Flight from one end of a cable to the other."""
    chunk: int = 128
    """Granularity at which a packet moves, RMP advances and back-pressure acts. The first chunk has half of it."""
    slack: int = 160
    """A sender stops when this many bytes of it stand in the network."""
    dma_start: int = 700_000
    """Start-up of one host DMA block."""
    dma_byte: int = 2_000
    """Host DMA per byte (500 MB/s)."""
    dma_chunk: int = 512
    """Granularity at which DMA data become visible."""
    pio_word: int = 75_000
    """The CPU's store of one uncombined word."""
    pio_combined: int = 15_000
    """The same, per word of a combined burst."""
    pio_latency: int = 150_000
    """From the CPU's store to the card."""
    pio_read: int = 490_000
    """A read of one word over the bus."""
    pio_line: int = 32
    """PIO data become visible on the card in pieces of this many bytes at most."""
    interrupt_least: int = 10_000_000
    """Least interrupt latency; drawn by seed from here to `interrupt_most` (paper 003, Table 3.1)."""
    interrupt_most: int = 17_000_000
    """Most interrupt latency."""
    context_switch: int = 1_500_000
    """From one thread to another."""
    signal: int = 2_500_000
    """A signal is delivered, and its handler returns."""
    fault: int = 2_000_000
    """From a page fault to its handler."""
    protect: int = 1_000_000
    """The rights of a page are changed, the system call apart."""
    copy_byte: int = 5_000
    """A byte from memory to memory, instructions apart."""
    syscall: int = 1_060_000
    """Into the kernel and back (Table 2.1)."""
