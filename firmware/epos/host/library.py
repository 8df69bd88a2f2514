"""The component of one host: send and receive messages, with the protocols that are composed in."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from firmware.common.host.card import load_chain, load_doorbells, release
from firmware.common.host.words import store_words
from firmware.epos.host.errors import EposError
from firmware.epos.host.incoming import Incoming, Message
from firmware.epos.host.outgoing import Outgoing, Stretch
from firmware.epos.nic.layout import Place
from firmware.epos.nic.pointcuts import composition_of, hooks, members
from firmware.epos.nic.program import chain_heads
from firmware.epos.nic.words import Word
from firmware.epos.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView

__all__ = ["Epos", "Message", "Stretch"]
LOOK_NS = 5000
"""A host that waits for its NIC looks so often for what has come (ours)."""


class Epos:
    """EPOS of one host, or with protection of one of its processes. One task uses it at a time: whoever waits takes in
    what comes meanwhile.
    """

    def __init__(self, host: Host, view: ClusterView, process: int = 0) -> None:
        self.host, self.view = host, view
        self.options = Options.of(view.options).on(host.card.has_doorbells)
        self.place = place = Place(self.options, len(view.names), process)
        self.me = view.me * place.processes + process
        """Its address: its node, or with protection its node x `epos.processes` + its number there."""
        self.partners = [peer for peer in range(place.peers) if place.node(peer) in view.routes]
        """The addresses to which it can send."""
        self.partners = [peer for peer in self.partners if place.node(peer) != view.me]
        self._memory = host.allocate(self.place.host_bytes)
        self.outgoing = Outgoing(host, view, self.place, self.until, process)
        self.incoming = Incoming(host, self.place, self._memory)
        self._came: deque[Message] = deque()
        self.protocols = members("host", self.options.composition, self)
        """Of this composition, by name."""
        self.outgoing.hooks = self.incoming.hooks = hooks("host", self.protocols)
        others = range(1, place.processes) if not process else ()
        self.processes = (self, *(Epos(host, view, other) for other in others))
        """Of the host, each with its own `Epos`; the first one starts the card for all."""

    async def start(self) -> None:
        """The driver: take the card out of reset, say where things stand. Once, before anything else."""
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
        """Compare compositions with all other hosts, which must do so too: once, right after `start`. Raises EposError
        that names those that are composed otherwise; protection lets no greeting out.
        """
        what = f"{self.host.who}: composed of {self.composition}"
        if self.place.stride:
            raise EposError(what, "protection lets frames out, and no greeting", "start all hosts with equal options")
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
    def room(self) -> Stretch:
        """Of protection: pinned memory of the process, for a message that is sent or received without a copy."""
        area, size = self.outgoing.area, self.options.slot_bytes if self.place.stride else 0
        return Stretch(area.address + area.size - size, size)

    def owns(self, place: Stretch) -> bool:
        """Whether a place is in memory that the NIC takes it from: with protection only the process's."""
        area = self.outgoing.area
        inside = area.address <= place.address and place.address + place.size <= area.address + area.size
        return inside or not self.place.stride

    async def send(self, node: int, data: bytes | Stretch, communicator: int = 0) -> None:
        """Send a message to a node: bytes of the application's pinned memory. Returns when its last frame is the NIC's,
        and what protocols wait for at `sent` has come; bytes of a `Stretch` may be changed after `left`.

        Raises EposError.
        """
        self.check((node,), data, communicator)
        await self.outgoing.message((node,), data, communicator)

    async def multicast(self, nodes: Sequence[int], data: bytes | Stretch, communicator: int = 0) -> None:
        """Send a message to several nodes; the NIC repeats its frames, or with `epos.multicast=loop` the host. Raises
        EposError, also where multicast is not composed in.
        """
        to = tuple(dict.fromkeys(nodes))
        self.check(to, data, communicator)
        self.protocol("multicast", f"a message to nodes {to}")
        if self.options.multicast == "nic":
            await self.outgoing.message(to, data, communicator)
        else:
            for node in to:
                await self.outgoing.message((node,), data, communicator)

    async def post(self, source: int, buffer: Stretch | Sequence[Stretch]) -> None:
        """Post a buffer for the next message of a node of `epos.rendezvous_from` bytes or more, which goes straight
        there, and may be shorter. Raises EposError, also where rendezvous is not composed in.
        """
        pieces = [buffer] if isinstance(buffer, Stretch) else list(buffer)
        await self.protocol("rendezvous", f"a buffer for node {source}").post(source, pieces)

    async def lower_mtu(self, mtu: int) -> None:
        """Cut frames shorter from now on. Returns when all NICs know it. Raises EposError, also where MTU adaptation is
        not composed in.
        """
        await self.protocol("mtu", f"an MTU of {mtu}").lower(mtu)

    def activate(self, *names: str) -> None:
        """Of the protocols of which frames say whether they act, those that do from the next message on; all do at the
        start. Raises EposError, also where active frames, or one of these, are not composed in.
        """
        self.protocol("active", f"frames that activate {names}").choose(names)

    def protocol(self, name: str, call: str) -> Any:
        """A protocol that a call is for. Raises EposError where it is not composed in."""
        if name not in self.protocols:
            what = f"{self.host.who}: {call}"
            raise EposError(what, f"the composition is {self.composition}", f"compose {name} in")
        return self.protocols[name]

    @property
    def composition(self) -> str:
        """Its name."""
        return "+".join(self.protocols) or "the baseline alone"

    async def left(self) -> None:
        """Until all frames have left this host's memory."""
        await self.outgoing.left()

    async def receive(self) -> Message:
        """The next message, from any node; waits for it."""
        while not self._came:
            await self._take(await self.incoming.wait())
        return self._came.popleft()

    async def poll(self) -> Message | None:
        """The next message, if one has come."""
        if not self._came and (word := await self.incoming.look()):
            await self._take(word)
        return self._came.popleft() if self._came else None

    async def until(self, address: int, before: int, path: str, what: str, holder: str, deadline: int = 0) -> int:
        """Read a word of the card until it has changed, and take in meanwhile what comes. `path`: of a look at it;
        `what` is waited for, and its `holder`: for reports of hangs. After a `deadline`, ps, the word as it is.
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
        """Raises EposError for what cannot be sent."""
        what = f"{self.host.who}: a message to node {nodes[0] if len(nodes) == 1 else nodes!r}"
        if not nodes or any(node not in self.partners for node in nodes):
            raise EposError(what, "there is none", f"one of {self.partners}")
        if not isinstance(data, bytes | bytearray | memoryview | Stretch):
            raise EposError(what, f"its data are {type(data).__name__}", "give bytes, or a Stretch of pinned memory")
        if isinstance(data, Stretch) and not self.owns(data):
            raise EposError(what, "its bytes are not in the memory of the process", "put them into `room`")
        size = data.size if isinstance(data, Stretch) else len(data)
        if not 0 <= size <= self.options.slot_bytes:
            frames = -(-size // self.options.mtu)
            cause = (
                f"{size} bytes, {frames} frames of {self.options.mtu}, and a staging slot has {self.options.slot_bytes}"
            )
            raise EposError(what, cause, "cut it, or raise epos.slot_bytes")
        if type(communicator) is not int or not 0 <= communicator < 256:
            raise EposError(what, f"communicator {communicator!r}", "give 0 to 255")
