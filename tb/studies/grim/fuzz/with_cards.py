"""Options and acts of programs with cards: those of GRIM without what cards or the RTL do not support."""

from __future__ import annotations

CHANNELS = (2, 3, 4, 8)
NOT_WITH_CARDS = ("channels", "queue_style", "sequencing", "hybrid_wait", "control_queue", "overflow")
"""Options that a card rejects, or with which a program may not end."""
QUEUES = (1 << 14, 1 << 17, 1 << 20)
"""Bytes of a card's incoming queue: at most half a bank, because `Injection` uses the rest."""
NOT_HERE = frozenset({"go down", "stand still", "insert", "time search"})
"""Acts of GRIM that the RTL does not support, or that cannot be combined with cards."""
