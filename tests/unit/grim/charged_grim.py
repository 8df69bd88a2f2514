"""A tour of GRIM: every operation of an application, then messages with each option of the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from firmware.grim.host import Grim
from firmware.grim.host.errors import GrimError
from tests.unit.grim.grim_bench import Bench
from tests.unit.layers.charges import SETTLE_PS, Charges, settled

CHOICES: dict[str, dict[str, int | str]] = {
    "slotted": {"queue_style": "slotted"},
    "hybrid": {"queue_style": "hybrid"},
    "per-ni": {"sequencing": "per-ni"},
    "fetched": {"dma_inject": 1},
    "rung": {"doorbell_notify": 1},
    "buffered": {"buffering": "both"},
    "timed": {"timeout_us": 200},
}
FAR = 1 << 24


class Two:
    """Two nodes: node 0 runs operations, node 1 polls until node 0 is done."""

    bench_of: Callable[..., Bench] = Bench

    def __init__(self, charges: Charges, **options: int | str) -> None:
        self.charges, self.options = charges, options

    def run(self, name: str, act: Callable[[Two, Grim, int], Awaitable[None]]) -> None:
        """Run `act` on node 0; operations that it names begin with `name`."""
        self.name, self.bench, over = name, self.bench_of(2, **self.options), False
        self.here, self.there = self.bench.libraries

        async def node(library: Grim, me: int) -> None:
            nonlocal over
            numbers = await self.bench.publish(library, data=lambda *_: None, reply=self._reply, slow=self._slow)
            if me == 0:
                await library.host.sleep(SETTLE_PS)
                await act(self, library, numbers["data"])
                over = True
                await library.send(FAR, numbers["data"])
            else:
                await library.wait_for(lambda: over)

        self.bench.run(node)

    async def step(self, what: str, call: Awaitable[Any]) -> Any:
        """Run an operation, and count its paths until both nodes are idle."""
        with self.charges.operation(f"{self.name} {what}"):
            return await settled(self.bench.machine, call)

    async def _slow(self, *_: Any) -> None:
        await self.there.host.sleep(100_000_000)

    async def _reply(self, source: int, a0: int, *_: Any) -> None:
        await self.there.send(source, a0)


def tour(charges: Charges) -> None:
    """Run all operations."""
    with charges.operation("enable"):
        Bench(2).run(_nothing)
    Two(charges).run("plain", _everything)
    for name, options in CHOICES.items():
        Two(charges, **options).run(name, messages)


async def _nothing(library: Grim, me: int) -> None:
    """Do nothing after `grim_enable`."""


async def messages(two: Two, grim: Grim, data: int) -> None:
    """Send messages of no segment, one segment and many."""
    for size in (0, 64, 9000):
        await two.step(f"send {size} B", grim.send(FAR, data, payload=bytes(size)))


async def _everything(two: Two, grim: Grim, data: int) -> None:
    await messages(two, grim, data)
    await two.step("reply", grim.send(FAR, await grim.resolve_handler("reply"), data))
    await two.step("resolve", grim.resolve_handler("data"))
    tree = await two.step("find tree", grim.find_multicast_tree("t"))
    await two.step("subscribe", grim.subscribe_multicast(tree, 1))
    await two.step("multicast", grim.send_mc(tree, data, payload=bytes(64)))
    await two.step("unsubscribe", grim.unsubscribe_multicast(tree, 1))
    for size in (64, 9000):
        await two.step(f"broadcast {size} B", grim.broadcast(data, payload=bytes(size)))
    near = await two.step("allocate", grim.malloc_pinned(8192))
    pages = await two.step("pin", grim.pin_user_memory(8192))
    target, others = await two.there.malloc_pinned(8192), await two.there.pin_user_memory(8192)
    for where, at in (("contiguous", target), ("missed", others), ("hit", others)):
        await two.step(f"write {where}", grim.send_memory(FAR, at, near, 6000, lock=at + 8188, value=1))
        await two.step(f"read {where}", grim.fetch_memory(FAR, near, at, 6000, lock=near + 8188))
    with suppress(GrimError):  # the next call raises it
        await two.step("write to nowhere", grim.send_memory(FAR, 0x7000_0000, near, 64))
        await grim.poll()
        await grim.send(FAR, data)
    place = two.there.get_pinned_pa(target)
    await two.step("write physical", grim.send_physical_memory(FAR, place, pages, 64))
    await two.step("free", grim.free_pinned_va(near))
    await two.step("free pages", grim.free_pinned_va(pages))
