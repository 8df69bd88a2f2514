"""Node of a program: its library, and the calls of its actions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from firmware.grim.formats import Device, Reference
from firmware.grim.host import Grim, GrimError
from firmware.grim.host.enable import Phase
from tb.fuzz.program import Act
from tb.studies.grim.fuzz.cluster import Cluster
from tb.studies.grim.fuzz.mail import Message, Place
from tb.studies.grim.fuzz.memory import Block

MASK = 0xFFFF_FFFF
CHECK = 0x9E37_79B1
"""Factor of argument 1 relative to argument 0, by which changed arguments are detected."""
FIRST_PAUSE_PS, LAST_PAUSE_PS = 2_000_000, 100_000_000
RARELY = 9
"""Value of an action's `rare` that selects the larger variant."""


class Node:
    """State and calls that all actions of a node use."""

    def __init__(self, cluster: Cluster, index: int) -> None:
        self.cluster, self.index = cluster, index
        self.library: Grim = cluster.parts[index].library
        self.host = cluster.world.hosts[index]
        self.mail, self.memory, self.ledger = cluster.mail, cluster.memory, cluster.ledgers[index]
        self.numbers: dict[str, int] = {}
        """Handler numbers, by name."""
        self.ink: Block
        """Source of message payloads and of data for writes."""
        self.channels = self.channels_of(index)
        """Channels of this host."""

    def wrong(self, text: str) -> None:
        """Record a violation."""
        self.cluster.wrong.append(f"node {self.index}: {text}")

    # ---- calls

    async def call(
        self, what: str, make: Callable[[], Any], refused: str = "", may: Callable[[], str] = lambda: ""
    ) -> Any:
        """Call the library, and return its result, or None if the call is rejected.

        A late error of an earlier action is matched with the expected ones, and the call is repeated. None is also
        returned if the call raises more late errors than earlier actions can cause, because its own message fails each
        time.

        Args:
            what: Description of the call.
            make: Function that makes the call.
            refused: Argument for which the call must be rejected; empty if it must succeed.
            may: Function that returns the argument for which a rejection is allowed.
        """
        for _ in range(1 + self._most_late_errors()):
            try:
                result = make()
                result = await result if inspect.isawaitable(result) else result
            except GrimError as error:
                if self.ledger.take(error):
                    continue
                if error.argument not in (refused, may()):
                    self.wrong(f"{what}: {error}")
                return None
            except Exception as error:  # noqa: BLE001 - a call may raise no other exception than GrimError
                self.wrong(f"{what}: {type(error).__name__}: {error}, which is not a GrimError")
                return None
            if refused:
                self.wrong(f"{what} was not rejected")
            return result
        return None

    def _most_late_errors(self) -> int:
        """Return the maximum number of late errors: each message of this node can fail once at each node."""
        if self.library.phase < Phase.ENABLED:
            return 0
        return self.library.calls.messenger.sending.sends * self.cluster.program.nodes

    async def idle(self, over: Callable[[], bool]) -> None:
        """Poll until a condition holds."""
        pause = FIRST_PAUSE_PS
        while not over():
            if await self.call("poll", self.library.poll):
                pause = FIRST_PAUSE_PS
            else:
                await self.host.sleep(pause, "its next poll")
                pause = min(2 * pause, LAST_PAUSE_PS)

    async def beside(self, call: Coroutine[Any, Any, Any], what: str) -> None:
        """Poll until a call has returned, which may wait for a card that waits for room at this host."""
        task = self.host.spawn(call, what)
        await self.idle(lambda: bool(task.finished.done))

    def where(self, act: Act) -> tuple[int, Place]:
        """Return reference and place of an action's destination."""
        to = act.whole("to") % self.cluster.program.nodes
        channels = self.channels_of(to)
        place = to, channels[int(act.values.get("at", 0)) % len(channels)]
        return Reference(place[0], Device.HOST, place[1]).pack(), place

    def channel(self, act: Act) -> int:
        """Return the channel of this node that an action uses."""
        return self.channels[int(act.values.get("channel", 0)) % len(self.channels)]

    def channels_of(self, node: int) -> list[int]:
        """Return the channels of a node that belong to its host, not to its card or to a process."""
        owners = self.library.nodes.channels(node)
        return [channel for channel in range(self.library.options.channels) if not owners.owner(channel)]

    # ---- messages, as acts and handlers send them

    async def send(
        self, to: int, place: Place, channel: int, handler: str, size: int, extra: int = 0, in_memory: bool = False
    ) -> None:
        """Send one message, and record it in the reference."""
        message = self.mail.begin((self.index, channel), handler, size)
        message.must.add(place)
        self.at_risk(message)
        payload = self.payload(message, in_memory)
        arguments = self.arguments(message, handler, extra, place[1])
        await self.call(str(message), lambda: self.library.send(to, *arguments, payload=payload, channel=channel))
        self.mail.end(message)

    def sure(self, node: int) -> int:
        """Return the minimum number of errors from another node: 0 if it is down, otherwise 1."""
        return int(node != self.cluster.down)

    def at_risk(self, message: Message) -> None:
        """Make a message optional that begins while a node is down."""
        if self.cluster.down is not None:
            self.mail.doubt(message, self.cluster.down)

    def arguments(self, message: Message, handler: str, extra: int, channel: int) -> tuple[int, int, int, int, int]:
        """Return handler number and arguments of a message."""
        number = message.number
        return self.numbers[handler], number, number * CHECK & MASK, extra, channel

    def payload(self, message: Message, in_memory: bool) -> Any:
        """Return the payload of a message as bytes or in host memory."""
        if not in_memory or not message.size:
            return message.payload
        return Region(self.ink.pieces[0][0] + message.ink, message.size)


class Region:
    """Bytes in host memory."""

    def __init__(self, address: int, size: int) -> None:
        self.address, self.size = address, size


__all__ = ["Node", "Region"]
