"""Options of LAPI, the initial environment of each context."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options of one context, with their defaults."""

    STACKED = True

    error_chk: int = option(1, "1: check the arguments of every call", 0, 1)
    timeout_us: int = option(1000, "Time after which an unacknowledged packet is retransmitted", 50, 1_000_000)
    interrupt_set: int = option(0, "1: interrupt mode; 0: polling mode", 0, 1)
    ack_packets: int = option(
        30, "Number of received packets after which an acknowledgement is sent at the latest", 1, 30
    )
