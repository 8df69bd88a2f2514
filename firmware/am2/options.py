"""Options of AM-II."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, OptionError, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults. 255 is the paper's; the others are ours (readings AM-C18 to C23)."""

    frames: int = option(8, "Endpoints in the NIC's memory", 1, 64)
    channels: int = option(
        32,
        "Stop-and-wait channels to a node: the first half for requests, the others for replies; of one, both",
        1,
        128,
    )
    timeout_us: int = option(2000, "A message without an acknowledgement is sent again after so long", 5, 1_000_000)
    retries: int = option(255, "So often; then it is returned (paper 002)", 1, 255)
    credits: int = option(4, "Requests of an endpoint to another one that are not answered", 1, 32)
    medium: int = option(8192, "Bytes of a staging block: the longest medium message. A multiple of 8", 512, 16384)
    full: str = option(
        "silent",
        "What becomes of a request whose receive queue is full: it is not acknowledged; or (nack) returned",
        choices=("silent", "nack"),
    )
    absent: str = option(
        "nack",
        "What becomes of a message to an endpoint that is not in the NIC's memory: its sender's NIC is told "
        "to send it later, and keeps it out of the channels; or (silent) it is not acknowledged. Silence is "
        "the first reading (AM-C24), but then two NICs whose frames wait for each other's endpoints do so "
        "until the retries are over",
        choices=("nack", "silent"),
    )
    replace: str = option(
        "clock",
        "Which endpoint leaves for another one: the first that was not stored to since the hand went round; "
        "any; that which was not for the longest",
        choices=("clock", "random", "lru"),
    )

    def check(self) -> None:
        """Raise OptionError for a staging block that is not whole words."""
        if self.medium % 8:
            raise OptionError("option medium", f"{self.medium} is no multiple of 8", "give one")
