"""Injected packets and queue sizes in the fuzz test of GRIM.

Strategy: a packet of each kind that no NIC has sent goes to a NI. The NI must count it as dropped or answer it by an
ERROR, and accept the next message. A requested queue size must apply to one node only.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.scan import Firmware
from tb.fuzz.program import Act, Program
from tb.fuzz.world import MachineWorld
from tb.studies.grim.fuzz.cluster import Cluster
from tb.studies.grim.fuzz.foreign import SORTS, foreign
from tb.studies.grim.fuzz.misplaced import KINDS, misplaced
from tests.unit.grim.grim_bench import Bench

DROPPED = (Counter.OVERLONG, Counter.BAD_CRC, Counter.STRANGE, Counter.STALE, Counter.FOREIGN)


def made(**options: Any) -> tuple[Bench, list[Firmware]]:
    """Two nodes, and the programs of their NICs."""
    bench = Bench(2, start_nics=False, **options)
    programs = [Firmware(Ni(bench.machine.nic(node), bench.views[node])) for node in range(2)]
    for node, program in enumerate(programs):
        bench.machine.nic(node).spawn(program.run(), "firmware")
    return bench, programs


@pytest.mark.parametrize("timeout_us", [0, 300])
@pytest.mark.parametrize("sort", SORTS)
def test_packet_from_an_unknown_source_is_dropped_and_counted(sort: str, timeout_us: int) -> None:
    bench, programs = made(timeout_us=timeout_us)
    got: list[int] = []

    async def application(library: Grim, me: int) -> None:
        handler = (await bench.publish(library, take=lambda source, number, *rest: got.append(number)))["take"]
        if me == 0:
            packet = foreign(programs[1].ni, sort, 5)
            assert bool(packet) is (timeout_us > 0 or sort != "other connection")
            if packet:
                bench.machine.network.insert(1, packet)
            await library.send(library.get_dest_id(1), handler, 7)
        else:
            await library.wait_for(lambda: bool(got))

    bench.run(application)
    bench.settle()
    expected = sort != "other connection" or timeout_us > 0
    assert got == [7] and sum(bench.count(1, counter) for counter in DROPPED) == int(expected)
    assert bench.nothing_left()


@pytest.mark.parametrize("timeout_us", [0, 300])
@pytest.mark.parametrize("sort", KINDS)
def test_message_that_no_library_sends_is_answered_by_an_error_without_effect(sort: str, timeout_us: int) -> None:
    bench, programs = made(timeout_us=timeout_us, channels=3)
    got: list[int] = []

    async def application(library: Grim, me: int) -> None:
        handler = (await bench.publish(library, take=lambda source, number, *rest: got.append(number)))["take"]
        if me == 0:
            uses = Program(2, "lanai9", {}, {}, (Act(0, "send", {"channel": 1}),))
            for _ in range(2):
                packet = misplaced(programs[1], uses, sort, 0)
                assert packet
                bench.machine.network.insert(1, packet)
                await library.host.sleep(100_000_000)
            await library.send(library.get_dest_id(1), handler, 7, channel=1)
        else:
            await library.wait_for(lambda: bool(got))

    bench.run(application)
    bench.settle()
    assert got == [7]
    assert bench.count(1, Counter.ERRORS_SENT) == bench.count(0, Counter.STALE if timeout_us else Counter.STRANGE) == 2
    assert bench.nothing_left()


def test_no_such_message_is_made_where_it_would_disturb_a_stream_that_is_used() -> None:
    acts = tuple(Act(0, "send", {"channel": channel}) for channel in (1, 2))
    one, several = Program(2, "lanai9", {}, {}, ()), Program(2, "lanai9", {}, {}, acts)
    for channels, uses in ((1, one), (3, several)):
        bench = Bench(2, start_nics=False, channels=channels)
        firmware = Firmware(Ni(bench.machine.nic(1), bench.views[1]))
        assert not any(misplaced(firmware, uses, sort, 0) for sort in KINDS)


def test_queue_has_its_configured_size() -> None:
    program = Program(2, "lanai9", {}, {}, (), {"node": 1, "resource": "MYRI", "bytes": 20_000})
    sizes = [part.library.options.queue_bytes for part in Cluster(program, MachineWorld(program)).parts]
    assert sizes[1] == 20_000 != sizes[0]
