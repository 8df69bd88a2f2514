"""Rendezvous on the host: the receiver posts its buffer first, and a long message goes directly into it.

The sender of a long message requests a buffer from the receiver's NIC, which grants the posted buffer or the next one
posted. So a long message waits until its receiver has posted, and is never copied from a staging slot. With
reliability, requests and grants can be lost, so a sender that waits for long repeats its request.
"""

from __future__ import annotations

from typing import Any

from firmware.common.host.payload import MemoryRange
from firmware.common.host.words import store_words
from firmware.epos.host.errors import EposError
from firmware.epos.nic.protocols.rendezvous import BYTES, GRANTED, NUMBERS, PAGES, POSTED


class Side:
    """Rendezvous of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos, nodes = epos, epos.place.peers
        self._from = epos.options.rendezvous_from
        self._asked, self._granted = [0] * nodes, [0] * nodes
        """Number of each node's buffer that was used last; `_granted` is the last word that the node granted."""
        self._numbers = [0] * nodes
        """Number of the last buffer posted for each node."""
        self._posted: list[list[MemoryRange]] = [[] for _ in range(nodes)]
        self._direct = False
        """True while the current message goes into posted buffers."""
        self._patience = 1_000_000 * epos.options.timeout_us if "reliability" in epos.options.composition else 0

    def _word(self, node: int, which: int) -> int:
        """Return the host's address of a word in the NIC's memory."""
        place = self._epos.place
        return int(self._epos.host.nic_base + place.peer_address("rendezvous", node, PAGES + place.pages) + 4 * which)

    async def post(self, source: int, pieces: list[MemoryRange]) -> None:
        """Post a buffer for the next long message of a node.

        Its pieces of pinned memory have the length of a frame, except the last one. Raises EposError.
        """
        host, place, mtu = self._epos.host, self._epos.place, self._epos.options.mtu
        self._check(source, pieces)
        self._posted[source] = pieces
        self._numbers[source] = self._numbers[source] % NUMBERS + 1
        pages = [piece.address + at for piece in pieces for at in range(0, piece.size, mtu)]
        await host.spend("epos_post_page", len(pages))
        await store_words(host, self._word(source, PAGES) - host.nic_base, *pages, *[0] * (len(pages) < place.pages))
        await host.spend("epos_post")
        word = self._numbers[source] << BYTES | sum(piece.size for piece in pieces)
        await store_words(host, self._word(source, POSTED) - host.nic_base, word)
        await self._epos.outgoing.ring_protocol("rendezvous", source, self._numbers[source], True)

    def _check(self, source: int, pieces: list[MemoryRange]) -> None:
        """Raise EposError for a buffer that cannot be posted."""
        epos, mtu = self._epos, self._epos.options.mtu
        what = f"{epos.host.who}: a buffer for node {source}"
        if source not in epos.partners:
            raise EposError(what, "unknown node", f"give one of {epos.partners}")
        if not all(epos.owns(piece) for piece in pieces):
            raise EposError(what, "it is not in the memory of the process", "use `room`")
        if self._posted[source]:
            raise EposError(what, "another buffer is posted", "receive its message first")
        if not pieces or any(piece.size % mtu for piece in pieces[:-1]) or pieces[-1].size < 1:
            raise EposError(
                what,
                f"pieces of {[piece.size for piece in pieces]} bytes",
                f"give multiples of {mtu}, except for the last piece",
            )
        if (size := sum(piece.size for piece in pieces)) > epos.options.slot_bytes:
            raise EposError(what, f"{size} bytes", f"give at most {epos.options.slot_bytes}")

    async def message(self, nodes: tuple[int, ...], size: int) -> None:
        """Wait for a buffer at each destination of a long message. Raises EposError if one is too short."""
        self._direct = size >= self._from
        if not self._direct:
            return
        for node in nodes:
            number = self._asked[node] % NUMBERS + 1
            granted = await self._ask(node, number)
            if size > granted:
                what = f"{self._epos.host.who}: a message of {size} bytes to node {node}"
                raise EposError(what, f"the posted buffer has {granted} bytes", "post a larger buffer, or send less")
        for node in nodes:
            self._asked[node] = self._asked[node] % NUMBERS + 1
        await self._epos.host.spend("epos_granted")

    async def _ask(self, node: int, number: int) -> int:
        """Request the buffer with a number, and return its size in bytes."""
        epos, at, what = self._epos, self._word(node, GRANTED), f"a posted buffer of node {node}"
        while self._granted[node] >> BYTES != number:
            await epos.host.spend("epos_ask")
            await epos.outgoing.ring_protocol("rendezvous", node, number)
            deadline = epos.host.now + self._patience if self._patience else 0
            before = self._granted[node]
            self._granted[node] = await epos.until(at, before, "epos_look_grant", what, f"host {node}", deadline)
        return self._granted[node] & (1 << BYTES) - 1

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """Return the header word: 1 for frames that go into posted buffers."""
        return int(self._direct)

    async def assembled(self, source: int, size: int) -> bytes | None:
        """Return the bytes of a long message from its posted buffer, or None for a short message."""
        if size < self._from:
            return None
        data = b"".join(self._epos.host.load_bytes(piece.address, piece.size) for piece in self._posted[source])
        self._posted[source] = []
        return data[:size]
