"""Messages, broadcasts and multicasts of a node, and the actions of its handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.grim.formats import Device, Reference, reference
from tb.fuzz.program import Act
from tb.studies.grim.fuzz.mail import Message
from tb.studies.grim.fuzz.node import CHECK, MASK, RARELY, Node
from tb.studies.grim.fuzz.transfers import Transfers
from tb.studies.grim.fuzz.trees import BROADCAST, Change

BURST, FLOOD, LONG_FLOOD = 12, 40, 300
CASTS = 4
HOPS = 3
RARE = "rare"
"""Name of a handler that only nodes with even numbers have."""
NAMES = ("take", "answer", "pass", "slow", "write")
ANSWER_BYTES = 40


class Messages:
    """Actions of a node that send messages."""

    def __init__(self, node: Node, transfers: Transfers) -> None:
        self.node, self._transfers = node, transfers
        self.cluster, self.index = node.cluster, node.index
        self.host, self.mail, self.ledger = node.host, node.mail, node.ledger

    # ---- handlers

    def handler(self, name: str) -> Callable[..., Awaitable[None]]:
        """Return the handler function of a name."""

        async def handler(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            parts, number = reference(source), a0 & MASK
            sender = parts.vnn, parts.channel
            if parts.device == Device.NI:
                sender = parts.channel >> 8, parts.channel & 0xFF
            if a1 & MASK != number * CHECK & MASK:
                self.node.wrong(f"handler {name} ran with arguments {a0:#x}, {a1:#x}")
            message = self.mail.arrive((self.index, a3), number, sender, name, bytes(payload))
            if message is not None:
                await self._react(message, a2)

        return handler

    async def _react(self, message: Message, extra: int) -> None:
        """Execute a handler's further action after its message was checked."""
        node, channel = message.source
        if message.handler == "answer":
            await self.node.send(Reference(node, Device.HOST, channel).pack(), (node, channel), 0, "take", extra)
        elif message.handler == "pass" and extra % (HOPS + 1):
            place = ((self.index + 1) % self.cluster.program.nodes, 0)
            to = Reference(place[0], Device.HOST, 0).pack()
            await self.node.send(to, place, 0, "pass", ANSWER_BYTES, extra % (HOPS + 1) - 1)
        elif message.handler == "slow":
            await self.host.sleep(extra * 500_000, "a slow handler")
        elif message.handler == "write":
            await self._transfers.write_back(node)

    # ---- messages

    async def do_send(self, act: Act) -> None:
        """Send one message to one endpoint."""
        to, place = self.node.where(act)
        handler, size, memory = str(act.values["handler"]), act.whole("bytes"), bool(act.whole("memory"))
        await self.node.send(to, place, self.node.channel(act), handler, size, act.whole("extra"), memory)

    do_send_again = do_send_more = do_send

    async def do_burst(self, act: Act) -> None:
        """Send messages back to back."""
        await self._many(act, BURST, min(act.whole("bytes"), 500))

    async def do_flood(self, act: Act) -> None:
        """Send more short messages than one of several channels has tokens, rarely more than all have."""
        await self._many(act, LONG_FLOOD if act.whole("rare") == RARELY else FLOOD, 4)

    async def _many(self, act: Act, count: int, size: int) -> None:
        to, place = self.node.where(act)
        for _ in range(count):
            await self.node.send(to, place, self.node.channel(act), "take", size)

    async def do_send_to_absent(self, act: Act) -> None:
        """Send a message to a handler that some nodes do not have, which is an error at the sender."""
        to, place = self.node.where(act)
        message = self.mail.begin((self.index, self.node.channel(act)), RARE, act.whole("bytes"))
        if place[0] % 2 == 0:
            message.must.add(place)
        else:
            self.ledger.owe(str(act), "handler", f"'{RARE}'", f"node {place[0]},", least=self.node.sure(place[0]))
        self.node.at_risk(message)
        arguments = self.node.arguments(message, RARE, 0, place[1])
        channel = self.node.channel(act)
        await self.node.call(
            str(act), lambda: self.node.library.send(to, *arguments, payload=message.payload, channel=channel)
        )
        self.mail.end(message)

    # ---- trees

    async def do_broadcast(self, act: Act) -> None:
        """Send a broadcast."""
        handler, size = str(act.values["handler"]), act.whole("bytes")
        if not self.cluster.trees.most:
            await self.node.call(
                str(act), lambda: self.node.library.broadcast(self.node.numbers["take"]), refused="broadcast"
            )
            return
        await self._broadcast(act, handler, size)

    async def do_broadcast_many(self, act: Act) -> None:
        """Send several broadcasts back to back."""
        for _ in range(CASTS if self.cluster.trees.most else 0):
            await self._broadcast(act, "take", min(act.whole("bytes"), 500))

    async def _broadcast(self, act: Act, handler: str, size: int) -> None:
        message = self.mail.begin((self.index, 0), handler, size, BROADCAST)
        self.cluster.trees.places(BROADCAST, message)
        self.node.at_risk(message)
        arguments = self.node.arguments(message, handler, 0, 0)
        await self.node.call(str(act), lambda: self.node.library.broadcast(*arguments, payload=message.payload))
        self.mail.end(message)

    async def _found(self, name: str) -> int | None:
        """Find a tree, and return its number, or None if no tree is left for the name."""
        trees = self.cluster.trees
        trees.asked.add(name)
        tree: int | None = await self.node.call(
            f"find {name}",
            lambda: self.node.library.find_multicast_tree(name),
            may=lambda: "name" if trees.may_be_refused(name) else "",
        )
        if tree is not None and trees.found.setdefault(name, tree) != tree:
            self.node.wrong(f"tree {name} is {trees.found[name]} on one node, but {tree} on another")
        return tree

    async def do_find(self, act: Act) -> None:
        """Find a tree."""
        await self._found(str(act.values["name"]))

    async def do_subscribe(self, act: Act) -> None:
        """Subscribe channels to a tree."""
        tree = await self._found(str(act.values["name"]))
        mask = self._mask(act)
        if tree is not None and mask:
            await self._change(act, tree, mask, True)

    async def do_unsubscribe(self, act: Act) -> None:
        """Unsubscribe channels, which is rejected if one is not subscribed."""
        tree = self.cluster.trees.found.get(str(act.values["name"]))
        mask = self._mask(act)
        if tree is None or tree not in self.node.library.trees.roots or not mask:
            return
        done, was = await self._change(act, tree, mask, False)
        if done and False in was:
            self.node.wrong(f"{act} was not rejected")
        if not done and all(was):
            self.node.wrong(f"{act} was rejected")

    async def _change(self, act: Act, tree: int, mask: int, joins: bool) -> tuple[bool, list[bool | None]]:
        """Subscribe or unsubscribe channels.

        Returns:
            True if it was done, and the earlier subscription of each channel (None: uncertain).
        """
        trees, library = self.cluster.trees, self.node.library
        change = library.subscribe_multicast if joins else library.unsubscribe_multicast

        async def done() -> bool:
            await change(tree, mask)
            return True

        now = self.mail.event()
        changes = [Change(tree, (self.index, channel), joins) for channel in range(8) if mask >> channel & 1]
        for one in changes:
            trees.begin(one, now, self.mail.messages)
        changed = bool(await self.node.call(str(act), done, may=lambda: "" if joins else "channels"))
        for one in changes:
            trees.end(one, changed, self.mail.event())
        return changed, [one.sure for one in changes]

    def _mask(self, act: Act) -> int:
        """Return the mask of the host's channels that an action's mask of their positions selects."""
        wanted = act.whole("mask")
        return sum(1 << channel for place, channel in enumerate(self.node.channels[:8]) if wanted >> place & 1)

    async def do_send_to_tree(self, act: Act) -> None:
        """Send a multicast."""
        tree = await self._found(str(act.values["name"]))
        if tree is None:
            return
        handler, channel = str(act.values["handler"]), self.node.channel(act)
        message = self.mail.begin((self.index, channel), handler, act.whole("bytes"), tree)
        self.cluster.trees.places(tree, message)
        arguments = self.node.arguments(message, handler, 0, 0)
        await self.node.call(
            str(act), lambda: self.node.library.send_mc(tree, *arguments, payload=message.payload, channel=channel)
        )
        self.mail.end(message)
