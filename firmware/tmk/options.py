"""Options of TreadMarks."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults."""

    STACKED = True

    pages: int = option(4096, "pages of shared memory, 4 KB each", 1, 65536)
    collect_bytes: int = option(
        1 << 20,
        "bytes of diffs, notices and intervals above which the next barrier collects them (readings C10)",
        256,
        1 << 26,
    )
    processes: int = option(0, "number of hosts that take part, counted from the first; 0: all", 0, 128)
    vis: int = option(2, "over VIA, VIs of each pair of processes (paper 001, 5.3.3)", 1, 2)
    prepost: int = option(
        0, "over VIA, receives posted ahead at each VI for Requests; 0: as many as can arrive (readings C4)", 0, 256
    )
    timer_us: int = option(10_000, "period of scheme timer (paper 001, 5.4)", 10, 1_000_000)
    resend_us: int = option(
        0,
        "over UDP, time after which a Request without a Response is retransmitted (readings C11); 0: never, for a "
        "reliable network",
        0,
        10_000_000,
    )
    scheme: str = option(
        "interrupt",
        "over VIA, notification of Requests (paper 001, 5.4): a signal on arrival, the signal of "
        "a timer, a thread that sleeps at the completion queue, or only `Tmk.poll` of the program",
        choices=("interrupt", "timer", "thread", "polling"),
    )
