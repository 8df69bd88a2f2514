"""Small worlds of VIA: messages at each reliability level, with each way of posting, and single faults."""

from __future__ import annotations

from functools import partial
from typing import Any

from firmware.via.formats import Reliability
from tb.explore.world import Promise, SmallWorld
from tb.studies.via.explore.play import LEFT_OUT, Choices, ViaPlay
from tb.studies.via.explore.rules import Message, Rules, Traffic, describe

USER_LEVEL: Choices = {"processes": 1, "table_words": 256, "translation_entries": 4}
"""Options of user-level posting: one page of doorbells, and small tables."""


def world(
    name: str,
    question: str,
    traffic: Traffic,
    level: Reliability = Reliability.DELIVERY,
    fine: bool = False,
    options: Choices | None = None,
    notices: bool = True,
    **further: Any,
) -> SmallWorld:
    """Return a world of messages on a connection of a reliability level."""
    play = partial(ViaPlay, traffic, level, fine, options or {}, notices)
    rules = Rules(traffic, level, bool(further.get("faults", frozenset()) - {"doubled"}), notices)
    promise = Promise(rules.always, rules.at_end, rules.together)
    return SmallWorld(name, question, play, promise, describe, left_out=LEFT_OUT, **further)


def kept() -> list[SmallWorld]:
    """Return the worlds without packet loss."""
    one, back, write = Message(0), Message(1), Message(0, writes=True)
    delivery, reception = Reliability.DELIVERY, Reliability.RECEPTION
    fetching = {**USER_LEVEL, "preset": "bvia2", "doorbell": "d1_ring", "packet": 64}
    found: list[tuple[str, str, Traffic, Reliability, Choices]] = [
        ("delivery", "three messages, done when the target's NIC has them", (one,) * 3, delivery, {}),
        ("reception", "three messages, done when they are in memory", (one,) * 3, reception, {}),
        ("pieces", "a message of two packets, and one of one", (Message(0, segments=2), one), delivery, {}),
        ("crossing", "a message each way: no deadlock", (one, back), delivery, {}),
        ("crossing-two", "two messages and one against them: no deadlock", (one, one, back), delivery, {}),
        ("bells", "two messages by a doorbell FIFO", (one, one), delivery, {**USER_LEVEL, "preset": "hwvia"}),
        ("fetching", "two messages, descriptors that the NIC fetches", (one, one), delivery, fetching),
        (
            *("ahead", "a message each way, receives that the NIC fetches when they are posted", (one, back)),
            *(delivery, {**fetching, "descriptors": "prefetch"}),
        ),
        ("write", "an RDMA write that the kernel copies, and a message behind it", (write, one), delivery, {}),
        ("table", "the same, and the NIC finds the memory", (write, one), delivery, {"rdma": "table"}),
    ]
    return [
        *(
            world(name, f"{what}: once, in order", traffic, level, options=options)
            for name, what, traffic, level, options in found
        ),
        world("fine", "one message, and a turn for the end of each piece of software", (one,), delivery, fine=True),
        world("early", "two messages, and a limit of time that is looked at too early", (one, one), delivery, early=1),
    ]


def faulty() -> list[SmallWorld]:
    """Return the worlds in which one packet is lost, damaged, duplicated or overtaken."""
    one, delivery, reception, loose = (Message(0),), Reliability.DELIVERY, Reliability.RECEPTION, Reliability.UNRELIABLE
    lost, hears = {"lost", "damaged"}, "both ends see an error"
    end, some = "all arrives, or the sender sees an error", "at most once, in order"
    found: list[tuple[str, str, Traffic, Reliability, set[str], bool]] = [
        ("doubled", "two messages: all arrives", one * 2, delivery, {"doubled"}, True),
        ("overtaken", f"two messages, no notices: {end}", one * 2, delivery, {"overtaken"}, False),
        ("lost", f"two messages, no notices: {end}", one * 2, delivery, lost, False),
        ("lost-stored", f"two messages, done when in memory, no notices: {end}", one * 2, reception, lost, False),
        ("lost-of-three", f"three messages, done when in memory, no notices: {end}", one * 3, reception, lost, False),
        ("heard", f"one message, or {hears}", one, delivery, lost, True),
        ("heard-of-two", f"two messages, or {hears}", one * 2, delivery, lost, True),
        ("loose-doubled", f"three messages, unreliable: {some}", one * 3, loose, {"doubled"}, True),
        ("loose-overtaken", f"three messages, unreliable: {some}", one * 3, loose, {"overtaken"}, True),
        ("loose-lost", f"three messages, unreliable: {some}", one * 3, loose, lost, True),
    ]
    return [
        world(
            name,
            f"one packet is {' or '.join(sorted(faults))}; {what}",
            traffic,
            level,
            notices=notices,
            faults=frozenset(faults),
            times=1,
        )
        for name, what, traffic, level, faults, notices in found
    ]


def worlds() -> list[SmallWorld]:
    """Return all worlds."""
    return [*kept(), *faulty()]
