"""A long multicast message whose tree changes meanwhile: an endpoint receives all of it or nothing.

Strategy: the sender stops between two segments until another node has joined the tree, left it, or left and rejoined
it. The node must receive nothing of this message and all of the next one for which it is a member, and must keep no
part.
"""

from __future__ import annotations

import pytest

from firmware.grim.host import Grim
from firmware.grim.host.channel_queue import Outgoing, Piece
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.test_grim_multicast import poll_until

SEGMENT = 8
FIRST, SECOND = bytes(range(1, 5 * SEGMENT)), bytes(range(100, 100 + 3 * SEGMENT))
HELD = 3
"""Number of segments that leave before the tree changes."""


class Play:
    """Node 2 sends FIRST and SECOND to a tree with its root at node 0; node 1 changes its membership within FIRST."""

    def __init__(self, member: bool, changes: tuple[bool, ...]) -> None:
        """`member`: node 1 is in the tree from the beginning. `changes`: it joins (True), leaves (False)."""
        self.bench = Bench(3, channels=2, segment_bytes=SEGMENT)
        self.member, self.changes = member, changes
        self.got: list[bytes] = []
        self.ready = 0
        self.halfway = self.changed = self.sent = False

    def run(self) -> list[bytes]:
        """Return the messages that node 1 receives."""
        self.bench.run(self._node, 20_000)
        return self.got

    def parts(self) -> int:
        """Return the number of long messages of which node 1 keeps parts."""
        dispatch = self.bench.libraries[1].calls.messenger.dispatch
        return sum(len(incoming._long) for incoming in dispatch.incoming)

    async def _node(self, library: Grim, me: int) -> None:
        def on_data(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            self.got.append(bytes(payload))

        handler = (await self.bench.publish(library, data=on_data))["data"]
        if me:
            await poll_until(library, lambda: self.ready > 0)
        tree = await library.find_multicast_tree("t")
        if me == 1 and self.member:
            await library.subscribe_multicast(tree, 1)
        self.ready += 1
        await poll_until(library, lambda: self.ready == 3)
        if me == 1:
            await self._change(library, tree)
        elif me == 2:
            await self._send(library, tree, handler)
        await poll_until(library, lambda: self.sent and self.changed)
        for _ in range(100):
            await library.poll()
            await library.host.sleep(2_000_000)

    async def _change(self, library: Grim, tree: int) -> None:
        await poll_until(library, lambda: self.halfway and (self.parts() > 0 or not self.member))
        for join in self.changes:
            await (library.subscribe_multicast if join else library.unsubscribe_multicast)(tree, 1)
        self.changed = True

    async def _send(self, library: Grim, tree: int, handler: int) -> None:
        self._hold(library, library.calls.messenger.queues.outgoing[1])
        for payload in (FIRST, SECOND):
            await library.send_mc(tree, handler, payload=payload, channel=1)
        self.sent = True

    def _hold(self, library: Grim, queue: Outgoing) -> None:
        """Stop after a segment, polling, until node 1 has changed its membership."""
        put, count = queue.put, 0

        async def held(piece: Piece) -> None:
            nonlocal count
            await put(piece)
            count += 1
            if count == HELD:
                await library.host.sleep(200_000_000)
                self.halfway = True
                await poll_until(library, lambda: self.changed)

        queue.put = held  # type: ignore[method-assign]


def test_node_joining_between_two_segments_gets_the_next_message_first() -> None:
    play = Play(False, (True,))
    assert play.run() == [SECOND]
    assert play.parts() == 0


def test_node_leaving_between_two_segments_keeps_neither() -> None:
    play = Play(True, (False,))
    assert play.run() == []
    assert play.parts() == 0


@pytest.mark.parametrize("times", [1, 2])
def test_node_rejoining_between_two_segments_gets_the_next_message_first(times: int) -> None:
    play = Play(True, (False, True) * times)
    assert play.run() == [SECOND]
    assert play.parts() == 0


def test_node_that_stays_gets_both_messages() -> None:
    play = Play(True, ())
    assert play.run() == [FIRST, SECOND]
    assert play.parts() == 0


def test_segments_after_leaving_the_tree_are_dropped() -> None:
    play = Play(True, ())

    async def leave(library: Grim, tree: int) -> None:
        library.calls.messenger.dispatch.follow(tree, 0)  # the NI is not notified and delivers all parts late
        play.changed = play.halfway = True

    play._change = leave  # type: ignore[method-assign]
    assert play.run() == []
    assert play.parts() == 0
