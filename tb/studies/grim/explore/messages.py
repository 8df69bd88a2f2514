"""Small worlds of numbered messages: active messages between channels, and broadcasts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from tb.explore.world import Promise, SmallWorld
from tb.studies.grim.explore.play import LEFT_OUT, Cluster, Given, GrimPlay, say

HANDLER = 16
"""Number of the first application handler."""
EVERYBODY = -1
"""Target of a broadcast."""


class Sent(NamedTuple):
    """Message: source and target host, source channel, target channel (`endpoint`)."""

    source: int
    target: int
    channel: int = 0
    endpoint: int = 0

    def comes_to(self, node: int) -> bool:
        """Return True if the message is for a node."""
        return self.target in (node, EVERYBODY)


Traffic = tuple[Sent, ...]
"""Messages of all hosts. Each host sends its own in this order; a message's number is its index."""
Record = tuple[Any, ...]


class MessageScript:
    """Hosts that send each other numbered messages and record those they receive."""

    def __init__(self, cluster: Cluster, traffic: Traffic) -> None:
        self.grims, self.traffic = cluster.grims, traffic
        nodes = len(cluster.grims)
        self.got: list[list[int]] = [[] for _ in range(nodes)]
        """Numbers of the messages handled at each node; -1 for a wrong payload."""
        self.sent = [0] * nodes
        for node, grim in enumerate(self.grims):
            grim.handlers.functions[HANDLER] = partial(self._handle, node)
            grim.handlers.names[HANDLER] = "numbered"

    def _handle(self, node: int, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.got[node].append(number if bytes(payload) == self._body(number) else -1)

    def _body(self, number: int) -> bytes:
        one = self.traffic[number]
        return bytes((one.source, one.target & 0xFF, number, 7)) * 8

    async def act(self, node: int) -> None:
        """Send the messages of a node; see `Script`."""
        grim = self.grims[node]
        for number, one in enumerate(self.traffic):
            if one.source != node:
                continue
            if one.target == EVERYBODY:
                await grim.broadcast(HANDLER, number, payload=self._body(number))
            else:
                to = grim.get_dest_id(one.target, channel=one.endpoint)
                await grim.send(to, HANDLER, number, payload=self._body(number), channel=one.channel)
            self.sent[node] += 1

    def record(self, node: int) -> Record:
        """Return the messages sent and handled; see `Script`."""
        return self.sent[node], tuple(self.got[node])


class Once:
    """Promise: each message arrives once, in the order of its stream, without errors; broadcasts have one order
    everywhere.
    """

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic

    def always(self, node: int, record: Record) -> str:
        """Return a violation in any state; see `Promise`."""
        _, got, errors = record
        if errors:
            return f"host {node} got an error: {errors[0]}"
        strange = [number for number in got if number < 0 or not self._traffic[number].comes_to(node)]
        if strange:
            return f"host {node} got messages {list(got)}, of which {strange} are not for it, or are changed"
        return self._differs(node, got, False)

    def at_end(self, node: int, record: Record) -> str:
        """Return a violation in a final state; see `Promise`."""
        return self._differs(node, record[1], True)

    def _differs(self, node: int, got: tuple[int, ...], whole: bool) -> str:
        traffic = self._traffic
        for stream in dict.fromkeys(one for one in traffic if one.comes_to(node)):
            came = [number for number in got if traffic[number] == stream]
            meant = [number for number, one in enumerate(traffic) if one == stream]
            if came != (meant if whole else meant[: len(came)]):
                return f"host {node} got messages {came} of host {stream.source}, but {meant} were sent"
        return ""

    def together(self, records: tuple[Record, ...]) -> str:
        """Return a violation between nodes; see `Promise`."""
        came = [[number for number in got if self._traffic[number].target == EVERYBODY] for _, got, _ in records]
        for (node, one), (other, two) in combinations(enumerate(came), 2):
            if one[: len(two)] != two[: len(one)]:
                return f"hosts {node} and {other} got broadcasts in different orders: {one}, {two}"
        return ""


def world(
    name: str, question: str, sent: Iterable[tuple[int, ...]], options: Given, fine: bool = False, **further: Any
) -> SmallWorld:
    """Return a world of numbered messages."""
    traffic = tuple(Sent(*one) for one in sent)
    nodes = further.pop("nodes", 1 + max(max(one.source, one.target) for one in traffic))
    play = partial(_play, nodes, traffic, fine, options)
    once = Once(traffic)
    promise = Promise(once.always, once.at_end, once.together)
    return SmallWorld(name, question, play, promise, say, left_out=LEFT_OUT, **further)


def _play(nodes: int, traffic: Traffic, fine: bool, options: Given) -> GrimPlay:
    cluster = Cluster(nodes, fine, options)
    return GrimPlay(cluster, MessageScript(cluster, traffic))
