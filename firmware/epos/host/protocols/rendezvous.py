"""Rendezvous on the host: the receiver posts its buffer first, and a long message goes straight there.

A sender of a long message asks the NIC of its receiver, which grants the buffer that is posted, or the next one that
is. So a long message waits until its receiver has posted, and is never copied out of a staging slot. Beside
reliability, what was asked or granted can be lost: a sender that waits for long asks again.
"""

from __future__ import annotations

from typing import Any

from firmware.common.host.words import store_words
from firmware.epos.host.errors import EposError
from firmware.epos.host.outgoing import Stretch
from firmware.epos.nic.protocols.rendezvous import BYTES, GRANTED, NUMBERS, PAGES, POSTED


class Side:
    """Of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos, nodes = epos, epos.place.peers
        self._from = epos.options.rendezvous_from
        self._asked, self._granted = [0] * nodes, [0] * nodes
        """Of each node: number of the last buffer of it that was used, and the last word of what it granted."""
        self._numbers = [0] * nodes
        """Of each node: number of the last buffer that was posted for it."""
        self._posted: list[list[Stretch]] = [[] for _ in range(nodes)]
        self._direct = False
        """The message that is sent goes into posted buffers."""
        self._patience = 1_000_000 * epos.options.timeout_us if "reliability" in epos.options.composition else 0

    def _word(self, node: int, which: int) -> int:
        """Address of a word of the NIC's memory, for the host."""
        place = self._epos.place
        return int(self._epos.host.nic_base + place.of("rendezvous", node, PAGES + place.pages) + 4 * which)

    async def post(self, source: int, pieces: list[Stretch]) -> None:
        """A buffer for the next long message of a node: pieces of pinned memory, each as long as a frame but the last.
        Raises EposError.
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
        await self._epos.outgoing.tell("rendezvous", source, self._numbers[source], True)

    def _check(self, source: int, pieces: list[Stretch]) -> None:
        """Raises EposError for what cannot be posted."""
        epos, mtu = self._epos, self._epos.options.mtu
        what = f"{epos.host.who}: a buffer for node {source}"
        if source not in epos.partners:
            raise EposError(what, "there is none", f"one of {epos.partners}")
        if not all(epos.owns(piece) for piece in pieces):
            raise EposError(what, "it is not in the memory of the process", "take it of `room`")
        if self._posted[source]:
            raise EposError(what, "one is posted", "receive its message first")
        if not pieces or any(piece.size % mtu for piece in pieces[:-1]) or pieces[-1].size < 1:
            raise EposError(what, f"pieces of {[piece.size for piece in pieces]} bytes", f"each but the last: {mtu}")
        if (size := sum(piece.size for piece in pieces)) > epos.options.slot_bytes:
            raise EposError(what, f"{size} bytes", f"at most {epos.options.slot_bytes}, as of any message")

    async def message(self, nodes: tuple[int, ...], size: int) -> None:
        """A long message waits for a buffer at each node. Raises EposError for one that is too short."""
        self._direct = size >= self._from
        if not self._direct:
            return
        for node in nodes:
            number = self._asked[node] % NUMBERS + 1
            granted = await self._ask(node, number)
            if size > granted:
                what = f"{self._epos.host.who}: a message of {size} bytes to node {node}"
                raise EposError(what, f"the posted buffer has {granted}", "post a longer one, or send less")
        for node in nodes:
            self._asked[node] = self._asked[node] % NUMBERS + 1
        await self._epos.host.spend("epos_granted")

    async def _ask(self, node: int, number: int) -> int:
        """Ask for the buffer with a number: its bytes."""
        epos, at, what = self._epos, self._word(node, GRANTED), f"a posted buffer of node {node}"
        while self._granted[node] >> BYTES != number:
            await epos.host.spend("epos_ask")
            await epos.outgoing.tell("rendezvous", node, number)
            deadline = epos.host.now + self._patience if self._patience else 0
            before = self._granted[node]
            self._granted[node] = await epos.until(at, before, "epos_look_grant", what, f"host {node}", deadline)
        return self._granted[node] & (1 << BYTES) - 1

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """The word of the header."""
        return int(self._direct)

    async def assembled(self, source: int, size: int) -> bytes | None:
        """A long message is where it belongs."""
        if size < self._from:
            return None
        data = b"".join(self._epos.host.load_bytes(piece.address, piece.size) for piece in self._posted[source])
        self._posted[source] = []
        return data[:size]
