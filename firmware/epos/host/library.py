"""Component of one host: sends and receives messages, with the protocols composed in."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from firmware.common.host.card import load_chain, load_doorbells, release
from firmware.common.host.payload import MemoryRange, size_of
from firmware.common.host.words import store_words
from firmware.epos.host.errors import EposError
from firmware.epos.host.incoming import Incoming, Message
from firmware.epos.host.outgoing import Outgoing
from firmware.epos.nic.layout import Place
from firmware.epos.nic.pointcuts import composition_of, hooks, members
from firmware.epos.nic.program import chain_heads
from firmware.epos.nic.words import Word
from firmware.epos.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView

__all__ = ["Epos", "MemoryRange", "Message"]
LOOK_NS = 5000
"""Interval in ns at which a host that waits for its NIC polls for received messages (ours)."""


class Epos:
    """EPOS of one host or, with protection, of one of its processes. Only one task may use it at a time.

    Calls that wait also receive the messages that arrive meanwhile.
    """

    def __init__(self, host: Host, view: ClusterView, process: int = 0) -> None:
        self.host, self.view = host, view
        self.options = Options.from_values(view.options).on(host.card.has_doorbells)
        self.place = place = Place(self.options, len(view.names), process)
        self.me = view.me * place.processes + process
        """Address of this component: its node or, with protection, node x `epos.processes` + process number."""
        self.partners = [peer for peer in range(place.peers) if place.node(peer) in view.routes]
        """Addresses that can be sent to."""
        self.partners = [peer for peer in self.partners if place.node(peer) != view.me]
        self._memory = host.allocate(self.place.host_bytes)
        self.outgoing = Outgoing(host, view, self.place, self.until, process)
        self.incoming = Incoming(host, self.place, self._memory)
        self._came: deque[Message] = deque()
        self.protocols = members("host", self.options.composition, self)
        """Host sides of the composition's protocols, by name."""
        self.outgoing.hooks = self.incoming.hooks = hooks("host", self.protocols)
        others = range(1, place.processes) if not process else ()
        self.processes = (self, *(Epos(host, view, other) for other in others))
        """Components of all processes of the host; the first one starts the card for all."""

    async def start(self) -> None:
        """Release the card from reset and write its memory addresses, as the driver does. Call it once, before other
        calls.
        """
        host, place = self.host, self.place
        await release(host)
        for chain, block in chain_heads(place).items():
            await load_chain(host, chain, block)
        if self.options.notify == "doorbell":
            await load_doorbells(host, place.bells)
        for number, one in enumerate(self.processes if place.stride else ()):
            mirror, area = one.incoming.mirror, one.outgoing.area
            told = (one._memory.address, mirror.address if mirror else 0, area.address, area.size)
            await store_words(host, place.owner(number)[0], *told)
        if self.incoming.mirror:
            await store_words(host, Word.MIRROR, self.incoming.mirror.address)
        await store_words(host, Word.STAGING, self._memory.address)

    async def meet(self) -> None:
        """Compare compositions with all other hosts, which must call it too, once and right after `start`.

        Raises EposError naming the hosts with another composition. Protection does not support greetings.
        """
        what = f"{self.host.who}: composed of {self.composition}"
        if self.place.stride:
            raise EposError(what, "protection does not support greetings", "start all hosts with equal options")
        for node in self.partners:
            await self.outgoing.greet(node)
        met = self.incoming.met
        for node in self.partners:
            name = self.view.names[node]
            wanted = f"the greeting of {name}"
            self.host.waits.want(self.host.who, wanted, f"host {node}")
            while node not in met:
                await self._take(await self.incoming.wait())
            self.host.waits.got(self.host.who, wanted)
        others = [node for node in self.partners if met[node] != self.place.identity]
        if others:
            told = ", ".join(f"{self.view.names[node]} of {composition_of(met[node])}" for node in others)
            raise EposError(what, told, "give all hosts the same epos.protocols")

    @property
    def room(self) -> MemoryRange:
        """Pinned memory of the process for one message that is sent or received without a copy (protection only)."""
        area, size = self.outgoing.area, self.options.slot_bytes if self.place.stride else 0
        return MemoryRange(area.address + area.size - size, size)

    def owns(self, place: MemoryRange) -> bool:
        """Return True if the NIC accepts a memory range: with protection it must be in the process's memory."""
        area = self.outgoing.area
        inside = area.address <= place.address and place.address + place.size <= area.address + area.size
        return inside or not self.place.stride

    async def send(self, node: int, data: bytes | MemoryRange, communicator: int = 0) -> None:
        """Send a message to a node, from the application's pinned memory.

        Returns when the NIC has its last frame and the protocols' waits at `sent` are over. The bytes of a
        `MemoryRange` may be changed after `left`. Raises EposError.
        """
        self.check((node,), data, communicator)
        await self.outgoing.message((node,), data, communicator)

    async def multicast(self, nodes: Sequence[int], data: bytes | MemoryRange, communicator: int = 0) -> None:
        """Send a message to several nodes. The NIC repeats its frames or, with `epos.multicast=loop`, the host.

        Raises EposError, also if multicast is not composed in.
        """
        to = tuple(dict.fromkeys(nodes))
        self.check(to, data, communicator)
        self.protocol("multicast", f"a message to nodes {to}")
        if self.options.multicast == "nic":
            await self.outgoing.message(to, data, communicator)
        else:
            for node in to:
                await self.outgoing.message((node,), data, communicator)

    async def post(self, source: int, buffer: MemoryRange | Sequence[MemoryRange]) -> None:
        """Post a buffer for the next message of `epos.rendezvous_from` bytes or more from a node.

        The message goes directly into the buffer, and may be shorter. Raises EposError, also if rendezvous is not
        composed in.
        """
        pieces = [buffer] if isinstance(buffer, MemoryRange) else list(buffer)
        await self.protocol("rendezvous", f"a buffer for node {source}").post(source, pieces)

    async def lower_mtu(self, mtu: int) -> None:
        """Reduce the payload of further frames, and return when all NICs know the new MTU.

        Raises EposError, also if MTU adaptation is not composed in.
        """
        await self.protocol("mtu", f"an MTU of {mtu}").lower(mtu)

    def activate(self, *names: str) -> None:
        """Select the switchable protocols that act from the next message on. Initially all act.

        Raises EposError, also if active frames or one of the protocols are not composed in.
        """
        self.protocol("active", f"frames that activate {names}").choose(names)

    def protocol(self, name: str, call: str) -> Any:
        """Return the protocol that a call needs. Raises EposError if it is not composed in."""
        if name not in self.protocols:
            what = f"{self.host.who}: {call}"
            raise EposError(what, f"the composition is {self.composition}", f"compose {name} in")
        return self.protocols[name]

    @property
    def composition(self) -> str:
        """Name of the composition."""
        return "+".join(self.protocols) or "the baseline alone"

    async def left(self) -> None:
        """Wait until all frames have left this host's memory."""
        await self.outgoing.left()

    async def receive(self) -> Message:
        """Wait for the next message from any node, and return it."""
        while not self._came:
            await self._take(await self.incoming.wait())
        return self._came.popleft()

    async def poll(self) -> Message | None:
        """Return the next message if one has arrived, otherwise None."""
        if not self._came and (word := await self.incoming.look()):
            await self._take(word)
        return self._came.popleft() if self._came else None

    async def until(self, address: int, before: int, path: str, what: str, holder: str, deadline: int = 0) -> int:
        """Poll a word of the card until it changes, and receive messages meanwhile.

        Args:
            address: Address of the word.
            before: Value that the word changes from.
            path: Compiled path of one poll.
            what: Subject of the wait, for hang reports.
            holder: Host or NIC that ends the wait, for hang reports.
            deadline: Time in ps at which to stop waiting; 0 for none.

        Returns:
            The new value, or at the deadline the unchanged one.
        """
        host = self.host
        host.waits.want(host.who, what, holder)
        while (word := await host.poll_card(address, before & 0xFFFFFFFF, path, timeout_ns=LOOK_NS)) == before:
            if entry := await self.incoming.look():
                await self._take(entry)
            if deadline and host.now >= deadline:
                break
        host.waits.got(host.who, what)
        return word

    async def _take(self, word: int) -> None:
        message = await self.incoming.take(word)
        if message is not None:
            self._came.append(message)

    def check(self, nodes: tuple[int, ...], data: object, communicator: int) -> None:
        """Raise EposError for a message that cannot be sent."""
        what = f"{self.host.who}: a message to node {nodes[0] if len(nodes) == 1 else nodes!r}"
        if not nodes or any(node not in self.partners for node in nodes):
            raise EposError(what, "unknown node", f"give one of {self.partners}")
        if not isinstance(data, bytes | bytearray | memoryview | MemoryRange):
            raise EposError(
                what, f"invalid data of type {type(data).__name__}", "give bytes, or a MemoryRange of pinned memory"
            )
        if isinstance(data, MemoryRange) and not self.owns(data):
            raise EposError(what, "its bytes are not in the memory of the process", "use `room`")
        size = size_of(data)
        if not 0 <= size <= self.options.slot_bytes:
            frames = -(-size // self.options.mtu)
            cause = f"{size} bytes ({frames} frames of {self.options.mtu}), but a slot has {self.options.slot_bytes}"
            raise EposError(what, cause, "cut it, or increase epos.slot_bytes")
        if type(communicator) is not int or not 0 <= communicator < 256:
            raise EposError(what, f"invalid communicator {communicator!r}", "give 0 to 255")
