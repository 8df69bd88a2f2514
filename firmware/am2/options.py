"""Options of AM-II."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.options import OptionError, check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "frames": (1, 64),
        "channels": (1, 128),
        "timeout_us": (5, 1_000_000),
        "retries": (1, 255),
        "credits": (1, 32),
        "medium": (512, 16384),
    }
)
WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"full": ("silent", "nack"), "absent": ("nack", "silent"), "replace": ("clock", "random", "lru")}
)


@dataclass(frozen=True)
class Options:
    """The options with their defaults. 255 is the paper's; the others are ours (readings AM-C18 to C23)."""

    frames: int = 8
    """Endpoints in the NIC's memory."""
    channels: int = 32
    """Stop-and-wait channels to a node: the first half for requests, the others for replies; of one, both."""
    timeout_us: int = 2000
    """A message without an acknowledgement is sent again after so long."""
    retries: int = 255
    """So often; then it is returned (paper 002)."""
    credits: int = 4
    """Requests of an endpoint to another one that are not answered."""
    medium: int = 8192
    """Bytes of a staging block: the longest medium message. A multiple of 8."""
    full: str = "silent"
    """What becomes of a request whose receive queue is full: it is not acknowledged; or (nack) returned."""

    absent: str = "nack"
    """What becomes of a message to an endpoint that is not in the NIC's memory: its sender's NIC is told to send it
    later, and keeps it out of the channels; or (silent) it is not acknowledged. Silence is the first reading (AM-C24),
    but then two NICs whose frames wait for each other's endpoints do so until the retries are over.
    """
    replace: str = "clock"
    """Which endpoint leaves for another one: the first that was not stored to since the hand went round; any; that
    which was not for the longest."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        check_values("AM-II", OptionError, given, RANGES, WORDS)
        options = cls(**given)  # type: ignore[arg-type]
        if options.medium % 8:
            raise OptionError("option medium", f"{options.medium} is no multiple of 8", "give one")
        return options
