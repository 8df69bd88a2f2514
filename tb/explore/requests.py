"""Programs that send requests to each other, and the guarantees for their messages: delivered once, in order unless
waived, and all answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from firmware.common.host.request_reply import Call
from tb.explore.world import Play, Promise, SmallWorld

Choices = dict[str, int | str]


class Request(NamedTuple):
    """Request of a sender."""

    source: int
    data: bytes = b""


Traffic = tuple[Request, ...]
"""Requests of all hosts; those of one host are sent in this order."""


class User:
    """Program of a node. Set its port before it runs."""

    def __init__(self, node: int, traffic: Traffic) -> None:
        self.node, self.traffic = node, traffic
        self.port: Any
        self.seen: list[tuple[Any, ...]] = []
        """Received messages in order."""
        self.due = sum(request.source != node for request in traffic)
        """Number of requests addressed to it."""

    async def take(self, call: Call[Any]) -> None:
        """Answer a request."""
        self.seen.append(("request", *call.arguments, call.data))
        await call.reply(self.answered, *call.arguments, data=call.data)

    async def answered(self, call: Call[Any]) -> None:
        """Record an answer."""
        self.seen.append(("answer", *call.arguments, call.data))

    async def run(self) -> None:
        """Send the requests, and serve until everything is done."""
        for number, request in enumerate(self.traffic):
            if request.source == self.node:
                await self.port.request(1 - self.node, self.take, number, data=request.data)
        await self.serve()

    async def serve(self) -> None:
        """Serve until all incoming requests are handled, and all own ones answered."""
        await self.port.until(lambda: self.port.handled >= self.due and not self.port.unanswered)


@dataclass(frozen=True)
class Rules:
    """Guarantees of a world of requests."""

    traffic: Traffic
    ordered: bool = True
    """True if messages arrive in the order in which they were sent."""

    def due(self, node: int) -> list[tuple[Any, ...]]:
        """Return the requests addressed to a host, in order."""
        return [("request", n, one.data) for n, one in enumerate(self.traffic) if one.source != node]

    def answers(self, node: int) -> list[tuple[Any, ...]]:
        """Return the answers that a host must receive, in order."""
        return [("answer", n, one.data) for n, one in enumerate(self.traffic) if one.source == node]

    def always(self, node: int, record: Any) -> str:
        """See `Promise`."""
        for kind, due in (("request", self.due(node)), ("answer", self.answers(node))):
            came = [one for one in record if one[0] == kind]
            if not self._is_right(came, due):
                return f"host {node} has {came}, and should have {due}"
        return ""

    def _is_right(self, came: Sequence[object], due: Sequence[object]) -> bool:
        return came == due[: len(came)] if self.ordered else not Counter(came) - Counter(due)

    def at_end(self, node: int, record: Any) -> str:
        """See `Promise`."""
        lacking = len(self.due(node)) + len(self.answers(node)) - len(record)
        return f"host {node} lacks {lacking} messages" if lacking else ""


LOST: dict[str, Any] = {"faults": frozenset({"lost", "damaged"}), "times": 1}
DOUBLED: dict[str, Any] = {"faults": frozenset({"doubled"}), "times": 1}
LATE: dict[str, Any] = {"faults": frozenset({"overtaken"}), "times": 1}
"""Single faults of worlds that examine their effect."""


def request_world(
    name: str,
    question: str,
    traffic: Traffic,
    play: Callable[[], Play],
    say: Callable[[bytes], str],
    left_out: tuple[str, ...],
    **further: Any,
) -> SmallWorld:
    """Return a world of requests, whose order is guaranteed if there are no faults."""
    rules = Rules(traffic, ordered=not further.get("faults"))
    promise = Promise(rules.always, rules.at_end)
    return SmallWorld(name, question, play, promise, say, left_out=left_out, **further)
