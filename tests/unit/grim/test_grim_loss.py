"""GRIM on networks that lose packets, with the time-out extension.

Strategy: traffic of random sizes runs between all nodes over wires that drop or flip packets by seed, data and answers
alike. Receivers stop, queues are tiny, and windows have every width. Every message must arrive once, in order and
unchanged, and every queue must be empty at the end. All actions of the firmware are compared with the reference model
under the same losses. Then single packets of a chosen kind are lost, and the counters of their repair are checked.
Counters wrap at least four times under loss.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from firmware.grim.host import Grim, GrimError
from firmware.grim.nic.layout import Counter
from pymodels.machine import MachineError
from pymodels.trace import TraceEvent
from tests.amount import EVERY_CASE
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_tap import Tap
from tests.unit.grim.grim_traffic import AllToAll
from tests.unit.grim.model import Verdict

LOSSY: dict[str, Any] = {"timeout_us": 300, "host_queue_bytes": 3000, "queue_bytes": 8192, "segment_bytes": 600}

LAST_ANSWERS_US = 50_000
"""Time until the last answers have arrived."""


def stop_and_start(bench: Bench) -> None:
    """Return receivers that stop, one after the other."""
    for node in range(bench.nodes):
        bench.machine.host(node).pause_between(100 + 200 * node, 1200 + 300 * node)


def sent_by(bench: Bench) -> int:
    """Return the number of messages that left a node, including resent ones."""
    return len(bench.machine.trace.of_event(TraceEvent.NIC_SEND_START))


@settings(max_examples=20 if EVERY_CASE else 8, phases=(Phase.explicit, Phase.generate))
@given(
    seed=st.integers(0, 1 << 30),
    loss=st.sampled_from([0.0, 0.01, 0.1, 0.3]),
    damage=st.sampled_from([0.0, 0.01, 0.1]),
    channels=st.sampled_from([1, 3]),
    window=st.sampled_from([1, 5, 127]),
    sequencing=st.sampled_from(["any-to-any", "per-ni"]),
    timeout=st.sampled_from([20, 300]),
)
def test_everything_arrives_once_and_in_order_under_any_loss(
    seed: int, loss: float, damage: float, channels: int, window: int, sequencing: str, timeout: int
) -> None:
    chosen = {"channels": channels, "window": window, "sequencing": sequencing, "timeout_us": timeout}
    bench = Bench(3, seed, True, True, **{**LOSSY, **chosen})
    stop_and_start(bench)
    bench.machine.faults.lose(loss, damage, seed)
    tap = Tap(bench)
    AllToAll(bench, 40, [0, 3, 64, 500, 1500], seed).run(LAST_ANSWERS_US)
    replay = tap.replay_lossy()
    assert sum(stream.transmissions for stream in replay.lossy.values()) == sent_by(bench)
    assert replay.total(Verdict.DUPLICATE) == bench.total(Counter.DUPLICATES)
    assert replay.total(Verdict.ACCEPT) == bench.total(Counter.ACCEPTED)
    assert sum(stream.expiries for stream in replay.lossy.values()) == bench.total(Counter.TIMEOUTS)


def test_nothing_is_retransmitted_without_loss() -> None:
    bench = Bench(3, 1, False, True, **{**LOSSY, "timeout_us": 5000})
    stop_and_start(bench)
    AllToAll(bench, 40, [0, 64, 1500]).run()
    assert bench.total(Counter.TIMEOUTS) == bench.total(Counter.DUPLICATES) == bench.total(Counter.STALE) == 0


def test_only_late_answers_to_duplicates_are_stale() -> None:
    """Lose no packet, but stop receivers, so that messages are resent while their first answers are in flight."""
    bench = Bench(3, 1, False, True, **{**LOSSY, "timeout_us": 5, "host_queue_bytes": 1024, "segment_bytes": 256})
    stop_and_start(bench)
    AllToAll(bench, 40, [0, 64, 200]).run(LAST_ANSWERS_US)
    sent = sum(map(bench.total, (Counter.ACCEPTED, Counter.DUPLICATES, Counter.NACKS_SENT)))
    seen = sum(map(bench.total, (Counter.ACKS_SEEN, Counter.NACKS_SEEN, Counter.STALE)))
    assert seen == sent - bench.total(Counter.UNSENT)
    assert bench.total(Counter.NACKS_SENT) > bench.total(Counter.NACKS_SEEN) > 100


@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_counters_wrap_four_times_under_loss(sequencing: str) -> None:
    bench = Bench(2, 1, False, True, **{**LOSSY, "channels": 2, "sequencing": sequencing, "queue_bytes": 1 << 15})
    bench.machine.faults.lose(0.02, 0.02, 7)
    AllToAll(bench, 4400, [0, 8]).run(LAST_ANSWERS_US)
    assert bench.count(0, Counter.SENT) // 4 >= 4 * 256, "each of four streams wraps"
    assert bench.total(Counter.TIMEOUTS) > 20
    assert bench.total(Counter.DUPLICATES) > 20
    assert bench.total(Counter.BAD_CRC) > 20


def test_channel_without_a_free_sequence_number_continues_when_the_oldest_message_is_answered() -> None:
    """Lose the answer to the first message, of channel 1. The 126 further messages of the window are answered, and 128
    wait in channels 1 to 3. Then all 255 sequence numbers of the stream are in use, and no event of its own wakes
    channel 0.
    """
    chosen: dict[str, Any] = {"channels": 4, "sequencing": "per-ni", "multicast_trees": 0, "timeout_us": 20_000}
    slots = Bench(2, 1, False, False, **chosen).libraries[0].layout.slots
    waiting = [1] * (slots - 1) + [2] * slots + [3] * slots
    OneLoss(256, [(1, 0, 0)], [1, *[0] * 126, *waiting[:128], 0], **chosen)


class OneLoss:
    """Messages from node 0 to node 1, with chosen packets lost."""

    def __init__(self, count: int, lost: list[tuple[int, int, int]], each: Sequence[int] = (), **options: Any) -> None:
        """`lost`: (source, destination, number of the packet from the first message on). `each`: the channel of
        each message, which then has reached its NI before the next one is sent; none: all take channel 0.
        """
        self.bench = bench = Bench(2, 1, True, True, **{"timeout_us": 200, **options})
        self.got: list[int] = []

        async def node(library: Grim, me: int) -> None:
            def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
                self.got.append(number)

            number = (await bench.publish(library, handler=handler))["handler"]
            if me == 1:
                await library.wait_for(lambda: len(self.got) == count)
                return
            await library.host.sleep(100_000_000)
            faults = bench.machine.faults
            for source, destination, n in lost:
                faults.drop(source, destination, faults.passed(source, destination) + n)
            for i in range(count):
                await library.send(library.get_dest_id(1), number, i, channel=each[i] if each else 0)
                if each:
                    await library.host.sleep(10_000_000)

        bench.run(node)
        bench.settle()
        assert self.got == list(range(count))
        assert bench.nothing_left()

    def counts(self) -> dict[str, int]:
        """Return the firmware's counters of the repair."""
        names = ("TIMEOUTS", "RESENT", "DUPLICATES", "OUT_OF_SEQUENCE", "STALE")
        return {name: self.bench.total(Counter[name]) for name in names}


def test_lost_message_rolls_back_its_stream() -> None:
    counts = OneLoss(5, [(0, 1, 1)]).counts()
    assert counts == {"TIMEOUTS": 1, "RESENT": 4, "DUPLICATES": 0, "OUT_OF_SEQUENCE": 3, "STALE": 0}


def test_lost_ack_is_recovered_by_a_retransmission() -> None:
    counts = OneLoss(1, [(1, 0, 0)]).counts()
    assert counts == {"TIMEOUTS": 1, "RESENT": 1, "DUPLICATES": 1, "OUT_OF_SEQUENCE": 0, "STALE": 0}


def test_only_unanswered_messages_are_retransmitted() -> None:
    counts = OneLoss(5, [(1, 0, 1)]).counts()
    assert counts == {"TIMEOUTS": 1, "RESENT": 1, "DUPLICATES": 1, "OUT_OF_SEQUENCE": 0, "STALE": 0}


def test_lost_window_is_retransmitted() -> None:
    counts = OneLoss(200, [(0, 1, n) for n in range(16)], window=16).counts()
    assert counts["TIMEOUTS"] == 1
    assert counts["RESENT"] == 16
    assert counts["DUPLICATES"] == 0


def test_lost_retransmission_is_sent_a_third_time() -> None:
    counts = OneLoss(1, [(0, 1, 0), (0, 1, 1)]).counts()
    assert counts["TIMEOUTS"] == counts["RESENT"] == 2


def test_lost_nack_is_recovered() -> None:
    bench = Bench(2, 1, True, True, host_queue_bytes=1024, segment_bytes=64, timeout_us=150)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(number)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 1:
            await library.host.sleep(500_000_000)
            await library.wait_for(lambda: len(got) == 60)
            return
        await library.host.sleep(100_000_000)
        faults = bench.machine.faults
        accepted = library.layout.host_limit // 40
        for n in range(accepted, accepted + 3):
            faults.drop(1, 0, faults.passed(1, 0) + n)
        for i in range(60):
            await library.send(library.get_dest_id(1), number, i, payload=bytes(8))

    bench.run(node)
    bench.settle()
    assert got == list(range(60))
    assert bench.count(1, Counter.NACKS_SENT) > bench.count(0, Counter.NACKS_SEEN)
    assert bench.count(0, Counter.TIMEOUTS) > 0
    assert bench.nothing_left()


@pytest.mark.parametrize("timeout", [100, 400])
def test_retransmission_leaves_at_the_timeout(timeout: int) -> None:
    run = OneLoss(1, [(0, 1, 0)], timeout_us=timeout)
    log = run.bench.machine.trace
    (resent,) = (record for record in log.of_event(TraceEvent.RESEND))
    sent = [record[0] for record in log.of_event(TraceEvent.NIC_SEND_START) if record[3] == resent[3]]
    assert 0.75 * timeout <= (resent[0] - sent[0]) / 1e6 <= timeout + 15


async def caught(errors: list[str], call: Awaitable[None]) -> None:
    """Await a call, and record the GrimError that it raises."""
    try:
        await call
    except GrimError as error:
        errors.append(str(error))


HINT = " (a host that is down does not answer; with grim.timeout_us its messages fail at the sender)"


@pytest.mark.parametrize(("options", "hint"), [({}, HINT), ({"timeout_us": 100, "timeout_tries": 0}, "")])
def test_hang_names_the_host_that_does_not_answer(options: dict[str, Any], hint: str) -> None:
    bench = Bench(2, 1, **options)

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, handler=lambda *message: None))["handler"]
        if me == 1:
            bench.machine.nic(1).card.write(0x800040, (1 << 30).to_bytes(4, "big"))
            return
        await library.host.sleep(100_000_000)
        await library.send(library.get_dest_id(1), number)
        await library.wait_for(lambda: False)

    with pytest.raises(MachineError) as caught:
        bench.run(node, 3000)
    told = [line for line in str(caught.value).splitlines() if "answers of" in line]
    assert told == [f"NIC 0 waits for answers of {bench.views[0].names[1]} to 1 messages{hint}"]


def test_hang_names_the_host_that_was_never_enabled() -> None:
    bench = Bench(3, 1)
    bench.machine.nic(2).card.write(0x800040, (1 << 30).to_bytes(4, "big"))
    names = bench.views[0].names
    with pytest.raises(MachineError, match=f"NIC 0 waits for {names[2]} to be enabled") as caught:
        bench.machine.finish(*(bench.libraries[node].grim_enable() for node in (0, 1)), within_us=5000)
    said = str(caught.value)
    assert f"NIC 1 waits for {names[2]} to be enabled" in said
    assert said.count("to be enabled") == 2


def test_answers_that_overflow_the_control_queue_are_recovered() -> None:
    """Block the path of the answers for many time-outs: each brings copies, and each copy one more answer."""
    bench = Bench(2, 1, False, True, timeout_us=30, timeout_tries=0)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(number)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            faults = bench.machine.faults
            faults.delay(1, 0, faults.passed(1, 0), 2_000_000_000)
            for i in range(100):
                await library.send(1 << 24, number, i)
        else:
            await library.wait_for(lambda: len(got) == 100)

    bench.run(node)
    bench.settle(10_000)
    assert got == list(range(100))
    assert bench.nothing_left()
    assert bench.count(1, Counter.UNSENT) > 10


def test_host_that_is_down_is_reported_only_to_its_senders() -> None:
    bench = Bench(3, 1, False, True, timeout_us=100, timeout_tries=4)
    got: list[int] = []
    errors: list[str] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(number)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 1:
            await library.host.sleep(100_000_000)
            bench.machine.nic(1).card.write(0x800040, (1 << 30).to_bytes(4, "big"))  # in reset: packets vanish
        elif me == 2:
            await library.wait_for(lambda: len(got) == 10)
        else:
            await library.host.sleep(200_000_000)
            for i in range(20):
                await caught(errors, library.send(library.get_dest_id(1 + i % 2), number, i // 2))
            while len(errors) < 10:
                await caught(errors, library.wait_for(lambda: False))

    bench.run(node)
    bench.settle()
    assert got == list(range(10))
    assert bench.count(0, Counter.UNREACHABLE) == 10
    assert len(errors) == 10
    assert all("VNN 1" in error for error in errors)
    nic, layout = bench.machine.nic(0), bench.libraries[0].layout
    assert len(set(nic.load_words(layout.channels, 2))) == 1, "its queue is empty again"
