"""Freed AM-II endpoints: no effect on the next owner of the number, the frame or the memory.

Strategy: a message with payload is stopped during its DMA, or has been handled. Then its endpoint is freed, another
process gets an endpoint of the same number, and the contents visible to that process are checked. A kept turn is
derived from the order in which the NIC takes messages.
"""

from __future__ import annotations

from firmware.am2.host import Bundle, Endpoint, EndpointName
from firmware.am2.nic.layout import BLOCKS, FRAME
from pymodels.trace import TraceEvent
from tests.unit.am2.am2_bench import KEEP, TAG, Bench

US = 1_000_000


def being_delivered(bench: Bench) -> bool:
    """Return True while payload is moved from the NIC of node 1 to its host (its second transfer)."""
    return sum(record[2] == TraceEvent.NIC_DMA_START for record in bench.machine.trace.records) == 2


async def next_of(bench: Bench, bundle: Bundle, freed: Endpoint) -> Endpoint:
    """Free an endpoint, and return the endpoint that a new process gets."""
    await freed.free()
    return await bench.layers[1].init().allocate_bundle().allocate_endpoint()


def frame_of(bench: Bench, endpoint: Endpoint) -> bytes:
    """Return the contents of the frame of an endpoint of node 1."""
    at = endpoint.process.pages.at(endpoint._granted.frame, "looking").physical - bench.machine.host(1).nic_base
    return bench.machine.nic(1).load_bytes(at, FRAME)


def staging_of(endpoint: Endpoint, medium: int) -> bytes:
    """Return the contents of an endpoint's staging blocks, as its process reads them."""
    return endpoint.process.load_bytes(endpoint._granted.staging, BLOCKS * medium)


def test_payload_in_flight_does_not_reach_the_next_owner() -> None:
    bench = Bench(each=1)
    freed = bench.endpoints[1]

    async def program() -> Endpoint:
        await bench.send(0, 1, 7, data=b"\xc3" * 8192)
        while not being_delivered(bench):
            await bench.machine.kernel.sleep(US)
        return await next_of(bench, bench.bundles[1], freed)

    after = bench.run(program())[0]
    assert after.name == freed.name
    bench.run(bench.machine.kernel.sleep(2000 * US))
    assert not any(staging_of(after, 8192))
    assert not any(frame_of(bench, after))
    bench.run(bench.bundles[0].until(lambda: len(bench.back[0]) == 1), within_us=1e4)
    assert bench.back[0][0].status.name == "BAD_ENDPOINT"
    assert bench.returned_data == [b"\xc3" * 8192]


def test_staging_blocks_are_cleared_for_the_next_process() -> None:
    bench = Bench()
    bench.run(bench.send(0, 1, 7, data=b"secret" * 100), bench.until(1, 1), bench.until(0, 1))
    freed = bench.endpoints[1]
    assert b"secret" in staging_of(freed, 8192)
    after = bench.run(next_of(bench, bench.bundles[1], freed))[0]
    assert after.name == freed.name
    assert not any(staging_of(after, 8192))


def test_freeing_an_endpoint_keeps_the_turn_of_another_one() -> None:
    bench = Bench(channels=2, credits=8, timeout_us=5000)
    near, faults = bench.bundles[0], bench.machine.faults
    heavy, idle = bench.run(near.allocate_endpoint(4), near.allocate_endpoint())
    bench.run(heavy.set_tag(TAG))
    heavy.map(1, EndpointName(1, 0), TAG)
    faults.delay(1, 0, faults.passed(1, 0), 400 * US)
    since = len(bench.machine.trace.records)

    async def program() -> None:
        for number in range(4):
            await heavy.request(1, KEEP, number)
        await bench.send(0, 1, 9, handler=KEEP)
        await idle.free()

    bench.run(program(), bench.until(1, 5), within_us=1e4)
    took = [
        record[4]
        for record in bench.machine.trace.records[since:]
        if record[2] == TraceEvent.NIC_NOTICED and record[3] >> 24 == 0 and not record[3] >> 16 & 1
    ]
    assert took == [1, 1, 1, 1, 0]


def test_a_wait_with_two_endpoints_ends_at_the_first_message() -> None:
    bench = Bench(each=2)
    returned: list[int] = []

    async def waits() -> None:
        await bench.bundles[1].wait()
        returned.append(bench.machine.kernel.now)

    async def sends() -> int:
        await bench.machine.kernel.sleep(500 * US)
        now = bench.machine.kernel.now
        await bench.send(0, 1, 5, handler=KEEP)
        return now

    sent = bench.run(sends(), waits())[0]
    assert returned[0] > sent
    assert bench.run(bench.bundles[1].poll()) == [1]


def test_a_wait_continues_bulk_data_that_lack_room() -> None:
    bench = Bench(credits=32, medium=512)
    far = bench.endpoints[1]
    far.set_segment(far.process.allocate(8192), 8192)
    returned: list[int] = []
    for number in range(4):
        bench.machine.faults.delay(1, 0, bench.machine.faults.passed(1, 0) + number, 300 * US)

    async def waits() -> None:
        transfer = await bench.endpoints[0].request_xfer_async(1, 0, KEEP, bytes(8 * 512))
        assert bench.endpoints[0].starved
        await bench.bundles[0].wait()
        returned.append(bench.machine.kernel.now)
        await bench.bundles[0].until(lambda: transfer.over)

    async def polls() -> int:
        await bench.machine.kernel.sleep(1500 * US)
        now = bench.machine.kernel.now
        await bench.until(1, 1)
        return now

    _, polled = bench.run(waits(), polls(), within_us=1e5)
    assert returned[0] > polled
