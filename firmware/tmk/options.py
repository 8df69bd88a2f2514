"""Options of TreadMarks."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults."""

    STACKED = True

    pages: int = option(4096, "Of shared memory, 4 KB each", 1, 65536)
    collect_bytes: int = option(
        1 << 20,
        "A process with more of diffs, notices and intervals asks for a collection at the next barrier (readings C10)",
        256,
        1 << 26,
    )
    processes: int = option(0, "How many hosts take part, the first ones; 0: all", 0, 128)
    vis: int = option(2, "Over VIA, of each pair of processes (paper 001, 5.3.3)", 1, 2)
    prepost: int = option(
        0, "Over VIA, receives posted ahead at each VI for Requests; 0: as many as can come (readings C4)", 0, 256
    )
    timer_us: int = option(10_000, "Of scheme timer (paper 001, 5.4)", 10, 1_000_000)
    resend_us: int = option(
        0,
        "Over UDP, a Request without a Response is sent again after this time (readings C11); 0: never, for a "
        "network that loses nothing",
        0,
        10_000_000,
    )
    scheme: str = option(
        "interrupt",
        "Over VIA, how a process notices Requests (paper 001, 5.4): a signal when one has come, the signal of "
        "a timer, a thread that sleeps at the completion queue, or `Tmk.poll` of the program alone",
        choices=("interrupt", "timer", "thread", "polling"),
    )
