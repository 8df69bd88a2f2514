"""A tour of GRIM in failures: full queues, lost packets and answers, hosts that restart, nodes with unequal options."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from firmware.common.host import card
from firmware.grim.formats import Device, Reference
from firmware.grim.host import Grim
from firmware.grim.host.errors import GrimError
from firmware.view import ClusterView
from tests.unit.grim.charged_grim import FAR, Two
from tests.unit.grim.grim_bench import Bench, restart_nic
from tests.unit.layers.charges import SETTLE_PS, Charges, settled

US = 1_000_000
NOWHERE = 0x7000_0000
"""Address after all memory of a host."""
QUICK: dict[str, Any] = {"timeout_us": 100, "timeout_tries": 4}
BESIDE = Reference(1, Device.HOST, 1).pack()
"""Second endpoint of node 1."""


def tour(charges: Charges) -> None:
    """Run all operations."""
    for buffering in ("sending", "both"):
        two = Two(charges, host_queue_bytes=8192, segment_bytes=2048, buffering=buffering)
        two.run(f"buffered by {buffering}", _full)
    Two(charges, queue_bytes=4096, segment_bytes=1024).run("little room", _overflow)
    Two(charges, host_queue_bytes=1024, segment_bytes=64, queue_bytes=1 << 16).run("full", _scoreboard)
    Two(charges, timeout_us=200).run("lossy", _lossy)
    Two(charges, timeout_us=200, channels=2).run("lossy", _passed)
    Two(charges, timeout_us=20_000, channels=2, multicast_trees=0, sequencing="per-ni").run("per-ni", _all_numbers)
    Two(charges).run("freed", _freed)
    Two(charges, buffering="both").run("freed, buffered", _freed)
    Two(charges, poll_first=0, host_queue_bytes=1024, segment_bytes=256).run("unread", _unread)
    _down(charges)
    _down_in_a_tree(charges)
    _of_before(charges)
    _disagree(charges, "too long", FAR, segment_bytes=8192)
    _disagree(charges, "of no stream", BESIDE, channels=2)


async def _full(two: Two, grim: Grim, data: int) -> None:
    """Send more than the queue of a slow host holds: messages are rejected, or buffered by its NI."""
    slow = await grim.resolve_handler("slow")

    async def many() -> None:
        for _ in range(8):
            await grim.send(FAR, slow, payload=bytes(1500))

    await two.step("send to a full queue", many())


async def _overflow(two: Two, grim: Grim, data: int) -> None:
    """Send more than the NI's own queue holds, from an application and from a handler."""

    async def many(library: Grim, to: int) -> None:
        for _ in range(4):
            await library.send(to, data, payload=bytes(3000))

    async def answer(source: int, *_: Any) -> None:
        await many(two.there, source)

    await two.step("send much", many(grim, FAR))
    reply = await grim.resolve_handler("reply")
    two.there.handlers.functions[reply] = answer
    await two.step("answer much", grim.send(FAR, reply))


async def _unread(two: Two, grim: Grim, data: int) -> None:
    """Let more writes fail than the NI stores reports, before the host reads them."""
    source, writes = await grim.malloc_pinned(4), 330

    async def fail() -> None:
        for number in range(writes):
            await grim.send_memory(FAR, NOWHERE + 4 * number, source, 4)
        await grim.host.sleep(20_000 * US)

    async def read() -> None:
        for _ in range(2 * writes):
            with suppress(GrimError):
                await grim.poll()
            await grim.host.sleep(5 * US)

    await two.step("fail", fail())
    await two.step("read", read())


async def _scoreboard(two: Two, grim: Grim, data: int) -> None:
    """Send more messages than there are tokens."""

    async def many() -> None:
        slow = await grim.resolve_handler("slow")
        for number in range(300):
            await grim.send(FAR, slow if number < 20 else data)

    await two.step("scoreboard", many())


async def _lossy(two: Two, grim: Grim, data: int) -> None:
    """Lose, damage or delay a message or its answer; receive an answer twice, or while the copy is being sent."""
    faults = two.bench.machine.faults
    for name, harm, source in (
        ("lost", faults.drop, 0),
        ("damaged", faults.corrupt, 0),
        ("with a lost answer", faults.drop, 1),
        ("with two answers", faults.double, 1),
    ):
        harm(source, 1 - source, faults.passed(source, 1 - source))
        await two.step(f"send {name}", grim.send(FAR, data, payload=bytes(64)))
    for late_us in range(160, 240, 5):
        faults.delay(1, 0, faults.passed(1, 0), late_us * US)
        await two.step("send with a late answer", grim.send(FAR, data, payload=bytes(4000)))


async def _passed(two: Two, grim: Grim, data: int) -> None:
    """Answer the second message before the first."""
    faults = two.bench.machine.faults
    faults.drop(0, 1, faults.passed(0, 1))

    async def both() -> None:
        await grim.send(FAR, data)
        await grim.send(BESIDE, data)

    await two.step("send in two streams", both())


async def _all_numbers(two: Two, grim: Grim, data: int) -> None:
    """Use all sequence numbers of a stream after a message whose answer is lost; no channel's scoreboard is full."""
    faults = two.bench.machine.faults
    faults.drop(1, 0, faults.passed(1, 0))

    async def many() -> None:
        for number in range(300):
            await grim.send(FAR, data, channel=1 if 0 < number < 128 else number % 2)

    await two.step("all numbers of a stream", many())


async def _freed(two: Two, grim: Grim, data: int) -> None:
    """Free the target of a read before its data arrive."""
    source, target = await two.there.malloc_pinned(4096), await grim.pin_user_memory(4096)

    async def read_and_free() -> None:
        await grim.fetch_memory(FAR, target, source, 64)
        await grim.free_pinned_va(target)

    await two.step("read", read_and_free())
    with suppress(GrimError):  # the second call raises what the first one finds
        await grim.poll()
        await grim.poll()


def _down(charges: Charges) -> None:
    """Take node 1 down, send to it, restart it, and send it a message whose name it does not know yet."""
    bench = Bench(2, **QUICK)
    machine = bench.machine

    async def node(library: Grim, me: int) -> None:
        data = (await bench.publish(library, data=lambda *_: None))["data"]
        if me == 1:
            return
        await library.host.sleep(SETTLE_PS)
        await card.hold(bench.libraries[1].host)
        with charges.operation("send to a host that is down"):
            await settled(machine, library.send(FAR, data))
            await library.host.sleep(1000 * US)
        with suppress(GrimError):
            await library.poll()
            await library.poll()
        with charges.operation("host that comes back"):
            back = await settled(machine, restart_nic(bench, 1))
        back.register_handler(lambda *_: None, "data")
        await library.send(FAR, data, payload=bytes(64))
        await library.host.sleep(SETTLE_PS)
        with charges.operation("poll before synchronising"):
            await back.poll()

    bench.run(node)


def _of_before(charges: Charges) -> None:
    """Receive a copy of a message for the node's life before its restart."""
    bench = Bench(2, **QUICK)
    faults = bench.machine.faults

    async def node(library: Grim, me: int) -> None:
        data = (await bench.publish(library, data=lambda *_: None))["data"]
        if me == 1:
            return
        await library.host.sleep(SETTLE_PS)
        faults.double(0, 1, faults.passed(0, 1), 10 * SETTLE_PS)
        await library.send(FAR, data)
        await library.host.sleep(SETTLE_PS)
        await restart_nic(bench, 1)
        with charges.operation("packet of before it was down"):
            await library.host.sleep(10 * SETTLE_PS)

    bench.run(node)


def _down_in_a_tree(charges: Charges) -> None:
    """Take node 2 down while node 1 broadcasts through node 0."""
    bench = Bench(3, **QUICK)

    async def node(library: Grim, me: int) -> None:
        data = (await bench.publish(library, data=lambda *_: None))["data"]
        await library.host.sleep(SETTLE_PS)
        if me == 1:
            await card.hold(bench.libraries[2].host)
            with charges.operation("broadcast to a host that is down"):
                await settled(bench.machine, library.broadcast(data))
                await library.host.sleep(1000 * US)

    bench.run(node)


def _disagree(charges: Charges, what: str, to: int, **options: int) -> None:
    """Send messages from node 0 that node 1, which has another layout, cannot accept."""
    bench = Bench(2, start_nics=False)
    machine = bench.machine
    bench.views[0] = ClusterView(**machine.view(0, **options))
    bench.libraries[0] = grim = Grim(machine.host(0), bench.views[0])
    for node in range(2):
        bench.start_nic(node)
    machine.finish(*(library.grim_enable() for library in bench.libraries))
    grim.register_handler(lambda *_: None, "data")
    machine.finish(grim.sync_handlers())
    (number,) = machine.finish(grim.resolve_handler("data"))
    with charges.operation(f"message {what}"):
        machine.finish(settled(machine, grim.send(to, number, payload=bytes(grim.options.segment_bytes))))
