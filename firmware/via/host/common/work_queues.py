"""The two work queues of a VI, as both the library and the kernel agent name them."""

from __future__ import annotations

from collections.abc import Sequence

SENT, RECEIVED = 1, 2
"""A VI's two work queues; bits of Vi.NOTIFY."""

Wants = Sequence[tuple[int, int]]
"""(VI, work queues) of which a completion may be what is waited for."""
