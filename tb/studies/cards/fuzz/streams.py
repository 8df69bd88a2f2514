"""Long messages of several senders to one card at once.

Both hosts send to the shared circuit of one card on several channels, and wait until all calls have returned. A card
takes one stream at a time, so the NI must hold the others back, and each message must reach the circuit whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from tb.fuzz.program import Act
from tb.studies.cards.fuzz.acts import SHARED, CardActs
from tb.studies.grim.fuzz.node import Node

SENDERS = 3
"""Maximum number of channels of a node that send at once."""
MOST = 3
"""Maximum number of segments of a message that `segments` adds to its first one."""
LONGEST = 12_000
"""Maximum bytes of a message, which Icarus simulates in seconds."""
ROUNDS = 2


class Streams:
    """Acts of a node in which all nodes send to one card."""

    def __init__(self, node: Node, all_cards: Sequence[CardActs]) -> None:
        """Set up the acts; `all_cards` are those of each node, complete when all nodes have been created."""
        self.node, self._all = node, all_cards

    async def do_card_together(self, act: Act) -> None:
        """Send long messages from all hosts and from several channels of each."""
        card = act.whole("to") % self.node.cluster.program.nodes
        tasks = []
        for cards in self._all:
            for channel in cards.node.channels[:SENDERS]:
                call = self._many(cards, card, channel, act)
                tasks.append(cards.host.spawn(call, f"stream {channel} of node {cards.index}"))
        await self.node.idle(lambda: all(task.finished.done for task in tasks))  # results need room at this host

    async def _many(self, cards: CardActs, card: int, channel: int, act: Act) -> None:
        segment = cards.node.library.options.segment_bytes
        for number in range(ROUNDS):
            whole = 1 + (act.whole("segments") + channel + number) % (MOST + 1)
            size = segment * whole + act.whole("bytes") % segment
            await cards.send(card, SHARED, number, min(size, LONGEST), (cards.index, channel), channel)
