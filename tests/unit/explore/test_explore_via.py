"""Model checking of VIA's small worlds.

Strategy: the smallest world of each reliability level keeps its guarantees. Known bugs are then injected into the
firmware, and the search must find and report each. In one bug each, a copy is accepted as a new message, and a missing
packet is not noticed. In the others, a message is acknowledged before it is whole, time limits are ignored, and a
message overtakes data written before it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.via.formats import Kind, Reliability, Status
from firmware.via.host.kernel_agent.vis.time_limit import TimeLimit
from firmware.via.nic.connection import Connection
from firmware.via.nic.rdma_writes import KernelBuffer
from firmware.via.nic.receiving import Receiver
from tb.explore.world import SmallWorld
from tb.studies.via.explore.play import Choices
from tb.studies.via.explore.rules import RECEIVED, Message, Rules, Traffic, body
from tb.studies.via.explore.worlds import world
from tests.unit.explore.test_explore import searched

ONE = Message(0)
DELIVERY, UNRELIABLE = Reliability.DELIVERY, Reliability.UNRELIABLE


def once(traffic: Traffic, level: Reliability, fault: str) -> SmallWorld:
    """Return a world with one fault of this kind."""
    return world(fault, "", traffic, level, faults=frozenset({fault}), times=1)


@pytest.mark.parametrize("level", list(Reliability))
def test_one_message_arrives_in_every_order_of_turns(level: Reliability) -> None:
    outcome, _ = searched(world("one", "", (ONE,), level))
    assert (outcome.wrong, outcome.exhausted) == ("", True)
    assert outcome.ends


def test_a_descriptor_that_the_nic_fetches_is_a_question_to_its_host() -> None:
    options: Choices = {"preset": "bvia1", "processes": 1, "packet": 64}
    outcome, _ = searched(world("fetched", "", (ONE,), DELIVERY, options=options))
    assert (outcome.wrong, outcome.exhausted) == ("", True)


DONE, FAILED, FLUSHED = (int(Status.DONE | wrong) for wrong in (Status(0), Status.TRANSPORT_ERROR, Status.FLUSHED))
FIRST = int(RECEIVED), body(ONE, 0)
ALONE = int(RECEIVED | Status.FLUSHED), body(ONE, 0)


@pytest.mark.parametrize(
    ("here", "there", "found"),
    [
        (
            ((DONE, DONE), (), (), "CONNECTED"),
            ((), (FIRST,), (), "CONNECTED"),
            "2 messages of host 0 are done, but 1 have",
        ),
        (
            ((DONE, FAILED), (), (), "ERROR"),
            ((), (FIRST,), (), "CONNECTED"),
            "ERROR at one end and CONNECTED at the other",
        ),
        (((DONE, FAILED), (), (), "ERROR"), ((), (FIRST, ALONE), (), "ERROR"), ""),
    ],
)
def test_both_ends_agree_on_completed_messages(here: Any, there: Any, found: str) -> None:
    rules = Rules((ONE, ONE), DELIVERY, breaks=True, notices=True)
    said = rules.together((here, there))
    assert found in said
    assert bool(found) is bool(said)


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ((DONE, FAILED), ""),
        ((FAILED, FLUSHED), ""),
        ((FAILED, DONE), "message 1 of host 0 ends with no error"),
        ((DONE, int(Status.DONE | Status.LENGTH_ERROR)), "message 1 of host 0 ends with LENGTH_ERROR"),
    ],
)
def test_no_message_is_completed_after_a_failed_one(sent: tuple[int, ...], found: str) -> None:
    rules = Rules((ONE, ONE), DELIVERY, breaks=True, notices=True)
    assert rules.always(0, (sent, (), (), "ERROR")) == found


def never_passed(original: Any) -> Any:
    """Return a check that treats every packet as new."""
    return lambda self, header: False


def always_follows(original: Any) -> Any:
    """Return a check that never notices a missing packet."""

    def came(self: Connection, header: Any) -> bool:
        original(self, header)
        return True

    return came


def answers_at_once(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Acknowledge the first packet of a message."""

    async def piece(self: Receiver, endpoint: Any, header: Any) -> None:
        if header.first:
            await self._acks.send(endpoint.connection, Kind.DONE, header.number, 0)
        await original(self, endpoint, header)

    return piece


def never_looks(original: Any) -> Any:
    """Ignore the time limits of sends."""
    return lambda self: None


def never_settles(original: Any) -> Any:
    """Skip the wait until the kernel has copied written data."""

    async def settle(self: KernelBuffer) -> None:
        """Return immediately."""

    return settle


@pytest.mark.parametrize(
    ("owner", "name", "bug", "small", "found"),
    [
        (
            *(Connection, "is_late", never_passed),
            *(once((ONE, ONE), UNRELIABLE, "doubled"), "host 1 received messages [0, 0], but [0, 1] were sent"),
        ),
        (
            *(Connection, "record", always_follows),
            *(once((ONE, ONE), DELIVERY, "lost"), "host 1 received messages [1], but [0, 1] were sent"),
        ),
        (
            *(Receiver, "_piece", answers_at_once, once((Message(0, segments=2),), DELIVERY, "lost")),
            "at the end host 1 waits for the ends of 0 sends and 1 receives",
        ),
        (
            *(TimeLimit, "posted", never_looks, once((ONE,), DELIVERY, "lost")),
            "at the end NIC 0 waits for answers to 1 of 1 sends",
        ),
        (
            *(KernelBuffer, "settle", never_settles, world("write", "", (Message(0, writes=True), ONE), DELIVERY)),
            "host 1 received messages [1] without the earlier writes: [0]",
        ),
    ],
    ids=["accepts duplicates", "ignores gaps", "acknowledges early", "no timeout", "no settling"],
)
def test_a_known_bug_is_found(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, bug: Any, small: SmallWorld, found: str
) -> None:
    monkeypatch.setattr(owner, name, bug(getattr(owner, name)))
    outcome, story = searched(small)
    assert outcome.wrong == found
    assert story[-1] == found
    assert any("NIC 0" in line for line in story)
