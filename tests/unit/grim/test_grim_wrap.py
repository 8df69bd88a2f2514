"""Counters that wrap at their own width.

Strategy: so many messages are sent that each counter and each ring wraps at least four times while messages are
rejected and rolled back; the number of wraps is computed from what was sent. Windows from 1 to 127 are kept, which the
reference model checks with unbounded counters.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from firmware.grim import formats as grim
from firmware.grim.formats import COUNTER_BITS, Cause
from firmware.grim.host import Grim
from firmware.grim.nic.channels import Channel
from firmware.grim.nic.fetching import Fetching
from firmware.grim.nic.layout import Counter, HostQueue, Register
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.scan import Firmware
from pymodels.registers import Reg
from pymodels.trace import TraceEvent
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_tap import Tap

MESSAGES = 1100


def one_way(bench: Bench, count: int, size: int) -> list[int]:
    """Send `count` messages from node 0 to node 1, which stops now and then; return what node 1 received, in order."""
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(number)
            assert len(data) == size

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            for i in range(count):
                await library.send(library.get_dest_id(1), number, i, payload=bytes(size))
        else:
            await library.wait_for(lambda: len(got) == count)

    for i in range(5):
        bench.machine.host(1).pause_between(100 + 400 * i, 300 + 400 * i)
    bench.run(node)
    bench.settle()
    return got


@pytest.mark.parametrize("window", [1, 20, 127])
@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_sequence_and_token_wrap_four_times(sequencing: str, window: int) -> None:
    sizes: dict[str, Any] = {"host_queue_bytes": 2048, "segment_bytes": 64, "queue_bytes": 1 << 16}
    bench = Bench(2, 1, trace=True, sequencing=sequencing, window=window, **sizes)
    tap = Tap(bench)
    assert one_way(bench, MESSAGES, 8) == list(range(MESSAGES))
    tap.replay()
    assert bench.count(0, Counter.SENT) // (grim.COUNTER_MASK + 1) >= 4
    assert MESSAGES // grim.TOKENS >= 4
    assert bench.count(1, Counter.NACKS_SENT) > 0
    assert tap.streams[0, 0, 1, 0].window == window


@pytest.mark.parametrize("size", [0, 4, 60, 64])
def test_queues_of_ni_and_host_wrap_four_times(size: int) -> None:
    bench = Bench(2, 2, host_queue_bytes=1200, segment_bytes=64, queue_bytes=1400)
    assert one_way(bench, 300, size) == list(range(300))
    layout = bench.libraries[0].layout
    assert 300 * (40 + grim.padded(size // 4)) // layout.limit >= 4
    assert 300 * (32 + grim.padded(size // 4)) // layout.host_limit >= 4
    nic = bench.machine.nic(0)
    assert nic.load(layout.register(0, Register.FRONT)) == nic.load(layout.register(0, Register.BACK)) < layout.limit


def test_rings_of_control_blocks_and_answers_wrap_four_times() -> None:
    bench = Bench(2, 3, segment_bytes=64, cut_through_bytes=0, reply_bytes=0, multicast_trees=0)
    count = 2200
    assert one_way(bench, count, 4) == list(range(count))
    layout = bench.libraries[1].layout
    assert 2 * count // layout.blocks_count >= 4
    assert count // layout.control_entries >= 4


def test_fits_never_fills_a_queue_completely() -> None:
    """Compare the two rules of the ring with a ring that stores its contents."""
    from firmware.grim.nic.layout import fits, following

    limit, room = 96, 32
    for step in range(8, room + 1, 8):
        held: list[tuple[int, int]] = []
        back = 0
        for turn in range(1000):
            if fits(held[0][0] if held else back, back, step, limit) and turn % 7:
                assert all(back + step <= at or at + size <= back for at, size in held)
                held.append((back, step))
                back = following(back, step, limit)
                assert back != held[0][0]
            elif held:
                held.pop(0)


TURNS = 12
BEFORE_WRAP = (1, 9, 40, 200)
"""Initial values of 32-bit counters, in counts before their wrap, such that they wrap four times in all."""


@pytest.mark.parametrize("lossy", [False, True])
def test_retry_delays_are_kept_when_the_rtc_wraps(lossy: bool) -> None:
    """Set RTC, which has 32 bits of half microseconds, close to its end repeatedly. It wraps within a delay, at the end
    of a delay, and while the firmware reads it.
    """
    options: dict[str, Any] = {"host_queue_bytes": 2048, "segment_bytes": 64, "retry_delay_us": 20}
    bench = Bench(2, 5, trace=True, **options | ({"timeout_us": 100} if lossy else {}))
    if lossy:
        bench.machine.faults.lose(0.03, 0.0, 5)
    got: list[int] = []
    each = 100

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, handler=lambda source, number, *rest: got.append(number)))["handler"]
        nic = bench.machine.nic(me)
        for turn in range(TURNS):
            await library.host.sleep(2_000_000_000)
            nic.special.write(Reg.RTC, 0x1_0000_0000 - 300 - 4 * turn)
            if me == 0:
                for i in range(each):
                    await library.send(library.get_dest_id(1), number, turn * each + i)
            else:
                await library.host.sleep(400_000_000)  # until then messages are refused
            while len(got) < (turn + 1) * each:
                await library.poll()
                await library.host.sleep(2_000_000)
            assert nic.special.read(Reg.RTC) < 0x8000_0000, "it went round"

    bench.run(node)
    bench.settle()
    assert got == list(range(TURNS * each))
    assert bench.total(Counter.NACKS_SENT) > 4 * TURNS
    assert bench.total(Counter.TIMEOUTS) < TURNS * each / 3, "no delay ended at once"
    log = bench.machine.trace
    seen = [record[0] for record in log.of_event(TraceEvent.NACK_SEEN)]
    again = [record[0] for record in log.of_event(TraceEvent.RESEND)]
    waits = [(min((time for time in again if time > at), default=at) - at) / 1e6 for at in seen]
    assert max(waits) < 200, "no delay lasted a turn of the clock"


@pytest.mark.parametrize("before", BEFORE_WRAP)
def test_message_numbers_of_a_channel_wrap(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = Channel.__init__

    def begin(self: Channel, *arguments: Any) -> None:
        begun(self, *arguments)
        self.head = 0x1_0000_0000 - before

    monkeypatch.setattr(Channel, "__init__", begin)
    bench = Bench(2, 6, trace=True, host_queue_bytes=2048, segment_bytes=64)
    tap = Tap(bench)
    assert one_way(bench, 400, 8) == list(range(400))
    tap.replay()
    assert bench.count(1, Counter.NACKS_SENT) > 0


@pytest.mark.parametrize("before", BEFORE_WRAP)
def test_counts_of_fetched_payloads_wrap(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, start, parts = Fetching.__init__, 0x1_0000_0000 - before, []

    def begin(self: Fetching, *arguments: Any) -> None:
        begun(self, *arguments)
        parts.append(self)

    monkeypatch.setattr(Fetching, "__init__", begin)
    bench, got, count = Bench(2, 7, dma_inject=1), [], 300

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, handler=lambda *message: got.append(bytes(message[-1]))))["handler"]
        if me == 1:
            await library.wait_for(lambda: len(got) == count)
            return
        await library.host.sleep(200_000_000)
        messenger, buffer = library.calls.ready(), library.host.allocate(4 * count)
        messenger.queues.outgoing[0].fetches = parts[0]._fetched[0] = start
        messenger.dispatch.incoming[0]._view[HostQueue.FETCHED : HostQueue.FETCHED + 4] = start.to_bytes(4, "big")
        for i in range(count):
            buffer.view[4 * i : 4 * i + 4] = i.to_bytes(4, "big")
            piece = SimpleNamespace(address=buffer.address + 4 * i, size=4, view=buffer.view[4 * i : 4 * i + 4])
            await library.send(library.get_dest_id(1), number, payload=piece)
        assert messenger.queues.outgoing[0].fetches == start + count & 0xFFFFFFFF < start

    bench.run(node)
    assert got == [i.to_bytes(4, "big") for i in range(count)]


def test_error_of_a_reused_sequence_number_is_forgotten() -> None:
    """Check that other errors are kept: a copy of another failed message is still answered by its ERROR."""
    bench = Bench(2, start_nics=False, timeout_us=400)
    verdicts = Firmware(Ni(bench.machine.nic(1), bench.views[1])).parts.verdicts
    for stream, key in ((3, 5), (3, 6), (2, 5)):
        verdicts.failed[stream << COUNTER_BITS | key] = Cause.FREED_HERE
    verdicts.in_order(3, 5)
    assert verdicts.failed.keys() == {3 << COUNTER_BITS | 6, 2 << COUNTER_BITS | 5}
    assert verdicts.expected[3] == 6
