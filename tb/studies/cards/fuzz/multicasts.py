"""Multicast trees with cards: cards as members beside the hosts, and as the sender of their results into a tree.

Each host subscribes itself and its card to one tree, and itself to another one, before the acts. A message to the first
tree must reach both hosts, and both cards' shared circuits, which reply to the first sender. The results of the
stateless circuit `crc32` go into the second tree, and must reach both hosts. So each copy arrives exactly once.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial

from firmware.grim.formats import Device, Reference
from pymodels.card.registers import Forward
from tb.fuzz.program import Act
from tb.studies.cards.fuzz.acts import RESULT, SHARED, CardActs
from tb.studies.cards.fuzz.issued import CIRCUIT, crc32_card
from tb.studies.grim.fuzz.mail import INK
from tb.studies.grim.fuzz.node import CHECK, MASK, Node

WITH_CARDS, HOSTS = "cards", "hosts"
"""Names of the trees."""
MEMBER = "member"
"""Name of the handler that receives results of a tree."""
BURST = 3
LONGEST = 3000

Key = tuple[str, int, int]
"""Handler, node and number of a copy."""


class Copies:
    """Copies that must reach the hosts."""

    def __init__(self) -> None:
        self.expected: dict[Key, bytes] = {}
        self._arrived: set[Key] = set()
        self.wrong: list[str] = []
        self.results = 0
        """Number of results that cards send into a tree."""

    def arrive(self, key: Key, data: bytes) -> None:
        """Record and check a copy."""
        handler, node, number = key
        what = f"copy {number} for handler {handler!r} of node {node}"
        if key not in self.expected:
            self.wrong.append(f"{what} was not sent")
        elif key in self._arrived:
            self.wrong.append(f"{what} arrived twice")
        elif data != self.expected[key]:
            self.wrong.append(f"{what} has {len(data)} other bytes")
        self._arrived.add(key)

    def missing(self) -> Iterator[str]:
        """Yield a description of each missing copy."""
        for handler, node, number in sorted(set(self.expected) - self._arrived):
            yield f"copy {number} for handler {handler!r} has not arrived at node {node}"


class Multicasts:
    """Acts of a node on trees with cards."""

    def __init__(self, node: Node, cards: CardActs, copies: Copies, now: Callable[[], int]) -> None:
        self.node, self._cards, self._copies, self._now = node, cards, copies, now
        self._trees: dict[str, int] = {}
        """Numbers of the trees that the options allow."""

    def publish(self) -> None:
        """Register the handlers of copies; a host is a member with the name of the circuit."""
        for name in (SHARED, MEMBER):
            self.node.library.register_handler(self._handler(name), name)

    def _handler(self, name: str) -> Callable[..., None]:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            number = a1 & MASK
            if a2 & MASK != number * CHECK & MASK:
                self.node.wrong(f"handler {name} ran with arguments {a1:#x}, {a2:#x}")
            self._copies.arrive((name, self.node.index, number), bytes(payload))

        return handler

    async def begin(self) -> None:
        """Subscribe the host and its card, as far as the options allow trees."""
        node, trees = self.node, self.node.cluster.trees
        node.numbers[MEMBER] = await node.library.resolve_handler(MEMBER)
        own_card = 1 << node.library.nodes.channels(node.index).card
        for name, mask in ((WITH_CARDS, 1 | own_card), (HOSTS, 1))[: max(trees.most - 1, 0)]:
            trees.asked.add(name)
            self._trees[name] = await node.library.subscribe_multicast_by_name(name, mask)

    async def do_card_cast(self, act: Act) -> None:
        """Send to the tree of which the cards are members; a card takes one segment."""
        tree, node, jobs = self._trees.get(WITH_CARDS), self.node, self._cards.jobs
        if tree is None:
            return
        channel, argument = node.channel(act), act.whole("argument")
        await node.idle(lambda: not any(jobs.taken))
        size = min(act.whole("bytes"), node.library.options.segment_bytes, LONGEST)
        job = jobs.begin_cast(self._now(), SHARED, argument, size, (node.index, channel))
        for to in range(node.cluster.program.nodes):
            self._copies.expected[SHARED, to, job.number] = job.payload
        words = argument, job.number, job.number * CHECK & MASK, node.numbers[RESULT]
        await node.call(
            str(act),
            lambda: node.library.send_mc(tree, node.numbers[SHARED], *words, payload=job.payload, channel=channel),
        )

    async def do_card_root(self, act: Act) -> None:
        """Let a card send its results into the tree of hosts."""
        tree, node, library = self._trees.get(HOSTS), self.node, self.node.library
        if tree is None:
            return
        own = crc32_card(node.index)
        card = Reference(own, Device.CELOXICA, 0).pack()
        await node.call(str(act), lambda: self._direct(card, Forward.TREE, tree, node.numbers[MEMBER]))
        for step in range(BURST):
            number = self._copies.results
            self._copies.results += 1
            begin = 4 * act.whole("offset") + step
            payload = INK[begin : begin + act.whole("bytes") % LONGEST]
            for to in range(node.cluster.program.nodes):
                self._copies.expected[MEMBER, to, number] = zlib.crc32(payload).to_bytes(4, "little")
            words = 0, number, number * CHECK & MASK, 0
            await node.call(str(act), partial(library.send, card, node.numbers[CIRCUIT], *words, payload))
        mode, to, handler = self._cards.entry(own, CIRCUIT)
        await node.call(str(act), lambda: self._direct(card, mode, to, handler))

    async def _direct(self, card: int, mode: Forward, to: int, handler: int) -> bool:
        await self.node.library.forward(card, CIRCUIT, mode, to, handler)
        return True
