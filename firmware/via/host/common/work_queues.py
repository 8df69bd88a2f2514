"""Names of the two work queues of a VI, for library and kernel agent."""

from __future__ import annotations

from collections.abc import Sequence

SENT, RECEIVED = 1, 2
"""Work queues of a VI; also the bits of Vi.NOTIFY."""

Wants = Sequence[tuple[int, int]]
"""VIs and work queues whose completions a thread waits for."""
