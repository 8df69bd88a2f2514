"""Options of TreadMarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.options import OptionError, check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "pages": (1, 65536),
        "collect_bytes": (256, 1 << 26),
        "processes": (0, 128),
        "vis": (1, 2),
        "prepost": (0, 256),
        "timer_us": (10, 1_000_000),
        "resend_us": (0, 10_000_000),
    }
)
WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"scheme": ("interrupt", "timer", "thread", "polling")})


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    pages: int = 4096
    """Of shared memory, 4 KB each."""
    collect_bytes: int = 1 << 20
    """A process with more of diffs, notices and intervals asks for a collection at the next barrier (readings C10)."""
    processes: int = 0
    """How many hosts take part, the first ones; 0: all."""
    scheme: str = "interrupt"
    """Over VIA, how a process notices Requests (paper 001, 5.4): a signal when one has come, the signal of a timer, a
    thread that sleeps at the completion queue, or `Tmk.poll` of the program alone."""
    timer_us: int = 10_000
    """Of scheme timer (paper 001, 5.4)."""
    vis: int = 2
    """Over VIA, of each pair of processes (paper 001, 5.3.3)."""
    prepost: int = 0
    """Over VIA, receives posted ahead at each VI for Requests; 0: as many as can come (readings C4)."""

    resend_us: int = 0
    """Over UDP, a Request without a Response is sent again after this time (readings C11); 0: never, for a network that
    loses nothing."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values, among which may be what the layer stands on. Raises OptionError."""
        own = {name: value for name, value in given.items() if name != "on"}
        check_values("TreadMarks", OptionError, own, RANGES, WORDS)
        return cls(**own)  # type: ignore[arg-type]
