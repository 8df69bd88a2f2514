"""A tour of GRIM with less usual options: names requested by a client, payload fetched by the NI, several channels, the
polling thread, the timed search, an FPGA card, a LANai 4.
"""

from __future__ import annotations

import struct
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from firmware.grim.formats import Device
from firmware.grim.host import Grim
from firmware.grim.host.errors import GrimError
from firmware.grim.nic.layout import Word
from pymodels.config.model import FPGA_CARD
from tests.unit.grim.charged_grim import FAR, Two, messages
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.test_grim_endpoints import WithCard
from tests.unit.layers.charges import SETTLE_PS, Charges, settled

PERIOD_US = 50
"""Period of the polling thread."""


class Lanai4(Bench):
    """Bench of LANai 4 NICs."""

    nic = "lanai4"


class TwoOnLanai4(Two):
    """Two nodes with LANai 4."""

    bench_of = Lanai4


def tour(charges: Charges) -> None:
    """Run all operations."""
    _names(charges)
    _reserved(charges)
    _card(charges)
    Two(charges).run("alone", _alone)
    Two(charges).run("scattered", _scattered)
    Two(charges, channels=3).run("three channels", messages)
    Two(charges, dma_inject=1, segment_bytes=64, channels=2).run("fetched", _fetched)
    Two(charges, poll_thread=1, poll_period_us=PERIOD_US).run("thread", _thread)
    Two(charges, search_timer=1).run("timed", _search)
    Two(charges, crc32=1).run("sealed", messages)
    TwoOnLanai4(charges).run("LANai 4", messages)


def _names(charges: Charges) -> None:
    """Run the client's side of the handler database while the server polls."""
    bench, over = Bench(2), False
    machine = bench.machine

    async def node(library: Grim, me: int) -> None:
        nonlocal over
        if me == 0:
            library.register_handler(lambda *_: None, "late")
            await library.sync_handlers()
            await library.wait_for(lambda: over)
            return
        for what, call in (("synchronise", library.sync_handlers()), ("resolve late name", _asked(library))):
            with charges.operation(what):
                await settled(machine, call)
        over = True
        await library.send(0, await library.resolve_handler("late"))

    bench.run(node)


async def _asked(library: Grim) -> None:
    """Look up two unknown names: one that the server has received meanwhile, and one that it lacks."""
    for name in ("later", "none"):
        with suppress(GrimError):
            await library.resolve_handler(name)


def _reserved(charges: Charges) -> None:
    bench = Bench(2)
    bench.libraries[0].reserve_ni_memory(4096)
    with charges.operation("enable with reserved memory"):
        bench.machine.finish(*(library.grim_enable() for library in bench.libraries))


def _card(charges: Charges) -> None:
    """Send a message to an FPGA card of node 1, whose window accepts all writes."""
    bench = Bench(2, start_nics=False, channels=2, timeout_us=200)
    bench.views = [replace(view, cards=(frozenset(), frozenset({FPGA_CARD}))) for view in bench.views]
    bench.libraries[0] = Grim(bench.machine.host(0), bench.views[0])
    dma = bench.machine.nic(1).dma
    window = WithCard(dma.host_memory)
    dma.host_memory, dma.check_grant = window, window.granted  # type: ignore[assignment]
    for node in range(2):
        bench.start_nic(node)

    async def send(library: Grim, me: int) -> None:
        number = (await bench.publish(library, data=lambda *_: None))["data"]
        if me == 0:
            await library.host.sleep(SETTLE_PS)
            with charges.operation("send to a card"):
                call = library.send(library.get_resource(1, Device.CELOXICA), number, payload=bytes(64))
                await settled(bench.machine, call)

    bench.run(send)


async def _alone(two: Two, grim: Grim, data: int) -> None:
    """Run the operations that concern the own node only."""
    await two.step("poll that finds nothing", grim.poll())
    here, there = await grim.malloc_pinned(8192), await grim.malloc_pinned(8192)
    await two.step("write to itself", grim.send_memory(0, there, here, 6000))
    await two.step("send to itself", grim.send(0, data, payload=bytes(64)))
    await two.step("poll", grim.poll())


async def _scattered(two: Two, grim: Grim, data: int) -> None:
    """Transfer between pages, from and to the middle of a page."""
    near, far = await grim.pin_user_memory(16384), await two.there.pin_user_memory(16384)
    for what in ("missed", "hit"):
        await two.step(f"write {what}", grim.send_memory(FAR, far + 4092, near + 4088, 8000))
        await two.step(f"read {what}", grim.fetch_memory(FAR, near + 4092, far + 4088, 8000))


async def _fetched(two: Two, grim: Grim, data: int) -> None:
    """Send payload from host memory, from the application and from a handler."""
    await two.step("send 64 B", grim.send(FAR, data, payload=grim.host.allocate(64)))
    await two.step("send 4000 B", grim.send(FAR, data, payload=grim.host.allocate(4000)))
    answers = two.there.host.allocate(64)

    async def answer(source: int, a0: int, *_: Any) -> None:
        await two.there.send(source, a0, payload=answers)

    two.there.handlers.functions[await grim.resolve_handler("reply")] = answer
    await two.step("reply by a handler", grim.send(FAR, await grim.resolve_handler("reply"), data))

    async def both() -> None:
        other = grim.host.spawn(grim.send(FAR, data, payload=grim.host.allocate(4000), channel=1), "other")
        await grim.send(FAR, data, payload=grim.host.allocate(4000))
        await other.finished

    await two.step("send in two channels", both())


async def _thread(two: Two, grim: Grim, data: int) -> None:
    """Wait for an answer; then let a thread run one turn, which begins between two endpoints."""
    answers: list[int] = []
    grim.handlers.functions[data] = lambda *message: answers.append(1)

    async def ask() -> None:
        await grim.send(FAR, await grim.resolve_handler("reply"), data)
        await grim.wait_for(lambda: bool(answers))

    await two.step("send and wait", ask())
    thread = grim.polling_thread
    assert thread is not None
    turns = thread.turns
    while thread.turns == turns:
        await grim.host.sleep(1_000_000)
    await grim.host.sleep(PERIOD_US * 500_000)
    with two.charges.operation("thread's turn"):
        await grim.host.sleep(PERIOD_US * 1_000_000)


async def _search(two: Two, grim: Grim, data: int) -> None:
    wish: Awaitable[None] = grim.host.pio_write(grim.host.nic_base + Word.SEARCH, struct.pack(">2H", 1, 2))
    await two.step("search", wish)
