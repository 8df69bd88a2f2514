"""What do an operation, the hosts and the NIs do when a card loses its power in the middle of it?

Strategy: the card of host 1 takes part in one operation, and loses its power `after_us` later. Meanwhile both hosts
send each other messages, which must arrive in order. The host of the card must get one error that names it. A later
message to the card must fail at its sender, and a register read at the driver. After `for_us` the power returns. The
card is then empty, and messages to it still fail. After `restart` the whole operation must succeed.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from firmware.grim.formats import Device
from firmware.grim.host import GrimError
from firmware.grim.host.card_images import DMA, PIO
from firmware.grim.nic.cards import CARD
from firmware.tpil.host import TpilError
from firmware.tpil.host.driver import CardDma
from pymodels.card.registers import BANK_BYTES, Forward
from pymodels.errors import SanlabError
from tb.lab.faults import Injector
from tb.lab.lab import Lab
from tb.plan.faults import Fault
from tb.plan.options import Option, layer_options
from tb.studies.cards._cards import SETTLE_PS
from tb.studies.grim._grim import bring_up, serve_until

CLUSTER = "two_cards"
US = 1_000_000
BEGIN, SIZE = 3 * BANK_BYTES + 0x100000, 0x10000
LOCK, DATA, FETCHED = BEGIN, BEGIN + 64, BEGIN + 0x8000
TRAFFIC = 24
"""Messages of each host to the other one."""
SLOT = 1
DOWN, SILENT = "has no power, or has not been started again", "does not answer: it has no power"
IMAGE = "filters.bit"


def _crc32(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


class Operations:
    """Two hosts with a card each, and the operations on the card that loses its power."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.random = lab, random.Random(lab.seed)
        self.victim = 1
        self.libraries: list[Any] = lab.start_layer("grim")
        self.errors: list[list[str]] = [[], []]
        """Texts of the errors of each host."""
        self.traffic: list[list[tuple[int, bytes]]] = [[], []]
        self.results: list[list[tuple[int, bytes]]] = [[], []]
        """First arguments and bytes of the results at each host."""
        self.number: dict[str, int] = {}
        self.cards: list[int] = []
        self.trees: list[int] = []
        """Numbers of a tree with hosts and card, and of one with hosts only."""
        self._count = 0

    @property
    def far(self) -> Any:
        """Library of the host whose card loses its power."""
        return self.libraries[self.victim]

    @property
    def near(self) -> Any:
        """Library of the other host."""
        return self.libraries[1 - self.victim]

    async def enable(self) -> None:
        """Start both hosts, open a window of each card, and set up a tree with both hosts and the victim."""
        handlers = [
            {f"traffic{n}": self._keep(self.traffic[n]), f"result{n}": self._keep(self.results[n])} for n in (0, 1)
        ]
        for one, kept in zip(handlers, self.results, strict=True):
            one["member"] = one["loopback"] = self._keep(kept)
        await bring_up(self.lab, self.libraries, handlers)
        names = ["loopback", "crc32", "member", *(f"{name}{n}" for name in ("traffic", "result") for n in (0, 1))]
        near = self.libraries[0]
        self.cards = [near.get_resource(vnn, Device.CELOXICA) for vnn in (0, 1)]
        for library in self.libraries:
            for name in names:
                self.number[name] = await library.resolve_handler(name)
        await self.windows()
        await self.subscribe()

    async def windows(self) -> None:
        """Open a window of each card that has none."""
        for node, library in enumerate(self.libraries):
            if not self._count or node == self.victim:
                await library.card.open_window(BEGIN, SIZE)
        self._count += 1

    async def subscribe(self) -> None:
        """Let both hosts join two trees whose root is the other host, and the victim's card the first one."""
        host, card = 0b001, 0b100
        for name, members in (("all", host | card), ("hosts", host)):
            self.trees.append(await self.near.subscribe_multicast_by_name(name, host))
            joins = self.lab.spawn(self.far.subscribe_multicast_by_name(name, members), "the victim's host joins")
            await serve_until(self.lab, [self.near], partial(getattr, joins.finished, "done"), also=[joins])

    @staticmethod
    def _keep(kept: list[tuple[int, bytes]]) -> Callable[..., None]:
        return lambda source, a0, a1, a2, a3, payload: kept.append((a0, bytes(payload)))

    # ---- helpers

    async def until(self, holds: Callable[[], bool], what: str, limit_us: int = 20_000) -> bool:
        """Poll both hosts, and keep their errors, until a condition holds or the time is over."""
        for _ in range(limit_us // 2):
            for node, library in enumerate(self.libraries):
                await self._attempt(node, library.poll)
            if holds():
                return True
            await self.lab.kernel.sleep(2 * US, what)
        return False

    async def caught(self, node: int, call: Callable[[], Awaitable[Any]]) -> None:
        """Make a call again until no error of an earlier one prevents it."""
        for _ in range(40):
            if await self._attempt(node, call):
                return

    async def _attempt(self, node: int, call: Callable[[], Awaitable[Any]]) -> bool:
        """Make a call, and keep its error; return True if it has none."""
        try:
            await call()
        except SanlabError as error:
            self.errors[node].append(str(error))
            return False
        return True

    async def forward(self, card: int, circuit: str, mode: Forward, *to: int) -> None:
        """Set a forwarding entry of a card."""
        await self.near.forward(self.cards[card], circuit, mode, *to)
        await self.lab.kernel.sleep(SETTLE_PS, "the entry to be set")

    def bytes_of(self, size: int) -> bytes:
        """Return random bytes."""
        return self.random.randbytes(size)

    def bank(self, node: int, at: int, size: int) -> bytes:
        """Return bytes of a card's memory."""
        return bytes(self.lab.running.banks[node][at : at + size])

    def host(self, node: int) -> int:
        """Return the reference of a host."""
        return int(self.near.get_dest_id(node))

    # ---- operations: with `whole`, each returns True if all of it has arrived

    async def short(self, whole: bool) -> bool:
        """Send messages of one segment through a circuit and back."""
        me, near = 1 - self.victim, self.near
        await self.forward(self.victim, "loopback", Forward.REPLY)
        return await self._through(me, near, [64] * 16, "loopback", whole, lambda data: data)

    async def long_in(self, whole: bool) -> bool:
        """Send a long message to a circuit with a short result."""
        await self.forward(self.victim, "crc32", Forward.REPLY)
        size = [self.lab.option("bytes")]
        return await self._through(1 - self.victim, self.near, size, "crc32", whole, _crc32)

    async def long_out(self, whole: bool) -> bool:
        """Get a long result."""
        await self.forward(self.victim, "loopback", Forward.REPLY)
        size = [self.lab.option("bytes")]
        return await self._through(1 - self.victim, self.near, size, "loopback", whole, lambda data: data)

    async def _through(
        self,
        node: int,
        library: Any,
        sizes: list[int],
        circuit: str,
        whole: bool,
        result: Callable[[bytes], bytes],
    ) -> bool:
        data = [self.bytes_of(size) for size in sizes]
        before = len(self.results[node])
        handler = self.number[f"result{node}"]
        for number, one in enumerate(data):
            card, to = self.cards[self.victim], self.number[circuit]
            await self.caught(node, partial(library.send, card, to, number, 0, 0, handler, one))
        expected = [(number, result(one)) for number, one in enumerate(data)]
        return not whole or await self.until(lambda: self.results[node][before:] == expected, "the results")

    async def write_v(self, whole: bool) -> bool:
        """Write to the card's window by offset."""
        return await self._store(whole, self.near.send_memory, 0)

    async def write_p(self, whole: bool) -> bool:
        """Write to the card's window by PCI address."""
        return await self._store(whole, self.near.send_physical_memory, CARD)

    async def _store(self, whole: bool, call: Callable[..., Awaitable[None]], base: int) -> bool:
        size = min(self.lab.option("bytes"), 0x7000)
        data, block = self.bytes_of(size), await self.near.malloc_pinned(size)
        self.near.store_pinned(block, data)
        card = self.cards[self.victim]
        self._count += 1
        value = self._count
        await self.caught(1 - self.victim, partial(call, card, base + DATA, block, size, lock=LOCK, value=value))
        locked = await self.until(partial(self._is_locked, self.victim, value), "the lock") if whole else True
        return locked and (not whole or self.bank(self.victim, DATA, size) == data)

    def _is_locked(self, node: int, value: int) -> bool:
        """Return True if the lock of a card has a value."""
        return self.bank(node, LOCK, 4) == value.to_bytes(4, "big")

    async def read(self, whole: bool) -> bool:
        """Read from the card's window."""
        size, near = min(self.lab.option("bytes"), 0x7000), self.near
        block, lock = await near.malloc_pinned(size), await near.malloc_pinned(4)
        near.store_pinned(lock, b"\x01" * 4)
        data = self.bank(self.victim, DATA, size)
        card = self.cards[self.victim]
        await self.caught(1 - self.victim, lambda: near.fetch_memory(card, block, DATA, size, lock=lock))

        def done() -> bool:
            return bytes(near.load_pinned(lock, 4)) == bytes(4)

        return not whole or (await self.until(done, "the lock") and near.load_pinned(block, size) == data)

    async def load_pio(self, whole: bool) -> bool:
        """Load an image word by word."""
        return await self._load(PIO, whole)

    async def load_dma(self, whole: bool) -> bool:
        """Load an image by the card's DMA."""
        return await self._load(DMA, whole)

    async def _load(self, method: str, whole: bool) -> bool:
        try:
            await self.far.card.load(IMAGE, method=method)
        except GrimError as error:
            self.errors[self.victim].append(str(error))
            return not whole
        return not whole or IMAGE in await self.far.card.slots()

    async def tpil(self, whole: bool) -> bool:
        """Copy host memory into the card by TPIL's driver, in commands of its DMA."""
        self.lab.running.use_layer("tpil")
        driver, size = CardDma(self.far.host, CARD, self.far.card.dma_turn), 0x4000
        data, source = self.bytes_of(size), self.far.host.allocate(size)
        self.far.host.store_bytes(source.address, data)
        try:
            await driver.fetch(source.address, DATA + 64, size)
        except TpilError as error:
            self.errors[self.victim].append(str(error))
            return not whole
        return not whole or self.bank(self.victim, DATA + 64, size) == data

    async def tree_to(self, whole: bool) -> bool:
        """Send to a tree of which the card is a member, with results to its host."""
        me, victim = 1 - self.victim, self.victim
        await self.forward(victim, "loopback", Forward.ENDPOINT, self.host(victim), self.number[f"result{victim}"])
        before = [len(one) for one in self.results]
        for number in range(12):
            await self.caught(
                me, partial(self.near.send_mc, self.trees[0], self.number["loopback"], number, payload=bytes(200))
            )
        members = await self.until(lambda: len(self.results[me]) == before[me] + 12, "the tree at the other host")
        most = before[victim] + 24
        return members and (not whole or await self.until(lambda: len(self.results[victim]) == most, "the card"))

    async def tree_from(self, whole: bool) -> bool:
        """Let the card send its results into a tree of both hosts."""
        await self.forward(self.victim, "crc32", Forward.TREE, self.trees[1], self.number["member"])
        me = 1 - self.victim
        before = len(self.results[me])
        for number in range(8):
            card, circuit = self.cards[self.victim], self.number["crc32"]
            await self.caught(me, partial(self.near.send, card, circuit, number, payload=bytes(64)))
        return not whole or await self.until(lambda: len(self.results[me]) == before + 8, "results of the tree")

    async def card_writes(self, whole: bool) -> bool:
        """Let the other card write into the victim remotely."""
        return await self._between(Forward.WRITE, 1 - self.victim, self.victim, whole)

    async def card_reads(self, whole: bool) -> bool:
        """Let the other card read the victim remotely."""
        return await self._between(Forward.FETCH, 1 - self.victim, self.victim, whole)

    async def writes(self, whole: bool) -> bool:
        """Let the victim write into the other card remotely."""
        return await self._between(Forward.WRITE, self.victim, 1 - self.victim, whole)

    async def reads(self, whole: bool) -> bool:
        """Let the victim read the other card remotely."""
        return await self._between(Forward.FETCH, self.victim, 1 - self.victim, whole)

    async def _between(self, mode: Forward, issuer: int, target: int, whole: bool) -> bool:
        await self.forward(issuer, "loopback", mode, self.cards[target])
        me, card, to = 1 - self.victim, self.cards[issuer], self.number["loopback"]
        self._count += 1
        value, data = self._count, self.bytes_of(4096)
        if mode == Forward.WRITE:
            for number in range(4):
                target_at, lock = DATA + 4096 * number, LOCK if number == 3 else 0
                await self.caught(me, partial(self.near.send, card, to, 0, target_at, lock, value, data))
            locked = await self.until(partial(self._is_locked, target, value), "the lock") if whole else True
            return locked and (not whole or self.bank(target, DATA, 4096) == data)
        self.lab.running.banks[issuer][LOCK : LOCK + 4] = b"\x01" * 4
        expected = self.bank(target, DATA, 4096)
        request = struct.pack("<4I", DATA, FETCHED, 4096, LOCK)
        await self.caught(me, partial(self.near.send, card, to, payload=request))
        done = partial(self._is_locked, issuer, 0)
        return not whole or (await self.until(done, "the lock") and self.bank(issuer, FETCHED, 4096) == expected)


NAMES = (
    *("short", "long_in", "long_out", "write_v", "write_p", "read", "load_pio", "load_dma", "tpil"),
    *("tree_to", "tree_from", "card_writes", "card_reads", "writes", "reads"),
)
OPTIONS = {
    **layer_options("grim"),
    "grim.channels": Option(3, "logical channels: the last one of each NI is its card's", 3, 32),
    "operation": Option("short", "operation in whose middle the card loses its power", choices=NAMES),
    "after_us": Option(20, "time from the start of the operation to the loss of power", 0, 100_000),
    "for_us": Option(2000, "time without power", 10, 1_000_000),
    "bytes": Option(20_000, "bytes of long messages and transfers", 64, 1 << 20),
}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    here = Operations(lab)
    await here.enable()
    operation = getattr(here, lab.text("operation"))
    lab.check("operation before the loss", await operation(True), "it has not finished")
    before = [list(errors) for errors in here.errors]
    lab.check("errors before the loss", not any(before), str(before))
    cut = lab.kernel.now + SETTLE_PS * (lab.text("operation") not in DIRECT) + lab.option("after_us") * US
    name = lab.plan.cluster.names[here.victim]
    Injector(lab.running).inject([Fault("power", name, cut, SLOT, 0, lab.option("for_us") * US)])
    senders = [lab.spawn(_send(here, node), f"traffic of host {node}") for node in (0, 1)]
    task = lab.spawn(operation(False), "the operation")
    over = lambda: task.finished.done and all(one.finished.done for one in senders)  # noqa: E731
    await here.until(over, "the operation and the traffic")
    await here.until(lambda: lab.kernel.now > cut, "the loss of power", 10**6)
    arrived = lambda: all(len(one) == TRAFFIC for one in here.traffic)  # noqa: E731
    lab.check("messages between the hosts", await here.until(arrived, "the traffic"), "some are missing")
    for node in (0, 1):
        expected = [(number, _payload(node, number)) for number in range(TRAFFIC)]
        lab.check("order of these messages", here.traffic[1 - node] == expected, f"other messages of host {node}")
    await _without_power(here)
    await here.until(lambda: lab.kernel.now > cut + (lab.option("for_us") + 20) * US, "the power", 10**6)
    await _with_power(here)
    lab.metric("errors_at_the_senders", sum(DOWN in error for errors in here.errors for error in errors))
    lab.metric("errors_at_the_host", sum(SILENT in error for error in here.errors[here.victim]))


DIRECT = ("write_v", "write_p", "read", "load_pio", "load_dma", "tpil")
"""Operations that do not set a forwarding entry first."""


def _payload(node: int, number: int) -> bytes:
    return bytes([node, number]) * (8 + 97 * number % 700)


async def _send(here: Operations, node: int) -> None:
    """Send messages to the other host at a constant rate."""
    library = here.libraries[node]
    to = here.host(1 - node)
    for number in range(TRAFFIC):
        payload = _payload(node, number)
        handler = here.number[f"traffic{1 - node}"]
        await here.caught(node, partial(library.send, to, handler, number, payload=payload))
        await here.lab.kernel.sleep(8 * US, "the next message")


async def _without_power(here: Operations) -> None:
    """Check what the hosts get while the card has no power."""
    lab, victim = here.lab, here.victim
    card, to = here.cards[victim], here.number["loopback"]
    for _ in range(2):  # the NI may notice only now
        await here.caught(1 - victim, lambda: here.near.send(card, to, payload=bytes(8)))
        await here.until(lambda: False, "the error", 200)
    lab.check("error at the sender", any(DOWN in one for one in here.errors[1 - victim]), str(here.errors))
    try:
        found = await here.far.card.slots()
        lab.check("driver without power", False, f"it has read {found}")
    except GrimError as error:
        lab.check("driver without power", SILENT in str(error), str(error))
    told = sum(error.startswith("card: ") and SILENT in error for error in here.errors[victim])
    lab.check("error at the card's host", told >= 1, str(here.errors))


async def _with_power(here: Operations) -> None:
    """Start the card again, and repeat the operation."""
    lab, victim = here.lab, here.victim
    lab.check("slots after the return", not any(await here.far.card.slots()), "a slot is not empty")
    before = len(here.errors[1 - victim])
    card, to = here.cards[victim], here.number["loopback"]
    await here.caught(1 - victim, lambda: here.near.send(card, to, payload=bytes(8)))
    await here.until(lambda: len(here.errors[1 - victim]) > before, "the error", 1000)
    lab.check("error before the restart", DOWN in here.errors[1 - victim][-1], str(here.errors))
    restarted = lab.spawn(here.far.card.restart(), "the driver starts the card")
    await here.until(lambda: restarted.finished.done, "the restart")
    for kept in here.results:
        kept.clear()
    await here.until(lambda: False, "what the restart ends", 200)
    counts = [len(errors) for errors in here.errors]
    await here.windows()
    operation = getattr(here, lab.text("operation"))
    lab.check("operation after the restart", await operation(True), f"it has not finished: {here.errors}")
    after = [errors[count:] for errors, count in zip(here.errors, counts, strict=True)]
    lab.check("errors after the restart", not any(after), str(after))
