"""Operations of AM-II for the table of charged paths: messages, replies, returns, retransmissions, rejections."""

from __future__ import annotations

from firmware.am2.host import EndpointName, Mask, Token
from tests.unit.am2.am2_bench import ANSWER, KEEP, TAG, Bench
from tests.unit.layers.charges import Charges, settled


def tour(charges: Charges) -> None:
    """Run all operations."""
    with charges.operation("start, an endpoint and its tag"):
        bench = Bench(timeout_us=200, credits=8)
    near, far = bench.bundles
    machine = bench.machine
    for size in (0, 700):
        with charges.operation(f"request of 3 words and {size} B"):
            bench.run(settled(machine, bench.send(0, 1, 1, 2, 3, data=bytes(size))))
        with charges.operation(f"poll and reply of {size} B"):
            bench.run(settled(machine, far.poll()))
        with charges.operation(f"poll of the reply of {size} B"):
            bench.run(near.poll())
    with charges.operation("poll"):
        bench.run(near.poll())
    with charges.operation("request without a reply of its handler"):
        bench.run(settled(machine, bench.send(0, 1, handler=KEEP)))
        bench.run(settled(machine, far.poll()), settled(machine, near.wait()))
        bench.run(near.poll())
    _lost(charges, bench)
    _returned(charges, bench)
    _many(charges)
    _bulk(charges)
    _back(charges)
    _paging(charges)
    _asleep(charges)
    with charges.operation("freeing the endpoints"):
        bench.run(*(library.terminate() for library in bench.libraries))


def _lost(charges: Charges, bench: Bench) -> None:
    """Send messages through a network that loses and damages packets."""
    faults, machine = bench.machine.faults, bench.machine
    for size in (0, 700):
        faults.drop(0, 1, faults.passed(0, 1))
        with charges.operation(f"a message of {size} B, lost once"):
            bench.run(settled(machine, bench.send(0, 1, 1, data=bytes(size), handler=KEEP)))
        bench.run(settled(machine, bench.bundles[1].poll()))
        bench.run(settled(machine, bench.bundles[0].poll()))
    faults.corrupt(0, 1, faults.passed(0, 1), 20)
    with charges.operation("a damaged message"):
        bench.run(settled(machine, bench.send(0, 1, handler=KEEP)))
    bench.run(settled(machine, bench.bundles[1].poll()))
    bench.run(settled(machine, bench.bundles[0].poll()))
    with charges.operation("12 messages with increasingly late acknowledgements"):
        for later in range(12):
            faults.delay(1, 0, faults.passed(1, 0), (120 + 10 * later) * 1_000_000)
            bench.run(settled(machine, bench.send(0, 1, data=bytes(8192), handler=KEEP)))
            bench.run(settled(machine, bench.bundles[1].poll()))
            bench.run(settled(machine, bench.bundles[0].poll()))


def _returned(charges: Charges, bench: Bench) -> None:
    """Send messages that are returned."""
    near = bench.endpoints[0]
    for index, name, what in (
        (6, EndpointName(1, 9), "to an unknown endpoint"),
        (7, EndpointName(9, 0), "to an unknown node"),
    ):
        near.map(index, name, TAG)
        with charges.operation(f"message {what}"):
            bench.run(settled(bench.machine, near.request(index, KEEP, 1, 2)))
        with charges.operation(f"poll of message {what}"):
            bench.run(bench.bundles[0].poll())


def _many(charges: Charges) -> None:
    """Send more messages than there are channels, slots and places, and acknowledge one while it is prepared again."""
    bench = Bench(timeout_us=100, credits=32, channels=2, each=2)
    near, far = bench.endpoints

    async def flood() -> None:
        for number in range(32):
            await near.request(1, KEEP, number)
        for number in range(32, 36):
            await bench.bundles[0].endpoints[1].request(1, KEEP, number)

    async def replies(token: Token) -> None:
        await token.reply_i(KEEP, bytes(8))

    async def answers() -> None:
        await bench.machine.kernel.sleep(2_000_000_000)
        while len(bench.came[1]) < 36 or near.unanswered:
            await bench.machine.kernel.sleep(50_000_000)
            await bench.bundles[1].poll()

    with charges.operation("36 messages on one channel"):
        bench.run(settled(bench.machine, flood()), answers(), bench.until(0, 0))
    far.set_handler(ANSWER, replies)

    async def asks() -> None:
        for _ in range(40):
            await near.request(1, ANSWER)
        await bench.until(0, 0)

    bench.machine.kernel.spawn(far_end(bench), "the far end")
    with charges.operation("40 replies with payload"):
        bench.run(settled(bench.machine, asks()))


def _bulk(charges: Charges) -> None:
    """Put data into a segment, and get data from it."""
    bench = Bench(medium=512)
    for endpoint in bench.endpoints:
        endpoint.set_segment(endpoint.process.allocate(2000), 2000)
    bench.machine.kernel.spawn(far_end(bench), "the far end")
    with charges.operation("600 B into a segment"):
        bench.run(settled(bench.machine, bench.endpoints[0].request_xfer(1, 0, KEEP, bytes(600))))
    with charges.operation("600 B out of a segment"):
        bench.run(settled(bench.machine, bench.endpoints[0].get_xfer(1, 0, KEEP, 0, 600)))
        bench.run(bench.until(0, 0))


def _back(charges: Charges) -> None:
    """Send replies that are returned while their sender needs the staging blocks again."""
    bench = Bench(credits=12)

    async def replies(token: Token) -> None:
        await token.reply_i(KEEP, bytes(8))

    bench.endpoints[1].set_handler(ANSWER, replies)

    async def asks() -> None:
        for _ in range(6):
            await bench.endpoints[0].request(1, ANSWER)
        await bench.machine.kernel.sleep(500_000_000)
        await bench.endpoints[0].set_tag(TAG + 1)

    bench.run(settled(bench.machine, asks()))
    with charges.operation("6 returned replies"):
        bench.run(settled(bench.machine, bench.bundles[1].poll()))
        bench.run(settled(bench.machine, bench.bundles[1].poll()))


def _paging(charges: Charges) -> None:
    """Load and evict endpoints."""
    bench = Bench(frames=1, each=2, timeout_us=200)
    (_, second), machine = bench.bundles[0].endpoints, bench.machine
    bench.bundles[0].move_endpoint(second, bench.libraries[0].allocate_bundle())
    second.map(2, bench.bundles[1].endpoints[1].name, TAG)
    with charges.operation("a message of an absent endpoint"):
        bench.run(settled(machine, second.request(1, KEEP)))
    bench.run(settled(machine, bench.bundles[1].poll()))
    with charges.operation("a message for an absent endpoint"):
        bench.run(settled(machine, second.request(2, KEEP)))
    bench.run(settled(machine, bench.bundles[1].poll()))
    _passed_over(charges)


def _asleep(charges: Charges) -> None:
    """Let a process sleep until a message arrives; look up a name."""
    bench = Bench()
    bench.bundles[1].set_event_mask(Mask.NOT_EMPTY)

    async def late() -> None:
        await bench.machine.kernel.sleep(200_000_000)
        await bench.send(0, 1, handler=KEEP)

    with charges.operation("a message that wakes a process"):
        bench.run(settled(bench.machine, late()), bench.bundles[1].wait())
    with charges.operation("a name lookup"):
        bench.run(bench.libraries[0].lookup("host1", 0))


def _passed_over(charges: Charges) -> None:
    """Try to evict an endpoint that stays because it has a message in flight."""
    bench = Bench(nic="lanai4", frames=2, each=3, timeout_us=200, absent="silent")
    (first, _, third), machine = bench.bundles[0].endpoints, bench.machine
    third.map(2, bench.bundles[1].endpoints[2].name, TAG)
    bench.run(machine.kernel.sleep(500_000_000))
    machine.faults.delay(1, 0, machine.faults.passed(1, 0), 150_000_000)

    async def both() -> None:
        await first.request(1, KEEP)
        await third.request(2, KEEP)

    with charges.operation("a message between absent endpoints with absent=silent"):
        bench.run(settled(machine, both()))


async def far_end(bench: Bench) -> None:
    """Handle requests, without end."""
    while True:
        await bench.bundles[1].poll()
        await bench.machine.kernel.sleep(20_000_000)
