"""Compiled path of each step, where it depends on the queue style or the sequencing.

Each table is in the order of the queue styles (append, slotted, hybrid; see `channels`), any-to-any first, then per NI.
"""

from __future__ import annotations

SEND_PATHS = ("send_message", "slotted_send", "hybrid_send", "send_per_ni", "slotted_send_ni", "hybrid_send_ni")
"""Paths for a new message of an open stream."""
LATER_PATHS = (
    "send_later",
    "slotted_later",
    "slotted_later",
    "later_per_ni",
    "slotted_later_ni",
    "slotted_later_ni",
)
"""Paths for a new message that has to wait."""
FIND_PATHS = ("resend_find", "slotted_find", "slotted_find", "per_ni_find", "per_ni_find", "per_ni_find")
"""Paths for one step of the search for the next waiting message."""
BACK_STEP_PATHS = (
    "roll_back_step", "slotted_back", "slotted_back",
    "per_ni_back_step", "per_ni_back_step", "per_ni_back_step",
)  # fmt: skip
"""Paths for one scoreboard entry examined in a roll-back."""
ACK_PATHS = ("ack_seen", "slotted_ack", "hybrid_ack")
"""Paths for an acknowledged message, by queue style."""
RECEIVE_PATHS = ("receive_message", "receive_per_ni")
"""Paths for an accepted message, by sequencing."""
STYLES = 3
