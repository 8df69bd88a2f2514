"""Reference model of VIA in the fuzz test: it requires what the specification guarantees, and no more.

Strategy: small hand-written programs with valid results that are easily mistaken for errors.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from firmware.via.host import Descriptor, VipError
from firmware.via.host.library.work_queue import WorkQueue
from firmware.via.nic.rdma_writes import KernelBuffer
from firmware.via.nic.refill import Refill
from tb.fuzz import trial
from tb.fuzz.program import Act, Program, Value
from tb.fuzz.world import MachineWorld
from tb.studies.via.fuzz.completions import Completions, Queue
from tb.studies.via.fuzz.link import Link

LINK: Mapping[str, Value] = {
    "first": 0,
    "second": 1,
    "process": 0,
    "hostile": 0,
    "role": "client",
    "queues": 0,
    "most": 0,
    "completions": "each",
    "entries": 1024,
}
MESSAGE: Mapping[str, Value] = {"side": 0, "bytes": 64, "pieces": 1, "parts": 1, "extra": 0, "immediate": 0}


def failures(
    level: str, faults: Mapping[str, int], options: Mapping[str, Value], *acts: Act, **link_values: Value
) -> tuple[str, ...]:
    """Return the failures of acts on one connection."""
    link = Act(0, "connection", {**LINK, "level": level, **link_values}, who="link")
    return trial.on_machine("via", Program(2, "lanai9", options, faults, (link, *acts))).failures


def test_memory_of_a_lost_send_without_a_time_limit_is_freed_when_its_connection_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends: list[int] = []
    part = Link.part

    async def parted(self: Link, load: int) -> None:
        ends.append(load)
        await part(self, load)

    monkeypatch.setattr(Link, "part", parted)
    act = Act(0, "lend", {"side": 0, "bytes": 4000, "use": "send", "rights": 0}, who="link")
    assert failures("delivery", {"loss": 60, "seed": 3}, {"timeout_us": 0}, act) == ()
    assert ends, "the send was not lost"


@pytest.mark.parametrize("seed", [1, 3])
def test_packets_of_a_lost_message_may_be_stored_after_the_next_one(seed: int) -> None:
    """Let both messages use the same receive, the longer one first."""
    acts = (
        Act(0, "message", {**MESSAGE, "bytes": 9000}, who="link"),
        Act(0, "message", MESSAGE, who="link"),
    )
    assert failures("unreliable", {"loss": 60, "seed": seed}, {}, *acts) == ()


def test_packets_of_an_aborted_message_may_be_stored_after_the_next_one() -> None:
    """Deregister the memory of the first message while it is sent, so that it completes before the receive of both."""
    lent: Mapping[str, Value] = {"side": 0, "use": "send", "rights": 3}
    acts = (
        Act(0, "lend", {**lent, "bytes": 1200}, who="link"),
        Act(0, "lend too", {**lent, "bytes": 1000}, who="link"),
    )
    options: Mapping[str, Value] = {"preset": "bvia1", "descriptors": "pio", "packet": 256}
    assert failures("reception", {}, options, *acts) == ()


def test_a_burst_runs_queue_caches_low(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = Refill._ask

    async def note(self: Refill, flag: int) -> None:
        asked.append(flag)
        await ask(self, flag)

    monkeypatch.setattr(Refill, "_ask", note)
    act = Act(0, "burst", {"side": 0, "bytes": 1000, "many": 40}, who="link")
    assert failures("unreliable", {}, {"receive_words": 64}, act) == ()
    assert asked


def test_overrun_completion_queue_reports_the_overrun_and_is_ignored_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    refused = Completions.refused

    def note(self: Completions, queue: Queue, error: VipError) -> None:
        said.append(str(error))
        refused(self, queue, error)

    monkeypatch.setattr(Completions, "refused", note)
    act = Act(0, "burst", {"side": 0, "bytes": 8, "many": 20}, who="link")
    small: Mapping[str, Value] = {"queues": 15, "completions": "both", "entries": 2}
    assert failures("delivery", {}, {"completion": "cq1"}, act, **small) == ()
    assert said, "no queue was overrun"


def test_an_unreported_overrun_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a NIC that does not count the rounds of a completion queue."""
    monkeypatch.setattr("firmware.via.nic.completions.ROUNDS", 0)
    monkeypatch.setattr("firmware.via.host.library.entry_ring.ROUNDS", 0)
    act = Act(0, "burst", {"side": 0, "bytes": 8, "many": 20}, who="link")
    small: Mapping[str, Value] = {"queues": 15, "completions": "both", "entries": 2}
    assert "did not report its overrun" in failures("delivery", {}, {"completion": "cq1"}, act, **small)[0]


def two_threads(queue: str, how: str) -> Act:
    """Two threads that wait at a queue."""
    return Act(0, "two threads", {"side": 0, "bytes": 9000, "queue": queue, "how": how}, who="link")


@pytest.mark.parametrize("queues", [0, 15])
@pytest.mark.parametrize("how", ["poll", "wait", "notify"])
@pytest.mark.parametrize("queue", ["sends", "receives"])
def test_each_of_two_threads_waiting_on_a_queue_gets_one_completion(queue: str, how: str, queues: int) -> None:
    assert failures("delivery", {}, {}, two_threads(queue, how), queues=queues) == ()


@pytest.mark.parametrize("how", ["wait", "notify"])
@pytest.mark.parametrize("queue", ["sends", "receives"])
def test_descriptor_returned_before_its_completion_is_detected(
    queue: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use a library that removes a descriptor after waiting for its cost, when both threads have seen the first."""

    async def late(self: WorkQueue) -> Descriptor | None:
        if not self.over():
            return None
        await self._process.spend("take_done")
        return self._posted.popleft() if self._posted else None

    monkeypatch.setattr(WorkQueue, "_take", late)
    assert "before it was done" in failures("delivery", {}, {}, two_threads(queue, how))[0]


def test_broken_connection_without_a_report_to_its_process_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    act = Act(0, "receive nothing", {"side": 0, "bytes": 8}, who="link")
    assert failures("delivery", {}, {}, act) == ()
    monkeypatch.setattr("firmware.via.host.library.nic.VipNic._broken", lambda self, number: None)
    assert "notified 0 times" in failures("delivery", {}, {}, act)[0]


def test_data_of_a_write_overtaken_by_a_message_are_detected_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a target NIC that does not wait until its kernel has copied the data."""
    write = Act(0, "write", {"side": 0, "bytes": 4000, "pieces": 1, "immediate": 0}, who="link")
    acts = write, Act(0, "message", MESSAGE, who="link")
    assert failures("delivery", {}, {}, *acts) == ()

    async def at_once(self: KernelBuffer) -> None:
        """Wait for nothing."""

    monkeypatch.setattr(KernelBuffer, "settle", at_once)
    assert "are missing" in failures("delivery", {}, {}, *acts)[0]


@pytest.mark.parametrize(("forever", "wrong"), [(False, ()), (True, ("the network holds 1 packets",))])
def test_packet_may_be_in_flight_at_the_end_for_a_limited_time(
    forever: bool, wrong: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leave a hostile connection sending after all others have been closed."""
    looks: list[int] = []

    def in_flight(world: MachineWorld) -> int:
        looks.append(world.kernel.now)
        return int(forever or len(looks) < 3)

    monkeypatch.setattr(MachineWorld, "in_flight", in_flight)
    assert failures("delivery", {}, {}, hostile=1) == wrong
