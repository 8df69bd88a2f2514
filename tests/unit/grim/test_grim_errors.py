"""Names of nodes, and invalid packets.

Strategy: a packet with a flipped bit is dropped by CRC and counted. A message for an endpoint that the other NI does
not have is answered with an ERROR, which frees it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firmware.grim.formats import Device
from firmware.grim.host import ANY_VNN, Grim, GrimError
from firmware.grim.nic.layout import Counter
from tests.unit.grim.grim_bench import Bench


def nothing(*arguments: Any) -> None:
    """Handle a message by doing nothing."""


def with_view(**changes: Any) -> Bench:
    """Return three nodes whose software has another view of the cluster."""
    bench = Bench(3)
    hosts = map(bench.machine.host, range(3))
    views = [replace(view, **changes) for view in bench.views]
    bench.libraries = [Grim(host, view) for host, view in zip(hosts, views, strict=True)]
    return bench


def test_node_names_numbers_and_references_agree() -> None:
    bench = with_view(pnns=(5, 4, 3))

    async def node(library: Grim, me: int) -> None:
        assert (library.get_my_vnn(), library.get_my_name()) == (me, f"host{me}")
        assert library.get_vnn_from_name("host2") == 2
        assert library.get_vnn_name(1) == "host1"
        assert library.get_resource(ANY_VNN, 0) == library.get_dest_id(0)
        assert library.get_resource(2, 0) == library.get_dest_id(2) == 2 << 24
        assert library.vnn_configuration().splitlines()[me] == f"VNN   {me}  PNN {5 - me:3d}  host{me} (this host)"

    bench.run(node)


def test_every_kind_of_device_is_in_the_database_and_those_without_handlers_take_no_message() -> None:
    cards = frozenset({"MYRI"}), frozenset({"MYRI", "FRAME_BUFFER"}), frozenset({"MYRI", "FRAME_BUFFER"})
    bench = with_view(cards=cards)

    async def node(library: Grim, me: int) -> None:
        assert library.get_resource(ANY_VNN, Device.HOST) == 0
        assert library.get_resource(ANY_VNN, Device.NI) == Device.NI << 16
        assert library.get_resource(2, Device.NI) == 2 << 24 | Device.NI << 16
        assert library.get_resource(ANY_VNN, Device.FRAME_BUFFER) == 1 << 24 | Device.FRAME_BUFFER << 16
        with pytest.raises(GrimError, match="device: no requested node has a device of type 3"):
            library.get_resource(0, Device.FRAME_BUFFER)
        number = (await bench.publish(library, nothing=nothing))["nothing"]
        for device in (Device.NI, Device.FRAME_BUFFER):
            where = library.get_dest_id(1, device)
            with pytest.raises(GrimError, match=f"destination: a device of type {device.name} runs no handlers"):
                await library.send(where, number)

    bench.run(node)


@pytest.mark.parametrize("mask", [1, 0x10, 0x80])
@pytest.mark.parametrize("offset", [0, 3, 4, 5, 8, 9, 20, 33, 40])
def test_packet_with_a_flipped_bit_is_dropped(offset: int, mask: int) -> None:
    bench = Bench(2, trace=True)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(number)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            await library.host.sleep(50_000_000)
            faults = bench.machine.faults
            faults.corrupt(0, 1, faults.passed(0, 1), offset=offset, mask=mask)
            await library.send(library.get_dest_id(1), number, 1, payload=bytes(8))
        await library.host.sleep(100_000_000)
        await library.poll()

    bench.run(node)
    assert got == []
    assert bench.count(1, Counter.BAD_CRC) == 1


def test_message_that_can_never_succeed_is_freed_and_reported() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> str:
        number = (await bench.publish(library, handler=nothing))["handler"]
        if me == 1:
            await library.host.sleep(200_000_000)
            return ""
        library.messages.target(1 << 24, 0).destination |= 1  # a device that node 1 does not have
        await library.send(1 << 24, number)
        with pytest.raises(GrimError) as caught:
            await library.wait_for(lambda: False)
        return str(caught.value)

    expected = "destination: VNN 1, channel 0 rejected a message permanently (cause 1); check the reference"
    assert bench.run(node)[0] == expected
    bench.settle()
    assert bench.count(1, Counter.ERRORS_SENT) == bench.count(0, Counter.ERRORS_SEEN) == 1
    assert bench.nothing_left()


def test_library_answers_while_an_error_is_pending() -> None:
    """Handle the error of a bad address and then a request of another node in one poll of node 0."""
    bench = Bench(3)

    async def node(library: Grim, me: int) -> int:
        await bench.publish(library, nothing=nothing)
        if me == 2:
            await library.host.sleep(200_000_000)
            return await library.find_multicast_tree("new")
        if me == 0:
            block = await library.malloc_pinned(64)
            await library.send_memory(library.get_dest_id(1), 0x7000_0000, block, 4)
            await library.host.sleep(400_000_000)
            await library.poll()
            with pytest.raises(GrimError, match="is not in pinned memory of VNN 1"):
                await library.poll()
        return 0

    assert bench.run(node) == [0, 0, 1]


@pytest.mark.parametrize("retry_delay_us", [10, 0])
@pytest.mark.parametrize("timeout_us", [0, 300])
def test_report_to_a_full_endpoint_is_delivered_when_it_has_room(retry_delay_us: int, timeout_us: int) -> None:
    """Messages of node 1 fill the queue of node 0, which does not poll when its bad write is answered."""
    options = {"retry_delay_us": retry_delay_us, "timeout_us": timeout_us}
    bench = Bench(2, host_queue_bytes=1024, segment_bytes=256, poll_first=0, **options)  # type: ignore[arg-type]

    got: list[int] = []

    def take(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        got.append(a0)

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, take=take))["take"]
        if me == 1:
            for sent in range(40):
                await library.send(0, number, sent)
            await library.host.sleep(1_000_000_000)
            return
        block = await library.malloc_pinned(64)
        await library.host.sleep(200_000_000)
        await library.send_memory(library.get_dest_id(1), 0x7000_0000, block, 4)
        await library.host.sleep(200_000_000)
        with pytest.raises(GrimError, match="is not in pinned memory of VNN 1"):
            await library.wait_for(lambda: False)
        await library.wait_for(lambda: len(got) == 40)

    bench.run(node, within_us=100_000)
    bench.settle()
    assert bench.nothing_left()
