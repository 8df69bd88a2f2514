"""Options of AM-II."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, OptionError, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options of AM-II. The value 255 is from the paper, the others are not (readings AM-C18 to C23)."""

    frames: int = option(8, "Endpoints in the NIC's memory", 1, 64)
    channels: int = option(
        32,
        "Stop-and-wait channels to a node: the first half for requests, the others for replies; one serves both",
        1,
        128,
    )
    timeout_us: int = option(2000, "Retransmission time-out", 5, 1_000_000)
    retries: int = option(255, "Number of retransmissions, after which a message is returned (paper 002)", 1, 255)
    credits: int = option(4, "Unanswered requests of an endpoint to one destination", 1, 32)
    medium: int = option(
        8192, "Size of a staging block in bytes, the limit of medium messages; a multiple of 8", 512, 16384
    )
    full: str = option(
        "silent",
        "Handling of a request for a full receive queue. silent: not acknowledged; nack: returned to its sender",
        choices=("silent", "nack"),
    )
    absent: str = option(
        "nack",
        "Handling of a message to an endpoint that is not in the NIC's memory. nack: the sender's NIC "
        "sends it later, and frees its channel; silent: not acknowledged. silent is "
        "reading AM-C24, but two NICs whose frames wait for each other's endpoints then do so "
        "until the retries are over",
        choices=("nack", "silent"),
    )
    replace: str = option(
        "clock",
        "Endpoint that is evicted for another one. clock: the first not stored to since the last round; "
        "random: any; lru: the one least recently stored to",
        choices=("clock", "random", "lru"),
    )

    def check(self) -> None:
        """Raise OptionError for a staging block that is not whole words."""
        if self.medium % 8:
            raise OptionError("option medium", f"{self.medium} is not a multiple of 8", "give a multiple of 8")
