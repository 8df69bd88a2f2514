"""Small worlds of GRIM: go-back-N between NIs, with every queue style and both ways of sequencing."""

from __future__ import annotations

from firmware.grim.nic.layout import Layout
from tb.explore.world import SmallWorld
from tb.studies.grim.explore import messages, remote
from tb.studies.grim.explore.messages import EVERYBODY
from tb.studies.grim.explore.play import LOSSY, Given
from tb.studies.grim.explore.remote import Transfer

STYLES = ("append", "slotted", "hybrid")
TWO, THREE = ((0, 1),) * 2, ((0, 1),) * 3
CHANNELS = ((0, 1, 0, 0), (0, 1, 1, 1))
PER_NI: Given = {"sequencing": "per-ni"}
TREE: Given = {"multicast_trees": 1}


def worlds() -> list[SmallWorld]:
    """Return all worlds."""
    return [*_styles(), *_pairs(), *_faults(), *_channels(), *_trees(), *_remote()]


def _styles() -> list[SmallWorld]:
    question = "once and in order, although the third finds the endpoint's queue full"
    return [
        messages.world(style, f"three messages, {style} queue: {question}", THREE, {"queue_style": style})
        for style in STYLES
    ]


def _pairs() -> list[SmallWorld]:
    against = "two messages and one against them: once and in order, no deadlock"
    fine = "one message, with a transition at the end of each piece of software"
    return [
        messages.world("crossing", against, (*TWO, (1, 0)), {}),
        messages.world("fine", fine, TWO[:1], {}, fine=True),
        messages.world("early", "two messages, with time-outs that expire too early", TWO, LOSSY, early=1),
    ]


def _faults() -> list[SmallWorld]:
    kinds = (("lost", THREE, {"lost", "damaged"}), ("doubled", TWO, {"doubled"}), ("overtaken", THREE, {"overtaken"}))
    return [
        messages.world(
            name if style == "append" else f"{name}-{style}",
            f"{len(traffic)} messages, {style} queue; one packet, data or answer, is {' or '.join(sorted(kind))}",
            traffic,
            {**LOSSY, "queue_style": style},
            faults=frozenset(kind),
            times=1,
        )
        for name, traffic, kind in kinds
        for style in STYLES
    ]


def _channels() -> list[SmallWorld]:
    question = "two channels, two endpoints, a message from each to each"
    return [
        messages.world(
            f"channels-{sequencing}",
            f"{question}, {sequencing}",
            CHANNELS,
            {"channels": 2, "sequencing": sequencing},
        )
        for sequencing in ("any-to-any", "per-ni")
    ]


def _trees() -> list[SmallWorld]:
    leaf = (1, EVERYBODY)
    lost = {**TREE, **LOSSY}
    return [
        messages.world("tree-leaf", "a broadcast of a leaf of three hosts", (leaf,), TREE, nodes=3),
        messages.world(
            "tree-two",
            "two broadcasts of a leaf of three hosts, one message in flight a stream",
            (leaf, leaf),
            {**TREE, "window": 1},
            nodes=3,
            room=1,
        ),
        messages.world(
            "tree-lost",
            "a broadcast of a leaf; one packet, data or answer, is lost",
            (leaf,),
            lost,
            nodes=3,
            faults=frozenset({"lost"}),
            times=1,
        ),
    ]


def _remote() -> list[SmallWorld]:
    write, read = Transfer(0, 1, False), Transfer(0, 1, True)
    missing = write._replace(scattered=True)
    return [
        remote.world("write", "a remote write, then its lock", (write,), {}),
        remote.world("read", "a remote read, then its lock", (read,), {}),
        remote.world("miss", "a remote write whose target the NI's driver must translate", (missing,), {}),
        *_reads(),
    ]


def _reads() -> list[SmallWorld]:
    """Return worlds of hosts that read from each other.

    A request ends when its reply has arrived, so no reply may wait for a request.
    """
    one, two = [(Transfer(0, 1, True, segments), Transfer(1, 0, True, segments)) for segments in (1, 2)]
    tight: Given = {**PER_NI, "window": 1}
    in_one_lane = "if replies share the sequence of requests"
    return [
        remote.world("reads", "a read against a read, one message in flight a stream: no deadlock", one, tight),
        remote.world("reads-two", "two segments against two: no message is rejected forever", two, PER_NI),
        remote.world(
            "reads-wait",
            f"the same, {in_one_lane}: both wait",
            one,
            tight,
            flaw=replies_behind_requests,
            expects="at the end",
        ),
        remote.world(
            "reads-refused",
            f"two segments against two, {in_one_lane}: each is rejected forever",
            two,
            PER_NI,
            flaw=replies_behind_requests,
            lead=100,
            expects="livelock",
        ),
    ]


def replies_behind_requests() -> None:
    """Break per-NI sequencing: give all messages of a NI except copies for trees one sequence."""

    def lane(layout: Layout, source: int) -> int:
        return max(source - layout._own, 0)

    setattr(Layout, "lane", lane)  # noqa: B010 - a flaw
