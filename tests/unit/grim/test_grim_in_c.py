"""GRIM's C firmware, executed on the machine by instruction, beside NICs that run the coroutine.

Strategy: the traffic of the delivery tests runs between nodes of both kinds, with the unchanged host library. Messages
must arrive unchanged, once and in order. Counters must show NACKs, answers that waited for the link, messages cut
through, and full scoreboards. Options that the C firmware lacks are rejected by name. The instructions of an idle NIC
are checked.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import Any

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.boot import check
from firmware.grim.nic.layout import Counter
from firmware.options import OptionError
from pymodels.lanai.chips import Chip
from pymodels.lanai.program import Program
from pymodels.lanai.simulator import Step
from pymodels.machine import executed
from pymodels.machine.processor import ModelProcessor
from tests.unit.grim.grim_bench import US, Bench
from tests.unit.grim.grim_traffic import AllToAll


def mixed(in_c: str, kind: str = "lanai9", **options: int | str) -> Bench:
    """Return nodes with one kind of NIC, which execute the C firmware (`c`) or run the coroutine (`p`)."""
    bench: type[Bench] = type("Mixed", (Bench,), {"in_c": in_c, "nic": kind})
    return bench(len(in_c), 1, False, True, **options)


SIZES = [0, 3, 8, 64, 700, 3000]


@pytest.mark.parametrize(("in_c", "kind"), [("cc", "lanai9"), ("cp", "lanai9"), ("pc", "lanai4"), ("cc", "lanai4")])
def test_messages_of_every_size_arrive_once_and_in_order(in_c: str, kind: str) -> None:
    bench = mixed(in_c, kind)
    AllToAll(bench, 12, [0, 1, 5, 64, 1000, 4000, 9001]).run(settle_us=200)
    assert bench.total(Counter.ACKS_SEEN) == bench.total(Counter.ACCEPTED) == bench.total(Counter.SENT)
    assert bench.total(Counter.EARLY) > 0


@pytest.mark.parametrize(
    ("option", "value"), [("queue_style", "hybrid"), ("sequencing", "per-ni"), ("timeout_us", 500), ("dma_inject", 1)]
)
def test_unsupported_option_of_the_firmware_in_c_is_rejected_by_name(option: str, value: int | str) -> None:
    with pytest.raises(
        OptionError, match=rf"option {option}={value}: GRIM's firmware in C supports only {option}=\S+; use"
    ):
        check({option: value})


def test_unsupported_need_of_a_study_is_rejected_by_name() -> None:
    with pytest.raises(
        OptionError, match="nic.firmware=c: GRIM's firmware in C does not support multicast, only append queues, "
    ):
        check({}, ["multicast"])


class StopAndStart(AllToAll):
    """Traffic in which each host in turn reads nothing for 600 us, from a fixed time after its `grim_enable`."""

    async def node(self, library: Grim, me: int) -> None:
        start = self.bench.machine.kernel.now / US + 200 + 600 * me
        self.bench.machine.host(me).pause_between(start, start + 600)
        await super().node(library, me)


@pytest.mark.parametrize(("in_c", "kind"), [("cc", "lanai9"), ("cp", "lanai9"), ("cc", "lanai4")])
def test_receivers_that_stop_and_start_get_all_messages(in_c: str, kind: str) -> None:
    few = {"channels": 3, "host_queue_bytes": 6000, "queue_bytes": 8192}
    bench = mixed(in_c, kind, **few, segment_bytes=1400, cut_through_bytes=512)
    StopAndStart(bench, 30, SIZES).run(settle_us=200)
    assert bench.total(Counter.NACKS_SENT) > 5
    assert bench.total(Counter.CONTROL_QUEUED) > 5
    assert bench.total(Counter.BAD_CRC) == bench.total(Counter.OUT_OF_SEQUENCE) == bench.total(Counter.STRANGE) == 0


def test_hang_report_shows_that_a_rejected_stream_waits_for_its_host() -> None:
    bench = mixed("cp", host_queue_bytes=1024, segment_bytes=256)
    got: list[int] = []
    told: list[str] = []

    async def application(library: Grim, me: int) -> None:
        handler = (await bench.publish(library, take=lambda source, number, *rest: got.append(number)))["take"]
        if me == 0:
            for number in range(30):
                await library.send(library.get_dest_id(1), handler, number)
            await library.host.sleep(100_000_000, "the look")
            told.extend(f"{one.waiter}: {one.wanted}" for one in bench.machine.kernel.waits.declared())
        else:
            await library.host.sleep(200_000_000, "a host that does not read")
            await library.wait_for(lambda: len(got) == 30)

    bench.run(application)
    bench.settle(100)
    assert any(re.fullmatch(r"NIC 0: room in the endpoint queues of VNN 1 .*host1.*", one) for one in told), told
    assert not any("room" in str(one) for one in bench.machine.kernel.waits.declared())


@pytest.mark.parametrize("kind", ["lanai9", "lanai4"])
def test_freed_block_of_registered_memory_is_confirmed_to_the_driver(kind: str) -> None:
    """Free the block by a call that waits for the confirmation."""
    bench = mixed("cp", kind)
    freed: list[int] = []

    async def application(library: Grim, me: int) -> None:
        if me == 0:
            for _ in range(2):
                await library.free_pinned_va(await library.malloc_pinned(4096))
                freed.append(me)

    bench.run(application, within_us=2000)
    assert freed == [0, 0]


def test_idle_turn_of_the_main_loop_stores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a turn reads ISR once and otherwise SRAM, so that only external events can change the next turn."""
    steps: list[Step] = []
    run = executed.run

    def watched(nic: ModelProcessor, program: Program, chip: Chip) -> Coroutine[Any, Any, None]:
        return run(nic, program, chip, lambda step, spent: steps.append(step))

    monkeypatch.setattr(executed, "run", watched)
    bench = mixed("cp")

    async def nothing(library: Grim, me: int) -> None:
        """Do nothing after `grim_enable`."""

    bench.run(nothing)
    bench.settle(50)
    steps.clear()
    bench.settle(10)
    accesses = [step.access for step in steps if step.access]
    assert not any(access.stores for access in accesses)
    assert {access.address for access in accesses if access.register} == {0x50}, "ISR"
    turns = sum(access.register for access in accesses)
    assert len(steps) < 35 * turns, "a turn is short"


def test_more_nodes_than_the_firmware_in_c_synchronises_are_rejected() -> None:
    with pytest.raises(
        OptionError, match="nic.firmware=c: GRIM's firmware in C synchronises at most 32 NIs, but the cluster has 33"
    ):
        mixed("c" + "p" * 32)
