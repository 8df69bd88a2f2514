"""Fixed delays of the functional machine: plausible, not calibrated. Accurate timing requires the RTL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pymodels.lanai.clocks import Pace

CostLookup = Callable[[str, str], int]
"""Function that returns the picoseconds of a compiled path, by side ("nic" or "host") and path."""


def flat_cost(side: str, path: str) -> int:
    """Return the default cost of every path: 100 ns."""
    return 100_000


@dataclass(frozen=True)
class Timing:
    """Delays in picoseconds, sizes in bytes. The defaults approximate a LANai 9 card on PCI 64/66 (fact sheet 3.1)."""

    nic_clock: int = 7_500
    """Duration of a register access, and the unit of CPUC."""
    core: Pace | None = None
    """Timing of a NIC processor that executes machine code (`core_pace` of a profile); None for that of its chip."""
    rtc_tick: int = 500_000
    """Tick of RTC and the IT timers (fact sheet 3.1)."""
    character: int = 6_250
    """Duration of one character on a link."""
    send_start: int = 60_000
    """Delay from the write of a limit to the first character."""
    fall_through: int = 100_000
    """Delay of an idle switch from route byte to output."""
    cable: int = 15_000
    """Time of flight of a cable."""
    chunk: int = 128
    """Granularity of packet transfers, RMP and backpressure. The first chunk has half the size."""
    slack: int = 160
    """Number of bytes in the network at which their sender stops."""
    dma_start: int = 700_000
    """Start-up time of a host DMA block."""
    dma_byte: int = 2_000
    """Host DMA time for each byte (500 MB/s)."""
    dma_chunk: int = 512
    """Granularity at which DMA data become visible."""
    pio_word: int = 75_000
    """Store of one uncombined word by the CPU."""
    pio_combined: int = 15_000
    """Store of one word of a combined burst by the CPU."""
    pio_latency: int = 150_000
    """Delay from the CPU's store to the card."""
    pio_read: int = 490_000
    """Read of one word over the bus."""
    pio_line: int = 32
    """Maximum size of the pieces in which PIO data become visible on the card."""
    interrupt_least: int = 10_000_000
    """Minimum interrupt latency; latencies are drawn between it and `interrupt_most` (paper 003, Table 3.1)."""
    interrupt_most: int = 17_000_000
    """Maximum interrupt latency."""
    context_switch: int = 1_500_000
    """Context switch between threads."""
    signal: int = 2_500_000
    """Delivery of a signal, and return of its handler."""
    fault: int = 2_000_000
    """Delay from a page fault to its handler."""
    protect: int = 1_000_000
    """Change of the rights of a page, without the system call."""
    copy_byte: int = 5_000
    """Copy of a byte by memory; the instructions of the copy loop overlap with it."""
    syscall: int = 1_060_000
    """Kernel entry and return (Table 2.1)."""
