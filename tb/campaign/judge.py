"""Classification of a fault by comparison of its run with the clean run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymodels.config import Cluster
from tb.campaign.passed import let_through
from tb.campaign.work import Report
from tb.plan.faults import KINDS, Fault

OUTCOMES = {
    "no effect": "all messages arrive, and nothing detected the fault",
    "harmless": "the fault was detected; all messages arrive without retransmission",
    "resent": "messages were retransmitted after a NACK",
    "timed out": "messages were retransmitted after a time-out",
    "refused": "a call of the layer has reported an error",
    "hang named": "hosts wait forever, and the report of waits names the faulty place",
    "hang": "hosts wait forever, and nothing names the faulty place",
    "dies": "software or the laboratory stops: an exception in the firmware, DMA to unallocated memory",
    "silent": "a message was delivered changed, twice, or out of order, without an error",
    "silent neighbour": "the same for a message between hosts without a fault, or guard memory was changed",
}
"""Outcomes with their meanings, least severe first."""
SILENT = ("silent", "silent neighbour")
CHECKED = frozenset(name for name, kind in KINDS.items() if kind.layer == "link") | {"lost_interrupt", "reset", "stop"}
"""Faults that change no data, or only data protected by CRC-8: every delivered message must be correct."""
NOT_SENT = "that was not sent in this form"
LET_THROUGH = "in a packet with a correct CRC-8"
"""Text for an error burst of more than 8 bits, of which CRC-8 misses one in 256."""
Due = list[list[list[str]]]
"""Messages in hexadecimal by receiver and sender."""


def judge(fault: Fault, clean: Report, run: Report, due: Due, cluster: Cluster) -> tuple[str, str]:
    """Return the outcome of a fault and the observation that identifies it.

    Args:
        fault: Injected fault.
        clean: Report of the run without faults.
        run: Report of the run with the fault.
        due: Messages that arrive without faults.
        cluster: Cluster of both runs.
    """
    if run.guards:
        return "silent neighbour", f"guards of {', '.join(run.guards)} have changed"
    if run.died:
        return "dies", run.died
    if run.errors:
        return "refused", run.errors[0]
    if wrong := _wrong(run, due):
        receiver, sender, what = wrong
        names = cluster.names
        far = _struck(fault, names) not in (None, receiver, sender)
        return ("silent neighbour" if far else "silent"), f"{names[receiver]} has a message of {names[sender]} {what}"
    return _undisturbed(clean, run) if run.ended_ps else _hang(fault, run, cluster)


def _undisturbed(clean: Report, run: Report) -> tuple[str, str]:
    """Return the outcome of a run in which all messages have arrived."""
    more = {name: count for name, count in run.seen.items() if count > clean.seen.get(name, 0)}
    if more.get("TIMEOUT"):
        return "timed out", _counts(more)
    if more.get("RESEND") or more.get("ROLLBACK"):
        return "resent", _counts(more)
    if run.invariants or more:
        return "harmless", next(iter(run.invariants), _counts(more))
    return "no effect", ""


def _hang(fault: Fault, run: Report, cluster: Cluster) -> tuple[str, str]:
    """Return the outcome of a hang: named if a broken invariant or a wait mentions the faulty place."""
    if run.invariants:
        return "hang named", run.invariants[0]
    words = _words(fault, cluster)
    told = [line for line in run.waiting if any(word in line for word in words)]
    noticed = {name: count for name, count in run.seen.items() if name.islower() and count}
    if told or noticed:
        return "hang named", next(iter(told), _counts(noticed))
    return "hang", next(iter(run.waiting), "no known owner of the resources that hosts wait for")


def _wrong(run: Report, due: Due) -> tuple[int, int, str] | None:
    """Return receiver, sender and error of the first wrong message, or None."""
    for receiver, (came, sent_to) in enumerate(zip(run.arrived, due, strict=True)):
        for sender, (got, sent) in enumerate(zip(came, sent_to, strict=True)):
            if changed := [one for one in got if one not in sent]:
                through = all(let_through(one, sent, run.passed) for one in changed)
                return receiver, sender, NOT_SENT + (f", {LET_THROUGH}" if through else "")
            if len(set(got)) < len(got):
                return receiver, sender, "twice"
            if got != sent[: len(got)]:
                return receiver, sender, "out of order, or lost"
    return None


def _struck(fault: Fault, names: Sequence[str]) -> int | None:
    """Return the host with the fault, or None for a switch port."""
    place = fault.place.rpartition(".")[0] or fault.place
    return names.index(place) if place in names else None


def _words(fault: Fault, cluster: Cluster) -> list[str]:
    """Return the names of a fault's place; for a cable, of both ends."""
    if not KINDS[fault.kind].port:
        ends = [fault.place]
    else:
        end = cluster.topology.port(fault.place)
        ends = [end.node, cluster.topology.peers[end].node]
    of_nodes = [
        f"{part} {cluster.names.index(one)}" for one in ends if one in cluster.names for part in ("NIC", "node")
    ]
    return [*ends, *of_nodes]


def _counts(more: Mapping[str, int]) -> str:
    return ", ".join(f"{name.lower()} {count}" for name, count in sorted(more.items()))
