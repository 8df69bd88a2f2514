"""Multicast and broadcast (paper 003, C.6): the calls, and the messages between hosts that maintain the trees."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from firmware.common.host.lock import Lock
from firmware.grim.formats import Device, Reference, endpoint, reference
from firmware.grim.host.arguments import text, whole
from firmware.grim.host.calls import Calls
from firmware.grim.host.errors import GrimError
from firmware.grim.host.handlers import (
    CHANGE,
    CHANGED,
    FIND,
    FOUND,
    MAX_NAME,
    PLACE,
    PLACED,
    PLANTED,
    SERVER,
    Handler,
    Handlers,
)
from firmware.grim.host.messages import Messages
from firmware.grim.host.messenger import Messenger
from firmware.grim.host.nodes import Nodes
from firmware.grim.host.segments import MULTICAST, Payload, Target
from firmware.grim.host.trees import Change, Name, Owned, places
from firmware.grim.nic.layout import TREE_CHANNELS, Layout, Tree
from firmware.grim.options import Options
from firmware.verbs import Host

BROADCAST = 0
"""Tree of all hosts, which has no name; its root is node 0."""
NO_TREE = 0xFFFFFFFF
MASK = 0xFFFFFFFF


class Multicast:
    """Calls of tables C.8 and C.9."""

    def __init__(
        self,
        host: Host,
        options: Options,
        layout: Layout,
        nodes: Nodes,
        calls: Calls,
        messages: Messages,
        handlers: Handlers,
    ) -> None:
        self._host, self._options, self._layout = host, options, layout
        self._nodes, self._calls, self._messages, self._handlers = nodes, calls, messages, handlers
        self._found: dict[str, int] = {}
        """Numbers of the trees known here, by name."""
        self.roots: dict[int, int] = {}
        """VNN of the root of each tree."""
        self._subscribed: dict[int, int] = {}
        """Bit mask of this host's subscribed channels, by tree."""
        self._changing = Lock(host, "the end of another thread's change of a tree")
        self._register: dict[str, Name] = {}
        """Trees by name; used on node 0 only."""
        self._owned: dict[int, Owned] = {}
        self._questions = 0
        self._answers: dict[int, int] = {}
        """Received answers, by request number."""

    # ---- trees (paper 003, C.6.1)

    async def find_multicast_tree(self, name: str) -> int:
        """Return the number of a tree, and create it if it is new (`grim_findMulticastTree`). Its first caller owns the
        tree.

        Raises GrimError for an invalid name, or if no tree is left.
        """
        await self._calls.begin()
        if not text("name", name) or len(name.encode()) > MAX_NAME:
            raise GrimError("name", f"{name!r} is not a valid tree name", f"give 1 to {MAX_NAME} bytes")
        if name not in self._found:
            self._calls.may_wait("find_multicast_tree")
            tree = await self._ask(SERVER, FIND, payload=name.encode())
            if tree == NO_TREE:
                most = max(self._options.multicast_trees - 1, 0)
                raise GrimError(
                    "name",
                    f"{name!r} would be tree {most + 1}, but option multicast_trees allows {most}",
                    "increase it",
                )
            self._found[name] = tree
        return self._found[name]

    async def subscribe_multicast(self, tree: int, channels: int) -> int:
        """Subscribe channels of this host to a tree, and return the tree (`grim_subscribeMulticast`).

        Bit i of `channels` is channel i (0..7). Raises GrimError for an unknown tree or an invalid mask.
        """
        await self._calls.begin()
        mask = self._mask(tree, channels)
        self._calls.may_wait("subscribe_multicast")
        async with self._changing:
            await self._change(tree, mask, 0)
            self._subscribed[tree] = self._subscribed.get(tree, 0) | mask
        return tree

    async def subscribe_multicast_by_name(self, name: str, channels: int) -> int:
        """Find a tree, subscribe to it, and return its number (`grim_subscribeMulticastByName`)."""
        return await self.subscribe_multicast(await self.find_multicast_tree(name), channels)

    async def unsubscribe_multicast(self, tree: int, channels: int) -> None:
        """End the subscription of the channels of a mask to a tree (`grim_unsubscribeMulticast`).

        Raises GrimError for a channel that is not subscribed.
        """
        await self._calls.begin()
        channels = self._mask(tree, channels)
        self._calls.may_wait("unsubscribe_multicast")
        async with self._changing:
            subscribed = self._subscribed.get(tree, 0)
            if channels & ~subscribed:
                cause = f"{channels:#04x} has channels that are not subscribed to tree {tree} ({subscribed:#04x})"
                raise GrimError("channels", cause, "give subscribed channels")
            await self._change(tree, 0, channels)
            self._subscribed[tree] = subscribed & ~channels

    def _mask(self, tree: int, channels: int) -> int:
        self._root(tree)
        most = min(self._options.channels, TREE_CHANNELS)
        if not 0 < whole("channels", channels) < 1 << most:
            cause = f"{channels:#x} is not a mask of channels 0..{most - 1}"
            raise GrimError("channels", cause, "set bit i for channel i")
        return channels

    def _root(self, tree: int) -> int:
        """Return the root of a known tree. Raises GrimError for an unknown tree."""
        if whole("tree", tree) not in self.roots:
            known = ", ".join(f"{number} ({name})" for name, number in sorted(self._found.items())) or "none"
            raise GrimError(
                "tree", f"unknown multicast tree {tree}", f"call find_multicast_tree first (known trees: {known})"
            )
        return self.roots[tree]

    # ---- messages (paper 003, C.6.2)

    async def send_mc(
        self,
        tree: int,
        handler: int,
        a0: int = 0,
        a1: int = 0,
        a2: int = 0,
        a3: int = 0,
        payload: Payload = b"",
        *,
        channel: int = 0,
    ) -> None:
        """Run a handler at every endpoint that has subscribed to a tree (`grim_sendMC`).

        The arguments are those of `send`. The source that the handler sees is the NI that sent the last copy. Raises
        GrimError.
        """
        self._calls.ready()
        target = self.target(tree, channel)
        await self._multicast(target, handler, (a0, a1, a2, a3), payload)

    async def broadcast(
        self,
        handler: int,
        a0: int = 0,
        a1: int = 0,
        a2: int = 0,
        a3: int = 0,
        payload: Payload = b"",
        *,
        channel: int = 0,
    ) -> None:
        """Run a handler on channel 0 of every host of the cluster, this one included (`grim_broadcast`).

        The arguments are those of `send`.
        """
        self._calls.ready()
        if not self._options.multicast_trees:
            raise GrimError("broadcast", "no multicast trees are configured", "set option multicast_trees")
        target = self._tree_target(BROADCAST, SERVER, channel)
        await self._multicast(target, handler, (a0, a1, a2, a3), payload)

    async def _multicast(
        self, target: Target, handler: int, arguments: tuple[int, int, int, int], payload: Payload
    ) -> None:
        self._handlers.check(handler)
        words = self._messages.words(arguments)
        await self._messages.send_message(self._calls.ready(), target, handler, words, payload)

    def target(self, tree: int, channel: int, process: str = "") -> Target:
        """Return header fields and stream of messages from a channel of this host to a tree.

        Args:
            tree: Number of the tree.
            channel: Number of the channel.
            process: Name of the process that sends; empty for the host's own application.

        Raises:
            GrimError: The tree is unknown, or the channel belongs to another endpoint.
        """
        return self._tree_target(tree, self._root(tree), channel, process)

    def place(self, tree: int) -> tuple[int, int]:
        """Return endpoint and channel at which the root of a tree takes messages. Raises GrimError.

        The tree of all hosts (BROADCAST) needs no call of `find_multicast_tree`.
        """
        root = SERVER if tree == BROADCAST and self._options.multicast_trees else self._root(tree)
        return endpoint(root, Device.NI), self._options.channels + tree

    def _tree_target(self, tree: int, root: int, channel: int, process: str = "") -> Target:
        self._nodes.own_channel(whole("channel", channel), process)
        at_root = self._options.channels + tree
        stream = (channel * len(self._nodes.names) + root) * self._layout.targets + at_root
        if self._options.sequencing == "per-ni":
            stream = root
        ends = endpoint(self._nodes.me, Device.HOST), endpoint(root, Device.NI)
        return Target(*ends, (channel, at_root), stream, MULTICAST, tree)

    # ---- this host's NI

    async def plant(self, messenger: Messenger) -> None:
        """Write the tree of all hosts to this host's NI, and clear all other trees, before the NIs start."""
        everybody = dict.fromkeys(range(len(self._nodes.names)), 1)
        for tree in range(self._options.multicast_trees):
            known = tree == BROADCAST
            await self._write(messenger, tree, self._place(SERVER, everybody) if known else 0, int(known))

    def _place(self, root: int, members: Mapping[int, int]) -> int:
        return places(root, members, len(self._nodes.names))[self._nodes.me]

    async def _take_place(self, tree: int, place: int) -> None:
        """Write a new position in a tree to this host's NI."""
        await self._write(self._calls.messenger, tree, place, 1)

    async def _write(self, messenger: Messenger, tree: int, place: int, known: int) -> None:
        """Write a tree's record to the NI, the valid flag last. The endpoint queues are updated first."""
        await self._host.spend("tree_place")
        messenger.follow(tree, place & (1 << TREE_CHANNELS) - 1)
        record = self._host.nic_base + self._layout.trees + Tree.BYTES * tree
        for word, value in ((Tree.PLACE, place), (Tree.KNOWN, known)):
            await self._host.pio_write(record + word, struct.pack(">I", value))

    # ---- requests and answers between hosts

    def built_in(self) -> dict[int, Handler]:
        """Return the built-in handlers of the tree protocol."""
        own: dict[int, Handler] = {FIND: self._find, FOUND: self._is_found, PLANTED: self._is_planted}
        own |= {CHANGE: self._request, CHANGED: self._is_changed}
        return own | {PLACE: self._be_placed, PLACED: self._is_placed}

    async def _ask(self, vnn: int, handler: int, a1: int = 0, a2: int = 0, a3: int = 0, payload: bytes = b"") -> int:
        self._questions += 1
        question = self._questions
        await self._messages.send_internal(
            Reference(vnn, Device.HOST, 0).pack(), handler, question, a1, a2, a3, payload
        )
        await self._messages.wait_for(lambda: question in self._answers)
        return self._answers.pop(question)

    async def _change(self, tree: int, more: int, fewer: int) -> None:
        await self._ask(self._root(tree), CHANGE, tree, more, fewer)

    # ---- node 0: names

    async def _find(self, source: int, question: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        await self._host.spend("resolve")
        text = bytes(payload).decode()
        name = self._register.get(text)
        if name is None and len(self._register) + 1 < self._options.multicast_trees:
            name = self._register[text] = Name(len(self._register) + 1, reference(source).vnn)
            await self._messages.send_internal(source, FOUND, question, name.tree, name.owner, 1)
        elif name is None:
            await self._messages.send_internal(source, FOUND, question, NO_TREE)
        elif name.planted:
            await self._messages.send_internal(source, FOUND, question, name.tree, name.owner)
        else:
            name.waiting.append((source, question))

    async def _is_found(self, source: int, question: int, a1: int, owner: int, new: int, payload: memoryview) -> None:
        tree = a1 & MASK
        if tree != NO_TREE:
            self.roots[tree] = owner
        if new:
            self._owned[tree] = Owned(self._nodes.me, len(self._nodes.names))
            await self._take_place(tree, self._place(self._nodes.me, {}))
            await self._messages.send_internal(source, PLANTED, tree)
        self._answers[question] = tree

    async def _is_planted(self, source: int, tree: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        name = next(name for name in self._register.values() if name.tree == tree)
        name.planted = True
        for asker, question in name.waiting:
            await self._messages.send_internal(asker, FOUND, question, tree, name.owner)
        name.waiting.clear()

    # ---- the owner: members

    async def _request(self, source: int, question: int, tree: int, more: int, fewer: int, payload: memoryview) -> None:
        owned = self._owned[tree]
        owned.changes.append(Change(source, question, reference(source).vnn, more, fewer))
        if len(owned.changes) == 1:
            await self._begin(tree)

    async def _begin(self, tree: int) -> None:
        """Make the pending changes of a tree until one of them has to wait for an answer."""
        owned = self._owned[tree]
        change = owned.begin()
        while change is not None:
            await self._host.spend("tree_shape", 2 * len(self._nodes.names))
            if not await self._go_on(tree):
                return
            await self._end(owned)
            change = owned.begin()

    async def _end(self, owned: Owned) -> None:
        change = owned.changes.popleft()
        await self._messages.send_internal(change.source, CHANGED, change.question)

    async def _go_on(self, tree: int) -> bool:
        """Send the next nodes their positions in the tree. Return False if an answer must arrive first."""
        untold = self._owned[tree].untold
        while untold:
            vnn, place = untold[0]
            if vnn != self._nodes.me:
                await self._messages.send_internal(Reference(vnn, Device.HOST, 0).pack(), PLACE, tree, place)
                return False
            await self._take_place(tree, place)
            untold.popleft()
        return True

    async def _be_placed(self, source: int, tree: int, place: int, a2: int, a3: int, payload: memoryview) -> None:
        await self._take_place(tree, place & MASK)
        await self._messages.send_internal(source, PLACED, tree)

    async def _is_placed(self, source: int, tree: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        owned = self._owned[tree]
        owned.untold.popleft()
        if await self._go_on(tree):
            await self._end(owned)
            await self._begin(tree)

    def _is_changed(self, source: int, question: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._answers[question] = 0
