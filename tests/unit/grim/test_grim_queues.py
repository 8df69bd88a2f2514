"""The three styles of queues (paper 000, 4.2.2).

Strategy: one random test runs with each style, with roll-backs, queues that fill and wrap at least four times, and
losses; without losses it is compared with the reference model. Then the differences between the styles are checked: how
many messages have room, and whether a message takes one DMA or two.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.grim.formats import HEADER_BYTES, TOKENS
from firmware.grim.host import Grim
from firmware.grim.nic.channels import holder
from firmware.grim.nic.layout import Counter, Layout, Register
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.options import Options
from firmware.options import OptionError
from pymodels.registers import Reg
from pymodels.trace import Part, TraceEvent
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_tap import Tap
from tests.unit.grim.grim_traffic import AllToAll

STYLES = ["append", "slotted", "hybrid"]
SMALL: dict[str, Any] = {"host_queue_bytes": 3000, "queue_bytes": 4096, "segment_bytes": 600}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("channels", "seed"), [(1, 1), (3, 2)])
def test_every_queue_style_passes_the_same_random_test(style: str, channels: int, seed: int) -> None:
    bench = Bench(3, seed, True, True, **{**SMALL, "queue_style": style, "channels": channels})
    tap = Tap(bench)
    for node in range(3):
        bench.machine.host(node).pause_between(100 + 200 * node, 1200 + 300 * node)
    AllToAll(bench, 150, [0, 3, 64, 500, 1500], seed).run()
    tap.replay()
    assert bench.total(Counter.NACKS_SENT) > 20
    assert bench.total(Counter.ROLLED_BACK) > bench.total(Counter.NACKS_SENT), "roll-back in the middle"
    layout = bench.libraries[0].layout
    each = layout.stride or 40 + 150  # bytes a message at least, on the average
    assert bench.count(0, Counter.SENT) // channels * each // layout.limit >= 4, "the queue of each channel wraps"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_every_queue_style_survives_loss(style: str, sequencing: str) -> None:
    chosen = {"queue_style": style, "sequencing": sequencing, "channels": 2, "timeout_us": 200}
    bench = Bench(3, 5, False, True, **{**SMALL, **chosen})
    bench.machine.host(1).pause_between(200, 1200)
    bench.machine.faults.lose(0.03, 0.03, 9)
    AllToAll(bench, 100, [0, 64, 600, 1500]).run(50_000)
    assert bench.total(Counter.TIMEOUTS) > 10


@pytest.mark.parametrize("style", STYLES)
def test_doorbells_work_with_every_queue_style(style: str) -> None:
    AllToAll(Bench(2, 3, doorbell_notify=1, queue_style=style, **SMALL), 60, [0, 64, 600]).run()


def test_slots_waste_the_room_that_short_messages_leave() -> None:
    """Buffer use over message sizes: append and hybrid hold many short messages, slots as many as long ones."""
    layouts = {style: Layout(Options.from_values({"queue_style": style, **SMALL}), 2, 1 << 21) for style in STYLES}
    held = {style: layout.limit // (layout.stride or 48) for style, layout in layouts.items()}
    assert held["slotted"] == 4096 // (8 + 8 + 32 + 600)
    assert held["append"] > 10 * held["slotted"]
    assert held["hybrid"] == min(layouts["hybrid"].slots, 4096 // 4 // 48)


@pytest.mark.parametrize(
    ("style", "size", "pieces"), [("append", 64, 0), ("slotted", 64, 0), ("hybrid", 64, 1), ("hybrid", 0, 0)]
)
def test_only_a_hybrid_queue_needs_two_dmas_for_a_message(style: str, size: int, pieces: int) -> None:
    bench = Bench(2, 1, trace=True, queue_style=style)
    nic, written = bench.machine.nic(0), [0]
    write = nic.write

    def counted(register: int, value: int) -> None:
        written[0] += register == Reg.SML
        write(register, value)

    nic.write = counted  # type: ignore[method-assign]
    before = 0

    async def node(library: Grim, me: int) -> None:
        nonlocal before
        number = (await bench.publish(library, handler=lambda *arguments: None))["handler"]
        await library.host.sleep(100_000_000)
        before = before or written[0]
        for _ in range(10 * (me == 0)):
            await library.send(library.get_dest_id(1), number, payload=bytes(size))

    bench.run(node)
    bench.settle()
    assert written[0] - before == 10 * pieces
    begun = [
        record[4] for record in bench.machine.trace.of_event(TraceEvent.NIC_SEND_START) if record[1] == Part.NIC_CPU
    ]
    assert begun[-10:] == [HEADER_BYTES + (not pieces) * size] * 10, "bytes of the first DMA"


@pytest.mark.parametrize("wait", [0, 1])
def test_ni_serves_events_between_header_and_payload_unless_it_waits_for_its_link(wait: int) -> None:
    bench = Bench(2, 3, queue_style="hybrid", hybrid_wait=wait, **SMALL)
    nic = bench.machine.nic(0)
    write, work, between, done = nic.write, nic.work, [False], set[str]()

    def written(register: int, value: int) -> None:
        between[0] = (between[0] and register != Reg.SMLT) or register == Reg.SML
        write(register, value)

    def worked(path: str, *arguments: Any, **more: Any) -> Any:
        done.update({path} if between[0] else ())
        return work(path, *arguments, **more)

    nic.write, nic.work = written, worked  # type: ignore[method-assign]
    AllToAll(bench, 40, [600]).run()
    assert done == {"hybrid_payload"} if wait else {"hybrid_payload", "receive_message", "send_ack"} <= done


def test_fetched_payloads_and_hybrid_queues_exclude_each_other() -> None:
    with pytest.raises(OptionError, match="^option dma_inject: a hybrid queue cannot hold fetched payloads"):
        Bench(2, 1, False, False, queue_style="hybrid", dma_inject=1)


def test_registers_show_messages_in_flight_and_unprocessed_ones() -> None:
    """Fill the scoreboard with messages that a host accepts later."""
    bench = Bench(2, 1, multicast_trees=24, channels=8, **{**SMALL, "host_queue_bytes": 2000})
    registers = (Register.FRONT, Register.NEXT, Register.BACK)
    waiting: list[int] = []
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        numbers = await bench.publish(library, handler=lambda *message: got.append(message[1]))
        if me == 0:
            for number in range(60):
                await library.send(library.get_dest_id(1), numbers["handler"], number)
            await library.host.sleep(200_000_000)
            nic, layout = bench.machine.nic(0), library.layout
            waiting.extend(nic.load(layout.register(0, register)) for register in registers)
        else:
            await library.host.sleep(1_000_000_000)
            await library.wait_for(lambda: len(got) == 60)

    bench.run(node)
    bench.settle()
    nic, layout = bench.machine.nic(0), bench.libraries[0].layout
    front, following, back = waiting
    assert following - front == layout.slots * 40, "in flight"
    assert back > following, "not looked at"
    assert len({nic.load(layout.register(0, register)) for register in registers}) == 1


@pytest.mark.parametrize("style", STYLES)
def test_registers_show_an_empty_queue(style: str) -> None:
    bench = Bench(2, 1, queue_style=style, **SMALL)
    AllToAll(bench, 30, [600]).run()
    nic, layout = bench.machine.nic(0), bench.libraries[0].layout
    front, back, payload = (
        nic.load(layout.register(0, register)) for register in (Register.FRONT, Register.BACK, Register.PAYLOAD_FRONT)
    )
    assert front == back
    outgoing = bench.libraries[0].calls.ready().queues.outgoing[0]
    assert payload == getattr(outgoing, "_payload_back", 0)


@pytest.mark.parametrize("channels", [1, 3, 7])
@pytest.mark.parametrize("style", STYLES)
def test_token_identifies_one_scoreboard_slot_or_none(style: str, channels: int) -> None:
    """Use a queue of few slots, which leaves tokens of its channel unused; answers with unused tokens are ignored."""
    bench = Bench(2, start_nics=False, **{**SMALL, "queue_style": style, "channels": channels})
    outgoing = Outgoing(Ni(bench.machine.nic(0), bench.views[0]))
    used = {one.first_token + slot: (one, slot) for one in outgoing.all for slot in range(one.slots)}
    assert {token: holder(outgoing.all, channels, token) for token in range(TOKENS)} == {
        token: used.get(token) for token in range(TOKENS)
    }
