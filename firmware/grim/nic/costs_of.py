"""Which compiled path a step takes: the style of the queue and the sequencing change some of them.

Each table is in the order of the styles (append, slotted, hybrid: `channels`), any-to-any first, then per NI.
"""

from __future__ import annotations

SEND_PATHS = ("send_message", "slotted_send", "hybrid_send", "send_per_ni", "slotted_send_ni", "hybrid_send_ni")
"""A new message of an open stream."""
LATER_PATHS = (
    "send_later",
    "slotted_later",
    "slotted_later",
    "later_per_ni",
    "slotted_later_ni",
    "slotted_later_ni",
)
"""A new message that waits."""
FIND_PATHS = ("resend_find", "slotted_find", "slotted_find", "per_ni_find", "per_ni_find", "per_ni_find")
"""One look for the next message that waits."""
BACK_STEP_PATHS = (
    "roll_back_step", "slotted_back", "slotted_back",
    "per_ni_back_step", "per_ni_back_step", "per_ni_back_step",
)  # fmt: skip
"""One message looked at in a roll-back."""
ACK_PATHS = ("ack_seen", "slotted_ack", "hybrid_ack")
"""A message is acknowledged, by style."""
RECEIVE_PATHS = ("receive_message", "receive_per_ni")
"""A message is accepted, by sequencing."""
STYLES = 3
